//! gecs 0.3: archetypes that are known when the program is compiled, `create` and `destroy` by
//! typed ids where the archetype of an entity is known, `ecs_find!` for look-ups.

pub(crate) mod access;
pub(crate) mod churn;
pub(crate) mod hierarchy;
pub(crate) mod insert;
pub(crate) mod life;
pub(crate) mod structure;
#[allow(clippy::too_many_arguments, reason = "the macro has an argument for each archetype")]
mod world;

use crate::data::*;
use crate::harness::Harness;
use crate::outcome::Outcome;
use gecs::prelude::*;
use std::hint::black_box;
use world::*;

/// The macro of the library makes the world public, and with it the components.
macro_rules! public {
    ($($vector:ident)*; $($tag:ident)*) => {
        $(
            #[derive(Clone, Copy)]
            #[allow(dead_code, reason = "the workloads read the first number")]
            pub struct $vector {
                x: f32,
                y: f32,
                z: f32,
            }
            impl $vector {
                #[inline]
                fn new([x, y, z]: [f32; 3]) -> Self {
                    Self { x, y, z }
                }
                #[inline]
                fn sum(&self) -> f64 {
                    f64::from(self.x) + f64::from(self.y) + f64::from(self.z)
                }
            }
        )*
        $(
            #[derive(Clone, Copy)]
            pub struct $tag;
        )*
    };
}
use public;
public! { Position Velocity; T0 T1 T2 T3 T4 T5 T6 T7 T8 T9 T10 T11 T12 T13 T14 }

fn world_pv(n: usize) -> (EcsWorld, Vec<Entity<Body>>) {
    let mut w = EcsWorld::default();
    let spawn = |i| w.create::<Body>((Position::new(pos0(i)), Velocity::new(vel0(i))));
    let e = (0..n).map(spawn).collect();
    (w, e)
}

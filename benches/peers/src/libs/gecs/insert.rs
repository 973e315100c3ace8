//! Worlds of their own, so that an empty one has no archetype that a workload does not need.

use super::{Harness, Outcome, Position};

/// Entities of 100 bytes.
mod full {
    use std::hint::black_box;

    use gecs::prelude::*;

    use super::super::{Velocity, public};
    use super::{Harness, Outcome, Position};
    use crate::data::{pos0, vel0};

    #[derive(Clone, Copy)]
    pub struct Transform([f32; 16]);
    public! { Rotation; }
    ecs_world! {
        ecs_archetype!(Full, dyn, Transform, Position, Rotation, Velocity);
    }

    pub(crate) fn one(h: &mut Harness, n: usize) {
        h.run_fresh(
            "",
            EcsWorld::default,
            |mut w| {
                for i in 0..n {
                    w.create::<Full>((
                        black_box(Transform([1.0; 16])),
                        Position::new(pos0(i)),
                        Rotation::new([0.0; 3]),
                        Velocity::new(vel0(i)),
                    ));
                }
                w
            },
            |mut w| {
                let mut sum = 0.0;
                ecs_iter!(w, |t: &Transform, p: &Position, r: &Rotation, v: &Velocity| {
                    sum += t.0.iter().map(|&x| f64::from(x)).sum::<f64>();
                    sum += p.sum() + r.sum() + v.sum();
                });
                Outcome::Sum(sum)
            },
        );
    }
}

/// The smallest world.
mod small {
    use gecs::prelude::*;

    use super::{Harness, Position};
    use crate::data::pos0;

    ecs_world! {
        ecs_archetype!(Placed, dyn, Position);
    }

    pub(crate) fn world_new(h: &mut Harness, n: usize) {
        h.run_worlds(n, EcsWorld::default, |w, i| {
            w.create::<Placed>((Position::new(pos0(i)),));
            let mut sum = 0.0;
            ecs_iter!(w, |p: &Position| sum += p.sum());
            sum
        });
    }
}

pub(crate) use full::one;
pub(crate) use small::world_new;

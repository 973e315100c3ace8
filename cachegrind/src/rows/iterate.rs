//! Loops over columns.

use phalanx::prelude::*;

use super::{
    Data, Least, Position, Program, Velocity, check_doubled, double, position, row_of_100_bytes,
    same, velocity,
};

/// Seconds of a step: a power of two keeps every position exact.
const DT: f32 = 0.5;

kernel! {
    /// One Euler step.
    fn integrate(position: &mut [Position], velocity: &[Velocity], dt: f32) {
        for (p, v) in position.iter_mut().zip(velocity) {
            p.x += v.x * dt;
            p.y += v.y * dt;
            p.z += v.z * dt;
        }
    }
}

/// A world whose entities move.
struct Moving(World);

/// Rows of nothing but a position and a velocity.
pub(super) fn pos_vel<const LEN: usize>() -> Box<dyn Program> {
    let mut world = World::new();
    world.spawn_batch((0..LEN).map(|i| (position(i), velocity(i))));
    Box::new(Moving(world))
}

/// 10,000 rows that also hold a matrix and a rotation.
pub(super) fn simple_iter() -> Box<dyn Program> {
    let mut world = World::new();
    world.spawn_batch((0..10_000).map(row_of_100_bytes));
    Box::new(Moving(world))
}

impl Program for Moving {
    fn pass(&mut self) {
        for (p, v) in self.0.query_mut::<(&mut Position, &Velocity)>() {
            integrate(p, v, DT);
        }
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        let sum = |p: &Position| f64::from(p.x) + f64::from(p.y) + f64::from(p.z);
        let got: f64 = self.0.query::<&Position>().flatten().map(sum).sum();
        let steps = passes as f64 * f64::from(DT);
        let want = |i| {
            let v = velocity(i);
            sum(&position(i)) + (f64::from(v.x) + f64::from(v.y) + f64::from(v.z)) * steps
        };
        same("the sum of the positions", got, (0..self.0.len()).map(want).sum())
    }

    fn least(&self) -> Least {
        let lines = self.0.query::<(&Position, &Velocity)>().explain().lines();
        Least::of_loop(self.0.len(), lines)
    }
}

/// A float doubled in 20 rows of each of 26 archetypes.
struct Fragments(World);

impl Program for Fragments {
    fn pass(&mut self) {
        for data in self.0.query_mut::<&mut Data>() {
            double(data);
        }
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        let full = self.0.archetypes().filter(|archetype| !archetype.is_empty()).count();
        same("the number of archetypes", full, 26)?;
        check_doubled(&self.0, 26 * 20, passes)
    }

    fn least(&self) -> Least {
        Least::of_loop(self.0.len(), self.0.query::<&Data>().explain().lines())
    }
}

/// Declares the markers, one float each, and the program whose world has 20 rows of each.
macro_rules! fragments {
    ($($marker:ident)*) => {
        mod marker {
            use phalanx::prelude::*;
            $(
                #[derive(Clone, Copy, Debug, Pod, Zeroable)]
                #[repr(transparent)]
                pub(super) struct $marker(pub(super) f32);
            )*
            component!($($marker),*);
        }

        /// 26 archetypes of 20 rows.
        pub(super) fn fragmented_iter() -> Box<dyn Program> {
            let mut world = World::new();
            $(world.spawn_batch((0..20).map(|_| (marker::$marker(0.0), Data(1.0))));)*
            Box::new(Fragments(world))
        }
    };
}

fragments! { A B C D E F G H I J K L M N O P Q R S T U V W X Y Z }

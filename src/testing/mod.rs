//! Tests of kernels: the same rows at every level, in every chunk size, in parts and in parallel.
//!
//! A kernel over slices has assumptions that one run does not show: that a slice is the whole
//! column, that rows come in an order, that additions round as they do at one vector width.
//! [`assert_same_bits`] runs it in all the ways that the library may run it, and compares every
//! byte of the worlds that result. [`compare`] compares any two worlds, for systems and schedules.
//!
//! ```
//! use phalanx::prelude::*;
//! use phalanx::testing::assert_same_bits;
//! # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Position(f32);
//! # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Velocity(f32);
//! # impl_component!(Position, Velocity);
//!
//! #[kernel]
//! fn step(position: &mut [Position], velocity: &[Velocity], dt: f32) {
//!     for (p, v) in position.iter_mut().zip(velocity) {
//!         p.0 += v.0 * dt;
//!     }
//! }
//!
//! fn spawn(world: &mut World) {
//!     world.spawn_batch((0..3000).map(|i| (Position(0.0), Velocity(i as f32))));
//! }
//!
//! // The body of a test.
//! assert_same_bits::<(&mut Position, &Velocity)>(spawn, |(p, v)| step(p, v, 0.3));
//! ```

// The modules import each other downwards: `same_bits` runs kernels and compares with `difference`,
// which reads each world by `compared_world`, and finds the differences of sparse components with
// `set_difference`.

mod compared_world;
mod difference;
mod same_bits;
mod set_difference;

pub use difference::{Difference, compare};
pub use same_bits::{NotSame, assert_same_bits, same_bits};

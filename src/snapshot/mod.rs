//! The state of a world as a value: taken, kept, and put back.
//!
//! * [`snapshot`] has [`Snapshot`], [`World::snapshot`](crate::World::snapshot) and
//!   [`World::restore`](crate::World::restore).
//! * [`snapshot_ring`] has the last states of a world, for a simulation that goes back when inputs
//!   arrive late.
//! * [`error`] says why a state cannot be taken or put back.
//!
//! A snapshot is an image of the store (`store/image.rs`): each column of an archetype as one
//! array, ids and free list, enable bits, values of chunks, and all versions. The first copy moves
//! as many bytes as the world has. Every later one into the same snapshot, and every restore,
//! compares versions and copies the columns of chunks that were written in between: the essay is in
//! `archetype/image.rs`. What that does to those who hold a version is in `store/history.rs`.

mod error;
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod snapshot;
mod snapshot_ring;

pub use error::SnapshotError;
pub use snapshot::Snapshot;
pub use snapshot_ring::SnapshotRing;

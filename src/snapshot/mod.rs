//! The state of a world as a value: taken, kept, and put back.
//!
//! * [`snapshot`] has [`Snapshot`], [`World::snapshot`](crate::World::snapshot) and
//!   [`World::restore`](crate::World::restore).
//! * [`snapshot_ring`] has the last states of a world, for a simulation that goes back when inputs
//!   arrive late.
//! * [`bytes`] has both as bytes, for a disk or a wire: [`Snapshot::to_bytes`], and the difference
//!   between two states, [`World::delta_since`](crate::World::delta_since). The essay of [`format`]
//!   says what they consist of, [`write`] and [`write_ids`] make them, [`read`] believes nothing of
//!   them. A [`shared_table`] is what they have of a shared type, which [`read_shared`] reads.
//! * [`compression`] wraps these bytes in LZ4 frames, and reads them from there;
//!   [`replace_file`] saves either, so that a file is the old one or the new one.
//! * [`snapshot_reader`] reads states of other components: those that are not known are left out,
//!   and a component that has got a field is made of what it was ([`convert`]).
//! * [`snapshot_archetype`] and [`snapshot_column`] show the columns of a state as bytes, to those
//!   who write them in a format of their own.
//! * [`error`] and [`read_error`] say why a state cannot be taken, put back or read.
//!
//! A snapshot is an image of the store (`store/image.rs`): each column of an archetype as one
//! array, ids and free list, enable bits, values of chunks, and all versions. The first copy moves
//! as many bytes as the world has. Every later one into the same snapshot, and every restore,
//! compares versions and copies the columns of chunks that were written in between: the essay is in
//! `archetype/image.rs`. What that does to those who hold a version is in `store/history.rs`.

mod bytes;
mod compression;
mod convert;
mod error;
mod format;
mod input;
mod output;
mod read;
mod read_error;
mod read_shared;
mod replace_file;
mod shared_table;
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod snapshot;
mod snapshot_archetype;
mod snapshot_column;
mod snapshot_reader;
mod snapshot_ring;
mod write;
mod write_ids;

pub use error::SnapshotError;
pub use read_error::ReadError;
pub use snapshot::Snapshot;
pub use snapshot_archetype::SnapshotArchetype;
pub use snapshot_column::SnapshotColumn;
pub use snapshot_reader::SnapshotReader;
pub use snapshot_ring::SnapshotRing;

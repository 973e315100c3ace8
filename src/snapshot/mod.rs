//! The state of a world as a value: taken, kept, and put back.
//!
//! * [`snapshot`] has [`Snapshot`], [`World::snapshot`](crate::World::snapshot) and
//!   [`World::restore`](crate::World::restore).
//! * [`snapshot_ring`] has the last states of a world, for a simulation that goes back when inputs
//!   arrive late.
//! * [`bytes`] has both as bytes, for a disk or a wire: [`Snapshot::to_bytes`], and the difference
//!   between two states, [`World::delta_since`](crate::World::delta_since). The essay of [`format`]
//!   describes them; [`write`] and [`write_ids`] make them, and [`read`] checks all of them. The
//!   numbers and arrays of the format are written to an [`output`] and read from an [`input`]. A
//!   [`shared_table`] is the part about a shared type, which [`read_shared`] reads.
//! * [`compression`] wraps these bytes in LZ4 frames, and reads frames; [`replace_file`] saves
//!   either, so that a file is the old one or the new one.
//! * [`snapshot_reader`] reads states with other components: it leaves out unknown ones, and
//!   converts a component that has a new field ([`convert`]).
//! * [`snapshot_archetype`] and [`snapshot_column`] show the columns of a state as bytes, for
//!   programs that write them in their own format.
//! * [`error`] and [`read_error`] give the reasons why a state cannot be taken, restored or read.
//!
//! A snapshot is an image of the store (`store/image.rs`): each column of an archetype as one
//! array, ids and free list, enable bits, values of chunks, and all versions. The first copy moves
//! all bytes of the world's rows. Each later copy into the same snapshot, and each restore,
//! compares versions and copies the columns of chunks that were written in between: the essay is in
//! `archetype/image.rs`. The effect on versions that the program holds is in `store/history.rs`.

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

//! The state of a world as a value: taken, kept, put back, saved and sent.
//!
//! A [`Snapshot`] is taken by [`World::snapshot`](crate::World::snapshot) and put back by
//! [`World::restore`](crate::World::restore). The first copy moves all bytes of the world's rows.
//! Each later copy into the same snapshot, and each restore, compares versions and copies the
//! columns of chunks that were written in between. A [`SnapshotRing`] keeps the last states of a
//! world, for a simulation that goes back when inputs arrive late.
//!
//! [`Snapshot::to_bytes`] is a state as bytes, for a disk or a wire, and
//! [`Snapshot::delta`](crate::snapshot::Snapshot::delta) the difference between two. A
//! [`SnapshotReader`] reads states of other versions of a program: it leaves out unknown
//! components, and converts those that have a new field. [`SnapshotArchetype`] and
//! [`SnapshotColumn`] show the columns of a state, for programs that write them in their own
//! format.
//!
//! ```
//! use phalanx::prelude::*;
//! use phalanx::snapshot::Snapshot;
//!
//! #[component]
//! struct Health(f32);
//!
//! let mut world = World::new();
//! world.spawn(Health(1.0));
//! let state = world.snapshot()?;
//! world.clear();
//! world.restore(&state)?;
//! assert_eq!(world.query::<&Health>().count_rows(), 1);
//! let bytes = state.to_bytes()?;
//! # let _: (&Snapshot, Vec<u8>) = (&state, bytes);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// | file | holds |
// | --- | --- |
// | `snapshot` | `Snapshot`, `World::snapshot` and `World::restore` |
// | `snapshot_ring` | the last states of a world |
// | `bytes` | states as bytes, and the difference between two states |
// | `format` | the essay on these bytes |
// | `write`, `write_ids`, `read` | make the bytes, and check all of them |
// | `delta` | the rows that differ from an older state |
// | `write_sets`, `read_sets` | the part about sparse components and relations |
// | `output`, `input` | the numbers and arrays of the format |
// | `shared_table`, `read_shared` | the part about a shared type |
// | `compression` | LZ4 frames |
// | `replace_file` | saves bytes, so that a file is the old one or the new one |
// | `snapshot_reader`, `convert` | states with other components, and components with new fields |
// | `snapshot_archetype`, `snapshot_column` | the columns of a state as bytes |
// | `snapshot_error`, `read_error` | the reasons why a state cannot be taken, restored or read |
//
// A snapshot is an image of the store (`store/store_image.rs`): each column of an archetype as one
// array, ids and free list, enable bits, values of chunks, and all versions. The rule for unchanged
// data is in `archetype/unchanged_chunks.rs`. The effect on versions that the program holds is in
// `store/history.rs`.

// Before the others, so that the documentation of `World` and `Snapshot` begins with its calls.
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod snapshot;

mod bytes;
mod compression;
mod convert;
mod delta;
mod format;
mod input;
mod output;
mod read;
mod read_error;
mod read_sets;
mod read_shared;
mod replace_file;
mod shared_table;
mod snapshot_archetype;
mod snapshot_column;
mod snapshot_error;
mod snapshot_reader;
mod snapshot_ring;
mod write;
mod write_ids;
mod write_sets;

pub use read_error::ReadError;
pub use snapshot::Snapshot;
pub use snapshot_archetype::SnapshotArchetype;
pub use snapshot_column::SnapshotColumn;
pub use snapshot_error::SnapshotError;
pub use snapshot_reader::SnapshotReader;
pub use snapshot_ring::SnapshotRing;

//! Errors of reading a state.

use core::error::Error;
use core::fmt;

use crate::component::NameTaken;
use crate::entity::TooMuchMemory;

/// The reason why bytes cannot be read as a snapshot or a delta. The world and the snapshot are
/// unchanged.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// The bytes do not begin like a snapshot or a delta.
    NotAState,
    /// The bytes were written in the other byte order.
    ByteOrder,
    /// The bytes have a format that this version of the library does not know.
    Format {
        /// Their format.
        found: u32,
        /// The format of this version.
        known: u32,
    },
    /// The bytes are a delta where a snapshot is read, or a snapshot where a delta is read.
    Kind {
        /// Whether the bytes are a delta.
        is_delta: bool,
    },
    /// The bytes end before the announced contents, although their checksum is right. Bytes that
    /// were cut off by accident fail the checksum instead.
    Truncated {
        /// The part that is missing.
        what: &'static str,
        /// The number of bytes before it.
        at: usize,
    },
    /// The bytes are damaged: their checksum differs.
    Checksum,
    /// The bytes are from a world with other chunks.
    ChunkSize {
        /// Bytes of a chunk in that world.
        found: u32,
        /// Bytes of a chunk in this world.
        own: u32,
    },
    /// The bytes have a component whose name is not known to this world.
    UnknownComponent {
        /// The name.
        name: Box<str>,
    },
    /// The bytes have a component in columns that is [sparse](crate::component#sparse-components)
    /// in this world.
    SparseComponent {
        /// The name.
        name: Box<str>,
    },
    /// The bytes have a [sparse](crate::component#sparse-components) component that is in columns
    /// in this world.
    ColumnComponent {
        /// The name.
        name: Box<str>,
    },
    /// The bytes have a sparse component that this world defines in another way.
    OtherSparse {
        /// The name.
        name: Box<str>,
        /// Whether it is plain data or a relation in this world.
        is_plain: bool,
    },
    /// The bytes have a component that this world defines in another way.
    OtherComponent {
        /// The name.
        name: Box<str>,
        /// Bytes of a value in the state.
        found: u32,
        /// Bytes of a value in this world.
        own: usize,
    },
    /// A function of [`SnapshotReader::migrate`](super::SnapshotReader::migrate) returns a type
    /// that this world does not have, because another component has its name.
    NameTaken(NameTaken),
    /// The bytes have a shared type whose name is not known to this world.
    UnknownShared {
        /// The name.
        name: Box<str>,
    },
    /// The bytes have a shared value that the function of its type refuses.
    RefusedValue {
        /// The name of the type.
        name: Box<str>,
        /// The number of bytes up to the end of the value.
        at: usize,
    },
    /// The bytes are compressed, and phalanx was built without its feature `lz4`.
    Compressed,
    /// The bytes are an LZ4 frame that is damaged, ends too early, or has more bytes after it.
    Frame,
    /// The bytes are an LZ4 frame with more bytes than one call may allocate.
    TooLarge {
        /// The limit: [`request_bytes_max`](crate::WorldBuilder::request_bytes_max).
        bytes_max: u64,
    },
    /// The entities with sparse components have indices far apart, so that finding them by index
    /// takes more memory than one call may allocate.
    TooMuchMemory(TooMuchMemory),
    /// The delta was made from another state than the one in the snapshot.
    OtherBase,
    /// The snapshot has no state yet, or is of another world.
    NoBase,
    /// The bytes describe a state that no world can have.
    Invalid {
        /// The defect.
        what: &'static str,
        /// The number of bytes read before the defect was found.
        at: usize,
    },
}

impl ReadError {
    /// The text of an error without figures and names.
    const fn text(&self) -> &'static str {
        match self {
            Self::NotAState => {
                "the bytes are neither a snapshot nor a delta: they begin in another way"
            }
            Self::ByteOrder => {
                "the bytes were written by a machine of the other byte order: write them on one of \
                 the same order"
            }
            Self::Kind { is_delta: true } => {
                "the bytes are a delta: read them by `Snapshot::read_delta`"
            }
            Self::Kind { is_delta: false } => {
                "the bytes are a snapshot: read them by `World::read_snapshot`"
            }
            Self::Checksum => {
                "the bytes are damaged: their checksum is not the one that they end with"
            }
            Self::Compressed => {
                "the bytes are an LZ4 frame: build phalanx with its feature `lz4`, or decompress \
                 them first"
            }
            Self::Frame => {
                "the bytes are an LZ4 frame that is damaged or cut off: was all of it received, \
                 and nothing else?"
            }
            Self::OtherBase => {
                "the delta is the difference from another state: apply deltas in their order, to \
                 what was read before"
            }
            Self::NoBase => {
                "a delta is read into a snapshot of this world, or one that this world has read"
            }
            _ => "the bytes cannot be read",
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format { found, known } => write!(
                f,
                "the bytes have format {found}, and this version of phalanx reads format {known}"
            ),
            Self::Truncated { what, at } => {
                write!(f, "the bytes end at {at}, before {what}: was all of them received?")
            }
            Self::ChunkSize { found, own } => write!(
                f,
                "the bytes are of a world with chunks of {found} bytes, and this one has chunks of \
                 {own}: build it with the same `ChunkSize`, or read them by `SnapshotReader::new`"
            ),
            Self::UnknownComponent { name } => write!(
                f,
                "the component `{name}` is not registered in this world: call `World::register` \
                 first (a relation to many by its `Targets<…>`), or `ReflectMut::register_layout` \
                 if no type defines it; `SnapshotReader::new` can leave the component out, or read \
                 one of columns under a new name"
            ),
            Self::SparseComponent { name } => write!(
                f,
                "the component `{name}` is in columns in the bytes, and sparse in this world: \
                 `SnapshotReader::new` can leave it out, or read it under a new name"
            ),
            Self::ColumnComponent { name } => {
                write_sparse(f, name, "is sparse in the bytes, and in columns in this world")
            }
            Self::OtherSparse { name, is_plain: true } => {
                write_sparse(f, name, "is defined in another way than when the bytes were written")
            }
            Self::OtherSparse { name, is_plain: false } => {
                write_sparse(f, name, "has values in the bytes, and is not `plain` in this world")
            }
            Self::OtherComponent { name, found, own } if *found as usize == *own => write!(
                f,
                "the component `{name}` is defined in another way than when the bytes were \
                 written: its fields, variants or attributes differ; \
                 `SnapshotReader::new().migrate` takes a function from the old definition, which \
                 must be exact, to the new one"
            ),
            Self::OtherComponent { name, found, own } => write!(
                f,
                "the component `{name}` is defined in another way than when the bytes were written \
                 ({found} bytes then, {own} now); `SnapshotReader::new().migrate` takes a \
                 function from the old definition, which must be exact, to the new one"
            ),
            Self::NameTaken(taken) => write_taken(f, taken),
            Self::UnknownShared { name } => write!(
                f,
                "the shared type `{name}` has no decoder in this world: call \
                 `SharedValuesMut::encode` first"
            ),
            Self::RefusedValue { name, at } => {
                write!(
                    f,
                    "decoding a value of the shared type `{name}` failed, which ends at byte {at}"
                )
            }
            Self::TooLarge { bytes_max } => write!(
                f,
                "the bytes are an LZ4 frame of more than {bytes_max} bytes, which is what one call \
                 may take: build the world with a greater `request_bytes_max`"
            ),
            Self::TooMuchMemory(error) => error.fmt(f),
            Self::Invalid { what, at } => write!(f, "the bytes before {at} are wrong: {what}"),
            _ => f.write_str(self.text()),
        }
    }
}

/// Writes that a sparse component is another one here.
fn write_sparse(f: &mut fmt::Formatter<'_>, name: &str, difference: &str) -> fmt::Result {
    write!(
        f,
        "the component `{name}` {difference}: give the new component another name; \
         `SnapshotReader::new` can leave out the old one"
    )
}

/// Writes that a function converts to another type than the one of the world.
fn write_taken(f: &mut fmt::Formatter<'_>, taken: &NameTaken) -> fmt::Result {
    let NameTaken { name, owner, refused } = taken;
    write!(
        f,
        "a function of `SnapshotReader::migrate` returns `{refused}`, and the component `{name}` of \
         this world is `{owner}`: let the function return that type"
    )
}

impl Error for ReadError {}

//! Errors of taking and restoring the state of a world.

use core::error::Error;
use core::fmt;

/// The reason why a snapshot cannot be taken or restored. The world is unchanged, but for reserved
/// ids, which may be spawned.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnapshotError {
    /// Command buffers hold ids that no entity has yet.
    IdsOnLoan {
        /// The number of ids.
        ids: u32,
    },
    /// The snapshot is of another world.
    OtherWorld,
    /// The snapshot was never taken.
    NeverTaken,
    /// Entities have a shared value, or an archetype with such a value is left, and
    /// [`SharedValuesMut::encode`](crate::shared::SharedValuesMut::encode) was not called for its
    /// type before the state was taken. Without its function a value cannot be written as bytes.
    SharedValues {
        /// The type.
        type_name: &'static str,
    },
    /// The state has more components, shared types and shared values than a world reads from bytes:
    /// it keeps a quarter of its numbers for itself. Values that entities had before count as well,
    /// while an archetype of their type is left.
    TooManyValues {
        /// The number of components, shared types and values.
        ids: usize,
        /// The most that are written and read.
        ids_max: usize,
    },
    /// The clock of the world has advanced too often: by 2⁴⁸ for a state that is written, by
    /// 2⁶² for one that was read and is to be restored. A program does not reach this in years;
    /// a state from a hostile source can claim it.
    ClockUsedUp,
    /// The ring does not have a state that old.
    NotKept {
        /// The requested number of states before the last one.
        back: usize,
        /// The number of states in the ring.
        kept: usize,
    },
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IdsOnLoan { ids } => write!(
                f,
                "command buffers hold {ids} ids, which a snapshot cannot give back to them: drop \
                 the buffers first (`World::apply` gives a buffer new ids, unless it was made for 0)"
            ),
            Self::OtherWorld => {
                f.write_str("the snapshot is not of this world: use it where it was taken or read")
            }
            Self::NeverTaken => f.write_str(
                "the snapshot has no state yet: take one with `World::snapshot_into` first",
            ),
            Self::SharedValues { type_name } => write!(
                f,
                "values of the shared type `{type_name}` cannot be written: register an encoder with \
                 `SharedValuesMut::encode` before the state is taken, or remove the values and retire \
                 their archetypes (`MemoryMut::retire_archetypes`)"
            ),
            Self::TooManyValues { ids, ids_max } => write!(
                f,
                "the state has {ids} components and shared values, and as bytes at most {ids_max}: \
                 share what few values have, or remove the values of a type from all entities and \
                 retire the archetypes that are left (`MemoryMut::retire_archetypes`)"
            ),
            Self::ClockUsedUp => f.write_str(
                "the clock of the world has advanced too often: a state that was read may have \
                 said so; go back to one from before, or spawn the entities in a new world",
            ),
            Self::NotKept { back, kept: 0 } => {
                write!(f, "the ring is empty: push a state before you go back (asked for {back})")
            }
            Self::NotKept { back, kept } => write!(
                f,
                "the oldest state of the ring is {} back, and {back} was asked for: the last one \
                 is 0; push before each step, and make the ring as long as inputs are late",
                kept - 1
            ),
        }
    }
}

impl Error for SnapshotError {}

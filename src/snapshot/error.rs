//! Why the state of a world cannot be taken or put back.

use core::error::Error;
use core::fmt;

/// Why a snapshot cannot be taken, or a world cannot be put back. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnapshotError {
    /// Command buffers hold ids that no entity has yet.
    IdsOnLoan {
        /// The number of ids.
        ids: u32,
    },
    /// The snapshot is of another world, or it was never taken.
    OtherWorld,
    /// The ring has no state of so long ago.
    NotKept {
        /// How many states there are.
        kept: usize,
    },
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IdsOnLoan { ids } => write!(
                f,
                "command buffers hold {ids} ids, which a snapshot cannot give back to them: apply \
                 or drop the buffers first"
            ),
            Self::OtherWorld => {
                f.write_str("the snapshot is not of this world: restore it where it was taken")
            }
            Self::NotKept { kept } => write!(
                f,
                "the ring keeps {kept} states, numbered from the last one, which is 0: make a \
                 longer ring to go back further"
            ),
        }
    }
}

impl Error for SnapshotError {}

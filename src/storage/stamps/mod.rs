//! Change versions of an archetype's chunks: [`stamp`] has one stored version, [`stamps`] the
//! versions of an archetype, [`line_stamps`] those of lines of its chunks, [`shared_lines`] the
//! memory that small archetypes share.

mod line_stamps;
mod shared_lines;
mod stamp;
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod stamps;

pub(crate) use line_stamps::{ChunkLines, LineStamps, NewerLines};
pub(crate) use shared_lines::SharedLines;
pub(in crate::storage) use stamp::Stamp;
pub(in crate::storage) use stamps::StampPair;
pub(crate) use stamps::{StampKind, StampRun, Stamps};

//! Change versions of an archetype's chunks: [`stamp`] has one stored version and the versions of
//! neighbours, [`stamps`] all of an archetype by their [`stamp_kind`], [`stamp_pair`] those that
//! one change sets, [`shared_lines`] the memory that small archetypes share. With [`moved_rows`]
//! they follow rows to other places.

mod moved_rows;
mod shared_lines;
mod stamp;
mod stamp_kind;
mod stamp_pair;
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod stamps;

pub(crate) use shared_lines::SharedLines;
pub(in crate::storage) use stamp::Stamp;
pub(crate) use stamp::StampRun;
pub(crate) use stamp_kind::StampKind;
pub(in crate::storage) use stamp_pair::StampPair;
pub(crate) use stamps::Stamps;

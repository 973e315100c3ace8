//! Command buffers: structural changes that are recorded now and applied later.
//!
//! [`buffer`] is what a program records into, [`commands`] the same as a system's parameter,
//! [`writer`] the form for many threads, [`by_query`] the commands on all that a query matches.
//! Recording is typed and storing is bytes: components are `Pod`, so a command is a small [`record`]
//! and its value a few bytes in an [`arena`]; of its bundle type only a number remains, its
//! [`bundle_kinds`]. [`ids`] are lent in advance, or taken from a system's lane.
//!
//! Playback ([`playback`]) cuts the records into runs between barriers, groups each run by entity
//! ([`entity_groups`]), and merges each group to one change ([`merge_table`]), which is one move of one row along
//! an edge of the archetype graph. [`error`] describes commands that had no effect, and
//! [`failures`] collects them.

mod applied;
mod arena;
mod buffer;
mod bundle_kinds;
mod by_query;
mod commands;
mod entity_groups;
mod error;
mod failures;
mod ids;
mod merge_table;
mod playback;
mod record;
mod writer;

pub use applied::Applied;
pub use buffer::CommandBuffer;
pub use commands::Commands;
pub use error::{
    ApplyError, CommandError, CommandErrors, CommandFault, CommandVerb, NoIdLeft, OnDead,
};
pub(crate) use failures::Failures;
pub use writer::{CommandWriter, CommandWriters};

//! Command buffers: structural changes that are recorded now and applied later.
//!
//! A program records into a [`buffer`], a system into its parameter [`commands`], and several
//! threads into the [`writers`] of one buffer, each a [`writer`], as [`par_record`] does for the
//! chunks of a query and any [`par_target`]; [`by_query`] adds the commands on all entities that a
//! query matches, [`share`] the commands on shared values, and [`switch`](mod@switch) the commands
//! that enable and disable, recorded as lists of [`switches`]. Values are recorded with their types
//! and stored as bytes: components are plain data, so a command is a small [`record`], its value is
//! bytes in an [`arena`], and its pair of bundle types has a number in [`bundle_kinds`]. Ids for
//! spawns are on loan in advance or taken from a system's share ([`ids`], [`id_shares`]).
//!
//! [`playback`] splits the records into runs between barriers. The [`player`] of a playback groups
//! each run by entity ([`entity_groups`]), and merges each group to one net change
//! ([`merge_table`]): at most one row is written, moved or removed. Entities with equal commands
//! that follow each other are changed together. [`error`] describes the result of a
//! playback and the commands that had no effect, which [`failures`] collects.
//! [`scratch`] is the memory that a buffer keeps from one playback to the next.

mod arena;
mod buffer;
mod bundle_kinds;
mod by_query;
mod commands;
mod entity_groups;
mod error;
mod failures;
mod id_shares;
mod ids;
mod merge_table;
mod par_record;
mod par_target;
mod playback;
mod player;
mod record;
mod scratch;
mod share;
mod switch;
mod switches;
mod writer;
mod writers;

pub use buffer::CommandBuffer;
pub use commands::Commands;
pub use error::{
    Applied, ApplyError, CommandError, CommandErrorKind, CommandErrors, CommandVerb,
    DeadEntityPolicy,
};
pub(crate) use failures::Failures;
pub use par_target::ParTarget;
pub use writer::CommandWriter;
pub use writers::CommandWriters;

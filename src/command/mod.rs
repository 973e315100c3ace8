//! Commands: structural changes that are recorded now and applied later.
//!
//! A system records into its parameter [`Commands`], a program into a [`CommandBuffer`], and
//! several threads into the [`CommandWriter`]s of one buffer ([`CommandWriters`]). A pass over the
//! chunks of a query records in parallel into each [`ParTarget`]
//! ([`ParChunks::record`](crate::chunks::ParChunks::record)).
//!
//! [`World::apply`](crate::World::apply) changes the world: commands on one entity are merged to
//! one net change, so that at most one row is written, moved or removed. It returns an [`Applied`],
//! which counts the changes; [`DeadEntityPolicy`] chooses the effect of a command on a dead entity.
//!
//! ```
//! use phalanx::prelude::*;
//!
//! #[component]
//! struct Health(f32);
//! #[component]
//! struct Burning;
//!
//! let mut world = World::new();
//! let mut buffer = world.command_buffer(1)?;
//! let entity = buffer.spawn(Health(1.0));
//! buffer.insert(entity, Burning);
//! assert_eq!(world.len(), 0);
//! world.apply(&mut buffer)?;
//! assert!(world.has::<Burning>(entity));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// | file | holds |
// | --- | --- |
// | `buffer`, `commands` | `CommandBuffer` and `Commands` |
// | `writers`, `command_writer` | several threads that record into one buffer |
// | `par_record`, `par_target` | the chunks of a query that record in parallel, and the targets |
// | `entity_commands` | the commands on one entity, of buffers and writers |
// | `by_query` | the commands on all entities that a query matches |
// | `shared_commands` | the commands on shared values |
// | `named_commands`, `named_change` | commands that name components by text, and their values |
// | `relation_commands`, `named_link` | commands that name relations by text, and their values |
// | `switch`, `switches` | the commands that enable and disable, recorded as lists |
// | `record`, `arena`, `bundle_kinds` | a command, the bytes of its value, its pair of bundle types |
// | `sparse_values` | the sparse components of recorded commands |
// | `id_supply`, `id_shares` | ids for spawns: on loan in advance, or from a system's share |
// | `playback` | the records as runs between barriers |
// | `player`, `entity_groups`, `merge_table` | a run by entity, each group as one net change |
// | `deferred` | records of one kind that follow each other, played together |
// | `related_runs` | records in worlds with relations: despawns between the other records |
// | `command_errors`, `failures` | the result of a playback, and the commands without effect |
// | `scratch` | the memory that a buffer keeps from one playback to the next |
//
// Values are recorded with their types and stored as bytes: components are plain data, so a
// command is a small record. Entities with equal commands that follow each other are changed
// together.

mod arena;
mod buffer;
mod bundle_kinds;
mod by_query;
mod command_errors;
mod command_writer;
mod commands;
mod deferred;
mod entity_commands;
mod entity_groups;
mod failures;
mod id_shares;
mod id_supply;
mod merge_table;
mod named_change;
mod named_commands;
mod named_link;
mod par_record;
mod par_target;
mod playback;
mod player;
mod record;
mod related_runs;
mod relation_commands;
mod scratch;
mod shared_commands;
mod sparse_values;
mod switch;
mod switches;
mod writers;

pub use buffer::CommandBuffer;
pub use command_errors::{
    Applied, ApplyError, CommandError, CommandErrorKind, CommandErrors, CommandVerb,
    DeadEntityPolicy,
};
pub use command_writer::CommandWriter;
pub use commands::Commands;
pub(crate) use failures::Failures;
pub use par_target::ParTarget;
pub use writers::CommandWriters;

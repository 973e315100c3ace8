//! The scheduler: plain functions that run in parallel where their accesses do not conflict.
//!
//! A [`Schedule`] holds [systems](System), which are ordered by names or functions,
//! [sets](SetEntry) and run conditions. After a run, read its [`Timings`] and its
//! [`CommandReport`].
//!
//! Recorded commands are applied at the sync points between stages:
//!
//! ```text
//!   stage 0                               stage 1
//!   gravity ──► integrate ──┐             ┌── draw
//!   age ────────────────────┤             │
//!   spawn, records commands ┴─ sync point ┴── count, ordered after `spawn`
//! ```
//!
//! [Events](crate::logs::EventWriter) need no sync point: the systems after the sender see them.
//! Components that were [gained](crate::logs::Inserted) or [lost](crate::logs::Removed) are
//! reported after the sync point.
//!
//! A run gives the same result on any number of threads, for two reasons. Two systems that conflict
//! always run in the same order. And before each stage, each system gets the version for its writes
//! and a share of the free ids, independent of threads.
//!
//! ```
//! # use phalanx::prelude::*;
//! # #[component] struct Age(u32);
//! fn grow_old(ages: Query<&mut Age>) {
//!     ages.rows().for_each(|age| age.0 += 1);
//! }
//!
//! let mut world = World::new();
//! world.spawn(Age(0));
//! let mut schedule = Schedule::new();
//! schedule.add(grow_old);
//! schedule.run(&mut world)?;
//! # Ok::<(), phalanx::schedule::ScheduleError>(())
//! ```

// | file | holds |
// | --- | --- |
// | `system` | `System`: functions with parameters that declare their access |
// | `system_output` | `SystemOutput`, the results of systems, and `SystemError` |
// | `param` | `SystemParam` and `Local`: the kinds of parameters, and how each borrows |
// | `param_tuple` | tuples of parameters |
// | `log_param` | the parameters that read gained and lost components, and despawned entities |
// | `pairs_param` | the parameter that reads a relation to many |
// | `param_access` | the access of a parameter, and conflicts between two of them |
// | `schedule` | `Schedule`: the list of systems, and its settings |
// | `add` | `Schedule::add` and `then` |
// | `entry` | `SystemEntry`: name, order, sets and conditions of a system |
// | `systems` | `Systems`: the systems of one call, and `SystemsEntry` |
// | `target` | `IntoTarget`: the names and functions that systems are ordered by |
// | `set` | `SetEntry`: order and conditions of a set |
// | `condition` | `every`, `on_event` and `FixedStep` |
// | `order` | the nodes of an order, and the reasons for its edges |
// | `meanings` | the nodes that a name or a function means |
// | `edges` | `Edges`: pairs of nodes, and junctions of many |
// | `requests` | the requested order, as edges |
// | `topology` | the topological order, and cycles |
// | `node_set` | `NodeSet`: nodes as bits |
// | `conflicts` | `Accesses`: the systems that each system waits for because of a conflict |
// | `dependency_graph` | stages, and the dependency graph of each |
// | `background` | `BackgroundRun`: a run while the caller goes on |
// | `stage_executor` | the execution of a stage on one thread or many |
// | `ready_systems` | the systems of a stage that are ready, and the threads that run them |
// | `run` | `Schedule::run`: the stages in order, with playback between them |
// | `run_once` | `World::run` and `RunOnce`: a function that is called at once; `run_error` is its error |
// | `system_state` | a system with its conditions and the outcome of its last run |
// | `named_system` | `NamedSystem`: a system of a query that is data |
// | `report` | `CommandReport`: commands that had no effect |
// | `timing` | `Timings` of the last run |
// | `flip_system` | the system that begins a step of a double-buffered component |
// | `render` | the schedule as text and for Graphviz |
// | `schedule_error` | `ScheduleError`, `AliasingParameters` |
// | `name` | short names of types and functions |

mod add;
mod background;
mod condition;
mod conflicts;
mod dependency_graph;
mod edges;
mod entry;
mod flip_system;
mod log_param;
mod meanings;
mod name;
mod named_system;
mod node_set;
mod order;
mod pairs_param;
mod param;
mod param_access;
mod param_tuple;
mod ready_systems;
mod render;
mod report;
mod requests;
mod run;
mod run_error;
mod run_once;
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod schedule;
mod schedule_error;
mod set;
mod stage_executor;
mod system;
mod system_output;
mod system_state;
mod systems;
mod target;
mod timing;
mod topology;

pub use background::{BackgroundRun, Finished};
pub use condition::{FixedStep, every, on_event};
pub use entry::SystemEntry;
pub use flip_system::flip;
pub use named_system::NamedSystem;
pub use param::{Local, SystemParam};
pub use report::{CommandReport, FailedCommands};
pub use run_error::RunError;
pub use run_once::RunOnce;
pub use schedule::Schedule;
pub use schedule_error::{AliasingParameters, Parameter, ScheduleError, Subject};
pub use set::SetEntry;
pub use system::System;
pub use system_output::{SystemError, SystemOutput};
pub use systems::{Systems, SystemsEntry};
pub use target::IntoTarget;
pub use timing::{SystemTiming, Timings};

//! The schedule: plain functions, run side by side where they cannot disturb each other.
//!
//! A [`system`] is a function whose parameters ([`param`]) say what it asks for; [`access`] is that
//! as a value, and knows what two of them cannot share. A schedule is a [`schedule`] of systems, with
//! what is said of each [`entry`] and of each [`set`]. [`order`] resolves the names they are ordered
//! by and finds circles; [`graph`] cuts the order into stages, between which recorded commands are
//! applied, and says who waits for whom; [`stage`] runs one on one thread or many; [`run`] runs them
//! all. What each system keeps, and what became of it, is in its [`system_state`]; commands that had no
//! effect are in the [`report`].
//!
//! ```text
//!   stage 0                               stage 1
//!   gravity ──► integrate ──┐             ┌── draw
//!   age ────────────────────┤             │
//!   spawn, records commands ┴─ sync point ┴── count, put after `spawn`
//! ```
//!
//! Three things make a run the same on any number of threads: two systems that could disturb each
//! other always run in one order, the versions they write are dealt out by that order before
//! anything runs, and so are the ids of what they spawn.

mod access;
mod condition;
mod display;
mod entry;
mod error;
mod graph;
mod name;
mod order;
mod param;
mod report;
mod run;
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod schedule;
mod set;
mod stage;
mod system;
mod system_state;
mod timing;

pub use condition::{FixedStep, every};
pub use entry::SystemEntry;
pub use error::{AliasingParameters, Parameter, ScheduleError, Subject};
pub use param::{Local, SystemParam};
pub use report::{CommandReport, FailedCommands};
pub use schedule::Schedule;
pub use set::SetEntry;
pub use system::System;
pub use timing::{SystemTiming, Timings};

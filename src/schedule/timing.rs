//! The timings of a run: the duration of each system, and its wait for a thread.

use core::fmt;

use std::sync::Mutex;
use std::time::Duration;

use super::dependency_graph::Stage;
use super::order::OrderNode;
use super::stage_executor::lock;
use super::system_state::SystemState;

/// The timing of a system in the last run of its schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemTiming {
    /// Its name, or its path if another function has the same name.
    pub name: String,
    /// Whether it ran. It does not if a condition is `false` or a resource is missing.
    pub ran: bool,
    /// The time of its function and its conditions, and of the playback of its commands.
    pub total: Duration,
    /// The part of `total` spent on playback: the structural changes.
    pub structural: Duration,
    /// The time between being ready and beginning, because no thread was free.
    pub waiting: Duration,
}

/// The timings of the last run of a schedule; see [`Schedule::timings`](crate::Schedule::timings).
///
/// They are displayed as a table, in microseconds:
///
/// ```text
/// system, µs    total  structural   waiting
/// gravity       120.4         0.0       0.0
/// spawn          31.9        12.2     120.5
/// whole run     153.0    1 sync point
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// In the order in which the systems were added.
    pub systems: Vec<SystemTiming>,
    /// From the beginning to the end of the run.
    pub whole: Duration,
    /// The number of sync points: the ones that applied commands, and explicit ones.
    pub sync_points: usize,
}

impl Timings {
    /// Collects the timings of the run that has just ended.
    pub(super) fn collect(
        &mut self,
        nodes: &[OrderNode],
        states: &[Mutex<SystemState>],
        stages: &[Stage],
        whole: Duration,
    ) {
        let systems = nodes.iter().filter(|node| !node.sync).count();
        self.systems.resize_with(systems, SystemTiming::default);
        let with_nodes = nodes.iter().zip(states).filter(|(node, _)| !node.sync);
        for (timing, (node, state)) in self.systems.iter_mut().zip(with_nodes) {
            let state = lock(state);
            let times = state.times;
            timing.name.clone_from(&node.label);
            timing.ran = state.ran;
            timing.total = times.ended - times.began + times.structural;
            timing.structural = times.structural;
            timing.waiting = times.began.saturating_sub(times.ready);
        }
        self.whole = whole;
        self.sync_points = stages.iter().filter(|stage| stage.ends_in_sync(nodes)).count();
    }
}

impl fmt::Display for Timings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const WHOLE: &str = "whole run";
        let micros = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1e6);
        let names = self.systems.iter().map(|system| system.name.chars().count());
        let width = names.chain([WHOLE.len()]).max().unwrap_or(0);
        writeln!(
            f,
            "{:width$} {:>10} {:>11} {:>9}",
            "system, µs", "total", "structural", "waiting"
        )?;
        for system in &self.systems {
            let SystemTiming { name, ran, total, structural, waiting } = system;
            let [total, structural, waiting] = [total, structural, waiting].map(|&t| micros(t));
            write!(f, "{name:width$} {total:>10} {structural:>11} {waiting:>9}")?;
            writeln!(f, "{}", if *ran { "" } else { "  did not run" })?;
        }
        let points = if self.sync_points == 1 { "sync point" } else { "sync points" };
        write!(f, "{WHOLE:width$} {:>10} {:>11} {points}", micros(self.whole), self.sync_points)
    }
}

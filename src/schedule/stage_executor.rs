//! The execution of a stage: its systems on one thread or on many, never two that conflict at once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::archetype::{Archetype, Census};
use crate::query::Threads;
use crate::stopwatch::Stopwatch;
use crate::store::SplitStore;
use crate::world::Resources;

use super::conflicts::Accesses;
use super::dependency_graph::{DependencyGraph, Stage};
use super::edges::Edges;
use super::param::SystemRun;
use super::ready_systems::ReadySystems;
use super::system_state::SystemState;

/// A stage runs on several threads if that saves at least this much, judged by the last run.
///
/// A thread begins 1 µs after it is called if it is awake. If it sleeps, it takes 24 µs, and 64
/// µs after an idle time of 5 ms (medians, on two virtual cores of a Zen 4 server). A stage that
/// can save less than this runs on the caller's thread, which wakes no other.
const SAVING_MIN: Duration = Duration::from_micros(30);

/// Locks the state of a system. It never waits: a system runs once in a stage.
pub(super) fn lock(state: &Mutex<SystemState>) -> MutexGuard<'_, SystemState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The dependency graph of a stage in a world, and measurements of its last run.
#[derive(Debug, Default)]
pub(super) struct StageExecutor {
    graph: DependencyGraph,
    /// The archetypes that `graph` was made for.
    census: Option<Census>,
    /// The accesses of the systems, in component ids of the world; unknown before the first run.
    accesses: Option<Accesses>,
    is_chain: bool,
    /// When each node was ready, in nanoseconds since the run began.
    ready: Vec<AtomicU64>,
    /// The time that several threads could save; unknown before the first run.
    saving: Option<Duration>,
}

/// The inputs of one run of a stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct StageRun<'a> {
    pub(super) stage: &'a Stage,
    pub(super) states: &'a [Mutex<SystemState>],
    pub(super) split: &'a SplitStore<'a>,
    pub(super) resources: &'a Resources,
    /// When the schedule's run began.
    pub(super) start: Stopwatch,
    /// The rank of each system: of the ready systems, the one with the lowest rank starts first.
    pub(super) rank: &'a [u64],
}

impl StageRun<'_> {
    /// The rank of a node. A junction costs no time, and has the lowest.
    fn rank_of(&self, at: usize) -> u64 {
        self.rank.get(at).copied().unwrap_or(0)
    }
}

impl StageExecutor {
    /// Rebuilds the graph if archetypes have come or gone.
    pub(super) fn update(
        &mut self,
        stage: &Stage,
        states: &[Mutex<SystemState>],
        split: &SplitStore<'_>,
    ) {
        if self.census == Some(split.census()) {
            return;
        }
        self.census = Some(split.census());
        let conflicts = match stage.conflicts.is_empty() {
            true => Edges::default(),
            false => self.conflicts(stage, states, split.archetypes()),
        };
        let systems = stage.systems.len();
        self.graph = DependencyGraph::new(systems, [&stage.requested, &conflicts]);
        self.is_chain = self.graph.is_chain(systems);
        let nodes = self.graph.successors.len();
        self.ready = (0..nodes).map(|_| AtomicU64::new(0)).collect();
    }

    /// The order of the systems that conflict in one of these archetypes.
    fn conflicts(
        &mut self,
        stage: &Stage,
        states: &[Mutex<SystemState>],
        archetypes: &[Archetype],
    ) -> Edges {
        let accesses = self.accesses.get_or_insert_with(|| {
            let states: Vec<_> =
                stage.systems.iter().map(|&system| lock(&states[system])).collect();
            Accesses::new(states.iter().map(|state| &state.access[..]))
        });
        accesses.conflicts(|component, one, other| one.meets(other, component, archetypes))
    }

    /// Whether several threads can save enough time.
    fn is_worth_threads(&self) -> bool {
        self.saving.is_none_or(|saving| saving >= SAVING_MIN)
    }

    /// Runs all systems of the stage.
    pub(super) fn run(&mut self, job: StageRun<'_>) {
        let began = nanos(job.start.elapsed());
        for ready in &mut self.ready {
            *ready.get_mut() = began;
        }
        // A chain does not start the threads of a pool.
        let threads = if self.is_chain { 1 } else { Threads::count() };
        if threads < 2 || !self.is_worth_threads() {
            self.run_in_sequence(job);
        } else {
            self.run_in_parallel(job, threads);
        }
        if threads > 1 {
            self.saving = Some(self.possible_saving(job));
        }
    }

    /// Runs one system after another on the caller's thread.
    fn run_in_sequence(&self, job: StageRun<'_>) {
        if job.rank.is_sorted() {
            self.graph.sequence.iter().for_each(|&at| self.run_one(job, at));
        } else {
            self.graph.order(job.rank).into_iter().for_each(|at| self.run_one(job, at));
        }
    }

    /// Runs on the calling thread and on threads of its pool.
    fn run_in_parallel(&self, job: StageRun<'_>, threads: usize) {
        let DependencyGraph { predecessors_len, successors, .. } = &self.graph;
        let rank = |at| job.rank_of(at);
        let run = |at| self.run_one(job, at);
        let systems = ReadySystems::new(predecessors_len, successors, &rank, run, threads);
        Threads::scope(|helpers| systems.lead(helpers));
    }

    /// Runs a system. A junction ends as soon as it is ready.
    fn run_one(&self, job: StageRun<'_>, at: usize) {
        let ready = self.ready[at].load(Ordering::Relaxed);
        let ended = match job.stage.systems.get(at) {
            None => ready,
            Some(&system) => {
                let now = job.split.version(at);
                let run = SystemRun { split: job.split, resources: job.resources, now };
                let ready = Duration::from_nanos(ready);
                nanos(lock(&job.states[system]).run(run, job.start, ready))
            }
        };
        for &next in &self.graph.successors[at] {
            self.ready[next].fetch_max(ended, Ordering::Relaxed);
        }
    }

    /// The total time of the systems minus the time of the critical path, in the run that just
    /// ended.
    fn possible_saving(&self, job: StageRun<'_>) -> Duration {
        let mut total = Duration::ZERO;
        let mut earliest = vec![Duration::ZERO; self.graph.successors.len()];
        let mut critical_path = Duration::ZERO;
        for &at in &self.graph.sequence {
            let took = job.stage.systems.get(at).map_or(Duration::ZERO, |&system| {
                let times = lock(&job.states[system]).times;
                times.ended - times.began
            });
            total += took;
            let until = earliest[at] + took;
            critical_path = critical_path.max(until);
            for &next in &self.graph.successors[at] {
                earliest[next] = earliest[next].max(until);
            }
        }
        total - critical_path
    }
}

/// A duration as a number that fits an atomic; 584 years at most.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

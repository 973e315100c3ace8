//! The execution of a stage: its systems on one thread or on many, never two that conflict at once.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::archetype::{Archetype, Census};
use crate::stopwatch::Stopwatch;
use crate::store::SplitStore;
use crate::world::Resources;

use super::conflicts::Accesses;
use super::dependency_graph::{DependencyGraph, Stage};
use super::edges::Edges;
use super::param::SystemRun;
use super::system_state::SystemState;

/// A stage runs on several threads if that saves at least this much, judged by the last run.
///
/// Two empty tasks of rayon take 12 µs if its threads are awake and 20 µs if they sleep
/// (medians, on two virtual cores of a Zen 5 server), and waiting for a thread can cost more. A
/// stage that can save less than this runs on the caller's thread, which touches no other.
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
    /// For each node of the graph, the number of predecessors that have not finished.
    remaining: Vec<AtomicUsize>,
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
    /// Threads that may run systems.
    pub(super) threads: usize,
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
        self.remaining = (0..nodes).map(|_| AtomicUsize::new(0)).collect();
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

    /// Whether no two systems may run in parallel.
    pub(super) const fn is_chain(&self) -> bool {
        self.is_chain
    }

    /// Whether several threads can save enough time.
    pub(super) fn is_worth_threads(&self) -> bool {
        !self.is_chain && self.saving.is_none_or(|saving| saving >= SAVING_MIN)
    }

    /// Runs all systems of the stage.
    pub(super) fn run(&mut self, job: StageRun<'_>) {
        let began = nanos(job.start.elapsed());
        for ready in &mut self.ready {
            *ready.get_mut() = began;
        }
        if job.threads < 2 || !self.is_worth_threads() {
            self.run_in_sequence(job);
        } else {
            self.run_in_parallel(job);
        }
        if job.threads > 1 && !self.is_chain {
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

    /// Runs on rayon's threads. The thread that finishes a system starts the systems that waited
    /// for it.
    fn run_in_parallel(&mut self, job: StageRun<'_>) {
        for (remaining, &len) in self.remaining.iter_mut().zip(&self.graph.predecessors_len) {
            *remaining.get_mut() = len;
        }
        let mut first: Vec<usize> = (0..job.stage.systems.len())
            .filter(|&at| self.graph.predecessors_len[at] == 0)
            .collect();
        first.sort_by_key(|&at| job.rank_of(at));
        self.run_each(job, &first);
    }

    /// Runs ready systems in parallel: idle threads take halves of the list.
    fn run_each(&self, job: StageRun<'_>, ready: &[usize]) {
        match *ready {
            [] => {}
            [at] => self.run_from(job, at),
            _ => {
                let (first, rest) = ready.split_at(ready.len() / 2);
                rayon::join(|| self.run_each(job, first), || self.run_each(job, rest));
            }
        }
    }

    /// Runs a system, followed by the successors that it makes ready.
    fn run_from(&self, job: StageRun<'_>, mut at: usize) {
        loop {
            self.run_one(job, at);
            let is_ready = |&next: &usize| self.remaining[next].fetch_sub(1, Ordering::AcqRel) == 1;
            let successors = self.graph.successors[at].iter().copied();
            let mut ready: Vec<usize> = successors.filter(is_ready).collect();
            match *ready {
                [] => return,
                // A loop, so that a long chain needs no deep stack.
                [next] => at = next,
                _ => {
                    ready.sort_by_key(|&next| job.rank_of(next));
                    return self.run_each(job, &ready);
                }
            }
        }
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

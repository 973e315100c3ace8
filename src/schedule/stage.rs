//! A stage at work: its systems on one thread or on many, never two that clash side by side.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::archetype::Archetype;
use crate::query::SplitStore;
use crate::stopwatch::Stopwatch;
use crate::world::Resources;

use super::access::clash_in;
use super::graph::{DependencyGraph, Stage};
use super::order::Reason;
use super::param::SystemRun;
use super::system_state::SystemState;

/// A stage goes to several threads if that can save this much, as far as the last run tells.
///
/// Two empty tasks of rayon take 12 µs if its threads are awake and 20 µs if they sleep
/// (medians, on two virtual cores of a Zen 5 server), and a thread that has to be waited for can
/// cost more. A stage that can save less than this is run by the caller, which touches no other
/// thread.
const SAVING_MIN: Duration = Duration::from_micros(30);

/// Locks a slot. Nobody waits: a system runs once in a stage.
pub(super) fn lock(slot: &Mutex<SystemState>) -> MutexGuard<'_, SystemState> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A stage's wiring in a world, and what is known of its last run.
#[derive(Debug, Default)]
pub(super) struct StageExecutor {
    wiring: DependencyGraph,
    /// The wiring holds for a world of so many archetypes.
    archetypes: Option<usize>,
    is_chain: bool,
    /// How many each system still waits for.
    missing: Vec<AtomicUsize>,
    /// When it was ready, in nanoseconds since the run began.
    ready: Vec<AtomicU64>,
    /// What several threads could save; unknown before the first run.
    saving: Option<Duration>,
}

/// What a run of a stage needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job<'a> {
    pub(super) stage: &'a Stage,
    pub(super) slots: &'a [Mutex<SystemState>],
    pub(super) split: &'a SplitStore<'a>,
    pub(super) resources: &'a Resources,
    /// When the schedule's run began.
    pub(super) start: Stopwatch,
    /// Of those that may come next, the least rank does.
    pub(super) rank: &'a [u64],
    /// Threads that may run systems.
    pub(super) threads: usize,
}

impl StageExecutor {
    /// Wires the stage for these archetypes, if there are more than the last time. Archetypes are
    /// only ever added.
    pub(super) fn wire(
        &mut self,
        stage: &Stage,
        slots: &[Mutex<SystemState>],
        archetypes: &[Archetype],
    ) {
        if self.archetypes == Some(archetypes.len()) {
            return;
        }
        self.archetypes = Some(archetypes.len());
        let meet = |from: usize, to: usize| {
            clash_in(&lock(&slots[from]).wants, &lock(&slots[to]).wants, archetypes)
        };
        self.wiring = DependencyGraph::new(stage, |edge| {
            !matches!(edge.reason, Reason::Conflict(_)) || meet(edge.from, edge.to)
        });
        self.is_chain = self.wiring.is_chain();
        let counters = || self.wiring.waits_for.iter();
        self.missing = counters().map(|_| AtomicUsize::new(0)).collect();
        self.ready = counters().map(|_| AtomicU64::new(0)).collect();
    }

    /// Whether no two of its systems may run side by side.
    pub(super) const fn is_chain(&self) -> bool {
        self.is_chain
    }

    /// Whether several threads can save enough.
    pub(super) fn is_worth_threads(&self) -> bool {
        !self.is_chain && self.saving.is_none_or(|saving| saving >= SAVING_MIN)
    }

    /// Runs all systems of the stage.
    pub(super) fn run(&mut self, job: Job<'_>) {
        let began = nanos(job.start.elapsed());
        for ready in &mut self.ready {
            *ready.get_mut() = began;
        }
        if job.threads < 2 || !self.is_worth_threads() {
            self.run_here(job);
        } else {
            self.run_on_all(job);
        }
        if job.threads > 1 && !self.is_chain {
            self.saving = Some(self.possible_saving(job));
        }
    }

    /// One after another, on the caller's thread.
    fn run_here(&self, job: Job<'_>) {
        if job.rank.is_sorted() {
            (0..job.stage.systems.len()).for_each(|at| self.run_one(job, at));
        } else {
            self.wiring.order(job.rank).into_iter().for_each(|at| self.run_one(job, at));
        }
    }

    /// On rayon's threads: whoever finishes a system starts those that waited for it.
    fn run_on_all(&mut self, job: Job<'_>) {
        for (missing, &waits_for) in self.missing.iter_mut().zip(&self.wiring.waits_for) {
            *missing.get_mut() = waits_for;
        }
        let mut first: Vec<usize> =
            (0..job.stage.systems.len()).filter(|&at| self.wiring.waits_for[at] == 0).collect();
        first.sort_by_key(|&at| job.rank[at]);
        self.run_each(job, &first);
    }

    /// Runs systems that are ready side by side: idle threads take halves of what is left.
    fn run_each(&self, job: Job<'_>, ready: &[usize]) {
        match *ready {
            [] => {}
            [at] => self.run_from(job, at),
            _ => {
                let (first, rest) = ready.split_at(ready.len() / 2);
                rayon::join(|| self.run_each(job, first), || self.run_each(job, rest));
            }
        }
    }

    /// Runs a system and then those that waited for nothing else.
    fn run_from(&self, job: Job<'_>, mut at: usize) {
        loop {
            self.run_one(job, at);
            let is_ready = |&next: &usize| self.missing[next].fetch_sub(1, Ordering::AcqRel) == 1;
            let waiting = self.wiring.successors[at].iter().copied();
            let mut ready: Vec<usize> = waiting.filter(is_ready).collect();
            match *ready {
                [] => return,
                // In the loop, so that a long chain needs no deep stack.
                [next] => at = next,
                _ => {
                    ready.sort_by_key(|&next| job.rank[next]);
                    return self.run_each(job, &ready);
                }
            }
        }
    }

    fn run_one(&self, job: Job<'_>, at: usize) {
        let now = job.split.version(at);
        let run = SystemRun { split: job.split, resources: job.resources, now, since: now };
        let ready = Duration::from_nanos(self.ready[at].load(Ordering::Relaxed));
        let ended = lock(&job.slots[job.stage.systems[at]]).run(run, job.start, ready);
        for &next in &self.wiring.successors[at] {
            self.ready[next].fetch_max(nanos(ended), Ordering::Relaxed);
        }
    }

    /// All of the work less the longest chain of it, in the run that has just ended.
    fn possible_saving(&self, job: Job<'_>) -> Duration {
        let mut work = Duration::ZERO;
        let mut longest = vec![Duration::ZERO; job.stage.systems.len()];
        let mut chain = Duration::ZERO;
        for (at, &system) in job.stage.systems.iter().enumerate() {
            let times = lock(&job.slots[system]).times;
            let took = times.ended - times.began;
            work += took;
            let until = longest[at] + took;
            chain = chain.max(until);
            for &next in &self.wiring.successors[at] {
                longest[next] = longest[next].max(until);
            }
        }
        work - chain
    }
}

/// A duration as a number that fits an atomic; 584 years at most.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

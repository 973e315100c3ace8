//! A system's place in a schedule: its function, its conditions, and what became of its last run.

use core::any::Any;
use core::fmt;
use core::mem;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::command::CommandBuffer;
use crate::component::Registry;
use crate::stopwatch::Stopwatch;
use crate::world::{MissingResource, World};

use super::access::ParamAccess;
use super::param::SystemRun;
use super::system::DynSystem;

/// What became of a run.
#[derive(Debug, Default)]
pub(super) enum SystemOutcome {
    /// It ran to its end.
    Ran,
    /// A condition said no, or there was no run yet.
    #[default]
    Skipped,
    /// It did not begin.
    Missing(Missing),
    /// It stopped with this payload, or one of its conditions did.
    Panicked { of_condition: bool, payload: Box<dyn Any + Send> },
}

/// What kept a system from running.
#[derive(Debug)]
pub(super) struct Missing {
    /// Whether it is a condition that asks for it.
    pub(super) of_condition: bool,
    pub(super) resource: MissingResource,
}

/// When things happened, since the schedule's run began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    /// All that it waits for had finished.
    pub(super) ready: Duration,
    pub(super) began: Duration,
    pub(super) ended: Duration,
    /// How long its commands were played back.
    pub(super) structural: Duration,
}

/// What a system asks for, and what each of its conditions does.
#[derive(Debug)]
pub(super) struct SystemAccess {
    pub(super) system: Vec<ParamAccess>,
    pub(super) conditions: Vec<Vec<ParamAccess>>,
}

impl SystemAccess {
    /// A line for each parameter of the system, and one for each of its conditions.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let condition = |wants: &Vec<ParamAccess>| match wants.is_empty() {
            true => "run if: asks for nothing".to_owned(),
            false => {
                let wants: Vec<_> = wants.iter().map(ToString::to_string).collect();
                format!("run if: {}", wants.join(", and "))
            }
        };
        let system = self.system.iter().map(ToString::to_string);
        system.chain(self.conditions.iter().map(condition))
    }
}

/// Whose a condition is. Conditions are asked in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    /// A set; its place among those that the system is in.
    Set(usize),
    /// The system itself.
    System,
}

struct Condition {
    owner: Owner,
    body: Box<dyn DynSystem<bool>>,
}

/// A system in a schedule.
pub(super) struct SystemState {
    body: Box<dyn DynSystem<()>>,
    /// In the order in which they are asked.
    conditions: Vec<Condition>,
    /// What it and its conditions ask for, in the numbers of the world.
    pub(super) wants: Vec<ParamAccess>,
    outcome: SystemOutcome,
    /// Whether it ran in the last run.
    pub(super) ran: bool,
    pub(super) times: Times,
}

impl SystemState {
    pub(super) fn new(body: Box<dyn DynSystem<()>>) -> Self {
        let (conditions, wants) = (Vec::new(), Vec::new());
        let (outcome, times) = (SystemOutcome::Skipped, Times::default());
        Self { body, conditions, wants, outcome, ran: false, times }
    }

    /// Adds a condition, after the others of its owner.
    pub(super) fn add_condition(&mut self, owner: Owner, body: Box<dyn DynSystem<bool>>) {
        let at = self.conditions.partition_point(|condition| condition.owner <= owner);
        self.conditions.insert(at, Condition { owner, body });
    }

    /// What it and its conditions ask for, in the numbers of a registry.
    pub(super) fn wants_of(&self, registry: &mut Registry) -> Vec<ParamAccess> {
        let SystemAccess { mut system, conditions } = self.asks(registry);
        system.extend(conditions.into_iter().flatten());
        system
    }

    /// The same, told apart.
    pub(super) fn asks(&self, registry: &mut Registry) -> SystemAccess {
        let conditions = self.conditions.iter();
        SystemAccess {
            system: self.body.wants(registry),
            conditions: conditions.map(|condition| condition.body.wants(registry)).collect(),
        }
    }

    /// Makes what it keeps for a world, if it is new.
    pub(super) fn bind(&mut self, world: &mut World) {
        self.body.bind(world);
        for condition in &mut self.conditions {
            condition.body.bind(world);
        }
        self.wants = self.wants_of(world.registry_mut());
    }

    /// Forgets what it kept.
    pub(super) fn unbind(&mut self) {
        self.body.unbind();
        for condition in &mut self.conditions {
            condition.body.unbind();
        }
    }

    /// All command buffers, the conditions' first.
    pub(super) fn buffers(&mut self) -> impl Iterator<Item = &mut CommandBuffer> {
        let conditions = self.conditions.iter_mut().flat_map(|condition| condition.body.buffers());
        conditions.chain(self.body.buffers())
    }

    /// Runs it, if its conditions say so. A panic is kept. Returns when it ended, since `start`.
    pub(super) fn run(
        &mut self,
        run: SystemRun<'_>,
        start: Stopwatch,
        ready: Duration,
    ) -> Duration {
        let began = start.elapsed();
        let mut is_asking = true;
        let ran = catch_unwind(AssertUnwindSafe(|| self.run_if_asked(run, &mut is_asking)));
        self.outcome = match ran {
            Ok(Ok(true)) => SystemOutcome::Ran,
            Ok(Ok(false)) => SystemOutcome::Skipped,
            Ok(Err(missing)) => SystemOutcome::Missing(missing),
            Err(payload) => {
                // What was recorded is half of something. What goes with it may panic as well.
                for buffer in self.buffers() {
                    drop(catch_unwind(AssertUnwindSafe(|| buffer.clear())));
                }
                SystemOutcome::Panicked { of_condition: is_asking, payload }
            }
        };
        let panicked = matches!(self.outcome, SystemOutcome::Panicked { of_condition: false, .. });
        self.ran = panicked || matches!(self.outcome, SystemOutcome::Ran);
        let ended = start.elapsed();
        self.times = Times { ready, began, ended, structural: Duration::ZERO };
        ended
    }

    /// Conditions after the first that says no are not asked. They keep the moment at which they
    /// were last asked, so that none misses a change. `is_asking` ends before the system begins.
    fn run_if_asked(&mut self, run: SystemRun<'_>, is_asking: &mut bool) -> Result<bool, Missing> {
        let missing = |of_condition| move |resource| Missing { of_condition, resource };
        for condition in &mut self.conditions {
            if !condition.body.run(run).map_err(missing(true))? {
                return Ok(false);
            }
        }
        *is_asking = false;
        self.body.run(run).map_err(missing(false))?;
        Ok(true)
    }

    pub(super) fn take_outcome(&mut self) -> SystemOutcome {
        mem::take(&mut self.outcome)
    }
}

impl fmt::Debug for SystemState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SystemState").field("wants", &self.wants).finish_non_exhaustive()
    }
}

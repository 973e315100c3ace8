//! A system in a schedule: its function, its conditions, and the outcome of its last run.

use core::fmt;
use core::mem;

use std::time::Duration;

use crate::command::CommandBuffer;
use crate::component::Registry;
use crate::payload::Payload;
use crate::stopwatch::Stopwatch;
use crate::store::FirstPanic;
use crate::world::{MissingResource, World};

use super::param::SystemRun;
use super::param_access::ParamAccess;
use super::system::{DynSystem, NoResult};
use super::system_output::SystemError;

/// The outcome of a system's run.
#[derive(Debug, Default)]
pub(super) enum SystemOutcome {
    /// It ran to its end.
    Ran,
    /// A condition returned `false`, or there was no run yet.
    #[default]
    Skipped,
    /// It did not begin.
    Missing(MissingParam),
    /// It returned an error, or one of its conditions did.
    Failed(Failed),
    /// It panicked with this payload, or one of its conditions did.
    Panicked { of_condition: bool, payload: Payload },
}

/// The missing resource that kept a system from running.
#[derive(Debug)]
pub(super) struct MissingParam {
    /// Whether it is a parameter of a condition.
    pub(super) of_condition: bool,
    pub(super) resource: MissingResource,
}

/// The error that a system returned.
#[derive(Debug)]
pub(super) struct Failed {
    /// Whether a condition returned it.
    pub(super) of_condition: bool,
    pub(super) error: SystemError,
}

/// The times of a system's last run, measured from the start of the schedule's run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    /// When all its predecessors had finished.
    pub(super) ready: Duration,
    pub(super) began: Duration,
    pub(super) ended: Duration,
    /// The duration of the playback of its commands.
    pub(super) structural: Duration,
}

/// The access of a system, and the access of each of its conditions.
#[derive(Debug)]
pub(super) struct SystemAccess {
    system: Vec<ParamAccess>,
    conditions: Vec<Vec<ParamAccess>>,
}

impl SystemAccess {
    /// The access of the system and all its conditions.
    pub(super) fn into_all(self) -> Vec<ParamAccess> {
        let Self { mut system, conditions } = self;
        system.extend(conditions.into_iter().flatten());
        system
    }

    /// A line for each parameter of the system, and one for each of its conditions.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let condition = |access: &Vec<ParamAccess>| match access.is_empty() {
            true => "run if: no parameters".to_owned(),
            false => {
                let access: Vec<_> = access.iter().map(ToString::to_string).collect();
                format!("run if: {}", access.join(", and "))
            }
        };
        let system = self.system.iter().map(ToString::to_string);
        system.chain(self.conditions.iter().map(condition))
    }
}

/// The owner of a condition. Conditions are evaluated in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ConditionOwner {
    /// A set; its index among the sets of the system.
    Set(usize),
    /// The system itself.
    System,
}

struct Condition {
    owner: ConditionOwner,
    system: Box<dyn DynSystem<bool>>,
}

/// A system in a schedule.
pub(super) struct SystemState {
    system: Box<dyn DynSystem<()>>,
    /// In the order of evaluation.
    conditions: Vec<Condition>,
    /// The access of the system and all its conditions, in component ids of the world.
    pub(super) access: Vec<ParamAccess>,
    outcome: SystemOutcome,
    /// Whether the system ran in the last run of the schedule.
    pub(super) ran: bool,
    pub(super) times: Times,
}

impl SystemState {
    pub(super) fn new(system: Box<dyn DynSystem<()>>) -> Self {
        let (conditions, access) = (Vec::new(), Vec::new());
        let (outcome, times) = (SystemOutcome::Skipped, Times::default());
        Self { system, conditions, access, outcome, ran: false, times }
    }

    /// Adds a condition, after the others of its owner.
    pub(super) fn add_condition(
        &mut self,
        owner: ConditionOwner,
        system: Box<dyn DynSystem<bool>>,
    ) {
        let at = self.conditions.partition_point(|condition| condition.owner <= owner);
        self.conditions.insert(at, Condition { owner, system });
    }

    /// The access of the system and of each condition, in component ids of `registry`.
    pub(super) fn access_in(&self, registry: &mut Registry) -> SystemAccess {
        let conditions = self.conditions.iter();
        SystemAccess {
            system: self.system.access(registry),
            conditions: conditions.map(|condition| condition.system.access(registry)).collect(),
        }
    }

    /// Makes the parameters' state for this world unless it exists. Returns `false` if the world
    /// does not know a name: the system fails until it does.
    pub(super) fn bind(&mut self, world: &mut World) -> bool {
        self.system.bind(world);
        for condition in &mut self.conditions {
            condition.system.bind(world);
        }
        self.access = self.access_in(world.registry_mut()).into_all();
        self.system.is_bound()
    }

    /// Drops the parameters' state. If destructors panic, the first panic is kept.
    pub(super) fn unbind(&mut self, panic: &mut FirstPanic) {
        panic.call(|| self.system.unbind());
        for condition in &mut self.conditions {
            panic.call(|| condition.system.unbind());
        }
    }

    /// All command buffers, first the buffers of the conditions.
    pub(super) fn buffers(&mut self) -> impl Iterator<Item = &mut CommandBuffer> {
        let conditions =
            self.conditions.iter_mut().flat_map(|condition| condition.system.buffers());
        conditions.chain(self.system.buffers())
    }

    /// Runs the system if all conditions hold. Catches panics. Returns the time of its end,
    /// measured from `start`.
    pub(super) fn run(
        &mut self,
        run: SystemRun<'_>,
        start: Stopwatch,
        ready: Duration,
    ) -> Duration {
        let began_at = start.elapsed();
        let mut in_condition = true;
        let ran = Payload::catch(|| self.try_run(run, &mut in_condition));
        let of_condition = in_condition;
        self.outcome = match ran {
            Ok(Ok(true)) => SystemOutcome::Ran,
            Ok(Ok(false)) => SystemOutcome::Skipped,
            Ok(Err(NoResult::Missing(resource))) => {
                SystemOutcome::Missing(MissingParam { of_condition, resource })
            }
            Ok(Err(NoResult::Failed(error))) => {
                SystemOutcome::Failed(Failed { of_condition, error })
            }
            Err(payload) => SystemOutcome::Panicked { of_condition, payload },
        };
        let (is_cut_short, began) = match self.outcome {
            SystemOutcome::Panicked { of_condition, .. }
            | SystemOutcome::Failed(Failed { of_condition, .. }) => (true, !of_condition),
            SystemOutcome::Ran => (false, true),
            SystemOutcome::Skipped | SystemOutcome::Missing(_) => (false, false),
        };
        if is_cut_short {
            // Discard the partial recording. Dropping a captured value may panic.
            for buffer in self.buffers() {
                drop(Payload::catch(|| buffer.clear()));
            }
        }
        let is_sent = !is_cut_short;
        for condition in &mut self.conditions {
            condition.system.send_events(&run, is_sent);
        }
        self.system.send_events(&run, is_sent);
        self.ran = began;
        let ended = start.elapsed();
        self.times = Times { ready, began: began_at, ended, structural: Duration::ZERO };
        ended
    }

    /// Evaluates the conditions up to the first one that returns `false`. The others keep the
    /// version of their last evaluation, so that they miss no change. `in_condition` is `false`
    /// from the start of the system on.
    fn try_run(&mut self, run: SystemRun<'_>, in_condition: &mut bool) -> Result<bool, NoResult> {
        for condition in &mut self.conditions {
            if !condition.system.run(run)? {
                return Ok(false);
            }
        }
        *in_condition = false;
        self.system.run(run)?;
        Ok(true)
    }

    /// The bytes that its buffers hold.
    pub(super) fn held_bytes(&self) -> usize {
        let of_conditions = self.conditions.iter().map(|one| one.system.held_bytes());
        of_conditions.sum::<usize>() + self.system.held_bytes()
    }

    /// Frees the bytes that its buffers do not use.
    pub(super) fn compact(&mut self) {
        self.conditions.iter_mut().for_each(|one| one.system.compact());
        self.system.compact();
    }

    pub(super) fn take_outcome(&mut self) -> SystemOutcome {
        mem::take(&mut self.outcome)
    }
}

impl fmt::Debug for SystemState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SystemState").field("access", &self.access).finish_non_exhaustive()
    }
}

//! A run of a schedule: its stages in order, and the playback of recorded commands between them.

use std::panic::resume_unwind;

use crate::command::{CommandBuffer, Failures};
use crate::entity::Seat;
use crate::payload::Payload;
use crate::stopwatch::Stopwatch;
use crate::world::World;

use super::dependency_graph::Stage;
use super::report::{CommandReport, FailedCommands};
use super::schedule::{Schedule, SchedulePlan};
use super::schedule_error::ScheduleError;
use super::stage_executor::{StageExecutor, StageRun, lock};
use super::system_state::{Failed, MissingParam, SystemOutcome, Times};

/// The errors and the first panic of a run.
#[derive(Default)]
struct RunErrors {
    list: Vec<ScheduleError>,
    /// The first panic in the order of the systems, with the name of its system.
    panic: Option<(String, Payload)>,
}

impl Schedule {
    /// Runs every system once.
    ///
    /// # Errors
    ///
    /// An invalid schedule or a missing resource is an error. A command on an entity that another
    /// system has despawned is not: it is counted in the [report](Schedule::report).
    ///
    /// | event | the run returns | systems and commands that ran | reported |
    /// | --- | --- | --- | --- |
    /// | the order has a cycle, an unknown name or a function that was not added, or the last run had another world | an error | none | |
    /// | a resource of a system or of its conditions is missing | an error | all other systems | |
    /// | a system returns an error, or one of its conditions does | the error, with the name of the system | all other systems | |
    /// | a system's row is too wide for a chunk | an error | all other commands | yes |
    /// | a system spawns a batch, and all ids are used | an error | all other commands | yes |
    /// | a command names a type with a name that another type of the world has | an error | all other commands | yes |
    /// | a command exchanges the world | an error | no command after it, and no later system | |
    /// | a system changes an entity that is not alive when the command is applied, also one that went with the target of its relation | `Ok`, or an error if the schedule is [strict](Schedule::strict) | all other commands | yes |
    /// | a command makes a [relation](crate::sparse::relation) to an entity that is not alive | `Ok`, or an error if the schedule is strict | all others, and the rest of this one | yes |
    /// | a command makes a cycle in a tree, also with its own entity as the target | an error | all others, and the rest of this one | yes |
    /// | a relation refuses a despawn | an error | all other commands | yes |
    /// | a change of an entity, or a relation to one, that is not alive, with [`DeadEntityPolicy::Ignore`](crate::command::DeadEntityPolicy::Ignore) | `Ok` | as above | |
    /// | a system despawns an entity that is not alive | `Ok` | all other commands | |
    ///
    /// A system that is skipped because its resource is missing does not hold back the systems that
    /// are ordered after it: they run without its effects. The same holds for a system that returns
    /// an error. Its commands and events are discarded, like the commands of a system that panics;
    /// its writes through its parameters stay. If a condition returns an error, its system does not
    /// run.
    ///
    /// # Panics
    ///
    /// If a system, a condition, a recorded closure, or the destructor of a kept event panics (a
    /// system's `spawn` does when all ids are used, its `try_spawn` returns an error); if a command
    /// fails and its buffer has
    /// [`DeadEntityPolicy::Panic`](crate::command::DeadEntityPolicy::Panic); if a component has the
    /// name of another type's. All other systems run and their commands are applied; after that the
    /// panic is resumed with a text that names the system. The commands and the events of a system
    /// that panics are discarded, and its written chunks count as changed. The world, the schedule
    /// and its report remain usable.
    ///
    /// If a parameter names a component type with a name that another type has in the world, with
    /// the text of [`NameTaken`](crate::error::NameTaken). No system has run in this case.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let mut schedule = Schedule::new();
    /// schedule.add(|step: Res<f32>| assert_eq!(*step, 0.5)).named("step");
    /// let error = schedule.run(&mut world).unwrap_err();
    /// let start = "system `step` did not run: the world has no resource";
    /// assert!(error.to_string().starts_with(start));
    /// world.insert_resource(0.5f32);
    /// schedule.run(&mut world)?;
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    pub fn run(&mut self, world: &mut World) -> Result<(), ScheduleError> {
        self.prepare(world)?;
        let start = Stopwatch::start();
        let mut plan = self.plan.take().expect("the schedule was not prepared");
        let mut errors = RunErrors::default();
        errors.age_logs(world);
        let SchedulePlan { stages, executors } = &mut plan;
        for (number, (stage, executor)) in stages.iter().zip(executors).enumerate() {
            // A command may have replaced the world by another.
            if !self.is_of(world) {
                self.skip_stage(stage, &mut errors);
                continue;
            }
            self.run_stage(number, stage, executor, world, start);
            self.collect_outcomes(stage, &mut errors);
            self.play_back(stage, world, &mut errors);
        }
        self.timings.collect(&self.nodes, &self.states, stages, start.elapsed());
        self.plan = Some(plan);
        self.runs += 1;
        errors.into_result()
    }

    /// Skips a stage after the world was replaced: the state of its systems is valid for the old
    /// world only.
    fn skip_stage(&self, stage: &Stage, errors: &mut RunErrors) {
        for &system in &stage.systems {
            let mut state = lock(&self.states[system]);
            (state.ran, state.times) = (false, Times::default());
        }
        errors.push_other_world();
    }

    fn run_stage(
        &self,
        number: usize,
        stage: &Stage,
        executor: &mut StageExecutor,
        world: &mut World,
        start: Stopwatch,
    ) {
        self.open_id_shares(number, stage, world);
        let ran = Payload::catch(|| self.run_systems(number, stage, executor, world, start));
        // The closures that are recorded as commands see the events, and queries that choose rows
        // by sparse components.
        world.join_systems();
        if let Err(panic) = ran {
            world.close_id_shares([]);
            panic.resume();
        }
    }

    fn run_systems(
        &self,
        number: usize,
        stage: &Stage,
        executor: &mut StageExecutor,
        world: &mut World,
        start: Stopwatch,
    ) {
        let rank = self.rank(number, stage.systems.len());
        let (split, resources) = world.split(stage.systems.len());
        executor.update(stage, &self.states, &split);
        let (states, split, rank) = (&self.states[..], &split, &rank[..]);
        let job = StageRun { stage, states, split, resources, start, rank };
        match &self.threads {
            Some(threads) => threads.clone().during(|| executor.run(job)),
            None => executor.run(job),
        }
    }

    /// The priority of each system of a stage among the ready systems.
    fn rank(&self, stage: usize, systems: usize) -> Vec<u64> {
        match self.shuffle {
            None => (0..systems as u64).collect(),
            Some(seed) => {
                let round = mix(seed ^ mix(self.runs ^ mix(stage as u64)));
                (0..systems as u64).map(|at| mix(round ^ mix(at))).collect()
            }
        }
    }

    /// Gives each buffer its own entity ids until the stage is played back, so that ids do not
    /// depend on threads.
    fn open_id_shares(&self, number: usize, stage: &Stage, world: &mut World) {
        let mut states: Vec<_> =
            self.recorders(stage).map(|system| lock(&self.states[system])).collect();
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let buffers = (0..).zip(states.iter_mut().flat_map(|state| state.buffers()));
        let buffers: Vec<_> =
            buffers.map(|(n, buffer)| (Some(Seat::new(number, n)), buffer)).collect();
        if !buffers.is_empty() {
            world.open_id_shares(buffers);
        }
    }

    /// The systems of a stage that record commands.
    fn recorders<'s>(&'s self, stage: &'s Stage) -> impl Iterator<Item = usize> + 's {
        stage.systems.iter().copied().filter(|&system| self.nodes[system].commands)
    }

    /// Collects errors and panics of a stage's systems.
    fn collect_outcomes(&self, stage: &Stage, errors: &mut RunErrors) {
        for &system in &stage.systems {
            let name = &self.nodes[system].label;
            match lock(&self.states[system]).take_outcome() {
                SystemOutcome::Ran | SystemOutcome::Skipped => {}
                SystemOutcome::Missing(missing) => {
                    let MissingParam { of_condition, resource: missing } = missing;
                    let system = name.clone();
                    let error = ScheduleError::MissingResource { system, of_condition, missing };
                    errors.list.push(error);
                }
                SystemOutcome::Failed(Failed { of_condition, error }) => {
                    let system = name.clone();
                    errors.list.push(ScheduleError::Failed { system, of_condition, error });
                }
                SystemOutcome::Panicked { of_condition, payload } => {
                    let part = if of_condition { "a condition of " } else { "" };
                    errors.push_panic(format!("{part}system `{name}`"), payload);
                }
            }
        }
    }

    /// Applies the commands of a stage's systems, in their order.
    fn play_back(&mut self, stage: &Stage, world: &mut World, errors: &mut RunErrors) {
        let recorders: Vec<usize> = self.recorders(stage).collect();
        if recorders.is_empty() {
            return;
        }
        let Self { nodes, states, report, is_strict, .. } = self;
        let mut states: Vec<_> = recorders.iter().map(|&system| lock(&states[system])).collect();
        world.close_id_shares(states.iter_mut().flat_map(|state| state.buffers()));
        let id = world.id();
        for (&system, state) in recorders.iter().zip(&mut states) {
            let name = &nodes[system].label;
            let began = Stopwatch::start();
            for buffer in state.buffers() {
                if world.id() != id
                    && let Err(payload) = Payload::catch(|| buffer.discard())
                {
                    errors.push_panic(format!("a command of system `{name}`"), payload);
                }
                let used = buffer.used_bytes();
                for failure in errors.apply(name, buffer, world) {
                    let (system, first, count) = (name.clone(), failure.first, failure.count);
                    let failed = FailedCommands { system, first, count };
                    report.add(&failed);
                    if *is_strict || !failed.first.fault.is_stale() {
                        errors.list.push(ScheduleError::Commands(Box::new(failed)));
                    }
                }
                buffer.end_run(used);
            }
            state.times.structural = began.elapsed();
        }
    }

    /// The commands that had no effect, or made no relation, since the last
    /// [`Schedule::take_report`] or [`Schedule::reset`], or since the first run.
    ///
    /// If one system changes an entity and another despawns it in the same run, neither is at
    /// fault, so the run goes on and returns `Ok`. The report counts such commands, with their
    /// places in the source. [`Schedule::run`] lists the failures that are reported, and the ones
    /// that are errors as well; commands of a buffer with
    /// [`DeadEntityPolicy::Ignore`](crate::command::DeadEntityPolicy::Ignore) are not reported.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "Burning")] struct Burning;
    /// # let mut world = World::new();
    /// let tree = world.spawn(());
    /// let mut schedule = Schedule::new();
    /// schedule.add(move |mut commands: Commands| commands.despawn(tree)).named("fell");
    /// schedule.add(move |mut commands: Commands| commands.insert(tree, Burning)).named("ignite");
    /// for _ in 0..3 {
    ///     schedule.run(&mut world)?;
    /// }
    ///
    /// let report = schedule.report();
    /// assert_eq!((report.count(), report.as_slice().len()), (3, 1));
    /// let start = "the first of 3 commands of system `ignite`: insert of `Burning`";
    /// assert!(report.to_string().starts_with(start));
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    #[must_use]
    pub const fn report(&self) -> &CommandReport {
        &self.report
    }

    /// Takes the [report](Schedule::report), and leaves an empty one: for a program that prints it
    /// from time to time, or that checks it after every run.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let mut schedule = Schedule::new();
    /// schedule.add(|mut commands: Commands| commands.insert(Entity::NULL, ()));
    /// for _ in 0..3 {
    ///     schedule.run(&mut world)?;
    ///     let report = schedule.take_report();
    ///     if !report.is_empty() {
    ///         eprintln!("{report}");
    ///     }
    ///     assert_eq!(report.count(), 1);
    /// }
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    #[must_use]
    pub fn take_report(&mut self) -> CommandReport {
        core::mem::take(&mut self.report)
    }

    /// Sets whether a command on a despawned entity is an error of the run as well as an entry of
    /// the [report](Schedule::report). For tests, or, with `strict(cfg!(debug_assertions))`, for
    /// programs under development. The default is `false`.
    ///
    /// In both cases the command is skipped and everything else runs; only the result of
    /// [`Schedule::run`] differs.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let mut schedule = Schedule::new();
    /// schedule.add(|mut commands: Commands| commands.insert(Entity::NULL, ())).named("careless");
    /// assert!(schedule.run(&mut world).is_ok());
    ///
    /// let error = schedule.strict(true).run(&mut world).unwrap_err();
    /// let start = "a command of system `careless`: insert of no components";
    /// assert!(error.to_string().starts_with(start));
    /// ```
    pub const fn strict(&mut self, strict: bool) -> &mut Self {
        self.is_strict = strict;
        self
    }
}

impl RunErrors {
    /// Applies a buffer of a system. Returns the commands that had no effect.
    fn apply(&mut self, system: &str, buffer: &mut CommandBuffer, world: &mut World) -> Failures {
        let mut failures = Failures::by_call_site();
        match Payload::catch(|| world.apply_into(buffer, &mut failures)) {
            Ok(Ok(_)) => {}
            Ok(Err(_)) => self.push_other_world(),
            Err(payload) => self.push_panic(format!("a command of system `{system}`"), payload),
        }
        failures
    }

    /// Drops entries that all readers have read.
    fn age_logs(&mut self, world: &mut World) {
        if let Err(payload) = Payload::catch(|| world.memory_mut().age_logs()) {
            self.push_panic("the destructor of an event".to_owned(), payload);
        }
    }

    /// Adds [`ScheduleError::OtherWorld`], once.
    fn push_other_world(&mut self) {
        if !self.list.contains(&ScheduleError::OtherWorld) {
            self.list.push(ScheduleError::OtherWorld);
        }
    }

    fn push_panic(&mut self, source: String, payload: Payload) {
        if self.panic.is_none() {
            self.panic = Some((source, payload));
        }
    }

    fn into_result(mut self) -> Result<(), ScheduleError> {
        if let Some((source, payload)) = self.panic {
            resume_unwind(Box::new(match payload.text() {
                Some(text) => format!("{source} panicked: {text}"),
                None => format!("{source} panicked"),
            }));
        }
        match self.list.len() {
            0 => Ok(()),
            1 => Err(self.list.remove(0)),
            _ => Err(ScheduleError::Several(self.list)),
        }
    }
}

/// A pseudo-random number (splitmix64).
const fn mix(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

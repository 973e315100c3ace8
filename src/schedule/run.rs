//! A run of a schedule: stage after stage, and what was recorded applied between them.

use core::any::Any;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::command::{CommandBuffer, Failures};
use crate::stopwatch::Stopwatch;
use crate::world::World;

use super::error::ScheduleError;
use super::graph::Stage;
use super::report::FailedCommands;
use super::schedule::{Plan, Schedule, Threads};
use super::stage::{Job, StageExecutor, lock};
use super::system_state::{Missing, SystemOutcome};

/// What went wrong in a run.
#[derive(Default)]
struct RunErrors {
    errors: Vec<ScheduleError>,
    /// The first panic in the order of the systems.
    panic: Option<(String, Box<dyn Any + Send>)>,
}

impl Schedule {
    /// Runs every system once.
    ///
    /// # Errors
    ///
    /// A set-up that cannot work is an error. What systems do to each other's entities is not: it
    /// is counted in the [report](Schedule::report).
    ///
    /// | what happens | the run returns | what has run | reported |
    /// | --- | --- | --- | --- |
    /// | the order cannot be met, or the world is another one than in the last run | an error | nothing | |
    /// | a resource of a system or of its conditions is missing | an error | all other systems | |
    /// | a system's row is too wide for a chunk | an error | all other commands | yes |
    /// | a system spawns a batch, and no id is left | an error | all other commands | yes |
    /// | a command names a type whose name another type of the world has | an error | all other commands | yes |
    /// | a command puts another world in place of this one | an error | nothing after that sync point | |
    /// | a system changes an entity that is not alive when the command is applied | `Ok`, or an error if the schedule is [strict](Schedule::strict) | all other commands | yes |
    /// | the same, with [`OnDead::Ignore`](crate::OnDead::Ignore) | `Ok` | all other commands | |
    /// | a system despawns an entity that is not alive | `Ok` | all other commands | |
    ///
    /// A system that is skipped because its resource is missing does not hold back those that are
    /// ordered after it: they run without what it would have done.
    ///
    /// # Panics
    ///
    /// If a system, a condition, or a closure that was recorded panics (a system's `spawn` does
    /// when no id is left, its `try_spawn` returns that); if a command fails and its buffer has
    /// [`OnDead::Panic`](crate::OnDead::Panic); if a component has the name of another type's. All
    /// others run, and their commands are applied; then the panic goes on, with a text that names
    /// the system. The commands of a system that panics are dropped, and chunks that it wrote count
    /// as changed. The world, the schedule and its report are usable.
    ///
    /// If a system asks for a component type whose name another type has in the world, with the
    /// text of [`NameTaken`](crate::NameTaken): then nothing has run.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let mut schedule = Schedule::new();
    /// schedule.add(|step: Res<f32>| assert_eq!(*step, 0.5)).named("step");
    /// let error = schedule.run(&mut world).unwrap_err();
    /// assert!(error.to_string().starts_with("system `step` did not run: the world has no resource"));
    /// world.insert_resource(0.5f32);
    /// schedule.run(&mut world)?;
    /// # Ok::<(), phalanx::ScheduleError>(())
    /// ```
    pub fn run(&mut self, world: &mut World) -> Result<(), ScheduleError> {
        self.prepare(world)?;
        let start = Stopwatch::start();
        let mut plan = self.plan.take().expect("it was prepared");
        let mut trouble = RunErrors::default();
        let Plan { graph, circuits } = &mut plan;
        for (number, (stage, circuit)) in graph.stages.iter().zip(circuits).enumerate() {
            // A command may have put another world in the place of this one.
            if !self.is_of(world) {
                self.pass_over(stage, &mut trouble);
                continue;
            }
            self.run_stage(number, stage, circuit, world, start);
            self.collect(stage, &mut trouble);
            self.play_back(stage, world, &mut trouble);
        }
        self.timings.collect(&self.nodes, &self.slots, &plan.graph, start.elapsed());
        self.plan = Some(plan);
        self.runs += 1;
        trouble.into_result()
    }

    /// Leaves a stage out whose world is gone: what its systems keep means nothing in another.
    fn pass_over(&self, stage: &Stage, trouble: &mut RunErrors) {
        stage.systems.iter().for_each(|&system| lock(&self.slots[system]).ran = false);
        trouble.other_world();
    }

    fn run_stage(
        &self,
        number: usize,
        stage: &Stage,
        circuit: &mut StageExecutor,
        world: &mut World,
        start: Stopwatch,
    ) {
        self.open_id_shares(stage, world);
        let ran = catch_unwind(AssertUnwindSafe(|| {
            self.run_circuit(number, stage, circuit, world, start);
        }));
        if let Err(panic) = ran {
            world.close_id_shares([]);
            resume_unwind(panic);
        }
    }

    fn run_circuit(
        &self,
        number: usize,
        stage: &Stage,
        circuit: &mut StageExecutor,
        world: &mut World,
        start: Stopwatch,
    ) {
        let rank = self.rank(number, stage.systems.len());
        let (split, resources) = world.divide(stage.systems.len());
        circuit.wire(stage, &self.slots, split.archetypes());
        let threads = match &self.pool {
            Some(Threads::Caller) => 1,
            Some(Threads::Pool(pool)) => pool.current_num_threads(),
            None if circuit.is_chain() => 1,
            None => rayon::current_num_threads(),
        };
        let (slots, split, rank) = (&self.slots[..], &split, &rank[..]);
        let job = Job { stage, slots, split, resources, start, rank, threads };
        match &self.pool {
            Some(Threads::Pool(pool)) if circuit.is_worth_threads() => {
                pool.install(|| circuit.run(job));
            }
            _ => circuit.run(job),
        }
    }

    /// In which order what may run in any order does.
    fn rank(&self, stage: usize, systems: usize) -> Vec<u64> {
        match self.shuffle {
            None => (0..systems as u64).collect(),
            Some(seed) => {
                let round = mix(seed ^ mix(self.runs ^ mix(stage as u64)));
                (0..systems as u64).map(|at| mix(round ^ mix(at))).collect()
            }
        }
    }

    /// Gives each buffer ids of its own, whatever threads do, until the stage is played back.
    fn open_id_shares(&self, stage: &Stage, world: &mut World) {
        let mut slots: Vec<_> =
            self.recorders(stage).map(|system| lock(&self.slots[system])).collect();
        let mut buffers: Vec<&mut CommandBuffer> =
            slots.iter_mut().flat_map(|slot| slot.buffers()).collect();
        if !buffers.is_empty() {
            world.open_id_shares(&mut buffers);
        }
    }

    /// The systems of a stage that record commands.
    fn recorders<'s>(&'s self, stage: &'s Stage) -> impl Iterator<Item = usize> + 's {
        stage.systems.iter().copied().filter(|&system| self.nodes[system].commands)
    }

    /// What became of a stage's systems.
    fn collect(&self, stage: &Stage, trouble: &mut RunErrors) {
        for &system in &stage.systems {
            let name = &self.nodes[system].label;
            match lock(&self.slots[system]).take_outcome() {
                SystemOutcome::Ran | SystemOutcome::Skipped => {}
                SystemOutcome::Missing(missing) => {
                    let Missing { of_condition, resource: missing } = missing;
                    let system = name.clone();
                    let error = ScheduleError::MissingResource { system, of_condition, missing };
                    trouble.errors.push(error);
                }
                SystemOutcome::Panicked { of_condition, payload } => {
                    let part = if of_condition { "a condition of " } else { "" };
                    trouble.panicked(format!("{part}system `{name}`"), payload);
                }
            }
        }
    }

    /// Applies what a stage's systems recorded, in their order.
    fn play_back(&mut self, stage: &Stage, world: &mut World, trouble: &mut RunErrors) {
        let recorders: Vec<usize> = self.recorders(stage).collect();
        if recorders.is_empty() {
            return;
        }
        let Self { nodes, slots, report, is_strict, .. } = self;
        let mut slots: Vec<_> = recorders.iter().map(|&system| lock(&slots[system])).collect();
        world.close_id_shares(slots.iter_mut().flat_map(|slot| slot.buffers()));
        for (&system, slot) in recorders.iter().zip(&mut slots) {
            let name = &nodes[system].label;
            let began = Stopwatch::start();
            for buffer in slot.buffers() {
                for failure in trouble.apply(name, buffer, world) {
                    let (system, first, count) = (name.clone(), failure.first, failure.count);
                    let failed = FailedCommands { system, first, count };
                    report.add(&failed);
                    if *is_strict || !failed.first.fault.is_stale() {
                        trouble.errors.push(ScheduleError::Commands(Box::new(failed)));
                    }
                }
            }
            slot.times.structural = began.elapsed();
        }
    }
}

impl RunErrors {
    /// Applies a buffer of a system. Returns the commands that had no effect.
    fn apply(&mut self, system: &str, buffer: &mut CommandBuffer, world: &mut World) -> Failures {
        let mut failures = Failures::by_place();
        match catch_unwind(AssertUnwindSafe(|| world.apply_into(buffer, &mut failures))) {
            Ok(Ok(_)) => {}
            Ok(Err(_)) => self.other_world(),
            Err(payload) => self.panicked(format!("a command of system `{system}`"), payload),
        }
        failures
    }

    /// Said once.
    fn other_world(&mut self) {
        if !self.errors.contains(&ScheduleError::OtherWorld) {
            self.errors.push(ScheduleError::OtherWorld);
        }
    }

    fn panicked(&mut self, who: String, payload: Box<dyn Any + Send>) {
        if self.panic.is_none() {
            self.panic = Some((who, payload));
        }
    }

    fn into_result(mut self) -> Result<(), ScheduleError> {
        if let Some((who, payload)) = self.panic {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
            resume_unwind(Box::new(match text {
                Some(text) => format!("{who} panicked: {text}"),
                None => format!("{who} panicked"),
            }));
        }
        match self.errors.len() {
            0 => Ok(()),
            1 => Err(self.errors.remove(0)),
            _ => Err(ScheduleError::Several(self.errors)),
        }
    }
}

/// A number that looks like chance (splitmix64).
const fn mix(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

//! The schedule: its systems, their requested order, and the settings of its runs.

use core::fmt;

use std::sync::{Arc, Mutex, PoisonError};

use crate::component::Registry;
use crate::query::{Crew, Threads};
use crate::store::FirstPanic;
use crate::world::{World, WorldId};

use super::conflicts::Accesses;
use super::dependency_graph::{Stage, stages};
use super::order::{OrderNode, SystemSet, labels};
use super::report::CommandReport;
use super::schedule_error::{AliasingParameters, ScheduleError};
use super::stage_executor::{StageExecutor, lock};
use super::system::{DynSystem, boxed};
use super::system_state::{SystemAccess, SystemState};
use super::timing::Timings;

/// Systems, and the order in which they run.
///
/// Two systems that access the same component or resource, one of them to write it, never run at
/// the same time, unless no archetype of the world is matched by both. They run in the order in
/// which they were added, or in the order requested by
/// [`before`](crate::schedule::SystemEntry::before), [`after`](crate::schedule::SystemEntry::after)
/// and [`then`](crate::schedule::SystemEntry::then); [`Schedule::set`] orders many systems at once.
/// Systems that send [events](crate::logs::EventWriter) of one type are ordered with the readers of
/// that type in the same way. All other systems may run in parallel, on the calling thread and
/// rayon's. Threads have no influence on the result: the same world and the same systems give the
/// same bits on one thread or many.
///
/// # Commands and sync points
///
/// Recorded [`Commands`](crate::Commands) are applied at *sync points*, system by system, in order.
/// One sync point is at the end of each run, and one before each system that is ordered
/// [`after`](crate::schedule::SystemEntry::after) a system that records commands: it sees their
/// effects. A system that was merely added later may run before they are applied. A schedule has no
/// more sync points than these rules require; [`Schedule::sync`] adds an explicit one.
///
/// A command has no effect if its entity was despawned before the command is applied; it is counted
/// in the [report](Schedule::report). It is an error of the run only if the schedule is
/// [strict](Schedule::strict).
///
/// # Versions
///
/// `Changed`, `ChangedLines`, `Arrived` and `Reordered` in a system compare with the beginning of
/// its last run. The writes of a system through its own queries are not newer than that, so a
/// system does not trigger itself. The effects of its [`Commands`](crate::Commands) are newer: they
/// are applied after it began, and its next run sees them like the changes of any other system. A
/// system that runs in every third frame sees three frames of changes; the first run sees
/// everything.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Position(f32);
/// # #[component] struct Velocity(f32);
/// # #[component] struct Age(u32);
/// fn fall(velocities: Query<&mut Velocity>) {
///     velocities.rows().for_each(|velocity| velocity.0 -= 9.81 * 0.1);
/// }
///
/// fn integrate(bodies: Query<(&mut Position, &Velocity)>) {
///     bodies.rows().for_each(|(position, velocity)| position.0 += velocity.0 * 0.1);
/// }
///
/// fn grow_old(ages: Query<&mut Age>) {
///     ages.rows().for_each(|age| age.0 += 1);
/// }
///
/// let mut world = World::new();
/// world.spawn_batch((0..100).map(|_| (Position(0.0), Velocity(0.0), Age(0))));
/// let mut schedule = Schedule::new();
/// schedule.add((fall, integrate)); // in this order: one writes what the other reads
/// schedule.add(grow_old); // beside both
/// schedule.run(&mut world)?;
/// # Ok::<(), phalanx::schedule::ScheduleError>(())
/// ```
#[derive(Default)]
pub struct Schedule {
    pub(super) nodes: Vec<OrderNode>,
    /// The sets that were ordered or have conditions.
    pub(super) sets: Vec<SystemSet>,
    /// Conditions of sets, each with the index of its set in `sets`.
    pub(super) set_conditions: Vec<(usize, SetCondition)>,
    /// One for each node. The state of a sync point does no work.
    pub(super) states: Vec<Mutex<SystemState>>,
    /// Component ids for checks that need no world.
    pub(super) registry: Registry,
    /// `None` after a change of the systems or their order.
    pub(super) plan: Option<SchedulePlan>,
    world: Option<WorldId>,
    /// Whether all systems have the state of their parameters for the world.
    pub(super) is_bound: bool,
    pub(super) shuffle: Option<u64>,
    /// `None` for the choice that the caller runs under, or else its rayon pool.
    pub(super) threads: Option<Threads>,
    pub(super) runs: u64,
    pub(super) timings: Timings,
    pub(super) report: CommandReport,
    pub(super) is_strict: bool,
}

/// Clones a condition of a set for the member of this name.
type CloneCondition =
    dyn Fn(&str, &mut Registry) -> Result<Box<dyn DynSystem<bool>>, AliasingParameters> + Send;

/// A condition of a set, to be cloned for each member. The mutex makes the schedule `Sync`.
type SetCondition = Mutex<Box<CloneCondition>>;

/// The stages of a schedule, each with its executor.
#[derive(Debug, Default)]
pub(super) struct SchedulePlan {
    pub(super) stages: Vec<Stage>,
    pub(super) executors: Vec<StageExecutor>,
}

impl Schedule {
    /// A schedule without systems.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut schedule = Schedule::new();
    /// schedule.run(&mut World::new())?;
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a node, which makes the plan invalid, and returns its number.
    pub(super) fn push(&mut self, node: OrderNode, system: Box<dyn DynSystem<()>>) -> usize {
        let index = self.nodes.len();
        self.nodes.push(node);
        self.states.push(Mutex::new(SystemState::new(system)));
        self.invalidate(index);
        index
    }

    /// Adds an explicit sync point: all systems added so far finish, and their commands are
    /// applied, before any system added later begins.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// world.insert_resource(0usize);
    /// let mut schedule = Schedule::new();
    /// schedule.add(|mut commands: Commands| {
    ///     commands.spawn(Health(1.0));
    /// });
    /// schedule.sync();
    /// schedule.add(|health: Query<&Health>, mut count: ResMut<usize>| *count = health.count_rows());
    /// schedule.run(&mut world)?;
    /// assert_eq!(*world.resource::<usize>().unwrap(), 1);
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    pub fn sync(&mut self) -> &mut Self {
        let name = format!("sync point {}", self.nodes.iter().filter(|node| node.sync).count() + 1);
        let system = boxed(|| (), &name, &mut self.registry);
        let system = system.expect("a system without parameters clashes");
        self.push(OrderNode { name, sync: true, ..OrderNode::default() }, system);
        self
    }

    /// Runs at most `threads` systems at once: on the caller's thread, and on those of a pool of
    /// the schedule, which `threads(1)` does without. If this is not called, the pool is the one
    /// that the caller is in, or rayon's global pool.
    ///
    /// Parallel loops of queries in the systems share their work among the same threads. The pool
    /// has `threads` threads, all of which can work while the caller waits. While the caller works
    /// as well, `threads + 1` may run parallel loops. The number has no influence on the result.
    ///
    /// Other work of rayon, such as [`ParChunks::chunks`](crate::chunks::ParChunks::chunks), uses
    /// the pool around the thread that runs the system. This may be the caller's: to choose it for
    /// all systems, leave this call out, and run the schedule in `rayon::ThreadPool::install`.
    ///
    /// # Panics
    ///
    /// If `threads` is zero, or the threads cannot be started.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut schedule = Schedule::new();
    /// schedule.threads(1);
    /// schedule.run(&mut World::new())?;
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    #[track_caller]
    pub fn threads(&mut self, threads: usize) -> &mut Self {
        assert!(threads > 0, "`threads(0)` leaves no thread to run on: give at least 1");
        self.threads = Some(if threads == 1 {
            Threads::One
        } else {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            match pool {
                Ok(pool) => Threads::Crew(Arc::new(Crew::of_pool(pool))),
                Err(error) => panic!("cannot start {threads} threads, ask for fewer: {error}"),
            }
        });
        self
    }

    /// Shuffles the systems that may run in any order, again in each run. For tests: it finds
    /// systems that rely on an order that was not requested. The same seed gives the same orders on
    /// one thread.
    ///
    /// The order of conflicting systems and of their commands and versions does not change. So the
    /// result changes only if systems communicate by other means than their parameters.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut schedule = Schedule::new();
    /// schedule.threads(1).shuffle(7);
    /// ```
    pub fn shuffle(&mut self, seed: u64) -> &mut Self {
        self.shuffle = Some(seed);
        self
    }

    /// Forgets the world of the last run: versions, [`Local`](crate::schedule::Local) values,
    /// commands, the positions of its readers of [logs](crate::logs) and the
    /// [report](Schedule::report). The next run may be with any world, and is like the first.
    ///
    /// # Panics
    ///
    /// If a destructor of a `Local` panics. All is forgotten then.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::schedule::ScheduleError;
    /// let mut schedule = Schedule::new();
    /// schedule.add(|| ());
    /// schedule.run(&mut World::new())?;
    /// let mut other = World::new();
    /// assert_eq!(schedule.run(&mut other), Err(ScheduleError::OtherWorld));
    /// schedule.reset();
    /// schedule.run(&mut other)?;
    /// # Ok::<(), ScheduleError>(())
    /// ```
    pub fn reset(&mut self) {
        self.world = None;
        self.is_bound = false;
        self.plan = None;
        self.report = CommandReport::default();
        let mut panic = FirstPanic::default();
        for state in &mut self.states {
            state.get_mut().unwrap_or_else(PoisonError::into_inner).unbind(&mut panic);
        }
        panic.resume();
    }

    /// The bytes that the buffers of systems hold for [`Commands`](crate::Commands) and
    /// [`EventWriter`](crate::logs::EventWriter), in use or not. They belong to the schedule, so
    /// that [`World::memory`] does not count them. O(systems).
    ///
    /// The closures of [`run`](crate::CommandBuffer::run), values of
    /// [`Local`](crate::schedule::Local), and the memory that events own are not counted.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let mut schedule = Schedule::new();
    /// schedule.add(|mut commands: Commands, mut burst: Local<bool>| {
    ///     if !std::mem::replace(&mut *burst, true) {
    ///         commands.spawn_batch((0..10_000).map(|_| ()));
    ///         (0..10_000).for_each(|_| _ = commands.spawn(()));
    ///     }
    /// });
    /// schedule.run(&mut world)?;
    /// let held = schedule.memory_bytes();
    /// assert!(held > 200_000);
    /// assert_eq!(schedule.compact(), held - schedule.memory_bytes());
    /// assert!(schedule.memory_bytes() < 4_000);
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.states.iter().map(|state| lock(state).held_bytes()).sum()
    }

    /// Frees the memory that the buffers of systems do not use, and returns the number of freed
    /// bytes. See [`Schedule::memory_bytes`], and
    /// [`MemoryMut::compact`](crate::memory::MemoryMut::compact) for the memory of the world.
    /// O(systems).
    ///
    /// Runs do the same for a buffer that has held much more than it used for 64 runs or more, so
    /// the memory of a burst is kept for at most 128 runs.
    pub fn compact(&mut self) -> usize {
        let before = self.memory_bytes();
        for state in &mut self.states {
            state.get_mut().unwrap_or_else(PoisonError::into_inner).compact();
        }
        before.saturating_sub(self.memory_bytes())
    }

    /// The time that each system took in the last run.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut schedule = Schedule::new();
    /// schedule.add(|| ()).named("nothing");
    /// schedule.run(&mut World::new())?;
    /// println!("{}", schedule.timings());
    /// assert_eq!(schedule.timings().systems[0].name, "nothing");
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    #[must_use]
    pub const fn timings(&self) -> &Timings {
        &self.timings
    }

    /// Computes the order of all systems, as the first run does.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::Cycle`], [`ScheduleError::UnknownName`] or [`ScheduleError::NotAdded`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut schedule = Schedule::new();
    /// schedule.add(|| ()).named("hen").after("egg");
    /// schedule.add(|| ()).named("egg").after("hen");
    /// assert_eq!(
    ///     schedule.check().unwrap_err().to_string(),
    ///     "systems wait for each other in a cycle: `hen` before `egg` before `hen`: remove one \
    ///      `before` or `after`",
    /// );
    /// ```
    pub fn check(&mut self) -> Result<(), ScheduleError> {
        self.plan().map(|_| ())
    }

    /// The stages, with the conflicts of any possible world.
    pub(super) fn stages(&self) -> Result<Vec<Stage>, ScheduleError> {
        let access: Vec<_> = self.access().into_iter().map(SystemAccess::into_all).collect();
        stages(&self.nodes, &self.sets, |order| {
            let accesses = Accesses::new(order.iter().map(|&i| &access[i][..]));
            accesses.conflicts(|_, one, other| !one.is_disjoint(other))
        })
    }

    /// The access of each node and of its conditions, in ids of a new registry.
    pub(super) fn access(&self) -> Vec<SystemAccess> {
        let mut registry = Registry::default();
        // Once before, so that all types have ids when systems look for their names.
        self.states.iter().for_each(|state| drop(lock(state).access_in(&mut registry)));
        self.states.iter().map(|state| lock(state).access_in(&mut registry)).collect()
    }

    pub(super) fn plan(&mut self) -> Result<&mut SchedulePlan, ScheduleError> {
        if self.plan.is_none() {
            let stages = self.stages()?;
            let labels = labels(&self.nodes);
            for (node, label) in self.nodes.iter_mut().zip(labels) {
                node.label = label;
            }
            let executors = stages.iter().map(|_| StageExecutor::default()).collect();
            self.plan = Some(SchedulePlan { stages, executors });
        }
        Ok(self.plan.as_mut().expect("the plan is missing"))
    }

    /// Computes the plan, and makes the parameters' state of new systems for this world.
    ///
    /// # Errors
    ///
    /// If the schedule ran with another world, or its order is invalid.
    pub(super) fn prepare(&mut self, world: &mut World) -> Result<(), ScheduleError> {
        let is_bound = self.is_bound;
        let plan = self.plan()?;
        if !is_bound {
            // Systems may find names that they did not find before.
            plan.executors.fill_with(StageExecutor::default);
        }
        if self.world.is_some_and(|id| id != world.id()) {
            return Err(ScheduleError::OtherWorld);
        }
        if !self.is_bound {
            // This comes first: binding a system may panic after others were bound.
            self.world = Some(world.id());
            let mut is_bound = true;
            for state in &mut self.states {
                is_bound &= state.get_mut().unwrap_or_else(PoisonError::into_inner).bind(world);
            }
            self.is_bound = is_bound;
        }
        Ok(())
    }

    /// Whether the schedule is bound to this world.
    pub(super) fn is_of(&self, world: &World) -> bool {
        self.world == Some(world.id())
    }
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.nodes.iter().map(|node| &node.name).collect();
        f.debug_struct("Schedule").field("systems", &names).finish_non_exhaustive()
    }
}

//! The schedule as its user holds it: systems, and what was said about their order.

use core::any::type_name;
use core::fmt;

use std::sync::{Mutex, PoisonError};

use rayon::ThreadPool;

use crate::component::Registry;
use crate::world::{World, WorldId};

use super::access::{ParamAccess, clash};
use super::entry::SystemEntry;
use super::error::{AliasingParameters, ScheduleError};
use super::graph::Graph;
use super::name::FunctionName;
use super::order::{Node, Set, labels};
use super::report::CommandReport;
use super::set::SetCondition;
use super::stage::StageExecutor;
use super::system::{DynSystem, System, body};
use super::system_state::SystemState;
use super::timing::Timings;

/// Systems, and the order in which they run.
///
/// Two systems that name the same component or resource, one of them to write it, never run at the
/// same time, unless no archetype of the world is matched by both. They run in the order in which
/// they were added, or as [`before`](SystemEntry::before), [`after`](SystemEntry::after) and
/// [`then`](SystemEntry::then) say; [`Schedule::set`] says it of many systems at once. All others may
/// run side by side, on rayon's threads. What threads do has no influence on the result: the same
/// world and the same systems give the same bits on one thread or many.
///
/// # Commands and sync points
///
/// What [`Commands`](crate::Commands) record is applied at *sync points*, system by system, in
/// order. There is one at the end of each run, and one before a system that was put
/// [`after`](SystemEntry::after) another one that records commands: it sees what they did. A system
/// that was merely added later may run before they are applied. There are as few sync points as
/// this asks for; [`Schedule::sync`] places one by hand.
///
/// A command whose entity was despawned before it is applied has no effect, and is counted in the
/// [report](Schedule::report). It is an error of the run only if the schedule is
/// [strict](Schedule::strict).
///
/// # Versions
///
/// `Changed` and `Arrived` in a system compare with the moment at which that system last began. What
/// it writes through its own queries is not newer than that, so it does not trigger itself. What it
/// records through [`Commands`](crate::Commands) is: that is applied after it began, and its next
/// run sees it like the changes of anyone else. A system that runs in every third frame sees three
/// frames of changes; the first run sees everything.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Position(f32);
/// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Velocity(f32);
/// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Age(u32);
/// # component!(Position, Velocity, Age);
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
/// schedule.add(fall);
/// schedule.add(integrate); // after `fall`, which writes what it reads
/// schedule.add(grow_old); // beside both
/// schedule.run(&mut world)?;
/// # Ok::<(), phalanx::ScheduleError>(())
/// ```
#[derive(Default)]
pub struct Schedule {
    pub(super) nodes: Vec<Node>,
    /// The sets that something was said of.
    pub(super) sets: Vec<Set>,
    /// Conditions of sets, each with the set's place in `sets`.
    pub(super) set_conditions: Vec<(usize, SetCondition)>,
    /// One for each node. That of a sync point has nothing to do.
    pub(super) slots: Vec<Mutex<SystemState>>,
    /// Numbers for components of systems that no world knows yet.
    pub(super) registry: Registry,
    /// None since something was added or ordered.
    pub(super) plan: Option<Plan>,
    world: Option<WorldId>,
    /// Whether all systems have what they keep for the world.
    pub(super) is_bound: bool,
    pub(super) shuffle: Option<u64>,
    /// None for the threads that the caller is on.
    pub(super) pool: Option<Threads>,
    pub(super) runs: u64,
    pub(super) timings: Timings,
    pub(super) report: CommandReport,
    pub(super) is_strict: bool,
}

/// On which threads a schedule runs its systems.
#[derive(Debug)]
pub(super) enum Threads {
    /// The caller's alone.
    Caller,
    /// Those of a pool of its own.
    Pool(ThreadPool),
}

/// The stages of a schedule, and the wiring of each.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) graph: Graph,
    pub(super) circuits: Vec<StageExecutor>,
}

impl Schedule {
    /// A schedule without systems.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut schedule = Schedule::new();
    /// schedule.run(&mut World::new())?;
    /// # Ok::<(), phalanx::ScheduleError>(())
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a system: a function or closure whose parameters say what it asks for. See [`System`].
    ///
    /// It is named like its function, until it is given another name.
    ///
    /// # Panics
    ///
    /// With the text of the error of [`Schedule::try_add`]; or if another system of the schedule
    /// asks for another component type of the same name, with that of
    /// [`NameTaken`](crate::NameTaken).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # component!(Health);
    /// let mut schedule = Schedule::new();
    /// let poison = 0.5;
    /// schedule.add(move |health: Query<&mut Health>| {
    ///     health.rows().for_each(|health| health.0 -= poison);
    /// });
    /// ```
    #[track_caller]
    pub fn add<M: 'static, S: System<M>>(&mut self, system: S) -> SystemEntry<'_> {
        const { S::ASSERT_VALID };
        match self.add_system(system) {
            Ok(entry) => entry,
            Err(error) => panic!("{error}"),
        }
    }

    /// [`Schedule::add`], with the reason if two parameters clash.
    ///
    /// # Errors
    ///
    /// If two parameters would give out the same component or resource twice, once to be written.
    /// The system is not added.
    ///
    /// # Panics
    ///
    /// If another system of the schedule asks for another component type of the same name.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Position(f32);
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Target;
    /// # component!(Position as "position", Target);
    /// fn chase(hunters: Query<&mut Position>, targets: Query<&Position, With<Target>>) {}
    /// let error = Schedule::new().try_add(chase).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "system `chase`: parameters 1 `Query<&mut Position>` and 2 `Query<&Position, \
    ///      With<Target>>` both name component `position`, and one writes it: part them with a \
    ///      `Without<…>` of a component that the other one has, or make them one query",
    /// );
    ///
    /// fn follow(hunters: Query<&mut Position, Without<Target>>, targets: Query<&Position, With<Target>>) {}
    /// assert!(Schedule::new().try_add(follow).is_ok());
    /// ```
    pub fn try_add<M: 'static, S: System<M>>(
        &mut self,
        system: S,
    ) -> Result<SystemEntry<'_>, AliasingParameters> {
        const { S::ASSERT_VALID };
        self.add_system(system)
    }

    fn add_system<M: 'static, S: System<M>>(
        &mut self,
        system: S,
    ) -> Result<SystemEntry<'_>, AliasingParameters> {
        let function = FunctionName::new(type_name::<S>());
        let name = function.name.clone();
        let body = body(system, &name, &mut self.registry)?;
        Ok(self.push(Node { name, function, ..Node::default() }, body))
    }

    fn push(&mut self, node: Node, body: Box<dyn DynSystem<()>>) -> SystemEntry<'_> {
        let index = self.nodes.len();
        self.nodes.push(node);
        self.slots.push(Mutex::new(SystemState::new(body)));
        SystemEntry::new(self, index)
    }

    /// Places a sync point by hand: all systems that were added so far finish, and what they
    /// recorded is applied, before any that is added later begins.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # component!(Health);
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
    /// # Ok::<(), phalanx::ScheduleError>(())
    /// ```
    pub fn sync(&mut self) -> &mut Self {
        let name = format!("sync point {}", self.nodes.iter().filter(|node| node.sync).count() + 1);
        let body = body(|| (), &name, &mut self.registry).expect("no parameters, no clash");
        self.push(Node { name, sync: true, ..Node::default() }, body);
        self
    }

    /// Runs systems on so many threads of a pool of its own, or on the caller's alone if `threads`
    /// is one. Unless this is said, systems run on the rayon pool that the caller is in.
    ///
    /// It has no influence on the result. With one thread no other is touched, except by a system
    /// that splits its own chunks.
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
    /// # Ok::<(), phalanx::ScheduleError>(())
    /// ```
    #[track_caller]
    pub fn threads(&mut self, threads: usize) -> &mut Self {
        assert!(threads > 0, "`threads(0)` leaves none to run on: give at least 1");
        self.pool = Some(if threads == 1 {
            Threads::Caller
        } else {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            match pool {
                Ok(pool) => Threads::Pool(pool),
                Err(error) => panic!("cannot start {threads} threads, ask for fewer: {error}"),
            }
        });
        self
    }

    /// Shuffles, in each run anew, what may run in any order. For tests: it finds systems that rely
    /// on an order nobody asked for. The same seed gives the same orders on one thread.
    ///
    /// Whatever only the schedule orders stays as it was: the result of systems that keep to their
    /// parameters does not change, nor does the order of their commands and versions.
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

    /// Forgets the world that it ran with: versions, [`Local`](crate::Local) values, commands and
    /// the [report](Schedule::report). The next run may be with any world, and is like the first.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::ScheduleError;
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
        for slot in &mut self.slots {
            slot.get_mut().unwrap_or_else(PoisonError::into_inner).unbind();
        }
    }

    /// How long each system took in the last run.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut schedule = Schedule::new();
    /// schedule.add(|| ()).named("nothing");
    /// schedule.run(&mut World::new())?;
    /// println!("{}", schedule.timings());
    /// assert_eq!(schedule.timings().systems[0].name, "nothing");
    /// # Ok::<(), phalanx::ScheduleError>(())
    /// ```
    #[must_use]
    pub const fn timings(&self) -> &Timings {
        &self.timings
    }

    /// Works out the order of all systems, as the first run does.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::Cycle`] or [`ScheduleError::UnknownName`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut schedule = Schedule::new();
    /// schedule.add(|| ()).named("hen").after("egg");
    /// schedule.add(|| ()).named("egg").after("hen");
    /// assert_eq!(
    ///     schedule.check().unwrap_err().to_string(),
    ///     "systems wait for each other in a circle: `hen` before `egg` before `hen`: take one \
    ///      `before` or `after` away",
    /// );
    /// ```
    pub fn check(&mut self) -> Result<(), ScheduleError> {
        self.plan().map(|_| ())
    }

    /// The graph, as it is for any world.
    pub(super) fn graph(&self) -> Result<Graph, ScheduleError> {
        let mut registry = Registry::default();
        let wants = self.wants(&mut registry);
        Graph::new(&self.nodes, &self.sets, |a, b| clash(&wants[a], &wants[b]))
    }

    /// What each node asks for.
    pub(super) fn wants(&self, registry: &mut Registry) -> Vec<Vec<ParamAccess>> {
        self.slots.iter().map(|slot| super::stage::lock(slot).wants_of(registry)).collect()
    }

    pub(super) fn plan(&mut self) -> Result<&mut Plan, ScheduleError> {
        if self.plan.is_none() {
            let graph = self.graph()?;
            let labels = labels(&self.nodes);
            for (node, label) in self.nodes.iter_mut().zip(labels) {
                node.label = label;
            }
            let circuits = graph.stages.iter().map(|_| StageExecutor::default()).collect();
            self.plan = Some(Plan { graph, circuits });
        }
        Ok(self.plan.as_mut().expect("it was just made"))
    }

    /// Makes what new systems keep for this world.
    ///
    /// # Errors
    ///
    /// If the schedule ran with another world, or its order is wrong.
    pub(super) fn prepare(&mut self, world: &mut World) -> Result<(), ScheduleError> {
        self.plan()?;
        if self.world.is_some_and(|id| id != world.id()) {
            return Err(ScheduleError::OtherWorld);
        }
        if !self.is_bound {
            // Also if a system cannot be bound: those before it are.
            self.world = Some(world.id());
            for slot in &mut self.slots {
                slot.get_mut().unwrap_or_else(PoisonError::into_inner).bind(world);
            }
            self.is_bound = true;
        }
        Ok(())
    }

    /// Whether this is the world that it is bound to.
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

//! The entry of an added system: sets its name, its order and its conditions.

use core::any::type_name;

use std::sync::PoisonError;

use super::access::ParamAccess;
use super::error::AliasingParameters;
use super::name::FunctionName;
use super::order::OrderNode;
use super::schedule::Schedule;
use super::system::{self, System, boxed};
use super::system_state::Owner;

/// A system of a schedule, to set its name, its order and its conditions.
#[derive(Debug)]
pub struct SystemEntry<'s> {
    schedule: &'s mut Schedule,
    index: usize,
}

impl<'s> SystemEntry<'s> {
    pub(super) fn new(schedule: &'s mut Schedule, index: usize) -> Self {
        Self { schedule, index }
    }

    fn invalidated(self) -> Self {
        self.schedule.invalidate(self.index);
        self
    }

    fn node(&mut self) -> &mut OrderNode {
        &mut self.schedule.nodes[self.index]
    }

    /// Sets the name of the system, for `before` and `after`, errors and timings.
    ///
    /// Several systems may share a name, which then means all of them: functions of one name from
    /// two modules share it, and so do two instances of a generic function. A suffix of the path
    /// distinguishes them without another name: `before("physics::step")`, `after("step<Ball>")`.
    /// Errors then use the path too.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// Schedule::new().add(|| ()).named("nothing");
    /// ```
    pub fn named(mut self, name: &str) -> Self {
        self.node().name = name.to_owned();
        self.node().function = FunctionName::default();
        self.invalidated()
    }

    /// The system finishes before the system, or all systems of the set, of this name begin. They
    /// see the effects of its commands.
    ///
    /// It is an error of the next run if no system and no set has this name by then, or if it is
    /// the system's own name and no other system has it.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # fn gravity() {}
    /// # fn integrate() {}
    /// let mut schedule = Schedule::new();
    /// schedule.add(integrate);
    /// schedule.add(gravity).before("integrate");
    /// # schedule.check()?;
    /// # Ok::<(), phalanx::ScheduleError>(())
    /// ```
    pub fn before(mut self, name: &str) -> Self {
        self.node().before.push(name.to_owned());
        self.invalidated()
    }

    /// The system begins after the system, or all systems of the set, of this name have finished,
    /// and sees the effects of their commands.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # fn gravity() {}
    /// # fn integrate() {}
    /// let mut schedule = Schedule::new();
    /// schedule.add(integrate).after("gravity");
    /// schedule.add(gravity);
    /// # schedule.check()?;
    /// # Ok::<(), phalanx::ScheduleError>(())
    /// ```
    pub fn after(mut self, name: &str) -> Self {
        self.node().after.push(name.to_owned());
        self.invalidated()
    }

    /// Adds another system, which begins after this one has finished and sees the effects of its
    /// commands. It runs even if this one is skipped. The returned entry is that of the other
    /// system. See [`Schedule::add`].
    ///
    /// # Panics
    ///
    /// If two parameters of the other system clash, as in [`Schedule::add`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # fn input() {}
    /// # fn simulate() {}
    /// # fn draw() {}
    /// # fn is_visible() -> bool { true }
    /// let mut schedule = Schedule::new();
    /// schedule.add(input).then(simulate).then(draw).run_if(is_visible);
    /// # schedule.check()?;
    /// # Ok::<(), ScheduleError>(())
    /// ```
    #[track_caller]
    pub fn then<M: 'static, N: System<M>>(self, next: N) -> Self {
        const { N::ASSERT_VALID };
        let Self { schedule, index } = self;
        let mut entry = schedule.add(next);
        entry.node().follows = Some(index);
        entry
    }

    /// Adds the system to a set, by whose name other systems can be ordered. A system can be in
    /// several sets. [`Schedule::set`] orders all members at once.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # fn gravity() {}
    /// # fn wind() {}
    /// # fn integrate() {}
    /// let mut schedule = Schedule::new();
    /// schedule.add(gravity).in_set("forces");
    /// schedule.add(wind).in_set("forces");
    /// schedule.add(integrate).after("forces");
    /// # schedule.check()?;
    /// # Ok::<(), phalanx::ScheduleError>(())
    /// ```
    pub fn in_set(mut self, name: &str) -> Self {
        if !self.node().is_in(name) {
            self.node().sets.push(name.to_owned());
            self.schedule.add_conditions_of_set(self.index, name);
        }
        self.invalidated()
    }

    /// The system runs only if the condition, a system that returns `bool`, returns `true`; with
    /// several conditions, if all do. A condition may have all parameters that a system may have.
    ///
    /// Conditions are evaluated just before the system would run: those of its
    /// [sets](crate::schedule::SetEntry::run_if) first, then its own in the order in which they
    /// were given. The first `false` ends the evaluation for this run:
    ///
    /// * `Changed` and `Arrived` in a condition compare with the moment at which that condition was
    ///   last evaluated. With `run_if(not_paused).run_if(changed)`, a change made while the game is
    ///   paused is seen when the pause ends.
    /// * [`every`](crate::every) and [`Local`](crate::Local) values count how often their condition
    ///   is evaluated: put conditions that must count every run first.
    /// * A condition may protect later ones from a missing resource.
    ///
    /// A system that did not run keeps the moment at which it last began: when it runs again it
    /// sees all changes since then.
    ///
    /// # Panics
    ///
    /// If two parameters of the condition clash, as in [`Schedule::add`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// struct Paused(bool);
    ///
    /// let mut world = World::new();
    /// world.insert_resource(Paused(true));
    /// let mut schedule = Schedule::new();
    /// schedule.add(|| panic!("not while paused")).run_if(|paused: Res<Paused>| !paused.0);
    /// schedule.run(&mut world)?;
    /// # Ok::<(), phalanx::ScheduleError>(())
    /// ```
    #[track_caller]
    pub fn run_if<M: 'static, C: System<M, bool>>(self, condition: C) -> Self {
        const { C::ASSERT_VALID };
        let schedule = &mut *self.schedule;
        let name = &schedule.nodes[self.index].name;
        match system::condition(condition, name, &mut schedule.registry) {
            Ok(condition) => {
                let state = schedule.states[self.index].get_mut();
                let state = state.unwrap_or_else(PoisonError::into_inner);
                state.add_condition(Owner::System, condition);
            }
            Err(error) => panic!("{error}"),
        }
        self.invalidated()
    }
}

impl Schedule {
    /// Adds a system: a function or closure whose parameters declare its access. See [`System`].
    ///
    /// It has the name of its function, until it is given another with
    /// [`named`](SystemEntry::named).
    ///
    /// # Panics
    ///
    /// With the text of the error of [`Schedule::try_add`]; or, if a parameter of another system
    /// names a different component type of the same name, with that of
    /// [`NameTaken`](crate::error::NameTaken).
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

    /// [`Schedule::add`], which returns an error if two parameters clash.
    ///
    /// # Errors
    ///
    /// If two parameters access the same component or resource, and one of them writes it. The
    /// system is not added.
    ///
    /// # Panics
    ///
    /// If a parameter of another system names a different component type of the same name.
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
    ///      With<Target>>` both name component `position`, and one writes it: make them disjoint \
    ///      with a `Without<…>` of a component that the other has, or merge them into one query",
    /// );
    ///
    /// fn follow(
    ///     hunters: Query<&mut Position, Without<Target>>,
    ///     targets: Query<&Position, With<Target>>,
    /// ) {
    /// }
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
        let system = boxed(system, &name, &mut self.registry)?;
        let index = self.push(OrderNode { name, function, ..OrderNode::default() }, system);
        Ok(SystemEntry::new(self, index))
    }

    /// Invalidates the plan after a change of a system, and updates whether it records commands.
    pub(super) fn invalidate(&mut self, system: usize) {
        let Self { nodes, states, registry, plan, is_bound, .. } = self;
        *plan = None;
        *is_bound = false;
        let state = states[system].get_mut().unwrap_or_else(PoisonError::into_inner);
        let access = state.access_in(registry).into_all();
        nodes[system].commands = access.iter().any(ParamAccess::is_commands);
    }
}

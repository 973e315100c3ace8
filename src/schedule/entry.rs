//! The entry of an added system: sets its name, its order and its conditions.

use core::ops::Range;

use std::sync::PoisonError;

use super::name::FunctionName;
use super::order::OrderNode;
use super::schedule::Schedule;
use super::system::{self, System};
use super::system_output::SystemOutput;
use super::system_state::ConditionOwner;
use super::target::{IntoTarget, Target};

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

    /// The schedule, and the number of the system.
    pub(super) const fn into_parts(self) -> (&'s mut Schedule, usize) {
        (self.schedule, self.index)
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
    /// Several systems may share a name. It means all of them: functions of one name from two
    /// modules share it, and so do two instances of a generic function. A suffix of the path
    /// distinguishes them without another name: `before("physics::step")`, `after("step<Ball>")`.
    /// Errors use the path in this case.
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

    /// The system finishes before the systems with this name or function begin: a system, or all
    /// systems of a set. They see the effects of its commands.
    ///
    /// The next run returns an error if it finds no such system or set, or if the name or function
    /// belongs to this system alone. If the system is in the set itself, only the other members
    /// count, also those that are added later.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # fn gravity() {}
    /// # fn integrate() {}
    /// let mut schedule = Schedule::new();
    /// schedule.add(integrate);
    /// schedule.add(gravity).before(integrate); // or `before("integrate")`
    /// schedule.check()?;
    ///
    /// # fn clear() {}
    /// schedule.add(clear).in_set("frame").before("frame"); // the first of its systems
    /// schedule.check()?;
    /// schedule.add(draw).named("draw").before("draw");
    /// # fn draw() {}
    /// assert!(schedule.check().is_err(), "a system does not wait for itself");
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    pub fn before<M>(mut self, target: impl IntoTarget<M>) -> Self {
        self.add_before(target.into_target());
        self
    }

    pub(super) fn add_before(&mut self, target: Target) {
        self.node().before.push(target);
        self.schedule.invalidate(self.index);
    }

    /// The system begins after the systems with this name or function have finished, and sees the
    /// effects of their commands. See [`before`](SystemEntry::before).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # fn gravity() {}
    /// # fn integrate() {}
    /// let mut schedule = Schedule::new();
    /// schedule.add(integrate).after(gravity); // or `after("gravity")`
    /// schedule.add(gravity);
    /// # schedule.check()?;
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    pub fn after<M>(mut self, target: impl IntoTarget<M>) -> Self {
        self.add_after(target.into_target());
        self
    }

    pub(super) fn add_after(&mut self, target: Target) {
        self.node().after.push(target);
        self.schedule.invalidate(self.index);
    }

    /// The system begins after these systems.
    pub(super) fn follow(mut self, systems: Range<usize>) {
        self.node().follows.extend(systems);
        self.schedule.invalidate(self.index);
    }

    /// Adds the system to a set; other systems can be ordered by its name. A system can be in
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
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    pub fn in_set(mut self, name: &str) -> Self {
        if !self.node().is_in(name) {
            self.node().sets.push(name.to_owned());
            self.schedule.add_conditions_of_set(self.index, name);
        }
        self.invalidated()
    }

    /// The system runs only if the condition, a system that returns `bool`, returns `true`; with
    /// several conditions, all must return `true`. A condition may have any parameters that a
    /// system may have.
    ///
    /// Conditions are evaluated just before the system would run: first the conditions of its
    /// [sets](crate::schedule::SetEntry::run_if), after them its own in the order in which they
    /// were given. The first `false` ends the evaluation for this run:
    ///
    /// * Filters by version in a condition compare with the last evaluation of that condition. With
    ///   `run_if(not_paused).run_if(changed)`, a change made while the game is paused is seen when
    ///   the pause ends. The writes of the system itself are not seen: they have the version of the
    ///   run in which the condition was evaluated.
    /// * [`every`](crate::schedule::every) and [`Local`](crate::schedule::Local) values count how
    ///   often their condition is evaluated: put conditions that must count every run first.
    /// * A condition may protect later ones from a missing resource.
    ///
    /// A skipped system keeps the version of its last run: when it runs again it sees all changes
    /// since that run began.
    ///
    /// # Panics
    ///
    /// If two parameters of the condition clash, as in [`Schedule::add`]. The system stays in the
    /// schedule, without this condition.
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
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    #[track_caller]
    pub fn run_if<M, Out, C>(self, condition: C) -> Self
    where
        M: 'static,
        Out: SystemOutput<bool> + 'static,
        C: System<M, Out>,
    {
        const { C::ASSERT_VALID };
        let schedule = &mut *self.schedule;
        let name = &schedule.nodes[self.index].name;
        match system::condition(condition, name, &mut schedule.registry) {
            Ok(condition) => {
                let state = schedule.states[self.index].get_mut();
                let state = state.unwrap_or_else(PoisonError::into_inner);
                state.add_condition(ConditionOwner::System, condition);
            }
            Err(error) => panic!("{error}"),
        }
        self.invalidated()
    }
}

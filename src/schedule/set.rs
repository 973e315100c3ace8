//! Sets: the order and the conditions of all their members at once.

use std::sync::{Mutex, PoisonError};

use crate::component::Registry;

use super::order::SystemSet;
use super::schedule::Schedule;
use super::system::{self, System};
use super::system_output::SystemOutput;
use super::system_state::ConditionOwner;
use super::target::IntoTarget;

/// A set of systems, to order all its members and to give them conditions. It applies to members
/// that are added later too.
#[derive(Debug)]
pub struct SetEntry<'s> {
    schedule: &'s mut Schedule,
    index: usize,
}

impl Schedule {
    /// The set with this name, which exists from now on even without members: other systems can be
    /// ordered by it, and members can be added later.
    ///
    /// Systems join with [`in_set`](crate::schedule::SystemEntry::in_set). A set without members
    /// has no influence on the order: a system before it and a system after it may run in any
    /// order.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # fn integrate() {}
    /// # fn gravity() {}
    /// let mut schedule = Schedule::new();
    /// schedule.set("forces").before("physics");
    /// schedule.set("physics"); // has no members yet
    /// schedule.add(gravity).in_set("forces");
    /// schedule.check()?;
    ///
    /// schedule.add(integrate).in_set("physics"); // after `gravity`
    /// assert!(schedule.to_string().contains("waits for gravity: `forces` before `physics`"));
    /// # Ok::<(), ScheduleError>(())
    /// ```
    pub fn set(&mut self, name: &str) -> SetEntry<'_> {
        let index = self.sets.iter().position(|set| set.name == name).unwrap_or_else(|| {
            self.sets.push(SystemSet { name: name.to_owned(), ..SystemSet::default() });
            self.sets.len() - 1
        });
        self.plan = None;
        SetEntry { schedule: self, index }
    }

    /// Gives a system the conditions of a set that it joins.
    pub(super) fn add_conditions_of_set(&mut self, system: usize, set: &str) {
        let Some(set) = self.sets.iter().position(|one| one.name == set) else { return };
        for at in 0..self.set_conditions.len() {
            if self.set_conditions[at].0 == set {
                self.add_condition_of_set(at, system);
            }
        }
    }

    fn add_condition_of_set(&mut self, at: usize, system: usize) {
        let Self { nodes, states, sets, set_conditions, registry, .. } = self;
        let (set, condition) = &mut set_conditions[at];
        let clone = condition.get_mut().unwrap_or_else(PoisonError::into_inner);
        let node = &nodes[system];
        let condition = clone(&node.name, registry).expect("the condition's parameters clash");
        let index = node.sets.iter().position(|name| *name == sets[*set].name);
        let owner = ConditionOwner::Set(index.expect("the system is not a member of the set"));
        let state = states[system].get_mut().unwrap_or_else(PoisonError::into_inner);
        state.add_condition(owner, condition);
        self.invalidate(system);
    }
}

impl SetEntry<'_> {
    fn set(&mut self) -> &mut SystemSet {
        &mut self.schedule.sets[self.index]
    }

    /// All members finish before the systems with this name or function begin. See
    /// [`SystemEntry::before`](crate::schedule::SystemEntry::before).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # fn gravity() {}
    /// # fn draw() {}
    /// let mut schedule = Schedule::new();
    /// schedule.add(gravity).in_set("physics");
    /// schedule.set("physics").before("draw");
    /// schedule.add(draw);
    /// # schedule.check()?;
    /// # Ok::<(), ScheduleError>(())
    /// ```
    pub fn before<M>(mut self, target: impl IntoTarget<M>) -> Self {
        self.set().before.push(target.into_target());
        self
    }

    /// All members begin after the systems with this name or function have finished. See
    /// [`SystemEntry::after`](crate::schedule::SystemEntry::after).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # fn gravity() {}
    /// # fn input() {}
    /// let mut schedule = Schedule::new();
    /// schedule.add(gravity).in_set("physics");
    /// schedule.set("physics").after("input");
    /// schedule.add(input);
    /// # schedule.check()?;
    /// # Ok::<(), ScheduleError>(())
    /// ```
    pub fn after<M>(mut self, target: impl IntoTarget<M>) -> Self {
        self.set().after.push(target.into_target());
        self
    }

    /// The members run only if the condition returns `true`. Each member evaluates a clone of it,
    /// just before it would run, and each clone has its own [`Local`](crate::schedule::Local)
    /// values and its own version for change detection.
    ///
    /// A member evaluates the conditions of its sets before its own, regardless of their order in
    /// the program. Conditions of the set that it joined first come first. The first `false` ends
    /// the evaluation, see [`SystemEntry::run_if`](crate::schedule::SystemEntry::run_if). So all
    /// members of a set evaluate its conditions equally often, unless a condition of a set that a
    /// member joined earlier returns `false`.
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
    /// schedule.add(|| panic!("not while paused")).in_set("physics");
    /// schedule.set("physics").run_if(|paused: Res<Paused>| !paused.0);
    /// schedule.add(|| panic!("nor this one")).in_set("physics");
    /// schedule.run(&mut world)?;
    /// # Ok::<(), ScheduleError>(())
    /// ```
    #[track_caller]
    pub fn run_if<M, Out, C>(self, condition: C) -> Self
    where
        M: 'static,
        Out: SystemOutput<bool> + 'static,
        C: System<M, Out> + Clone,
    {
        const { C::ASSERT_VALID };
        let Self { schedule, index } = self;
        let name = schedule.sets[index].name.clone();
        let clone = move |system: &str, registry: &mut Registry| {
            system::condition(condition.clone(), system, registry)
        };
        if let Err(error) = clone(&name, &mut schedule.registry) {
            panic!("{error}");
        }
        schedule.set_conditions.push((index, Mutex::new(Box::new(clone))));
        let at = schedule.set_conditions.len() - 1;
        for system in 0..schedule.nodes.len() {
            if schedule.nodes[system].is_in(&name) {
                schedule.add_condition_of_set(at, system);
            }
        }
        Self { schedule, index }
    }
}

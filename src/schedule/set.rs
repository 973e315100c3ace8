//! What is said of all members of a set at once: their order, their conditions.

use core::fmt;

use std::sync::{Mutex, PoisonError};

use crate::component::Registry;

use super::error::AliasingParameters;
use super::order::Set;
use super::schedule::Schedule;
use super::system::{self, DynSystem, System};
use super::system_state::Owner;

/// A set: says when all its members run, those of today and those that are added later.
#[derive(Debug)]
pub struct SetEntry<'s> {
    schedule: &'s mut Schedule,
    index: usize,
}

/// Makes a condition of a set for one of its members.
pub(super) struct SetCondition(Mutex<Box<dyn Make>>);

type Made = Result<Box<dyn DynSystem<bool>>, AliasingParameters>;

trait Make: Fn(&str, &mut Registry) -> Made + Send {}

impl<M: Fn(&str, &mut Registry) -> Made + Send> Make for M {}

impl fmt::Debug for SetCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetCondition").finish_non_exhaustive()
    }
}

impl Schedule {
    /// A set of systems, by its name. From then on there is a set of this name, also while nobody is
    /// in it: others can be ordered by it, and who joins it comes later.
    ///
    /// Systems join with [`in_set`](crate::SystemEntry::in_set). A set without members orders
    /// nothing: what is put before it and what is put after it may run in any order.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # fn integrate() {}
    /// # fn gravity() {}
    /// let mut schedule = Schedule::new();
    /// schedule.set("forces").before("physics");
    /// schedule.set("physics"); // nobody is in it yet
    /// schedule.add(gravity).in_set("forces");
    /// schedule.check()?;
    ///
    /// schedule.add(integrate).in_set("physics"); // after `gravity`
    /// assert!(schedule.to_string().contains("waits for gravity: `forces` before `physics`"));
    /// # Ok::<(), ScheduleError>(())
    /// ```
    pub fn set(&mut self, name: &str) -> SetEntry<'_> {
        let index = self.sets.iter().position(|set| set.name == name).unwrap_or_else(|| {
            self.sets.push(Set { name: name.to_owned(), ..Set::default() });
            self.sets.len() - 1
        });
        self.plan = None;
        SetEntry { schedule: self, index }
    }

    /// Gives a system the conditions of a set that it joins.
    pub(super) fn join(&mut self, system: usize, set: &str) {
        let Some(set) = self.sets.iter().position(|one| one.name == set) else { return };
        for at in 0..self.set_conditions.len() {
            if self.set_conditions[at].0 == set {
                self.add_condition_of_set(at, system);
            }
        }
    }

    fn add_condition_of_set(&mut self, at: usize, system: usize) {
        let Self { nodes, slots, sets, set_conditions, registry, .. } = self;
        let (set, condition) = &mut set_conditions[at];
        let make = condition.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        let node = &nodes[system];
        let condition = make(&node.name, registry).expect("the parameters were checked before");
        let place = node.sets.iter().position(|name| *name == sets[*set].name);
        let owner = Owner::Set(place.expect("the system is a member of the set"));
        let slot = slots[system].get_mut().unwrap_or_else(PoisonError::into_inner);
        slot.add_condition(owner, condition);
        self.changed(system);
    }
}

impl SetEntry<'_> {
    fn set(&mut self) -> &mut Set {
        &mut self.schedule.sets[self.index]
    }

    /// All its members finish before the system, or all systems of the set, of this name begin. See
    /// [`SystemEntry::before`](crate::SystemEntry::before).
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
    pub fn before(mut self, name: &str) -> Self {
        self.set().before.push(name.to_owned());
        self
    }

    /// All its members begin when the system, or all systems of the set, of this name have finished.
    /// See [`SystemEntry::after`](crate::SystemEntry::after).
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
    pub fn after(mut self, name: &str) -> Self {
        self.set().after.push(name.to_owned());
        self
    }

    /// Its members run only if the condition says so. Each member asks a clone of it, at its own
    /// turn, and each clone has its own [`Local`](crate::Local) values and its own view of what has
    /// changed.
    ///
    /// A member asks the conditions of its sets before its own, wherever in the program they were
    /// given: those of the set that it joined first come first. The first `false` ends that, see
    /// [`SystemEntry::run_if`](crate::SystemEntry::run_if). So the members of one set ask its
    /// conditions equally often, unless a set that one of them joined earlier says no.
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
    pub fn run_if<M, C>(self, condition: C) -> Self
    where
        M: 'static,
        C: System<M, bool> + Clone,
    {
        const { C::ASSERT_VALID };
        let Self { schedule, index } = self;
        let name = schedule.sets[index].name.clone();
        let make = move |asker: &str, registry: &mut Registry| {
            system::condition(condition.clone(), asker, registry)
        };
        if let Err(error) = make(&name, &mut schedule.registry) {
            panic!("{error}");
        }
        schedule.set_conditions.push((index, SetCondition(Mutex::new(Box::new(make)))));
        let at = schedule.set_conditions.len() - 1;
        for system in 0..schedule.nodes.len() {
            if schedule.nodes[system].is_in(&name) {
                schedule.add_condition_of_set(at, system);
            }
        }
        Self { schedule, index }
    }
}

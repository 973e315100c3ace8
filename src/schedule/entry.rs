//! What is said of a system after it was added: its name, its order, its conditions.

use std::sync::PoisonError;

use super::access::ParamAccess;
use super::name::FunctionName;
use super::order::Node;
use super::schedule::Schedule;
use super::system::{self, System};
use super::system_state::Owner;

/// A system that was added: says how it is called and when it runs.
#[derive(Debug)]
pub struct SystemEntry<'s> {
    schedule: &'s mut Schedule,
    index: usize,
}

impl<'s> SystemEntry<'s> {
    pub(super) fn new(schedule: &'s mut Schedule, index: usize) -> Self {
        let entry = Self { schedule, index };
        entry.changed()
    }

    fn changed(self) -> Self {
        self.schedule.changed(self.index);
        self
    }

    fn node(&mut self) -> &mut Node {
        &mut self.schedule.nodes[self.index]
    }

    /// Gives it another name: for `before` and `after`, errors, and timings.
    ///
    /// Several systems may share a name, which then means all of them: functions of one name from
    /// two modules do, and two instances of a generic function. The end of a path tells them apart
    /// without another name: `before("physics::step")`, `after("step<Ball>")`. It is also how errors
    /// call them then.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// Schedule::new().add(|| ()).named("nothing");
    /// ```
    pub fn named(mut self, name: &str) -> Self {
        self.node().name = name.to_owned();
        self.node().function = FunctionName::default();
        self.changed()
    }

    /// It finishes before the system, or all systems of the set, of this name begin. They see what
    /// its commands did.
    ///
    /// A name that no system and no set has by the next run is an error then, and so is the
    /// system's own name, if no other system has it.
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
        self.changed()
    }

    /// It begins when the system, or all systems of the set, of this name have finished, and sees
    /// what their commands did.
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
        self.changed()
    }

    /// Adds another system, which begins when this one has finished and sees what its commands did. It
    /// runs also if this one is skipped.
    /// From there on the entry is that of the other system. See [`Schedule::add`].
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

    /// Makes it a member of a set, by whose name others can be ordered. A system can be in several.
    /// [`Schedule::set`] says something of all members at once.
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
            self.schedule.join(self.index, name);
        }
        self.changed()
    }

    /// It runs only if the condition, a system that returns `bool`, says so; with several, if all
    /// do. A condition may have all parameters that a system may have.
    ///
    /// Conditions are asked at the system's turn: those of its [sets](crate::SetEntry::run_if)
    /// first, then its own in the order in which they were given. The first `false` ends that, and
    /// the others are not asked in this run:
    ///
    /// * `Changed` and `Arrived` in a condition compare with the moment at which that condition was
    ///   last asked. With `run_if(not_paused).run_if(changed)`, a change made while the game is
    ///   paused is seen once it goes on.
    /// * [`every`](crate::every) and [`Local`](crate::Local) values count how often their condition
    ///   is asked: put first what has to count every run.
    /// * A condition may protect those after it from a resource that is missing.
    ///
    /// A system that did not run keeps the moment at which it last began: when it runs again it
    /// sees all changes since.
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
                let slot = schedule.slots[self.index].get_mut();
                let slot = slot.unwrap_or_else(PoisonError::into_inner);
                slot.add_condition(Owner::System, condition);
            }
            Err(error) => panic!("{error}"),
        }
        self.changed()
    }
}

impl Schedule {
    /// Whatever was worked out before does not hold any more, since something was said of a system.
    pub(super) fn changed(&mut self, system: usize) {
        let Self { nodes, slots, registry, plan, is_bound, .. } = self;
        *plan = None;
        *is_bound = false;
        let slot = slots[system].get_mut().unwrap_or_else(PoisonError::into_inner);
        nodes[system].commands = slot.wants_of(registry).iter().any(ParamAccess::is_commands);
    }
}

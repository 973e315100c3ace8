//! Adding systems to a schedule.

use core::any::{TypeId, type_name};
use core::ops::Range;

use std::sync::PoisonError;

use super::entry::SystemEntry;
use super::name::FunctionName;
use super::order::OrderNode;
use super::param_access::ParamAccess;
use super::schedule::Schedule;
use super::schedule_error::AliasingParameters;
use super::system::{System, boxed};
use super::system_output::SystemOutput;
use super::systems::Systems;

impl Schedule {
    /// Adds a system, or a tuple of [`Systems`]: functions or closures with parameters that declare
    /// their access. See [`System`].
    ///
    /// The system has the name of its function, unless [`named`](SystemEntry::named) gives it
    /// another. The systems of a tuple may run in parallel like all others, unless they are
    /// [chained](crate::schedule::SystemsEntry::chain).
    ///
    /// # Panics
    ///
    /// With the text of the error that [`Schedule::try_add`] returns; or, if a parameter of another
    /// system names a different component type of the same name, with the text of
    /// [`NameTaken`](crate::error::NameTaken).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut schedule = Schedule::new();
    /// let poison = 0.5;
    /// schedule.add(move |health: Query<&mut Health>| {
    ///     health.rows().for_each(|health| health.0 -= poison);
    /// });
    /// ```
    #[track_caller]
    pub fn add<M, S: Systems<M>>(&mut self, systems: S) -> S::Entry<'_> {
        const { S::ASSERT_VALID };
        match self.push_systems(systems) {
            Ok(added) => S::entry(self, added),
            Err(error) => panic!("{error}"),
        }
    }

    /// [`Schedule::add`] that returns an error if two parameters clash.
    ///
    /// # Errors
    ///
    /// If two parameters of a system access the same component or resource, and one of them writes
    /// it. No system is added.
    ///
    /// # Panics
    ///
    /// If a parameter of another system names a different component type of the same name.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "position")] struct Position(f32);
    /// # #[component] struct Target;
    /// fn chase(hunters: Query<&mut Position>, targets: Query<&Position, With<Target>>) {}
    /// let error = Schedule::new().try_add(chase).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "system `chase`: parameters 1 `Query<&mut Position>` and 2 `Query<&Position, \
    ///      With<Target>>` both name component `position`, and one writes it: make them disjoint \
    ///      with a `Without<…>` of a component that the other has, or merge them into one \
    ///      query, or read a copy made by `Copies::gather` before",
    /// );
    ///
    /// fn follow(
    ///     hunters: Query<&mut Position, Without<Target>>,
    ///     targets: Query<&Position, With<Target>>,
    /// ) {
    /// }
    /// assert!(Schedule::new().try_add(follow).is_ok());
    /// ```
    pub fn try_add<M, S: Systems<M>>(
        &mut self,
        systems: S,
    ) -> Result<S::Entry<'_>, AliasingParameters> {
        const { S::ASSERT_VALID };
        self.push_systems(systems).map(|added| S::entry(self, added))
    }

    /// [`Schedule::add`] of systems that begin after the systems `after`.
    #[track_caller]
    pub(super) fn add_after<M, S: Systems<M>>(
        &mut self,
        systems: S,
        after: Range<usize>,
    ) -> S::Entry<'_> {
        match self.push_systems(systems) {
            Ok(added) => {
                for system in added.clone() {
                    SystemEntry::new(self, system).follow(after.clone());
                }
                S::entry(self, added)
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Adds all given systems, or none on an error. Returns their numbers.
    fn push_systems<M, S: Systems<M>>(
        &mut self,
        systems: S,
    ) -> Result<Range<usize>, AliasingParameters> {
        let first = self.nodes.len();
        match systems.push_all(self) {
            Ok(()) => Ok(first..self.nodes.len()),
            Err(error) => {
                self.nodes.truncate(first);
                self.states.truncate(first);
                Err(error)
            }
        }
    }

    pub(super) fn push_system<M, Out, S>(&mut self, system: S) -> Result<(), AliasingParameters>
    where
        M: 'static,
        Out: SystemOutput<()> + 'static,
        S: System<M, Out>,
    {
        let function = FunctionName::new(type_name::<S>());
        let (name, id) = (function.name.clone(), Some(TypeId::of::<S>()));
        let system = boxed(system, &name, &mut self.registry)?;
        self.push(OrderNode { name, function, id, ..OrderNode::default() }, system);
        Ok(())
    }

    /// Invalidates the plan after a change of a system, and updates whether it needs a sync
    /// point.
    pub(super) fn invalidate(&mut self, system: usize) {
        let Self { nodes, states, registry, plan, is_bound, .. } = self;
        *plan = None;
        *is_bound = false;
        let state = states[system].get_mut().unwrap_or_else(PoisonError::into_inner);
        let access = state.access_in(registry).into_all();
        nodes[system].commands = access.iter().any(ParamAccess::needs_sync);
    }
}

impl<'s> SystemEntry<'s> {
    /// Adds another system, or several, which begin after this one has finished and see the effects
    /// of its commands. They run even if this one is skipped. Returns the entry of the added
    /// systems. See [`Schedule::add`].
    ///
    /// # Panics
    ///
    /// If two parameters of an added system clash, as in [`Schedule::add`].
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
    pub fn then<M, N: Systems<M>>(self, next: N) -> N::Entry<'s> {
        const { N::ASSERT_VALID };
        let (schedule, index) = self.into_parts();
        schedule.add_after(next, index..index + 1)
    }
}

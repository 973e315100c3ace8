//! The systems of one call of `add`: one system, or a tuple of them.

use core::ops::Range;

use crate::tuples::for_tuples;

use super::entry::SystemEntry;
use super::schedule::Schedule;
use super::schedule_error::AliasingParameters;
use super::system::System;
use super::system_output::SystemOutput;
use super::target::IntoTarget;

/// A [`System`], or a tuple of up to twelve, which may be nested.
///
/// The systems of a tuple are added in its order, and the systems of a nested tuple as if they
/// stood in the outer one. The trait is implemented for systems, for [`NamedSystem`]s
/// and for tuples only; `Marker` is always inferred.
///
/// [`NamedSystem`]: crate::schedule::NamedSystem
///
/// ```
/// # use phalanx::prelude::*;
/// # fn gravity() {}
/// # fn wind() {}
/// # fn integrate() {}
/// # fn draw() {}
/// let mut schedule = Schedule::new();
/// schedule.add((gravity, wind)).in_set("forces");
/// schedule.add((integrate, draw)).chain().after("forces");
/// schedule.check()?;
/// # Ok::<(), phalanx::schedule::ScheduleError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a system nor a tuple of systems",
    note = "a system is a function or closure whose parameters are `Query<…>`, `Res<R>`, `ResMut<R>`, `Option` of these two, `Lookup<C>`, `LookupMut<C>`, `Sparse<S>`, `SparseMut<S>`, `Relation<R>`, `Pairs<R>`, `EventWriter<R>`, `EventReader<R>`, `Inserted<C>`, `Removed<C>`, `Despawned`, `Commands`, `Local<T>`, or tuples of these, at most twelve; a closure names their types",
    note = "`C` is a component, `R: Send + Sync`, `T: Default + Send`; a system of a schedule returns nothing or a `Result<(), E>`",
    note = "instead of the world, record what needs it: `commands.run(|world| …)`"
)]
pub trait Systems<Marker>: sealed::Sealed<Marker> {
    /// The entry of the added systems: [`SystemEntry`] for one, [`SystemsEntry`] for a tuple.
    type Entry<'s>;
    /// A compile error for a parameter that can never be valid.
    #[doc(hidden)]
    const ASSERT_VALID: ();
    #[doc(hidden)]
    fn push_all(self, schedule: &mut Schedule) -> Result<(), AliasingParameters>;
    /// The entry of the systems with these numbers, which were just added.
    #[doc(hidden)]
    fn entry(schedule: &mut Schedule, systems: Range<usize>) -> Self::Entry<'_>;
}

pub(super) mod sealed {
    pub trait Sealed<Marker> {}
}

/// The marker of a single system.
#[derive(Debug)]
pub struct One<M>(M);

/// The marker of a tuple.
#[derive(Debug)]
pub struct Several<M>(M);

impl<M, Out, S: System<M, Out>> sealed::Sealed<One<(M, Out)>> for S {}
impl<M, Out, S> Systems<One<(M, Out)>> for S
where
    M: 'static,
    Out: SystemOutput<()> + 'static,
    S: System<M, Out>,
{
    type Entry<'s> = SystemEntry<'s>;
    const ASSERT_VALID: () = <S as System<M, Out>>::ASSERT_VALID;

    fn push_all(self, schedule: &mut Schedule) -> Result<(), AliasingParameters> {
        schedule.push_system(self)
    }

    fn entry(schedule: &mut Schedule, systems: Range<usize>) -> SystemEntry<'_> {
        SystemEntry::new(schedule, systems.start)
    }
}

macro_rules! tuples {
    ($(($($S:ident $s:ident $i:tt),*))*) => {$(
        #[expect(non_camel_case_types, reason = "the list has lower-case names too")]
        impl<$($S, $s),*> sealed::Sealed<Several<($($s,)*)>> for ($($S,)*) {}
        #[expect(non_camel_case_types, reason = "the list has lower-case names for markers")]
        impl<$($s, $S: Systems<$s>),*> Systems<Several<($($s,)*)>> for ($($S,)*) {
            type Entry<'s> = SystemsEntry<'s>;
            const ASSERT_VALID: () = {
                $(let () = $S::ASSERT_VALID;)*
            };

            fn push_all(self, schedule: &mut Schedule) -> Result<(), AliasingParameters> {
                $(self.$i.push_all(schedule)?;)*
                Ok(())
            }

            fn entry(schedule: &mut Schedule, systems: Range<usize>) -> SystemsEntry<'_> {
                SystemsEntry { schedule, systems }
            }
        }
    )*};
}

for_tuples!(tuples, 1..=12);

/// Several systems that were added in one call, to order them and to put them in a set.
#[derive(Debug)]
pub struct SystemsEntry<'s> {
    schedule: &'s mut Schedule,
    systems: Range<usize>,
}

impl<'s> SystemsEntry<'s> {
    /// Calls `change` with the entry of each system.
    fn each(self, mut change: impl FnMut(SystemEntry<'_>)) -> Self {
        let Self { schedule, systems } = self;
        systems.clone().for_each(|system| change(SystemEntry::new(schedule, system)));
        Self { schedule, systems }
    }

    /// Each system begins after the one before it in the tuple has finished, and sees the effects
    /// of its commands. This includes the systems of nested tuples: to let two of them run side by
    /// side, write `add(a).then((b, c)).then(d)`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Egg;
    /// fn lay(mut commands: Commands) {
    ///     commands.spawn(Egg);
    /// }
    /// fn count(eggs: Query<&Egg>, mut count: ResMut<usize>) {
    ///     *count = eggs.count_rows();
    /// }
    /// let mut world = World::new();
    /// world.insert_resource(0usize);
    /// let mut schedule = Schedule::new();
    /// schedule.add((lay, count)).chain();
    /// schedule.run(&mut world)?;
    /// assert_eq!(*world.resource::<usize>().unwrap(), 1);
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    pub fn chain(self) -> Self {
        let Self { schedule, systems } = self;
        for system in systems.clone().skip(1) {
            SystemEntry::new(schedule, system).follow(system - 1..system);
        }
        Self { schedule, systems }
    }

    /// [`SystemEntry::before`] for each of them.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # fn gravity() {}
    /// # fn wind() {}
    /// # fn integrate() {}
    /// let mut schedule = Schedule::new();
    /// schedule.add(integrate);
    /// schedule.add((gravity, wind)).before(integrate);
    /// # schedule.check()?;
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    pub fn before<M>(self, target: impl IntoTarget<M>) -> Self {
        let target = target.into_target();
        self.each(|mut entry| entry.add_before(target.clone()))
    }

    /// [`SystemEntry::after`] for each of them.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # fn gravity() {}
    /// # fn draw() {}
    /// # fn sound() {}
    /// let mut schedule = Schedule::new();
    /// schedule.add((draw, sound)).after(gravity);
    /// schedule.add(gravity);
    /// # schedule.check()?;
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    pub fn after<M>(self, target: impl IntoTarget<M>) -> Self {
        let target = target.into_target();
        self.each(|mut entry| entry.add_after(target.clone()))
    }

    /// [`SystemEntry::in_set`] for each of them.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # fn gravity() {}
    /// # fn wind() {}
    /// let mut schedule = Schedule::new();
    /// schedule.add((gravity, wind)).in_set("forces");
    /// schedule.set("forces").run_if(|| true);
    /// # schedule.check()?;
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    pub fn in_set(self, name: &str) -> Self {
        self.each(|entry| _ = entry.in_set(name))
    }

    /// [`SystemEntry::run_if`] for each of them, with a clone of the condition for each. To give
    /// many systems several conditions in one order, use a [set](Schedule::set).
    ///
    /// # Panics
    ///
    /// If two parameters of the condition clash, as in [`Schedule::add`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # fn gravity() {}
    /// # fn wind() {}
    /// let mut schedule = Schedule::new();
    /// schedule.add((gravity, wind)).run_if(every(2));
    /// # schedule.check()?;
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    #[track_caller]
    pub fn run_if<M, Out, C>(self, condition: C) -> Self
    where
        M: 'static,
        Out: SystemOutput<bool> + 'static,
        C: System<M, Out> + Clone,
    {
        const { C::ASSERT_VALID };
        let Self { schedule, systems } = self;
        for system in systems.clone() {
            let _ = SystemEntry::new(schedule, system).run_if(condition.clone());
        }
        Self { schedule, systems }
    }

    /// Adds more systems. Each of them begins after all of these have finished. See
    /// [`SystemEntry::then`].
    ///
    /// # Panics
    ///
    /// If two parameters of an added system clash; see [`SystemEntry::then`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # fn gravity() {}
    /// # fn wind() {}
    /// # fn integrate() {}
    /// let mut schedule = Schedule::new();
    /// schedule.add((gravity, wind)).then(integrate);
    /// # schedule.check()?;
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    #[track_caller]
    pub fn then<M, N: Systems<M>>(self, next: N) -> N::Entry<'s> {
        const { N::ASSERT_VALID };
        let Self { schedule, systems } = self;
        schedule.add_after(next, systems)
    }
}

//! The parameters of systems: each says what it asks for, and is lent it for a run.

use core::any::{TypeId, type_name};
use core::fmt;
use core::ops::{Deref, DerefMut};

use crate::command::{CommandBuffer, Commands};
use crate::component::{Component, Registry};
use crate::query::{
    AccessGuard, AccessRequest, Filter, Query, SplitStore, Terms, assert_unaliased,
};
use crate::version::Version;
use crate::world::{Lookup, LookupMut, MissingResource, Res, ResMut, Resources, World};

use super::access::{ParamAccess, ParamKind};

/// One run of a system: the world's parts, and the moment.
#[derive(Clone, Copy, Debug)]
pub struct SystemRun<'r> {
    pub(super) split: &'r SplitStore<'r>,
    pub(super) resources: &'r Resources,
    /// What is written is of this version.
    pub(super) now: Version,
    /// When the system last began.
    pub(super) since: Version,
}

/// A parameter of a system.
///
/// | parameter | gives | systems that cannot run beside it |
/// | --- | --- | --- |
/// | [`Query<Q, F>`](Query) | the chunks that match | those that write what it reads, or name what it writes, in the same archetype |
/// | [`Res<R>`](Res) | a resource, to be read | those with `ResMut<R>` |
/// | [`ResMut<R>`](ResMut) | a resource, to be written | those with `Res<R>` or `ResMut<R>` |
/// | `Option<Res<R>>`, `Option<ResMut<R>>` | the same; `None` if the world has no `R` | the same |
/// | [`Lookup<C>`](Lookup) | component `C` of any entity | those that write `C` |
/// | [`LookupMut<C>`](LookupMut) | component `C` of any entity, to be written | those that read or write `C` |
/// | [`Commands`] | a buffer, applied at the next sync point | none |
/// | [`Local<T>`](Local) | a value of the system's own | none |
///
/// A resource that is missing keeps the system from running, unless it asks for an `Option`. None of
/// these is the world itself: what needs all of it is recorded, with
/// [`commands.run(|world| …)`](crate::CommandBuffer::run), as in the example of [`Commands`].
///
/// The trait is sealed: these are all the parameters.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a parameter of a system",
    note = "a system takes `Query<terms, filters>`, `Res<R>`, `ResMut<R>`, `Option` of these two, `Lookup<C>`, `LookupMut<C>`, `Commands` and `Local<T>`",
    note = "instead of the world, record what needs it: `commands.run(|world| …)`"
)]
pub trait SystemParam: sealed::Sealed {
    /// What the system is given: the parameter with the lifetime of one run.
    type Item<'a>;
    /// A compile error for a parameter that can never be met.
    #[doc(hidden)]
    const ASSERT_VALID: () = ();
    /// What is kept from run to run.
    #[doc(hidden)]
    type State: Send + 'static;
    /// What is held while the system runs.
    #[doc(hidden)]
    type Lent<'r>;
    #[doc(hidden)]
    fn want(registry: &mut Registry) -> ParamAccess;
    #[doc(hidden)]
    fn bind(world: &mut World) -> Self::State;
    #[doc(hidden)]
    fn lend<'r>(
        state: &'r mut Self::State,
        run: &SystemRun<'r>,
    ) -> Result<Self::Lent<'r>, MissingResource>;
    #[doc(hidden)]
    fn item<'a>(lent: &'a mut Self::Lent<'_>, since: Version) -> Self::Item<'a>;
    /// The buffer that is played back after the run.
    #[doc(hidden)]
    fn buffer(_: &mut Self::State) -> Option<&mut CommandBuffer> {
        None
    }
}

mod sealed {
    pub trait Sealed {}
}

/// What a query or a lookup claims of a world.
#[derive(Debug)]
pub struct Claimed(AccessRequest);

/// The columns that are lent to a parameter.
#[derive(Debug)]
pub struct LentColumns<'r>(AccessGuard<'r>);

impl<Q: Terms + 'static, F: Filter> sealed::Sealed for Query<'_, Q, F> {}
impl<Q: Terms + 'static, F: Filter> SystemParam for Query<'_, Q, F> {
    const ASSERT_VALID: () = assert_unaliased::<Q>();
    type Item<'a> = Query<'a, Q, F>;
    type State = Claimed;
    type Lent<'r> = LentColumns<'r>;

    fn want(registry: &mut Registry) -> ParamAccess {
        ParamAccess(ParamKind::Columns(AccessRequest::query::<Q, F>(registry)))
    }

    fn bind(world: &mut World) -> Claimed {
        Claimed(AccessRequest::query::<Q, F>(world.registry_mut()))
    }

    fn lend<'r>(
        state: &'r mut Claimed,
        run: &SystemRun<'r>,
    ) -> Result<LentColumns<'r>, MissingResource> {
        Ok(LentColumns(run.split.lend(&state.0, run.now)))
    }

    #[inline]
    fn item<'a>(lent: &'a mut LentColumns<'_>, since: Version) -> Query<'a, Q, F> {
        lent.0.query(F::newer_than(since))
    }
}

impl<C: Component> sealed::Sealed for Lookup<'_, C> {}
impl<C: Component> SystemParam for Lookup<'_, C> {
    type Item<'a> = Lookup<'a, C>;
    type State = Claimed;
    type Lent<'r> = LentColumns<'r>;

    fn want(registry: &mut Registry) -> ParamAccess {
        ParamAccess(ParamKind::Lookup(AccessRequest::lookup::<C>(registry)))
    }

    fn bind(world: &mut World) -> Claimed {
        Claimed(AccessRequest::lookup::<C>(world.registry_mut()))
    }

    fn lend<'r>(
        state: &'r mut Claimed,
        run: &SystemRun<'r>,
    ) -> Result<LentColumns<'r>, MissingResource> {
        Ok(LentColumns(run.split.lend(&state.0, run.now)))
    }

    fn item<'a>(lent: &'a mut LentColumns<'_>, _: Version) -> Lookup<'a, C> {
        Lookup::of_share(&mut lent.0)
    }
}

impl<C: Component> sealed::Sealed for LookupMut<'_, C> {}
impl<C: Component> SystemParam for LookupMut<'_, C> {
    type Item<'a> = LookupMut<'a, C>;
    type State = Claimed;
    type Lent<'r> = LentColumns<'r>;

    fn want(registry: &mut Registry) -> ParamAccess {
        ParamAccess(ParamKind::Lookup(AccessRequest::lookup_mut::<C>(registry)))
    }

    fn bind(world: &mut World) -> Claimed {
        Claimed(AccessRequest::lookup_mut::<C>(world.registry_mut()))
    }

    fn lend<'r>(
        state: &'r mut Claimed,
        run: &SystemRun<'r>,
    ) -> Result<LentColumns<'r>, MissingResource> {
        Ok(LentColumns(run.split.lend(&state.0, run.now)))
    }

    fn item<'a>(lent: &'a mut LentColumns<'_>, _: Version) -> LookupMut<'a, C> {
        LookupMut::of_share(&mut lent.0)
    }
}

/// A lent item is taken once a run.
const LENT: &str = "what is lent is taken once";

macro_rules! resource {
    ($param:ident, $get:ident, $write:literal) => {
        impl<R: Send + Sync + 'static> sealed::Sealed for $param<'_, R> {}
        impl<R: Send + Sync + 'static> SystemParam for $param<'_, R> {
            type Item<'a> = $param<'a, R>;
            type State = ();
            type Lent<'r> = Option<$param<'r, R>>;

            fn want(_: &mut Registry) -> ParamAccess {
                let (id, name) = (TypeId::of::<R>(), type_name::<R>());
                ParamAccess(ParamKind::Resource { id, name, write: $write })
            }

            fn bind(_: &mut World) {}

            fn lend<'r>(
                (): &'r mut (),
                run: &SystemRun<'r>,
            ) -> Result<Option<$param<'r, R>>, MissingResource> {
                run.resources.$get().map(Some)
            }

            fn item<'a>(lent: &'a mut Option<$param<'_, R>>, _: Version) -> $param<'a, R> {
                lent.take().expect(LENT)
            }
        }
    };
}

macro_rules! optional_resource {
    ($param:ident, $get:ident) => {
        impl<R: Send + Sync + 'static> sealed::Sealed for Option<$param<'_, R>> {}
        impl<R: Send + Sync + 'static> SystemParam for Option<$param<'_, R>> {
            type Item<'a> = Option<$param<'a, R>>;
            type State = ();
            type Lent<'r> = Option<$param<'r, R>>;

            fn want(registry: &mut Registry) -> ParamAccess {
                $param::<R>::want(registry)
            }

            fn bind(_: &mut World) {}

            fn lend<'r>(
                (): &'r mut (),
                run: &SystemRun<'r>,
            ) -> Result<Option<$param<'r, R>>, MissingResource> {
                Ok(run.resources.$get().ok())
            }

            fn item<'a>(lent: &'a mut Option<$param<'_, R>>, _: Version) -> Option<$param<'a, R>> {
                lent.take()
            }
        }
    };
}

optional_resource!(Res, read);
optional_resource!(ResMut, write);

resource!(Res, read, false);
resource!(ResMut, write, true);

/// A value of a system's own, kept from run to run. It begins as its type's default.
///
/// ```
/// # use phalanx::prelude::*;
/// fn count(mut runs: Local<u32>, mut total: ResMut<u32>) {
///     *runs += 1;
///     *total = *runs;
/// }
///
/// let mut world = World::new();
/// world.insert_resource(0u32);
/// let mut schedule = Schedule::new();
/// schedule.add(count);
/// for _ in 0..3 {
///     schedule.run(&mut world)?;
/// }
/// assert_eq!(*world.resource::<u32>().unwrap(), 3);
/// # Ok::<(), phalanx::ScheduleError>(())
/// ```
///
/// A type that has no default is asked for as an `Option`, which begins as `None`.
///
/// ```compile_fail,E0277
/// # use phalanx::prelude::*;
/// struct Connection(u32); // no `Default`
///
/// fn send(connection: Local<Connection>) {}
/// ```
pub struct Local<'s, T: Default + Send + 'static>(&'s mut T);

impl<T: Default + Send + 'static> Deref for Local<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.0
    }
}

impl<T: Default + Send + 'static> DerefMut for Local<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.0
    }
}

impl<T: Default + Send + fmt::Debug + 'static> fmt::Debug for Local<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Local").field(&self.0).finish()
    }
}

impl<T: Default + Send + 'static> sealed::Sealed for Local<'_, T> {}
impl<T: Default + Send + 'static> SystemParam for Local<'_, T> {
    type Item<'a> = Local<'a, T>;
    type State = T;
    type Lent<'r> = &'r mut T;

    fn want(_: &mut Registry) -> ParamAccess {
        ParamAccess(ParamKind::Own)
    }

    fn bind(_: &mut World) -> T {
        T::default()
    }

    fn lend<'r>(state: &'r mut T, _: &SystemRun<'r>) -> Result<&'r mut T, MissingResource> {
        Ok(state)
    }

    fn item<'a>(lent: &'a mut &'_ mut T, _: Version) -> Local<'a, T> {
        Local(lent)
    }
}

impl sealed::Sealed for Commands<'_> {}
impl SystemParam for Commands<'_> {
    type Item<'a> = Commands<'a>;
    type State = CommandBuffer;
    type Lent<'r> = &'r mut CommandBuffer;

    fn want(_: &mut Registry) -> ParamAccess {
        ParamAccess(ParamKind::Commands)
    }

    fn bind(world: &mut World) -> CommandBuffer {
        CommandBuffer::for_system(world)
    }

    fn lend<'r>(
        state: &'r mut CommandBuffer,
        _: &SystemRun<'r>,
    ) -> Result<&'r mut CommandBuffer, MissingResource> {
        Ok(state)
    }

    fn item<'a>(lent: &'a mut &'_ mut CommandBuffer, _: Version) -> Commands<'a> {
        Commands::new(lent)
    }

    fn buffer(state: &mut CommandBuffer) -> Option<&mut CommandBuffer> {
        Some(state)
    }
}

//! The parameters of systems: each declares its access, and borrows its values for a run.

use core::fmt;
use core::ops::{Deref, DerefMut};

use std::sync::{RwLockReadGuard, RwLockWriteGuard};

use crate::command::{CommandBuffer, Commands};
use crate::component::{Component, Registry, RelationComponent, SparseComponent, assert_writable};
use crate::logs::{EventBuffer, EventWriter};
use crate::query::{Filter, GuardsOf, Query, Terms, assert_unaliased, lookup_type, query_type};
use crate::storage::AccessKind;
use crate::store::{AccessGuard, AccessRequest, SplitStore};
use crate::version::Version;
use crate::world::{
    Lookup, LookupMut, MissingResource, Relation, Res, ResMut, Resources, Sparse, SparseGrant,
    SparseMut, SparseMutGrant, World,
};

use super::param_access::{NamedAccess, ParamKind};

/// One run of a system: the parts of the world, and the versions of change detection.
#[derive(Clone, Copy, Debug)]
pub struct SystemRun<'r> {
    pub(super) split: &'r SplitStore<'r>,
    pub(super) resources: &'r Resources,
    /// The version that writes are stamped with.
    pub(super) now: Version,
}

/// A parameter of a system.
///
/// | parameter | gives | systems that cannot run in parallel |
/// | --- | --- | --- |
/// | [`Query<Q, F>`](Query) | the matching chunks | systems that write columns that it reads, or access columns that it writes, in the same archetype |
/// | [`Res<R>`](Res) | read access to a resource | systems with `ResMut<R>` |
/// | [`ResMut<R>`](ResMut) | write access to a resource | systems with `Res<R>` or `ResMut<R>` |
/// | `Option<Res<R>>`, `Option<ResMut<R>>` | the same; `None` if the world has no `R` | the same |
/// | [`Lookup<C>`](Lookup) | read access to component `C` of any entity | systems that write `C` |
/// | [`LookupMut<C>`](LookupMut) | write access to component `C` of any entity | systems that access `C` |
/// | [`Sparse<T>`](Sparse) | read access to the sparse component `T` of any entity | systems with `SparseMut<T>`, and queries of `&mut T` |
/// | [`Relation<R>`](Relation) | read access to the relation `R`, from both ends | none: commands change relations |
/// | [`Pairs<R>`](crate::sparse::Pairs) | read access to the relation to many `R`, from both ends | none: commands change relations |
/// | [`SparseMut<T>`](SparseMut) | write access to the sparse component `T` of any entity, which it can insert and remove | systems with `Sparse<T>` or `SparseMut<T>`, and queries that name `T` |
/// | [`EventWriter<E>`](EventWriter) | a buffer for events, which the systems after it can read | systems with `EventReader<E>` |
/// | [`EventReader<E>`](crate::logs::EventReader) | the events that it has not read yet | systems with `EventWriter<E>` |
/// | [`Inserted<C>`](crate::logs::Inserted), [`Removed<C>`](crate::logs::Removed) | the entities that got or lost `C`, and its values | none |
/// | [`Despawned`](crate::logs::Despawned) | the entities that were despawned | none |
/// | [`LogReader<L>`](crate::logs::LogReader) | the entries of any log: the readers before have this type | as these |
/// | [`Commands`] | a command buffer, applied at the next sync point | none |
/// | [`Local<T>`](Local) | a value of the system itself | none |
/// | a tuple of up to twelve of these, or of tuples | all of its elements | the systems of all its elements |
///
/// If a resource is missing, the system does not run, unless the parameter is an `Option`. No
/// parameter is the world itself: work that needs all of it is recorded with [`commands.run(|world|
/// …)`](crate::CommandBuffer::run), as in the example of [`Commands`].
///
/// A tuple is one parameter, so a system may have more than twelve, and parameters that go together
/// have a name:
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Place(f32);
/// # #[component] struct Speed(f32);
/// # struct Step(f32);
/// type Bodies<'r> = (Query<'r, (&'static mut Place, &'static Speed)>, Res<'r, Step>);
///
/// fn drift((bodies, step): Bodies) {
///     bodies.rows().for_each(|(place, speed)| place.0 += speed.0 * step.0);
/// }
///
/// fn fall((bodies, step): Bodies, gravity: Res<f32>) {
///     bodies.rows().for_each(|(place, _)| place.0 -= *gravity * step.0);
/// }
/// # let mut world = World::new();
/// # world.insert_resource(Step(0.5));
/// # world.insert_resource(2.0f32);
/// # world.spawn((Place(1.0), Speed(4.0)));
/// # let mut schedule = Schedule::new();
/// schedule.add((drift, fall));
/// # schedule.run(&mut world)?;
/// # assert_eq!(world.query::<&Place>().single().unwrap().0, 2.0);
/// # Ok::<(), ScheduleError>(())
/// ```
///
/// The trait is sealed: there are no other parameters.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a parameter of a system",
    note = "a system takes `Query<terms, filters>`, `Res<R>`, `ResMut<R>`, `Option` of these two, `Lookup<C>`, `LookupMut<C>`, `Sparse<S>`, `SparseMut<S>`, `Relation<R>`, `Pairs<R>`, `EventWriter<R>`, `EventReader<R>`, `Inserted<C>`, `Removed<C>`, `Despawned`, `Commands`, `Local<T>`, and tuples of these",
    note = "instead of the world, record what needs it: `commands.run(|world| …)`"
)]
pub trait SystemParam: sealed::Sealed {
    /// The argument that the system is called with: the parameter with the lifetime of one run.
    type Item<'a>;
    /// A compile error for a parameter that can never be valid.
    #[doc(hidden)]
    const ASSERT_VALID: () = ();
    /// Whether it only has a value if an earlier run has made its state.
    #[doc(hidden)]
    const CONTINUES: bool = false;
    /// The state that is kept from run to run.
    #[doc(hidden)]
    type State: Send + 'static;
    /// The borrow that is held while the system runs.
    #[doc(hidden)]
    type Borrowed<'r>;
    #[doc(hidden)]
    fn access(registry: &mut Registry) -> Vec<NamedAccess>;
    #[doc(hidden)]
    fn bind(world: &mut World) -> Self::State;
    #[doc(hidden)]
    fn borrow<'r>(
        state: &'r mut Self::State,
        run: &SystemRun<'r>,
    ) -> Result<Self::Borrowed<'r>, MissingResource>;
    #[doc(hidden)]
    fn item<'a>(borrowed: &'a mut Self::Borrowed<'_>, since: Version) -> Self::Item<'a>;
    /// The command buffers, which are played back after the run.
    #[doc(hidden)]
    fn buffers(_: &mut Self::State) -> Vec<&mut CommandBuffer> {
        Vec::new()
    }
    /// Moves the events of an ended run to their queue, or drops them.
    #[doc(hidden)]
    fn send_events(_: &mut Self::State, _: &SystemRun<'_>, _is_sent: bool) {}
    /// The bytes that the buffers hold.
    #[doc(hidden)]
    fn held_bytes(_: &Self::State) -> usize {
        0
    }
    /// Frees the bytes that the buffers do not use.
    #[doc(hidden)]
    fn compact(_: &mut Self::State) {}
}

pub(super) mod sealed {
    pub trait Sealed {}
}

impl<Q: Terms + 'static, F: Filter> sealed::Sealed for Query<'_, Q, F> {}
impl<Q: Terms + 'static, F: Filter> SystemParam for Query<'_, Q, F> {
    const ASSERT_VALID: () = assert_unaliased::<Q>();
    type Item<'a> = Query<'a, Q, F>;
    type State = AccessRequest;
    type Borrowed<'r> = (AccessGuard<'r>, GuardsOf<'r, Q, F>);

    fn access(registry: &mut Registry) -> Vec<NamedAccess> {
        NamedAccess::of::<Self>(ParamKind::Columns(AccessRequest::new(
            query_type::<Q, F>(),
            registry,
        )))
    }

    fn bind(world: &mut World) -> AccessRequest {
        world.access_request(query_type::<Q, F>())
    }

    fn borrow<'r>(
        state: &'r mut AccessRequest,
        run: &SystemRun<'r>,
    ) -> Result<Self::Borrowed<'r>, MissingResource> {
        let access = run.split.grant(state, run.now);
        Ok((access, crate::query::lock::<Q, F>(run.split.sparse())))
    }

    #[inline]
    fn item<'a>(borrowed: &'a mut Self::Borrowed<'_>, since: Version) -> Query<'a, Q, F> {
        let (access, sets) = borrowed;
        Query::granted(access, sets, F::newer_than(since))
    }
}

macro_rules! lookup {
    ($param:ident, $term:ty) => {
        impl<C: Component> sealed::Sealed for $param<'_, C> {}
        impl<C: Component> SystemParam for $param<'_, C> {
            type Item<'a> = $param<'a, C>;
            type State = AccessRequest;
            type Borrowed<'r> = AccessGuard<'r>;

            fn access(registry: &mut Registry) -> Vec<NamedAccess> {
                NamedAccess::of::<Self>(ParamKind::Lookup(AccessRequest::new(
                    lookup_type::<$term>(),
                    registry,
                )))
            }

            fn bind(world: &mut World) -> AccessRequest {
                world.access_request(lookup_type::<$term>())
            }

            fn borrow<'r>(
                state: &'r mut AccessRequest,
                run: &SystemRun<'r>,
            ) -> Result<AccessGuard<'r>, MissingResource> {
                Ok(run.split.grant(state, run.now))
            }

            fn item<'a>(borrowed: &'a mut AccessGuard<'_>, _: Version) -> $param<'a, C> {
                $param::granted(borrowed)
            }
        }
    };
}

lookup!(Lookup, &C);
lookup!(LookupMut, &mut C);

macro_rules! resource {
    ($param:ident, $guard:ident, $grant:ident, $borrow:ident, $access:ident) => {
        impl<R: Send + Sync + 'static> sealed::Sealed for $param<'_, R> {}
        impl<R: Send + Sync + 'static> SystemParam for $param<'_, R> {
            type Item<'a> = $param<'a, R>;
            type State = ();
            type Borrowed<'r> = $guard<'r, R>;

            fn access(_: &mut Registry) -> Vec<NamedAccess> {
                NamedAccess::of::<Self>(ParamKind::resource::<R>(AccessKind::$access))
            }

            fn bind(_: &mut World) {}

            fn borrow<'r>(
                (): &'r mut (),
                run: &SystemRun<'r>,
            ) -> Result<$guard<'r, R>, MissingResource> {
                run.resources.$grant()
            }

            fn item<'a>(borrowed: &'a mut $guard<'_, R>, _: Version) -> $param<'a, R> {
                $param::granted((*borrowed).$borrow())
            }
        }
    };
}

macro_rules! optional_resource {
    ($param:ident, $guard:ident, $grant:ident, $borrow:ident, $access:ident) => {
        impl<R: Send + Sync + 'static> sealed::Sealed for Option<$param<'_, R>> {}
        impl<R: Send + Sync + 'static> SystemParam for Option<$param<'_, R>> {
            type Item<'a> = Option<$param<'a, R>>;
            type State = ();
            type Borrowed<'r> = Option<$guard<'r, R>>;

            fn access(_: &mut Registry) -> Vec<NamedAccess> {
                NamedAccess::of::<Self>(ParamKind::resource::<R>(AccessKind::$access))
            }

            fn bind(_: &mut World) {}

            fn borrow<'r>(
                (): &'r mut (),
                run: &SystemRun<'r>,
            ) -> Result<Option<$guard<'r, R>>, MissingResource> {
                Ok(run.resources.$grant().ok())
            }

            fn item<'a>(
                borrowed: &'a mut Option<$guard<'_, R>>,
                _: Version,
            ) -> Option<$param<'a, R>> {
                borrowed.$borrow().map($param::granted)
            }
        }
    };
}

optional_resource!(Res, RwLockReadGuard, grant, as_deref, Read);
optional_resource!(ResMut, RwLockWriteGuard, grant_mut, as_deref_mut, Write);

resource!(Res, RwLockReadGuard, grant, deref, Read);
resource!(ResMut, RwLockWriteGuard, grant_mut, deref_mut, Write);

impl<T: SparseComponent> sealed::Sealed for Sparse<'_, T> {}
impl<T: SparseComponent> SystemParam for Sparse<'_, T> {
    type Item<'a> = Sparse<'a, T>;
    type State = ();
    type Borrowed<'r> = SparseGrant<'r, T>;

    fn access(registry: &mut Registry) -> Vec<NamedAccess> {
        NamedAccess::of::<Self>(ParamKind::sparse::<T>(registry, AccessKind::Read))
    }

    fn bind(_: &mut World) {}

    fn borrow<'r>(
        (): &'r mut (),
        run: &SystemRun<'r>,
    ) -> Result<SparseGrant<'r, T>, MissingResource> {
        Ok(SparseGrant::new(run.split))
    }

    fn item<'a>(borrowed: &'a mut SparseGrant<'_, T>, last_run: Version) -> Sparse<'a, T> {
        Sparse::granted(borrowed, last_run)
    }
}

impl<R: RelationComponent> sealed::Sealed for Relation<'_, R> {}
impl<R: RelationComponent> SystemParam for Relation<'_, R> {
    type Item<'a> = Relation<'a, R>;
    type State = ();
    type Borrowed<'r> = SparseGrant<'r, R>;

    fn access(registry: &mut Registry) -> Vec<NamedAccess> {
        NamedAccess::of::<Self>(ParamKind::sparse::<R>(registry, AccessKind::Read))
    }

    fn bind(_: &mut World) {}

    fn borrow<'r>(
        (): &'r mut (),
        run: &SystemRun<'r>,
    ) -> Result<SparseGrant<'r, R>, MissingResource> {
        Ok(SparseGrant::new(run.split))
    }

    fn item<'a>(borrowed: &'a mut SparseGrant<'_, R>, _: Version) -> Relation<'a, R> {
        Relation::granted(borrowed)
    }
}

impl<T: SparseComponent> sealed::Sealed for SparseMut<'_, T> {}
impl<T: SparseComponent> SystemParam for SparseMut<'_, T> {
    type Item<'a> = SparseMut<'a, T>;
    type State = ();
    type Borrowed<'r> = SparseMutGrant<'r, T>;

    fn access(registry: &mut Registry) -> Vec<NamedAccess> {
        NamedAccess::of::<Self>(ParamKind::sparse::<T>(registry, AccessKind::Write))
    }

    fn bind(world: &mut World) {
        const { assert_writable::<T>() };
        world.add_sparse_set::<T>();
    }

    fn borrow<'r>(
        (): &'r mut (),
        run: &SystemRun<'r>,
    ) -> Result<SparseMutGrant<'r, T>, MissingResource> {
        Ok(SparseMutGrant::new(run.split, run.now))
    }

    fn item<'a>(borrowed: &'a mut SparseMutGrant<'_, T>, last_run: Version) -> SparseMut<'a, T> {
        SparseMut::granted(borrowed, last_run)
    }
}

impl<E: Send + Sync + 'static> sealed::Sealed for EventWriter<'_, E> {}
impl<E: Send + Sync + 'static> SystemParam for EventWriter<'_, E> {
    type Item<'a> = EventWriter<'a, E>;
    type State = EventBuffer<E>;
    type Borrowed<'r> = &'r mut EventBuffer<E>;

    fn access(_: &mut Registry) -> Vec<NamedAccess> {
        NamedAccess::of::<Self>(ParamKind::events::<E>(AccessKind::Write))
    }

    fn bind(world: &mut World) -> EventBuffer<E> {
        world.add_event_queue::<E>();
        EventBuffer::default()
    }

    fn borrow<'r>(
        state: &'r mut EventBuffer<E>,
        _: &SystemRun<'r>,
    ) -> Result<&'r mut EventBuffer<E>, MissingResource> {
        Ok(state)
    }

    fn item<'a>(borrowed: &'a mut &'_ mut EventBuffer<E>, _: Version) -> EventWriter<'a, E> {
        EventWriter::new(borrowed)
    }

    fn send_events(state: &mut EventBuffer<E>, run: &SystemRun<'_>, is_sent: bool) {
        state.finish(&run.split.logs().events, run.now, is_sent);
    }

    fn held_bytes(state: &EventBuffer<E>) -> usize {
        state.memory_bytes()
    }

    fn compact(state: &mut EventBuffer<E>) {
        state.compact();
    }
}

/// A value of the system itself, kept from run to run. Its first value is the default of its type.
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
/// # Ok::<(), phalanx::schedule::ScheduleError>(())
/// ```
///
/// A type without a default can be wrapped in an `Option`, which is initialised as `None`.
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
    type Borrowed<'r> = &'r mut T;

    fn access(_: &mut Registry) -> Vec<NamedAccess> {
        NamedAccess::of::<Self>(ParamKind::Own)
    }

    fn bind(_: &mut World) -> T {
        T::default()
    }

    fn borrow<'r>(state: &'r mut T, _: &SystemRun<'r>) -> Result<&'r mut T, MissingResource> {
        Ok(state)
    }

    fn item<'a>(borrowed: &'a mut &'_ mut T, _: Version) -> Local<'a, T> {
        Local(borrowed)
    }
}

impl sealed::Sealed for Commands<'_> {}
impl SystemParam for Commands<'_> {
    type Item<'a> = Commands<'a>;
    type State = CommandBuffer;
    type Borrowed<'r> = &'r mut CommandBuffer;

    fn access(_: &mut Registry) -> Vec<NamedAccess> {
        NamedAccess::of::<Self>(ParamKind::Commands)
    }

    fn bind(world: &mut World) -> CommandBuffer {
        CommandBuffer::for_system(world)
    }

    fn borrow<'r>(
        state: &'r mut CommandBuffer,
        _: &SystemRun<'r>,
    ) -> Result<&'r mut CommandBuffer, MissingResource> {
        Ok(state)
    }

    fn item<'a>(borrowed: &'a mut &'_ mut CommandBuffer, _: Version) -> Commands<'a> {
        Commands::new(borrowed)
    }

    fn buffers(state: &mut CommandBuffer) -> Vec<&mut CommandBuffer> {
        vec![state]
    }

    fn held_bytes(state: &CommandBuffer) -> usize {
        state.memory_bytes()
    }

    fn compact(state: &mut CommandBuffer) {
        state.compact();
    }
}

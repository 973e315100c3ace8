//! `World::run` calls a function with the parameters of a system at once.

use core::any::{TypeId, type_name};

use crate::command::ApplyError;
use crate::payload::Payload;
use crate::store::FirstPanic;
use crate::tuples::for_tuples;
use crate::version::Version;
use crate::world::World;

use super::name::FunctionName;
use super::param::{SystemParam, SystemRun};
use super::param_access::ensure_apart;
use super::run_error::RunError;

/// A function or closure of up to twelve [`SystemParam`]s that [`World::run`] calls once.
///
/// It may borrow and consume local variables and return any type, unlike a
/// [`System`](crate::schedule::System). A closure must name the types of its parameters. `Marker`
/// distinguishes functions with different parameters, and is always inferred. The trait is sealed.
///
/// Parameters that continue an earlier run do not compile. Outside of a schedule use a cursor, such
/// as `world.cursor::<Removals<Shield>>()`.
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// # #[component] struct Shield;
/// World::new().run(|lost: Removed<Shield>| ());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be run with the parameters of a system",
    note = "`World::run` takes a function or closure whose parameters are those of a system, such as `Query<…>`, `Lookup<C>`, `Res<R>` or `Commands`, or tuples of these, at most twelve; a closure names their types: `|health: Query<&mut Health>| …`",
    note = "instead of the world as a parameter, call the world's own methods"
)]
pub trait RunOnce<Marker, Out>: sealed::Sealed<Marker, Out> {
    /// A compile error for parameters that can never be valid here. It is evaluated by
    /// [`World::run`], so that the error names the caller's line.
    #[doc(hidden)]
    const ASSERT_VALID: () = {
        let () = <Self::Params as SystemParam>::ASSERT_VALID;
        assert!(
            !<Self::Params as SystemParam>::CONTINUES,
            "`Inserted`, `Removed` and `Despawned` read on from an earlier run, and a function that \
             runs once has none: make a cursor, such as `world.cursor::<Removals<C>>()`"
        );
    };
    /// The tuple of the parameters.
    #[doc(hidden)]
    type Params: SystemParam;
    #[doc(hidden)]
    fn call(self, params: <Self::Params as SystemParam>::Item<'_>) -> Out;
}

mod sealed {
    pub trait Sealed<Marker, Out> {}
}

macro_rules! functions {
    ($(($($P:ident $p:ident $i:tt),*))*) => {$(
        impl<S, Out, $($P: SystemParam),*> sealed::Sealed<fn($($P),*), Out> for S
        where
            S: FnOnce($($P),*) -> Out,
            S: for<'a> FnOnce($($P::Item<'a>),*) -> Out,
        {
        }

        #[expect(clippy::allow_attributes, reason = "a function without parameters uses none of them")]
        #[allow(unused_variables, clippy::unused_unit, clippy::too_many_arguments, reason = "from none to twelve")]
        impl<S, Out, $($P: SystemParam),*> RunOnce<fn($($P),*), Out> for S
        where
            // The first bound infers the parameters, the second accepts them with any lifetime.
            S: FnOnce($($P),*) -> Out,
            S: for<'a> FnOnce($($P::Item<'a>),*) -> Out,
        {
            type Params = ($($P,)*);

            fn call(self, params: <Self::Params as SystemParam>::Item<'_>) -> Out {
                let ($($p,)*) = params;
                // Selects the second of the two bounds on `S`.
                fn call<Out, $($P),*>(function: impl FnOnce($($P),*) -> Out, $($p: $P),*) -> Out {
                    function($($p),*)
                }
                call(self, $($p),*)
            }
        }
    )*};
}

for_tuples!(functions, 0..=12);

/// # Functions with the parameters of systems
impl World {
    /// Calls a function with the parameters of a [system](crate::schedule::System), and returns its
    /// result.
    ///
    /// A query, a lookup, sparse components and resources that are borrowed from the world one by
    /// one exclude each other as soon as one of them writes. As parameters of one function they are
    /// borrowed together, and checked like the parameters of a system: no two of them may access
    /// the same component of the same entities if one writes it.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[component]
    /// struct Owner(Entity);
    /// #[component]
    /// struct Income(u32);
    /// #[component]
    /// struct Gold(u32);
    /// let mut world = World::new();
    /// let player = world.spawn(Gold(10));
    /// world.spawn_batch([(Income(1), Owner(player)), (Income(2), Owner(player))]);
    ///
    /// // Each tower pays its owner.
    /// let paid = world.run(|towers: Query<(&Income, &Owner)>, mut gold: LookupMut<Gold>| {
    ///     let mut paid = 0;
    ///     for (income, owner) in towers.rows() {
    ///         if let Ok(gold) = gold.get_mut(owner.0) {
    ///             gold.0 += income.0;
    ///             paid += income.0;
    ///         }
    ///     }
    ///     paid
    /// });
    /// assert_eq!(paid, 3);
    /// assert_eq!(world.get::<Gold>(player)?.0, 13);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    ///
    /// Each call is like the first run of a system:
    ///
    /// * a filter such as [`Changed`](crate::Changed) matches all rows that were ever written,
    /// * a [`Local`](crate::schedule::Local) is the default of its type,
    /// * an [`EventReader`](crate::logs::EventReader) reads all events that are kept,
    /// * [`Inserted`](crate::logs::Inserted), [`Removed`](crate::logs::Removed) and
    ///   [`Despawned`](crate::logs::Despawned) do not compile, since no earlier run has begun a
    ///   log.
    ///
    /// When the function has returned, with any result, commands are applied and events are sent.
    /// A command on an entity that is not alive by that time is an error, while a schedule only
    /// counts it; with `commands.on_dead_entity(DeadEntityPolicy::Ignore)` it has no effect, and
    /// the result is kept. The version of the world advances once. The result may not borrow from
    /// the parameters.
    ///
    /// Checks and type look-ups are made once in a world. A later call costs O(parameters), plus
    /// the cost of each parameter in a system: a lookup is O(archetypes + chunks). A pass over two
    /// rows took 1,030 instructions and 97 ns in a call, and 315 and 22 ns with
    /// [`World::query_mut`] (x86-64, EPYC, release build).
    ///
    /// # Panics
    ///
    /// If [`World::try_run`] would return an error, with its text. If the function panics; its
    /// commands and events are discarded. If a parameter names a component type with a name that
    /// another type has in the world.
    #[track_caller]
    pub fn run<Marker: 'static, Out, F>(&mut self, function: F) -> Out
    where
        F: RunOnce<Marker, Out>,
    {
        // Here as well, so that the error names the line of this call.
        const { F::ASSERT_VALID };
        match self.try_run(function) {
            Ok(returned) => returned,
            // Not in a closure, so that the message names the caller's line.
            Err(error) => panic!("{error}"),
        }
    }

    /// [`World::run`], with an error instead of a panic.
    ///
    /// # Errors
    ///
    /// | error | the function |
    /// | --- | --- |
    /// | two parameters clash | was not called, and the world is unchanged |
    /// | the world lacks a resource | was not called, and the world is unchanged, but that reserved ids become rows |
    /// | commands had no effect or made no relation, as of [`World::apply`] | has run, and all other commands were applied |
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// struct Poison(f32);
    ///
    /// fn poison(health: Query<&mut Health>, poison: Res<Poison>) {
    ///     health.rows().for_each(|health| health.0 -= poison.0);
    /// }
    ///
    /// let mut world = World::new();
    /// let error = world.try_run(poison).unwrap_err();
    /// assert!(error.to_string().contains("insert it with `World::insert_resource`"));
    /// world.insert_resource(Poison(0.5));
    /// world.try_run(poison)?;
    /// # Ok::<(), phalanx::schedule::RunError>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If the function panics, or a parameter names a component type with a name that another type
    /// has in the world.
    pub fn try_run<Marker: 'static, F: RunOnce<Marker, Out>, Out>(
        &mut self,
        function: F,
    ) -> Result<Out, RunError> {
        const { F::ASSERT_VALID };
        self.ensure_free_of_clashes::<Marker, F::Params>(type_name::<F>())?;
        let mut state = F::Params::bind(self);
        let returned = match Payload::catch(|| self.call_once(&mut state, function)) {
            Ok(returned) => returned?,
            Err(panic) => {
                // Destructors of recorded values may panic as well, and only one panic can go on.
                drop(Payload::catch(|| drop(state)));
                panic.resume()
            }
        };
        let (mut first_error, mut panic) = (None, FirstPanic::default());
        for buffer in F::Params::buffers(&mut state) {
            if let Some(Err(error)) = panic.call(|| self.apply(buffer)) {
                first_error.get_or_insert(error);
            }
        }
        // Events that a program sends without a schedule are dropped here or never.
        panic.call(|| self.store.logs_mut().events.drop_read());
        panic.resume();
        first_error.map_or(Ok(returned), |error: ApplyError| Err(error.into()))
    }

    /// Checks once per list of parameters that no two of them clash.
    fn ensure_free_of_clashes<Marker: 'static, P: SystemParam>(
        &mut self,
        function: &str,
    ) -> Result<(), RunError> {
        let parameters = TypeId::of::<Marker>();
        if !self.store.is_free_of_clashes(parameters) {
            let access = P::access(self.registry_mut());
            ensure_apart(&access, &FunctionName::new(function).name)?;
            self.store.note_free_of_clashes(parameters);
        }
        Ok(())
    }

    /// Calls the function with ids for its commands.
    fn call_once<Marker, F: RunOnce<Marker, Out>, Out>(
        &mut self,
        state: &mut <F::Params as SystemParam>::State,
        function: F,
    ) -> Result<Out, RunError> {
        let buffers = F::Params::buffers(state);
        let buffers: Vec<_> = buffers.into_iter().map(|buffer| (None, buffer)).collect();
        if buffers.is_empty() {
            return self.call_split(state, function);
        }
        self.open_id_shares(buffers);
        let called = Payload::catch(|| self.call_split(state, function));
        self.close_id_shares(F::Params::buffers(state));
        called.unwrap_or_else(|panic| panic.resume())
    }

    /// Calls the function with its parameters, and sends its events.
    fn call_split<Marker, F: RunOnce<Marker, Out>, Out>(
        &mut self,
        state: &mut <F::Params as SystemParam>::State,
        function: F,
    ) -> Result<Out, RunError> {
        let (split, resources) = self.split(1);
        let now = split.version(0);
        let run = SystemRun { split: &split, resources, now };
        let called = F::Params::borrow(state, &run).map(|mut borrowed| {
            Payload::catch(|| function.call(F::Params::item(&mut borrowed, Version::NEVER)))
        });
        F::Params::send_events(state, &run, matches!(called, Ok(Ok(_))));
        self.join_systems();
        match called {
            Ok(called) => called.map_or_else(|panic| panic.resume(), Ok),
            Err(missing) => {
                // No parameter received the version that the split has taken. Entities that were
                // gone may have ended since, with a later one.
                if self.version() == now {
                    self.store.set_clock_back(now.before());
                }
                Err(missing.into())
            }
        }
    }
}

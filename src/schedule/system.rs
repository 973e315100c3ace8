//! Systems: functions with parameters that declare their access.

use crate::command::CommandBuffer;
use crate::component::Registry;
use crate::tuples::for_tuples;
use crate::version::Version;
use crate::world::{MissingResource, World};

use super::param::{SystemParam, SystemRun};
use super::param_access::{ParamAccess, ensure_apart};
use super::schedule_error::AliasingParameters;
use super::system_output::{SystemError, SystemOutput};

/// A system: any function or closure of up to twelve [`SystemParam`]s.
///
/// The parameters declare everything that a system may access; a [`Schedule`](crate::Schedule)
/// needs no other information. Work on the whole world, such as inserting a resource, is recorded
/// with `commands.run(|world| …)`, as in the example of [`Commands`](crate::Commands). A system
/// of a schedule returns `()` or a `Result`; a system that returns a `bool` is a condition for
/// [`run_if`](crate::schedule::SystemEntry::run_if) ([`SystemOutput`]). The trait is implemented
/// for functions and closures only; `Marker` distinguishes functions with different parameters, and
/// is always inferred.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Position(f32);
/// # #[component] struct Velocity(f32);
/// # #[component] struct Frozen;
/// struct Step(f32);
///
/// fn integrate(bodies: Query<(&mut Position, &Velocity), Without<Frozen>>, step: Res<Step>) {
///     for (position, velocity) in bodies {
///         for (p, v) in position.iter_mut().zip(velocity) {
///             p.0 += v.0 * step.0;
///         }
///     }
/// }
///
/// let mut world = World::new();
/// world.insert_resource(Step(0.5));
/// world.spawn_batch((0..1000).map(|i| (Position(0.0), Velocity(i as f32))));
/// let mut schedule = Schedule::new();
/// schedule.add(integrate);
/// schedule.run(&mut world)?;
/// assert_eq!(world.query::<&Position>().iter().flatten().last().unwrap().0, 499.5);
/// # Ok::<(), phalanx::schedule::ScheduleError>(())
/// ```
///
/// A query that names a component twice, once to write it, can never be valid: the line that adds
/// the system does not compile.
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// # #[component] struct Position(f32);
/// Schedule::new().add(|both: Query<(&mut Position, &Position)>| ());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a system",
    note = "a system is a function or closure whose parameters are `Query<…>`, `Res<R>`, `ResMut<R>`, `Option` of these two, `Lookup<C>`, `LookupMut<C>`, `Sparse<S>`, `SparseMut<S>`, `Relation<R>`, `Pairs<R>`, `EventWriter<R>`, `EventReader<R>`, `Inserted<C>`, `Removed<C>`, `Despawned`, `Commands`, `Local<T>`, or tuples of these, at most twelve; a closure names their types",
    note = "`C` is a component, `R: Send + Sync`, `T: Default + Send`; a system of a schedule returns nothing or a `Result<(), E>`, a condition `bool` or a `Result<bool, E>`",
    note = "instead of the world, record what needs it: `commands.run(|world| …)`"
)]
pub trait System<Marker, Out = ()>: Send + 'static + sealed::Sealed<Marker, Out> {
    /// A compile error for a parameter that can never be valid. It is evaluated by the public
    /// function that takes the system, so that the error names the caller's line.
    #[doc(hidden)]
    const ASSERT_VALID: () = <Self::Params as SystemParam>::ASSERT_VALID;
    /// The tuple of the parameters.
    #[doc(hidden)]
    type Params: SystemParam;
    #[doc(hidden)]
    fn call(&mut self, params: <Self::Params as SystemParam>::Item<'_>) -> Out;
}

mod sealed {
    pub trait Sealed<Marker, Out> {}
}

macro_rules! functions {
    ($(($($P:ident $p:ident $i:tt),*))*) => {$(
        impl<S, Out, $($P: SystemParam),*> sealed::Sealed<fn($($P),*) -> Out, Out> for S
        where
            for<'s, 'a> &'s mut S: FnMut($($P),*) -> Out + FnMut($($P::Item<'a>),*) -> Out,
        {
        }

        #[expect(clippy::allow_attributes, reason = "a function without parameters uses none of them")]
        #[allow(unused_variables, clippy::unused_unit, clippy::too_many_arguments, reason = "from none to twelve")]
        impl<S, Out, $($P: SystemParam),*> System<fn($($P),*) -> Out, Out> for S
        where
            S: Send + 'static,
            // The first bound infers the parameters, the second accepts them with any lifetime,
            // which may be one for all of them. For a bare `S`, the compiler would not find both in
            // a returned `impl FnMut`.
            for<'s, 'a> &'s mut S: FnMut($($P),*) -> Out + FnMut($($P::Item<'a>),*) -> Out,
        {
            type Params = ($($P,)*);

            fn call(&mut self, params: <Self::Params as SystemParam>::Item<'_>) -> Out {
                let ($($p,)*) = params;
                // Selects the second of the two bounds on `S`.
                fn call<Out, $($P),*>(mut function: impl FnMut($($P),*) -> Out, $($p: $P),*) -> Out {
                    function($($p),*)
                }
                call(self, $($p),*)
            }
        }
    )*};
}

for_tuples!(functions, 0..=12);

/// The reason why a system, or a condition, has no result.
#[derive(Debug)]
pub(super) enum NoResult {
    /// It did not begin: the world lacks a resource.
    Missing(MissingResource),
    /// It returned an error.
    Failed(SystemError),
}

/// A system of any type, as a schedule holds it: `T` is `()`, or `bool` for a condition.
pub(super) trait DynSystem<T>: Send {
    /// Makes the parameters' state for this world, unless it exists.
    fn bind(&mut self, world: &mut World);
    /// Whether the state exists, once `bind` was called: not if a name is unknown.
    fn is_bound(&self) -> bool {
        true
    }
    /// Drops the parameters' state.
    fn unbind(&mut self);
    /// The access of each parameter, in component ids of this registry.
    fn access(&self, registry: &mut Registry) -> Vec<ParamAccess>;
    /// Runs the system. It replaces `run.since` by the version of its last run.
    fn run(&mut self, run: SystemRun<'_>) -> Result<T, NoResult>;
    fn buffers(&mut self) -> Vec<&mut CommandBuffer>;
    /// Moves the events of an ended run to their queue, or drops them.
    fn send_events(&mut self, run: &SystemRun<'_>, is_sent: bool);
    /// The bytes that buffers hold.
    fn held_bytes(&self) -> usize;
    /// Frees the bytes that buffers do not use.
    fn compact(&mut self);
}

/// A function with the state of its parameters.
struct Function<S, Marker, Out>
where
    S: System<Marker, Out>,
{
    function: S,
    state: Option<<S::Params as SystemParam>::State>,
    /// The version at which it last began.
    last: Version,
}

impl<S, Marker, Out, T> DynSystem<T> for Function<S, Marker, Out>
where
    S: System<Marker, Out>,
    Out: SystemOutput<T>,
{
    fn bind(&mut self, world: &mut World) {
        if self.state.is_none() {
            self.state = Some(S::Params::bind(world));
        }
    }

    fn unbind(&mut self) {
        // Before the destructors of a state, which may panic.
        self.last = Version::NEVER;
        self.state = None;
    }

    fn access(&self, registry: &mut Registry) -> Vec<ParamAccess> {
        S::Params::access(registry).into_iter().map(|named| named.access).collect()
    }

    fn run(&mut self, run: SystemRun<'_>) -> Result<T, NoResult> {
        let state = self.state.as_mut().expect("the system was not bound");
        let since = run.split.seen(self.last);
        let mut borrowed = S::Params::borrow(state, &run).map_err(NoResult::Missing)?;
        self.last = run.now;
        let returned = self.function.call(S::Params::item(&mut borrowed, since));
        returned.into_result().map_err(NoResult::Failed)
    }

    fn buffers(&mut self) -> Vec<&mut CommandBuffer> {
        self.state.as_mut().map(S::Params::buffers).unwrap_or_default()
    }

    fn send_events(&mut self, run: &SystemRun<'_>, is_sent: bool) {
        if let Some(state) = &mut self.state {
            S::Params::send_events(state, run, is_sent);
        }
    }

    fn held_bytes(&self) -> usize {
        self.state.as_ref().map_or(0, S::Params::held_bytes)
    }

    fn compact(&mut self) {
        if let Some(state) = &mut self.state {
            S::Params::compact(state);
        }
    }
}

/// Boxes a system, after a check that no two of its parameters clash.
///
/// # Errors
///
/// The errors of [`ensure_apart`].
pub(super) fn boxed<S, Marker, Out, T>(
    function: S,
    system: &str,
    registry: &mut Registry,
) -> Result<Box<dyn DynSystem<T>>, AliasingParameters>
where
    S: System<Marker, Out>,
    Marker: 'static,
    Out: SystemOutput<T> + 'static,
{
    ensure_apart(&S::Params::access(registry), system)?;
    Ok(Box::new(Function { function, state: None, last: Version::NEVER }))
}

/// [`boxed`] for a condition.
///
/// # Errors
///
/// The errors of [`boxed`], which name the condition.
pub(super) fn condition<S, Marker, Out>(
    function: S,
    system: &str,
    registry: &mut Registry,
) -> Result<Box<dyn DynSystem<bool>>, AliasingParameters>
where
    S: System<Marker, Out>,
    Marker: 'static,
    Out: SystemOutput<bool> + 'static,
{
    boxed(function, system, registry)
        .map_err(|error| AliasingParameters { of_condition: true, ..error })
}

//! Systems: functions whose parameters say what they ask for.

use crate::command::CommandBuffer;
use crate::component::Registry;
use crate::version::Version;
use crate::world::{MissingResource, World};

use super::access::ParamAccess;
use super::error::{AliasingParameters, Parameter};
use super::name::short;
use super::param::{SystemParam, SystemRun};

/// A system: any function or closure of up to twelve [`SystemParam`]s.
///
/// What it may touch is what its parameters say, and that is all that a
/// [`Schedule`](crate::Schedule) has to know. What needs the whole world, such as to insert a
/// resource, is recorded: `commands.run(|world| …)`, as in the example of
/// [`Commands`](crate::Commands). With `Out = bool` it is a condition, for
/// [`run_if`](crate::SystemEntry::run_if). The trait is implemented for functions only; `Marker` is
/// what tells functions of different parameters apart, and is always inferred.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Position(f32);
/// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Velocity(f32);
/// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Frozen;
/// # component!(Position, Velocity, Frozen);
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
/// # Ok::<(), phalanx::ScheduleError>(())
/// ```
///
/// A query that names a component twice, once to write it, can never be met: the line that adds the
/// system does not compile.
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Position(f32);
/// # component!(Position);
/// Schedule::new().add(|both: Query<(&mut Position, &Position)>| ());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a system that returns `{Out}`",
    note = "a system is a function or closure whose parameters are `Query<…>`, `Res<R>`, `ResMut<R>`, `Option` of these two, `Lookup<C>`, `LookupMut<C>`, `Commands` or `Local<T>`, at most twelve; a closure names their types",
    note = "`C` is a component, `R: Send + Sync`, `T: Default + Send`; a system of a schedule returns nothing, a condition `bool`",
    note = "instead of the world, record what needs it: `commands.run(|world| …)`"
)]
pub trait System<Marker, Out = ()>: Send + 'static + sealed::Sealed<Marker, Out> {
    /// A compile error for a parameter that can never be met. It is asked for where a system is
    /// handed over, so that the error names the caller's line.
    #[doc(hidden)]
    const ASSERT_VALID: ();
    /// What its parameters keep from run to run.
    #[doc(hidden)]
    type State: Send + 'static;
    /// What its parameters ask for, and their types.
    #[doc(hidden)]
    fn wants(registry: &mut Registry) -> Vec<(ParamAccess, &'static str)>;
    #[doc(hidden)]
    fn bind(world: &mut World) -> Self::State;
    #[doc(hidden)]
    fn run(&mut self, state: &mut Self::State, run: &SystemRun<'_>)
    -> Result<Out, MissingResource>;
    #[doc(hidden)]
    fn buffers(state: &mut Self::State) -> Vec<&mut CommandBuffer>;
}

mod sealed {
    pub trait Sealed<Marker, Out> {}
}

macro_rules! functions {
    ($(($($P:ident $p:ident $i:tt),*))*) => {$(
        impl<S, Out, $($P: SystemParam),*> sealed::Sealed<fn($($P),*) -> Out, Out> for S
        where
            for<'s> &'s mut S: FnMut($($P),*) -> Out + FnMut($($P::Item<'_>),*) -> Out,
        {
        }

        #[expect(clippy::allow_attributes, reason = "a function without parameters uses none of them")]
        #[allow(unused_variables, clippy::unused_unit, clippy::too_many_arguments, reason = "from none to twelve")]
        impl<S, Out, $($P: SystemParam),*> System<fn($($P),*) -> Out, Out> for S
        where
            S: Send + 'static,
            // The first says which parameters, the second that they may come with any lifetime. Of a
            // bare `S`, the compiler would not see both in what a function returns as `impl FnMut`.
            for<'s> &'s mut S: FnMut($($P),*) -> Out + FnMut($($P::Item<'_>),*) -> Out,
        {
            const ASSERT_VALID: () = {
                $(let () = $P::ASSERT_VALID;)*
            };
            type State = ($($P::State,)*);

            fn wants(registry: &mut Registry) -> Vec<(ParamAccess, &'static str)> {
                vec![$(($P::want(registry), core::any::type_name::<$P>())),*]
            }

            fn bind(world: &mut World) -> Self::State {
                ($($P::bind(world),)*)
            }

            fn run(&mut self, state: &mut Self::State, run: &SystemRun<'_>) -> Result<Out, MissingResource> {
                // Of the two bounds on `S` this takes the one that is meant.
                fn call<Out, $($P),*>(mut body: impl FnMut($($P),*) -> Out, $($p: $P),*) -> Out {
                    body($($p),*)
                }
                $(let mut $p = $P::lend(&mut state.$i, run)?;)*
                Ok(call(self, $($P::item(&mut $p, run.since)),*))
            }

            fn buffers(state: &mut Self::State) -> Vec<&mut CommandBuffer> {
                let buffers: Vec<Option<&mut CommandBuffer>> = vec![$($P::buffer(&mut state.$i)),*];
                buffers.into_iter().flatten().collect()
            }
        }
    )*};
}

functions! {
    ()
    (A a 0)
    (A a 0, B b 1)
    (A a 0, B b 1, C c 2)
    (A a 0, B b 1, C c 2, D d 3)
    (A a 0, B b 1, C c 2, D d 3, E e 4)
    (A a 0, B b 1, C c 2, D d 3, E e 4, F f 5)
    (A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6)
    (A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7)
    (A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7, I i 8)
    (A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7, I i 8, J j 9)
    (A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7, I i 8, J j 9, K k 10)
    (A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7, I i 8, J j 9, K k 10, L l 11)
}

/// A system of any type, as a schedule keeps it.
pub(super) trait DynSystem<Out>: Send {
    /// Makes what it keeps, for this world, unless it has it.
    fn bind(&mut self, world: &mut World);
    /// Forgets what it kept.
    fn unbind(&mut self);
    /// What it asks for, in the numbers of this registry.
    fn wants(&self, registry: &mut Registry) -> Vec<ParamAccess>;
    /// Runs it. `run.since` is put right.
    fn run(&mut self, run: SystemRun<'_>) -> Result<Out, MissingResource>;
    fn buffers(&mut self) -> Vec<&mut CommandBuffer>;
}

/// A function with what it keeps from run to run.
struct Function<S, Marker, Out>
where
    S: System<Marker, Out>,
{
    function: S,
    state: Option<S::State>,
    /// When it last began.
    last: Version,
}

impl<S, Marker, Out> DynSystem<Out> for Function<S, Marker, Out>
where
    S: System<Marker, Out>,
{
    fn bind(&mut self, world: &mut World) {
        if self.state.is_none() {
            self.state = Some(S::bind(world));
        }
    }

    fn unbind(&mut self) {
        self.state = None;
        self.last = Version::NEVER;
    }

    fn wants(&self, registry: &mut Registry) -> Vec<ParamAccess> {
        S::wants(registry).into_iter().map(|(want, _)| want).collect()
    }

    fn run(&mut self, run: SystemRun<'_>) -> Result<Out, MissingResource> {
        let state = self.state.as_mut().expect("a system is bound before it runs");
        let since = self.last;
        let run = SystemRun { since, ..run };
        let before = core::mem::replace(&mut self.last, run.now);
        let ran = self.function.run(state, &run);
        if ran.is_err() {
            // It did not begin.
            self.last = before;
        }
        ran
    }

    fn buffers(&mut self) -> Vec<&mut CommandBuffer> {
        self.state.as_mut().map(S::buffers).unwrap_or_default()
    }
}

/// A function as a body, if its parameters go together.
///
/// # Errors
///
/// If two of them would give out the same value twice, once to be written.
pub(super) fn body<S, Marker, Out>(
    function: S,
    system: &str,
    registry: &mut Registry,
) -> Result<Box<dyn DynSystem<Out>>, AliasingParameters>
where
    S: System<Marker, Out>,
    Marker: 'static,
    Out: 'static,
{
    let wants = S::wants(registry);
    for (second, (want, name)) in wants.iter().enumerate() {
        for (first, (earlier, earlier_name)) in wants[..second].iter().enumerate() {
            if let Some(subject) = earlier.clash(want) {
                let parameter = |at, name| Parameter { position: at + 1, name: short(name) };
                return Err(AliasingParameters {
                    system: system.to_owned(),
                    of_condition: false,
                    first: parameter(first, earlier_name),
                    second: parameter(second, name),
                    subject,
                });
            }
        }
    }
    Ok(Box::new(Function { function, state: None, last: Version::NEVER }))
}

/// [`body`] of a condition.
///
/// # Errors
///
/// As `body`, told as an error of the condition.
pub(super) fn condition<S, Marker>(
    function: S,
    system: &str,
    registry: &mut Registry,
) -> Result<Box<dyn DynSystem<bool>>, AliasingParameters>
where
    S: System<Marker, bool>,
    Marker: 'static,
{
    body(function, system, registry)
        .map_err(|error| AliasingParameters { of_condition: true, ..error })
}

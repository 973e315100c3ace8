//! The result of a system: `()`, or an error that discards its commands and events.

use core::error::Error;
use core::fmt;
use std::sync::Arc;

/// The result of a system: `()`, or a `Result`. `T` is `()` for a system and `bool` for a
/// condition.
///
/// | system | condition |
/// | --- | --- |
/// | `()` | `bool` |
/// | `Result<(), E>` | `Result<bool, E>` |
///
/// `E` is any error, a text, or a box of an error: `?` converts all of them to `Result<(), Box<dyn
/// Error + Send + Sync>>`. A system may also have a return type of never (`!`). The trait is
/// sealed. [`Schedule::run`](crate::Schedule::run) lists the effects of an error.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Player;
/// # #[component] struct Position(f32);
/// use phalanx::error::NotSingle;
///
/// fn step(players: Query<&mut Position, With<Player>>) -> Result<(), NotSingle> {
///     players.single()?.0 += 1.0;
///     Ok(())
/// }
///
/// let mut world = World::new();
/// let mut schedule = Schedule::new();
/// schedule.add(step);
/// let error = schedule.run(&mut world).unwrap_err();
/// assert!(error.to_string().starts_with("system `step` failed: the query"));
/// world.spawn((Player, Position(1.0)));
/// schedule.run(&mut world)?;
/// # Ok::<(), ScheduleError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a system cannot return `{Self}`",
    note = "a system of a schedule returns nothing or a `Result<(), E>`, and a condition `bool` or a `Result<bool, E>`",
    note = "`E` is an error, a text, or a `Box<dyn Error + Send + Sync>` (with these two, since systems run on several threads)"
)]
pub trait SystemOutput<T>: sealed::Sealed<T> {
    #[doc(hidden)]
    fn into_result(self) -> Result<T, SystemError>;
}

mod sealed {
    pub trait Sealed<T> {}

    /// A function and its return type.
    pub trait Returns {
        type Value;
    }

    impl<T> Returns for fn() -> T {
        type Value = T;
    }
}

macro_rules! outputs {
    ($($value:ty),*) => {$(
        impl sealed::Sealed<Self> for $value {}
        impl SystemOutput<Self> for $value {
            fn into_result(self) -> Result<Self, SystemError> {
                Ok(self)
            }
        }

        impl<E: Into<Box<dyn Error + Send + Sync>>> sealed::Sealed<$value> for Result<$value, E> {}
        impl<E: Into<Box<dyn Error + Send + Sync>>> SystemOutput<$value> for Result<$value, E> {
            fn into_result(self) -> Result<$value, SystemError> {
                self.map_err(|error| SystemError(error.into().into()))
            }
        }
    )*};
}

outputs!((), bool);

/// The never type, which has no name on stable Rust.
type Never = <fn() -> ! as sealed::Returns>::Value;

impl<T> sealed::Sealed<T> for Never {}
impl<T> SystemOutput<T> for Never {
    fn into_result(self) -> Result<T, SystemError> {
        self
    }
}

/// The error that a system or a condition returned, of any type.
///
/// Two are equal if their texts are.
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::error::NotSingle;
///
/// # #[component] struct Player;
/// let mut schedule = Schedule::new();
/// schedule.add(|players: Query<Entity, With<Player>>| players.single().map(drop)).named("step");
/// let Err(ScheduleError::Failed { error, .. }) = schedule.run(&mut World::new()) else { panic!() };
/// assert_eq!(error.downcast_ref::<NotSingle>().unwrap().rows, 0);
/// ```
#[derive(Clone)]
pub struct SystemError(Arc<dyn Error + Send + Sync>);

impl SystemError {
    pub(super) fn new(error: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }

    /// The error, if it is an `E`.
    #[must_use]
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl PartialEq for SystemError {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for SystemError {}

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Error for SystemError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

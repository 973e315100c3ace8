//! The targets by which a system is ordered: names and functions.

use core::any::{TypeId, type_name};
use core::fmt;

use super::name::FunctionName;
use super::system::System;

/// The systems or sets that another is ordered by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// The systems or sets with this name.
    Name(String),
    /// The systems that are this function.
    Function {
        /// The type of the function.
        id: TypeId,
        /// Its path.
        path: String,
    },
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name(name) => name,
            Self::Function { path, .. } => path,
        })
    }
}

/// The argument of [`before`](crate::schedule::SystemEntry::before) and
/// [`after`](crate::schedule::SystemEntry::after): a name, or the function of a system.
///
/// A name means the systems or the set with that name. To order by several targets, call the method
/// for each. A function means every system that was added as that function, under any
/// [name](crate::schedule::SystemEntry::named). The trait is implemented for `&str`, `&String` and
/// systems; `Marker` is always inferred.
///
/// ```
/// # use phalanx::prelude::*;
/// fn gravity() {}
/// fn integrate() {}
///
/// let mut schedule = Schedule::new();
/// schedule.add(integrate).after(gravity).before("draw");
/// schedule.add(|| ()).named("draw");
/// schedule.add(gravity).named("forces of the planet");
/// schedule.check()?;
/// # Ok::<(), phalanx::schedule::ScheduleError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a system cannot be ordered by `{Self}`",
    note = "name a system or a set, or give the function of a system: `after(\"gravity\")`, `after(gravity)`"
)]
pub trait IntoTarget<Marker>: sealed::Sealed<Marker> {
    #[doc(hidden)]
    fn into_target(self) -> Target;
}

mod sealed {
    pub trait Sealed<Marker> {}
}

impl sealed::Sealed<()> for &str {}
impl IntoTarget<()> for &str {
    fn into_target(self) -> Target {
        Target::Name(self.to_owned())
    }
}

impl sealed::Sealed<()> for &String {}
impl IntoTarget<()> for &String {
    fn into_target(self) -> Target {
        Target::Name(self.clone())
    }
}

impl<M, Out, S: System<M, Out>> sealed::Sealed<(M, Out)> for S {}
impl<M, Out, S: System<M, Out>> IntoTarget<(M, Out)> for S {
    fn into_target(self) -> Target {
        let path = FunctionName::new(type_name::<S>()).instance;
        Target::Function { id: TypeId::of::<S>(), path }
    }
}

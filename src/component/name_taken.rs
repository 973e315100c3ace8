//! The error for two component types of one name.

use core::error::Error;
use core::fmt;

/// Two component types have one name, and a world can have only one of them.
///
/// The first of the two types that is used in a world (in a spawn, an insertion, an exclusive
/// query, a system) owns the name in that world. Every later use of the other type is refused, even
/// by a query that only reads: methods of [`World`](crate::World) panic with this text, even if
/// they return errors, and a recorded command fails with
/// [`CommandErrorKind::NameTaken`](crate::command::CommandErrorKind::NameTaken).
///
/// ```
/// # use phalanx::prelude::*;
/// # use phalanx::command::{ApplyError, CommandErrorKind};
/// mod old {
///     # use phalanx::prelude::*;
///     #[component(name = "health")]
///     pub struct Health(pub f32);
/// }
/// mod new {
///     # use phalanx::prelude::*;
///     #[component(name = "health")]
///     pub struct Health(pub u32); // should have another name
/// }
/// let mut world = World::new();
/// let entity = world.spawn(old::Health(1.0));
/// let mut buffer = world.command_buffer(0)?;
/// buffer.insert(entity, new::Health(1));
/// let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else { panic!("refused") };
/// let CommandErrorKind::NameTaken(taken) = errors.as_slice()[0].fault else { panic!("its name") };
/// assert!(taken.owner.ends_with("old::Health") && taken.refused.ends_with("new::Health"));
/// # Ok::<(), phalanx::error::ReserveError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NameTaken {
    /// The name that both types have.
    pub name: &'static str,
    /// The path of the type that owns the name in this world.
    pub owner: &'static str,
    /// The path of the type that was refused.
    pub refused: &'static str,
}

impl fmt::Display for NameTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, owner, refused } = self;
        write!(
            f,
            "two component types are named `{name}`: this world has `{owner}`, so `{refused}` \
             cannot be used in it; give one of them another name: `#[component(name = \"name\")]` \
             where it is defined, `impl_component!(Type as \"name\")` where it is not"
        )
    }
}

impl Error for NameTaken {}

impl NameTaken {
    /// Panics with this error, where no error can be returned.
    #[cold]
    pub(crate) fn refuse(self) -> ! {
        panic!("{self}")
    }
}

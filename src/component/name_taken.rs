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
/// # New types
///
/// A world refuses a type that it does not know if another type has its name, or if it already has
/// its maximum of 65,535 component types and shared values. Calls with types panic in both cases.
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
        let [owner_is_layout, refused_is_layout] = [owner, refused].map(|path| is_layout(path));
        let kind =
            if owner_is_layout || refused_is_layout { "components" } else { "component types" };
        write!(
            f,
            "two {kind} are named `{name}`: this world has `{owner}`, so `{refused}` cannot be used \
             in it; "
        )?;
        if owner_is_layout && !refused_is_layout {
            f.write_str(
                "call `World::register` for the types of the program before layouts come from \
                 elsewhere, so that the layout is refused, or ",
            )?;
        }
        f.write_str("give one of them another name")?;
        f.write_str(match (owner_is_layout, refused_is_layout) {
            (true, true) => return f.write_str(" by its registration"),
            (false, false) => ": ",
            _ => ": of a layout by its registration, of a type by ",
        })?;
        f.write_str(
            "`#[component(name = \"name\")]` where it is defined, `impl_component!(Type as \"name\")` \
             where it is not",
        )
    }
}

impl Error for NameTaken {}

/// Whether a path is the text of a layout that exists at run time only: no path of a type has a
/// blank or a parenthesis after its first word.
fn is_layout(path: &str) -> bool {
    path.strip_prefix("layout").is_some_and(|rest| rest.starts_with([' ', '(']))
}

impl NameTaken {
    /// Panics with this error, where no error can be returned.
    #[cold]
    pub(crate) fn refuse(self) -> ! {
        panic!("{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_is_for_types_or_layouts() {
        let (a_type, layout) = ("game::Fuel", "layout(hidden) { litres: f32 }");
        let text = |owner, refused| NameTaken { name: "fuel", owner, refused }.to_string();
        let types = text(a_type, "layout::Fuel");
        assert!(types.starts_with("two component types are named `fuel`"), "{types}");
        assert!(!types.contains("a layout") && types.contains("`impl_component!(Type"), "{types}");
        let late = text(layout, a_type);
        assert!(late.contains("call `World::register` for the types of the program"), "{late}");
        assert!(late.contains("of a layout by its registration, of a type by `#["), "{late}");
        let layouts = text(layout, "layout { litres: f64 }");
        assert!(
            layouts.ends_with("give one of them another name by its registration"),
            "{layouts}"
        );
    }
}

//! The error for a layout that cannot be registered.

use core::error::Error;
use core::fmt;

use crate::message::{ByteCount, Outside};
use crate::nearest::nearest;

use super::layout_properties::LayoutProperties;
use super::meant_type::{advice, meant_by};

/// The reason why a layout cannot be registered at run time. The world is unchanged.
///
/// ```
/// # use phalanx::prelude::*;
/// let mut world = World::new();
/// let error = world.reflect_mut().register_layout("mod.fuel", [("litres", "float")]);
/// assert!(error.unwrap_err().to_string().contains("did you mean `f32`?"));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name of the component or of a field is empty, or has more than 255 bytes.
    Name {
        /// The name of the component.
        component: String,
        /// The number of the field, counted from 0; none if it is the name of the component.
        field: Option<usize>,
        /// The bytes of the name.
        len: usize,
    },
    /// The name of the component or of a field has a character that is not shown, such as a line
    /// feed or a mark of the direction of text.
    Control {
        /// The name of the component.
        component: String,
        /// The number of the field, counted from 0; none if it is the name of the component.
        field: Option<usize>,
        /// The character.
        character: char,
    },
    /// Another component has the name: a type of the program, or a layout with other fields or
    /// properties.
    Taken {
        /// The name.
        name: String,
        /// The path of the type, or the properties and fields of the layout.
        owner: &'static str,
    },
    /// The layout has a property that is none, or that only types have.
    Property {
        /// The name of the component.
        component: String,
        /// The word.
        property: String,
    },
    /// The layout has more than 256 fields.
    Fields {
        /// The name of the component.
        component: String,
    },
    /// Two fields have one name.
    Repeated {
        /// The name of the component.
        component: String,
        /// The name of the fields.
        field: String,
    },
    /// The type of a field is none that a layout may have.
    FieldType {
        /// The name of the component.
        component: String,
        /// The name of the field.
        field: String,
        /// The type.
        type_name: String,
    },
    /// Bytes that belong to no field follow one.
    Padding {
        /// The name of the component.
        component: String,
        /// The field.
        field: String,
        /// The number of these bytes.
        bytes: usize,
        /// The next field, if they are not at the end.
        next: Option<String>,
        /// The bytes that would be left at the end if the fields were ordered from the largest
        /// alignment to the smallest; none if that leaves no fewer than now.
        ordered: Option<usize>,
    },
    /// A value has more than 4 GiB.
    TooLarge {
        /// The name of the component.
        component: String,
        /// The field that is too large after those before it.
        field: String,
    },
    /// The world has its maximum of 65,535 component types and shared values.
    TooMany {
        /// The name of the component.
        component: String,
    },
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { field: None, len, .. } => {
                write!(f, "the name of a component has 1 to 255 bytes, and {len} here")
            }
            Self::Name { component, field: Some(number), len } => write!(
                f,
                "the name of a field has 1 to 255 bytes, and field {number} of the layout \
                 `{component}`, counted from 0, has one of {len}"
            ),
            Self::Control { component, field, character } => {
                write!(f, "the layout `{}` has ", Outside(component))?;
                match field {
                    None => f.write_str("a name")?,
                    Some(number) => write!(f, "a field {number}, counted from 0, with a name")?,
                }
                write!(
                    f,
                    " that has `{}`, which is not shown: leave it out",
                    character.escape_default()
                )
            }
            Self::Taken { name, owner } => write!(
                f,
                "a component is named `{name}` already, `{owner}`: give the layout another name"
            ),
            Self::Property { component, property } => {
                write!(f, "the layout `{component}` cannot be `{}`", Outside(property))?;
                if LayoutProperties::is_for_types(property) {
                    f.write_str(", which is for types of the program only")?;
                } else if let Some(meant) = nearest(property, &LayoutProperties::WORDS) {
                    write!(f, " (did you mean `{meant}`?)")?;
                }
                f.write_str(": its properties are `hidden`, `cleanup` and `enableable`")
            }
            Self::Fields { component } => write!(
                f,
                "the layout `{component}` has more than 256 fields: make arrays of some, or two \
                 components"
            ),
            Self::Repeated { component, field } => {
                write!(f, "two fields of the layout `{component}` are named `{field}`")
            }
            Self::FieldType { component, field, type_name } => {
                fmt_field_type(f, (component, field), type_name)
            }
            Self::Padding { component, field, bytes, next, ordered } => {
                let bytes = (*bytes, *ordered);
                fmt_padding(f, component, (field, next.as_deref()), bytes)
            }
            Self::TooLarge { component, field } => write!(
                f,
                "a value of the layout `{component}` has more than 4 GiB with its field `{field}`"
            ),
            Self::TooMany { component } => write!(
                f,
                "the layout `{component}` would be one too many: the world has the maximum of \
                 65,535 component types and shared values"
            ),
        }
    }
}

fn fmt_field_type(
    f: &mut fmt::Formatter<'_>,
    (component, field): (&str, &str),
    type_name: &str,
) -> fmt::Result {
    write!(
        f,
        "the field `{field}` of the layout `{component}` cannot be a `{}`",
        Outside(type_name)
    )?;
    if let Some(meant) = meant_by(type_name) {
        write!(f, " (did you mean `{meant}`?)")?;
    }
    if let Some(advice) = advice(type_name) {
        write!(f, ", {advice}")?;
    }
    f.write_str(
        ": fields are `bool`, `char`, `Entity`, numbers of a fixed size as `f32` and `u8`, and \
         arrays of these as `[f32; 3]`",
    )
}

fn fmt_padding(
    f: &mut fmt::Formatter<'_>,
    component: &str,
    (field, next): (&str, Option<&str>),
    (bytes, ordered): (usize, Option<usize>),
) -> fmt::Result {
    write!(f, "the layout `{component}` has {} of padding ", ByteCount(bytes))?;
    match next {
        Some(next) => write!(f, "between its fields `{field}` and `{next}`")?,
        None => write!(f, "at the end, after its field `{field}`")?,
    }
    write!(f, ", and a component may have none: add a field of type `[u8; {bytes}]` there")?;
    let Some(rest) = ordered else { return Ok(()) };
    f.write_str(", or order the fields from the largest alignment to the smallest")?;
    match rest {
        0 => Ok(()),
        rest => write!(f, " and add `[u8; {rest}]` after them"),
    }
}

impl Error for RegisterError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_that_a_field_cannot_have_has_an_advice() {
        let text = |type_name: &str| {
            let (component, field) = ("mod.fuel".to_owned(), "name".to_owned());
            let type_name = type_name.to_owned();
            RegisterError::FieldType { component, field, type_name }.to_string()
        };
        let start = "the field `name` of the layout `mod.fuel` cannot be a ";
        for (type_name, told) in [
            ("String", "`String`, a value has no memory elsewhere; for a short text take bytes"),
            ("Option<Entity>", "`Option<Entity>` (did you mean `Entity`?), `Entity::NULL` stands"),
            ("f32[3]", "`f32[3]` (did you mean `[f32; 3]`?): fields are `bool`"),
            ("a\nb", r"`a\nb`: fields are `bool`"),
        ] {
            let text = text(type_name);
            assert!(text.starts_with(&format!("{start}{told}")), "{text}");
        }
    }
}

//! The Arrow type of the values of a component, from the component's description of itself.

use std::collections::BTreeMap;

use phalanx::reflect::{ComponentInfo, ComponentShape, FieldInfo, VariantInfo};

/// Names of types of fields and of components, and the types of this crate's table that they stand
/// for.
pub(crate) type Aliases = BTreeMap<String, String>;

/// The type of one value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Scalar(Scalar),
    /// A number of values of one kind, one after the other.
    List(Box<Kind>, usize),
    /// Values of several kinds, each at its offset.
    Struct(Vec<Child>),
    Enum(&'static [VariantInfo]),
    /// No bytes: an entity has it or not.
    Tag,
    /// A number of bytes of unknown content.
    Bytes(usize),
}

/// A field of a [`Kind::Struct`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Child {
    pub(crate) name: &'static str,
    pub(crate) offset: usize,
    pub(crate) size: usize,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scalar {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
    Entity,
}

impl Scalar {
    /// The scalar with this name.
    fn named(name: &str) -> Option<Self> {
        let is_wide = size_of::<usize>() == 8;
        Some(match name {
            "bool" => Self::Bool,
            "i8" => Self::I8,
            "i16" => Self::I16,
            "i32" => Self::I32,
            "i64" => Self::I64,
            "isize" if is_wide => Self::I64,
            "isize" => Self::I32,
            "u8" => Self::U8,
            "u16" => Self::U16,
            "u32" | "char" => Self::U32,
            "u64" => Self::U64,
            "usize" if is_wide => Self::U64,
            "usize" => Self::U32,
            "f32" => Self::F32,
            "f64" => Self::F64,
            "Entity" | "phalanx::Entity" | "phalanx::prelude::Entity" => Self::Entity,
            _ => return None,
        })
    }

    pub(crate) const fn size(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 | Self::Entity => 8,
        }
    }
}

impl Kind {
    /// The kind of the values of a component. With `named_fields`, fields of one kind become a
    /// struct as well, and not a list.
    pub(crate) fn of(info: &ComponentInfo, aliases: &Aliases, named_fields: bool) -> Self {
        let size = info.size();
        if size == 0 {
            return Self::Tag;
        }
        if let Some(kind) = aliases.get(info.name()).and_then(|text| Self::parse(text, size)) {
            return kind;
        }
        match info.shape() {
            ComponentShape::Struct(fields) => Self::of_fields(fields, size, aliases, named_fields),
            ComponentShape::Enum(variants) if size == 1 => Self::Enum(variants),
            _ => Self::Bytes(size),
        }
    }

    fn of_fields(fields: &[FieldInfo], size: usize, aliases: &Aliases, named_fields: bool) -> Self {
        let child = |field: &FieldInfo| Child {
            name: field.name,
            offset: field.offset,
            size: field.size,
            kind: Self::of_type(field.type_name, field.size, aliases),
        };
        let children: Vec<_> = fields.iter().filter(|field| field.size > 0).map(child).collect();
        match &children[..] {
            [] => Self::Bytes(size),
            [only] if only.size == size => only.kind.clone(),
            [first, rest @ ..]
                if !named_fields
                    && rest.iter().all(|child| child.kind == first.kind)
                    && first.size * children.len() == size =>
            {
                Self::List(Box::new(first.kind.clone()), children.len())
            }
            _ => Self::Struct(children),
        }
    }

    fn of_type(name: &str, size: usize, aliases: &Aliases) -> Self {
        let text = aliases.get(name).map_or(name, String::as_str);
        Self::parse(text, size).unwrap_or(Self::Bytes(size))
    }

    /// The scalar or the array with this name, if its values have this size: a type may be called
    /// `f32` and be another one.
    fn parse(text: &str, size: usize) -> Option<Self> {
        let text = text.trim();
        if let Some(scalar) = Scalar::named(text) {
            return (scalar.size() == size).then_some(Self::Scalar(scalar));
        }
        let (item, len) = split_array(text)?;
        // The length may be a constant of unknown value.
        let len = match len {
            Some(len) => len,
            None => size.checked_div(intrinsic_size(item)?)?,
        };
        let item_size = size.checked_div(len)?;
        if item_size * len != size {
            return None;
        }
        Some(Self::List(Box::new(Self::parse(item, item_size)?), len))
    }

    /// Whether arrays of these are the bytes of a column as they are. The others are copied.
    #[cfg(test)]
    pub(crate) fn is_shared(&self) -> bool {
        match self {
            Self::Scalar(scalar) => !matches!(scalar, Scalar::Bool | Scalar::Entity),
            Self::List(item, _) => item.is_shared(),
            Self::Enum(_) | Self::Bytes(_) => true,
            Self::Struct(_) | Self::Tag => false,
        }
    }
}

/// The item of `[item; len]`, and the length if it is a number.
fn split_array(text: &str) -> Option<(&str, Option<usize>)> {
    let (item, len) = text.strip_prefix('[')?.strip_suffix(']')?.rsplit_once(';')?;
    Some((item.trim(), len.trim().replace('_', "").parse().ok()))
}

/// The size of a type in bytes, if its name implies it.
fn intrinsic_size(text: &str) -> Option<usize> {
    match Scalar::named(text) {
        Some(scalar) => Some(scalar.size()),
        None => {
            let (item, len) = split_array(text)?;
            intrinsic_size(item)?.checked_mul(len?)
        }
    }
}

#[cfg(test)]
mod tests {
    use phalanx::prelude::*;

    use super::*;

    const LEN: usize = 4;

    #[component(name = "kind::health")]
    struct Health(f32);
    #[component(name = "kind::speed")]
    struct Speed { metres: f64 }
    #[component(name = "kind::vector")]
    struct Vector { x: f32, y: f32, z: f32 }
    #[component(name = "kind::samples")]
    struct Samples([[f32; 3]; LEN]);
    #[component(name = "kind::mixed")]
    struct Mixed { target: Entity, mass: f32, flags: [bool; 4] }
    #[component(name = "kind::nested")]
    struct Nested { vector: Vector, mass: f32 }
    #[component(name = "kind::mark")]
    struct Mark;
    #[component(name = "kind::state")]
    enum State { Idle, Dead = 9 }

    fn kind(name: &str, named_fields: bool) -> Kind {
        let mut world = World::new();
        world.register::<(Health, Speed, Vector, Samples, Mixed, Nested, Mark, State)>();
        let aliases = [("Vector".to_owned(), "[f32; 3]".to_owned())].into();
        Kind::of(world.reflect().component(name).expect("it is registered"), &aliases, named_fields)
    }

    fn list(kind: Kind, len: usize) -> Kind {
        Kind::List(Box::new(kind), len)
    }

    #[test]
    fn one_field_is_a_scalar_and_equal_fields_are_a_list() {
        let f32 = || Kind::Scalar(Scalar::F32);
        assert_eq!(kind("kind::health", false), f32());
        assert_eq!(kind("kind::speed", false), Kind::Scalar(Scalar::F64));
        assert_eq!(kind("kind::vector", false), list(f32(), 3));
        assert_eq!(kind("kind::samples", false), list(list(f32(), 3), LEN));
        assert!(
            matches!(kind("kind::vector", true), Kind::Struct(children) if children.len() == 3)
        );
    }

    #[test]
    fn unequal_fields_are_a_struct_with_their_offsets() {
        let Kind::Struct(children) = kind("kind::mixed", false) else { panic!("it is a struct") };
        let told: Vec<_> = children.iter().map(|c| (c.name, c.offset, c.kind.clone())).collect();
        let flags = list(Kind::Scalar(Scalar::Bool), 4);
        let scalar = Kind::Scalar;
        let [entity, f32] = [scalar(Scalar::Entity), scalar(Scalar::F32)];
        assert_eq!(told, [("target", 0, entity), ("mass", 8, f32), ("flags", 12, flags)]);
        let Kind::Struct(children) = kind("kind::nested", false) else { panic!("it is a struct") };
        assert_eq!(children[0].kind, list(scalar(Scalar::F32), 3), "by its alias");
    }

    #[test]
    fn tags_enums_and_what_is_not_known_have_kinds() {
        assert_eq!(kind("kind::mark", false), Kind::Tag);
        assert!(matches!(kind("kind::state", false), Kind::Enum(variants) if variants.len() == 2));
        assert_eq!(Kind::of_type("wide::f32x8", 32, &Aliases::new()), Kind::Bytes(32));
    }

    #[test]
    fn a_name_whose_size_is_another_is_not_believed() {
        assert_eq!(Kind::parse("f32", 8), None);
        assert_eq!(Kind::parse("[f32; 3]", 16), None);
        assert_eq!(Kind::parse("[f32; 0]", 4), None);
        assert_eq!(Kind::parse("[Vector; LEN]", 12), None);
        assert_eq!(Kind::parse("[u16; LEN]", 8), Some(list(Kind::Scalar(Scalar::U16), 4)));
        assert_eq!(Kind::parse("[u16; LEN]", 7), None);
        assert_eq!(Kind::parse("[", 7), None);
    }
}

//! Values of components, from JSON to bytes and back, by their fields.
//!
//! A value that is read can be written and read again: a number that its type cannot hold is an
//! error, never infinite or cut off.

use phalanx::reflect::{ComponentInfo, ComponentShape, FieldInfo, VariantInfo};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value, json};
use std::fmt;

/// Reads the bytes of a value: an object with all fields of a struct, or the name of a variant.
pub(crate) struct ValueOf<'w>(pub(crate) &'w ComponentInfo);

impl<'de> DeserializeSeed<'de> for ValueOf<'_> {
    type Value = Vec<u8>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Vec<u8>, D::Error> {
        let component = self.0.name();
        match self.0.shape() {
            ComponentShape::Struct(fields) => {
                from.deserialize_map(Fields { component, fields, size: self.0.size() })
            }
            ComponentShape::Enum(variants) => from.deserialize_str(Name { component, variants }),
            _ => Err(D::Error::custom(format!("nothing is known of the fields of `{component}`"))),
        }
    }
}

/// Reads the fields of a struct.
struct Fields {
    component: &'static str,
    fields: &'static [FieldInfo],
    size: usize,
}

impl<'de> Visitor<'de> for Fields {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with the fields of `{}`", self.component)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<u8>, A::Error> {
        let Self { component, fields, size } = self;
        let (mut bytes, mut is_read) = (vec![0; size], vec![false; fields.len()]);
        while let Some(name) = map.next_key::<String>()? {
            let Some(at) = fields.iter().position(|field| field.name == name) else {
                let known = list(fields.iter().map(|field| field.name));
                let text = format!("`{component}` has no field `{name}`: there are {known}");
                return Err(A::Error::custom(text));
            };
            if std::mem::replace(&mut is_read[at], true) {
                return Err(A::Error::custom(format!("`{component}` has its `{name}` twice")));
            }
            let field = &fields[at];
            let value = map.next_value_seed(FieldOf { component, field })?;
            bytes[field.offset..field.offset + field.size].copy_from_slice(&value);
        }
        match is_read.iter().position(|is_read| !is_read) {
            None => Ok(bytes),
            Some(missing) => Err(A::Error::custom(need(component, &fields[missing]))),
        }
    }
}

/// Reads the value of a field.
struct FieldOf {
    component: &'static str,
    field: &'static FieldInfo,
}

impl<'de> DeserializeSeed<'de> for FieldOf {
    type Value = Vec<u8>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Vec<u8>, D::Error> {
        // The text of an error ends with its place, which stays at the end of the longer text.
        let text = |error| format!("{}: {error}", need(self.component, self.field));
        put(self.field.type_name, from).map_err(|error| D::Error::custom(text(error)))
    }
}

/// Reads the name of a variant.
struct Name {
    component: &'static str,
    variants: &'static [VariantInfo],
}

impl Visitor<'_> for Name {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = list(self.variants.iter().map(|variant| variant.name));
        write!(f, "`{}` is one of {known}", self.component)
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Vec<u8>, E> {
        let variant = self.variants.iter().find(|variant| name == variant.name);
        let unknown = || E::invalid_value(serde::de::Unexpected::Str(name), &self);
        Ok(vec![variant.ok_or_else(unknown)?.value])
    }
}

fn need(component: &str, field: &FieldInfo) -> String {
    format!("`{component}` needs a {} `{}`", field.type_name, field.name)
}

fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// The value of these bytes, or the reason why JSON has none.
pub(crate) fn from_bytes(info: &ComponentInfo, bytes: &[u8]) -> Result<Value, String> {
    let name = info.name();
    match info.shape() {
        ComponentShape::Struct(fields) => {
            let value = |field: &FieldInfo| {
                let value = get(field.type_name, &bytes[field.offset..field.offset + field.size]);
                let part = field.name;
                let value = value.map_err(|what| format!("`{name}` has {what} as its `{part}`"))?;
                Ok((part.to_owned(), value))
            };
            let fields = fields.iter().map(value).collect::<Result<Map<_, _>, String>>()?;
            Ok(Value::Object(fields))
        }
        ComponentShape::Enum(variants) => {
            let variant = variants.iter().find(|variant| bytes == [variant.value]);
            let variant = variant.ok_or_else(|| format!("`{name}` has no variant {bytes:?}"))?;
            Ok(json!(variant.name))
        }
        _ => Err(format!("nothing is known of the fields of `{name}`")),
    }
}

/// A number as JSON has it.
trait Number: Sized {
    fn json(self) -> Option<Value>;
}

macro_rules! numbers {
    ($($type:ident)*; $($float:ident)*) => {
        $(impl Number for $type {
            fn json(self) -> Option<Value> {
                Some(json!(self))
            }
        })*

        $(impl Number for $float {
            /// By the shortest digits that are this number: 0.1, and not 0.10000000149011612.
            fn json(self) -> Option<Value> {
                let shortest: f64 = self.to_string().parse().ok()?;
                self.is_finite().then(|| json!(shortest))
            }
        })*

        /// Reads the bytes of a field's value.
        fn put<'de, D: Deserializer<'de>>(type_name: &str, from: D) -> Result<Vec<u8>, D::Error> {
            match type_name {
                "bool" => Ok(vec![u8::from(bool::deserialize(from)?)]),
                $(stringify!($type) => Ok($type::deserialize(from)?.to_ne_bytes().to_vec()),)*
                $(stringify!($float) => Ok($float::deserialize(from)?.to_ne_bytes().to_vec()),)*
                _ => Err(D::Error::custom("nothing is known of the type")),
            }
        }

        /// The value of a field's bytes, or a text about a value that JSON does not have.
        fn get(type_name: &str, bytes: &[u8]) -> Result<Value, String> {
            match type_name {
                "bool" => Ok(json!(bytes == [1])),
                $(stringify!($type) => number($type::from_ne_bytes(sized(bytes))),)*
                $(stringify!($float) => number($float::from_ne_bytes(sized(bytes))),)*
                _ => Err(format!("the unknown type `{type_name}`")),
            }
        }
    };
}

numbers!(u8 u16 u32 u64 i8 i16 i32 i64; f32 f64);

fn number<N: Number + Copy + fmt::Display>(number: N) -> Result<Value, String> {
    number.json().ok_or_else(|| format!("{number}, which JSON does not have,"))
}

fn sized<const SIZE: usize>(bytes: &[u8]) -> [u8; SIZE] {
    bytes.try_into().expect("a field has the size of its type")
}

//! Values of components, from JSON to bytes and back, by their fields.

use phalanx::{ComponentInfo, ComponentShape, FieldInfo};
use serde_json::{Map, Value, json};

/// The bytes of a value: an object with all fields of a struct, or the name of a variant.
pub(crate) fn to_bytes(info: &ComponentInfo, value: &Value) -> Result<Vec<u8>, String> {
    let name = info.name();
    match info.shape() {
        ComponentShape::Struct(fields) => {
            let mut bytes = vec![0; info.size()];
            for field in fields {
                let FieldInfo { name: part, type_name, offset, size, .. } = *field;
                let given = value.get(part).and_then(|value| put(type_name, value));
                let given =
                    given.ok_or_else(|| format!("`{name}` needs a {type_name} `{part}`"))?;
                bytes[offset..offset + size].copy_from_slice(&given);
            }
            Ok(bytes)
        }
        ComponentShape::Enum(variants) => {
            let variant = variants.iter().find(|variant| value == variant.name);
            let known = || variants.iter().map(|v| v.name).collect::<Vec<_>>().join(", ");
            let variant = variant.ok_or_else(|| format!("`{name}` is one of {}", known()))?;
            Ok(vec![variant.value])
        }
        _ => Err(format!("nothing is known of the fields of `{name}`")),
    }
}

/// The value of these bytes.
pub(crate) fn from_bytes(info: &ComponentInfo, bytes: &[u8]) -> Value {
    match info.shape() {
        ComponentShape::Struct(fields) => {
            let value = |f: &FieldInfo| get(f.type_name, &bytes[f.offset..f.offset + f.size]);
            let fields = fields.iter().map(|field| (field.name.to_owned(), value(field)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        ComponentShape::Enum(variants) => {
            let variant = variants.iter().find(|variant| bytes == [variant.value]);
            variant.map_or(Value::Null, |variant| json!(variant.name))
        }
        _ => Value::Null,
    }
}

macro_rules! numbers {
    ($($type:ident)*) => {
        /// The bytes of a field's value.
        fn put(type_name: &str, value: &Value) -> Option<Vec<u8>> {
            match type_name {
                "bool" => Some(vec![u8::from(value.as_bool()?)]),
                $(stringify!($type) => {
                    let number: $type = serde_json::from_value(value.clone()).ok()?;
                    Some(number.to_ne_bytes().to_vec())
                })*
                _ => None,
            }
        }

        /// The value of a field's bytes.
        fn get(type_name: &str, bytes: &[u8]) -> Value {
            match type_name {
                "bool" => json!(bytes == [1]),
                $(stringify!($type) => {
                    let bytes = bytes.try_into().expect("a field has the size of its type");
                    json!($type::from_ne_bytes(bytes))
                })*
                _ => Value::Null,
            }
        }
    };
}

numbers!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);

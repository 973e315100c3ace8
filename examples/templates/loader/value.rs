//! Bytes of the value of a field.

use super::fault::{list, nearest};
use super::schema::{Component, Field};
use jsonc_parser::ast::Value;

/// The bytes of a variant, or a text about the value.
pub(crate) fn variant(component: &Component, value: &Value<'_>) -> Result<Vec<u8>, String> {
    let names = || component.variants.iter().map(|variant| variant.name);
    let name = value.as_string_lit().map(|text| &*text.value);
    match name.and_then(|name| component.variants.iter().find(|variant| variant.name == name)) {
        Some(variant) => Ok(vec![variant.value]),
        None => Err(format!(
            "`{}` is {}: write one of {}{}",
            component.name,
            kind(value),
            list(names()),
            name.map_or_else(String::new, |name| nearest(name, names())),
        )),
    }
}

macro_rules! numbers {
    ($($type:ident)*; $($float:ident)*) => {
        /// The bytes of a field's value, or a text about the value.
        pub(crate) fn field(field: &Field, value: &Value<'_>) -> Result<Vec<u8>, String> {
            let wrong = |wanted: &str| {
                Err(format!("`{}` is {}: write {wanted}", field.name, kind(value)))
            };
            match (field.type_name, value) {
                ("bool", Value::BooleanLit(value)) => Ok(vec![u8::from(value.value)]),
                ("bool", _) => wrong(wanted(field)),
                $((stringify!($type), Value::NumberLit(number)) => {
                    match number.value.parse::<$type>() {
                        Ok(number) => Ok(number.to_ne_bytes().to_vec()),
                        Err(_) => wrong(&format!(
                            "a whole number from {} to {}", $type::MIN, $type::MAX,
                        )),
                    }
                })*
                $((stringify!($float), Value::NumberLit(number)) => {
                    match number.value.parse::<$float>() {
                        Ok(number) if number.is_finite() => Ok(number.to_ne_bytes().to_vec()),
                        _ => wrong(&format!(
                            "a number from {:e} to {:e}", $float::MIN, $float::MAX,
                        )),
                    }
                })*
                $((stringify!($type), _) => wrong(wanted(field)),)*
                $((stringify!($float), _) => wrong(wanted(field)),)*
                (other, _) => Err(format!(
                    "`{}` is of type `{other}`, which a file cannot give: remove it", field.name,
                )),
            }
        }
    };
}

numbers!(u8 u16 u32 u64 i8 i16 i32 i64; f32 f64);

/// The values that a field may have, in a sentence.
pub(crate) fn wanted(field: &Field) -> &'static str {
    match field.type_name {
        "bool" => "`true` or `false`",
        "f32" | "f64" => "a number",
        _ => "a whole number",
    }
}

/// A value, in a sentence.
pub(crate) fn kind(value: &Value<'_>) -> String {
    match value {
        Value::StringLit(text) => format!("the text \"{}\"", text.value.escape_debug()),
        Value::NumberLit(number) => format!("the number {}", number.value),
        Value::BooleanLit(value) => format!("`{}`", value.value),
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::NullKeyword(_) => "`null`".to_owned(),
    }
}

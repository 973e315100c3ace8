//! The type of a field that was meant by the name of one that no field may have.

use crate::nearest::nearest;

use super::field_kind::FieldKind;

/// The type that was meant by a name: of another language, or misspelt. `None` if that is unknown.
pub(super) fn meant_by(name: &str) -> Option<String> {
    if name.contains(['*', '&']) {
        return None;
    }
    let array = as_array(name.trim());
    let name = array.as_deref().unwrap_or(name);
    if let Some(kind) = FieldKind::named(name).filter(|_| array.is_some()) {
        return Some(kind.to_string());
    }
    let is_bracket = |c: char| c == '[' || c.is_whitespace();
    let element = name.trim_start_matches(is_bracket).split([';', ']']).next()?.trim_end();
    let meant = meant_by_element(element).filter(|meant| *meant != element)?;
    FieldKind::named(&name.replacen(element, meant, 1)).map(|kind| kind.to_string())
}

/// What to use in place of a type that has memory elsewhere, or none of a fixed size.
pub(super) fn advice(name: &str) -> Option<&'static str> {
    let lower = name.trim().trim_start_matches('&').to_lowercase();
    let lower = lower.strip_prefix("'static ").unwrap_or(&lower);
    if lower.contains('*') {
        return Some("a value has no memory elsewhere; take the number of an entry in a list");
    }
    let head = lower.split(['<', '[', ' ']).next()?;
    let head = head.rsplit("::").next()?;
    Some(match head {
        "option" if meant_by(name).is_some() => "`Entity::NULL` stands for none",
        "option" | "optional" => "for none, take a `bool` beside it or a value that stands for it",
        "string" | "str" | "cstr" | "cstring" | "osstring" | "text" => {
            "a value has no memory elsewhere; for a short text take bytes, as `[u8; 16]`, for others \
             the number of a text in a list"
        }
        "vec" | "list" | "array" | "slice" => {
            "a value has no memory elsewhere; take an array of a fixed length, as `[f32; 8]`, and \
             beside it the number of elements in use"
        }
        "box" | "rc" | "arc" | "ref" | "hashmap" | "map" | "dict" | "hashset" | "set" => {
            "a value has no memory elsewhere; take the number of an entry in a list"
        }
        _ => return None,
    })
}

/// An array in the form of another language: `f32[3]`, `[3]f32`, `[f32, 3]`, `f32x3`.
fn as_array(name: &str) -> Option<String> {
    /// The most arrays in each other.
    const ARRAYS_MAX: usize = 8;
    let is_len = |len: &str| !len.is_empty() && len.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(inner) = name.strip_prefix('[') {
        let (first, rest) = inner.split_once([']', ','])?;
        return match rest.trim().strip_suffix(']') {
            Some(len) if !first.contains(';') => Some(format!("[{first}; {}]", len.trim())),
            None if is_len(first.trim()) => Some(format!("[{rest}; {}]", first.trim())),
            _ => None,
        };
    }
    if let Some((element, len)) = name.rsplit_once('x')
        && is_len(len)
        && FieldKind::named(element).is_some()
    {
        return Some(format!("[{element}; {len}]"));
    }
    let (element, lens) = name.split_once('[')?;
    let lens: Vec<_> =
        lens.strip_suffix(']')?.split("][").map(str::trim).take(ARRAYS_MAX + 1).collect();
    let is_array = lens.len() <= ARRAYS_MAX && lens.iter().all(|len| is_len(len));
    let nested = |inner: String, len: &&str| format!("[{inner}; {len}]");
    is_array.then(|| lens.iter().rev().fold(element.trim().to_owned(), nested))
}

/// The type that was meant by a name without brackets.
fn meant_by_element(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase();
    // The types of C end in `_t`.
    let lower = lower.strip_suffix("_t").unwrap_or(&lower);
    if let Some(known) = FieldKind::NAMES.into_iter().find(|known| known.to_lowercase() == lower) {
        return Some(known);
    }
    Some(match lower {
        "float" | "single" | "float32" | "real" => "f32",
        "double" | "float64" => "f64",
        "byte" | "uint8" | "uchar" | "unsigned char" => "u8",
        "sbyte" | "int8" | "signed char" => "i8",
        "u24" | "uint24" => "u32",
        "i24" | "int24" => "i32",
        "u40" | "u48" | "u56" | "uint48" => "u64",
        "i40" | "i48" | "i56" | "int48" => "i64",
        "ushort" | "uint16" | "unsigned short" => "u16",
        "short" | "int16" => "i16",
        "uint" | "unsigned" | "uint32" | "unsigned int" => "u32",
        "int" | "integer" | "int32" => "i32",
        "ulong" | "uint64" | "usize" | "size" | "uintptr" | "unsigned long" => "u64",
        "long" | "int64" | "isize" | "ptrdiff" | "intptr" | "long long" => "i64",
        "boolean" => "bool",
        "vec2" | "float2" | "vector2" => "[f32; 2]",
        "vec3" | "float3" | "vector3" => "[f32; 3]",
        "vec4" | "float4" | "vector4" | "quat" | "quaternion" => "[f32; 4]",
        "ivec2" | "int2" => "[i32; 2]",
        "ivec3" | "int3" => "[i32; 3]",
        "uvec2" | "uint2" => "[u32; 2]",
        "uvec3" | "uint3" => "[u32; 3]",
        "mat2" | "float2x2" => "[[f32; 2]; 2]",
        "mat3" | "float3x3" => "[[f32; 3]; 3]",
        "mat4" | "float4x4" | "matrix4" => "[[f32; 4]; 4]",
        "entityid" | "entity_id" | "option<entity>" => "Entity",
        _ => return meant_by_number(lower).or_else(|| nearest(name, &["bool", "char", "Entity"])),
    })
}

/// The only number with a name that differs by one mistake.
fn meant_by_number(name: &str) -> Option<&'static str> {
    // Types of Rust that layouts do not have.
    if matches!(name, "f16" | "f128") || !name.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut near = FieldKind::NAMES.into_iter().filter(|one| strsim::osa_distance(name, one) == 1);
    near.next().filter(|_| near.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_of_another_language_is_known() {
        for (name, wanted) in [
            ("float", "f32"),
            ("F32", "f32"),
            ("f33", "f32"),
            ("f23", "f32"),
            ("i63", "i64"),
            ("u24", "u32"),
            ("u48", "u64"),
            ("[i48; 2]", "[i64; 2]"),
            ("uint8_t", "u8"),
            ("uchar", "u8"),
            ("int64_t", "i64"),
            ("i32_t", "i32"),
            ("size_t", "u64"),
            ("unsigned int", "u32"),
            ("usize", "u64"),
            ("boool", "bool"),
            ("entity", "Entity"),
            ("Entty", "Entity"),
            ("Option<Entity>", "Entity"),
            ("Vec3", "[f32; 3]"),
            ("mat4", "[[f32; 4]; 4]"),
            ("[int; 3]", "[i32; 3]"),
            ("[[ double; 2]; 3]", "[[f64; 2]; 3]"),
            ("[vec2; 4]", "[[f32; 2]; 4]"),
            ("f32[3]", "[f32; 3]"),
            ("float[ 3 ]", "[f32; 3]"),
            ("u8[3][4]", "[[u8; 4]; 3]"),
            ("[3]f32", "[f32; 3]"),
            ("[f32, 3]", "[f32; 3]"),
            ("f32x4", "[f32; 4]"),
        ] {
            assert_eq!(meant_by(name).as_deref(), Some(wanted), "{name}");
        }
        let deep = format!("u8{}", "[1]".repeat(9));
        let deepest = "[1]".repeat(100_000);
        for name in [
            "f16",
            "f128",
            "f34",
            "u6",
            "String",
            "",
            "[",
            "[]",
            "[;",
            "[u8; x]",
            "[float; x]",
            "f32",
            "u8[x]",
            "char*",
            "&u8",
            "u8[]",
            "u8[-1]",
            "[]u8",
            "[3]",
            "x3",
            "[u8,",
            "f32[3",
            &deep,
            &deepest,
        ] {
            assert_eq!(meant_by(name), None, "{}", name.get(..40).unwrap_or(name));
        }
    }

    #[test]
    fn a_type_with_memory_elsewhere_has_an_advice() {
        for (name, part) in [
            ("String", "`[u8; 16]`"),
            ("&'static str", "the number of a text"),
            ("std::string::String", "`[u8; 16]`"),
            ("Vec<f32>", "`[f32; 8]`"),
            ("Option<Entity>", "`Entity::NULL`"),
            ("Option<f32>", "a `bool` beside it"),
            ("Box<Node>", "an entry in a list"),
            ("char *", "an entry in a list"),
        ] {
            let advice = advice(name);
            assert!(advice.is_some_and(|text| text.contains(part)), "{name}: {advice:?}");
        }
        assert_eq!(["", "f16", "Position", "<", "&"].map(advice), [None; 5]);
    }
}

//! The kinds of fields that a layout of run time may have, by the names of their types.

use core::fmt;

use crate::entity::Entity;

use super::plain::format_as;

/// Defines the values that are not arrays.
macro_rules! scalars {
    ($($Scalar:ident $type:ty),* $(,)?) => {
        /// The type of a value that is not an array.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Scalar {
            $($Scalar,)*
        }

        impl Scalar {
            fn named(name: &str) -> Option<Self> {
                match name {
                    "phalanx::Entity" | "phalanx::prelude::Entity" => Some(Self::Entity),
                    $(stringify!($type) => Some(Self::$Scalar),)*
                    _ => None,
                }
            }

            const NAMES: [&'static str; 15] = [$(stringify!($type)),*];

            const fn name(self) -> &'static str {
                match self {
                    $(Self::$Scalar => stringify!($type),)*
                }
            }

            const fn size(self) -> usize {
                match self {
                    $(Self::$Scalar => size_of::<$type>(),)*
                }
            }

            const fn align(self) -> usize {
                match self {
                    $(Self::$Scalar => align_of::<$type>(),)*
                }
            }

            /// Whether bytes are a value.
            fn accepts(self, bytes: &[u8]) -> bool {
                match self {
                    $(Self::$Scalar => {
                        bytemuck::checked::try_pod_read_unaligned::<$type>(bytes).is_ok()
                    })*
                }
            }

            fn format(self, bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$Scalar => format_as::<$type>(bytes, f),)*
                }
            }
        }
    };
}

scalars! {
    Bool bool,
    Char char,
    I8 i8,
    I16 i16,
    I32 i32,
    I64 i64,
    I128 i128,
    U8 u8,
    U16 u16,
    U32 u32,
    U64 u64,
    U128 u128,
    F32 f32,
    F64 f64,
    Entity Entity,
}

/// The type of a field: a scalar, or an array of scalars or arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FieldKind {
    scalar: Scalar,
    /// The lengths of the arrays, the outermost first.
    lens: Vec<usize>,
    size: usize,
}

impl FieldKind {
    /// The names of the types that are not arrays.
    pub(super) const NAMES: [&'static str; 15] = Scalar::NAMES;

    /// The most arrays in each other.
    const ARRAYS_MAX: usize = 8;

    /// The kind with the name of a type: `f32`, `[u8; 4]`, `[[Entity; 2]; 3]`. `None` if no field
    /// may have it, or a value has more bytes than `usize` counts.
    pub(super) fn named(name: &str) -> Option<Self> {
        let (mut element, mut lens) = (name.trim(), Vec::new());
        while let Some(inner) = element.strip_prefix('[') {
            let (inner, len) = inner.strip_suffix(']')?.rsplit_once(';')?;
            let len = len.trim();
            // A number may also begin with `+` for `parse`.
            if lens.len() == Self::ARRAYS_MAX || !len.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            lens.push(len.parse().ok()?);
            element = inner.trim();
        }
        let scalar = Scalar::named(element)?;
        let size = lens.iter().try_fold(scalar.size(), |size, &len| size.checked_mul(len))?;
        Some(Self { scalar, lens, size })
    }

    /// Bytes of a value.
    pub(super) const fn size(&self) -> usize {
        self.size
    }

    pub(super) const fn align(&self) -> usize {
        self.scalar.align()
    }

    /// Whether any bytes are a value.
    pub(super) const fn is_any(&self) -> bool {
        !matches!(self.scalar, Scalar::Bool | Scalar::Char) || self.size == 0
    }

    /// Whether values have ids of entities.
    pub(super) const fn has_entities(&self) -> bool {
        matches!(self.scalar, Scalar::Entity) && self.size > 0
    }

    /// Whether the bytes of a value are one.
    pub(super) fn accepts(&self, bytes: &[u8]) -> bool {
        let scalar = self.scalar;
        self.is_any() || bytes.chunks_exact(scalar.size()).all(|bytes| scalar.accepts(bytes))
    }

    /// Replaces the ids in the bytes of a value.
    pub(super) fn map_entities(&self, bytes: &mut [u8], map: &mut dyn FnMut(Entity) -> Entity) {
        if self.has_entities() {
            for bytes in bytes.chunks_exact_mut(size_of::<Entity>()) {
                let new = map(bytemuck::pod_read_unaligned(bytes));
                bytes.copy_from_slice(bytemuck::bytes_of(&new));
            }
        }
    }

    /// Prints the bytes of a value.
    pub(super) fn format(&self, bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&Shown { scalar: self.scalar, lens: &self.lens, bytes }, f)
    }
}

/// Writes the name of the type, the same for all forms of it that are accepted.
impl fmt::Display for FieldKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lens.iter().try_for_each(|_| f.write_str("["))?;
        f.write_str(self.scalar.name())?;
        self.lens.iter().rev().try_for_each(|len| write!(f, "; {len}]"))
    }
}

/// A value, or a part of it.
struct Shown<'v> {
    scalar: Scalar,
    lens: &'v [usize],
    bytes: &'v [u8],
}

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scalar, lens, bytes } = *self;
        match lens {
            [] => scalar.format(bytes, f),
            // Arrays without bytes print as empty, of any length.
            [len, lens @ ..] => {
                let size = bytes.len().checked_div(*len).unwrap_or(0).max(1);
                let parts = bytes.chunks_exact(size);
                f.debug_list().entries(parts.map(|bytes| Shown { scalar, lens, bytes })).finish()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Printed<'v>(&'v FieldKind, &'v [u8]);

    impl fmt::Debug for Printed<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.format(self.1, f)
        }
    }

    #[test]
    fn kinds_have_the_names_sizes_and_alignments_of_types() {
        for (name, size, align) in [
            ("bool", 1, 1),
            ("char", 4, 4),
            ("u16", 2, 2),
            ("i128", 16, align_of::<i128>()),
            ("f64", 8, align_of::<f64>()),
            ("Entity", 8, 4),
            ("[f32; 3]", 12, 4),
            ("[[u16; 3]; 5]", 30, 2),
            ("[u64; 0]", 0, align_of::<u64>()),
        ] {
            let kind = FieldKind::named(name).expect("a kind of field");
            assert_eq!((kind.size(), kind.align(), &*kind.to_string()), (size, align, name));
        }
        let written = FieldKind::named(" [ [phalanx::Entity;2] ;  3] ").expect("with blanks");
        assert_eq!(written.to_string(), "[[Entity; 2]; 3]");
    }

    #[test]
    fn other_names_are_no_kinds() {
        let deep = format!("{}u8{}", "[".repeat(9), "; 1]".repeat(9));
        let deepest = "[".repeat(1_000_000);
        for name in [
            "",
            " ",
            "String",
            "usize",
            "F32",
            "[f32]",
            "[f32; ]",
            "[f32; -1]",
            "[f32; +1]",
            "[f32; N]",
            "[; 3]",
            "[f32; 3",
            "f32; 3]",
            "(f32, f32)",
            "[u8; 18446744073709551616]",
            "[u16; 18446744073709551615]",
            "[[u8; 4294967296]; 4294967296]",
            &deep,
            &deepest,
        ] {
            assert_eq!(FieldKind::named(name), None, "{}", name.get(..40).unwrap_or(name));
        }
    }

    #[test]
    fn values_are_checked_and_printed_element_by_element() {
        let flags = FieldKind::named("[[bool; 2]; 2]").expect("a kind of field");
        assert!(flags.accepts(&[0, 1, 1, 0]) && !flags.accepts(&[0, 1, 2, 0]) && !flags.is_any());
        let shown = format!("{:?}", Printed(&flags, &[0, 1, 1, 0]));
        assert_eq!(shown, "[[false, true], [true, false]]");
        let shown = format!("{:?}", Printed(&flags, &[0, 1, 2, 0]));
        assert_eq!(shown, "[[false, true], [[02], false]]", "not a value");
        let letter = FieldKind::named("char").expect("a kind of field");
        assert!(letter.accepts(&0x61_u32.to_ne_bytes()));
        assert!(!letter.accepts(&0xD800_u32.to_ne_bytes()), "half of a pair");
        let none = FieldKind::named("[bool; 0]").expect("a kind of field");
        assert!(none.is_any() && none.accepts(&[]));
        assert_eq!(format!("{:?}", Printed(&none, &[])), "[]");
    }
}

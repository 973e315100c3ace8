//! Layouts of components that exist at run time only: their fields are data.
//!
//! A layout is known to the whole process by its name and its fields, so that it is one component
//! in all worlds, as a type is. Each different one is allocated once and never freed: all other
//! code takes names and fields that live as long as the program, as for types.

use core::fmt;
use core::num::NonZeroU32;
use std::sync::{LazyLock, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::about::FieldInfo;
use super::field_kind::FieldKind;
use super::identity::Identity;
use super::interned::interned;
use super::layout_fields::LayoutFields;
use super::layout_properties::LayoutProperties;
use super::map_entities::References;
use super::register_error::RegisterError;
use super::values::Values;
use crate::message::is_unshown;

/// A component that exists at run time only.
#[derive(Debug)]
pub(crate) struct RunTimeLayout {
    pub(super) name: &'static str,
    /// The properties and the fields, for messages that name a type elsewhere.
    pub(super) path: &'static str,
    pub(super) properties: LayoutProperties,
    pub(super) bytes: &'static LayoutFields,
    pub(super) fields: Box<[FieldInfo]>,
    pub(super) values: Values,
    pub(super) references: Option<References>,
}

impl RunTimeLayout {
    /// Prints the fields of a value.
    pub(super) fn format(&self, value: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_map();
        for (info, (start, kind)) in self.fields.iter().zip(&self.bytes.fields) {
            let field = ShownField { kind, value: &value[*start..][..kind.size()] };
            shown.entry(&format_args!("{}", info.name), &field);
        }
        shown.finish()
    }
}

/// The value of a field.
struct ShownField<'v> {
    kind: &'v FieldKind,
    value: &'v [u8],
}

impl fmt::Debug for ShownField<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.format(self.value, f)
    }
}

/// The name, the properties and the fields of a layout, which are a component: without padding,
/// each field with a name.
#[derive(Debug)]
pub(crate) struct Description<'n> {
    pub(super) name: &'n str,
    pub(super) properties: LayoutProperties,
    /// The name, the first byte and the kind of each field.
    fields: Vec<(&'n str, usize, FieldKind)>,
    size: usize,
    align: usize,
}

impl<'n> Description<'n> {
    /// The bytes of the longest name.
    const NAME_BYTES_MAX: usize = 255;
    const FIELDS_MAX: usize = 256;

    /// A description of fields with these names and types, in memory as C has them. O(fields²).
    ///
    /// # Errors
    ///
    /// If no component has this name, these properties, or these fields.
    pub(crate) fn new(
        name: &'n str,
        words: impl IntoIterator<Item = &'n str>,
        named: impl IntoIterator<Item = (&'n str, &'n str)>,
    ) -> Result<Self, RegisterError> {
        check_name(name, None, name)?;
        let component = || name.to_owned();
        let mut properties = LayoutProperties::default();
        if let Some(word) = words.into_iter().find(|word| !properties.add(word)) {
            let property = word.to_owned();
            return Err(RegisterError::Property { component: component(), property });
        }
        let named: Vec<_> = named.into_iter().take(Self::FIELDS_MAX + 1).collect();
        if named.len() > Self::FIELDS_MAX {
            return Err(RegisterError::Fields { component: component() });
        }
        let mut fields: Vec<(&str, usize, FieldKind)> = Vec::new();
        for (number, (field, type_name)) in named.into_iter().enumerate() {
            check_name(name, Some(number), field)?;
            let owned = || (component(), field.to_owned());
            if fields.iter().any(|(other, ..)| *other == field) {
                let (component, field) = owned();
                return Err(RegisterError::Repeated { component, field });
            }
            let Some(kind) = FieldKind::named(type_name) else {
                let (component, field) = owned();
                let type_name = type_name.to_owned();
                return Err(RegisterError::FieldType { component, field, type_name });
            };
            fields.push((field, 0, kind));
        }
        let (size, align) = place_fields(name, &mut fields)?;
        Ok(Self { name, properties, fields, size, align })
    }

    /// Whether it describes a layout.
    pub(super) fn is_of(&self, layout: &RunTimeLayout) -> bool {
        let known = layout.fields.iter().zip(&layout.bytes.fields);
        (self.name, self.properties) == (layout.name, layout.properties)
            && self.fields.len() == layout.fields.len()
            && self
                .fields
                .iter()
                .zip(known)
                .all(|((name, _, kind), (info, known))| *name == info.name && *kind == known.1)
    }

    /// The layout that it describes, which is made if the process has none. Nothing frees it.
    pub(super) fn layout(&self) -> &'static RunTimeLayout {
        static LAYOUTS: LazyLock<Mutex<Layouts>> = LazyLock::new(Mutex::default);
        let mut layouts = LAYOUTS.lock().unwrap_or_else(PoisonError::into_inner);
        let Layouts { len, by_name } = &mut *layouts;
        let known = by_name.get(self.name).map_or(&[][..], Vec::as_slice);
        if let Some(layout) = known.iter().find(|layout| self.is_of(layout)) {
            return layout;
        }
        let number = len.checked_add(1).and_then(NonZeroU32::new);
        let number = number.expect("a process has at most 2³² - 1 layouts of components");
        let name = interned(self.name).0;
        let layout: &'static _ = Box::leak(Box::new(self.make(name, number)));
        by_name.entry(name).or_default().push(layout);
        *len = number.get();
        layout
    }

    fn make(&self, name: &'static str, number: NonZeroU32) -> RunTimeLayout {
        let fields = self.fields.iter();
        let bytes: &'static _ = Box::leak(Box::new(LayoutFields {
            identity: Identity::of_layout(number),
            size: self.size,
            align: self.align,
            fields: fields.clone().map(|(_, start, kind)| (*start, kind.clone())).collect(),
        }));
        let texts = fields.clone().map(|(name, _, kind)| format!("{name}: {kind}"));
        let texts: Vec<_> = texts.collect();
        let info = |(name, start, kind): &(&str, usize, FieldKind)| {
            FieldInfo::new(interned(name).0, interned(&kind.to_string()).0, *start, kind.size())
        };
        let words: Vec<_> = self.properties.words().collect();
        let head = if words.is_empty() { String::new() } else { format!("({})", words.join(", ")) };
        RunTimeLayout {
            name,
            path: interned(&format!("layout{head} {{ {} }}", texts.join(", "))).0,
            properties: self.properties,
            bytes,
            fields: fields.map(info).collect(),
            values: Values::of_layout(bytes),
            references: References::of_layout(bytes),
        }
    }
}

/// Places the fields in memory as C has them. Returns the size and the alignment of a value.
fn place_fields(
    name: &str,
    fields: &mut [(&str, usize, FieldKind)],
) -> Result<(usize, usize), RegisterError> {
    let (mut size, mut align) = (0_usize, 1);
    let padding = |bytes: usize, at: usize, fields: &[(&str, usize, FieldKind)]| {
        let text = |at: usize| fields.get(at).map_or("", |(field, ..)| field).to_owned();
        let (component, field, is_last) = (name.to_owned(), text(at), at + 1 == fields.len());
        let (next, ordered) = match is_last {
            true => (None, None),
            false => (Some(text(at + 1)), padding_in_order(fields)),
        };
        RegisterError::Padding { component, field, bytes, next, ordered }
    };
    for at in 0..fields.len() {
        let (field, _, kind) = &fields[at];
        let bytes = size.wrapping_neg() % kind.align();
        if bytes > 0 {
            return Err(padding(bytes, at - 1, fields));
        }
        align = align.max(kind.align());
        let end = size.checked_add(kind.size()).filter(|&end| u32::try_from(end).is_ok());
        let end = end.ok_or_else(|| {
            let (component, field) = (name.to_owned(), (*field).to_owned());
            RegisterError::TooLarge { component, field }
        })?;
        fields[at].1 = size;
        size = end;
    }
    match size.wrapping_neg() % align {
        0 => Ok((size, align)),
        bytes => Err(padding(bytes, fields.len() - 1, fields)),
    }
}

/// The bytes of padding, all at the end, of fields from the largest alignment to the smallest.
/// `None` if they are no fewer than in the given order.
fn padding_in_order(fields: &[(&str, usize, FieldKind)]) -> Option<usize> {
    let (mut end, mut bytes, mut align) = (0_usize, 0_usize, 1);
    for (.., kind) in fields {
        end = end.checked_next_multiple_of(kind.align())?.checked_add(kind.size())?;
        bytes = bytes.checked_add(kind.size())?;
        align = align.max(kind.align());
    }
    let now = end.checked_next_multiple_of(align)? - bytes;
    let ordered = bytes.wrapping_neg() % align;
    (ordered < now).then_some(ordered)
}

/// Checks the name of a component, or of one of its fields.
fn check_name(component: &str, field: Option<usize>, name: &str) -> Result<(), RegisterError> {
    let len = name.len();
    if !(1..=Description::NAME_BYTES_MAX).contains(&len) {
        return Err(RegisterError::Name { component: component.to_owned(), field, len });
    }
    match name.chars().find(|&character| is_unshown(character)) {
        None => Ok(()),
        Some(character) => {
            Err(RegisterError::Control { component: component.to_owned(), field, character })
        }
    }
}

/// All layouts of the process.
#[derive(Default)]
struct Layouts {
    len: u32,
    by_name: FxHashMap<&'static str, Vec<&'static RunTimeLayout>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe<'n>(fields: &[(&'n str, &'n str)]) -> Result<Description<'n>, RegisterError> {
        Description::new("layout.tests", [], fields.iter().copied())
    }

    #[test]
    fn fields_lie_as_c_has_them() {
        let layout = describe(&[("a", "f64"), ("b", "Entity"), ("c", "[u16; 3]"), ("d", "bool")]);
        assert!(layout.is_err(), "a byte at the end");
        let layout = [("a", "f64"), ("b", "Entity"), ("c", "[u16; 3]"), ("d", "bool"), ("e", "u8")];
        let layout = describe(&layout).expect("without padding").layout();
        let places: Vec<_> = layout.fields.iter().map(|info| (info.offset, info.size)).collect();
        assert_eq!(places, [(0, 8), (8, 8), (16, 6), (22, 1), (23, 1)]);
        assert_eq!((layout.bytes.size, layout.bytes.align), (24, align_of::<f64>()));
        assert!(!layout.values.is_any() && layout.references.is_some());
    }

    #[test]
    fn padding_is_refused_with_its_place() {
        let error = describe(&[("on", "bool"), ("litres", "f32")]).expect_err("padding");
        let text = "3 bytes of padding between its fields `on` and `litres`";
        assert!(error.to_string().contains(text), "{error}");
        assert!(error.to_string().ends_with("add a field of type `[u8; 3]` there"), "{error}");
        let error = describe(&[("on", "bool"), ("a", "f32"), ("b", "u16"), ("c", "u8")]);
        let text = "there, or order the fields from the largest alignment to the smallest";
        assert!(error.expect_err("padding").to_string().ends_with(text));
        let error = describe(&[("a", "u8"), ("b", "f32"), ("c", "u8"), ("d", "f32")]);
        let text = "to the smallest and add `[u8; 2]` after them";
        assert!(error.expect_err("padding").to_string().ends_with(text));
        let error = describe(&[("a", "u8"), ("b", "u16"), ("c", "u8")]).expect_err("padding");
        assert!(error.to_string().contains("1 byte of padding between"), "{error}");
        let error = describe(&[("litres", "f32"), ("on", "bool")]).expect_err("padding");
        assert!(error.to_string().contains("3 bytes of padding at the end"), "{error}");
        let error = describe(&[("on", "bool"), ("none", "[u32; 0]")]).expect_err("padding");
        assert!(error.to_string().contains("`on` and `none`"), "{error}");
        assert!(describe(&[("litres", "f32"), ("on", "bool"), ("rest", "[u8; 3]")]).is_ok());
    }

    #[test]
    fn a_layout_is_made_once_for_a_process() {
        let layout = |fields: &[(&str, &str)]| describe(fields).expect("valid").layout();
        let first = layout(&[("a", "u8"), ("b", "[i8;0]")]);
        assert!(core::ptr::eq(first, layout(&[("a", "u8"), ("b", "[i8; 0]")])));
        let others: [&[(&str, &str)]; 4] =
            [&[], &[("a", "u8")], &[("b", "u8"), ("a", "[i8; 0]")], &[("a", "i8")]];
        for other in others {
            let other = layout(other);
            assert!(other.bytes.identity != first.bytes.identity && other.name == first.name);
            assert!(core::ptr::eq(other.name, first.name), "the name is allocated once");
        }
    }
}

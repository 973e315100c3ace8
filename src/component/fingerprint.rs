//! The facts that two programs must agree on to read each other's columns.

use core::fmt::Write as _;

use xxhash_rust::xxh3::xxh3_64;

use super::about::ComponentShape;
use super::component_info::ComponentInfo;

impl ComponentInfo {
    /// A hash of all facts that decide how the bytes of a column and the data beside them are read:
    /// the size, the fields or variants as the definition names them, and the component's
    /// properties besides data. The same in every program with the same definition, on any
    /// processor. Neither the name nor the alignment is in it.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut text = format!(
            "{} {} {} {} {} {}",
            self.size(),
            u8::from(self.is_hidden()),
            u8::from(self.is_cleanup()),
            u8::from(self.is_enableable()),
            u8::from(self.tracks_lines()),
            self.chunk_value().map_or(0, |value| value.bytes),
        );
        push_shape(&mut text, self.shape());
        if let Some(shape) = self.about.value_shape() {
            push_shape(&mut text, shape);
        }
        self.split_columns().iter().for_each(|column| {
            // Writing to a string does not fail.
            let _ = write!(text, " | {column}");
        });
        xxh3_64(text.as_bytes())
    }
}

/// Appends the parts of a value.
fn push_shape(text: &mut String, shape: ComponentShape) {
    match shape {
        ComponentShape::Opaque => text.push_str(" opaque"),
        ComponentShape::Struct(fields) => fields.iter().for_each(|field| {
            let (name, type_name) = (field.name, field.type_name);
            let _ = write!(text, " {name}: {type_name} {} {}", field.offset, field.size);
        }),
        ComponentShape::Enum(variants) => variants.iter().for_each(|variant| {
            let _ = write!(text, " {} = {}", variant.name, variant.value);
        }),
    }
}

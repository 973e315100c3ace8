//! The fields of a layout that was registered at run time, as its bytes.

use crate::entity::Entity;

use super::field_kind::FieldKind;
use super::identity::Identity;

/// The kinds and places of the fields of a layout, which leave no byte between them. It is never
/// dropped: components are as cheap to copy as for types of the program.
#[derive(Debug)]
pub(super) struct LayoutFields {
    pub(super) identity: Identity,
    /// Bytes of a value.
    pub(super) size: usize,
    pub(super) align: usize,
    /// Each with the bytes before it, in their order.
    pub(super) fields: Box<[(usize, FieldKind)]>,
}

impl LayoutFields {
    /// Whether any bytes are a value.
    pub(super) fn are_any(&self) -> bool {
        self.fields.iter().all(|(_, kind)| kind.is_any())
    }

    /// Whether values have ids of entities.
    pub(super) fn have_entities(&self) -> bool {
        self.fields.iter().any(|(_, kind)| kind.has_entities())
    }

    /// Whether these bytes are a row of values.
    pub(super) fn accept(&self, bytes: &[u8]) -> bool {
        bytes.chunks_exact(self.size.max(1)).all(|value| self.is_value(value))
    }

    fn is_value(&self, value: &[u8]) -> bool {
        self.fields.iter().all(|(start, kind)| kind.accepts(&value[*start..][..kind.size()]))
    }

    /// Replaces the ids in a row of values, and leaves bytes that are no value.
    pub(super) fn map_entities(&self, bytes: &mut [u8], map: &mut dyn FnMut(Entity) -> Entity) {
        for value in bytes.chunks_exact_mut(self.size.max(1)) {
            if self.is_value(value) {
                for (start, kind) in &self.fields {
                    kind.map_entities(&mut value[*start..][..kind.size()], map);
                }
            }
        }
    }
}

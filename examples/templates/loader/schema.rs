//! The components that a file may name.

use super::field_set::FieldSet;
use phalanx::World;
use phalanx::reflect::{ComponentInfo, ComponentShape, VariantInfo};
use std::collections::HashMap;

/// The components that a file may name, with their fields. All fields are numbered.
#[derive(Debug)]
pub(crate) struct Schema {
    components: Vec<Component>,
    by_name: HashMap<&'static str, usize>,
}

/// A component that a file may name.
#[derive(Debug)]
pub(crate) struct Component {
    pub(crate) name: &'static str,
    pub(crate) size: usize,
    /// An enum has one field, which is its whole value.
    pub(crate) fields: Vec<Field>,
    pub(crate) variants: &'static [VariantInfo],
    /// The number of its first field.
    first: usize,
}

/// A field that a file may name.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) type_name: &'static str,
    pub(crate) offset: usize,
    pub(crate) size: usize,
}

impl Schema {
    /// The components that a world has registered.
    ///
    /// # Panics
    ///
    /// If they have more fields than a [`FieldSet`], or one of them has unknown fields.
    pub(crate) fn of(world: &World) -> Self {
        let (mut components, mut first) = (Vec::new(), 0);
        for info in world.reflect().components() {
            let component = Component::of(info, first);
            first += component.fields.len();
            components.push(component);
        }
        let max = FieldSet::FIELDS_MAX;
        assert!(first <= max, "{first} fields do not fit a set of {max}: widen `FieldSet`");
        let by_name = components.iter().zip(0..).map(|(one, number)| (one.name, number)).collect();
        Self { components, by_name }
    }

    /// The number of the component with a name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn component(&self, number: usize) -> &Component {
        &self.components[number]
    }

    pub(crate) fn components(&self) -> &[Component] {
        &self.components
    }
}

impl Component {
    fn of(info: &ComponentInfo, first: usize) -> Self {
        let (name, size) = (info.name(), info.size());
        let (fields, variants) = match info.shape() {
            ComponentShape::Struct(fields) => {
                let field = |field: &phalanx::reflect::FieldInfo| Field {
                    name: field.name,
                    type_name: field.type_name,
                    offset: field.offset,
                    size: field.size,
                };
                (fields.iter().map(field).collect(), &[][..])
            }
            ComponentShape::Enum(variants) => {
                (vec![Field { name, type_name: "", offset: 0, size }], variants)
            }
            _ => panic!("`{name}` has fields that are not known: define it by `#[component]`"),
        };
        Self { name, size, fields, variants, first }
    }

    pub(crate) const fn is_enum(&self) -> bool {
        !self.variants.is_empty()
    }

    /// The number of a field among all fields of the schema.
    pub(crate) const fn number(&self, field: usize) -> usize {
        self.first + field
    }
}

//! Values of some fields of some components.

use super::field_set::FieldSet;
use super::schema::{Component, Field, Schema};

/// Values of some fields of some components: all of an entity, or the overridden ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Values(Vec<ComponentValue>);

/// The value of one component with some fields given. The others are zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ComponentValue {
    pub(crate) component: usize,
    pub(crate) bytes: Vec<u8>,
    /// One bit for each field, in the order of the component.
    given: u64,
}

impl ComponentValue {
    pub(crate) const fn has(&self, field: usize) -> bool {
        self.given >> field & 1 == 1
    }

    /// The fields that are not given.
    pub(crate) fn missing<'c>(&self, component: &'c Component) -> Vec<&'c Field> {
        let fields = component.fields.iter().enumerate();
        fields.filter(|&(number, _)| !self.has(number)).map(|(_, field)| field).collect()
    }
}

impl Values {
    /// The values of components, in the order of the schema.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ComponentValue> {
        self.0.iter()
    }

    pub(crate) fn of(&self, component: usize) -> Option<&ComponentValue> {
        self.0.iter().find(|value| value.component == component)
    }

    /// The value of a component, to be changed. It is added if it is not there.
    pub(crate) fn of_mut(&mut self, schema: &Schema, component: usize) -> &mut ComponentValue {
        let at = self.0.partition_point(|value| value.component < component);
        if self.0.get(at).is_none_or(|value| value.component != component) {
            let bytes = vec![0; schema.component(component).size];
            self.0.insert(at, ComponentValue { component, bytes, given: 0 });
        }
        &mut self.0[at]
    }

    /// Gives a field its value.
    pub(crate) fn set(&mut self, schema: &Schema, component: usize, field: usize, bytes: &[u8]) {
        let value = self.of_mut(schema, component);
        let place = &schema.component(component).fields[field];
        value.bytes[place.offset..][..place.size].copy_from_slice(bytes);
        value.given |= 1 << field;
    }

    /// The values without the fields that are the same in others.
    pub(crate) fn without(&self, schema: &Schema, others: &Self) -> Self {
        let mut values = self.clone();
        values.0.retain_mut(|value| {
            let Some(other) = others.of(value.component) else { return true };
            for (number, field) in schema.component(value.component).fields.iter().enumerate() {
                let cells = field.offset..field.offset + field.size;
                if other.has(number) && other.bytes[cells.clone()] == value.bytes[cells] {
                    value.given &= !(1 << number);
                }
            }
            value.given != 0
        });
        values
    }

    /// The values without some components.
    pub(crate) fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        self.0.retain(|value| keep(value.component));
    }

    /// The fields that are given.
    pub(crate) fn given(&self, schema: &Schema) -> FieldSet {
        let mut set = FieldSet::default();
        for value in &self.0 {
            let component = schema.component(value.component);
            let fields = (0..component.fields.len()).filter(|&field| value.has(field));
            set = fields.fold(set, |set, field| set.with(component.number(field)));
        }
        set
    }
}

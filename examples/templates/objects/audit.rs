//! A comparison of objects with their types.

use super::components::{Origin, Own};
use crate::loader::{FieldSet, Types};
use phalanx::prelude::*;
use std::error::Error;

/// The result of an [`audit()`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Audit {
    pub(crate) entities: usize,
    /// Fields that objects have for themselves.
    pub(crate) own: usize,
    /// The sum of the hashes of their values: the same in any order of entities.
    pub(crate) own_hash: u64,
}

impl Audit {
    pub(crate) const fn add(&mut self, other: Self) {
        self.entities += other.entities;
        self.own += other.own;
        self.own_hash = self.own_hash.wrapping_add(other.own_hash);
    }
}

/// Compares every field of every entity with its type, except the ones that it has for itself.
///
/// # Errors
///
/// The first entity that is not as its type says.
pub(crate) fn audit(world: &World, types: &Types) -> Result<Audit, Box<dyn Error>> {
    let (schema, mut result) = (types.schema(), Audit::default());
    let all = world.query::<(Entity, &Origin, &Own)>().filter::<IncludeHidden>();
    for (entity, origin, own) in all.rows() {
        let (kind, own) = (types.get(origin.kind as usize), FieldSet::from_bits(own.fields));
        let node = &kind.nodes[origin.node as usize];
        let view = world.entity(entity)?;
        result.entities += 1;
        for (number, component) in schema.components().iter().enumerate() {
            let (value, present) = (node.values.of(number), view.component(component.name));
            let is_own = |field| own.contains(component.number(field));
            let has_own = (0..component.fields.len()).any(is_own);
            let wrong = |what: &str| -> Box<dyn Error> {
                let (name, path, component) = (&kind.name, &node.path, component.name);
                format!("`{component}` of an object of `{name}{path}` {what}").into()
            };
            let Some(present) = present else {
                if value.is_some() {
                    return Err(wrong("is missing"));
                }
                continue;
            };
            // The type may have lost it: a field of its own keeps the whole component.
            if value.is_none() && !has_own {
                return Err(wrong("is not of its type"));
            }
            for (at, field) in component.fields.iter().enumerate() {
                let cells = field.offset..field.offset + field.size;
                let bytes = &present.bytes()[cells.clone()];
                if is_own(at) {
                    result.own += 1;
                    let words = bytes.iter().copied().chain([at.try_into()?]).map(u32::from);
                    let hash = phalanx_examples::hash::fnv1a(words);
                    result.own_hash = result.own_hash.wrapping_add(hash);
                } else if value.is_some_and(|value| value.bytes[cells] != *bytes) {
                    return Err(wrong("has another value"));
                }
            }
        }
    }
    Ok(result)
}

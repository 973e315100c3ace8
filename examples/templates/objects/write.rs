//! Values of entities, written by the names of components.

use super::components::Own;
use crate::loader::{FieldSet, Schema, Values};
use phalanx::error::EntityError;
use phalanx::prelude::*;
use phalanx::reflect::BytesError;

/// Gives an entity values, in one move. Fields in `kept` stay as they are, and the entity is not
/// touched if it has all values already. Returns the number of fields that are given and not kept:
/// the entity may have had their values before.
pub(crate) fn put(
    world: &mut World,
    schema: &Schema,
    entity: Entity,
    values: &Values,
    kept: FieldSet,
) -> Result<usize, BytesError> {
    let (mut given, mut named) = (0, Vec::new());
    let view = world.entity(entity).map_err(EntityError::from)?;
    for value in values.iter() {
        let component = schema.component(value.component);
        let is_given =
            |number: usize| value.has(number) && !kept.contains(component.number(number));
        given += (0..component.fields.len()).filter(|&number| is_given(number)).count();
        let Some(present) = view.component(component.name) else {
            named.push((component.name, value.bytes.clone()));
            continue;
        };
        let mut bytes = present.bytes().to_vec();
        for (number, field) in component.fields.iter().enumerate() {
            let cells = field.offset..field.offset + field.size;
            if is_given(number) {
                bytes[cells.clone()].copy_from_slice(&value.bytes[cells]);
            }
        }
        if bytes != present.bytes() {
            named.push((component.name, bytes));
        }
    }
    if !named.is_empty() {
        let values = named.iter().map(|(name, bytes)| (*name, &bytes[..]));
        world.reflect_mut().insert(entity, values)?;
    }
    Ok(given)
}

/// Gives an entity values of its own, which a change of its type leaves.
pub(crate) fn own(
    world: &mut World,
    schema: &Schema,
    entity: Entity,
    values: &Values,
) -> Result<(), BytesError> {
    put(world, schema, entity, values, FieldSet::default())?;
    let own = world.get_mut::<Own>(entity)?;
    own.fields = FieldSet::from_bits(own.fields).union(values.given(schema)).bits();
    Ok(())
}

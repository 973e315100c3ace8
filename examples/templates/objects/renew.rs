//! Objects follow a change of their types.

use super::components::{ChildOf, Origin, Own, Region};
use super::write::put;
use crate::loader::{Change, FieldSet, Node, Schema, Types, Values};
use phalanx::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::error::Error;

/// The entities of a world that a change of types has reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Renewed {
    /// The entities of changed types.
    pub(crate) entities: usize,
    /// The fields that have another value in their type, but for the ones of their own.
    pub(crate) fields: usize,
    /// Children that types have now, in all objects.
    pub(crate) spawned: usize,
    /// Entities without a node any more, with everything below them.
    pub(crate) despawned: usize,
}

impl Renewed {
    pub(crate) const fn add(&mut self, other: Self) {
        self.entities += other.entities;
        self.fields += other.fields;
        self.spawned += other.spawned;
        self.despawned += other.despawned;
    }
}

/// Gives all objects of changed types the new values, and children that have come, and takes
/// children away that are gone.
///
/// Fields that an object has for itself stay, and so do all fields that are the same in the type as
/// before: the game may have written them. Children and components that the game has taken away do
/// not come back.
///
/// A component that a type loses leaves its objects, but for the ones with a field of it for
/// themselves: they keep all of it. Once the type has it again, all fields but their own are the
/// type's.
pub(crate) fn renew(
    world: &mut World,
    types: &Types,
    changes: &[Change],
) -> Result<Renewed, Box<dyn Error>> {
    let changes: BTreeMap<_, _> =
        changes.iter().map(|one| (one.number, Step::of(types, one))).collect();
    let mut renewed = Renewed::default();
    let mut reached: Vec<(Entity, Origin, Own)> = Vec::new();
    let all = world.query::<(Entity, &Origin, &Own)>().filter::<IncludeHidden>().rows();
    let all = all.map(|(entity, origin, own)| (entity, *origin, *own));
    reached.extend(all.filter(|(_, origin, _)| changes.contains_key(&(origin.kind as usize))));
    let (mut gone, mut nodes) = (Vec::new(), BTreeMap::<_, Vec<Entity>>::new());
    for (entity, origin, own) in reached {
        let step = &changes[&(origin.kind as usize)];
        renewed.entities += 1;
        match step.new_number[origin.node as usize] {
            None => gone.push(entity),
            Some(node) => {
                let kept = FieldSet::from_bits(own.fields);
                let old = &step.old[origin.node as usize].values;
                let new = &step.new[node as usize].values;
                renewed.fields += step.renew(world, types.schema(), entity, (old, new), kept)?;
                if node != origin.node {
                    world.get_mut::<Origin>(entity)?.node = node;
                }
                nodes.entry((origin.kind, node)).or_default().push(entity);
            }
        }
    }
    renewed.despawned = world.despawn_batch(&gone);
    for (&kind, step) in &changes {
        let kind = u32::try_from(kind).expect("few types");
        for &node in &step.added {
            let Node { parent, values, .. } = &step.new[node as usize];
            let parent = u32::try_from(*parent).expect("few nodes");
            for parent in nodes.get(&(kind, parent)).cloned().unwrap_or_default() {
                let origin = Origin { kind, node };
                let child = world.spawn((origin, Own { fields: 0 }, ChildOf::of(parent)));
                put(world, types.schema(), child, values, FieldSet::default())?;
                let region = world.shared::<Region>().get(parent).ok().copied();
                if let Some(region) = region {
                    world.insert_shared(child, region)?;
                }
                nodes.entry((kind, node)).or_default().push(child);
                renewed.spawned += 1;
            }
        }
    }
    Ok(renewed)
}

/// A change of one type.
struct Step<'c> {
    old: &'c [Node],
    new: &'c [Node],
    /// The new number of each old node, by its path.
    new_number: Vec<Option<u32>>,
    /// New nodes, parents first.
    added: Vec<u32>,
}

impl<'c> Step<'c> {
    fn of(types: &'c Types, change: &'c Change) -> Self {
        let (old, new) = (&change.old[..], &types.get(change.number).nodes[..]);
        let numbers = |nodes: &'c [Node]| -> HashMap<&str, u32> {
            nodes.iter().map(|node| &*node.path).zip(0..).collect()
        };
        let (before, after) = (numbers(old), numbers(new));
        let new_number = old.iter().map(|node| after.get(&*node.path).copied()).collect();
        let is_added =
            |(node, number): (&Node, u32)| (!before.contains_key(&*node.path)).then_some(number);
        let added = new.iter().zip(0..).filter_map(is_added).collect();
        Self { old, new, new_number, added }
    }

    /// Gives an entity the new values of its node, and takes components away that the node has not
    /// any more. Returns the number of fields that it gives.
    fn renew(
        &self,
        world: &mut World,
        schema: &Schema,
        entity: Entity,
        (old, new): (&Values, &Values),
        kept: FieldSet,
    ) -> Result<usize, Box<dyn Error>> {
        let mut values = new.without(schema, old);
        let view = world.entity(entity)?;
        let is_there =
            |component: usize| view.component(schema.component(component).name).is_some();
        values.retain(|component| is_there(component) || old.of(component).is_none());
        let changed = put(world, schema, entity, &values, kept)?;
        let is_kept = |component: usize| {
            let component = schema.component(component);
            (0..component.fields.len()).any(|field| kept.contains(component.number(field)))
        };
        let left = old.iter().map(|value| value.component);
        let left = left.filter(|&one| new.of(one).is_none() && !is_kept(one));
        let names: Vec<_> = left.map(|one| schema.component(one).name).collect();
        if !names.is_empty() {
            world.reflect_mut().remove(entity, names)?;
        }
        Ok(changed)
    }
}

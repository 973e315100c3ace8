//! The counts that a reload must have.

use super::components::Region;
use super::plan::Placed;
use crate::loader::{Change, FieldSet, Node, Schema, Types};
use std::collections::{BTreeMap, HashMap};

/// The counts that a change of types must have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) entities: usize,
    pub(crate) fields: usize,
}

/// Counts entities and fields by the plan of the objects, without a look at a single entity. Nodes
/// of a type are the same before and after if they have one path.
pub(crate) fn expected(
    types: &Types,
    changes: &[Change],
    plan: &[(Region, Vec<Placed>)],
) -> Expected {
    let (schema, mut expected) = (types.schema(), Expected::default());
    let changed = |change: &Change| (change.number, differing_nodes(types, change));
    let changes: BTreeMap<_, _> = changes.iter().map(changed).collect();
    for placed in plan.iter().flat_map(|(_, placed)| placed) {
        if let Some(&(entities, root, below)) = changes.get(&placed.kind) {
            expected.entities += entities;
            // Only the root of an object has fields of its own.
            expected.fields += root.without(placed.own.given(schema)).len() + below;
        }
    }
    expected
}

/// The entities of an object before, the fields of its root that differ, and the number of fields
/// below that do.
fn differing_nodes(types: &Types, change: &Change) -> (usize, FieldSet, usize) {
    let old: HashMap<_, _> = change.old.iter().map(|node| (&*node.path, node)).collect();
    let (mut root, mut below) = (FieldSet::default(), 0);
    for new in &types.get(change.number).nodes {
        let Some(old) = old.get(&*new.path) else { continue };
        let fields = differing(types.schema(), old, new);
        if new.path.is_empty() {
            root = fields;
        } else {
            below += fields.len();
        }
    }
    (change.old.len(), root, below)
}

/// The fields in which two nodes differ. All fields of a component that only the new one has do.
fn differing(schema: &Schema, old: &Node, new: &Node) -> FieldSet {
    let mut fields = FieldSet::default();
    for value in new.values.iter() {
        let component = schema.component(value.component);
        for (at, field) in component.fields.iter().enumerate() {
            let cells = field.offset..field.offset + field.size;
            let before = old.values.of(value.component).map(|old| &old.bytes[cells.clone()]);
            if before != Some(&value.bytes[cells]) {
                fields = fields.with(component.number(at));
            }
        }
    }
    fields
}

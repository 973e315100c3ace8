//! Objects that are placed by chance.

use super::components::Region;
use crate::loader::{Types, Values};
use phalanx_examples::chance::Chance;

/// The side of a region.
const REGION_METRES: f32 = 100.0;

/// The most types that a region has objects of: a town has other things than a forest.
const TYPES_MAX: u32 = 150;

/// An object to be placed.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) kind: usize,
    /// The fields that it does not have from its type.
    pub(crate) own: Values,
}

/// Places objects in the regions of a square, the same number in each. Each has a place of its own,
/// and one in four health of its own. Objects of one type are neighbours in the list of a region.
pub(crate) fn plan(types: &Types, side: u32, objects: u32) -> Vec<(Region, Vec<Placed>)> {
    let mut chance = Chance::new(7300);
    let regions = side * side;
    let len = u32::try_from(types.len()).expect("types are counted by 32 bits");
    let mut plan = Vec::new();
    for region in 0..regions {
        let objects = objects / regions + u32::from(region < objects % regions);
        let palette: Vec<_> = (0..TYPES_MAX.min(len)).map(|_| chance.below(len)).collect();
        let corner = [region % side, region / side].map(|at| metres(at) * REGION_METRES);
        let mut placed: Vec<_> = (0..objects)
            .map(|_| {
                let at = chance.below(palette.len().try_into().expect("at most 150"));
                place(types, palette[at as usize] as usize, corner, &mut chance)
            })
            .collect();
        placed.sort_by_key(|placed| placed.kind);
        plan.push((Region(region), placed));
    }
    plan
}

fn place(types: &Types, kind: usize, corner: [f32; 2], chance: &mut Chance) -> Placed {
    let schema = types.schema();
    let [place, health] = ["place", "health"].map(|name| schema.find(name).expect("it is known"));
    let mut own = Values::default();
    for (field, corner) in corner.iter().enumerate() {
        let metres = corner + chance.part() * REGION_METRES;
        own.set(schema, place, field, &metres.to_ne_bytes());
    }
    if types.get(kind).nodes[0].values.of(health).is_some() && chance.below(4) == 0 {
        let points = u16::try_from(chance.below(50)).expect("at most 49");
        own.set(schema, health, 0, &points.to_ne_bytes());
    }
    Placed { kind, own }
}

/// A small number.
fn metres(number: u32) -> f32 {
    f32::from(u16::try_from(number).expect("at most a thousand regions a side"))
}

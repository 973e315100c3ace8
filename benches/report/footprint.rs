//! Memory by the number of masks: the same entities in more and more archetypes.

use phalanx::prelude::*;
use phalanx_figures::significant;

use crate::curves::{Axis, Curves, Series};
use crate::effort::Effort;
use crate::machine::{Machine, count};
use crate::page::{Figure, Part};
use crate::programs::archetypes::{ENTITIES, ManyArchetypes};
use crate::programs::components::Data;

/// Masks at most.
const MASKS_MAX: usize = 4096;
/// A slot of the directory: generation, archetype and row.
const SLOT: usize = 12;

/// The part.
pub(crate) fn part(effort: &Effort, _: &Machine) -> Part {
    let mut blocks = Series::new("blocks of columns");
    let mut all = Series::new("all memory, as it grew");
    let mut compact = Series::new("all memory, after `compact`");
    let mut least = Series::new("the least: rows, entities, slots");
    for masks in std::iter::successors(Some(1), |masks| Some(masks * 4)) {
        if masks > effort.pick(MASKS_MAX, 256) {
            break;
        }
        let mut world = ManyArchetypes::new(ChunkSize::KIB_16, masks).world;
        world.memory_mut().retire_archetypes();
        let full = world.reflect().archetypes().filter(|archetype| !archetype.is_empty()).count();
        assert_eq!(full, masks, "each mask has entities");
        let x = masks as f64;
        let memory = world.memory();
        assert_eq!(memory.row_bytes, ENTITIES * size_of::<Data>(), "tags have no bytes");
        blocks.push(x, &[each(memory.block_bytes)]);
        all.push(x, &[each(memory.slab_bytes + memory.bookkeeping_bytes)]);
        while !world.memory_mut().compact(usize::MAX).finished {}
        world.check().expect("a world that was made compact is whole");
        let memory = world.memory();
        compact.push(x, &[each(memory.slab_bytes + memory.bookkeeping_bytes)]);
        let beside = ENTITIES * (size_of::<Entity>() + SLOT);
        least.push(x, &[each(memory.row_bytes + beside)]);
    }
    let sees = sees(&all, &compact, &least);
    let curves = Curves {
        title: "Memory of an entity, by the number of masks".to_owned(),
        x: Axis { label: "component masks", format: count, base: 2.0 },
        y: "bytes an entity".to_owned(),
        series: vec![blocks, all, compact, least],
        marks: Vec::new(),
    };
    Part {
        title: "Memory by the number of component masks",
        about: format!(
            "{} entities with one component of 4 bytes, spread over sets of 16 tags, which have no \
             bytes: `World::memory()` divided by the number of entities. Nothing is timed, and each \
             figure is the only one there is. All memory is that of slabs and of bookkeeping. The \
             least is the row, the entity beside it, and its slot in the directory.",
            count(ENTITIES as f64)
        ),
        figures: vec![Figure::Curves(curves)],
        sees,
    }
}

/// Bytes of an entity.
fn each(bytes: usize) -> f64 {
    bytes as f64 / ENTITIES as f64
}

fn sees(all: &Series, compact: &Series, least: &Series) -> Vec<String> {
    let [(few, _), (many, _)] = all.ends();
    let times = |series: &Series, x: f64| significant(series.at(x) / least.at(x));
    let mask = (compact.at(many) - compact.at(few)) * ENTITIES as f64 / (many - few);
    let mut sees = vec![
        format!(
            "In {} mask an entity takes {} times the least, in {} masks, of {} entities each, {} \
             times; after `compact` {} and {} times.",
            count(few),
            times(all, few),
            count(many),
            significant(ENTITIES as f64 / many),
            times(all, many),
            times(compact, few),
            times(compact, many)
        ),
        format!("A mask more costs {} bytes, after `compact`.", significant(mask)),
    ];
    let doubled = all.points.iter().find(|(x, each)| each.median > 2.0 * least.at(*x));
    if let Some((masks, _)) = doubled {
        sees.push(format!(
            "The first number of masks that takes more than twice the least is {}, with {} entities \
             a mask.",
            count(*masks),
            significant(ENTITIES as f64 / masks)
        ));
    }
    sees
}

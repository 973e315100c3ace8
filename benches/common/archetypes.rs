//! Many archetypes: 20,000 entities spread over thousands of component sets.

use phalanx::prelude::*;

use super::iterate::{double, sum_of_data};
use super::sides::{Workload, steady};
use super::{Data, check_doubled, world};

const COUNTS: [usize; 3] = [1_000, 4_096, 10_000];
const ENTITIES: usize = 20_000;

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    COUNTS.map(many_archetypes).into()
}

/// Doubles one datum of every entity, two to twenty of them in a row.
///
/// The limit is a `Vec` for each archetype, with a loop compiled in place: at this length a call
/// for AVX2 costs more than it gains.
fn many_archetypes(archetypes: usize) -> Workload {
    Workload::new("many_archetypes", archetypes, ENTITIES)
        .limit(move || {
            let rows = |archetype: usize| (ENTITIES - archetype).div_ceil(archetypes);
            steady(
                (0..archetypes).map(|archetype| vec![1f32; rows(archetype)]).collect(),
                |columns: &mut Vec<Vec<f32>>| {
                    for data in columns {
                        data.iter_mut().for_each(|d| *d *= 2.0);
                    }
                },
                |columns, steps| {
                    let sum = columns.iter().flatten().copied().map(f64::from).sum();
                    check_doubled(sum, ENTITIES, steps);
                },
            )
        })
        .phalanx("phalanx", move |chunk| {
            steady(
                tagged_world(chunk, archetypes),
                |world| {
                    for data in world.query_mut::<&mut Data>() {
                        double(data);
                    }
                },
                |world, steps| check_doubled(sum_of_data(world), ENTITIES, steps),
            )
        })
}

/// A world in which entity `i` has the tags of the bits of its archetype's number.
///
/// Sets are types, so the tags come in two halves of at most eight: 256 bundles for the low one,
/// 256 for the high one. The at most 255 sets that only the low half made stay behind, empty.
pub(crate) fn tagged_world(chunk: ChunkSize, archetypes: usize) -> World {
    let mut world = world(chunk);
    for i in 0..ENTITIES {
        // An odd factor permutes the 16-bit numbers: the tags are spread over all bits.
        let tags = ((i % archetypes) * 40_503) & 0xFFFF;
        let entity = spawn_low(&mut world, tags);
        insert_high(&mut world, entity, tags);
    }
    let full = world.archetypes().filter(|archetype| !archetype.is_empty()).count();
    assert_eq!(full, archetypes, "archetypes that hold entities");
    world
}

/// Evaluates `$action!` with the tags whose bits are set, one expansion for each subset.
macro_rules! with_tags {
    ($action:ident, $bits:expr, ($($tag:ident)*)) => { $action!($($tag)*) };
    ($action:ident, $bits:expr, ($($tag:ident)*) $next:ident $bit:literal $($rest:tt)*) => {
        if ($bits >> $bit) & 1 == 1 {
            with_tags!($action, $bits, ($($tag)* $next) $($rest)*)
        } else {
            with_tags!($action, $bits, ($($tag)*) $($rest)*)
        }
    };
}

fn spawn_low(world: &mut World, tags: usize) -> Entity {
    macro_rules! spawn {
        ($($tag:ident)*) => { world.spawn((Data(1.0), ($(tag::$tag,)*))) };
    }
    with_tags!(spawn, tags, () T0 0 T1 1 T2 2 T3 3 T4 4 T5 5 T6 6 T7 7)
}

fn insert_high(world: &mut World, entity: Entity, tags: usize) {
    macro_rules! insert {
        ($($tag:ident)*) => { world.insert(entity, ($(tag::$tag,)*)) };
    }
    let inserted = with_tags!(insert, tags, () T8 8 T9 9 T10 10 T11 11 T12 12 T13 13 T14 14 T15 15);
    inserted.expect("just spawned");
}

/// The sixteen tags.
mod tag {
    use phalanx::prelude::*;

    macro_rules! tags {
        ($($tag:ident)*) => {
            $(
                #[derive(Clone, Copy, Debug, Pod, Zeroable)]
                #[repr(C)]
                pub(super) struct $tag;
            )*
            component!($($tag),*);
        };
    }
    tags! { T0 T1 T2 T3 T4 T5 T6 T7 T8 T9 T10 T11 T12 T13 T14 T15 }
}

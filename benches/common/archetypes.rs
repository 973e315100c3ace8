//! Many archetypes: 20,000 entities spread over thousands of component sets.

use super::check_doubled;
use super::programs::archetypes::{ENTITIES, ManyArchetypes};
use super::sides::{Workload, steady};
use super::timed::timed;

const COUNTS: [usize; 3] = [1_000, 4_096, 10_000];

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
        .phalanx("phalanx", move |chunk| timed(ManyArchetypes::new(chunk, archetypes)))
}

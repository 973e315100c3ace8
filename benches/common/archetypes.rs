//! Many archetypes: 20,000 entities spread over thousands of component sets.

use std::collections::HashMap;

use super::check_doubled;
use super::programs::Program;
use super::programs::archetypes::{ENTITIES, ManyArchetypes, tags_of};
use super::programs::new_archetypes::{ARCHETYPES, MADE, NewArchetypes, query_masks, rows_wanted};
use super::programs::proof::same;
use super::sides::{Workload, steady};
use super::timed::{timed, timed_for};

const COUNTS: [usize; 3] = [1_000, 4_096, 10_000];

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    COUNTS.into_iter().map(many_archetypes).chain([new_archetypes()]).collect()
}

/// Doubles one datum of every entity; an archetype has two to twenty entities.
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

/// Passes timed on one world: it grows by a tenth.
const PASSES: u64 = 10;

/// Gives a hundred entities a tag that moves each to an archetype of its own, in a world of 10,000
/// archetypes and a hundred cached queries, and asks every query for its first chunk.
///
/// The limit is a table of sets, a `Vec` for each set, and a list of sets for each query. A unit is
/// one new set: found to be new, tested by two masks for each query, and given a row of another
/// set.
fn new_archetypes() -> Workload {
    Workload::new("new_archetypes", ARCHETYPES, MADE)
        .limit(|| timed_for(PASSES, FlatSets::new))
        .phalanx("phalanx", |chunk| timed_for(PASSES, move || NewArchetypes::new(chunk)))
}

/// Rows by their set, and the sets that match each query.
struct FlatSets {
    by_set: HashMap<usize, usize>,
    columns: Vec<Vec<f32>>,
    queries: Vec<FlatQuery>,
    made: usize,
}

/// A query: its required tags, its excluded tags, and the matching sets.
struct FlatQuery {
    with: usize,
    without: usize,
    found: Vec<usize>,
}

impl FlatSets {
    /// The tag that no set has at the start: the one above the sixteen.
    const NEW: usize = 1 << 16;

    fn new() -> Self {
        let query = |(with, without)| FlatQuery { with, without, found: Vec::new() };
        let queries = query_masks().map(query).collect();
        let mut sets = Self { by_set: HashMap::new(), columns: Vec::new(), queries, made: 0 };
        for i in 0..ENTITIES {
            let set = sets.find_or_add(tags_of(i, ARCHETYPES));
            sets.columns[set].push(1.0);
        }
        sets
    }

    fn find_or_add(&mut self, tags: usize) -> usize {
        *self.by_set.entry(tags).or_insert_with(|| {
            let set = self.columns.len();
            self.columns.push(Vec::new());
            for query in &mut self.queries {
                if tags & query.with == query.with && tags & query.without == 0 {
                    query.found.push(set);
                }
            }
            set
        })
    }
}

impl Program for FlatSets {
    fn pass(&mut self) {
        for i in self.made..self.made + MADE {
            let tags = tags_of(i, ARCHETYPES);
            let data = self.columns[self.by_set[&tags]].pop().expect("a row of this set");
            let set = self.find_or_add(tags | Self::NEW);
            self.columns[set].push(data);
        }
        self.made += MADE;
        let first = |query: &FlatQuery| !self.columns[query.found[0]].is_empty();
        assert!(self.queries.iter().all(first), "every query finds something");
    }

    fn check(&self, _: u64) -> Result<(), String> {
        let rows = |query: &FlatQuery| query.found.iter().map(|&set| self.columns[set].len()).sum();
        let found: usize = self.queries.iter().map::<usize, _>(rows).sum();
        same("the number of rows of all queries", found, rows_wanted())
    }
}

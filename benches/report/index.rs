//! Indices from an entity to its row: a hash map, a tree, a vector, and the directory.

use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;

use phalanx::prelude::*;
use phalanx_figures::significant;
use rustc_hash::FxHashMap;

use crate::curves::{Axis, Curves, Series};
use crate::effort::Effort;
use crate::machine::{Machine, count};
use crate::page::{Figure, Part};
use crate::programs::random::random_index;

/// Reads of a pass at most.
const READS_MAX: usize = 1 << 16;
/// The compared indices, in the order of [`Index::time`].
const NAMES: [&str; 5] = ["HashMap", "FxHashMap", "BTreeMap", "Vec", "the directory"];

/// The only column.
#[component]
struct Value(u32);

/// The part.
pub(crate) fn part(effort: &Effort, _: &Machine) -> Part {
    let sizes = effort.pick(vec![1_000, 10_000, 100_000, 1_000_000], vec![1_000, 4_000]);
    let orders = [("in order", false), ("in random order", true)];
    let mut figures = Vec::new();
    let mut sees = Vec::new();
    for (order, is_random) in orders {
        let mut series = NAMES.map(Series::new);
        for &size in &sizes {
            let samples = Index::new(size, is_random).time(effort);
            for (series, samples) in series.iter_mut().zip(samples) {
                series.push(size as f64, &samples);
            }
        }
        sees.push(sentence(order, &series));
        figures.push(Figure::Curves(Curves {
            title: format!("A read by entity, {order}"),
            x: Axis { label: "entities", format: count, base: 10.0 },
            y: "ns a read".to_owned(),
            series: series.into(),
            marks: Vec::new(),
        }));
    }
    Part {
        title: "The index from entity to row",
        about: "Each read looks an entity up, and reads 4 bytes of the row it leads to. `HashMap` \
                is the standard library's with its own hash function, `FxHashMap` has a faster one, \
                `BTreeMap` is a tree, and the keys of all three are entities. `Vec` is indexed by \
                the number of the entity and does not see whether it is alive, the others do. The \
                directory is what phalanx has, read through `World::lookup`. Indices of 32 bits \
                lead to rows of a flat `Vec`, the directory to rows of chunks."
            .to_owned(),
        figures,
        sees,
    }
}

fn sentence(order: &str, series: &[Series; 5]) -> String {
    let [.., directory] = series;
    let [(few, _), (many, _)] = directory.ends();
    let times = |series: &Series, x| significant(series.at(x) / directory.at(x));
    let all = series[..4].iter();
    let list: Vec<_> =
        all.map(|s| format!("{} {} and {}", s.name, times(s, few), times(s, many))).collect();
    format!(
        "Reads {order} take {} ns through the directory of {} entities and {} ns through that of {}. \
         In times of that: {}.",
        significant(directory.at(few)),
        count(few),
        significant(directory.at(many)),
        count(many),
        list.join(", ")
    )
}

/// Every index over the same entities, and the order of reads.
struct Index {
    world: World,
    order: Vec<Entity>,
    hash: HashMap<Entity, u32>,
    fx: FxHashMap<Entity, u32>,
    tree: BTreeMap<Entity, u32>,
    vec: Vec<u32>,
    values: Vec<u32>,
}

impl Index {
    fn new(len: usize, is_random: bool) -> Self {
        let mut world = World::new();
        let values: Vec<u32> = (0..len).map(|i| u32::try_from(i * 7).expect("small")).collect();
        let entities = world.spawn_batch(values.iter().copied().map(Value)).to_vec();
        let rows = || entities.iter().copied().zip(0u32..);
        let mut vec = vec![0; len];
        rows().for_each(|(entity, row)| vec[entity.index() as usize] = row);
        let (hash, fx, tree) = (rows().collect(), rows().collect(), rows().collect());
        let mut order = entities.clone();
        if is_random {
            let mut index = random_index();
            (1..len).rev().for_each(|i| order.swap(i, index(i + 1)));
        }
        Self { world, order, hash, fx, tree, vec, values }
    }

    /// Samples of each index, in the order of [`NAMES`]. A pass continues in the order where the
    /// last one ended.
    fn time(&self, effort: &Effort) -> Vec<Vec<f64>> {
        let reads = self.order.len().min(READS_MAX);
        let column = self.world.lookup::<Value>();
        let value = |row: Option<&u32>| self.values[*row.expect("alive") as usize];
        let hash = |entity: &Entity| value(self.hash.get(entity));
        let fx = |entity: &Entity| value(self.fx.get(entity));
        let tree = |entity: &Entity| value(self.tree.get(entity));
        let vec = |entity: &Entity| self.values[self.vec[entity.index() as usize] as usize];
        let directory = |entity: &Entity| column.get(*entity).expect("alive").0;
        let want = sum(&self.order, |entity| self.values[entity.index() as usize]);
        for found in [
            sum(&self.order, hash),
            sum(&self.order, fx),
            sum(&self.order, tree),
            sum(&self.order, vec),
            sum(&self.order, directory),
        ] {
            assert_eq!(found, want, "the sum of all reads");
        }
        effort.time(
            reads,
            &mut [
                &mut self.passes(reads, hash),
                &mut self.passes(reads, fx),
                &mut self.passes(reads, tree),
                &mut self.passes(reads, vec),
                &mut self.passes(reads, directory),
            ],
        )
    }

    fn passes<'a>(&'a self, reads: usize, read: impl Fn(&Entity) -> u32 + 'a) -> impl FnMut() + 'a {
        let mut parts = self.order.chunks_exact(reads).cycle();
        move || {
            let part = parts.next().expect("an endless list");
            black_box(sum(black_box(part), &read));
        }
    }
}

/// The sum of the read values.
fn sum(order: &[Entity], read: impl Fn(&Entity) -> u32) -> u64 {
    order.iter().map(|entity| u64::from(read(entity))).sum()
}

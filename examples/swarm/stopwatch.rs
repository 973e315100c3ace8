//! Runs passes over the world and measures the time of each.

use phalanx::terms::Terms;
use phalanx::{Filter, Modified, Query};
use std::time::{Duration, Instant};

/// The time and the entities of one pass of one frame.
#[derive(Clone, Copy)]
struct Lap {
    time: Duration,
    entities: usize,
}

/// A pass and its laps, one per frame.
pub(crate) struct Pass {
    pub(crate) name: &'static str,
    /// Bytes that a kernel moves per entity; `None` if the pass is not a kernel.
    pub(crate) bytes: Option<usize>,
    laps: Vec<Lap>,
}

/// The laps of all passes, and whether loops over chunks are parallel.
pub(crate) struct Stopwatch {
    parallel: bool,
    passes: Vec<Pass>,
}

/// Bytes per entity that a kernel moves for a column that it only reads.
pub(crate) const fn read<C>() -> usize {
    size_of::<C>()
}

/// Bytes per entity that a kernel moves for a column that it reads and writes.
pub(crate) const fn rewritten<C>() -> usize {
    2 * size_of::<C>()
}

impl Stopwatch {
    pub(crate) const fn new(parallel: bool) -> Self {
        Self { parallel, passes: Vec::new() }
    }

    /// Runs a kernel over each chunk of a query. `bytes` is the number of bytes moved per entity.
    pub(crate) fn kernel<'w, Q: Terms, F: Filter, R: Into<Modified>>(
        &mut self,
        name: &'static str,
        bytes: usize,
        query: Query<'w, Q, F>,
        kernel: impl Fn(Q::Slices<'w>) -> R + Send + Sync,
    ) where
        Q::Slices<'w>: Send,
    {
        let (entities, parallel) = (query.count_rows(), self.parallel);
        self.time(name, Some(bytes), || {
            if parallel {
                query.par().for_each_chunk(kernel);
            } else {
                query.for_each_chunk(kernel);
            }
            entities
        });
    }

    /// Measures the time of `pass`, which returns its number of entities.
    pub(crate) fn time(
        &mut self,
        name: &'static str,
        bytes: Option<usize>,
        pass: impl FnOnce() -> usize,
    ) {
        let start = Instant::now();
        let entities = pass();
        let lap = Lap { time: start.elapsed(), entities };
        match self.passes.iter_mut().find(|pass| pass.name == name) {
            Some(pass) => pass.laps.push(lap),
            None => self.passes.push(Pass { name, bytes, laps: vec![lap] }),
        }
    }

    /// All passes, in the order of a frame.
    pub(crate) fn passes(&self) -> &[Pass] {
        &self.passes
    }
}

impl Pass {
    /// All laps but the first, which has cold caches and creates the plans of queries.
    fn counted(&self) -> impl Iterator<Item = Lap> {
        self.laps.iter().skip(1).copied()
    }

    /// The median of the entities per frame.
    pub(crate) fn entities(&self) -> Option<usize> {
        median(self.counted().map(|lap| lap.entities))
    }

    /// The median of the nanoseconds per frame.
    pub(crate) fn nanoseconds(&self) -> Option<f64> {
        median(self.counted().map(|lap| lap.time.as_nanos() as f64))
    }

    /// The median of the nanoseconds per entity, over frames that have entities.
    pub(crate) fn nanoseconds_per_entity(&self) -> Option<f64> {
        let busy = self.counted().filter(|lap| lap.entities > 0);
        median(busy.map(|lap| lap.time.as_nanos() as f64 / lap.entities as f64))
    }
}

/// The median, the upper one of two; `None` without values.
pub(crate) fn median<T: PartialOrd + Copy>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut values: Vec<_> = values.collect();
    values.sort_unstable_by(|a, b| a.partial_cmp(b).expect("a measurement is NaN"));
    values.get(values.len() / 2).copied()
}

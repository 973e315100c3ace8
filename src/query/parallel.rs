//! The chunks of a query on several threads.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use crate::line::LINE_BYTES;
use crate::stopwatch::Stopwatch;
use crate::storage::{ArchetypeColumns, Stamps};
use crate::version::Version;

use super::cursor::stamp_columns;
use super::filter::Filter;
use super::for_each::Modified;
use super::query::Query;
use super::terms::Terms;

/// The calling thread works alone for this long before it estimates whether others would help.
const TRIAL: Duration = Duration::from_micros(4);

/// Work that takes less than this stays on the calling thread. Waking another thread and waiting
/// for it costs 11 to 14 microseconds (Zen 5, 2 cores), which half of the work must exceed.
const SPLIT_MIN: Duration = Duration::from_micros(30);

/// The minimal duration of a task, as estimated.
const TASK_MIN: Duration = Duration::from_micros(8);

/// A chunk whose slices were cut, and whether the body modified it.
struct VisitedChunk {
    /// An index into [`StampOnDrop::archetypes`].
    archetype: usize,
    chunk: usize,
    /// The chunk's share of the estimated work: the bytes of its slices, and a line for the chunk.
    weight: usize,
    modified: AtomicBool,
}

/// Stamps every modified chunk when it is dropped, so also when a body panics.
struct StampOnDrop<'w, Q: Terms> {
    terms: PhantomData<fn() -> Q>,
    /// The columns and stamps of each visited archetype.
    archetypes: Vec<(ArchetypeColumns<'w>, &'w Stamps)>,
    visited: Vec<VisitedChunk>,
    now: Version,
}

impl<Q: Terms> Drop for StampOnDrop<'_, Q> {
    fn drop(&mut self) {
        for visited in &mut self.visited {
            if *visited.modified.get_mut() {
                let (columns, stamps) = self.archetypes[visited.archetype];
                stamp_columns::<Q>(stamps, columns, visited.chunk, self.now);
            }
        }
    }
}

/// Works on the calling thread until it is clear that other threads would help. Returns the number
/// of chunks per task for the remaining work, or `None` when all is done. The clock decides which
/// thread does something, but not what is done.
fn run_alone<'m, S>(
    jobs: &mut impl Iterator<Item = (S, &'m VisitedChunk)>,
    visited: &[VisitedChunk],
    run: impl Fn((S, &'m VisitedChunk)),
) -> Option<usize> {
    // A platform without threads may lack a clock as well.
    if rayon::current_num_threads() == 1 {
        jobs.for_each(run);
        return None;
    }
    let mut weight_left: usize = visited.iter().map(|chunk| chunk.weight).sum();
    let (mut done, mut weight_done, mut next_look) = (0, 0, 1);
    let start = Stopwatch::start();
    for job in jobs {
        done += 1;
        weight_done += job.1.weight;
        weight_left -= job.1.weight;
        run(job);
        if done < next_look {
            continue;
        }
        let spent = start.elapsed();
        if spent < TRIAL {
            next_look = 2 * done;
            continue;
        }
        let chunk = spent / u32::try_from(done).unwrap_or(u32::MAX);
        let chunks_in = |time: Duration| time.as_nanos().div_ceil(chunk.as_nanos().max(1)) as usize;
        if spent.mul_f64(weight_left as f64 / weight_done as f64) >= SPLIT_MIN {
            return Some(chunks_in(TASK_MIN));
        }
        next_look = done + chunks_in(TRIAL);
    }
    None
}

impl<'w, Q: Terms, F: Filter> Query<'w, Q, F> {
    /// Calls `body` with the slices of each chunk, on rayon's threads.
    ///
    /// The unit of work is a run of whole chunks. Each chunk is visited once, by one thread, and no
    /// two threads write to one cache line. The calling thread begins alone. After 4 microseconds
    /// it estimates the remaining work, and shares it only if it takes 30 microseconds or more. So
    /// small work costs what the loop costs, and a few readings of the clock. The body may return
    /// [`Modified::No`], as in [`for_each_chunk`](Query::for_each_chunk). A panic in the body
    /// reaches the caller when the other threads have finished. Chunks whose body did not return
    /// count as modified.
    ///
    /// The order of chunks is not defined: use [`par_chunks`](Query::par_chunks), which keeps the
    /// order, for a reduction. To record commands, collect the chunks and give each a writer, as in
    /// [`CommandBuffer::par_writers`](crate::CommandBuffer::par_writers). Allocates one entry per
    /// chunk.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # component!(Health);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..10_000).map(|_| Health(1.0)));
    /// world.query_mut::<&mut Health>().par_for_each_chunk(|health| {
    ///     health.iter_mut().for_each(|h| h.0 *= 0.5);
    /// });
    /// assert!(world.query::<&Health>().rows().all(|h| h.0 == 0.5));
    /// ```
    pub fn par_for_each_chunk<R: Into<Modified>>(
        self,
        body: impl Fn(Q::Slices<'w>) -> R + Send + Sync,
    ) where
        Q::Slices<'w>: Send,
    {
        let mut iter = self.into_iter();
        let (cursor, filter, padded) = iter.parts();
        let mut jobs = Vec::new();
        let (mut visited, mut archetypes) = (Vec::new(), Vec::new());
        while cursor.enter::<Q, F>(filter) {
            let mut current = cursor.current.take().expect("no archetype was entered");
            while let Some(mut cut) = current.cut_next(filter, padded) {
                let weight = cut.columns.bytes() + LINE_BYTES;
                jobs.push(Q::cut(&mut cut.columns, cut.entities));
                let (archetype, chunk, modified) =
                    (archetypes.len(), cut.chunk, AtomicBool::new(true));
                visited.push(VisitedChunk { archetype, chunk, weight, modified });
            }
            archetypes.push((current.chunks.columns(), current.stamps));
        }
        let stamp = StampOnDrop::<Q> { terms: PhantomData, archetypes, visited, now: cursor.now };
        let run = |(slices, visited): (Q::Slices<'w>, &VisitedChunk)| {
            if body(slices).into() == Modified::No {
                visited.modified.store(false, Ordering::Relaxed);
            }
        };
        let mut jobs = jobs.into_iter().zip(&stamp.visited);
        let Some(task_chunks) = run_alone(&mut jobs, &stamp.visited, run) else { return };
        let (slices, visited): (Vec<_>, Vec<_>) = jobs.unzip();
        slices.into_par_iter().zip(visited).with_min_len(task_chunks).for_each(run);
    }

    /// The chunks as an indexed rayon iterator, which can be mapped, zipped and reduced in order.
    ///
    /// Every chunk is stamped when this is called. Allocates one entry per chunk.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use rayon::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # component!(Health);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..10_000).map(|i| Health(i as f32)));
    /// // `collect` keeps the order of chunks: the sum has the same bits on any number of threads.
    /// let sums: Vec<f32> = world
    ///     .query::<&Health>()
    ///     .par_chunks()
    ///     .map(|health| phalanx::fold::sum(scalars::<f32>(health)))
    ///     .collect();
    /// assert_eq!(sums.iter().sum::<f32>(), 49_995_000.0);
    /// ```
    pub fn par_chunks(self) -> impl IndexedParallelIterator<Item = Q::Slices<'w>>
    where
        Q::Slices<'w>: Send,
    {
        self.into_iter().collect::<Vec<_>>().into_par_iter()
    }
}

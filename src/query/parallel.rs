//! The chunks of a query on several threads.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use crate::line::LINE_BYTES;
use crate::stopwatch::Stopwatch;
use crate::storage::{ArchetypeColumns, Stamps};
use crate::version::Version;

use super::cursor::stamp;
use super::filter::Filter;
use super::for_each::Modified;
use super::query::Query;
use super::terms::Terms;

/// The calling thread works alone for so long before it looks whether others would help.
const TRIAL: Duration = Duration::from_micros(4);

/// Work that takes less than this stays on the calling thread. To wake another and wait for it costs
/// 11 to 14 microseconds (Zen 5, 2 cores), which half of the work must exceed.
const SPLIT_MIN: Duration = Duration::from_micros(30);

/// No task is expected to take less than this.
const TASK_MIN: Duration = Duration::from_micros(8);

/// A chunk that was handed out, and whether its body says that it changed something.
struct Mark {
    place: usize,
    chunk: usize,
    /// What it counts in an estimate: the bytes of its slices, and some for the chunk itself.
    weight: usize,
    modified: AtomicBool,
}

/// Stamps every marked chunk when it goes out of scope, and so also when a body panics.
struct StampOnDrop<'w, Q: Terms> {
    terms: PhantomData<fn() -> Q>,
    /// Each visited archetype's columns, and its stamps.
    places: Vec<(ArchetypeColumns<'w>, &'w Stamps)>,
    marks: Vec<Mark>,
    now: Version,
}

impl<Q: Terms> Drop for StampOnDrop<'_, Q> {
    fn drop(&mut self) {
        for mark in &mut self.marks {
            if *mark.modified.get_mut() {
                let (row, stamps) = self.places[mark.place];
                stamp::<Q>(stamps, row, mark.chunk, self.now);
            }
        }
    }
}

/// Works on the calling thread until it is clear that others would help; returns how many chunks a
/// task of theirs should have, or nothing when all is done. Where something is done depends on the
/// clock, what is done does not.
fn alone<'m, S>(
    jobs: &mut impl Iterator<Item = (S, &'m Mark)>,
    marks: &[Mark],
    run: impl Fn((S, &'m Mark)),
) -> Option<usize> {
    // Where there are no threads there may be no clock either.
    if rayon::current_num_threads() == 1 {
        jobs.for_each(run);
        return None;
    }
    let mut ahead: usize = marks.iter().map(|mark| mark.weight).sum();
    let (mut done, mut weight, mut look) = (0, 0, 1);
    let start = Stopwatch::start();
    for job in jobs {
        done += 1;
        weight += job.1.weight;
        ahead -= job.1.weight;
        run(job);
        if done < look {
            continue;
        }
        let spent = start.elapsed();
        if spent < TRIAL {
            look = 2 * done;
            continue;
        }
        let chunk = spent / u32::try_from(done).unwrap_or(u32::MAX);
        let chunks_in = |time: Duration| time.as_nanos().div_ceil(chunk.as_nanos().max(1)) as usize;
        if spent.mul_f64(ahead as f64 / weight as f64) >= SPLIT_MIN {
            return Some(chunks_in(TASK_MIN));
        }
        look = done + chunks_in(TRIAL);
    }
    None
}

impl<'w, Q: Terms, F: Filter> Query<'w, Q, F> {
    /// Calls `body` with the slices of each chunk, on rayon's threads.
    ///
    /// The unit of work is a run of whole chunks; each chunk is visited once, by one thread, and no
    /// two threads write one cache line. The calling thread begins alone: after 4 microseconds it
    /// knows what the work takes, and shares what is left only if that is 30 microseconds or more.
    /// So small work costs what the loop does, and some looks at the clock. The body may return
    /// [`Modified::No`], as in [`for_each_chunk`](Query::for_each_chunk). A panic in the body reaches
    /// the caller when the others have finished; the chunks count as modified then.
    ///
    /// The order of chunks is not defined, so a reduction belongs in
    /// [`par_chunks`](Query::par_chunks), which keeps it. To record commands, collect the chunks and
    /// give each a writer, as in [`CommandBuffer::par`](crate::CommandBuffer::par). Allocates one
    /// entry a chunk.
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
        let (mut marks, mut places) = (Vec::new(), Vec::new());
        while cursor.enter::<Q, F>(filter) {
            let mut place = cursor.place.take().expect("no archetype was entered");
            while let Some(mut turn) = place.turn(filter, padded) {
                let weight = turn.cutter.bytes() + LINE_BYTES;
                jobs.push(Q::cut(&mut turn.cutter, turn.entities));
                let (place, chunk) = (places.len(), turn.chunk);
                marks.push(Mark { place, chunk, weight, modified: AtomicBool::new(true) });
            }
            places.push((place.chunks.columns(), place.stamps));
        }
        let stamp = StampOnDrop::<Q> { terms: PhantomData, places, marks, now: cursor.now };
        let run = |(slices, mark): (Q::Slices<'w>, &Mark)| {
            if body(slices).into() == Modified::No {
                mark.modified.store(false, Ordering::Relaxed);
            }
        };
        let mut jobs = jobs.into_iter().zip(&stamp.marks);
        let Some(task_chunks) = alone(&mut jobs, &stamp.marks, run) else { return };
        let (slices, marks): (Vec<_>, Vec<_>) = jobs.unzip();
        slices.into_par_iter().zip(marks).with_min_len(task_chunks).for_each(run);
    }

    /// The same chunks as a rayon iterator of known length: to be mapped, zipped, reduced in order.
    ///
    /// Every chunk counts as modified when this is called. Allocates one entry a chunk.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use rayon::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # component!(Health);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..10_000).map(|i| Health(i as f32)));
    /// // `collect` keeps the order of chunks, so the sum has the same bits on any number of threads.
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

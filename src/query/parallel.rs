//! The chunks of a query on several threads.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicBool, Ordering};

use rayon::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator,
};

use crate::storage::{CutRow, Stamps};
use crate::version::Version;

use super::filter::Filter;
use super::for_each::Touch;
use super::iter::Query;
use super::tuple::Terms;
use super::walk::touch;

/// A query that touches fewer bytes than two of these stays on the caller's thread, and no task is
/// smaller: waking another thread costs some microseconds, in which one core moves this much.
const TASK_BYTES_MIN: usize = 256 << 10;

/// A chunk that was handed out, and whether its body says that it changed something.
struct Mark {
    place: usize,
    chunk: usize,
    touched: AtomicBool,
}

/// Stamps every marked chunk when it goes out of scope, and so also when a body panics.
struct StampOnDrop<'w, Q: Terms> {
    terms: PhantomData<fn() -> Q>,
    /// Each visited archetype's columns, and its stamps.
    places: Vec<(CutRow<'w>, &'w Stamps)>,
    marks: Vec<Mark>,
    now: Version,
}

impl<Q: Terms> Drop for StampOnDrop<'_, Q> {
    fn drop(&mut self) {
        for mark in &mut self.marks {
            if *mark.touched.get_mut() {
                let (row, stamps) = self.places[mark.place];
                touch::<Q>(stamps, row, mark.chunk, self.now);
            }
        }
    }
}

impl<'w, Q: Terms, F: Filter> Query<'w, Q, F> {
    /// Calls `body` with the slices of each chunk, on rayon's threads.
    ///
    /// The unit of work is a run of whole chunks; each chunk is visited once, by one thread, and no
    /// two threads write one cache line. A query that touches few bytes stays on the calling
    /// thread. The body may return [`Touch::Untouched`], as in
    /// [`for_each_chunk`](Query::for_each_chunk). A panic in the body reaches the caller when the
    /// others have finished; the chunks count as touched then.
    ///
    /// The order of chunks is not defined, so a reduction belongs in
    /// [`par_chunks`](Query::par_chunks), which keeps it. Allocates one entry a chunk.
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
    /// assert!(world.query::<&Health>().flatten().all(|h| h.0 == 0.5));
    /// ```
    pub fn par_for_each_chunk<R: Into<Touch>>(
        mut self,
        body: impl Fn(Q::Slices<'w>) -> R + Send + Sync,
    ) where
        Q::Slices<'w>: Send,
    {
        let (walk, filter, padded) = self.walk();
        let (mut jobs, mut bytes) = (Vec::new(), 0);
        let (mut marks, mut places) = (Vec::new(), Vec::new());
        // The archetype that the walk is in, if it has begun, and those ahead.
        while walk.place.is_some() || walk.enter::<Q, F>(filter) {
            let mut place = walk.place.take().expect("an archetype was entered");
            while let Some(mut turn) = place.turn(filter, padded) {
                bytes += turn.cutter.bytes();
                jobs.push(Q::cut(&mut turn.cutter, turn.entities));
                let (place, chunk) = (places.len(), turn.chunk);
                marks.push(Mark { place, chunk, touched: AtomicBool::new(true) });
            }
            places.push((place.chunks.row(), place.stamps));
        }
        let stamp = StampOnDrop::<Q> { terms: PhantomData, places, marks, now: walk.now };
        let run = |(slices, mark): (Q::Slices<'w>, &Mark)| {
            if body(slices).into() == Touch::Untouched {
                mark.touched.store(false, Ordering::Relaxed);
            }
        };
        if bytes < 2 * TASK_BYTES_MIN {
            jobs.into_iter().zip(&stamp.marks).for_each(run);
        } else {
            let task_chunks = (jobs.len() * TASK_BYTES_MIN).div_ceil(bytes).max(1);
            let jobs = jobs.into_par_iter().zip(stamp.marks.par_iter());
            jobs.with_min_len(task_chunks).for_each(run);
        }
    }

    /// The same chunks as a rayon iterator of known length: to be mapped, zipped, reduced in order.
    ///
    /// Every chunk counts as touched when this is called. Allocates one entry a chunk.
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
        self.collect::<Vec<_>>().into_par_iter()
    }
}

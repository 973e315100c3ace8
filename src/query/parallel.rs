//! The chunks of a query on several threads.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator};

use crate::archetype::ChunkMeta;
use crate::line::VECTOR_ROWS;
use crate::storage::{ArchetypeColumns, ChunkColumns, ColumnRef, RowMask};
use crate::version::Version;

use super::chunk_run::{SeenRuns, stamp_columns};
use super::cut_chunk::ChunkPart;
use super::filter::Filter;
use super::for_each::Modified;
use super::par_slices::ParSlices;
use super::query::Query;
use super::query_type::is_by_row;
use super::share::{Job, share};
use super::terms::Terms;

/// A chunk that was cut into slices, and whether the body modified it.
struct VisitedChunk {
    /// An index into [`StampAllOnDrop::archetypes`].
    archetype: usize,
    chunk: usize,
    /// The rows that the query saw when it took the chunk, if it chooses rows and writes components
    /// that track lines. The body may switch rows.
    runs: Option<Vec<Range<u32>>>,
    /// The words of the rows that were seen, if they are chosen by versions that the body may
    /// write: another thread reads them later.
    words: Option<Vec<AtomicU64>>,
    row_bytes: usize,
    /// Parts begin at multiples of this many rows.
    part_rows: usize,
    modified: AtomicBool,
}

/// Marks a chunk as modified when it is dropped, also if the body panics: it may have written half
/// of its part before.
struct MarkOnDrop<'m> {
    visited: &'m VisitedChunk,
    modified: Modified,
}

impl Drop for MarkOnDrop<'_> {
    fn drop(&mut self) {
        if self.modified == Modified::Yes {
            self.visited.modified.store(true, Ordering::Relaxed);
        }
    }
}

/// A chunk, or a part of one, for one call of the body.
struct ParallelPart<'m, 'w, Q: Terms> {
    slices: Q::Slices<'w>,
    rows: usize,
    /// The visible rows, if the query chooses rows.
    seen: RowMask<'m>,
    visited: &'m VisitedChunk,
}

impl<Q: Terms> Job for ParallelPart<'_, '_, Q>
where
    Self: Send,
{
    fn rows(&self) -> usize {
        self.rows
    }

    fn row_bytes(&self) -> usize {
        self.visited.row_bytes
    }

    fn split_off(&mut self, rows: usize) -> Option<Self> {
        if Q::WRITES_CHUNKS {
            return None;
        }
        let rows = rows.max(1).next_multiple_of(self.visited.part_rows);
        if rows >= self.rows {
            return None;
        }
        self.rows -= rows;
        let slices = Q::split_off(&mut self.slices, rows);
        let seen = self.seen.split_off(u32::try_from(rows).unwrap_or(u32::MAX));
        Some(Self { slices, rows, seen, visited: self.visited })
    }
}

/// The number of rows, a multiple of a vector, after which every written column begins a line.
fn part_rows<Q: Terms>(columns: ArchetypeColumns<'_>) -> usize {
    let written =
        columns.columns()[..Q::COLUMNS].iter().filter(|column| column.written().is_some());
    written.map(ColumnRef::line_rows).fold(VECTOR_ROWS, usize::max)
}

/// Stamps every modified chunk when it is dropped, so also when a body panics.
struct StampAllOnDrop<'w, Q: Terms> {
    terms: PhantomData<fn() -> Q>,
    /// The columns of each visited archetype, and the data beside them.
    archetypes: Vec<(ArchetypeColumns<'w>, ChunkMeta<'w>)>,
    visited: Vec<VisitedChunk>,
    now: Version,
}

impl<Q: Terms> Drop for StampAllOnDrop<'_, Q> {
    fn drop(&mut self) {
        for visited in &mut self.visited {
            if *visited.modified.get_mut() {
                let (columns, beside) = self.archetypes[visited.archetype];
                let (chunk, now) = (visited.chunk, self.now);
                match &visited.runs {
                    None => stamp_columns::<Q>(beside, columns, (chunk, None), now),
                    Some(runs) => runs.iter().for_each(|run| {
                        let rows = Some(RowMask::run_in(chunk, run.clone()));
                        stamp_columns::<Q>(beside, columns, (chunk, rows), now);
                    }),
                }
            }
        }
    }
}

/// Bytes of a row in the columns of a chunk, at least one.
fn row_bytes(columns: &ChunkColumns<'_>) -> usize {
    (columns.bytes() / columns.padded_len().max(1)).max(1)
}

/// The slices of a chunk, and how large it is.
pub(crate) struct SizedChunk<S> {
    pub(crate) slices: S,
    pub(crate) rows: usize,
    /// Bytes of the columns in a row, at least one.
    pub(crate) row_bytes: usize,
}

/// # Several threads
impl<'w, Q: Terms, F: Filter> Query<'w, Q, F> {
    /// All chunks; each is stamped.
    pub(crate) fn sized_chunks(self) -> Vec<SizedChunk<Q::Slices<'w>>> {
        let mut iter = self.into_iter();
        let (cursor, filter, slice_rows, sets) = iter.parts();
        let mut chunks = Vec::new();
        while let Some(mut cut) = cursor.cut_next::<Q, F>(filter, slice_rows) {
            cursor.stamp::<Q>(cut.chunk, cut.some_rows::<Q, F>());
            let row_bytes = row_bytes(&cut.columns);
            let mut parts = cut.parts::<Q, F>(sets);
            while let Some(ChunkPart { slices, rows }) = parts.next::<F>() {
                chunks.push(SizedChunk { slices, rows: rows.len(), row_bytes });
            }
        }
        chunks
    }

    /// Passes over the chunks on several threads.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch([Health(1.0); 10_000]);
    /// world.query_mut::<&mut Health>().par().for_each_chunk(|health| {
    ///     health.iter_mut().for_each(|health| health.0 = 2.0);
    /// });
    /// assert!(world.query::<&Health>().rows().all(|health| health.0 == 2.0));
    /// ```
    #[inline]
    pub const fn par(self) -> ParChunks<'w, Q, F> {
        ParChunks { query: self }
    }
}

/// Passes over the chunks of a query on several threads; made by [`Query::par`].
#[must_use = "its methods visit the chunks"]
pub struct ParChunks<'w, Q: Terms, F: Filter = ()> {
    pub(crate) query: Query<'w, Q, F>,
}

impl<Q: Terms, F: Filter> fmt::Debug for ParChunks<'_, Q, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParChunks").finish_non_exhaustive()
    }
}

impl<'w, Q: Terms, F: Filter> ParChunks<'w, Q, F> {
    /// Calls `body` with the slices of each chunk, or of parts of it, on the calling thread
    /// and rayon's.
    ///
    /// Each row is visited once, by one thread, and no two threads write to one cache line of a
    /// column. The calling thread begins alone. After 4 microseconds it estimates the remaining
    /// work, and shares it only if it takes 30 microseconds or more. So small work costs the same
    /// as the loop, plus a few readings of the clock. The unit of shared work is a run of whole
    /// chunks. If there are fewer than four chunks a thread, they are divided into parts of 16 rows
    /// and more (32 if the size of a written component is twice an odd number, 64 if it is odd, 512
    /// for enable bits); the boundaries depend on the clock. So the body must treat each row by
    /// itself. For a result that is reduced from slices use
    /// [`chunks`](crate::chunks::ParChunks::chunks), which has whole chunks in order.
    ///
    /// The body may return [`Modified::No`], as in [`for_each_chunk`](Query::for_each_chunk): a
    /// chunk keeps its versions if no part of it was modified. A panic in the body reaches the
    /// caller when the other threads have finished. A chunk in which a body panicked counts as
    /// modified; the chunks that were visited before depend on the threads.
    ///
    /// The body cannot record commands or send events: several threads would share one buffer,
    /// which does not compile. [`ParChunks::record`](crate::chunks::ParChunks::record) gives each
    /// chunk a writer. Allocates one entry per chunk.
    ///
    /// Hold no lock over the pass that another system or body takes: while a thread of a pool waits
    /// for its helpers, rayon may have it run that system, which then waits for its own thread. A
    /// pass also waits for helpers that it has called while the program keeps their threads busy;
    /// [`Schedule::threads`](crate::Schedule::threads) makes a pool for one schedule.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..10_000).map(|_| Health(1.0)));
    /// world.query_mut::<&mut Health>().par().for_each_chunk(|health| {
    ///     health.iter_mut().for_each(|h| h.0 *= 0.5);
    /// });
    /// assert!(world.query::<&Health>().rows().all(|h| h.0 == 0.5));
    /// ```
    pub fn for_each_chunk<R: Into<Modified>>(self, body: impl Fn(Q::Slices<'w>) -> R + Send + Sync)
    where
        Q::Slices<'w>: ParSlices,
    {
        let mut iter = self.query.into_iter();
        let (cursor, filter, slice_rows, sets) = iter.parts();
        let mut jobs = Vec::new();
        let (mut visited, mut archetypes) = (Vec::new(), Vec::new());
        while cursor.enter::<Q, F>(filter) {
            let mut current = cursor.current.take().expect("no archetype was entered");
            let part_rows = part_rows::<Q>(current.chunks.columns());
            while let Some(mut cut) = current.cut_next::<Q, F>(filter, slice_rows) {
                let rows = cut.columns.padded_len();
                visited.push(VisitedChunk {
                    archetype: archetypes.len(),
                    chunk: cut.chunk,
                    runs: cut
                        .some_rows::<Q, F>()
                        .filter(|_| Q::TRACKS_LINES)
                        .map(|seen| seen.runs_in_chunk().collect()),
                    words: (F::BY_LINES > 0 && Q::TRACKS_LINES).then(|| cut.seen.copied_words()),
                    row_bytes: row_bytes(&cut.columns),
                    part_rows,
                    modified: AtomicBool::new(false),
                });
                jobs.push((Q::cut(&mut cut.columns, cut.rows, sets), rows, cut.seen));
            }
            archetypes.push((current.chunks.columns(), current.beside));
        }
        let stamp =
            StampAllOnDrop::<Q> { terms: PhantomData, archetypes, visited, now: cursor.now() };
        let run = |part: ParallelPart<'_, 'w, Q>| {
            let mut mark = MarkOnDrop { visited: part.visited, modified: Modified::No };
            let mut call = |slices| {
                let before = core::mem::replace(&mut mark.modified, Modified::Yes);
                mark.modified = body(slices).into().or(before);
            };
            let ParallelPart { mut slices, seen, .. } = part;
            if !is_by_row::<Q, F>() {
                return call(slices);
            }
            let mut seen = SeenRuns::new(seen);
            while let Some((slices, _)) = seen.cut_next::<Q>(&mut slices) {
                call(slices);
            }
        };
        let chunks = jobs.into_iter().zip(&stamp.visited);
        let parts = chunks.map(|((slices, rows, seen), visited)| ParallelPart {
            slices,
            rows,
            seen: visited.words.as_ref().map_or(seen, |words| seen.by_words(words)),
            visited,
        });
        share(parts.collect(), run);
    }

    /// The chunks as an indexed rayon iterator, which can be mapped, zipped and reduced in order.
    ///
    /// Every chunk is stamped when this is called. Allocates one entry per chunk.
    ///
    /// The traits of rayon have the iterator's methods: a crate that calls them depends on `rayon`.
    /// Its tasks run in the pool around the thread, also in a system.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// use rayon::prelude::*;
    ///
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..10_000).map(|i| Health(i as f32)));
    /// // `collect` keeps the order of chunks: the sum has the same bits on any number of threads.
    /// let sums: Vec<f32> = world
    ///     .query::<&Health>()
    ///     .par().chunks()
    ///     .map(|health| phalanx::simd::fold::sum(scalars::<f32>(health)))
    ///     .collect();
    /// assert_eq!(sums.iter().sum::<f32>(), 49_995_000.0);
    /// ```
    pub fn chunks(self) -> impl IndexedParallelIterator<Item = Q::Slices<'w>>
    where
        Q::Slices<'w>: ParSlices,
    {
        self.query.into_iter().collect::<Vec<_>>().into_par_iter()
    }
}

//! The pass over chosen rows of a query: the rows between bounds.
//!
//! The rows are chosen before the pass begins: a [`Choice`] has one entry for each chunk of each
//! archetype that the query matches. A turn of the pass takes the next rows that are chosen and
//! that the query sees, and cuts them off the slices of their chunk.

use core::fmt;
use core::ops::Range;

use crate::entity::ArchetypeId;
use crate::storage::{RowMask, RowRuns, SliceRows};

use super::chunk_run::cut_rows;
use super::filter::Filter;
use super::open_filter::OpenFilter;
use super::query::Query;
use super::query_iter::QueryIter;
use super::terms::{BorrowOf, HeldOf, Terms};

/// The chosen rows of all chunks that a query matches, in its order.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    /// The archetypes, with the number of the first entry in `chunks`.
    archetypes: Vec<(usize, usize)>,
    chunks: Vec<ChosenRows>,
    /// Sixty-four rows each.
    words: Vec<u64>,
}

/// The chosen rows of a chunk.
#[derive(Clone, Copy, Debug)]
enum ChosenRows {
    None,
    All,
    Run {
        start: u32,
        end: u32,
    },
    /// Rows by their bits, from this word on.
    Words(usize),
}

impl Choice {
    /// Begins an archetype.
    pub(super) fn begin(&mut self, archetype: ArchetypeId) {
        self.archetypes.push((archetype.index(), self.chunks.len()));
    }

    /// Chooses all rows of the next chunk.
    pub(super) fn push_all(&mut self) {
        self.chunks.push(ChosenRows::All);
    }

    /// Chooses no row of the next chunk.
    pub(super) fn push_none(&mut self) {
        self.chunks.push(ChosenRows::None);
    }

    /// Chooses rows of the next chunk that follow each other: none if the range is inverted.
    pub(super) fn push_run(&mut self, rows: Range<usize>) {
        let narrow = |row| u32::try_from(row).expect("a chunk has 2^32 rows or more");
        self.chunks.push(match rows.is_empty() {
            true => ChosenRows::None,
            false => ChosenRows::Run { start: narrow(rows.start), end: narrow(rows.end) },
        });
    }

    /// Chooses rows of the next chunk: `word_of` returns the bits of up to 64 rows.
    #[inline]
    pub(super) fn push_rows(&mut self, rows: usize, word_of: impl Fn(Range<usize>) -> u64) {
        let first = self.words.len();
        let words = (0..rows).step_by(64);
        self.words.extend(words.map(|start| word_of(start..rows.min(start + 64))));
        let any = self.words[first..].iter().any(|&word| word != 0);
        self.chunks.push(if any { ChosenRows::Words(first) } else { ChosenRows::None });
    }

    /// The first run of chosen rows in `rows`, and the rows after it, of a chunk.
    fn cut_run(&self, chosen: ChosenRows, rows: Range<u32>) -> (Range<u32>, Range<u32>) {
        let Range { start, end } = rows;
        match chosen {
            ChosenRows::None => (end..end, end..end),
            ChosenRows::All => (rows, end..end),
            ChosenRows::Run { start: first, end: last } => {
                (start.max(first)..end.min(last), end..end)
            }
            ChosenRows::Words(first) => {
                let words = &self.words[first..];
                let from = next_bit(words, start..end, Bit::Set);
                let until = next_bit(words, from..end, Bit::Clear);
                (from..until, until..end)
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Bit {
    Set,
    Clear,
}

/// The first row with such a bit; the end if there is none.
fn next_bit(words: &[u64], rows: Range<u32>, bit: Bit) -> u32 {
    let mut row = rows.start;
    while row < rows.end {
        let word = words[(row / 64) as usize];
        let word = match bit {
            Bit::Set => word,
            Bit::Clear => !word,
        };
        let rest = word >> (row % 64);
        if rest != 0 {
            return (row + rest.trailing_zeros()).min(rows.end);
        }
        row = (row / 64 + 1) * 64;
    }
    rows.end
}

/// The rows of a query with a key in a range. Made by
/// [`ChunkBounds::between`](crate::rows::ChunkBounds::between).
///
/// A loop over it yields slices, run by run: the whole chunk where all keys are in the range.
/// [`rows`](Between::rows) yields the rows one by one.
#[must_use = "it does nothing until it is iterated"]
pub struct Between<'w, Q: Terms, F: Filter = ()> {
    query: Query<'w, Q, F>,
    choice: Choice,
}

impl<'w, Q: Terms, F: Filter> Between<'w, Q, F> {
    pub(super) const fn new(query: Query<'w, Q, F>, choice: Choice) -> Self {
        Self { query, choice }
    }

    /// Iterates over the rows, as [`Query::rows`](crate::Query::rows) does.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::rows::ChunkBounds;
    /// # #[component] #[derive(PartialEq, Eq, PartialOrd, Ord)] struct Time(u32);
    /// # let mut world = World::new();
    /// let all = world.spawn_batch((0..1000).map(Time)).to_vec();
    /// let times = ChunkBounds::<Time>::new();
    /// let late = times.between(world.query::<(Entity, &Time)>(), Time(998)..);
    /// assert!(late.rows().map(|(entity, _)| entity).eq(all[998..].iter().copied()));
    /// ```
    pub fn rows(self) -> impl Iterator<Item = Q::Row<'w>> {
        let Query { borrow, held, filter, .. } = self.query;
        let parts = BetweenParts::<Q::ByRow, F>::new(borrow, held, filter, self.choice);
        parts.flat_map(|(slices, rows)| Q::ByRow::rows(slices, rows))
    }
}

impl<'w, Q: Terms, F: Filter> IntoIterator for Between<'w, Q, F> {
    type Item = Q::Slices<'w>;
    type IntoIter = BetweenIter<'w, Q, F>;

    fn into_iter(self) -> BetweenIter<'w, Q, F> {
        let Query { borrow, held, filter, .. } = self.query;
        BetweenIter { parts: BetweenParts::new(borrow, held, filter, self.choice) }
    }
}

impl<Q: Terms, F: Filter> fmt::Debug for Between<'_, Q, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Between").field("query", &self.query).finish_non_exhaustive()
    }
}

/// One pass over the slices of rows with a key in a range. See [`Between`].
#[must_use = "iterators are lazy"]
pub struct BetweenIter<'w, Q: Terms, F: Filter = ()> {
    parts: BetweenParts<'w, Q, F>,
}

impl<'w, Q: Terms, F: Filter> Iterator for BetweenIter<'w, Q, F> {
    type Item = Q::Slices<'w>;

    fn next(&mut self) -> Option<Q::Slices<'w>> {
        self.parts.next().map(|(slices, _)| slices)
    }
}

impl<Q: Terms, F: Filter> fmt::Debug for BetweenIter<'_, Q, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BetweenIter").finish_non_exhaustive()
    }
}

/// Yields the slices of each run of chosen rows, and their number.
struct BetweenParts<'w, Q: Terms, F: Filter> {
    iter: QueryIter<'w, Q, F>,
    choice: Choice,
    /// The archetypes that were entered.
    entered: usize,
    chunk: CurrentChunk<'w, Q>,
}

/// The rows of a chunk that were not handed out yet.
struct CurrentChunk<'w, Q: Terms> {
    number: usize,
    slices: Q::Slices<'w>,
    /// The row at which the slices begin.
    at: u32,
    chosen: ChosenRows,
    /// The runs that the query sees.
    seen: RowRuns<'w>,
    /// The rest of the last one.
    run: Range<u32>,
}

impl<'w, Q: Terms, F: Filter> BetweenParts<'w, Q, F> {
    fn new(
        borrow: BorrowOf<'w, Q>,
        held: HeldOf<'w, Q>,
        filter: OpenFilter<'w, F>,
        choice: Choice,
    ) -> Self {
        let chunk = CurrentChunk {
            number: 0,
            slices: Q::empty(),
            at: 0,
            chosen: ChosenRows::None,
            seen: RowMask::empty().runs(),
            run: 0..0,
        };
        Self {
            iter: QueryIter::new(borrow, held, filter, SliceRows::Live),
            choice,
            entered: 0,
            chunk,
        }
    }

    /// The next run of rows in the current chunk.
    fn next_run(&mut self) -> Option<Range<u32>> {
        let CurrentChunk { chosen, seen, run, .. } = &mut self.chunk;
        loop {
            if Range::is_empty(run) {
                *run = seen.next_run()?;
            }
            let (rows, rest) = self.choice.cut_run(*chosen, run.clone());
            *run = rest;
            if !rows.is_empty() {
                return Some(rows);
            }
        }
    }

    /// Takes the next chunk with chosen rows, and passes the others over. False at the end.
    fn next_chunk(&mut self) -> bool {
        let (cursor, filter, _, sets) = self.iter.parts();
        loop {
            let Some(current) = &mut cursor.current else {
                if !cursor.enter::<Q, F>(filter) {
                    return false;
                }
                let archetype = cursor.current.as_ref().map(|current| current.archetype);
                // The pass leaves out archetypes without chunks that pass the filter.
                let is_current = |&(number, _): &(usize, usize)| Some(number) == archetype;
                let ahead = self.choice.archetypes[self.entered..].iter().position(is_current);
                self.entered += ahead.expect("a pass visits an archetype that was not read");
                continue;
            };
            let first = self.choice.archetypes[self.entered].1;
            let chosen = |chunk| self.choice.chunks[first + chunk];
            let is_passed = |chunk| matches!(chosen(chunk), ChosenRows::None);
            while !current.chunks.is_done() && is_passed(current.chunks.index()) {
                current.chunks.skip();
            }
            let Some(mut cut) = current.cut_next::<Q, F>(filter, SliceRows::Live) else {
                cursor.current = None;
                continue;
            };
            let (number, chosen) = (cut.chunk, chosen(cut.chunk));
            let live = u32::try_from(cut.columns.live()).unwrap_or(u32::MAX);
            let seen = cut.some_rows::<Q, F>().unwrap_or_else(|| RowMask::all_of(0, live)).runs();
            let slices = Q::cut(&mut cut.columns, cut.rows, sets);
            self.chunk = CurrentChunk { number, slices, at: 0, chosen, seen, run: 0..0 };
            return true;
        }
    }
}

impl<'w, Q: Terms, F: Filter> Iterator for BetweenParts<'w, Q, F> {
    type Item = (Q::Slices<'w>, usize);

    fn next(&mut self) -> Option<(Q::Slices<'w>, usize)> {
        loop {
            if let Some(rows) = self.next_run() {
                let chunk = &mut self.chunk;
                // Each run, because lines and enable bits decide which of them is written.
                if Q::WRITES {
                    let own = RowMask::run_in(chunk.number, rows.clone());
                    self.iter.parts().0.stamp::<Q>(chunk.number, Some(own));
                }
                let len = rows.len();
                return Some((cut_rows::<Q>(&mut chunk.slices, &mut chunk.at, rows), len));
            }
            if !self.next_chunk() {
                return None;
            }
        }
    }
}

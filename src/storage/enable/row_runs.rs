//! The runs of rows of a chunk that a query sees.

use core::ops::Range;

use super::row_mask::RowMask;

impl<'w> RowMask<'w> {
    /// The runs of rows that are seen, as ranges of indices. O(rows / 64 + runs).
    #[inline]
    pub const fn runs(self) -> RowRuns<'w> {
        RowRuns { mask: self, next: 0, word: 0, have: 0 }
    }

    /// The runs of rows that are seen, by their numbers in the chunk.
    #[inline]
    pub(crate) fn runs_in_chunk(self) -> impl Iterator<Item = Range<u32>> {
        let mut runs = self.runs();
        core::iter::from_fn(move || {
            runs.next_run().map(|run| self.origin + run.start..self.origin + run.end)
        })
    }

    /// No rows.
    #[inline]
    pub(crate) const fn empty() -> Self {
        Self::all_of(0, 0)
    }
}

/// The runs of rows that a query sees in a chunk: made by [`RowMask::runs`].
#[derive(Clone, Debug)]
#[must_use = "iterators are lazy"]
pub struct RowRuns<'w> {
    mask: RowMask<'w>,
    /// The row after the last run.
    next: u32,
    /// The rows from there on that are in one word, if that was loaded, and their number.
    word: u64,
    have: u32,
}

impl RowRuns<'_> {
    /// The next run.
    #[inline]
    pub(crate) fn next_run(&mut self) -> Option<Range<u32>> {
        let rows = self.mask.rows;
        if self.mask.words.is_empty() {
            let origin = self.mask.origin;
            let rest = origin + self.next.min(rows)..origin + rows;
            let Some(run) = self.mask.newer.next_run(rest) else {
                self.next = rows;
                return None;
            };
            self.next = run.end - origin;
            return Some(run.start - origin..self.next);
        }
        let (mut at, mut word, mut have) = (self.next, self.word, self.have);
        while word == 0 {
            at += have;
            if at >= rows {
                (self.next, self.word, self.have) = (rows, 0, 0);
                return None;
            }
            (word, have) = self.mask.rest_of_word(at);
        }
        let skipped = word.trailing_zeros();
        (at, word, have) = (at + skipped, word >> skipped, have - skipped);
        let start = at;
        loop {
            let run = word.trailing_ones();
            at += run;
            // In two steps: the run may be the whole word.
            (word, have) = ((word >> (run / 2)) >> (run - run / 2), have - run);
            if have > 0 || at >= rows {
                break;
            }
            (word, have) = self.mask.rest_of_word(at);
        }
        (self.next, self.word, self.have) = (at, word, have);
        // Rows past the last one are enabled as far as bits tell.
        let end = at.min(rows);
        (start < end).then_some(start..end)
    }
}

impl Iterator for RowRuns<'_> {
    type Item = Range<usize>;

    #[inline]
    fn next(&mut self) -> Option<Range<usize>> {
        self.next_run().map(|run| run.start as usize..run.end as usize)
    }
}

impl core::iter::FusedIterator for RowRuns<'_> {}

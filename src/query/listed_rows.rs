//! The rows of slices that a list has.
//!
//! Where a query sees few rows of each word of bits, a [list](FewRows) has the rows of several.
//! Its rows are known before the first is taken, so a term that looks up the value of each row
//! looks up all of them together.

use crate::storage::{FewRows, ListedRow};

use super::known_positions::KnownPositions;
use super::some_rows::PickRow;

/// The rows of slices that a list has.
#[derive(Debug)]
pub(super) struct ListedRows<I> {
    rows: I,
    pub(super) list: Option<FewRows>,
}

impl<I: PickRow> ListedRows<I> {
    /// No rows; `rows` has none.
    #[inline(always)]
    pub(super) const fn none(rows: I) -> Self {
        Self { rows, list: None }
    }

    /// Begins with the rows of a list, with its first and its last row at the ends of `rows`.
    #[inline(always)]
    pub(super) fn begin(&mut self, rows: I, known: Option<&KnownPositions>) {
        self.rows = rows;
        if let Some(list) = &self.list {
            self.rows.look_up(list.rows(), known);
        }
    }

    /// The next row.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<I::Item> {
        let ListedRow { place, skip } = self.list.as_mut()?.next()?;
        self.rows.next_listed(place, skip)
    }

    /// Folds over the rows that are left, and leaves `none`.
    #[inline(always)]
    pub(super) fn fold<B>(&mut self, none: I, init: B, mut f: impl FnMut(B, I::Item) -> B) -> B {
        let Some(list) = &self.list else { return init };
        // A value of its own stays in registers.
        let (mut rows, mut folded) = (core::mem::replace(&mut self.rows, none), init);
        for ListedRow { place, skip } in list.rest() {
            let Some(item) = rows.next_listed(place, skip) else { break };
            folded = f(folded, item);
        }
        self.list = None;
        folded
    }
}

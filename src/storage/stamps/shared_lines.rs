//! The memory of stamps: whole lines, which up to eight small archetypes share that have
//! equally many components.
//!
//! ```text
//!  a page of eight archetypes, a line each run: the stamp of the only chunk of each
//!
//!  order     │ 0 │ 1 │ 2 │ 3 │ 4 │ 5 │ 6 │ 7 │
//!  arrival   │ 0 │ 1 │ 2 │ 3 │ 4 │ 5 │ 6 │ 7 │
//!  column 0  │ 0 │ 1 │ 2 │ 3 │ 4 │ 5 │ 6 │ 7 │
//!  …
//! ```
//!
//! A query that writes one column of thousands of archetypes stamps an eighth of a line in each. In a
//! table of its own each would have a line: at 10,000 archetypes of two rows as many bytes as their
//! cells, and with these too many for a second-level cache of 1 MiB.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::line::LINE_BYTES;

use super::stamp::{LINE_STAMPS, Stamp};

/// Lines of stamps, which live as long as one of the tables in them.
#[derive(Clone, Debug)]
pub(super) struct Page(Arc<[Stamp]>);

impl Page {
    /// Lines of stamps of what nobody ever touched, and where the first of them starts.
    pub(super) fn new(lines: usize) -> (Self, usize) {
        let stamps: Arc<[Stamp]> =
            (0..(lines + 1) * LINE_STAMPS - 1).map(|_| Stamp::default()).collect();
        // Where no line starts can be told, any place will do.
        let start = stamps.as_ptr().align_offset(LINE_BYTES).min(LINE_STAMPS - 1);
        (Self(stamps), start)
    }

    /// The bytes of the allocation, divided among all who hold it.
    pub(super) fn bytes_each(&self) -> usize {
        const COUNTS: usize = 2 * size_of::<usize>();
        (COUNTS + size_of_val(&*self.0)) / Arc::strong_count(&self.0)
    }

    #[inline(always)]
    pub(super) fn stamps(&self) -> &[Stamp] {
        &self.0
    }
}

/// Pages that have room for more archetypes, by the number of their runs.
#[derive(Debug, Default)]
pub(crate) struct SharedLines {
    open: FxHashMap<usize, OpenPage>,
}

#[derive(Debug)]
struct OpenPage {
    page: Page,
    /// Where the next archetype's first run is.
    next: usize,
    /// Archetypes that there is room for.
    left: usize,
}

impl SharedLines {
    /// Room for `runs` runs of one stamp, a line apart, and where the first is.
    pub(super) fn take(&mut self, runs: usize) -> (Page, usize) {
        let open = self.open.entry(runs).or_insert_with(|| {
            let (page, next) = Page::new(runs);
            OpenPage { page, next, left: LINE_STAMPS }
        });
        let taken = (open.page.clone(), open.next);
        open.next += 1;
        open.left -= 1;
        if open.left == 0 {
            self.open.remove(&runs);
        }
        taken
    }

    /// The part of the pages that is counted by none of the archetypes in them.
    pub(crate) fn bytes(&self) -> usize {
        self.open.values().map(|open| open.page.bytes_each()).sum()
    }
}

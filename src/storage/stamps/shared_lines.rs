//! The memory of stamps: whole lines, shared by up to eight small archetypes with the same number
//! of components.
//!
//! ```text
//!  a page of eight archetypes, a line per kind: the stamp of the only chunk of each
//!
//!  order     │ 0 │ 1 │ 2 │ 3 │ 4 │ 5 │ 6 │ 7 │
//!  arrival   │ 0 │ 1 │ 2 │ 3 │ 4 │ 5 │ 6 │ 7 │
//!  column 0  │ 0 │ 1 │ 2 │ 3 │ 4 │ 5 │ 6 │ 7 │
//!  …
//! ```
//!
//! A query that writes one column of thousands of archetypes stamps an eighth of a line in each. In
//! a table of its own each archetype would have a whole line. At 10,000 archetypes of two rows the
//! tables would have the size of the cells, and together they would exceed a second-level cache of
//! 1 MiB.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::line::LINE_BYTES;

use super::stamp::{LINE_STAMPS, Stamp};

/// Lines of stamps, freed with the last archetype that uses them.
#[derive(Clone, Debug)]
pub(super) struct Page(Arc<[Stamp]>);

impl Page {
    /// Lines of stamps that were never set, and the index at which the first line starts. A line
    /// follows the last one, so that from each stamp on there are as many stamps as in a line.
    pub(super) fn new(lines: usize) -> (Self, usize) {
        let stamps: Arc<[Stamp]> =
            (0..(lines + 2) * LINE_STAMPS - 2).map(|_| Stamp::default()).collect();
        // `align_offset` may fail (under Miri). In this case any start is correct, only slower.
        let start = stamps.as_ptr().align_offset(LINE_BYTES).min(LINE_STAMPS - 1);
        (Self(stamps), start)
    }

    /// The bytes of the allocation, divided by the number of its owners.
    pub(super) fn bytes_each(&self) -> usize {
        const COUNTS: usize = 2 * size_of::<usize>();
        (COUNTS + size_of_val(&*self.0)) / Arc::strong_count(&self.0)
    }

    #[inline(always)]
    pub(super) fn stamps(&self) -> &[Stamp] {
        &self.0
    }
}

/// Pages that have room for more archetypes, by their number of kinds.
#[derive(Debug, Default)]
pub(crate) struct SharedLines {
    open: FxHashMap<usize, OpenPage>,
}

#[derive(Debug)]
struct OpenPage {
    page: Page,
    /// The index of the next archetype's first stamp.
    next: usize,
    /// Number of archetypes that still fit.
    left: usize,
}

impl SharedLines {
    /// Allocates one stamp of each kind, a line apart. Returns the page and the index of the first.
    pub(super) fn allocate(&mut self, kinds: usize) -> (Page, usize) {
        let open = self.open.entry(kinds).or_insert_with(|| {
            let (page, next) = Page::new(kinds);
            OpenPage { page, next, left: LINE_STAMPS }
        });
        let allocated = (open.page.clone(), open.next);
        open.next += 1;
        open.left -= 1;
        if open.left == 0 {
            self.open.remove(&kinds);
        }
        allocated
    }

    /// The share of the pages' bytes that is counted for no archetype.
    pub(crate) fn bytes(&self) -> usize {
        self.open.values().map(|open| open.page.bytes_each()).sum()
    }
}

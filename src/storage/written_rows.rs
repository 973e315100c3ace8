//! The proof that rows are written, which a list needs to make them live.

#![expect(unsafe_code, reason = "who makes a proof promises that cells are initialised")]

/// Proof that every cell of a row is written.
#[derive(Debug)]
pub(super) struct WrittenRow(());

impl WrittenRow {
    /// # Safety
    ///
    /// Every cell of the list's next row, to which the proof is given, must be written.
    #[inline(always)]
    pub(super) const unsafe fn new() -> Self {
        Self(())
    }
}

/// Rows of one list after its last live one that are written in every column.
#[derive(Debug)]
#[must_use = "`ChunkList::commit` makes the rows live"]
pub(crate) struct WrittenRows {
    /// The list's key.
    key: u64,
    /// The number of live rows, which these rows follow.
    first: usize,
    rows: usize,
}

impl WrittenRows {
    /// No rows yet, after the `first` live ones of the list with this key.
    #[inline]
    pub(super) const fn after(key: u64, first: usize) -> Self {
        Self { key, first, rows: 0 }
    }

    /// Number of rows.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.rows
    }

    /// Whether these rows directly follow the `len` live rows of the list with this key.
    #[inline]
    pub(super) const fn follow(&self, key: u64, len: usize) -> bool {
        self.key == key && self.first == len
    }

    /// Adds `rows` rows from number `first` on.
    ///
    /// # Panics
    ///
    /// If they are of another list or do not directly follow these rows.
    ///
    /// # Safety
    ///
    /// They are written in every column of the list with this key.
    #[inline]
    pub(super) unsafe fn add_rows(&mut self, key: u64, first: usize, rows: usize) {
        self.assert_next(key, first);
        self.rows += rows;
    }

    /// # Panics
    ///
    /// If row `first` of the list with this key does not directly follow these rows.
    #[inline]
    pub(super) fn assert_next(&self, key: u64, first: usize) {
        let follows = self.key == key && self.first + self.rows == first;
        assert!(follows, "the run does not follow the written rows");
    }
}

//! A row's place in a list, split for access, and neighbours.

/// A [`RowIndex`](crate::entity::RowIndex), split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ChunkRow {
    pub(crate) chunk: u32,
    pub(crate) row: u32,
}

/// Live rows of one chunk that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowRun {
    /// The first of them.
    pub(crate) at: ChunkRow,
    /// Their number.
    pub(crate) len: u32,
}

impl RowRun {
    /// Adds a row: to the last of these runs if it follows it, otherwise as a new run.
    #[inline]
    pub(crate) fn add(runs: &mut Vec<Self>, row: ChunkRow) {
        match runs.last_mut() {
            Some(last) if last.end() == row => last.len += 1,
            _ => runs.push(Self { at: row, len: 1 }),
        }
    }

    /// The place after the last row, in the same chunk.
    #[inline]
    pub(crate) const fn end(self) -> ChunkRow {
        ChunkRow { row: self.at.row + self.len, ..self.at }
    }

    /// Takes at most `len` rows from the start.
    pub(crate) fn take_first(&mut self, len: u32) -> Self {
        let taken = Self { len: self.len.min(len), ..*self };
        *self = Self { at: taken.end(), len: self.len - taken.len };
        taken
    }
}

//! Which columns a query cuts, proved disjoint once for every archetype.

use super::super::chunk::ChunkList;

/// What a table row wants of one column of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnUse {
    /// The column, or `None` where the archetype lacks an optional one.
    pub(crate) column: Option<u16>,
    /// Whether the slice is handed out as `&mut`.
    pub(crate) write: bool,
}

/// A column of a list as a cutter needs it.
#[derive(Clone, Copy, Debug)]
pub struct CutColumn {
    /// Offset in a full chunk and in a small first block.
    pub(super) offsets: [u32; 2],
    pub(super) size: u32,
    column: u16,
    pub(super) write: bool,
}

impl CutColumn {
    const ABSENT: u16 = u16::MAX;

    /// The column's number in its archetype, if the archetype has it.
    #[inline]
    pub(crate) const fn column(&self) -> Option<u16> {
        if self.column == Self::ABSENT { None } else { Some(self.column) }
    }

    /// The column's number if it is handed out as `&mut`.
    #[inline]
    pub(crate) const fn written(&self) -> Option<u16> {
        if self.write { self.column() } else { None }
    }
}

/// Which columns a query cuts from each of its archetypes: one row of `width` columns a list.
///
/// [`CutTable::push`] proves for each row that the columns belong to the list with that key and
/// that no column is named twice if one of the two mentions writes it.
#[derive(Clone, Debug)]
pub(crate) struct CutTable {
    width: usize,
    keys: Vec<u64>,
    columns: Vec<CutColumn>,
}

impl CutTable {
    pub(crate) const fn new(width: usize) -> Self {
        Self { width, keys: Vec::new(), columns: Vec::new() }
    }

    /// Adds a row for `list`.
    ///
    /// # Panics
    ///
    /// If a column is named twice and written, or the number of columns is not the table's width.
    pub(crate) fn push(&mut self, list: &ChunkList, uses: &[ColumnUse]) {
        assert_eq!(uses.len(), self.width, "a row has the table's width");
        for (i, a) in uses.iter().enumerate() {
            for b in &uses[i + 1..] {
                let apart = a.column.is_none() || a.column != b.column || !(a.write || b.write);
                assert!(apart, "a column that is written is named once");
            }
        }
        self.keys.push(list.key());
        self.columns.extend(uses.iter().map(|one| match one.column {
            Some(column) => CutColumn {
                offsets: list.offsets(column),
                size: u32::try_from(list.columns()[column as usize].size).expect("inside a chunk"),
                column,
                write: one.write,
            },
            None => CutColumn { offsets: [0; 2], size: 0, column: CutColumn::ABSENT, write: false },
        }));
    }

    /// Columns of a row.
    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    #[inline]
    pub(crate) fn row(&self, index: usize) -> CutRow<'_> {
        let start = index * self.width;
        CutRow { key: self.keys[index], columns: &self.columns[start..start + self.width] }
    }
}

/// One row of a [`CutTable`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct CutRow<'p> {
    pub(super) key: u64,
    columns: &'p [CutColumn],
}

impl<'p> CutRow<'p> {
    /// The columns, in the order of the query's terms and filters.
    #[inline]
    pub(crate) const fn columns(self) -> &'p [CutColumn] {
        self.columns
    }

    /// Bytes of one entity in these columns.
    #[inline]
    pub(crate) fn row_bytes(self) -> usize {
        self.columns.iter().map(|c| c.size as usize).sum()
    }
}

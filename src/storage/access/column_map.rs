//! Which columns a query cuts, proved disjoint once for every archetype.

use crate::storage::chunk_list::ChunkList;

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
pub struct ColumnRef {
    /// Offset in a full chunk and in a small first block.
    pub(super) offsets: [u32; 2],
    pub(super) size: u32,
    column: u16,
    pub(super) write: bool,
    /// The alignment of the column's type is two to this power.
    pub(super) align_log2: u8,
}

impl ColumnRef {
    const ABSENT: u16 = u16::MAX;
    /// Of an optional component that the archetype lacks.
    const NONE: Self =
        Self { offsets: [0; 2], size: 0, column: Self::ABSENT, write: false, align_log2: 0 };

    fn new(list: &ChunkList, column: u16, write: bool) -> Self {
        let shape = list.columns()[usize::from(column)];
        Self {
            offsets: list.offsets(column),
            size: u32::try_from(shape.size).expect("inside a chunk"),
            column,
            write,
            align_log2: u8::try_from(shape.align.trailing_zeros()).expect("bits of a size"),
        }
    }

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
/// [`ColumnMap::push`] proves for each row that the columns belong to the list with that key and
/// that no column is named twice if one of the two mentions writes it.
#[derive(Clone, Debug)]
pub(crate) struct ColumnMap {
    width: usize,
    rows: Vec<RowHead>,
    columns: Vec<ColumnRef>,
}

/// Where a row's columns are, and what the caller filed it under.
#[derive(Clone, Copy, Debug)]
struct RowHead {
    key: u64,
    label: u32,
    start: u32,
    row_bytes: u32,
}

impl ColumnMap {
    pub(crate) const fn new(width: usize) -> Self {
        Self { width, rows: Vec::new(), columns: Vec::new() }
    }

    /// Adds a row for `list`, which the caller knows by `label`.
    ///
    /// # Panics
    ///
    /// If a column is named twice and written, or the number of columns is not the table's width.
    pub(crate) fn push(
        &mut self,
        label: u32,
        list: &ChunkList,
        uses: impl IntoIterator<Item = ColumnUse>,
    ) {
        let start = self.columns.len();
        // Written where they stay: a column of a row that is refused below belongs to no row.
        self.columns.extend(uses.into_iter().map(|one| match one.column {
            Some(column) => ColumnRef::new(list, column, one.write),
            None => ColumnRef::NONE,
        }));
        let columns = &self.columns[start..];
        assert_eq!(columns.len(), self.width, "a row has the table's width");
        for (i, a) in columns.iter().enumerate() {
            for b in &columns[i + 1..] {
                let apart = a.column().is_none() || a.column != b.column || !(a.write || b.write);
                assert!(apart, "a column that is written is named once");
            }
        }
        let row_bytes = columns.iter().map(|c| c.size).sum();
        let start = u32::try_from(start).expect("a table has fewer than 2^32 columns");
        self.rows.push(RowHead { key: list.key(), label, start, row_bytes });
    }

    /// Columns of a row.
    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    /// The label of a row, and the row.
    #[inline]
    pub(crate) fn row(&self, index: usize) -> Option<(u32, ArchetypeColumns<'_>)> {
        let head = self.rows.get(index)?;
        let columns = &self.columns[head.start as usize..][..self.width];
        Some((head.label, ArchetypeColumns { key: head.key, row_bytes: head.row_bytes, columns }))
    }

    /// Rows.
    pub(crate) const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Bytes of the table.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<RowHead>()
            + self.columns.capacity() * size_of::<ColumnRef>()
    }

    /// The row of a label, if labels were pushed in ascending order.
    pub(crate) fn find(&self, label: u32) -> Option<usize> {
        self.rows.binary_search_by_key(&label, |row| row.label).ok()
    }

    /// The labels of all rows.
    pub(crate) fn labels(&self) -> impl Iterator<Item = u32> {
        self.rows.iter().map(|row| row.label)
    }
}

/// One row of a [`ColumnMap`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArchetypeColumns<'p> {
    pub(super) key: u64,
    row_bytes: u32,
    columns: &'p [ColumnRef],
}

impl<'p> ArchetypeColumns<'p> {
    /// The columns, in the order of the query's terms and filters.
    #[inline]
    pub(crate) const fn columns(self) -> &'p [ColumnRef] {
        self.columns
    }

    /// Bytes of one entity in these columns.
    #[inline]
    pub(crate) const fn row_bytes(self) -> usize {
        self.row_bytes as usize
    }
}

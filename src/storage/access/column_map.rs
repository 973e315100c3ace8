//! The columns that a query takes from each archetype, proved disjoint once.

use crate::component::Values;
use crate::line::LINE_BYTES;
use crate::storage::chunk_list::ChunkList;
use crate::storage::layout::Column;

use super::access_kind::AccessKind;
use super::column_type::{ColumnKind, ColumnType};
use super::labels::Labels;

/// A column that a query takes from an archetype.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnUse {
    /// The column, or `None` where the archetype lacks an optional one.
    pub(crate) column: Option<u16>,
    /// Whether the slice is handed out as `&mut`.
    pub(crate) write: bool,
    /// Whether the term takes data beside the column, and no slice.
    pub(crate) beside: bool,
}

/// A column of a list, with everything needed to slice it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnRef {
    /// The offset in the first block.
    first: u32,
    /// The column in a full-size chunk.
    chunk: Column,
    column: u16,
    pub(super) write: bool,
    pub(super) kind: ColumnKind,
}

impl ColumnRef {
    const ABSENT: u16 = u16::MAX;
    /// An optional component that the archetype lacks.
    const NONE: Self = Self {
        first: 0,
        chunk: Column::NONE,
        column: Self::ABSENT,
        write: false,
        kind: ColumnKind::NONE,
    };

    fn new(list: &ChunkList, column: u16, write: bool, beside: bool) -> Self {
        if beside {
            return Self { column, write, kind: ColumnKind::BESIDE, ..Self::NONE };
        }
        let shape = &list.columns()[usize::from(column)];
        let (first, chunk) = list.column(column);
        Self { first, chunk, column, write, kind: ColumnKind::of_shape(shape) }
    }

    /// Bytes of a row in the column.
    #[inline]
    pub(super) const fn size(&self) -> usize {
        self.chunk.size as usize
    }

    /// Whether the term takes data beside the column.
    pub(crate) fn is_beside(&self) -> bool {
        self.kind == ColumnKind::BESIDE
    }

    /// The smallest number of rows that fills whole cache lines.
    pub(crate) fn line_rows(&self) -> usize {
        if self.is_beside() {
            return LINE_BYTES * u8::BITS as usize;
        }
        let exponent = self.size().trailing_zeros().min(LINE_BYTES.trailing_zeros());
        LINE_BYTES >> exponent
    }

    /// The offset of the column in the first block, and the column in a full-size chunk.
    #[inline(always)]
    pub(super) const fn in_blocks(&self) -> (u32, Column) {
        (self.first, self.chunk)
    }

    /// The column's number in its archetype, if the archetype has it.
    #[inline]
    pub(crate) const fn column(&self) -> Option<u16> {
        if self.column == Self::ABSENT { None } else { Some(self.column) }
    }

    /// The type of the slices of the column, if the archetype has it and the term takes slices.
    pub(super) fn type_of_slice(&self) -> Option<ColumnType> {
        let access = if self.write { AccessKind::Write } else { AccessKind::Read };
        let is_sliced = self.column != Self::ABSENT && !self.is_beside();
        is_sliced.then(|| ColumnType::new(self.size(), self.kind, access))
    }

    /// The column's number if it is handed out as `&mut`.
    #[inline]
    pub(crate) const fn written(&self) -> Option<u16> {
        if self.write { self.column() } else { None }
    }
}

/// The columns that a query takes from its archetypes: an entry of `width` columns per archetype.
///
/// [`ColumnMap::push`] proves for each entry that its columns belong to the list with its key, and
/// that it names a written column once.
#[derive(Clone, Debug)]
pub(crate) struct ColumnMap {
    width: usize,
    entries: Vec<Entry>,
    labels: Labels,
    columns: Vec<ColumnRef>,
    /// The values of each column, which are the same in all entries that have it. `None` for
    /// columns that no entry has had so far.
    values: Vec<Option<Values>>,
}

/// An entry: the caller's label, and the start of its columns.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    key: u64,
    label: u32,
    start: u32,
}

impl ColumnMap {
    pub(crate) fn new(width: usize) -> Self {
        let labels = Labels::default();
        Self { width, entries: Vec::new(), labels, columns: Vec::new(), values: Vec::new() }
    }

    /// Adds an entry for `list`, which the caller identifies by `label`. Labels ascend, so no two
    /// entries are of one list.
    ///
    /// # Panics
    ///
    /// If the label is not greater than the last one, a column is named twice and written, the
    /// number of columns differs from the map's width, or a column has other values than in the
    /// entries before.
    pub(crate) fn push(
        &mut self,
        label: u32,
        list: &ChunkList,
        uses: impl IntoIterator<Item = ColumnUse>,
    ) {
        let ascends = self.entries.last().is_none_or(|last| last.label < label);
        assert!(ascends, "the entry of list {label} does not follow those of lesser labels");
        let start = self.columns.len();
        // Pushed in place: if the entry is refused below, its columns belong to no entry.
        self.columns.extend(uses.into_iter().map(|one| match one.column {
            Some(column) => ColumnRef::new(list, column, one.write, one.beside),
            None => ColumnRef::NONE,
        }));
        let columns = &self.columns[start..];
        assert_eq!(columns.len(), self.width, "the entry has another width than the map");
        for (i, a) in columns.iter().enumerate() {
            for b in &columns[i + 1..] {
                let apart = a.column().is_none()
                    || (a.column, a.is_beside()) != (b.column, b.is_beside())
                    || !(a.write || b.write);
                assert!(apart, "a column that is written is named twice");
            }
        }
        self.values.resize(self.width, None);
        for (column, values) in columns.iter().zip(&mut self.values) {
            let Some(number) = column.column().filter(|_| !column.is_beside()) else { continue };
            let own = list.columns()[usize::from(number)].values;
            let known = *values.get_or_insert(own);
            assert!(known == own, "a column has different values in two entries");
        }
        let start = u32::try_from(start).expect("a map has 2^32 columns or more");
        // Last, so that a label has an entry whatever panics. An entry that its label does not find
        // would keep the addresses of its list after rows have moved.
        assert!(self.labels.push(label), "a label that ascends is refused");
        self.entries.push(Entry { key: list.key(), label, start });
    }

    /// Removes the entries from a label on. O(entries that are removed).
    pub(crate) fn truncate(&mut self, label: u32) {
        let len = self.entries.partition_point(|entry| entry.label < label);
        let Some(first) = self.entries.get(len) else { return };
        self.columns.truncate(first.start as usize);
        self.entries.truncate(len);
        self.labels.truncate(label);
    }

    /// [`ColumnMap::push`] among entries with lesser and greater labels. Later ones are put back as
    /// they are. O(entries that are later).
    ///
    /// # Panics
    ///
    /// As [`ColumnMap::push`], or if the label has an entry. The later entries are gone.
    pub(crate) fn insert(
        &mut self,
        label: u32,
        list: &ChunkList,
        uses: impl IntoIterator<Item = ColumnUse>,
    ) {
        let len = self.entries.partition_point(|entry| entry.label < label);
        let first = self.entries.get(len).map_or(self.columns.len(), |entry| entry.start as usize);
        let (entries, columns) = (self.entries[len..].to_vec(), self.columns[first..].to_vec());
        self.truncate(label);
        self.push(label, list, uses);
        let more = u32::try_from(self.width).expect("an entry has 2^32 columns or more");
        self.columns.extend_from_slice(&columns);
        for entry in entries {
            assert!(self.labels.push(entry.label), "the label has an entry");
            let start = entry.start.checked_add(more).expect("a map has 2^32 columns or more");
            self.entries.push(Entry { start, ..entry });
        }
    }

    /// Computes the entry with a label again, if it exists, after columns of its list were
    /// exchanged. The entry names the same columns.
    pub(crate) fn renew(&mut self, label: u32, list: &ChunkList) {
        let Some(index) = self.find(label) else { return };
        let entry = &mut self.entries[index];
        entry.key = list.key();
        for column in &mut self.columns[entry.start as usize..][..self.width] {
            if let Some(number) = column.column() {
                *column = ColumnRef::new(list, number, column.write, column.is_beside());
            }
        }
    }

    /// Whether both have the same entries with the same columns.
    pub(crate) fn has_entries_of(&self, other: &Self) -> bool {
        self.entries == other.entries && self.columns == other.columns
    }

    /// Columns per entry.
    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    /// The label of an entry, and the entry.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<(u32, ArchetypeColumns<'_>)> {
        let entry = self.entries.get(index)?;
        let columns = &self.columns[entry.start as usize..][..self.width];
        Some((entry.label, ArchetypeColumns { key: entry.key, columns, values: &self.values }))
    }

    /// Number of entries.
    pub(crate) const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bytes of the map.
    pub(crate) fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
            + self.labels.bytes()
            + self.columns.capacity() * size_of::<ColumnRef>()
            + self.values.capacity() * size_of::<Option<Values>>()
    }

    /// The index of the entry with a label. O(1).
    #[inline]
    pub(crate) fn find(&self, label: u32) -> Option<usize> {
        self.labels.find(label)
    }

    /// The labels of all entries.
    pub(crate) fn labels(&self) -> impl Iterator<Item = u32> {
        self.entries.iter().map(|entry| entry.label)
    }
}

/// One entry of a [`ColumnMap`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArchetypeColumns<'p> {
    pub(super) key: u64,
    columns: &'p [ColumnRef],
    /// The values of each column that the entry has.
    pub(super) values: &'p [Option<Values>],
}

impl<'p> ArchetypeColumns<'p> {
    /// The columns, in the order of the query's terms and filters.
    #[inline]
    pub(crate) const fn columns(self) -> &'p [ColumnRef] {
        self.columns
    }
}

//! One archetype: the chunks of its rows, the entity of each row, and their change versions.

use crate::component::{ComponentId, ComponentSet, Ranks, Registry};
use crate::entity::Entity;
use crate::storage::{
    BundleCells, ChunkList, ChunkRow, ChunkSize, ColumnShape, LayoutError, ListLayout, LiveColumns,
    NextRow, Pool, RowIndex, RowReader, RowWriter, StampKind, Stamps,
};
use crate::version::Version;

use super::change_log::LastLogged;
use super::graph::Edge;

/// An archetype's number in its world, in order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ArchetypeId(pub(crate) u32);

impl ArchetypeId {
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// All entities with exactly one set of components.
///
/// The column of a component is its rank in the set. `entities` has one entry a live row, in the
/// order of the list; `stamps` has one entry a chunk. What every query loads stands first, and an
/// archetype starts on a cache line: thousands of them are walked in a frame.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Archetype {
    pub(super) list: ChunkList,
    pub(super) stamps: Stamps,
    pub(super) entities: Vec<Entity>,
    pub(super) noted: LastLogged,
    set: ComponentSet,
    ranks: Ranks,
    components: Box<[ComponentId]>,
}

impl Archetype {
    /// How the rows of a set lie in chunks.
    ///
    /// # Errors
    ///
    /// If a row does not fit.
    pub(super) fn layout(
        set: &ComponentSet,
        registry: &Registry,
        size: ChunkSize,
    ) -> Result<ListLayout, LayoutError> {
        let shape = |id: &ComponentId| {
            let info = registry.info(*id);
            ColumnShape { name: info.name(), size: info.size(), align: info.align() }
        };
        ListLayout::new(size, set.to_list().iter().map(shape).collect())
    }

    /// The archetype of a set, without rows.
    pub(super) fn new(set: ComponentSet, layout: ListLayout, stamps: Stamps) -> Self {
        Self {
            list: ChunkList::new(layout),
            entities: Vec::new(),
            stamps,
            noted: LastLogged::default(),
            ranks: Ranks::new(&set),
            components: set.to_list(),
            set,
        }
    }

    /// The chunks of the rows.
    #[inline]
    pub(crate) const fn list(&self) -> &ChunkList {
        &self.list
    }

    /// The change versions of the chunks.
    #[inline]
    pub(crate) const fn stamps(&self) -> &Stamps {
        &self.stamps
    }

    /// The entities of the live rows, in the order of the list.
    #[inline]
    pub(crate) fn entities(&self) -> &[Entity] {
        &self.entities
    }

    #[inline]
    pub(crate) const fn set(&self) -> &ComponentSet {
        &self.set
    }

    /// The components in the order of their columns.
    pub(crate) const fn components(&self) -> &[ComponentId] {
        &self.components
    }

    /// The components whose columns have bytes: they alone decide the layout.
    pub(crate) fn components_with_bytes(&self) -> impl Iterator<Item = ComponentId> {
        let columns = self.components.iter().zip(self.list.columns());
        columns.filter(|(_, shape)| shape.size > 0).map(|(&id, _)| id)
    }

    /// The column of a component.
    #[inline]
    pub(crate) fn column(&self, id: ComponentId) -> Option<u16> {
        self.ranks.get(&self.set, id)
    }

    /// Live rows.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.list.len()
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.list.chunk_count() == 0
    }

    /// Makes room for one more row.
    #[inline]
    pub(crate) fn next_row(&mut self, pool: &mut Pool) -> NewRow<'_> {
        let Self { list, entities, stamps, .. } = self;
        NewRow { row: list.next_row(pool), entities, stamps }
    }

    /// Adds the stamps of a chunk that a row has begun.
    #[inline(always)]
    pub(super) fn grow_stamps(&mut self, at: ChunkRow) {
        if at.chunk as usize == self.stamps.chunks() {
            self.stamps.push_chunk();
        }
    }

    /// Overwrites cells of a live row, which stays where it is, and stamps them.
    ///
    /// # Panics
    ///
    /// If the edge is of another archetype, or there is no such row.
    #[inline]
    pub(crate) fn overwrite_row<T>(
        &mut self,
        edge: &Edge,
        at: RowIndex,
        now: Version,
        exchange: impl FnOnce(&mut RowReader<'_>, &mut RowWriter<'_>) -> T,
    ) -> T {
        let at = self.list.split(at);
        let exchanged = edge.cells.exchange(&mut self.list, at, exchange);
        for &column in edge.added() {
            self.stamps.touch(StampKind::column(column), at.chunk as usize, now);
        }
        exchanged
    }

    /// Lets `write` overwrite the columns of a bundle in the live rows of a chunk, and stamps them.
    pub(crate) fn overwrite_chunk(
        &mut self,
        cells: &BundleCells,
        chunk: u32,
        now: Version,
        write: impl FnOnce(&mut LiveColumns<'_>),
    ) {
        write(&mut LiveColumns::new(&mut self.list, cells, chunk));
        for &column in cells.columns().as_slice() {
            self.stamps.touch(StampKind::column(column), chunk as usize, now);
        }
    }

    /// Removes a row. If the list's last row took its place, returns the entity that has moved.
    #[inline(always)]
    pub(crate) fn remove(&mut self, at: ChunkRow, pool: &mut Pool, now: Version) -> Option<Entity> {
        let gap = self.list.gap(at);
        let last = gap.last();
        gap.fill();
        self.close_gap(at, last, pool, now)
    }

    /// Removes a row whose cells the `last` row's have taken over already. Returns the entity that
    /// has moved.
    #[inline(always)]
    pub(super) fn close_gap(
        &mut self,
        at: ChunkRow,
        last: ChunkRow,
        pool: &mut Pool,
        now: Version,
    ) -> Option<Entity> {
        let index = self.list.index_of(at);
        self.stamps.lose_row(at.chunk as usize, last.chunk as usize, now);
        if last.row == 0 {
            self.stamps.pop_chunk();
        }
        self.list.drop_last(pool);
        let moved = self.entities.pop()?;
        // The removed row itself may have been the last.
        let place = self.entities.get_mut(index)?;
        *place = moved;
        Some(moved)
    }

    /// Removes all rows. The entities die elsewhere.
    pub(crate) fn clear(&mut self, pool: &mut Pool) {
        self.list.clear(pool);
        self.entities.clear();
        while self.stamps.chunks() > 0 {
            self.stamps.pop_chunk();
        }
    }

    /// Makes room for `rows` more rows.
    pub(crate) fn reserve(&mut self, rows: usize, pool: &mut Pool) {
        self.list.reserve(rows, pool);
        self.entities.reserve(rows);
        let capacity = self.list.chunk_capacity() as usize;
        self.stamps.reserve((self.len() + rows).div_ceil(capacity));
    }

    /// Gives memory back, moving at most `rows_max` rows. Returns how many it moved.
    pub(crate) fn compact(&mut self, rows_max: usize, pool: &mut Pool) -> usize {
        self.entities.shrink_to_fit();
        self.list.compact(rows_max, pool)
    }

    /// Bytes beside the columns: entities and stamps.
    pub(crate) fn bookkeeping_bytes(&self) -> usize {
        self.entities.capacity() * size_of::<Entity>() + self.stamps.bytes()
    }
}

/// The row behind an archetype's last one, before it is written.
#[derive(Debug)]
#[must_use = "the row is written, or its room is given back"]
pub(crate) struct NewRow<'w> {
    row: NextRow<'w>,
    entities: &'w mut Vec<Entity>,
    stamps: &'w mut Stamps,
}

impl NewRow<'_> {
    /// Its position in the list.
    #[inline]
    pub(crate) const fn position(&self) -> RowIndex {
        self.row.position()
    }

    /// Lets `put` write every cell of the row, in the order of `cells`, and makes it the live row of
    /// `entity`, all its columns new.
    ///
    /// # Panics
    ///
    /// If `cells` are not all cells of a row, or `put` leaves one unwritten.
    #[inline(always)]
    pub(crate) fn push(
        self,
        cells: &BundleCells,
        entity: Entity,
        now: Version,
        put: impl FnOnce(&mut RowWriter<'_>),
    ) {
        let Self { row, entities, stamps } = self;
        let chunk = row.at().chunk as usize;
        entities.push(entity);
        cells.write(row, put);
        if chunk == stamps.chunks() {
            stamps.push_chunk();
        }
        stamps.touch_all(chunk, now);
    }

    /// Gives back the room that was made.
    pub(crate) fn abandon(self, pool: &mut Pool) {
        self.row.abandon(pool);
    }
}

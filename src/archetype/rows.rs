//! One archetype: the chunks of its rows, the entity of each row, and their change versions.

use crate::component::{ComponentId, ComponentSet, Ranks, Registry};
use crate::entity::Entity;
use crate::storage::{
    ChunkList, ChunkSize, ColumnShape, LayoutError, ListLayout, Pool, Run, Spot, Stamps,
};
use crate::version::Version;

use super::moves::Noted;

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
    pub(crate) list: ChunkList,
    pub(crate) stamps: Stamps,
    pub(crate) entities: Vec<Entity>,
    pub(super) noted: Noted,
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
            noted: Noted::default(),
            ranks: Ranks::new(&set),
            components: set.to_list(),
            set,
        }
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

    /// Makes the row written at the end live. Only order and arrival are stamped: columns are the
    /// caller's, who knows which of them are new.
    #[inline(always)]
    pub(crate) fn push(&mut self, at: Spot, entity: Entity, now: Version) {
        self.make_live(at, entity);
        self.stamps.touch(Run::ORDER, at.chunk as usize, now);
        self.stamps.touch(Run::ARRIVAL, at.chunk as usize, now);
    }

    /// [`Archetype::push`] of a row whose columns are all new.
    #[inline(always)]
    pub(crate) fn push_new(&mut self, at: Spot, entity: Entity, now: Version) {
        self.make_live(at, entity);
        self.stamps.touch_all(at.chunk as usize, now);
    }

    /// Makes the row written at the end live, and stamps nothing.
    #[inline(always)]
    pub(super) fn make_live(&mut self, at: Spot, entity: Entity) {
        self.list.commit_one(at);
        self.entities.push(entity);
        if at.chunk as usize == self.stamps.chunks() {
            self.stamps.push_chunk();
        }
    }

    /// Makes `rows` rows live that were written behind the last one, all their columns new. Their
    /// entities are already in `entities`.
    pub(crate) fn push_many(&mut self, rows: usize, now: Version) {
        let first = self.list.len() / self.list.capacity() as usize;
        self.list.commit_many(rows);
        debug_assert_eq!(self.entities.len(), self.len(), "an entity a row");
        while self.stamps.chunks() < self.list.chunk_count() as usize {
            self.stamps.push_chunk();
        }
        if rows > 0 {
            for chunk in first..self.stamps.chunks() {
                self.stamps.touch_all(chunk, now);
            }
        }
    }

    /// Removes a row. If the list's last row took its place, returns the entity that has moved.
    #[inline(always)]
    pub(crate) fn remove(&mut self, at: Spot, pool: &mut Pool, now: Version) -> Option<Entity> {
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
        at: Spot,
        last: Spot,
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

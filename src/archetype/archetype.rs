//! One archetype: the chunks of its rows, the entity of each row, change versions, attachments.

use crate::component::{ComponentId, ComponentSet, Ranks, Registry};
use crate::entity::Entity;
use crate::prefetch::prefetch;
use crate::spare::shrink_unused;
use crate::storage::{
    Attachments, BundleCells, ChunkList, ChunkRow, ChunkSize, ColumnBits, ColumnShape, LayoutError,
    ListLayout, LiveColumns, Pool, Stamps,
};
use crate::version::Version;

use super::change_log::LastLogged;
use super::chunk_meta::ChunkMeta;
use super::extras::Extras;
use super::shared_tags::SharedTags;
use super::traits::DespawnAction;

/// All entities with exactly one set of components.
///
/// The column of a component is its rank in the set. `entities` has one element per live row, in
/// the order of the list; `stamps` has stamps for each chunk. The fields that every query loads
/// come first, and an archetype starts on a cache line, because a frame may visit thousands of
/// archetypes.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Archetype {
    pub(super) list: ChunkList,
    pub(super) stamps: Stamps,
    pub(super) entities: Vec<Entity>,
    pub(super) last_logged: LastLogged,
    set: ComponentSet,
    ranks: Ranks,
    components: Box<[ComponentId]>,
    pub(super) extras: Option<Box<Extras>>,
}

// At most 256 bytes, so that an index becomes an address by a shift instead of a multiplication.
const _: () = assert!(size_of::<Archetype>() <= 256, "an archetype has 256 bytes");

impl Archetype {
    /// The layout of a set's rows in chunks. Columns lie in blocks in the order of the components
    /// in `order`, or of their ids if it is empty.
    ///
    /// # Errors
    ///
    /// If a row does not fit a chunk.
    pub(super) fn layout(
        set: &ComponentSet,
        registry: &Registry,
        size: ChunkSize,
        order: &[ComponentId],
    ) -> Result<ListLayout, LayoutError> {
        let shape = |id: &ComponentId| {
            let info = registry.info(*id);
            let (name, size, align) = (info.name(), info.size(), info.align());
            ColumnShape { name, size, align, values: info.values() }
        };
        let ids = set.to_list();
        let columns = ids.iter().map(shape).collect();
        if order.is_empty() {
            return ListLayout::new(size, columns);
        }
        let mut numbers: Vec<_> = (0..ids.len()).collect();
        // Tags have no place.
        numbers.sort_by_key(|&column| order.iter().position(|id| *id == ids[column]));
        ListLayout::in_order(size, columns, &numbers)
    }

    /// An archetype without rows.
    pub(super) fn new(
        set: ComponentSet,
        registry: &Registry,
        layout: ListLayout,
        stamps: Stamps,
    ) -> Self {
        let components = set.to_list();
        Self {
            extras: Extras::of(&components, registry, &layout),
            list: ChunkList::new(layout),
            entities: Vec::new(),
            stamps,
            last_logged: LastLogged::default(),
            ranks: Ranks::new(&set),
            components,
            set,
        }
    }

    /// Exchanges the columns of two components. Returns `false` if it lacks one of them.
    ///
    /// # Panics
    ///
    /// If the components differ in size, alignment or values.
    pub(super) fn swap_columns(&mut self, [a, b]: [ComponentId; 2]) -> bool {
        let (Some(a), Some(b)) = (self.column(a), self.column(b)) else { return false };
        self.list.swap_columns(a, b);
        true
    }

    /// Exchanges columns until each column with bytes has the same place as in `like`, an archetype
    /// that differs only in tags.
    ///
    /// # Panics
    ///
    /// If they differ in more than tags.
    pub(super) fn place_as(&mut self, like: &Self) {
        let places = |archetype: &Self| -> Vec<(u16, u32)> {
            let columns = (0..).zip(archetype.list.layouts().chunk().columns());
            columns.filter(|(_, at)| at.size > 0).map(|(column, at)| (column, at.offset)).collect()
        };
        let (mut own, wanted) = (places(self), places(like));
        assert!(own.len() == wanted.len(), "the archetypes differ in columns with bytes");
        for (i, &(_, offset)) in wanted.iter().enumerate() {
            let from = own.iter().position(|&(_, own)| own == offset);
            let from = from.expect("the archetypes differ in their layouts");
            if from != i {
                self.list.swap_columns(own[i].0, own[from].0);
                (own[i].1, own[from].1) = (own[from].1, own[i].1);
            }
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

    /// The data of the archetype beside its chunks.
    #[inline]
    pub(crate) fn beside(&self) -> ChunkMeta<'_> {
        ChunkMeta {
            stamps: &self.stamps,
            entities: &self.entities,
            attachments: self.attachments(),
            ignores_enabled: false,
            shared: self.shared(),
        }
    }

    /// The attachments of the columns. `None` if no component has any.
    #[inline]
    pub(crate) fn attachments(&self) -> Option<&Attachments> {
        self.extras.as_ref().map(|extras| &extras.attachments)
    }

    /// The enable bits of a column, if its component is enableable.
    #[inline]
    pub(crate) fn bits(&self, column: u16) -> Option<ColumnBits<'_>> {
        self.attachments()?.bits(column)
    }

    /// The shared values. `None` if the archetype has none.
    #[inline]
    pub(crate) fn shared(&self) -> Option<&SharedTags> {
        self.extras.as_ref().map(|extras| &extras.shared)
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

    /// The components that hide the entities from queries that do not name them. `None` if all
    /// entities are visible.
    #[inline]
    pub(crate) fn hidden(&self) -> Option<&ComponentSet> {
        self.extras.as_ref().map(|extras| &extras.traits.hidden)
    }

    /// Whether queries that name no hidden component pass over the entities.
    #[inline]
    pub(crate) fn is_hidden(&self) -> bool {
        self.hidden().is_some_and(|hidden| hidden.iter().next().is_some())
    }

    /// Whether copies of an entity have all its components.
    pub(crate) fn is_copied(&self) -> bool {
        self.extras.as_ref().is_none_or(|extras| extras.traits.copied)
    }

    /// The effect of a despawn on the entities.
    #[inline]
    pub(crate) fn despawn_action(&self) -> DespawnAction {
        self.extras.as_ref().map_or(DespawnAction::Free, |extras| extras.traits.despawn)
    }

    /// Whether the entities are gone.
    #[inline]
    pub(crate) fn is_gone(&self) -> bool {
        self.despawn_action() == DespawnAction::AlreadyGone
    }

    /// Whether entities may have values of a sparse component: they are alive, or they are gone
    /// and have the tag `sparse_cleanup_tag`, which a cleanup component passes.
    pub(crate) fn has_values(&self, sparse_cleanup_tag: Option<ComponentId>) -> bool {
        !self.is_gone() || sparse_cleanup_tag.is_some_and(|tag| self.set.contains(tag))
    }

    /// The reason why its chunks, which have these rows in all and in each chunk, cannot have its
    /// components, stamps and attachments in a world with this clock.
    pub(crate) fn find_defect(
        &self,
        (len, rows): (usize, impl Fn(u32) -> u32),
        clock: Version,
        registry: &Registry,
    ) -> Option<&'static str> {
        let info = |column: u16| registry.info(self.components[usize::from(column)]);
        let cleanup = self.components.iter().filter(|id| registry.info(**id).is_cleanup()).count();
        let are_over = cleanup == 0 && len > 0;
        if self.is_gone() && (cleanup + 1 != self.components.len() || are_over) {
            return Some("entities that are gone have cleanup components, and no others");
        }
        let kept = registry.sparse_cleanup_tag();
        if !self.is_gone() && kept.is_some_and(|tag| self.set.contains(tag)) {
            return Some("entities that are alive have no values that are kept for cleanup");
        }
        let attachments = self.attachments();
        for kind in self.stamps.all_kinds() {
            let has_lines = |column| attachments.is_some_and(|all| all.have_versions(column));
            if self.stamps.versions(kind).any(|version| version > clock) {
                return Some("a version after that of the world");
            }
            if self.stamps.has_lines(kind) && !kind.of_column().is_some_and(has_lines) {
                return Some("a version of lines that have none");
            }
        }
        attachments.and_then(|all| all.find_defect(&self.stamps, clock, rows, info))
    }

    /// The name of one of the components.
    pub(crate) fn component_name(&self, id: ComponentId) -> &'static str {
        let column = self.column(id).expect("the archetype lacks the component");
        self.list.columns()[usize::from(column)].name
    }

    /// The components in the order of their columns.
    pub(crate) const fn components(&self) -> &[ComponentId] {
        &self.components
    }

    /// The components whose columns have bytes. Only they determine the layout.
    pub(crate) fn components_with_bytes(&self) -> impl Iterator<Item = ComponentId> {
        let columns = self.components.iter().zip(self.list.columns());
        columns.filter(|(_, shape)| shape.size > 0).map(|(&id, _)| id)
    }

    /// The column of a component.
    #[inline]
    pub(crate) fn column(&self, id: ComponentId) -> Option<u16> {
        self.ranks.get(&self.set, id)
    }

    /// The column of a component with an id below 512.
    #[inline(always)]
    pub(crate) fn near_column(&self, id: ComponentId) -> Option<u16> {
        self.ranks.of_bit(id)
    }

    /// Live rows.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.list.len()
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.list.chunk_len() == 0
    }

    /// Prefetches the cache lines of a row that will be moved or removed soon.
    #[inline]
    pub(crate) fn prefetch(&self, at: ChunkRow) {
        self.list.prefetch(at);
        prefetch(self.entities.as_ptr().wrapping_add(self.list.index_of(at)));
    }

    /// Calls `write` to overwrite the columns of a bundle in the live rows of a chunk, and enables
    /// and stamps them.
    pub(crate) fn overwrite_chunk(
        &mut self,
        cells: &BundleCells,
        chunk: u32,
        now: Version,
        write: impl FnOnce(&mut LiveColumns<'_>),
    ) {
        write(&mut LiveColumns::new(&mut self.list, cells, chunk));
        self.chunk_written(cells.columns().as_slice(), chunk, now);
    }

    /// Removes all rows. The caller frees the ids of the entities.
    pub(crate) fn clear(&mut self, pool: &mut Pool) {
        self.list.clear(pool);
        self.entities.clear();
        self.drop_chunks(0);
    }

    /// Makes room for `rows` more rows.
    pub(crate) fn reserve(&mut self, rows: usize, pool: &mut Pool) {
        self.list.reserve(rows, pool);
        self.entities.reserve(rows);
        let capacity = self.list.chunk_capacity() as usize;
        let chunk_len = (self.len() + rows).div_ceil(capacity);
        self.stamps.reserve(chunk_len);
        self.extras.iter_mut().for_each(|extras| extras.attachments.reserve(chunk_len));
    }

    /// Frees unused memory, moving at most `rows_max` rows. Returns the number of moved rows.
    pub(crate) fn compact(&mut self, rows_max: usize, pool: &mut Pool) -> usize {
        shrink_unused(&mut self.entities);
        self.list.compact(rows_max, pool)
    }

    /// Bytes of entities, attachments, and stamps.
    pub(crate) fn bookkeeping_bytes(&self) -> usize {
        let attachments = self.attachments().map_or(0, Attachments::bytes);
        self.entities.capacity() * size_of::<Entity>() + attachments + self.stamps.bytes()
    }
}

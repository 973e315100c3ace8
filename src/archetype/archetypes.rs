//! All archetypes of a world, found by number or by set.

use rustc_hash::FxHashMap;

use crate::component::{ComponentSet, Registry};
use crate::storage::{ChunkSize, LayoutError, SharedLines, Stamps};

use super::archetype::{Archetype, ArchetypeId};
use super::change_log::ChangeLog;
use super::columns_mut::{ArchetypeColumnsMut, ColumnsMut};

/// The archetypes of a world. They are never removed: an empty one owns no chunk.
#[derive(Debug, Default)]
pub(crate) struct Archetypes {
    list: Vec<Archetype>,
    moves: ChangeLog,
    by_set: FxHashMap<ComponentSet, ArchetypeId>,
    stamp_pages: SharedLines,
    size: ChunkSize,
}

impl Archetypes {
    pub(crate) fn new(size: ChunkSize) -> Self {
        Self { size, ..Self::default() }
    }

    pub(crate) const fn chunk_size(&self) -> ChunkSize {
        self.size
    }

    /// The archetype of exactly this set.
    pub(crate) fn find(&self, set: &ComponentSet) -> Option<ArchetypeId> {
        self.by_set.get(set).copied()
    }

    /// Makes the archetype of a set that has none.
    ///
    /// # Errors
    ///
    /// If a row of the set does not fit a chunk; the catalog is as it was.
    ///
    /// # Panics
    ///
    /// If there is one.
    pub(crate) fn add(
        &mut self,
        set: &ComponentSet,
        registry: &Registry,
    ) -> Result<ArchetypeId, LayoutError> {
        assert!(!self.by_set.contains_key(set), "the set has an archetype");
        let layout = Archetype::layout(set, registry, self.size)?;
        let stamps = Stamps::new(layout.columns().len(), &mut self.stamp_pages);
        let mut archetype = Archetype::new(set.clone(), layout, stamps);
        let id = ArchetypeId(u32::try_from(self.list.len()).expect("fewer archetypes than rows"));
        self.moves.note(id.0, &mut archetype.noted, self.list.len());
        self.list.push(archetype);
        self.by_set.insert(set.clone(), id);
        Ok(id)
    }

    /// Whether there is or can be an archetype of this set.
    ///
    /// # Errors
    ///
    /// If a row of the set does not fit a chunk.
    pub(crate) fn ensure_fits(
        &self,
        set: &ComponentSet,
        registry: &Registry,
    ) -> Result<(), LayoutError> {
        if self.by_set.contains_key(set) {
            return Ok(());
        }
        Archetype::layout(set, registry, self.size).map(drop)
    }

    #[inline]
    pub(crate) fn get(&self, id: ArchetypeId) -> &Archetype {
        &self.list[id.index()]
    }

    /// An archetype whose rows are about to change.
    #[inline]
    pub(crate) fn get_mut(&mut self, id: ArchetypeId) -> &mut Archetype {
        let archetypes = self.list.len();
        let archetype = &mut self.list[id.index()];
        self.moves.note(id.0, &mut archetype.noted, archetypes);
        archetype
    }

    /// Two different archetypes whose rows are about to change.
    #[inline]
    pub(crate) fn pair_mut(
        &mut self,
        a: ArchetypeId,
        b: ArchetypeId,
    ) -> (&mut Archetype, &mut Archetype) {
        let archetypes = self.list.len();
        let [first, second] = self
            .list
            .get_disjoint_mut([a.index(), b.index()])
            .expect("an edge joins two different archetypes");
        self.moves.note(a.0, &mut first.noted, archetypes);
        self.moves.note(b.0, &mut second.noted, archetypes);
        (first, second)
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[Archetype] {
        &self.list
    }

    /// All archetypes, of which any may change its rows.
    pub(crate) fn all_mut(&mut self) -> &mut [Archetype] {
        self.moves.note_all();
        &mut self.list
    }

    /// All archetypes, to write values of cells and stamps and nothing else, so that none is noted.
    #[inline]
    pub(crate) fn values_mut(&mut self) -> ColumnsMut<'_> {
        ColumnsMut::new(&mut self.list)
    }

    /// One archetype, to write values of cells and stamps and nothing else.
    #[inline]
    pub(crate) fn get_values_mut(&mut self, id: ArchetypeId) -> ArchetypeColumnsMut<'_> {
        ArchetypeColumnsMut::new(&mut self.list[id.index()])
    }

    /// Which archetypes were lent for a change of their rows.
    #[inline]
    pub(crate) const fn moves(&self) -> &ChangeLog {
        &self.moves
    }

    /// Bytes of stamps that no archetype has yet.
    pub(crate) fn spare_bytes(&self) -> usize {
        self.stamp_pages.bytes()
    }

    pub(crate) const fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether each archetype is filed under its own set.
    pub(crate) fn is_consistent(&self) -> bool {
        self.by_set.len() == self.list.len()
            && self.list.iter().enumerate().all(|(index, archetype)| {
                self.by_set.get(archetype.set()).is_some_and(|id| id.index() == index)
            })
    }
}

//! All archetypes of a world, found by number or by set.

use rustc_hash::FxHashMap;

use crate::component::{ComponentId, ComponentSet, Registry};
use crate::line::LINE_BYTES;
use crate::storage::{ChunkNumbers, ChunkSize, LayoutError, ListLayout, Pool, SharedLines, Stamps};

use super::archetype::Archetype;
use super::change_log::{ChangeLog, RowPlaces};
use super::columns_mut::{ArchetypeColumnsMut, ColumnsMut};
use crate::entity::ArchetypeId;

/// The numbers of archetypes that a world has and has freed, and of places for members that they
/// got. Equal if and only if the archetypes are the same, and the same queries match them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Census {
    len: usize,
    retired: u64,
    members: u64,
}

/// The archetypes of a world, numbered in the order of their creation. An empty one owns at most a
/// small first block, and stays until [`Archetypes::retire_empty`].
#[derive(Debug, Default)]
pub(crate) struct Archetypes {
    list: Vec<Archetype>,
    change_log: ChangeLog,
    by_set: FxHashMap<ComponentSet, ArchetypeId>,
    /// The archetypes of hidden entities, in ascending order.
    hidden: Vec<ArchetypeId>,
    shared_lines: SharedLines,
    size: ChunkSize,
    /// The number of freed archetypes.
    retired: u64,
    /// The number of calls that have added or dropped places for members.
    members: u64,
    /// Components whose columns were ever exchanged.
    swapped: Vec<[ComponentId; 2]>,
    /// The order in which columns lie in blocks, by the set of components with bytes, if their
    /// first archetype came from another world. Other sets use the order of ids.
    orders: FxHashMap<ComponentSet, Box<[ComponentId]>>,
}

/// The places of all rows of the archetypes of a log. O(archetypes) once after each change.
#[inline]
pub(crate) fn places_of<'w>(archetypes: &[Archetype], log: &'w ChangeLog) -> &'w RowPlaces {
    log.places(|| {
        let mut numbers = ChunkNumbers::new(archetypes.len());
        archetypes.iter().for_each(|archetype| numbers.push(archetype.list()));
        numbers
    })
}

impl Archetypes {
    #[inline]
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

    /// Creates the archetype of a set that has none.
    ///
    /// # Errors
    ///
    /// If a row of the set does not fit a chunk. The archetypes are unchanged.
    ///
    /// # Panics
    ///
    /// If the set has an archetype.
    pub(crate) fn add(
        &mut self,
        set: &ComponentSet,
        registry: &Registry,
    ) -> Result<ArchetypeId, LayoutError> {
        assert!(!self.by_set.contains_key(set), "the set has an archetype already");
        let layout = self.layout(set, registry)?;
        let stamps = Stamps::new(layout.columns().len(), &mut self.shared_lines);
        let mut archetype = Archetype::new(set.clone(), registry, layout, stamps);
        self.place_columns(&mut archetype);
        let id =
            ArchetypeId(u32::try_from(self.list.len()).expect("there are 2^32 archetypes or more"));
        self.change_log.record(id.0, &mut archetype.last_logged, self.list.len());
        if archetype.is_hidden() {
            self.hidden.push(id);
        }
        self.list.push(archetype);
        self.by_set.insert(set.clone(), id);
        Ok(id)
    }

    /// An archetype of a set that is not added to these, for questions about its layout.
    ///
    /// # Errors
    ///
    /// If a row of the set does not fit a chunk.
    pub(crate) fn sample(
        &self,
        set: &ComponentSet,
        registry: &Registry,
    ) -> Result<Archetype, LayoutError> {
        let layout = self.layout(set, registry)?;
        let stamps = Stamps::new(layout.columns().len(), &mut SharedLines::default());
        Ok(Archetype::new(set.clone(), registry, layout, stamps))
    }

    /// Puts the columns of a new archetype in the same places as in archetypes that differ only in
    /// tags, so that chunks can move between them. O(archetypes) if columns of its components were
    /// exchanged.
    fn place_columns(&self, archetype: &mut Archetype) {
        let is_in = |pair: &[ComponentId; 2]| pair.iter().all(|&id| archetype.set().contains(id));
        if self.swapped.iter().any(is_in) {
            let own = || archetype.components_with_bytes();
            if let Some(like) = self.list.iter().find(|one| one.components_with_bytes().eq(own())) {
                archetype.place_as(like);
            }
        }
    }

    /// Checks that an archetype of this set exists or can be added.
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
        self.layout(set, registry).map(drop)
    }

    /// The layout of a new archetype.
    fn layout(&self, set: &ComponentSet, registry: &Registry) -> Result<ListLayout, LayoutError> {
        let order = match self.orders.is_empty() {
            true => None,
            false => {
                let has_bytes = |id: &ComponentId| registry.info(*id).size() > 0;
                self.orders.get(&set.iter().filter(has_bytes).collect::<ComponentSet>())
            }
        };
        Archetype::layout(set, registry, self.size, order.map_or(&[], |order| order))
    }

    /// Sets the order in blocks for the columns of some components: all components with bytes of an
    /// archetype that will be added. Existing archetypes that differ from it only in tags take
    /// precedence, because chunks move between these. Components that are aligned to more than a
    /// line keep the order of their ids: their order decides the number of rows in a chunk, which
    /// images of these archetypes rely on. O(archetypes).
    pub(crate) fn prefer_order(&mut self, order: Vec<ComponentId>, registry: &Registry) {
        let with_bytes: ComponentSet = order.iter().copied().collect();
        if order.is_sorted()
            || self.orders.contains_key(&with_bytes)
            || order.iter().any(|&id| registry.info(id).align() > LINE_BYTES)
        {
            return;
        }
        let is_known =
            self.list.iter().any(|known| known.components_with_bytes().eq(with_bytes.iter()));
        let order = if is_known { with_bytes.to_list() } else { order.into() };
        self.orders.insert(with_bytes, order);
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
        self.change_log.record(id.0, &mut archetype.last_logged, archetypes);
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
            .expect("an edge leads from an archetype to itself");
        self.change_log.record(a.0, &mut first.last_logged, archetypes);
        self.change_log.record(b.0, &mut second.last_logged, archetypes);
        (first, second)
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[Archetype] {
        &self.list
    }

    /// The archetypes of hidden entities.
    #[inline]
    pub(crate) fn hidden(&self) -> &[ArchetypeId] {
        &self.hidden
    }

    /// All archetypes, any of which may change its rows.
    pub(crate) fn all_mut(&mut self) -> &mut [Archetype] {
        self.change_log.record_all();
        &mut self.list
    }

    /// All archetypes, for writing only the values of cells and stamps. The change log does not
    /// record it.
    #[inline]
    pub(crate) fn columns_mut(&mut self) -> ColumnsMut<'_> {
        ColumnsMut::new(&mut self.list)
    }

    /// [`Archetypes::columns_mut`], and the log.
    pub(crate) fn columns_and_log(&mut self) -> (ColumnsMut<'_>, &ChangeLog) {
        (ColumnsMut::new(&mut self.list), &self.change_log)
    }

    /// One archetype, for writing only the values of cells and stamps.
    #[inline]
    pub(crate) fn get_columns_mut(&mut self, id: ArchetypeId) -> ArchetypeColumnsMut<'_> {
        ArchetypeColumnsMut::new(&mut self.list[id.index()])
    }

    /// The log of archetypes whose rows may have moved.
    #[inline]
    pub(crate) const fn change_log(&self) -> &ChangeLog {
        &self.change_log
    }

    /// [`places_of`] all archetypes.
    #[inline]
    pub(crate) fn places(&self) -> &RowPlaces {
        places_of(&self.list, &self.change_log)
    }

    /// Frees the archetypes without rows. Later archetypes move up; returns their new ids.
    pub(crate) fn retire_empty(&mut self, pool: &mut Pool) -> Vec<ArchetypeId> {
        let before = self.list.len();
        let first = self.list.iter().position(Archetype::is_empty).unwrap_or(before);
        self.list.retain_mut(|archetype| {
            if archetype.is_empty() {
                // An empty list may have reserved blocks.
                archetype.clear(pool);
            }
            !archetype.is_empty()
        });
        if self.list.len() == before {
            return Vec::new();
        }
        self.retired += (before - self.list.len()) as u64;
        self.list.shrink_to_fit();
        self.change_log.record_all();
        let number = |at| ArchetypeId(u32::try_from(at).expect("there were as many before"));
        let sets = self.list.iter().map(|archetype| archetype.set().clone());
        self.by_set = sets.enumerate().map(|(at, set)| (set, number(at))).collect();
        let hidden = (0..self.list.len()).filter(|&at| self.list[at].is_hidden());
        self.hidden = hidden.map(number).collect();
        (first..self.list.len()).map(number).collect()
    }

    /// Frees all archetypes from number `len` on, with their rows. Returns `false` if there were
    /// none. The caller updates the directory.
    pub(crate) fn truncate(&mut self, len: usize, pool: &mut Pool) -> bool {
        let Some(last) = self.list.get_mut(len..).filter(|last| !last.is_empty()) else {
            return false;
        };
        self.retired += last.len() as u64;
        for archetype in last {
            archetype.clear(pool);
            self.by_set.remove(archetype.set());
        }
        self.list.truncate(len);
        self.hidden.retain(|id| id.index() < len);
        self.change_log.record_all();
        true
    }

    /// Exchanges the columns of two components in each archetype that has both. Returns these
    /// archetypes.
    pub(crate) fn swap_columns(&mut self, pair: [ComponentId; 2]) -> Vec<ArchetypeId> {
        if !self.swapped.contains(&pair) {
            self.swapped.push(pair);
        }
        let (archetypes, mut swapped) = (self.list.len(), Vec::new());
        for (number, archetype) in (0..).zip(&mut self.list) {
            if archetype.swap_columns(pair) {
                self.change_log.record(number, &mut archetype.last_logged, archetypes);
                swapped.push(ArchetypeId(number));
            }
        }
        swapped
    }

    /// Makes place in an archetype for the members of a sparse component. O(chunks).
    pub(crate) fn add_members(&mut self, id: ArchetypeId, number: u16) {
        self.members += 1;
        self.get_mut(id).add_members(number);
    }

    /// Drops the places for members of sparse components that have none. Returns the first
    /// archetype that had such a place. O(archetypes + words).
    pub(crate) fn drop_empty_members(&mut self) -> Option<ArchetypeId> {
        let mut first = None;
        for (number, archetype) in (0..).zip(&mut self.list) {
            if archetype.drop_empty_members() {
                first = first.or(Some(ArchetypeId(number)));
            }
        }
        self.members += u64::from(first.is_some());
        first
    }

    /// Tells whether the archetypes are still the same.
    pub(crate) const fn census(&self) -> Census {
        Census { len: self.list.len(), retired: self.retired, members: self.members }
    }

    /// The number of archetypes that are the same as at a census, from the first on. The queries
    /// that matched one of these match it still, but for members of sparse components.
    pub(crate) const fn unchanged_since(&self, census: Census) -> usize {
        if census.retired == self.retired { census.len } else { 0 }
    }

    /// [`Archetypes::unchanged_since`] for queries that name sparse components.
    pub(crate) const fn unchanged_with_members_since(&self, census: Census) -> usize {
        if census.members == self.members { self.unchanged_since(census) } else { 0 }
    }

    /// Bytes of shared stamps that no archetype uses yet.
    pub(crate) fn spare_bytes(&self) -> usize {
        self.shared_lines.bytes()
    }

    pub(crate) const fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether each archetype is found by its own set, and each one of hidden entities is listed.
    pub(crate) fn is_consistent(&self) -> bool {
        let hidden = (0..self.list.len()).filter(|&at| self.list[at].is_hidden());
        self.by_set.len() == self.list.len()
            && hidden.eq(self.hidden.iter().map(|id| id.index()))
            && self.list.iter().enumerate().all(|(index, archetype)| {
                self.by_set.get(archetype.set()).is_some_and(|id| id.index() == index)
            })
    }
}

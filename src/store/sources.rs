//! The way back of a relation: the sources of each target, beside the set of the relation.
//!
//! ```text
//!  numbers   index of a target ─► its list      pages, as in the set
//!  lists     │ 7v1: 2v1 9v1 4v3 │ 8v2: 5v1 │    one for each target that has sources
//!  places    │ 0 │ 1 │ 0 │ 2 │                  of each source in its list, in the order of the set
//! ```
//!
//! A source that comes is the last of its list, and the last one takes the place of a source that
//! leaves: O(1), however many siblings it has. A list without sources is removed, and the last list
//! takes its place.

use crate::entity::{Entity, PagedIndex};

/// The sources of one target: one or more.
#[derive(Debug)]
pub(super) struct SourceList {
    target: Entity,
    sources: Vec<Entity>,
}

impl Clone for SourceList {
    fn clone(&self) -> Self {
        Self { target: self.target, sources: self.sources.clone() }
    }

    /// Uses the memory that it has.
    fn clone_from(&mut self, source: &Self) {
        self.target = source.target;
        self.sources.clone_from(&source.sources);
    }
}

/// The sources of all targets. Without a relation it is empty, and allocates no memory.
#[derive(Debug, Default)]
pub(super) struct Sources {
    numbers: PagedIndex,
    lists: Vec<SourceList>,
    places: Vec<u32>,
}

impl Clone for Sources {
    fn clone(&self) -> Self {
        Self {
            numbers: self.numbers.clone(),
            lists: self.lists.clone(),
            places: self.places.clone(),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        self.numbers.clone_from(&source.numbers);
        self.lists.clone_from(&source.lists);
        self.places.clone_from(&source.places);
    }
}

impl Sources {
    fn number(&self, target: Entity) -> Option<usize> {
        let number = self.numbers.get(target.index())? as usize;
        (self.lists[number].target == target).then_some(number)
    }

    /// The sources of a target.
    pub(super) fn of(&self, target: Entity) -> &[Entity] {
        self.number(target).map_or(&[], |number| &self.lists[number].sources)
    }

    /// The targets with sources, in the order of the lists.
    pub(super) fn targets(&self) -> impl Iterator<Item = Entity> {
        self.lists.iter().map(|list| list.target)
    }

    /// Adds a source at the end of a target's list. Returns its place there. Amortised O(1).
    fn add(&mut self, source: Entity, target: Entity) -> u32 {
        let new = u32::try_from(self.lists.len()).expect("there are more targets than entities");
        let number = match self.numbers.add(target.index(), new) {
            Some(known) => known as usize,
            None => {
                self.lists.push(SourceList { target, sources: Vec::new() });
                new as usize
            }
        };
        let SourceList { target: of, sources } = &mut self.lists[number];
        debug_assert!(*of == target, "an entity that has ended has sources");
        sources.push(source);
        u32::try_from(sources.len() - 1).expect("there are more sources than entities")
    }

    /// Adds the source at the next position of the set.
    pub(super) fn push(&mut self, source: Entity, target: Entity) {
        let place = self.add(source, target);
        self.places.push(place);
    }

    /// Adds the source at a position of the set, which was unlinked.
    pub(super) fn link(&mut self, position: usize, source: Entity, target: Entity) {
        self.places[position] = self.add(source, target);
    }

    /// Takes the source at a position of the set out of the list of its target. Returns the source
    /// that has taken its place in the list, and the place: see [`Sources::put_place`].
    pub(super) fn unlink(&mut self, position: usize, target: Entity) -> Option<(Entity, u32)> {
        let place = self.places[position];
        let number = self.number(target).expect("the target of a relation has a list");
        let sources = &mut self.lists[number].sources;
        sources.swap_remove(place as usize);
        let moved = sources.get(place as usize).copied();
        if sources.is_empty() {
            self.remove_list(number);
        }
        moved.map(|moved| (moved, place))
    }

    /// Gives the source at a position of the set its place.
    pub(super) fn put_place(&mut self, position: usize, place: u32) {
        self.places[position] = place;
    }

    /// Follows the removal of a value from the set: the last one takes its position. Returns its
    /// place in its list.
    pub(super) fn swap_remove(&mut self, position: usize) -> u32 {
        self.places.swap_remove(position)
    }

    fn remove_list(&mut self, number: usize) -> SourceList {
        let list = self.lists.swap_remove(number);
        let known = self.numbers.take(list.target.index());
        if let (Some(moved), Some(known)) = (self.lists.get(number), known) {
            self.numbers.replace(moved.target.index(), known);
        }
        list
    }

    /// The places of the sources, in the order of the set.
    pub(super) fn places(&self) -> &[u32] {
        &self.places
    }

    /// The way back of relations with these sources, targets and places, in the order of the set.
    /// `heads` are the targets in the order of their lists. All entities are alive.
    ///
    /// # Errors
    ///
    /// The defect, if they contradict each other.
    pub(super) fn of_places(
        entities: &[Entity],
        targets: &[Entity],
        places: Vec<u32>,
        heads: &[Entity],
    ) -> Result<Self, &'static str> {
        let mut made = Self { places, ..Self::default() };
        for &target in heads {
            if made.number(target).is_some() {
                return Err("a target has two lists of sources");
            }
            made.put_list(SourceList { target, sources: Vec::new() });
        }
        for &target in targets {
            let number = made.number(target).ok_or("a target without a list of sources")?;
            // A place for each: the null id is the source of no relation.
            made.lists[number].sources.push(Entity::NULL);
        }
        if made.lists.iter().any(|list| list.sources.is_empty()) {
            return Err("a list of sources without a source");
        }
        for ((&source, &target), &place) in entities.iter().zip(targets).zip(&made.places) {
            let number = made.number(target).expect("it has a list");
            match made.lists[number].sources.get_mut(place as usize) {
                None => return Err("a place beyond the sources of a target"),
                Some(free) if free.is_null() => *free = source,
                Some(_) => return Err("two sources have one place"),
            }
        }
        Ok(made)
    }

    /// Takes the sources of a target, which lose their places in the list with it.
    pub(super) fn take_list(&mut self, target: Entity) -> Option<SourceList> {
        self.number(target).map(|number| self.remove_list(number))
    }

    /// Adds a list of a target that has none.
    ///
    /// # Panics
    ///
    /// If it has one.
    pub(super) fn put_list(&mut self, list: SourceList) {
        let new = u32::try_from(self.lists.len()).expect("there are more targets than entities");
        let former = self.numbers.add(list.target.index(), new);
        assert!(former.is_none(), "an entity has two lists of sources");
        self.lists.push(list);
    }

    /// Adds the place of the source at the next position of the set: its list came as a whole.
    pub(super) fn push_place(&mut self, place: u32) {
        self.places.push(place);
    }

    /// Renames all entities.
    pub(super) fn rename(&mut self, new: &dyn Fn(Entity) -> Entity) {
        self.numbers.clear();
        for mut list in core::mem::take(&mut self.lists) {
            list.target = new(list.target);
            list.sources.iter_mut().for_each(|source| *source = new(*source));
            self.put_list(list);
        }
    }

    /// Moves all lists of another set to the end of this one. They must have no target in common.
    pub(super) fn append(&mut self, other: &mut Self) {
        other.lists.drain(..).for_each(|list| self.put_list(list));
        self.places.append(&mut other.places);
        other.numbers.clear();
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn shrink(&mut self) {
        self.numbers.shrink();
        self.lists.iter_mut().for_each(|list| list.sources.shrink_to_fit());
        self.lists.shrink_to_fit();
        self.places.shrink_to_fit();
    }

    /// The allocated memory, in use or not.
    pub(super) fn bytes(&self) -> usize {
        let sources: usize = self.lists.iter().map(|list| list.sources.capacity()).sum();
        self.numbers.bytes()
            + sources * size_of::<Entity>()
            + self.lists.capacity() * size_of::<SourceList>()
            + self.places.capacity() * size_of::<u32>()
    }

    /// Whether the lists are those of some relations: the source and the target of each, in the
    /// order of the set.
    pub(super) fn are_of(
        &self,
        relations: impl ExactSizeIterator<Item = (Entity, Entity)>,
    ) -> bool {
        let listed: usize = self.lists.iter().map(|list| list.sources.len()).sum();
        let lists_are_filed = (0u32..).zip(&self.lists).all(|(number, list)| {
            !list.sources.is_empty() && self.numbers.get(list.target.index()) == Some(number)
        });
        let mut relations = relations.zip(&self.places);
        // As many places as sources, and each source in its place: none is listed twice.
        lists_are_filed
            && self.numbers.is_consistent()
            && self.numbers.len() == self.lists.len()
            && (self.places.len(), listed) == (relations.len(), relations.len())
            && relations.all(|((source, target), &place)| {
                self.of(target).get(place as usize) == Some(&source)
            })
    }
}

impl SourceList {
    pub(super) fn sources(&self) -> &[Entity] {
        &self.sources
    }

    pub(super) fn into_sources(self) -> Vec<Entity> {
        self.sources
    }
}

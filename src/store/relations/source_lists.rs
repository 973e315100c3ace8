//! Lists of sources, one for each target that has any: the part that the reverse indices of
//! relations to one and to many share.
//!
//! ```text
//!  numbers   index of a target ─► its list      pages, as in the set
//!  lists     │ 7v1: 2v1 9v1 4v3 │ 8v2: 5v1 │    without gaps
//! ```
//!
//! A list without sources is removed, and the last list takes its number.

use core::ops::Range;

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

impl SourceList {
    pub(super) fn sources(&self) -> &[Entity] {
        &self.sources
    }

    pub(super) fn into_sources(self) -> Vec<Entity> {
        self.sources
    }
}

/// The lists of all targets. Without a relation it is empty, and allocates no memory.
#[derive(Debug, Default)]
pub(in crate::store) struct SourceLists {
    numbers: PagedIndex,
    lists: Vec<SourceList>,
}

impl Clone for SourceLists {
    fn clone(&self) -> Self {
        Self { numbers: self.numbers.clone(), lists: self.lists.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.numbers.clone_from(&source.numbers);
        self.lists.clone_from(&source.lists);
    }
}

impl SourceLists {
    /// The number of a target's list.
    #[inline]
    pub(in crate::store) fn number(&self, target: Entity) -> Option<usize> {
        let number = self.numbers.get(target.index())? as usize;
        (self.lists[number].target == target).then_some(number)
    }

    /// The number of the list of a target that has one.
    #[inline]
    pub(super) fn number_of(&self, target: Entity) -> usize {
        // A list ends with its target, so the index is its own.
        let number = self.numbers.get(target.index()).expect("the target of a relation has a list");
        debug_assert!(self.number(target).is_some(), "an entity that has ended has sources");
        number as usize
    }

    /// The number of lists.
    pub(super) const fn len(&self) -> usize {
        self.lists.len()
    }

    /// The sources in the list with a number.
    pub(super) fn at(&self, number: usize) -> &[Entity] {
        &self.lists[number].sources
    }

    /// The sources of a target.
    pub(super) fn of(&self, target: Entity) -> &[Entity] {
        self.number(target).map_or(&[], |number| &self.lists[number].sources)
    }

    /// The targets with sources, in the order of the lists.
    pub(super) fn targets(&self) -> impl Iterator<Item = Entity> {
        self.lists.iter().map(|list| list.target)
    }

    /// The number of sources in all lists. O(targets).
    pub(super) fn sources_len(&self) -> usize {
        self.lists.iter().map(|list| list.sources.len()).sum()
    }

    /// Adds a source at the end of a target's list. Returns the number of the list, and the place
    /// of the source there. Amortised O(1).
    #[inline]
    pub(super) fn add(&mut self, source: Entity, target: Entity) -> (usize, u32) {
        let number = self.number_or_add(target);
        (number, self.add_at(number, source))
    }

    /// Adds sources at the end of a target's list. Returns their places.
    #[inline]
    pub(super) fn add_run(&mut self, added: &[Entity], target: Entity) -> Range<u32> {
        let number = self.number_or_add(target);
        let sources = &mut self.lists[number].sources;
        let first = sources.len();
        sources.extend_from_slice(added);
        let place = |at| u32::try_from(at).expect("there are more sources than entities");
        place(first)..place(sources.len())
    }

    /// The number of a target's list, which is made if the target has none.
    #[inline]
    fn number_or_add(&mut self, target: Entity) -> usize {
        let number = match self.numbers.get(target.index()) {
            Some(known) => known as usize,
            None => self.add_list(target),
        };
        let of = self.lists[number].target;
        debug_assert!(of == target, "an entity that has ended has sources");
        number
    }

    /// [`SourceLists::add`] to the list with a number.
    #[inline]
    pub(super) fn add_at(&mut self, number: usize, source: Entity) -> u32 {
        let sources = &mut self.lists[number].sources;
        let place = u32::try_from(sources.len()).expect("there are more sources than entities");
        sources.push(source);
        place
    }

    /// Adds the list of a target that has none, and returns its number.
    #[cold]
    #[inline(never)]
    fn add_list(&mut self, target: Entity) -> usize {
        self.put(SourceList { target, sources: Vec::new() });
        self.lists.len() - 1
    }

    /// Removes the source at a place. Returns the source that has taken its place, and whether the
    /// list is empty, which the caller removes.
    #[inline]
    pub(super) fn swap_remove(&mut self, number: usize, place: u32) -> (Option<Entity>, bool) {
        let sources = &mut self.lists[number].sources;
        let last = sources.pop().expect("a list has a source");
        let is_last = place as usize == sources.len();
        if !is_last {
            sources[place as usize] = last;
        }
        ((!is_last).then_some(last), sources.is_empty())
    }

    /// Moves the source at a place to another place, or to the end: those between follow by one.
    /// Returns the places that have other sources, as the first and the end.
    pub(super) fn shift(&mut self, number: usize, from: usize, to: usize) -> (usize, usize) {
        let sources = &mut self.lists[number].sources;
        let to = to.min(sources.len() - 1);
        if from <= to {
            sources[from..=to].rotate_left(1);
        } else {
            sources[to..=from].rotate_right(1);
        }
        (from.min(to), from.max(to) + 1)
    }

    /// Removes the source at a place, and leaves a gap until [`SourceLists::close`].
    pub(super) fn leave(&mut self, number: usize, place: u32) {
        self.lists[number].sources[place as usize] = Entity::NULL;
    }

    /// Closes the gaps of a list, the first of which is at a place, and returns its length. If it
    /// is 0, the caller removes the list.
    pub(super) fn close(&mut self, number: usize, first: usize) -> usize {
        let sources = &mut self.lists[number].sources;
        let mut len = first;
        for place in first..sources.len() {
            if !sources[place].is_null() {
                sources[len] = sources[place];
                len += 1;
            }
        }
        sources.truncate(len);
        len
    }

    /// Removes a list. The last one takes its number.
    pub(super) fn remove(&mut self, number: usize) -> SourceList {
        let list = self.lists.swap_remove(number);
        let known = self.numbers.take(list.target.index());
        if let (Some(moved), Some(known)) = (self.lists.get(number), known) {
            self.numbers.replace(moved.target.index(), known);
        }
        list
    }

    /// Takes the list of a target.
    pub(super) fn take(&mut self, target: Entity) -> Option<SourceList> {
        self.number(target).map(|number| self.remove(number))
    }

    /// Adds a list of a target that has none.
    ///
    /// # Panics
    ///
    /// If it has one.
    pub(super) fn put(&mut self, list: SourceList) {
        let new = u32::try_from(self.lists.len()).expect("there are more targets than entities");
        let former = self.numbers.add(list.target.index(), new);
        assert!(former.is_none(), "an entity has two lists of sources");
        self.lists.push(list);
    }

    /// Lists of free places for relations with these targets: the null id is the source of none.
    /// `heads` are the targets in the order of their lists.
    ///
    /// # Errors
    ///
    /// The defect, if they contradict each other.
    pub(super) fn of_targets(targets: &[Entity], heads: &[Entity]) -> Result<Self, &'static str> {
        let mut made = Self::default();
        for &target in heads {
            if made.number(target).is_some() {
                return Err("a target has two lists of sources");
            }
            made.put(SourceList { target, sources: Vec::new() });
        }
        for &target in targets {
            let number = made.number(target).ok_or("a target without a list of sources")?;
            made.lists[number].sources.push(Entity::NULL);
        }
        match made.lists.iter().any(|list| list.sources.is_empty()) {
            true => Err("a list of sources without a source"),
            false => Ok(made),
        }
    }

    /// Puts a source into a free place of a list.
    ///
    /// # Errors
    ///
    /// The defect, if the place is taken or does not exist.
    pub(super) fn fill(
        &mut self,
        number: usize,
        place: u32,
        source: Entity,
    ) -> Result<(), &'static str> {
        match self.lists[number].sources.get_mut(place as usize) {
            None => Err("a place beyond the sources of a target"),
            Some(free) if free.is_null() => {
                *free = source;
                Ok(())
            }
            Some(_) => Err("two sources have one place"),
        }
    }

    /// Renames all entities. Lists keep their numbers.
    pub(in crate::store) fn rename(&mut self, new: &dyn Fn(Entity) -> Entity) {
        self.numbers.clear();
        for mut list in core::mem::take(&mut self.lists) {
            list.target = new(list.target);
            list.sources.iter_mut().for_each(|source| *source = new(*source));
            self.put(list);
        }
    }

    /// Moves all lists of another relation to the end of this one. They must have no target in
    /// common.
    pub(super) fn append(&mut self, other: &mut Self) {
        other.lists.drain(..).for_each(|list| self.put(list));
        other.numbers.clear();
    }

    pub(super) fn shrink(&mut self) {
        self.numbers.shrink();
        self.lists.iter_mut().for_each(|list| list.sources.shrink_to_fit());
        self.lists.shrink_to_fit();
    }

    /// The allocated memory, in use or not.
    pub(super) fn bytes(&self) -> usize {
        let sources: usize = self.lists.iter().map(|list| list.sources.capacity()).sum();
        self.numbers.bytes()
            + sources * size_of::<Entity>()
            + self.lists.capacity() * size_of::<SourceList>()
    }

    /// Whether each list has sources and is found by its target.
    pub(super) fn are_filed(&self) -> bool {
        let is_filed = |(number, list): (u32, &SourceList)| {
            !list.sources.is_empty() && self.numbers.get(list.target.index()) == Some(number)
        };
        self.numbers.is_consistent()
            && self.numbers.len() == self.lists.len()
            && (0u32..).zip(&self.lists).all(is_filed)
    }
}

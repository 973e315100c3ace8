//! The way back of a relation to many: the sources of each target, beside the set of the relation.
//!
//! ```text
//!  numbers   index of a target ─► its list      pages, as in the set
//!  lists     │ 7v1 │ 8v2 │                      one for each target that has sources
//!    sources │ 2v1 9v1 │ 2v1 │
//!    entries │  0   1  │  1  │                  of the pair in the list of its source
//! ```
//!
//! The list of a source has the place of each pair here, and a list here the entry of each pair
//! there. So a pair that is known at one end is removed at both in O(1): in each list the last pair
//! takes its place.

use crate::entity::{Entity, PagedIndex};

/// The sources of one target: one or more.
#[derive(Debug)]
pub(super) struct PairList {
    target: Entity,
    sources: Vec<Entity>,
    entries: Vec<u32>,
}

impl Clone for PairList {
    fn clone(&self) -> Self {
        Self { target: self.target, sources: self.sources.clone(), entries: self.entries.clone() }
    }

    /// Uses the memory that it has.
    fn clone_from(&mut self, source: &Self) {
        self.target = source.target;
        self.sources.clone_from(&source.sources);
        self.entries.clone_from(&source.entries);
    }
}

impl PairList {
    /// The source and the entry of each pair.
    pub(super) fn pairs(&self) -> impl ExactSizeIterator<Item = (Entity, u32)> {
        self.sources.iter().copied().zip(self.entries.iter().copied())
    }
}

/// The sources of all targets. Without a relation to many it is empty, and allocates no memory.
#[derive(Debug, Default)]
pub(super) struct PairSources {
    numbers: PagedIndex,
    lists: Vec<PairList>,
    /// The number of pairs.
    len: usize,
}

impl Clone for PairSources {
    fn clone(&self) -> Self {
        Self { numbers: self.numbers.clone(), lists: self.lists.clone(), len: self.len }
    }

    fn clone_from(&mut self, source: &Self) {
        self.numbers.clone_from(&source.numbers);
        self.lists.clone_from(&source.lists);
        self.len = source.len;
    }
}

impl PairSources {
    fn number(&self, target: Entity) -> Option<usize> {
        let number = self.numbers.get(target.index())? as usize;
        (self.lists[number].target == target).then_some(number)
    }

    fn known(&self, target: Entity) -> usize {
        self.number(target).expect("the target of a pair has a list")
    }

    /// The number of pairs.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// The sources of a target.
    pub(super) fn of(&self, target: Entity) -> &[Entity] {
        self.number(target).map_or(&[], |number| &self.lists[number].sources)
    }

    /// The source and the entry of the pair at a place.
    pub(super) fn pair(&self, target: Entity, place: usize) -> (Entity, usize) {
        let list = &self.lists[self.known(target)];
        (list.sources[place], list.entries[place] as usize)
    }

    /// The entry of a source, found among the sources of a target. O(sources).
    pub(super) fn find(&self, source: Entity, target: Entity) -> Option<usize> {
        let list = &self.lists[self.number(target)?];
        let place = list.sources.iter().position(|&one| one == source)?;
        Some(list.entries[place] as usize)
    }

    /// The targets with sources, in the order of the lists.
    pub(super) fn targets(&self) -> impl Iterator<Item = Entity> {
        self.lists.iter().map(|list| list.target)
    }

    /// Adds a pair at the end of a target's list. Returns its place there. Amortised O(1).
    pub(super) fn add(&mut self, source: Entity, target: Entity, entry: u32) -> u32 {
        let new = u32::try_from(self.lists.len()).expect("there are more targets than entities");
        let number = match self.numbers.add(target.index(), new) {
            Some(known) => known as usize,
            None => {
                self.lists.push(PairList { target, sources: Vec::new(), entries: Vec::new() });
                new as usize
            }
        };
        let list = &mut self.lists[number];
        debug_assert!(list.target == target, "an entity that has ended has sources");
        list.sources.push(source);
        list.entries.push(entry);
        self.len += 1;
        u32::try_from(list.sources.len() - 1).expect("there are more sources than entities")
    }

    /// Removes the pair at a place. Returns the source and the entry of the pair that has taken its
    /// place.
    pub(super) fn remove(&mut self, target: Entity, place: u32) -> Option<(Entity, usize)> {
        let number = self.known(target);
        let list = &mut self.lists[number];
        let place = place as usize;
        list.sources.swap_remove(place);
        list.entries.swap_remove(place);
        self.len -= 1;
        let moved = list.sources.get(place).map(|&source| (source, list.entries[place] as usize));
        if list.sources.is_empty() {
            self.remove_list(number);
        }
        moved
    }

    /// Gives the pair at a place another entry in the list of its source.
    pub(super) fn set_entry(&mut self, target: Entity, place: u32, entry: u32) {
        let number = self.known(target);
        self.lists[number].entries[place as usize] = entry;
    }

    fn remove_list(&mut self, number: usize) -> PairList {
        let list = self.lists.swap_remove(number);
        let known = self.numbers.take(list.target.index());
        if let (Some(moved), Some(known)) = (self.lists.get(number), known) {
            self.numbers.replace(moved.target.index(), known);
        }
        self.len -= list.sources.len();
        list
    }

    /// Takes the pairs of a target.
    pub(super) fn take_list(&mut self, target: Entity) -> Option<PairList> {
        self.number(target).map(|number| self.remove_list(number))
    }

    /// Adds a list of a target that has none.
    ///
    /// # Panics
    ///
    /// If it has one.
    pub(super) fn put_list(&mut self, list: PairList) {
        let new = u32::try_from(self.lists.len()).expect("there are more targets than entities");
        let former = self.numbers.add(list.target.index(), new);
        assert!(former.is_none(), "an entity has two lists of sources");
        self.len += list.sources.len();
        self.lists.push(list);
    }

    /// The way back of pairs: of each source in the order of the set the number of its targets, and
    /// of each pair its target and its place. `heads` are the targets in the order of their lists.
    /// All entities are alive.
    ///
    /// # Errors
    ///
    /// The defect, if they contradict each other.
    pub(super) fn of_places(
        (sources, counts): (&[Entity], &[u32]),
        (targets, places): (&[Entity], &[u32]),
        heads: &[Entity],
    ) -> Result<Self, &'static str> {
        let mut made = Self::default();
        for &target in heads {
            if made.number(target).is_some() {
                return Err("a target has two lists of sources");
            }
            made.put_list(PairList { target, sources: Vec::new(), entries: Vec::new() });
        }
        for &target in targets {
            let number = made.number(target).ok_or("a target without a list of sources")?;
            // A place for each: the null id is the source of no pair.
            made.lists[number].sources.push(Entity::NULL);
            made.lists[number].entries.push(0);
        }
        if made.lists.iter().any(|list| list.sources.is_empty()) {
            return Err("a list of sources without a source");
        }
        let mut last_sources = vec![Entity::NULL; made.lists.len()];
        let mut pairs = targets.iter().zip(places);
        for (&source, &count) in sources.iter().zip(counts) {
            for entry in 0..count {
                let (&target, &place) = pairs.next().ok_or("a source with too many targets")?;
                let number = made.number(target).expect("it has a list");
                if core::mem::replace(&mut last_sources[number], source) == source {
                    return Err("a source has a target twice");
                }
                let list = &mut made.lists[number];
                match list.sources.get_mut(place as usize) {
                    None => return Err("a place beyond the sources of a target"),
                    Some(free) if free.is_null() => *free = source,
                    Some(_) => return Err("two sources have one place"),
                }
                list.entries[place as usize] = entry;
            }
        }
        made.len = targets.len();
        match pairs.next() {
            None => Ok(made),
            Some(_) => Err("a target without a source"),
        }
    }

    /// Renames all entities.
    pub(super) fn rename(&mut self, new: &dyn Fn(Entity) -> Entity) {
        self.numbers.clear();
        self.len = 0;
        for mut list in core::mem::take(&mut self.lists) {
            list.target = new(list.target);
            list.sources.iter_mut().for_each(|source| *source = new(*source));
            self.put_list(list);
        }
    }

    /// Moves all lists of another set to the end of this one. They must have no target in common.
    pub(super) fn append(&mut self, other: &mut Self) {
        other.lists.drain(..).for_each(|list| self.put_list(list));
        other.numbers.clear();
        other.len = 0;
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn shrink(&mut self) {
        self.numbers.shrink();
        for list in &mut self.lists {
            list.sources.shrink_to_fit();
            list.entries.shrink_to_fit();
        }
        self.lists.shrink_to_fit();
    }

    /// The allocated memory, in use or not.
    pub(super) fn bytes(&self) -> usize {
        let of_list = |list: &PairList| {
            list.sources.capacity() * size_of::<Entity>()
                + list.entries.capacity() * size_of::<u32>()
        };
        self.numbers.bytes()
            + self.lists.iter().map(of_list).sum::<usize>()
            + self.lists.capacity() * size_of::<PairList>()
    }

    /// Whether the lists are those of some pairs: the source, the target, the place and the entry
    /// of each.
    pub(super) fn are_of(&self, pairs: impl Iterator<Item = (Entity, Entity, u32, usize)>) -> bool {
        let listed: usize = self.lists.iter().map(|list| list.sources.len()).sum();
        let lists_are_filed = (0u32..).zip(&self.lists).all(|(number, list)| {
            !list.sources.is_empty()
                && list.sources.len() == list.entries.len()
                && self.numbers.get(list.target.index()) == Some(number)
        });
        let mut seen = 0;
        // As many pairs as are listed, and each in its place: none is listed twice.
        lists_are_filed
            && self.numbers.is_consistent()
            && self.numbers.len() == self.lists.len()
            && pairs.inspect(|_| seen += 1).all(|(source, target, place, entry)| {
                self.number(target).is_some_and(|number| {
                    let list = &self.lists[number];
                    let place = place as usize;
                    list.sources.get(place) == Some(&source)
                        && list.entries.get(place).is_some_and(|&one| one as usize == entry)
                })
            })
            && (self.len, listed) == (seen, seen)
    }
}

//! The set of a relation to many: the lists of its sources are changed together with the reverse
//! index.

use crate::component::{DenseValues, Links, SparseComponent};
use crate::entity::Entity;
use crate::version::Version;

use super::super::first_panic::FirstPanic;
use super::super::sparse::SparseSet;
use super::super::store::Store;

/// The number of an entry, which is at most the number of entities.
fn entry_of(entry: usize) -> u32 {
    u32::try_from(entry).expect("there are more targets than entities")
}

impl Store {
    /// Removes a pair of the relation to many with the lists `S`, if it exists. The clock must have
    /// advanced. O(the shorter of the lists of both).
    pub(crate) fn remove_pair<S: SparseComponent>(&mut self, source: Entity, target: Entity) {
        let now = self.clock;
        let (sets, mut rows) = self.sets_and_rows();
        let Some((set, number)) = sets.get_numbered::<S>() else { return };
        if let Some((at, entry)) = set.find_pair(source, target)
            && set.remove_pair(at, entry, now)
        {
            rows.set(source, number, false);
        }
    }
}

impl<T: SparseComponent> SparseSet<T> {
    /// The links of the source at a position; none if this is not the set of a relation to many.
    pub(super) fn links_at(&self, at: usize) -> Option<&Links> {
        T::PAIRS.map(|rules| (rules.links)(&self.values[at]))
    }

    fn links_mut(&mut self, at: usize) -> Option<&mut Links> {
        T::PAIRS.map(|rules| (rules.links_mut)(&mut self.values[at]))
    }

    /// The number of pairs, if this is the set of a relation to many. O(1).
    pub(crate) const fn pairs_len(&self) -> usize {
        self.sources.pairs_len
    }

    /// The position of a source, and the entry of a target in its list. O(the shorter of the lists
    /// of both).
    pub(crate) fn find_pair(&self, source: Entity, target: Entity) -> Option<(usize, usize)> {
        let at = self.position(source)?;
        Some((at, self.find_entry(at, target)?))
    }

    /// The sources of a target, each with the list of its targets and the entry of the pair there.
    pub(crate) fn pairs_to(
        &self,
        target: Entity,
    ) -> impl ExactSizeIterator<Item = (Entity, &T, usize)> {
        let pairs = self.sources.pairs_to(target);
        pairs.map(|(source, entry)| {
            let at = self.position(source).expect("a source has a list");
            (source, self.at(at), entry)
        })
    }

    fn find_entry(&self, at: usize, target: Entity) -> Option<usize> {
        let links = self.links_at(at)?;
        let sources = self.sources.lists.of(target);
        match links.len() <= sources.len() {
            true => links.find(target),
            false => self.sources.find_entry(self.entities[at], target),
        }
    }

    /// Files the pairs of a source that gets its list.
    pub(super) fn link_pairs(&mut self, source: Entity, value: &mut T) {
        let Some(rules) = T::PAIRS else { return };
        let links = (rules.links_mut)(value);
        for entry in 0..links.len() {
            links.places[entry] =
                self.sources.add_pair(source, links.targets[entry], entry_of(entry));
        }
    }

    /// Adds the pairs of a list to the source at a position.
    pub(super) fn add_pairs(&mut self, at: usize, added: &T) {
        let Some(rules) = T::PAIRS else { return };
        let source = self.entities[at];
        for (other, &target) in (rules.links)(added).targets.iter().enumerate() {
            if let Some(entry) = self.find_entry(at, target) {
                (rules.put_value)(&mut self.values[at], entry, added, other);
                continue;
            }
            let value = &mut self.values[at];
            let entry = entry_of((rules.links)(value).len());
            let place = self.sources.add_pair(source, target, entry);
            (rules.links_mut)(value).push(target, place);
            (rules.push_value)(value, added, other);
        }
    }

    /// Takes the pairs of the source at a position out of the lists of their targets.
    pub(super) fn unlink_pairs(&mut self, at: usize) {
        let len = self.links_at(at).map_or(0, Links::len);
        for entry in 0..len {
            let links = self.links_at(at).expect("it has a list");
            self.unlink_pair(links.targets[entry], links.places[entry]);
        }
    }

    fn unlink_pair(&mut self, target: Entity, place: u32) {
        if let Some((moved, entry)) = self.sources.remove_pair(target, place) {
            let position = self.position(moved).expect("a source has a value");
            self.links_mut(position).expect("it has a list").places[entry] = place;
        }
    }

    /// Takes an entry out of the list of the source at a position, which the reverse index has
    /// lost. Returns whether the list is empty.
    fn drop_entry(&mut self, at: usize, entry: usize, now: Version) -> bool {
        let Some(rules) = T::PAIRS else { return false };
        self.blocks.touch::<T>(at, now);
        let value = &mut self.values[at];
        (rules.remove_value)(value, entry);
        let links = (rules.links_mut)(value);
        links.swap_remove(entry);
        if let Some(&moved) = links.targets.get(entry) {
            self.sources.set_entry(moved, links.places[entry], entry_of(entry));
        }
        links.is_empty()
    }

    /// Removes a pair, and the list of its source if it was the last one. Returns whether it was.
    /// O(1).
    pub(crate) fn remove_pair(&mut self, at: usize, entry: usize, now: Version) -> bool {
        let links = self.links_at(at).expect("it is a relation to many");
        let (target, place) = (links.targets[entry], links.places[entry]);
        self.renew_version();
        self.unlink_pair(target, place);
        let is_last = self.drop_entry(at, entry, now);
        if is_last {
            self.note_loss(at);
            self.remove_at(at, now);
        }
        is_last
    }

    /// Removes all pairs with a target. Returns the sources that have no other target. O(sources).
    pub(super) fn remove_pairs(&mut self, target: Entity, now: Version) -> Vec<Entity> {
        let mut lost = Vec::new();
        let Some(list) = self.sources.take_pairs(target) else { return lost };
        self.renew_version();
        for (&source, entry) in list.0.sources().iter().zip(list.1) {
            let at = self.position(source).expect("a source has a value");
            if self.drop_entry(at, entry as usize, now) {
                self.note_loss(at);
                self.remove_at(at, now);
                lost.push(source);
            }
        }
        lost
    }

    /// Removes the pairs between an entity that leaves and others that stay. Adds the sources that
    /// stay and have no other target to `lost`. O(pairs of the entity).
    pub(super) fn cut_pairs(
        &mut self,
        entity: Entity,
        stays: &dyn Fn(Entity) -> bool,
        now: Version,
        lost: &mut Vec<Entity>,
    ) {
        if let Some(at) = self.position(entity) {
            let len = self.links_at(at).map_or(0, Links::len);
            // From the end: the pair that takes the place of a removed one was tested before.
            for entry in (0..len).rev() {
                let target = self.links_at(at).expect("it has a list").targets[entry];
                if stays(target) {
                    self.remove_pair(at, entry, now);
                }
            }
        }
        for place in (0..self.sources.lists.of(entity).len()).rev() {
            let (source, entry) = self.sources.pair(entity, place);
            if stays(source) {
                let at = self.position(source).expect("a source has a value");
                if self.remove_pair(at, entry, now) {
                    lost.push(source);
                }
            }
        }
    }

    /// Gives a copy of an entity the pairs of its original, with new ids at their ends and in their
    /// values. Returns whether it has any.
    pub(super) fn copy_pairs(
        &mut self,
        (original, copy): (Entity, Entity),
        new: &dyn Fn(Entity) -> Entity,
        now: Version,
        panic: &mut FirstPanic,
    ) -> bool {
        let (Some(rules), Some(at)) = (T::PAIRS, self.position(original)) else { return false };
        let mut copies = DenseValues::default();
        (rules.copy)(core::slice::from_ref(&self.values[at]), &mut copies);
        let mut value = copies.pop().expect("a list was copied");
        (rules.links_mut)(&mut value).targets.iter_mut().for_each(|target| *target = new(*target));
        if let Some(map_value) = T::MAP_ENTITIES {
            panic.call(|| map_value(&mut value, &mut |id| new(id)));
        }
        self.insert(copy, value, now);
        true
    }

    /// Renames the targets in the lists of the sources.
    pub(in crate::store) fn rename_pairs(&mut self, new: &dyn Fn(Entity) -> Entity) {
        let Some(rules) = T::PAIRS else { return };
        for value in self.values.iter_mut() {
            let targets = &mut (rules.links_mut)(value).targets;
            targets.iter_mut().for_each(|target| *target = new(*target));
        }
    }

    /// Whether values and the reverse index have the same relations.
    pub(in crate::store) fn links_are_consistent(&self) -> bool {
        let Some(rules) = T::PAIRS else { return self.sources.are_of(self.relations()) };
        let is_whole = |value: &T| {
            let links = (rules.links)(value);
            !links.is_empty()
                && links.len() == links.places.len()
                && links.len() == (rules.values_len)(value)
        };
        let all = self.entities.iter().zip(self.values.iter()).flat_map(|(&source, value)| {
            let Links { targets, places } = (rules.links)(value);
            let pairs = targets.iter().zip(places).enumerate();
            pairs.map(move |(entry, (&target, &place))| (source, target, place, entry))
        });
        self.values.iter().all(is_whole) && self.sources.are_of_pairs(all)
    }

    pub(in crate::store) fn shrink_pairs(&mut self) {
        if let Some(rules) = T::PAIRS {
            self.values.iter_mut().for_each(rules.shrink);
        }
    }

    /// The allocated memory of the lists of sources.
    pub(in crate::store) fn pair_list_bytes(&self) -> usize {
        T::PAIRS.map_or(0, |rules| self.values.iter().map(rules.list_bytes).sum())
    }
}

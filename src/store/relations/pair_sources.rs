//! The reverse index of a relation to many: the sources of each target, beside the set of the
//! relation.
//!
//! ```text
//!  lists     │ 7v1: 2v1 9v1 │ 8v2: 2v1 │    one for each target that has sources
//!  entries   │       0   1  │       1  │    of the pair in the list of its source
//! ```
//!
//! The list of a source has the place of each pair here, and a list here the entry of each pair
//! there. So a pair that is known at one end is removed at both in O(1): in each list the last pair
//! takes its place.

use crate::entity::Entity;

use super::source_lists::{SourceList, SourceLists};
use super::sources::Sources;

/// The sources of one target, with the entry of each pair.
type PairList = (SourceList, Vec<u32>);

impl Sources {
    /// The sources of a target, with the entry of each pair.
    pub(super) fn pairs_to(
        &self,
        target: Entity,
    ) -> impl ExactSizeIterator<Item = (Entity, usize)> {
        let number = self.lists.number(target);
        let (sources, entries) = number
            .map_or((&[][..], &[][..]), |number| (self.lists.at(number), &self.entries[number]));
        sources.iter().copied().zip(entries.iter().map(|&entry| entry as usize))
    }

    /// The source and the entry of the pair at a place.
    pub(super) fn pair(&self, target: Entity, place: usize) -> (Entity, usize) {
        let number = self.lists.number_of(target);
        (self.lists.at(number)[place], self.entries[number][place] as usize)
    }

    /// The entry of a source, found among the sources of a target. O(sources).
    pub(super) fn find_entry(&self, source: Entity, target: Entity) -> Option<usize> {
        let number = self.lists.number(target)?;
        let place = self.lists.at(number).iter().position(|&one| one == source)?;
        Some(self.entries[number][place] as usize)
    }

    /// Adds a pair at the end of a target's list. Returns its place there. Amortised O(1).
    pub(super) fn add_pair(&mut self, source: Entity, target: Entity, entry: u32) -> u32 {
        let (number, place) = self.lists.add(source, target);
        match self.entries.get_mut(number) {
            Some(entries) => entries.push(entry),
            None => self.entries.push(vec![entry]),
        }
        self.pairs_len += 1;
        place
    }

    /// Removes the pair at a place. Returns the source and the entry of the pair that has taken its
    /// place.
    pub(super) fn remove_pair(&mut self, target: Entity, place: u32) -> Option<(Entity, usize)> {
        let number = self.lists.number_of(target);
        let (moved, is_empty) = self.lists.swap_remove(number, place);
        let entries = &mut self.entries[number];
        entries.swap_remove(place as usize);
        self.pairs_len -= 1;
        let moved = moved.map(|source| (source, entries[place as usize] as usize));
        if is_empty {
            self.remove_pairs(number);
        }
        moved
    }

    /// Gives the pair at a place another entry in the list of its source.
    pub(super) fn set_entry(&mut self, target: Entity, place: u32, entry: u32) {
        self.entries[self.lists.number_of(target)][place as usize] = entry;
    }

    fn remove_pairs(&mut self, number: usize) -> PairList {
        let list = (self.lists.remove(number), self.entries.swap_remove(number));
        self.pairs_len -= list.1.len();
        list
    }

    /// Takes the pairs of a target.
    pub(super) fn take_pairs(&mut self, target: Entity) -> Option<PairList> {
        self.lists.number(target).map(|number| self.remove_pairs(number))
    }

    /// Adds a list of a target that has none.
    ///
    /// # Panics
    ///
    /// If it has one.
    pub(super) fn put_pairs(&mut self, (list, entries): PairList) {
        self.lists.put(list);
        self.pairs_len += entries.len();
        self.entries.push(entries);
    }

    /// The reverse index of pairs: of each source in the order of the set the number of its
    /// targets, and of each pair its target and its place. `heads` are the targets in the order of
    /// their lists. All entities are alive.
    ///
    /// # Errors
    ///
    /// The defect, if they contradict each other.
    pub(in crate::store) fn of_pairs(
        (sources, counts): (&[Entity], &[u32]),
        (targets, places): (&[Entity], &[u32]),
        heads: &[Entity],
    ) -> Result<Self, &'static str> {
        let mut lists = SourceLists::of_targets(targets, heads)?;
        let mut entries: Vec<_> = (0..lists.len()).map(|at| vec![0; lists.at(at).len()]).collect();
        let mut last_sources = vec![Entity::NULL; lists.len()];
        let mut pairs = targets.iter().zip(places);
        for (&source, &count) in sources.iter().zip(counts) {
            for entry in 0..count {
                let (&target, &place) = pairs.next().ok_or("a source with too many targets")?;
                let number = lists.number_of(target);
                if core::mem::replace(&mut last_sources[number], source) == source {
                    return Err("a source has a target twice");
                }
                lists.fill(number, place, source)?;
                entries[number][place as usize] = entry;
            }
        }
        match pairs.next() {
            None => Ok(Self { lists, places: Vec::new(), entries, pairs_len: targets.len() }),
            Some(_) => Err("a target without a source"),
        }
    }

    /// Whether the lists are those of some pairs: the source, the target, the place and the entry
    /// of each.
    pub(super) fn are_of_pairs(
        &self,
        pairs: impl Iterator<Item = (Entity, Entity, u32, usize)>,
    ) -> bool {
        let lens = (0..self.lists.len()).map(|number| self.lists.at(number).len());
        let mut seen = 0;
        // As many pairs as are listed, and each in its place: none is listed twice.
        self.lists.are_filed()
            && self.entries.iter().map(Vec::len).eq(lens)
            && pairs.inspect(|_| seen += 1).all(|(source, target, place, entry)| {
                let number = self.lists.number(target);
                let place = place as usize;
                number.is_some_and(|number| {
                    self.lists.at(number).get(place) == Some(&source)
                        && self.entries[number][place] as usize == entry
                })
            })
            && (self.pairs_len, self.lists.sources_len()) == (seen, seen)
    }
}

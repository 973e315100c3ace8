//! The sparse components of the rows of a batch, which a set takes as a list.
//!
//! The rows of a batch are the last ones of their archetype, and their entities are new: no value
//! is replaced, and the relations of a source cannot close a cycle. So each run of neighbours with
//! one target is tested once, and the members are marked by words.
//!
//! Three kinds of lists are put value by value: lists of relations to many, lists of an ordered
//! relation if one of the values asks for a place, and lists of recorded commands if a target is
//! gone or no older than the rows.

use core::mem;

use crate::component::{
    DenseValues, ListReader, ListSink, SparseBundle, SparseComponent, SparseLists,
};
use crate::entity::{ArchetypeId, Entity, Location};

use super::super::first_panic::FirstPanic;
use super::super::relations::RelationError;
use super::super::store::Store;
use super::sparse_set::SparseSet;

/// The sparse components of many bundles, until their call cannot be refused any more. A refused
/// call drops them one by one: the destructor of a vector would end the process at the second
/// panic.
pub(crate) struct PendingLists<S: SparseBundle>(S::Lists);

impl<S: SparseBundle> Default for PendingLists<S> {
    fn default() -> Self {
        Self(S::Lists::default())
    }
}

impl<S: SparseBundle> PendingLists<S> {
    /// Reserves memory for more bundles. Fewer may come.
    pub(in crate::store) fn reserve(&mut self, bundles: usize) {
        self.0.reserve(bundles);
    }

    /// Adds the components of one bundle.
    #[inline(always)]
    pub(crate) fn push(&mut self, sparse: S) {
        sparse.push_to(&mut self.0);
    }

    /// The bytes of the values, and of the allocations.
    pub(crate) fn bytes(&self) -> (usize, usize) {
        let mut bytes = ListBytes { used: 0, held: 0 };
        self.read(&mut bytes);
        (bytes.used, bytes.held)
    }

    fn read(&self, reader: &mut impl ListReader) {
        self.0.read(reader);
    }

    fn put(mut self, sink: &mut impl ListSink) {
        mem::take(&mut self.0).put(sink);
    }
}

impl<S: SparseBundle> Drop for PendingLists<S> {
    fn drop(&mut self) {
        if const { mem::needs_drop::<S>() } {
            let mut panic = FirstPanic::default();
            mem::take(&mut self.0).put(&mut panic);
            panic.resume_from_drop();
        }
    }
}

impl Store {
    /// Checks that the targets of new entities are alive, from number `first` on.
    ///
    /// # Errors
    ///
    /// The first target that is not, in the order of the bundles.
    pub(in crate::store) fn check_lists<S: SparseBundle>(
        &self,
        lists: &PendingLists<S>,
        first: usize,
    ) -> Result<(), RelationError> {
        let mut check = CheckLists { store: self, first, refused: None };
        if S::HAS_RELATIONS {
            lists.read(&mut check);
        }
        check.refused.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Gives the entities of the last rows of an archetype sparse components. Their relations must
    /// have been checked, and their sets must exist.
    pub(in crate::store) fn put_lists<S: SparseBundle>(
        &mut self,
        rows: (ArchetypeId, usize),
        lists: PendingLists<S>,
        panic: &mut FirstPanic,
    ) {
        lists.put(&mut PutLists { store: self, rows, panic });
    }

    /// [`Store::put_lists`] without the relations that are refused: their entities do not get
    /// these. Returns them with their entities, in the order of the rows.
    pub(crate) fn put_accepted_lists<S: SparseBundle>(
        &mut self,
        entities: &[Entity],
        lists: PendingLists<S>,
        panic: &mut FirstPanic,
    ) -> Vec<(Entity, RelationError)> {
        let Some(&first) = entities.first() else { return Vec::new() };
        let first = self.entities.locate(first).expect("an entity of a batch is alive");
        let mut refused = Vec::new();
        lists.put(&mut PutAccepted { store: self, first, entities, panic, refused: &mut refused });
        // The lists come one after the other.
        refused.sort_by_key(|&(row, _)| row);
        refused.into_iter().map(|(row, error)| (entities[row], error)).collect()
    }
}

/// Counts the bytes of lists.
struct ListBytes {
    used: usize,
    held: usize,
}

impl ListReader for ListBytes {
    fn read_list<S: SparseComponent>(&mut self, values: &DenseValues<S>) {
        self.used += size_of_val(&values[..]);
        // The capacity of a vector of values without a size has no limit.
        self.held += if size_of::<S>() == 0 { 0 } else { values.capacity() * size_of::<S>() };
    }
}

/// Finds the first target that is not alive.
struct CheckLists<'s> {
    store: &'s Store,
    /// The number of the first bundle that was not checked before.
    first: usize,
    /// The number of a bundle, and the error.
    refused: Option<(usize, RelationError)>,
}

impl ListReader for CheckLists<'_> {
    fn read_list<S: SparseComponent>(&mut self, values: &DenseValues<S>) {
        if !S::HAS_RELATIONS {
            return;
        }
        // The error of a bundle with two such targets names the first component.
        let end = self.refused.as_ref().map_or(values.len(), |(row, _)| *row);
        let mut first = self.first;
        for run in SparseSet::runs_of_one_target(&values[first..end]) {
            if let Err(error) = self.store.check_targets(Entity::NULL, &run[0]) {
                self.refused = Some((first, error));
                return;
            }
            first += run.len();
        }
    }
}

/// Puts lists with checked relations.
struct PutLists<'s> {
    store: &'s mut Store,
    /// The archetype, and the number of its last rows.
    rows: (ArchetypeId, usize),
    panic: &'s mut FirstPanic,
}

impl ListSink for PutLists<'_> {
    fn put_list<S: SparseComponent>(&mut self, values: DenseValues<S>) {
        let Self { store, rows, panic } = self;
        if !SparseSet::takes_run(&values) {
            let entities = store.sets_and_rows().1.last_entities(*rows).to_vec();
            for (entity, value) in entities.into_iter().zip(values.into_values()) {
                store.put_sparse_caught(entity, value, panic);
            }
            return;
        }
        let now = store.clock;
        let (sets, mut members) = store.sets_and_rows();
        let (set, number) = sets.get_numbered().expect("the sparse set was not added");
        set.insert_new(members.last_entities(*rows), values, now);
        members.set_last(*rows, number);
    }
}

/// Drops each value of some lists.
impl ListSink for FirstPanic {
    fn put_list<S: SparseComponent>(&mut self, values: DenseValues<S>) {
        let mut values = values;
        self.drop_from(&mut values, 0);
    }
}

/// Puts lists without the relations that are refused.
struct PutAccepted<'s> {
    store: &'s mut Store,
    /// The place of the first row.
    first: Location,
    entities: &'s [Entity],
    panic: &'s mut FirstPanic,
    /// The numbers of the rows, and the errors.
    refused: &'s mut Vec<(usize, RelationError)>,
}

impl PutAccepted<'_> {
    /// Whether all targets are alive and older than the rows, so that no relation is refused.
    fn are_accepted<S: SparseComponent>(&self, values: &[S]) -> bool {
        let Some(rules) = S::RELATION else { return S::PAIRS.is_none() };
        let is_older = |target| {
            let place = self.store.entities.locate(target);
            place.is_ok_and(|place| {
                place.archetype() != self.first.archetype() || place.row() < self.first.row()
            }) && !self.store.is_gone(target)
        };
        let mut runs = SparseSet::runs_of_one_target(values);
        runs.all(|run| is_older((rules.target)(&run[0])))
    }
}

impl ListSink for PutAccepted<'_> {
    fn put_list<S: SparseComponent>(&mut self, values: DenseValues<S>) {
        let is_accepted = self.are_accepted(&values);
        let Self { store, first, entities, panic, .. } = self;
        if is_accepted {
            let rows = (first.archetype(), entities.len());
            return PutLists { store, rows, panic }.put_list(values);
        }
        for ((row, &entity), value) in entities.iter().enumerate().zip(values.into_values()) {
            let errors = store.exchange_accepted::<(), S>(entity, value, panic);
            self.refused.extend(errors.into_iter().map(|error| (row, error)));
        }
    }
}

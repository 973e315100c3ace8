//! Changes of all entities that match, by bundles with sparse components.
//!
//! An insertion clones the sparse components for all entities before it changes one, because a
//! clone may panic. After that both kinds of calls cannot fail: columns are changed by whole
//! chunks, and sparse components entity by entity, in the order of the query. Destructors run last.

use crate::archetype::{Bundle, Change};
use crate::component::{ComponentSet, SparseBundle, SparseComponent, SparseVisitor};
use crate::entity::Entity;

use super::super::first_panic::FirstPanic;
use super::super::matches::Matches;
use super::super::store::Store;
use super::sparse_bundles::PendingParts;
use super::sparse_set::SparseSet;

impl Store {
    /// The entities that match, in the order of the query.
    fn matched_entities(&self, matches: &Matches) -> Vec<Entity> {
        let mut entities = self.entities_of(&matches.chunks);
        entities.extend(matches.rows.iter().flat_map(|matched| &matched.entities));
        entities
    }

    /// Inserts a bundle into all entities that match. Each must be alive, and the change, an
    /// insertion of the columns, must have an edge from its archetype. Returns their number.
    ///
    /// # Panics
    ///
    /// If another component has the name of one, or a clone panics: no entity is changed. If a
    /// destructor of a replaced value panics: all are.
    pub(crate) fn insert_in_matches<B: Bundle + Clone>(
        &mut self,
        matches: &Matches,
        change: Change,
        bundle: PendingBundle<B>,
    ) -> usize {
        let entities = self.matched_entities(matches);
        self.check_sets::<B::Sparse>();
        let Some((_, others)) = entities.split_last() else { return 0 };
        // Runs `Component::hint`, which may panic, so it comes before the first change.
        self.add_sets::<B::Sparse>();
        let clone = |_| PendingParts::split(bundle.get().clone()).1;
        let mut sparse: Vec<_> = others.iter().map(clone).collect();
        let (columns, own) = bundle.split();
        sparse.push(own);
        let before = self.clock;
        self.change_matches(matches, change, columns);
        if self.clock == before {
            self.advance_clock();
        }
        let mut panic = FirstPanic::default();
        for (&entity, sparse) in entities.iter().zip(sparse) {
            self.put_sparse_caught(entity, sparse.take(), &mut panic);
        }
        self.record_sets();
        panic.resume();
        entities.len()
    }

    /// Removes the components of a bundle, as far as they are present, from all entities that
    /// match. The change must be a removal of the columns. Returns the number of entities that had
    /// one.
    ///
    /// # Panics
    ///
    /// If a destructor panics. All components are removed.
    pub(crate) fn remove_from_matches<B: Bundle>(
        &mut self,
        matches: &Matches,
        change: Change,
    ) -> usize {
        self.check_names_of_sets::<B::Sparse>();
        let bundle = self.bundle_id::<B::Columns>();
        let columns: ComponentSet = self.components_of(bundle).iter().copied().collect();
        let mut having = 0;
        let mut entities = self.matched_entities(matches);
        entities.retain(|&entity| {
            let place = self.entities.locate(entity).expect("a row has no entity");
            let has_column = self.archetypes.get(place.archetype()).set().contains_any(&columns);
            let mut has_sparse = false;
            self.look_up_sparse::<B::Sparse>(entity, |_, has| has_sparse |= has);
            having += usize::from(has_column || has_sparse);
            has_sparse
        });
        let before = self.clock;
        self.change_matches(matches, change, ());
        if !entities.is_empty() {
            if self.clock == before {
                self.advance_clock();
            }
            let mut panic = FirstPanic::default();
            B::Sparse::visit(&mut RemoveOrdered { store: self, entities: &entities });
            for entity in entities {
                self.drop_sparse_caught::<B::Sparse>(entity, &mut panic);
            }
            self.record_sets();
            self.end_kept();
            panic.resume();
        }
        having
    }
}

/// Removes relations, the sources of which keep their order, from all entities at once: a source
/// that leaves alone moves to the end of its list first.
struct RemoveOrdered<'s> {
    store: &'s mut Store,
    entities: &'s [Entity],
}

impl SparseVisitor for RemoveOrdered<'_> {
    fn visit_sparse<S: SparseComponent>(&mut self) {
        let now = self.store.clock;
        let (sets, mut rows) = self.store.sets_and_rows();
        if let Some((set, number)) = sets.get_numbered::<S>()
            && SparseSet::<S>::IS_ORDERED
        {
            set.remove_all(self.entities, now);
            rows.clear(self.entities, number);
        }
    }
}

/// A bundle until its call cannot be refused any more: see [`PendingParts`].
pub(crate) struct PendingBundle<B: Bundle>(Option<B>);

impl<B: Bundle> PendingBundle<B> {
    pub(crate) const fn new(bundle: B) -> Self {
        Self(Some(bundle))
    }

    const fn get(&self) -> &B {
        self.0.as_ref().expect("the bundle is taken when it is consumed")
    }

    /// The columns and the sparse components.
    fn split(mut self) -> (B::Columns, PendingParts<B::Sparse>) {
        PendingParts::split(self.0.take().expect("the bundle is taken when it is consumed"))
    }
}

impl<B: Bundle> Drop for PendingBundle<B> {
    fn drop(&mut self) {
        // Drops the parts one by one.
        drop(self.0.take().map(PendingParts::split));
    }
}

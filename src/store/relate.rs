//! Tests of relations before they are made.
//!
//! A target is alive or reserved, and not gone. In a tree it is not the source, nor below it: the
//! walk goes from the target up, so it costs O(depth of the target), and O(1) if the source has no
//! sources. Each call tests the relations of its bundle before its first change, so a refused call
//! changes nothing.

use crate::component::{SparseBundle, SparseComponent, SparseReader};
use crate::entity::Entity;

use super::relation_error::RelationError;
use super::store::Store;

impl Store {
    /// Checks the relations of a bundle for an entity, or for a new one: the null id.
    ///
    /// # Errors
    ///
    /// If a target is not alive, or a tree would have a cycle.
    #[inline]
    pub(crate) fn check_relations<S: SparseBundle>(
        &mut self,
        source: Entity,
        bundle: &S,
    ) -> Result<(), RelationError> {
        if !S::HAS_RELATIONS {
            return Ok(());
        }
        let mut checking = Checking { store: self, source, found: Ok(()) };
        bundle.read(&mut checking);
        checking.found
    }

    fn check_relation<S: SparseComponent>(
        &mut self,
        source: Entity,
        value: &S,
    ) -> Result<(), RelationError> {
        let Some(rules) = S::RELATION else { return Ok(()) };
        let (relation, target) = (S::NAME, (rules.target)(value));
        // An entity that is spawned with a given id may be its own target. The null id is none.
        let is_itself = target == source && !target.is_null();
        if !is_itself && !self.contains(target) {
            return Err(RelationError::DeadTarget { relation, target });
        }
        if !rules.is_tree {
            return Ok(());
        }
        let cycle = Err(RelationError::Cycle { relation, source, target });
        if target == source {
            return cycle;
        }
        let Some(set) = self.write_sparse::<S>() else { return Ok(()) };
        if set.sources(source).is_empty() {
            return Ok(());
        }
        let mut above = target;
        while let Some(next) = set.target(above) {
            if next == source {
                return cycle;
            }
            above = next;
        }
        Ok(())
    }
}

/// Checks the relations of one entity.
struct Checking<'s> {
    store: &'s mut Store,
    source: Entity,
    found: Result<(), RelationError>,
}

impl SparseReader for Checking<'_> {
    #[inline]
    fn read<S: SparseComponent>(&mut self, value: &S) {
        if S::RELATION.is_some() && self.found.is_ok() {
            self.found = self.store.check_relation(self.source, value);
        }
    }
}

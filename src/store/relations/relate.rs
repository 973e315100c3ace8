//! Tests of relations before they are made.
//!
//! A target is alive or reserved, and not gone. In a tree it is not the source, nor below it: the
//! walk goes from the target up, so it costs O(depth of the target), and O(1) if the source has no
//! sources. Each call tests the relations of its bundle before its first change, so a refused call
//! changes nothing. A command leaves out the relations that are refused.
//!
//! A source that only changes its target takes a shorter path: no row changes, and no log reads it.
//! An entity that has a relation, or is a target, is alive, because both end with the entity. The
//! directory is not asked for it.

use core::any::TypeId;

use crate::component::{SparseBundle, SparseComponent, SparseReader, SparseSink, SparseVisitor};
use crate::entity::Entity;
use crate::version::Version;

use super::super::first_panic::FirstPanic;
use super::super::store::Store;
use super::relation_error::RelationError;

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
        let mut check = RelationCheck { store: self, source, refused: Ok(()) };
        bundle.read(&mut check);
        check.refused
    }

    /// The relations of a bundle for an entity that are refused: their types, and the reasons.
    fn refused_relations<S: SparseBundle>(
        &mut self,
        source: Entity,
        bundle: &S,
    ) -> Vec<(TypeId, RelationError)> {
        let mut checking = RefusedRelations { store: self, source, refused: Vec::new() };
        bundle.read(&mut checking);
        checking.refused
    }

    /// Drops the sparse components `R` of an entity, which must be alive, and puts those of a
    /// bundle, whose sets must exist. Relations that are refused are left out: an older one of
    /// their type stays. Returns the reasons.
    #[inline]
    pub(crate) fn exchange_accepted<R: SparseBundle, A: SparseBundle>(
        &mut self,
        entity: Entity,
        added: A,
        panic: &mut FirstPanic,
    ) -> Vec<RelationError> {
        if R::IS_EMPTY
            && let Some(outcome) = self.retarget(entity, &added, self.clock)
        {
            return outcome.err().into_iter().collect();
        }
        let refused = match A::HAS_RELATIONS {
            true => self.refused_relations(entity, &added),
            false => Vec::new(),
        };
        if refused.is_empty() {
            self.drop_sparse_caught::<R>(entity, panic);
            self.put_sparse_caught(entity, added, panic);
            return Vec::new();
        }
        let types: Vec<_> = refused.iter().map(|&(id, _)| id).collect();
        let mut others = ExchangeExcept { store: self, entity, types, panic };
        R::visit(&mut others);
        added.put(&mut others);
        refused.into_iter().map(|(_, error)| error).collect()
    }

    /// Gives an entity the relation of a bundle in place of another one, with the version `now`.
    /// `None`, and unchanged, if the bundle has other components, or the entity no relation yet.
    ///
    /// # Errors
    ///
    /// If the target is not alive, or a tree would have a cycle.
    #[inline]
    pub(in crate::store) fn retarget<S: SparseBundle>(
        &mut self,
        source: Entity,
        bundle: &S,
        now: Version,
    ) -> Option<Result<(), RelationError>> {
        if const { S::LEN != 1 || !S::HAS_RELATIONS } {
            return None;
        }
        let mut retarget = Retarget { store: self, source, now, outcome: None };
        bundle.read(&mut retarget);
        retarget.outcome
    }

    #[inline]
    pub(super) fn check_target(
        &self,
        relation: &'static str,
        source: Entity,
        target: Entity,
    ) -> Result<(), RelationError> {
        // An entity that is spawned with a given id may be its own target. The null id is none.
        let is_itself = target == source && !target.is_null();
        match is_itself || self.contains(target) {
            true => Ok(()),
            false => Err(RelationError::DeadTarget { relation, target }),
        }
    }

    /// Checks that the targets of a value are alive.
    #[inline]
    pub(in crate::store) fn check_targets<S: SparseComponent>(
        &self,
        source: Entity,
        value: &S,
    ) -> Result<(), RelationError> {
        if let Some(rules) = S::PAIRS {
            let targets = &(rules.links)(value).targets;
            return targets
                .iter()
                .try_for_each(|&target| self.check_target(S::NAME, source, target));
        }
        let Some(rules) = S::RELATION else { return Ok(()) };
        self.check_target(S::NAME, source, (rules.target)(value))
    }

    #[inline]
    fn check_relation<S: SparseComponent>(
        &mut self,
        source: Entity,
        value: &S,
    ) -> Result<(), RelationError> {
        self.check_targets(source, value)?;
        let Some(rules) = S::RELATION else { return Ok(()) };
        let (relation, target) = (S::NAME, (rules.target)(value));
        let is_cycle = rules.is_tree
            && match self.write_sparse::<S>() {
                Some(set) => set.is_above(source, target),
                None => source == target,
            };
        match is_cycle {
            true => Err(RelationError::Cycle { relation, source, target }),
            false => Ok(()),
        }
    }
}

/// Checks the relations of one entity up to the first that is refused.
struct RelationCheck<'s> {
    store: &'s mut Store,
    source: Entity,
    refused: Result<(), RelationError>,
}

impl SparseReader for RelationCheck<'_> {
    #[inline]
    fn read<S: SparseComponent>(&mut self, value: &S) {
        if S::HAS_RELATIONS && self.refused.is_ok() {
            self.refused = self.store.check_relation(self.source, value);
        }
    }
}

/// Replaces the relation of one entity.
struct Retarget<'s> {
    store: &'s mut Store,
    source: Entity,
    now: Version,
    outcome: Option<Result<(), RelationError>>,
}

impl SparseReader for Retarget<'_> {
    #[inline]
    fn read<S: SparseComponent>(&mut self, value: &S) {
        let Some(rules) = S::RELATION else { return };
        let Self { store, source, now, outcome } = self;
        let (target, source) = ((rules.target)(value), *source);
        let Some(mut set) = store.sparse.get_mut::<S>() else { return };
        let Some(at) = set.position(source) else { return };
        let number = set.sources.lists.number(target);
        if number.is_none() && target != source {
            if let Err(dead) = store.check_target(S::NAME, source, target) {
                *outcome = Some(Err(dead));
                return;
            }
            set = store.sparse.get_mut().expect("it has the value");
        }
        if rules.is_tree && set.is_above(source, target) {
            let relation = S::NAME;
            *outcome = Some(Err(RelationError::Cycle { relation, source, target }));
            return;
        }
        let place = rules.place.and_then(|place| place(value));
        set.retarget((at, source), (target, number), place, *now);
        *outcome = Some(Ok(()));
    }
}

/// The relations of one entity that are refused.
struct RefusedRelations<'s> {
    store: &'s mut Store,
    source: Entity,
    refused: Vec<(TypeId, RelationError)>,
}

impl SparseReader for RefusedRelations<'_> {
    fn read<S: SparseComponent>(&mut self, value: &S) {
        if S::HAS_RELATIONS {
            let refused = self.store.check_relation(self.source, value).err();
            self.refused.extend(refused.map(|error| (TypeId::of::<S>(), error)));
        }
    }
}

/// Drops and puts the sparse components of one entity, without some types.
struct ExchangeExcept<'s> {
    store: &'s mut Store,
    entity: Entity,
    types: Vec<TypeId>,
    panic: &'s mut FirstPanic,
}

impl SparseVisitor for ExchangeExcept<'_> {
    fn visit_sparse<S: SparseComponent>(&mut self) {
        if !self.types.contains(&TypeId::of::<S>()) {
            self.store.drop_sparse_caught::<S>(self.entity, self.panic);
        }
    }
}

impl SparseSink for ExchangeExcept<'_> {
    fn put<S: SparseComponent>(&mut self, value: S) {
        if !self.types.contains(&TypeId::of::<S>()) {
            self.store.put_sparse_caught(self.entity, value, self.panic);
        } else {
            self.panic.put(value);
        }
    }
}

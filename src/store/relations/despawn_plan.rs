//! The entities that go together: those named, and the sources of relations that follow.
//!
//! A relation with `on_delete = despawn` takes its sources along, breadth first, and several do so
//! in the order of their names; one with `on_delete = refuse` keeps its target as long as a source
//! stays. Both are known before the first row changes, and where no target of such a relation goes
//! no plan is made.
//!
//! A call of the world fails if a target is refused, and changes no row. Its error names a target
//! of the first relation, in the order of their names, that refuses one. Commands despawn as much
//! as they can. An entity that is refused survives. So do the targets that it would follow, and the
//! targets that its own `refuse` relations protect. [`Store::settle_despawns`] repeats this until
//! no more entities survive.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::component::OnDelete;
use crate::entity::Entity;

use super::super::sparse::SparseSets;
use super::super::store::Store;
use super::alive_set::AliveSet;
use super::relation_error::RelationError;

/// The entities that one call despawns.
#[derive(Debug, Default)]
pub(super) struct DespawnPlan {
    /// The named entities, and their followers, level after level.
    going: Vec<Entity>,
    /// The entities of `going` that were not kept.
    are_going: AliveSet,
}

impl DespawnPlan {
    /// The plan for some entities. Those that are not alive are left out, and each is in it once.
    /// O(entities + relations to them).
    fn new(store: &Store, named: impl Iterator<Item = Entity>) -> Self {
        let mut plan = Self::default();
        for entity in named {
            if store.contains(entity) && plan.are_going.insert(entity) {
                plan.going.push(entity);
            }
        }
        let following: Vec<_> = store.sparse().relations(OnDelete::Despawn).collect();
        let (mut next, mut sources) = (0, Vec::new());
        while !following.is_empty() && next < plan.going.len() {
            let target = plan.going[next];
            next += 1;
            following.iter().for_each(|(_, set)| set.extend_sources(target, &mut sources));
            let are_going = &mut plan.are_going;
            plan.going.extend(sources.drain(..).filter(|&source| are_going.insert(source)));
        }
        plan
    }

    /// The targets whose despawn a `refuse` relation forbids: a source of theirs survives.
    fn refused_targets<'p>(
        &'p self,
        sets: &'p SparseSets,
    ) -> impl Iterator<Item = (Entity, RelationError)> + 'p {
        sets.relations(OnDelete::Refuse).flat_map(move |(relation, set)| {
            self.going.iter().filter_map(move |&target| {
                let source = set.find_source(target, &|source| !self.goes(source))?;
                Some((target, RelationError::Held { relation, target, source }))
            })
        })
    }

    fn goes(&self, entity: Entity) -> bool {
        self.are_going.contains(entity)
    }

    /// For each follower, the number of `despawn` relations from it to entities of `going`.
    fn cascade_counts(&self, sets: &SparseSets) -> FxHashMap<Entity, usize> {
        let (mut counts, mut sources) = (FxHashMap::default(), Vec::new());
        for (_, set) in sets.relations(OnDelete::Despawn) {
            for &target in &self.going {
                set.extend_sources(target, &mut sources);
                sources.drain(..).for_each(|source| *counts.entry(source).or_default() += 1);
            }
        }
        counts
    }

    /// Drops the refused targets from the plan, the targets that they would follow, the targets
    /// that their own `refuse` relations protect, and the followers that no other target takes
    /// along. Returns these entities with the reasons. O(entities + their relations).
    fn drop_refused(
        &mut self,
        sets: &SparseSets,
        named: &FxHashSet<Entity>,
    ) -> FxHashMap<Entity, RelationError> {
        let mut kept = FxHashMap::default();
        let mut left: Vec<_> = self.refused_targets(sets).collect();
        if left.is_empty() {
            return kept;
        }
        let mut counts = self.cascade_counts(sets);
        let (mut sources, mut targets) = (Vec::new(), Vec::new());
        while let Some((entity, reason)) = left.pop() {
            if !self.are_going.remove(entity) {
                continue;
            }
            kept.insert(entity, reason);
            for (relation, set) in sets.relations(OnDelete::Refuse) {
                set.extend_targets(entity, &mut targets);
                for target in targets.drain(..).filter(|&target| self.goes(target)) {
                    left.push((target, RelationError::Held { relation, target, source: entity }));
                }
            }
            for (_, set) in sets.relations(OnDelete::Despawn) {
                set.extend_targets(entity, &mut targets);
                left.extend(targets.drain(..).map(|target| (target, reason)));
                set.extend_sources(entity, &mut sources);
            }
            for source in sources.drain(..) {
                // A source that is kept already is no longer counted.
                let Some(count) = counts.get_mut(&source).filter(|_| self.goes(source)) else {
                    continue;
                };
                *count -= 1;
                if *count == 0 && !named.contains(&source) {
                    left.push((source, reason));
                }
            }
        }
        kept
    }
}

impl Store {
    /// Whether a despawn of the entities `entity(0..len)` may take others along, or be refused: one
    /// of them is a target. O(len) in worlds with such relations.
    #[inline]
    pub(crate) fn has_despawn_rules(&self, len: usize, entity: &dyn Fn(usize) -> Entity) -> bool {
        self.sparse().has_relations() && self.are_targets(len, entity)
    }

    fn are_targets(&self, len: usize, entity: &dyn Fn(usize) -> Entity) -> bool {
        let rules = [OnDelete::Despawn, OnDelete::Refuse].into_iter();
        let mut sets = rules.flat_map(|rule| self.sparse().relations(rule));
        sets.any(|(_, set)| (0..len).any(|i| set.find_source(entity(i), &|_| true).is_some()))
    }

    /// The entities that go if some are despawned together: these first.
    ///
    /// # Errors
    ///
    /// If one of them is held by a source that stays.
    pub(in crate::store) fn plan_despawn(
        &self,
        named: impl Iterator<Item = Entity>,
    ) -> Result<Vec<Entity>, RelationError> {
        let plan = DespawnPlan::new(self, named);
        let refused = plan.refused_targets(self.sparse()).next();
        match refused {
            None => Ok(plan.going),
            Some((_, error)) => Err(error),
        }
    }

    /// The entities that go if some are despawned as far as they can be, and the others with the
    /// reasons. O(entities + relations), and again for each turn in which a cycle of relations
    /// kept one.
    pub(in crate::store) fn settle_despawns(
        &self,
        named: &[Entity],
    ) -> (Vec<Entity>, FxHashMap<Entity, RelationError>) {
        let mut refused = FxHashMap::default();
        let mut left: FxHashSet<_> = named.iter().copied().collect();
        loop {
            let among = named.iter().copied().filter(|entity| left.contains(entity));
            let mut plan = DespawnPlan::new(self, among);
            let kept = plan.drop_refused(self.sparse(), &left);
            if kept.is_empty() {
                return (plan.going, refused);
            }
            // Each entity that is kept was named, or followed one that was: that is kept, too.
            for (entity, reason) in kept {
                if left.remove(&entity) {
                    refused.insert(entity, reason);
                }
            }
        }
    }
}

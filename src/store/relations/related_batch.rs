//! Relations of many sources at once, all or none.
//!
//! Ids are checked first, each for itself. A tree is judged by its graph at the end, so a parent
//! and its child may change places, and before the first change: the walk from a source goes up by
//! the targets of the batch, and from other entities by those of the set, as far as no walk has
//! been before. Each cycle passes through a source of the batch, because the graph had none.
//!
//! In an ordered relation new sources go to the end of their list, in the order of the batch. A
//! source leaves its old list in O(siblings). So all sources leave in one pass over the lists,
//! unless a value asks for a place.

use core::slice;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::component::SparseComponent;
use crate::entity::{Entity, Location};
use crate::version::Version;

use super::super::entity_error::EntityError;
use super::super::sparse::SparseSet;
use super::super::store::Store;
use super::relation_error::RelationError;

impl Store {
    /// Gives entities relations, in the order of the batch: of two relations of an entity the later
    /// one replaces the earlier. O(batch), and of a tree O(batch + entities above it); of sources
    /// that keep an order also O(batch · log(batch) + siblings), or if one asks for a place,
    /// O(batch × siblings).
    ///
    /// # Errors
    ///
    /// If an entity or a target is not alive, or a tree would have a cycle at the end. The store is
    /// unchanged.
    ///
    /// # Panics
    ///
    /// If another component has the name of the relation. The store is unchanged.
    pub(crate) fn relate_batch<S: SparseComponent>(
        &mut self,
        batch: Vec<(Entity, S)>,
    ) -> Result<(), EntityError> {
        let places = self.check_ends(&batch)?;
        self.check_graph(&batch)?;
        if batch.is_empty() {
            return Ok(());
        }
        self.put_relations(batch, &places);
        // An entity may come twice: logs read its last target.
        self.record_combined_sets();
        Ok(())
    }

    /// Checks that the ends of relations are alive. Returns the rows of the sources that have no
    /// relation yet.
    fn check_ends<S: SparseComponent>(
        &self,
        batch: &[(Entity, S)],
    ) -> Result<Vec<Option<Location>>, EntityError> {
        let set = self.read_sparse::<S>();
        let mut places = Vec::with_capacity(batch.len());
        let mut checked = None;
        for (source, value) in batch {
            // An entity with a value is alive: its slot is not read.
            let is_known = set.as_ref().is_some_and(|set| set.contains(*source));
            places.push(if is_known { None } else { self.row_of_living(*source)? });
            if !checked.is_some_and(|last| SparseSet::have_one_target(last, value)) {
                self.check_targets(*source, value)?;
                checked = Some(value);
            }
        }
        Ok(places)
    }

    /// Puts relations that were checked into their set.
    fn put_relations<S: SparseComponent>(
        &mut self,
        batch: Vec<(Entity, S)>,
        places: &[Option<Location>],
    ) {
        // A cleanup component would end entities here, and other rows would move.
        const { assert!(!S::CLEANUP, "a relation is a cleanup component") };
        let (set, number, (mut rows, now)) = self.sparse_mut::<S>();
        let takes_run = |(_, value): &(Entity, S)| SparseSet::takes_run(slice::from_ref(value));
        let takes_runs = batch.iter().all(takes_run);
        if SparseSet::<S>::IS_ORDERED && takes_runs {
            for pair in set.relate_in_order(batch, now) {
                rows.set_at(places[pair].expect("the source had no relation"), number, true);
            }
            return;
        }
        let (sources, values): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        let (mut values, mut put) = (values.into_iter(), 0);
        while put < sources.len() {
            if takes_runs && places[put].is_some() {
                // The run ends at a source that has a relation, or came before.
                let added = set.insert_run(&sources[put..], &mut values, now);
                rows.set_places(&places[put..put + added], number);
                put += added;
            }
            if let Some(value) = values.next() {
                let replaced = set.insert(sources[put], value, now);
                if let (None, Some(place)) = (replaced, places[put]) {
                    rows.set_at(place, number, true);
                }
                put += 1;
            }
        }
    }

    /// Checks that the graph at the end of a batch has no cycle, if it must have none.
    fn check_graph<S: SparseComponent>(
        &mut self,
        batch: &[(Entity, S)],
    ) -> Result<(), RelationError> {
        let Some(rules) = S::RELATION.filter(|rules| rules.is_tree) else { return Ok(()) };
        if have_no_sources(self.write_sparse().as_deref(), batch) {
            return Ok(());
        }
        let new = batch.iter().map(|(source, value)| (*source, Above::to((rules.target)(value))));
        // The last one of a source is kept.
        let mut above: FxHashMap<_, _> = new.collect();
        let set = self.write_sparse::<S>();
        for (walk, (source, _)) in (1..).zip(batch) {
            if let Some(meeting) = walk_up(&mut above, set.as_deref(), *source, walk) {
                return Err(first_of_cycle(&mut above, batch, meeting));
            }
        }
        Ok(())
    }
}

impl<S: SparseComponent> SparseSet<S> {
    /// Retargets the sources of a batch in which no value asks for a place. Returns the numbers of
    /// the pairs that are the first relation of their source.
    fn relate_in_order(&mut self, batch: Vec<(Entity, S)>, now: Version) -> Vec<usize> {
        let rules = S::RELATION.expect("it is the set of a relation");
        // By source: its target at the end, and the number of the last pair that changed it.
        let mut last = FxHashMap::default();
        for (number, (source, value)) in batch.iter().enumerate() {
            let known = || (self.target(*source).unwrap_or(Entity::NULL), None);
            let step = last.entry(*source).or_insert_with(known);
            let target = (rules.target)(value);
            if step.0 != target {
                *step = (target, Some(number));
            }
        }
        let moves = |number, source| last[source].1 == Some(number);
        let moving = (0..).zip(&batch).filter(|&(number, (source, _))| moves(number, source));
        let leaving: Vec<_> = moving.filter_map(|(_, pair)| self.position(pair.0)).collect();
        self.leave_lists(&leaving);
        let mut first = Vec::new();
        for (number, (source, value)) in batch.into_iter().enumerate() {
            let changed = last[&source].1;
            match self.position(source) {
                Some(at) if changed == Some(number) => self.join(at, (rules.target)(&value), now),
                // As a single relation to the same target does.
                Some(at) if changed.is_none() => {
                    self.renew_version();
                    self.blocks.touch::<S>(at, now);
                }
                None if changed == Some(number) => {
                    self.insert(source, value, now);
                    first.push(number);
                }
                _ => {}
            }
        }
        first
    }
}

/// Whether no entity is below a source of a batch, before and after it: such a source cannot be a
/// part of a cycle. O(batch).
fn have_no_sources<S: SparseComponent>(set: Option<&SparseSet<S>>, batch: &[(Entity, S)]) -> bool {
    let target = |value| S::RELATION.map_or(Entity::NULL, |rules| (rules.target)(value));
    let runs = batch.chunk_by(|(_, a), (_, b)| SparseSet::have_one_target(a, b));
    let targets: FxHashSet<_> = runs.map(|run| target(&run[0].1)).collect();
    let is_last = |source| set.is_none_or(|set| set.sources(source).is_empty());
    batch.iter().all(|&(source, _)| !targets.contains(&source) && is_last(source))
}

/// The target of an entity at the end of a batch, and the walk that has passed it.
#[derive(Clone, Copy)]
struct Above {
    /// The null id has no target.
    target: Entity,
    /// 0 before the first one.
    walk: usize,
}

impl Above {
    const fn to(target: Entity) -> Self {
        Self { target, walk: 0 }
    }
}

/// Walks from a source up to an entity without a target, or one that another walk has passed.
/// Returns an entity that this walk has passed before.
fn walk_up<S: SparseComponent>(
    above: &mut FxHashMap<Entity, Above>,
    set: Option<&SparseSet<S>>,
    source: Entity,
    walk: usize,
) -> Option<Entity> {
    let mut entity = source;
    loop {
        let known = || set.and_then(|set| set.target(entity)).unwrap_or(Entity::NULL);
        let step = above.entry(entity).or_insert_with(|| Above::to(known()));
        if step.walk == walk {
            return Some(entity);
        }
        if step.walk != 0 || step.target.is_null() {
            return None;
        }
        step.walk = walk;
        entity = step.target;
    }
}

/// The error of a cycle through an entity: the first source of the batch that is a part of it.
#[cold]
fn first_of_cycle<S: SparseComponent>(
    above: &mut FxHashMap<Entity, Above>,
    batch: &[(Entity, S)],
    meeting: Entity,
) -> RelationError {
    const CYCLE: usize = usize::MAX;
    let mut entity = meeting;
    while let Some(step) = above.get_mut(&entity)
        && step.walk != CYCLE
    {
        step.walk = CYCLE;
        entity = step.target;
    }
    let is_part = |source: &Entity| above[source].walk == CYCLE;
    let source = batch.iter().map(|&(source, _)| source).find(is_part);
    let source = source.expect("the graph had no cycle before");
    RelationError::Cycle { relation: S::NAME, source, target: above[&source].target }
}

//! Changes and reads of relations: by entity, in batches, pair by pair, and from both ends.

use std::collections::{BTreeMap, BTreeSet};

use phalanx::prelude::*;
use phalanx::sparse::{SparseComponent, relate_batch};

use crate::model::Model;
use crate::operations::Who;
use crate::outcome::{A_CYCLE, DEAD, DEAD_TARGET, DONE, LACKS, Outcome, word};
use crate::parts::Shape;
use crate::relations::{ChildOf, Faces, Kind, Likes, Needs, SlotOf};
use crate::trial::Trial;

impl Model {
    /// The answer to a relation of a living source.
    pub(crate) fn relates<K: Kind>(&self, source: Entity, target: Entity) -> Outcome {
        match self.alive(target) {
            None => DEAD_TARGET,
            Some(_) if self.relations.is_cycle::<K>(source, target) => A_CYCLE,
            Some(_) => DONE,
        }
    }

    /// Reads the order of sources from the world after a playback, which promises none: it ends
    /// all entities of a run of despawns before their relations.
    pub(crate) fn read_sources(&mut self, world: &World) {
        let (tree, faces) = (world.relation::<ChildOf>(), world.relation::<Faces>());
        self.relations.of_mut::<ChildOf>().reorder(|parent| tree.sources(parent));
        self.relations.of_mut::<Faces>().reorder(|target| faces.sources(target));
    }
}

impl Trial {
    /// The first source from a living entity on, or an entity that is not alive.
    pub(crate) fn source<K: Kind>(&self, entity: Entity) -> Entity {
        let next = self.model.relations.of::<K>().all().range(entity..).next();
        let is_alive = self.model.alive(entity).is_some();
        next.filter(|_| is_alive).map_or(entity, |(&source, _)| source)
    }

    /// Relates a source to a target by an insertion, or in exchange for its former relation.
    pub(crate) fn relate<K: Kind>(
        &mut self,
        (source, target): (Entity, Entity),
        number: u32,
        is_exchange: bool,
    ) -> Outcome {
        let related = self.step(|side| match is_exchange {
            true => side.world.exchange::<K::Value, _>(source, K::value(target, number)).map(drop),
            false => side.world.insert(source, K::value(target, number)),
        });
        let outcome = word(&related);
        let expected = match self.model.alive(source) {
            None => DEAD,
            Some(_) if is_exchange && !self.model.relations.of::<K>().has(source) => LACKS,
            Some(_) => self.model.relates::<K>(source, target),
        };
        // With two reasons either is told.
        let is_either = expected != DONE && outcome == self.model.relates::<K>(source, target);
        assert!(outcome == expected || is_either, "{source}, {target}: {outcome}, {expected}");
        if related.is_ok() {
            assert_eq!(outcome, expected, "{source} to {target}");
            if is_exchange {
                self.model.relations.of_mut::<K>().remove(source);
            }
            self.model.relations.put::<K>(source, target, number);
        }
        outcome
    }

    /// Relates some sources to targets, all or none.
    pub(crate) fn relate_batch<K: Kind>(
        &mut self,
        (who, to): (&[Who], &[Who]),
        number: u32,
    ) -> Outcome
    where
        K::Value: SparseComponent,
    {
        let [sources, targets] =
            [who, to].map(|some| some.iter().map(|&one| self.model.resolve(one)));
        let pairs: Vec<_> = sources.zip(targets).collect();
        let numbers = || (0u32..).map(move |i| number.wrapping_add(i));
        let values = || pairs.iter().zip(numbers()).map(|(pair, number)| (*pair, number));
        let related = self.step(|side| {
            let values = values().map(|((source, target), at)| (source, K::value(target, at)));
            relate_batch(&mut side.world, values)
        });
        let mut after = self.model.relations.clone();
        values().for_each(|((source, target), at)| after.put::<K>(source, target, at));
        let reasons: BTreeSet<_> = pairs
            .iter()
            .flat_map(|&(source, target)| {
                let [is_source, is_target] =
                    [source, target].map(|one| self.model.alive(one).is_some());
                let is_cycle = K::INDEX == ChildOf::INDEX && after.of::<K>().is_endless(source);
                [(!is_source, DEAD), (!is_target, DEAD_TARGET), (is_cycle, A_CYCLE)]
            })
            .filter_map(|(holds, reason)| holds.then_some(reason))
            .collect();
        let outcome = word(&related);
        match related.is_ok() {
            true => assert!(reasons.is_empty(), "{pairs:?} were related in spite of {reasons:?}"),
            false => assert!(reasons.contains(outcome), "{pairs:?}: {outcome}, {reasons:?}"),
        }
        if related.is_ok() {
            self.model.relations = after;
        }
        outcome
    }

    /// Removes the relation of a source.
    pub(crate) fn unrelate<K: Kind>(&mut self, source: Entity) -> Outcome {
        let removed = self.step(|side| side.world.remove::<K::Value>(source).map(drop));
        let expected = match self.model.alive(source) {
            None => DEAD,
            Some(_) if !self.model.relations.of::<K>().has(source) => LACKS,
            Some(_) => DONE,
        };
        assert_eq!(word(&removed), expected, "{source}");
        self.model.relations.of_mut::<K>().remove(source);
        expected
    }

    /// Writes the value of one pair through its list, or removes the pair.
    pub(crate) fn change_pair(
        &mut self,
        (source, target): (Entity, Entity),
        number: Option<u32>,
    ) -> Outcome {
        self.flush();
        let source = self.source::<Likes>(source);
        let target = self.model.relations.of::<Likes>().target(source).unwrap_or(target);
        let former = self.step(|side| {
            let mut list = side.world.get_mut::<Likes>(source).ok()?;
            match number {
                None => list.remove(target).map(|former| former.weight),
                Some(number) => {
                    list.get_mut(target).map(|likes| std::mem::replace(&mut likes.weight, number))
                }
            }
        });
        let pairs = self.model.relations.of_mut::<Likes>();
        assert_eq!(former, pairs.remove_pair(source, target), "{source} to {target}");
        let Some(_) = former else { return LACKS };
        if let Some(number) = number {
            self.model.relations.put::<Likes>(source, target, number);
        }
        DONE
    }

    /// Spawns rows with a relation to one target.
    pub(crate) fn spawn_related<K: Kind, S: Shape>(
        &mut self,
        target: Entity,
        rows: usize,
        first: u32,
    ) -> Outcome {
        let numbers = || (0u32..).take(rows).map(move |i| first.wrapping_add(i));
        let spawned = self.step(|side| {
            let rows = numbers().map(|number| (S::make(number), K::value(target, number)));
            side.world.try_spawn_batch(rows).map(<[_]>::to_vec)
        });
        let (refusal, outcome) = (self.refusal(S::SET, rows), word(&spawned));
        let is_dead = rows > 0 && self.model.alive(target).is_none();
        let expected = if is_dead && refusal == DONE { DEAD_TARGET } else { refusal };
        // With two reasons either is told.
        let is_either = is_dead && outcome == DEAD_TARGET;
        assert!(outcome == expected || is_either, "{target}: {outcome}, {expected}");
        if let Ok(entities) = spawned {
            self.made::<S>(entities.clone(), numbers());
            for (entity, number) in entities.into_iter().zip(numbers()) {
                self.model.relations.put::<K>(entity, target, number);
            }
        }
        outcome
    }

    /// Compares all relations from both ends.
    pub(crate) fn compare_relations(&self, world: &World) {
        self.compare_sources::<ChildOf>(world, |target| {
            world.relation::<ChildOf>().sources(target).to_vec()
        });
        self.compare_sources::<SlotOf>(world, |target| {
            world.relation::<SlotOf>().sources(target).to_vec()
        });
        self.compare_sources::<Likes>(world, |target| {
            world.relation::<Likes>().sources(target).to_vec()
        });
        self.compare_sources::<Faces>(world, |target| {
            world.relation::<Faces>().sources(target).to_vec()
        });
        self.compare_sources::<Needs>(world, |target| {
            world.relation::<Needs>().sources(target).to_vec()
        });
        let relations = &self.model.relations;
        let (tree, slots) = (world.relation::<ChildOf>(), world.relation::<SlotOf>());
        let children = relations.of::<ChildOf>().all();
        let parents: BTreeMap<_, _> = tree.iter().collect();
        assert!(parents.len() == tree.len() && parents.len() == children.len(), "children");
        for (&child, &parent) in &parents {
            assert_eq!(relations.of::<ChildOf>().target(child), Some(parent), "of {child}");
        }
        for (&source, targets) in relations.of::<SlotOf>().all() {
            let target = *targets.keys().next().expect("it has one");
            let sources = relations.of::<SlotOf>().sources(target);
            assert_eq!(slots.sources(target), sources, "the order of sources of {target}");
            let place = slots.place(source).expect("it has one");
            assert_eq!(sources[place], source, "the place of {source}");
        }
        let likes = world.relation::<Likes>();
        let mut pairs = relations.of::<Likes>().all().clone();
        for (source, target, value) in likes.iter() {
            let number = pairs.get_mut(&source).and_then(|targets| targets.remove(&target));
            assert_eq!(number, Some(value.weight), "the value of {source} and {target}");
        }
        assert!(pairs.values().all(BTreeMap::is_empty), "pairs that are not in the world");
        let needs: BTreeSet<_> = world.relation::<Needs>().iter().map(|(s, t, _)| (s, t)).collect();
        let sources = relations.of::<Needs>().all().iter();
        let pairs =
            sources.flat_map(|(&source, to)| to.keys().map(move |&target| (source, target)));
        assert!(needs.into_iter().eq(pairs), "who needs whom");
        for (depth, level) in tree.levels().iter().enumerate() {
            let is_there = |&entity: &Entity| tree.depth(entity) == depth;
            assert!(level.iter().all(is_there), "entities of level {depth}");
        }
    }

    /// Compares the sources of each target, and the rows of sources.
    fn compare_sources<K: Kind + SourceFilter>(
        &self,
        world: &World,
        sources: impl Fn(Entity) -> Vec<Entity>,
    ) {
        let pairs = self.model.relations.of::<K>();
        // A query by a relation that a crowded world does not use would slow down all others.
        if !(self.profile.crowded && pairs.all().is_empty()) {
            let mut rows = K::rows(world);
            rows.sort_unstable();
            assert!(rows.iter().eq(pairs.all().keys()), "rows of sources of {}", K::INDEX);
        }
        for &entity in self.model.rows.keys() {
            let seen = sources(entity);
            let expected = pairs.sources(entity);
            if !K::IS_MANY {
                assert_eq!(seen, expected, "the sources of {entity}, in their order");
                continue;
            }
            let set: BTreeSet<Entity> = seen.iter().copied().collect();
            assert_eq!(seen.len(), expected.len(), "sources of {entity}");
            assert!(set.iter().eq(&expected.iter().copied().collect::<BTreeSet<_>>()), "{entity}");
        }
    }
}

/// The rows of all sources.
trait SourceFilter {
    fn rows(world: &World) -> Vec<Entity>;
}

macro_rules! source_filters {
    ($($relation:ty),*) => {$(
        impl SourceFilter for $relation {
            fn rows(world: &World) -> Vec<Entity> {
                let all = world.query::<Entity>().filter::<IncludeHidden>();
                all.with::<$relation>().rows().collect()
            }
        }
    )*};
}

source_filters!(ChildOf, SlotOf, Likes, Faces, Needs);

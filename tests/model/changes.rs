//! Changes of single entities and batches: what the world answers, and what becomes of the model.

use std::collections::{BTreeMap, BTreeSet};

use phalanx::prelude::*;
use phalanx::{SpawnError, error::AllocAtError};

use crate::common::components::{Four, Line, Tag, Twelve};
use crate::parts::{PARTS, Part, Shape};
use crate::world::{Pair, Row, Value};

/// An iterator that lies about how much is to come.
struct Liar<I>(I, usize);

impl<I: Iterator> Iterator for Liar<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.1, None)
    }
}

impl Pair {
    pub(crate) fn spawn<S: Shape>(&mut self, number: u32) {
        let entity = self.world.spawn(S::make(number));
        self.flushed();
        assert!(!self.dead.contains(&entity), "{entity} is used again");
        self.born(entity, S::MASK, number);
    }

    pub(crate) fn batch<S: Shape>(&mut self, rows: usize, lie: usize) {
        let bundles = (0u32..).take(rows).map(S::make);
        let entities = match lie {
            0 => self.world.spawn_batch(bundles),
            1 => self.world.spawn_batch(Liar(bundles, 0)),
            2 => self.world.spawn_batch(Liar(bundles, rows / 2)),
            _ => self.world.spawn_batch(Liar(bundles, usize::MAX)),
        };
        let entities = entities.to_vec();
        assert_eq!(entities.len(), rows);
        self.flushed();
        for (number, entity) in (0u32..).zip(entities) {
            self.born(entity, S::MASK, number);
        }
    }

    pub(crate) fn columns(&mut self, rows: usize, kind: u8) {
        fn column<P: Part>(rows: usize) -> Vec<P> {
            (0u32..).take(rows).map(P::part).collect()
        }
        let (four, twelve) = (column::<Four>(rows), column::<Twelve>(rows));
        let (tag, line) = (column::<Tag>(rows), column::<Line>(rows));
        let spawned = match kind {
            0 => self.world.spawn_columns(&four[..]),
            1 => self.world.spawn_columns((&twelve[..], &four[..])),
            2 => self.world.spawn_columns((&tag[..], (&twelve[..],))),
            _ => self.world.spawn_columns((&line[..], &four[..], &tag[..])),
        };
        let entities = spawned.expect("columns of one length").to_vec();
        let masks = [<Four as Shape>::MASK, <(Four, Twelve)>::MASK, <(Tag, Twelve)>::MASK];
        let mask = masks.get(usize::from(kind)).copied().unwrap_or(<(Line, Four, Tag)>::MASK);
        self.flushed();
        for (number, entity) in (0u32..).zip(entities) {
            self.born(entity, mask, number);
        }
    }

    pub(crate) fn spawn_at<S: Shape>(&mut self, entity: Entity) {
        let result = self.world.spawn_at(entity, S::make(entity.generation()));
        self.flushed();
        let occupied = self.rows.keys().find(|e| e.index() == entity.index()).copied();
        match result {
            Ok(()) => {
                assert_eq!(occupied, None, "{entity}");
                self.born(entity, S::MASK, entity.generation());
            }
            Err(SpawnError::Id(AllocAtError::Occupied { occupant, .. })) => {
                assert_eq!(Some(occupant), occupied);
            }
            Err(SpawnError::Id(AllocAtError::Null { .. })) => assert!(entity.is_null()),
            Err(error) => panic!("{entity}: {error}"),
        }
    }

    pub(crate) fn insert<S: Shape>(&mut self, entity: Entity, number: u32) {
        self.world.insert(entity, S::make(number)).expect("it lives, and everything fits");
        self.flushed();
        let now = self.world.version();
        let row = self.rows.get_mut(&entity).expect("it lives");
        if !row.has_all(S::MASK) {
            row.arrived = now;
        }
        row.set(S::MASK, number, now);
    }

    pub(crate) fn remove<S: Shape>(&mut self, entity: Entity) {
        let removed = self.world.remove::<S>(entity);
        self.flushed();
        let now = self.world.version();
        let row = self.rows.get_mut(&entity).expect("it lives");
        assert_eq!(removed.is_ok(), row.has_all(S::MASK), "{removed:?}");
        if let Ok(removed) = removed {
            assert_eq!(removed, S::of(row));
            if S::MASK != 0 {
                row.arrived = now;
            }
            for i in (0..PARTS).filter(|i| S::MASK >> i & 1 == 1) {
                row.values[i] = None;
            }
        }
    }

    pub(crate) fn exchange<R: Shape, A: Shape>(&mut self, entity: Entity, number: u32) {
        let removed = self.world.exchange::<R, A>(entity, A::make(number));
        self.flushed();
        let now = self.world.version();
        let row = self.rows.get_mut(&entity).expect("it lives");
        assert_eq!(removed.is_ok(), row.has_all(R::MASK), "{removed:?}");
        if let Ok(removed) = removed {
            assert_eq!(removed, R::of(row));
            let before = row.mask();
            for i in (0..PARTS).filter(|i| R::MASK >> i & 1 == 1) {
                row.values[i] = None;
            }
            row.set(A::MASK, number, now);
            if row.mask() != before {
                row.arrived = now;
            }
        }
    }

    pub(crate) fn copies(&mut self, prototype: Entity, copies: usize) {
        let born = self.world.instantiate(prototype, copies).expect("it lives").to_vec();
        self.flushed();
        assert_eq!(born.len(), copies);
        let now = self.world.version();
        let mut row = self.rows[&prototype];
        row.arrived = now;
        row.values.iter_mut().flatten().for_each(|value| value.changed = now);
        for entity in born {
            assert_eq!(self.rows.insert(entity, row), None, "{entity} lived already");
            assert!(!self.dead.contains(&entity), "{entity} is used again");
        }
    }

    pub(crate) fn stale(&mut self, entity: Entity) {
        let world = &mut self.world;
        assert!(!world.contains(entity) && !world.has::<Four>(entity));
        assert!(world.get::<Four>(entity).is_err() && world.lookup::<Four>().get(entity).is_err());
        assert!(world.get_mut::<Tag>(entity).is_err());
        assert!(world.lookup_mut::<Four>().get_mut(entity).is_err());
        assert!(world.despawn(entity).is_err());
        assert!(world.insert(entity, Tag).is_err());
        assert!(world.remove::<()>(entity).is_err());
        assert!(world.exchange::<Four, _>(entity, Tag).is_err());
        assert!(world.get_disjoint_mut::<Four, 1>([entity]).is_err());
        self.flushed();
    }

    pub(crate) fn get_mut<P: Part>(&mut self, entity: Entity, number: u32) {
        let before = self.stamps();
        let found = self.world.get_mut::<P>(entity).map(|part| *part = P::part(number)).is_ok();
        self.flushed();
        let now = self.world.version();
        let row = self.rows.get_mut(&entity).expect("it lives");
        assert_eq!(found, row.values[P::INDEX].is_some());
        if found {
            row.values[P::INDEX] = Some(Value { number, changed: now });
        }
        self.differ(&before, usize::from(found));
    }

    pub(crate) fn disjoint(&mut self, entities: [Entity; 3], number: u32) {
        let result = self.world.get_disjoint_mut::<Four, 3>(entities);
        let distinct = entities.iter().collect::<BTreeSet<_>>().len() == 3;
        let ok = result.is_ok();
        if let Ok(cells) = result {
            for (i, cell) in (0u32..).zip(cells) {
                *cell = Four(number.wrapping_add(i));
            }
        }
        self.flushed();
        let now = self.world.version();
        let all = entities.iter().all(|e| self.rows[e].number::<Four>().is_some());
        assert_eq!(ok, distinct && all);
        if ok {
            for (i, entity) in (0u32..).zip(entities) {
                let row = self.rows.get_mut(&entity).expect("it lives");
                row.set(<Four as Shape>::MASK, number.wrapping_add(i), now);
            }
        }
    }

    /// Some of the living and the dead, written by one view: each chunk is stamped, none twice.
    pub(crate) fn lookup_mut<P: Part>(&mut self, (start, step): (usize, usize), number: u32) {
        self.flush();
        let before = self.stamps();
        let ids = self.rows.keys().chain(&self.dead).chain([&Entity::NULL]);
        let chosen: Vec<_> = ids.copied().skip(start).step_by(step).collect();
        let mut chunks = BTreeMap::new();
        for chunk in self.world.query::<(&P,)>().chunks() {
            let place = (chunk.archetype(), chunk.index());
            chunks.extend(chunk.entities().iter().map(|&entity| (entity, place)));
        }
        let mut parts = self.world.lookup_mut::<P>();
        let mut stamped = BTreeSet::new();
        let mut written = Vec::new();
        for entity in chosen {
            let old = self.rows.get(&entity).and_then(Row::number::<P>);
            assert_eq!(parts.get(entity).ok().copied(), old.map(P::part), "{entity}");
            match parts.get_mut(entity) {
                Ok(part) => *part = P::part(number),
                Err(_) => assert_eq!(old, None, "{entity}"),
            }
            if old.is_some() {
                assert_eq!(parts.get(entity).ok(), Some(&P::part(number)), "{entity}");
                stamped.insert(chunks[&entity]);
                written.push(entity);
            }
        }
        let now = self.world.version();
        for entity in written {
            let row = self.rows.get_mut(&entity).expect("it lives");
            row.values[P::INDEX] = Some(Value { number, changed: now });
        }
        self.differ(&before, stamped.len());
    }
}

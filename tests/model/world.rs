//! The naive world: a map of rows, beside the world that it is a model of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use phalanx::HashCache;
use phalanx::prelude::*;

use crate::common::extent_chunks_max;
use crate::parts::{PARTS, Part};

/// A value of the model: what it was made from, and when it was last changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Value {
    pub(crate) number: u32,
    pub(crate) changed: Version,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Row {
    pub(crate) values: [Option<Value>; PARTS],
    pub(crate) arrived: Version,
    /// The shared value.
    pub(crate) team: Option<u8>,
}

impl Row {
    pub(crate) fn mask(&self) -> u8 {
        (0..PARTS).filter(|&i| self.values[i].is_some()).map(|i| 1 << i).sum()
    }

    pub(crate) fn has_all(&self, mask: u8) -> bool {
        self.mask() & mask == mask
    }

    pub(crate) fn set(&mut self, mask: u8, number: u32, now: Version) {
        for i in (0..PARTS).filter(|i| mask >> i & 1 == 1) {
            self.values[i] = Some(Value { number, changed: now });
        }
    }

    pub(crate) fn number<P: Part>(&self) -> Option<u32> {
        self.values[P::INDEX].map(|value| value.number)
    }
}

/// The world, the naive world, and what is remembered of both.
pub(crate) struct Pair {
    pub(crate) world: World,
    pub(crate) rows: BTreeMap<Entity, Row>,
    /// Ids that were alive once.
    pub(crate) dead: BTreeSet<Entity>,
    /// Ids that are reserved and not yet alive.
    pub(crate) reserved: Vec<Entity>,
    /// Entities with a side value.
    sided: BTreeSet<Entity>,
    /// Every side value is an owner of it.
    owners: Arc<()>,
    /// Every shared value is an owner of it.
    pub(crate) teams: Arc<()>,
    /// Computes anew what changed.
    hashes: HashCache,
}

impl Pair {
    pub(crate) fn new(size: ChunkSize) -> Self {
        let world =
            World::builder().chunk_size(size).extent_chunks_max(extent_chunks_max()).build();
        Self {
            world,
            rows: BTreeMap::new(),
            dead: BTreeSet::new(),
            reserved: Vec::new(),
            sided: BTreeSet::new(),
            owners: Arc::default(),
            teams: Arc::default(),
            hashes: HashCache::new(),
        }
    }

    /// The hash of what changed and of what was known is that of all.
    pub(crate) fn compare_hashes(&mut self) {
        assert_eq!(self.hashes.hash(&self.world), self.world.hash());
    }

    /// One of the living, if there are any.
    pub(crate) fn pick(&self, which: usize) -> Option<Entity> {
        let len = self.rows.len();
        (len > 0).then(|| *self.rows.keys().nth(which % len).expect("inside"))
    }

    /// Reserved ids are alive now.
    pub(crate) fn flushed(&mut self) {
        let arrived = Version::NEVER;
        let rows = self.reserved.drain(..).map(|e| (e, Row { arrived, ..Row::default() }));
        self.rows.extend(rows);
    }

    /// Brings reserved ids to life, as every change does.
    pub(crate) fn flush(&mut self) {
        self.world.query_mut::<Entity>().iter_mut().for_each(drop);
        self.flushed();
    }

    pub(crate) fn born(&mut self, entity: Entity, mask: u8, number: u32) {
        let now = self.world.version();
        let mut row = Row { arrived: now, ..Row::default() };
        row.set(mask, number, now);
        assert_eq!(self.rows.insert(entity, row), None, "{entity} lived already");
        self.dead.remove(&entity);
    }

    pub(crate) fn died(&mut self, entity: Entity) {
        self.rows.remove(&entity).expect("it lived");
        self.sided.remove(&entity);
        self.dead.insert(entity);
    }

    /// Side values are those of the entities that got one and live. Then some get one: all
    /// where there are few.
    pub(crate) fn compare_sides(&mut self) {
        self.sided.retain(|entity| self.rows.contains_key(entity));
        assert_eq!(Arc::strong_count(&self.owners) - 1, self.sided.len(), "owners");
        let values = self.world.side::<(Entity, Arc<()>)>();
        assert_eq!(values.len(), self.sided.len());
        let is_own = |entity| values.get(entity).is_some_and(|value| value.0 == entity);
        assert!(self.sided.iter().all(|&entity| is_own(entity)));
        drop(values);
        if self.reserved.is_empty() {
            let mut values = self.world.side_mut();
            let one_of = if self.rows.len() < 60 { 1 } else { 16 };
            for &entity in self.rows.keys().filter(|entity| entity.index() % one_of == 0) {
                values.insert(entity, (entity, Arc::clone(&self.owners))).expect("it lives");
                self.sided.insert(entity);
            }
        }
    }
}

//! Changes of all entities that a query matches.

use phalanx::prelude::*;

use crate::common::components::{Big, Byte, Four, Line, Tag, Twelve};
use crate::parts::{PARTS, Shape};
use crate::world::Pair;

/// How many queries [`filtered!`] knows.
pub(crate) const FILTERS: u8 = 7;

/// Runs an expression with the `n`th query of these terms: by archetypes, by chunks, by both.
macro_rules! filtered {
    ($made:ident, $world:expr, $n:expr, $terms:ty, $q:ident => $run:expr) => {{
        let half = Version::from_bits($world.version().to_bits() / 2);
        let late = Version::from_bits($world.version().to_bits().saturating_sub(3));
        let $q = $world.$made::<$terms>();
        match $n {
            0 => $run,
            1 => {
                let $q = $q.without::<Tag>();
                $run
            }
            2 => {
                let $q = $q.with::<Four>().without::<Big>();
                $run
            }
            3 => {
                let $q = $q.any_of::<(Twelve, Tag)>().without::<Line>();
                $run
            }
            4 => {
                let $q = $q.arrived_since(half);
                $run
            }
            5 => {
                let $q = $q.changed_since::<Four>(half);
                $run
            }
            _ => {
                let $q = $q.changed_since::<Byte>(late).without::<Tag>();
                $run
            }
        }
    }};
}

pub(crate) use filtered;

impl Pair {
    /// The entities that the `n`th query matches.
    pub(crate) fn matched(&mut self, filter: u8) -> Vec<Entity> {
        self.flush();
        let world = &mut self.world;
        filtered!(query_mut, world, filter, Entity, q => q.into_iter().flatten().copied().collect())
    }

    pub(crate) fn insert_where<S: Shape>(&mut self, filter: u8, number: u32) {
        let matched = self.matched(filter);
        let world = &mut self.world;
        let inserted = filtered!(matching, world, filter, Entity, q => q.insert(S::make(number)));
        assert_eq!(inserted, Ok(matched.len()), "everything fits");
        let now = self.world.version();
        for entity in matched {
            let row = self.rows.get_mut(&entity).expect("it lives");
            if !row.has_all(S::MASK) {
                row.arrived = now;
            }
            row.set(S::MASK, number, now);
        }
    }

    pub(crate) fn remove_where<S: Shape>(&mut self, filter: u8) {
        let matched = self.matched(filter);
        let world = &mut self.world;
        let removed = filtered!(matching, world, filter, Entity, q => q.remove::<S>());
        let now = self.world.version();
        let mut changed = 0;
        for entity in matched {
            let row = self.rows.get_mut(&entity).expect("it lives");
            if row.mask() & S::MASK != 0 {
                row.arrived = now;
                changed += 1;
            }
            for i in (0..PARTS).filter(|i| S::MASK >> i & 1 == 1) {
                row.values[i] = None;
            }
        }
        assert_eq!(removed, changed);
    }

    pub(crate) fn despawn_where(&mut self, filter: u8) {
        let matched = self.matched(filter);
        let world = &mut self.world;
        let ended = filtered!(matching, world, filter, Entity, q => q.despawn());
        assert_eq!(ended, matched.len());
        matched.into_iter().for_each(|entity| self.died(entity));
    }

    pub(crate) fn scatter(&mut self, filter: u8, number: u32) {
        self.flush();
        let world = &mut self.world;
        let rows: Vec<(Entity, Four)> = filtered!(query_mut, world, filter, (Entity, &Four),
            q => q.rows().map(|(entity, four)| (entity, *four)).collect());
        let mut fours: Vec<Four> =
            filtered!(query_mut, world, filter, (Entity, &Four), q => q.gather());
        assert!(rows.iter().map(|row| row.1).eq(fours.iter().copied()), "in the query's order");
        let offsets = filtered!(query_mut, world, filter, (Entity, &Four), q => q.offsets());
        assert_eq!(offsets.last(), Some(&rows.len()));
        (number..number.saturating_add(u32::MAX / 2))
            .zip(&mut fours)
            .for_each(|(number, four)| *four = Four::make(number));
        let numbers: Vec<_> = fours.iter().map(|four| four.0).collect();
        let scattered = filtered!(query_mut, world, filter, (&mut Four, Entity), q => q.scatter::<Four>(&fours));
        scattered.expect("one a row");
        let now = self.world.version();
        for ((entity, _), number) in rows.into_iter().zip(numbers) {
            let row = self.rows.get_mut(&entity).expect("it lives");
            row.set(<Four as Shape>::MASK, number, now);
        }
    }
}

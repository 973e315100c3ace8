use super::*;
use crate::changes::rewritten;
use crate::snapshots::{self as frames, Call, Live, Values, Written};
use std::ops::Range;

struct State {
    /// Dropped before the world.
    query: Query<(&'static mut Position, &'static mut Velocity)>,
    entities: Vec<Entity>,
    world: World,
}

#[derive(Default)]
struct Saved {
    p: Vec<Position>,
    v: Vec<Velocity>,
}

impl Live for State {
    fn write(&mut self, rows: Range<usize>) {
        for &entity in &self.entities[rows] {
            self.world.entity_from_id(entity).get::<(&mut Position, &mut Velocity)>(|(p, v)| {
                (p.x, v.x) = (rewritten(p.x), rewritten(v.x));
            });
        }
    }

    fn values(&mut self, nth: usize) -> Option<Values> {
        let entity = self.world.entity_from_id(self.entities[nth]);
        entity.try_get::<(&Position, &Velocity)>(|(p, v)| [p.x, p.y, p.z, v.x, v.y, v.z])
    }

    fn len(&mut self) -> usize {
        self.query.count() as usize
    }
}

/// Values alone, table by table: right as long as no entity comes, goes or moves.
pub(crate) fn written(h: &mut Harness, n: usize, what: (Call, Written)) {
    let (world, entities) = world_pv(n);
    let query = world.query::<(&mut Position, &mut Velocity)>().set_cached().build();
    let take = |live: &mut State, saved: &mut Saved| {
        saved.p.clear();
        saved.v.clear();
        live.query.run(|mut it| {
            while it.next() {
                saved.p.extend_from_slice(it.field_mut::<Position>(0).as_mut_slice());
                saved.v.extend_from_slice(it.field_mut::<Velocity>(1).as_mut_slice());
            }
        });
    };
    let restore = |live: &mut State, saved: &mut Saved| {
        let mut at = 0;
        live.query.run(|mut it| {
            while it.next() {
                let rows = at..at + it.count();
                at = rows.end;
                it.field_mut::<Position>(0).as_mut_slice().copy_from_slice(&saved.p[rows.clone()]);
                it.field_mut::<Velocity>(1).as_mut_slice().copy_from_slice(&saved.v[rows]);
            }
        });
    };
    let state = (State { query, entities, world }, Saved::default());
    frames::written(h, "slices", what, state, take, restore);
}

use super::*;
use crate::changes::rewritten;
use crate::snapshots::{self as frames, Call, Live, Values, Written};
use legion::EntityStore;
use std::ops::Range;

struct State {
    world: World,
    entities: Vec<Entity>,
}

#[derive(Default)]
struct Saved {
    p: Vec<Position>,
    v: Vec<Velocity>,
}

impl Live for State {
    fn write(&mut self, rows: Range<usize>) {
        let mut query = <(Write<Position>, Write<Velocity>)>::query();
        for &entity in &self.entities[rows] {
            let (p, v) = query.get_mut(&mut self.world, entity).expect("alive");
            (p.x, v.x) = (rewritten(p.x), rewritten(v.x));
        }
    }

    fn values(&mut self, nth: usize) -> Option<Values> {
        let entry = self.world.entry_ref(self.entities[nth]).ok()?;
        let (p, v) = (entry.get_component::<Position>().ok()?, entry.get_component::<Velocity>());
        let v = v.ok()?;
        Some([p.x, p.y, p.z, v.x, v.y, v.z])
    }

    fn len(&mut self) -> usize {
        self.world.len()
    }
}

/// Values alone, chunk by chunk: right as long as no entity comes, goes or moves.
pub(crate) fn written(h: &mut Harness, n: usize, what: (Call, Written)) {
    let (world, entities) = world_pv(n);
    let (mut reads, mut writes) = (
        <(Read<Position>, Read<Velocity>)>::query(),
        <(Write<Position>, Write<Velocity>)>::query(),
    );
    let take = |live: &mut State, saved: &mut Saved| {
        saved.p.clear();
        saved.v.clear();
        reads.for_each_chunk(&live.world, |chunk| {
            let (p, v) = chunk.into_components();
            saved.p.extend_from_slice(p);
            saved.v.extend_from_slice(v);
        });
    };
    let restore = |live: &mut State, saved: &mut Saved| {
        let mut at = 0;
        writes.for_each_chunk_mut(&mut live.world, |chunk| {
            let (p, v) = chunk.into_components();
            let rows = at..at + p.len();
            at = rows.end;
            p.copy_from_slice(&saved.p[rows.clone()]);
            v.copy_from_slice(&saved.v[rows]);
        });
    };
    frames::written(
        h,
        "chunks",
        what,
        (State { world, entities }, Saved::default()),
        take,
        restore,
    );
}

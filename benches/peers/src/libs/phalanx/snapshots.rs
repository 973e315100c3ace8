use super::*;
use crate::changes::rewritten;
use crate::snapshots::{self as frames, Call, Live, Replace, Values, Written};
use phalanx::snapshot::Snapshot;
use std::ops::Range;

struct State {
    world: World,
    entities: Vec<Entity>,
}

impl Live for State {
    fn write(&mut self, rows: Range<usize>) {
        let Self { world, entities } = self;
        if rows.len() == entities.len() {
            for (p, v) in world.query_mut::<(&mut Position, &mut Velocity)>() {
                p.iter_mut().for_each(|p| p.x = rewritten(p.x));
                v.iter_mut().for_each(|v| v.x = rewritten(v.x));
            }
            return;
        }
        let mut positions = world.lookup_mut::<Position>();
        for &entity in &entities[rows.clone()] {
            let p = positions.get_mut(entity).expect("alive");
            p.x = rewritten(p.x);
        }
        let mut velocities = world.lookup_mut::<Velocity>();
        for &entity in &entities[rows] {
            let v = velocities.get_mut(entity).expect("alive");
            v.x = rewritten(v.x);
        }
    }

    fn values(&mut self, nth: usize) -> Option<Values> {
        let entity = self.entities[nth];
        let p = self.world.get::<Position>(entity).ok()?;
        let v = self.world.get::<Velocity>(entity).ok()?;
        Some([p.x, p.y, p.z, v.x, v.y, v.z])
    }

    fn len(&mut self) -> usize {
        self.world.len()
    }
}

impl Replace for State {
    fn replace(&mut self, rows: Range<usize>) {
        for &entity in &self.entities[rows.clone()] {
            self.world.despawn(entity).expect("alive");
        }
        self.world.spawn_batch(rows.map(|_| (Position::new([0.0; 3]), Velocity::new([0.0; 3]))));
    }
}

fn state(chunk_kib: usize, n: usize) -> (State, Snapshot) {
    let (world, entities) = world_pv(chunk_kib, n);
    (State { world, entities }, Snapshot::new())
}

fn take(live: &mut State, saved: &mut Snapshot) {
    live.world.snapshot_into(saved).expect("no buffers");
}

fn restore(live: &mut State, saved: &mut Snapshot) {
    live.world.restore(saved).expect("it is of this world");
}

/// The whole world: differences are copied, found by versions.
pub(crate) fn written(h: &mut Harness, n: usize, what: (Call, Written)) {
    for kib in CHUNK_KIB {
        frames::written(h, &chunk_variant(kib), what, state(kib, n), take, restore);
    }
}

pub(crate) fn replaced(h: &mut Harness, n: usize) {
    for kib in CHUNK_KIB {
        frames::replaced(h, &chunk_variant(kib), state(kib, n), take, restore);
    }
}

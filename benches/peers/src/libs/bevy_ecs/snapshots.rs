//! The library has no call for it. `[contig]` copies the columns of each table as slices: values
//! alone, which is right as long as no entity comes, goes or moves to another table. `[.., no
//! ticks]` restores them unseen by change detection. `[ticks]` copies blocks with a row that was
//! written since the world was in the state of the snapshot. `[contig, ids]` keeps the ids too; if
//! they differ, it despawns new entities and spawns missing ones.
//!
//! The id of a despawned entity cannot be used again: its generation has passed, and `spawn_at`
//! refuses it. A missing entity therefore gets a new id, as in crates for rollback, and the program
//! has to replace the old one wherever it is stored: `[new ids]`.

use super::*;
use crate::changes::rewritten;
use crate::snapshots::{self as frames, BLOCK_ROWS, Call, Live, Replace, Values, Written};
use bevy_ecs::change_detection::{ContiguousMut, ContiguousRef, Tick};
use bytemuck::Zeroable;
use std::ops::Range;

type Rows = (Entity, &'static mut Position, &'static mut Velocity);
type Ticks = (Ref<'static, Position>, Ref<'static, Velocity>);

struct State {
    world: World,
    entities: Vec<Entity>,
    rows: QueryState<Rows>,
    ticks: QueryState<Ticks>,
}

/// All rows, one table after the other.
struct Saved {
    entities: Vec<Entity>,
    p: Vec<Position>,
    v: Vec<Velocity>,
    /// The last time at which the world was in this state.
    since: Tick,
    /// By the indices of the ids.
    row_of: Vec<u32>,
}

const NO_ROW: u32 = u32::MAX;

impl Live for State {
    fn write(&mut self, rows: Range<usize>) {
        let Self { world, entities, .. } = self;
        if rows.len() == entities.len() {
            for (_, mut p, mut v) in self.rows.contiguous_iter_mut(world).expect("dense") {
                p.iter_mut().for_each(|p| p.x = rewritten(p.x));
                v.iter_mut().for_each(|v| v.x = rewritten(v.x));
            }
            return;
        }
        let mut query = self.rows.query_mut(world);
        for &entity in &entities[rows] {
            let (_, mut p, mut v) = query.get_mut(entity).expect("alive");
            (p.x, v.x) = (rewritten(p.x), rewritten(v.x));
        }
    }

    fn values(&mut self, nth: usize) -> Option<Values> {
        let entity = self.entities[nth];
        let (p, v) = (self.world.get::<Position>(entity)?, self.world.get::<Velocity>(entity)?);
        Some([p.x, p.y, p.z, v.x, v.y, v.z])
    }

    fn len(&mut self) -> usize {
        self.rows.iter(&self.world).len()
    }
}

impl Replace for State {
    fn replace(&mut self, rows: Range<usize>) {
        for &entity in &self.entities[rows.clone()] {
            assert!(self.world.despawn(entity), "it was alive");
        }
        let new = rows.map(|_| (Position::new([0.0; 3]), Velocity::new([0.0; 3])));
        self.world.spawn_batch(new);
    }
}

fn state(n: usize) -> (State, Saved) {
    let (mut world, entities) = world_pv(n);
    let (rows, ticks) = (world.query(), world.query());
    let since = world.change_tick();
    world.increment_change_tick();
    let saved =
        Saved { entities: Vec::new(), p: Vec::new(), v: Vec::new(), since, row_of: Vec::new() };
    (State { world, entities, rows, ticks }, saved)
}

pub(crate) fn written(h: &mut Harness, n: usize, what: (Call, Written)) {
    frames::written(h, "contig", what, state(n), take, restore);
    if what.0 == Call::Restore {
        frames::written(h, "contig, no ticks", what, state(n), take, restore_unseen);
    }
    frames::written(h, "ticks", what, state(n), take_ticks, restore_ticks);
    frames::written(h, "contig, ids", what, state(n), take_ids, restore_ids);
}

pub(crate) fn replaced(h: &mut Harness, n: usize) {
    frames::replaced(h, "new ids", state(n), take_ids, restore_ids);
}

fn take(live: &mut State, saved: &mut Saved) {
    saved.p.clear();
    saved.v.clear();
    for (_, p, v) in live.rows.contiguous_iter(&live.world).expect("dense") {
        saved.p.extend_from_slice(p);
        saved.v.extend_from_slice(v);
    }
}

fn restore(live: &mut State, saved: &mut Saved) {
    let mut at = 0;
    for (entities, mut p, mut v) in live.rows.contiguous_iter_mut(&mut live.world).expect("dense") {
        let rows = at..at + entities.len();
        at = rows.end;
        p.copy_from_slice(&saved.p[rows.clone()]);
        v.copy_from_slice(&saved.v[rows]);
    }
}

fn restore_unseen(live: &mut State, saved: &mut Saved) {
    let mut at = 0;
    for (entities, mut p, mut v) in live.rows.contiguous_iter_mut(&mut live.world).expect("dense") {
        let rows = at..at + entities.len();
        at = rows.end;
        p.bypass_change_detection().copy_from_slice(&saved.p[rows.clone()]);
        v.bypass_change_detection().copy_from_slice(&saved.v[rows]);
    }
}

fn take_ticks(live: &mut State, saved: &mut Saved) {
    let State { world, ticks, .. } = live;
    let len = ticks.iter(world).len();
    let since = if saved.p.len() == len { Some(saved.since) } else { None };
    saved.p.resize(len, Zeroable::zeroed());
    saved.v.resize(len, Zeroable::zeroed());
    let mut at = 0;
    for (p, v) in ticks.contiguous_iter(world).expect("dense") {
        let rows = at..at + p.len();
        at = rows.end;
        copy_changed(&p, &mut saved.p[rows.clone()], since);
        copy_changed(&v, &mut saved.v[rows], since);
    }
    saved.since = world.change_tick();
    world.increment_change_tick();
}

fn restore_ticks(live: &mut State, saved: &mut Saved) {
    let mut at = 0;
    for (entities, mut p, mut v) in live.rows.contiguous_iter_mut(&mut live.world).expect("dense") {
        let rows = at..at + entities.len();
        at = rows.end;
        put_changed(&saved.p[rows.clone()], &mut p, saved.since);
        put_changed(&saved.v[rows], &mut v, saved.since);
    }
    saved.since = live.world.change_tick();
    live.world.increment_change_tick();
}

/// Blocks with a row that is newer than `since`.
pub(super) fn changed(
    ticks: &[Tick],
    since: Tick,
    now: Tick,
) -> impl Iterator<Item = Range<usize>> {
    let blocks = ticks.chunks(BLOCK_ROWS).enumerate().map(|(nth, block)| (nth * BLOCK_ROWS, block));
    blocks.filter_map(move |(at, block)| {
        // Without an early exit, so that it is vectorised.
        let newer = block.iter().fold(false, |any, tick| any | tick.is_newer_than(since, now));
        newer.then_some(at..at + block.len())
    })
}

fn copy_changed<C: Pod>(from: &ContiguousRef<C>, to: &mut [C], since: Option<Tick>) {
    let Some(since) = since else { return to.copy_from_slice(from) };
    for rows in changed(from.changed_ticks_slice(), since, from.this_run_tick()) {
        to[rows.clone()].copy_from_slice(&from[rows]);
    }
}

fn put_changed<C: Pod>(from: &[C], to: &mut ContiguousMut<C>, since: Tick) {
    let now = to.this_run_tick();
    for at in (0..from.len()).step_by(BLOCK_ROWS) {
        let rows = at..from.len().min(at + BLOCK_ROWS);
        if changed(&to.changed_ticks_slice()[rows.clone()], since, now).next().is_some() {
            // Marks the block as changed.
            let mut block = to.reborrow().slice(rows.start as u32..rows.end as u32);
            block.copy_from_slice(&from[rows]);
        }
    }
}

fn take_ids(live: &mut State, saved: &mut Saved) {
    take(live, saved);
    saved.entities.clear();
    for (entities, ..) in live.rows.contiguous_iter(&live.world).expect("dense") {
        saved.entities.extend_from_slice(entities);
    }
}

fn restore_ids(live: &mut State, saved: &mut Saved) {
    let mut rest = &saved.entities[..];
    let mut tables = live.rows.contiguous_iter(&live.world).expect("dense");
    let same = tables.all(|(entities, ..)| {
        let start = rest.get(..entities.len());
        rest = rest.get(entities.len()..).unwrap_or_default();
        start == Some(entities)
    });
    if same && rest.is_empty() {
        restore(live, saved);
    } else {
        put_by_id(live, saved);
    }
}

/// Despawns and spawns entities that differ, and afterwards writes every row by its id.
fn put_by_id(live: &mut State, saved: &mut Saved) {
    let Saved { entities, p, v, row_of, .. } = saved;
    let indices = entities.iter().map(|entity| entity.index_u32() as usize + 1).max().unwrap_or(0);
    row_of.clear();
    row_of.resize(indices, NO_ROW);
    for (entity, row) in entities.iter().zip(0..) {
        row_of[entity.index_u32() as usize] = row;
    }
    let is_new = |entity: &Entity| match row_of.get(entity.index_u32() as usize) {
        None | Some(&NO_ROW) => true,
        Some(&row) => entities[row as usize] != *entity,
    };
    let tables = live.rows.contiguous_iter(&live.world).expect("dense");
    let new: Vec<Entity> =
        tables.flat_map(|(entities, ..)| entities.iter().copied().filter(is_new)).collect();
    for entity in new {
        live.world.despawn(entity);
    }
    let alive = live.world.entities();
    let missing: Vec<usize> =
        (0..entities.len()).filter(|&row| !alive.contains_spawned(entities[row])).collect();
    let rows = missing.iter().map(|&row| (p[row], v[row])).collect::<Vec<_>>();
    for (&row, entity) in missing.iter().zip(live.world.spawn_batch(rows)) {
        let index = entity.index_u32() as usize;
        row_of.resize(row_of.len().max(index + 1), NO_ROW);
        row_of[index] = row as u32;
        entities[row] = entity;
        // Rows were in the order of the entities when the snapshot was taken.
        live.entities[row] = entity;
    }
    for (entities, mut to_p, mut to_v) in
        live.rows.contiguous_iter_mut(&mut live.world).expect("dense")
    {
        for ((entity, to_p), to_v) in entities.iter().zip(&mut *to_p).zip(&mut *to_v) {
            let row = row_of[entity.index_u32() as usize] as usize;
            (*to_p, *to_v) = (p[row], v[row]);
        }
    }
}

//! The library has no call for it. `[columns]` copies each column as a slice: values alone, which
//! is right as long as no entity comes, goes or moves to another archetype. `[columns, compared]`
//! copies blocks that differ. `[columns, ids]` keeps the ids too; if they differ, it spawns and
//! despawns the necessary entities. `[column batch]` empties the world and spawns everything with
//! its ids.

use super::*;
use crate::changes::rewritten;
use crate::snapshots::{self as frames, Call, Copying, Live, Replace, Values, Written};
use bytemuck::Zeroable;
use std::ops::Range;

struct State {
    world: World,
    entities: Vec<Entity>,
}

/// All rows, one archetype after the other.
#[derive(Default)]
struct Saved {
    entities: Vec<Entity>,
    p: Vec<Position>,
    v: Vec<Velocity>,
    /// By the numbers of the ids.
    row_of: Vec<u32>,
}

const NO_ROW: u32 = u32::MAX;

impl Live for State {
    fn write(&mut self, rows: Range<usize>) {
        let Self { world, entities } = self;
        if rows.len() == entities.len() {
            for (p, v) in world.query_mut::<(&mut Position, &mut Velocity)>() {
                (p.x, v.x) = (rewritten(p.x), rewritten(v.x));
            }
            return;
        }
        let mut query = PreparedQuery::<(&mut Position, &mut Velocity)>::new();
        let mut view = query.view_mut(world);
        for &entity in &entities[rows] {
            let (p, v) = view.get_mut(entity).expect("alive");
            (p.x, v.x) = (rewritten(p.x), rewritten(v.x));
        }
    }

    fn values(&mut self, nth: usize) -> Option<Values> {
        let entity = self.world.entity(self.entities[nth]).ok()?;
        let (p, v) = (entity.get::<&Position>()?, entity.get::<&Velocity>()?);
        Some([p.x, p.y, p.z, v.x, v.y, v.z])
    }

    fn len(&mut self) -> usize {
        self.world.len() as usize
    }
}

impl Replace for State {
    fn replace(&mut self, rows: Range<usize>) {
        for &entity in &self.entities[rows.clone()] {
            self.world.despawn(entity).expect("alive");
        }
        let new = rows.map(|_| (Position::new([0.0; 3]), Velocity::new([0.0; 3])));
        self.world.spawn_batch(new);
    }
}

fn state(n: usize) -> (State, Saved) {
    let (world, entities) = world_pv(n);
    (State { world, entities }, Saved::default())
}

pub(crate) fn written(h: &mut Harness, n: usize, what: (Call, Written)) {
    for (variant, copying) in
        [("columns", Copying::Whole), ("columns, compared", Copying::Differing)]
    {
        let take = |live: &mut State, saved: &mut Saved| saved.take(&live.world, copying);
        let restore = |live: &mut State, saved: &mut Saved| saved.put(&live.world, copying);
        frames::written(h, variant, what, state(n), take, restore);
    }
    frames::written(h, "columns, ids", what, state(n), take_ids, restore_ids);
    if what.0 == Call::Restore {
        // The state to restore is taken as by `[columns, ids]`.
        frames::written(h, "column batch", what, state(n), take_ids, restore_batch);
    }
}

pub(crate) fn replaced(h: &mut Harness, n: usize) {
    frames::replaced(h, "columns, ids", state(n), take_ids, restore_ids);
    frames::replaced(h, "column batch", state(n), take_ids, restore_batch);
}

impl Saved {
    fn take(&mut self, world: &World, copying: Copying) {
        self.p.resize(world.len() as usize, Zeroable::zeroed());
        self.v.resize(world.len() as usize, Zeroable::zeroed());
        let mut at = 0;
        for archetype in world.archetypes() {
            let columns = (archetype.get::<&Position>(), archetype.get::<&Velocity>());
            if let (Some(p), Some(v)) = columns {
                let rows = at..at + p.len();
                at = rows.end;
                copying.run(&p, &mut self.p[rows.clone()]);
                copying.run(&v, &mut self.v[rows]);
            }
        }
    }

    fn put(&self, world: &World, copying: Copying) {
        let mut at = 0;
        for archetype in world.archetypes() {
            let columns = (archetype.get::<&mut Position>(), archetype.get::<&mut Velocity>());
            if let (Some(mut p), Some(mut v)) = columns {
                let rows = at..at + p.len();
                at = rows.end;
                copying.run(&self.p[rows.clone()], &mut p);
                copying.run(&self.v[rows], &mut v);
            }
        }
    }

    /// Spawns and despawns entities that differ, and afterwards writes every row by its id.
    fn put_by_id(&mut self, world: &mut World) {
        let Self { entities, p, v, row_of } = self;
        let ids = entities.iter().map(|entity| entity.id() as usize + 1).max().unwrap_or(0);
        row_of.clear();
        row_of.resize(ids, NO_ROW);
        for (entity, row) in entities.iter().zip(0..) {
            row_of[entity.id() as usize] = row;
        }
        // Spawned over the living entity of the same number, before others are despawned: a free
        // number costs a search through all free numbers.
        for (row, &entity) in entities.iter().enumerate() {
            if !world.contains(entity) {
                world.spawn_at(entity, (p[row], v[row]));
            }
        }
        if world.len() as usize > entities.len() {
            let is_new =
                |entity: &Entity| row_of.get(entity.id() as usize).is_none_or(|&row| row == NO_ROW);
            let new: Vec<_> = world.query_mut::<Entity>().into_iter().filter(is_new).collect();
            for entity in new {
                world.despawn(entity).expect("alive");
            }
        }
        for archetype in world.archetypes() {
            let columns = (archetype.get::<&mut Position>(), archetype.get::<&mut Velocity>());
            if let (Some(mut to_p), Some(mut to_v)) = columns {
                for ((&id, to_p), to_v) in archetype.ids().iter().zip(&mut *to_p).zip(&mut *to_v) {
                    let row = row_of[id as usize] as usize;
                    (*to_p, *to_v) = (p[row], v[row]);
                }
            }
        }
    }
}

fn take_ids(live: &mut State, saved: &mut Saved) {
    saved.entities.clear();
    let with_both = live.world.query_mut::<hecs::With<Entity, (&Position, &Velocity)>>();
    saved.entities.extend(with_both);
    saved.take(&live.world, Copying::Whole);
}

fn restore_ids(live: &mut State, saved: &mut Saved) {
    let with_both = live.world.query_mut::<hecs::With<Entity, (&Position, &Velocity)>>();
    if with_both.into_iter().eq(saved.entities.iter().copied()) {
        saved.put(&live.world, Copying::Whole);
    } else {
        saved.put_by_id(&mut live.world);
    }
}

/// The ids ascend if no entity was despawned. In another order they should be sorted first: a
/// number beyond the last one frees the numbers in between, and free numbers are searched.
fn restore_batch(live: &mut State, saved: &mut Saved) {
    live.world.clear();
    let mut columns = ColumnBatchType::new();
    columns.add::<Position>().add::<Velocity>();
    let batch = columns.into_batch(saved.entities.len() as u32);
    {
        let mut p = batch.writer::<Position>().expect("a column");
        saved.p.iter().for_each(|&value| assert!(p.push(value).is_ok(), "there is room"));
        let mut v = batch.writer::<Velocity>().expect("a column");
        saved.v.iter().for_each(|&value| assert!(v.push(value).is_ok(), "there is room"));
    }
    live.world.spawn_column_batch_at(&saved.entities, batch.build().expect("all columns"));
}

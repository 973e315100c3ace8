//! The operations, and how they are chosen.

use phalanx::prelude::*;
use proptest::prelude::*;

use crate::common::components::{Big, Byte, Four, Line, Tag, Twelve, with_type};
use crate::matching::FILTERS;
use crate::parts::{with_shape, with_small_shape};
use crate::shared::TEAMS;
use crate::world::Pair;

/// One step. Numbers choose entities, shapes and values; all of them mean something.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Spawn { shape: u8, number: u32 },
    Batch { shape: u8, rows: usize, lie: usize },
    Columns { rows: usize, kind: u8 },
    SpawnAt { which: usize, index: u32, generation: u32, shape: u8 },
    Reserve { ids: u32 },
    Room { shape: u8, rows: usize },
    Insert { which: usize, shape: u8, number: u32 },
    Remove { which: usize, shape: u8 },
    Exchange { which: usize, removed: u8, added: u8, number: u32 },
    Despawn { which: usize },
    DespawnMany { start: usize, step: usize },
    InsertMany { shape: u8, step: usize, number: u32 },
    Stale { which: usize },
    GetMut { which: usize, number: u32 },
    Disjoint { which: [usize; 3], number: u32 },
    LookupMut { start: usize, step: usize, number: u32 },
    Compact { rows_max: usize },
    RetireArchetypes,
    Clear,
    Write { kind: u8, number: u32 },
    Read { kind: u8 },
    InsertWhere { filter: u8, shape: u8, number: u32 },
    RemoveWhere { filter: u8, shape: u8 },
    DespawnWhere { filter: u8 },
    Scatter { filter: u8, number: u32 },
    Copies { which: usize, copies: usize },
    Share { which: usize, team: u8 },
    ShareWhere { filter: u8, team: u8 },
}

pub(crate) fn op() -> impl Strategy<Value = Op> {
    let many = if cfg!(miri) { 24 } else { 700 };
    let rows = prop_oneof![3 => 0usize..20, 1 => 0usize..many];
    let which = || any::<usize>();
    let shape = || 0u8..13;
    let number = || any::<u32>();
    prop_oneof![
        6 => (shape(), number()).prop_map(|(shape, number)| Op::Spawn { shape, number }),
        6 => (shape(), rows.clone(), 0usize..4)
            .prop_map(|(shape, rows, lie)| Op::Batch { shape, rows, lie }),
        3 => (rows.clone(), 0u8..4).prop_map(|(rows, kind)| Op::Columns { rows, kind }),
        2 => (which(), 0u32..2_000, 0u32..4, shape()).prop_map(|(which, index, generation, shape)| {
            Op::SpawnAt { which, index, generation, shape }
        }),
        2 => (0u32..9).prop_map(|ids| Op::Reserve { ids }),
        1 => (shape(), rows).prop_map(|(shape, rows)| Op::Room { shape, rows }),
        8 => (which(), shape(), number())
            .prop_map(|(which, shape, number)| Op::Insert { which, shape, number }),
        6 => (which(), shape()).prop_map(|(which, shape)| Op::Remove { which, shape }),
        4 => (which(), 0u8..5, 0u8..5, number()).prop_map(|(which, removed, added, number)| {
            Op::Exchange { which, removed, added, number }
        }),
        6 => which().prop_map(|which| Op::Despawn { which }),
        2 => (0usize..10, 1usize..7).prop_map(|(start, step)| Op::DespawnMany { start, step }),
        2 => (shape(), 1usize..7, number())
            .prop_map(|(shape, step, number)| Op::InsertMany { shape, step, number }),
        2 => which().prop_map(|which| Op::Stale { which }),
        4 => (which(), number()).prop_map(|(which, number)| Op::GetMut { which, number }),
        2 => ([which(), which(), which()], number())
            .prop_map(|(which, number)| Op::Disjoint { which, number }),
        3 => (0usize..10, 1usize..90, number())
            .prop_map(|(start, step, number)| Op::LookupMut { start, step, number }),
        3 => prop_oneof![0usize..40, Just(usize::MAX)].prop_map(|rows_max| Op::Compact { rows_max }),
        1 => Just(Op::RetireArchetypes),
        1 => Just(Op::Clear),
        8 => (0u8..10, number()).prop_map(|(kind, number)| Op::Write { kind, number }),
        4 => (0u8..4).prop_map(|kind| Op::Read { kind }),
        16 => bulk_op(),
    ]
}

/// Steps that change all that a query matches.
fn bulk_op() -> impl Strategy<Value = Op> {
    let copies = prop_oneof![0usize..40, 0usize..if cfg!(miri) { 40 } else { 900 }];
    let (filter, shape, number) = (|| 0u8..FILTERS, || 0u8..13, any::<u32>);
    let team = || 0..=TEAMS;
    prop_oneof![
        6 => (filter(), shape(), number())
            .prop_map(|(filter, shape, number)| Op::InsertWhere { filter, shape, number }),
        6 => (filter(), shape()).prop_map(|(filter, shape)| Op::RemoveWhere { filter, shape }),
        2 => filter().prop_map(|filter| Op::DespawnWhere { filter }),
        3 => (filter(), number()).prop_map(|(filter, number)| Op::Scatter { filter, number }),
        2 => (any::<usize>(), copies).prop_map(|(which, copies)| Op::Copies { which, copies }),
        4 => (filter(), team()).prop_map(|(filter, team)| Op::ShareWhere { filter, team }),
        6 => (any::<usize>(), team()).prop_map(|(which, team)| Op::Share { which, team }),
    ]
}

impl Pair {
    pub(crate) fn step(&mut self, op: &Op) {
        match *op {
            Op::Spawn { shape, number } => with_shape!(shape, S => self.spawn::<S>(number)),
            Op::Batch { shape, rows, lie } => with_shape!(shape, S => self.batch::<S>(rows, lie)),
            Op::Columns { rows, kind } => self.columns(rows, kind),
            Op::SpawnAt { which, index, generation, shape } => {
                let made_up = Entity::from_bits(u64::from(index) << 32 | u64::from(generation));
                let dead = self.dead.iter().nth(which % self.dead.len().max(1)).copied();
                let entity = dead.filter(|_| which % 2 == 0).unwrap_or(made_up);
                with_shape!(shape, S => self.spawn_at::<S>(entity));
            }
            Op::Reserve { ids } => {
                let ids: Vec<_> = self.world.reserve_entities(ids).expect("room").collect();
                assert!(ids.iter().all(|e| self.world.contains(*e) && !self.dead.contains(e)));
                self.reserved.extend(ids);
            }
            Op::Room { shape, rows } => {
                with_shape!(shape, S => self.world.reserve::<S>(rows)).expect("all rows fit");
                self.flushed();
            }
            Op::Compact { rows_max } => {
                assert!(self.world.compact(rows_max).rows_moved <= rows_max);
                self.flushed();
            }
            Op::RetireArchetypes => {
                let empty = self.world.archetypes().filter(|archetype| archetype.is_empty());
                let empty = empty.count();
                // Reserved ids are spawned first, into an archetype that may be empty or new.
                let retired = self.world.retire_archetypes();
                assert!(retired.abs_diff(empty) <= 1, "{retired} of {empty} went");
                self.flushed();
            }
            Op::Clear => {
                self.world.clear();
                self.flushed();
                self.dead.extend(std::mem::take(&mut self.rows).into_keys());
            }
            Op::Write { kind, number } => self.write(kind, number),
            Op::Read { kind } => self.read(kind),
            Op::DespawnMany { start, step } => {
                self.flush();
                let doomed: Vec<_> = self.rows.keys().copied().skip(start).step_by(step).collect();
                for entity in doomed {
                    self.world.despawn(entity).expect("it lives");
                    self.died(entity);
                }
            }
            Op::InsertMany { shape, step, number } => {
                let chosen: Vec<_> = self.rows.keys().copied().step_by(step).collect();
                for entity in chosen {
                    with_shape!(shape, S => self.insert::<S>(entity, number));
                }
            }
            Op::Stale { which } => {
                if let Some(&entity) = self.dead.iter().nth(which % self.dead.len().max(1)) {
                    self.stale(entity);
                }
            }
            _ => self.step_of_many(op),
        }
    }

    /// A step that changes all that a query matches.
    fn step_of_many(&mut self, op: &Op) {
        match *op {
            Op::InsertWhere { filter, shape, number } => {
                with_shape!(shape, S => self.insert_where::<S>(filter, number));
            }
            Op::RemoveWhere { filter, shape } => {
                with_shape!(shape, S => self.remove_where::<S>(filter));
            }
            Op::DespawnWhere { filter } => self.despawn_where(filter),
            Op::ShareWhere { filter, team } => self.share_where(filter, team),
            Op::Share { which, team } => {
                if let Some(entity) = self.pick(which) {
                    self.share(entity, team);
                }
            }
            Op::LookupMut { start, step, number } => match number % 6 {
                0 => self.lookup_mut::<Tag>((start, step), number),
                1 => self.lookup_mut::<Byte>((start, step), number),
                2 => self.lookup_mut::<Four>((start, step), number),
                3 => self.lookup_mut::<Twelve>((start, step), number),
                4 => self.lookup_mut::<Line>((start, step), number),
                _ => self.lookup_mut::<Big>((start, step), number),
            },
            Op::Scatter { filter, number } => self.scatter(filter, number),
            Op::Copies { which, copies } => {
                if let Some(prototype) = self.pick(which) {
                    self.copies(prototype, copies);
                }
            }
            _ => self.step_of_one(op),
        }
    }

    /// A step that concerns entities that live.
    fn step_of_one(&mut self, op: &Op) {
        let (Op::Insert { which, .. }
        | Op::Remove { which, .. }
        | Op::Exchange { which, .. }
        | Op::Despawn { which }
        | Op::GetMut { which, .. }
        | Op::Disjoint { which: [which, ..], .. }) = *op
        else {
            unreachable!("{op:?} is done elsewhere")
        };
        let Some(entity) = self.pick(which) else { return };
        match *op {
            Op::Insert { shape, number, .. } => {
                with_shape!(shape, S => self.insert::<S>(entity, number));
            }
            Op::Remove { shape, .. } => with_shape!(shape, S => self.remove::<S>(entity)),
            Op::Exchange { removed, added, number, .. } => with_small_shape!(removed, R =>
                with_small_shape!(added, A => self.exchange::<R, A>(entity, number))),
            Op::Despawn { .. } => {
                self.world.despawn(entity).expect("it lives");
                self.flushed();
                self.died(entity);
            }
            Op::GetMut { number, .. } => match number % 6 {
                0 => self.get_mut::<Tag>(entity, number),
                1 => self.get_mut::<Byte>(entity, number),
                2 => self.get_mut::<Four>(entity, number),
                3 => self.get_mut::<Twelve>(entity, number),
                4 => self.get_mut::<Line>(entity, number),
                _ => self.get_mut::<Big>(entity, number),
            },
            Op::Disjoint { which, number } => {
                let entities = which.map(|which| self.pick(which).expect("there is one"));
                self.disjoint(entities, number);
            }
            _ => unreachable!("{op:?} has no entity"),
        }
    }
}

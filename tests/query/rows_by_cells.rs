//! Rows of entities by the kept addresses of their cells, beside the rows by the plan of the query.

use core::fmt::Debug;

use phalanx::Filter;
use phalanx::prelude::*;
use phalanx::rows::RowLookup;
use phalanx::terms::{Not, Or, ReadTerms};
use proptest::prelude::*;

use crate::common::components::{Byte, Four, Number, Other, Tag, Third, Twelve};
use crate::common::effort::effort;

#[component(split)]
#[derive(Debug, PartialEq)]
pub(super) struct Parts {
    pub(super) x: f32,
    pub(super) y: u16,
}

/// Some bytes are no value.
#[component]
#[derive(Debug, PartialEq)]
pub(super) struct Open(pub(super) bool);

#[component(enableable)]
#[derive(Debug, PartialEq)]
pub(super) struct Awake(pub(super) u32);

#[component(lines)]
#[derive(Debug, PartialEq)]
pub(super) struct Heat(pub(super) u32);

#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(128))]
pub(super) struct Aligned(pub(super) [u32; 32]);
phalanx::impl_component!(Aligned);

/// Ids that are alive, reserved, gone, of later generations, or were never made.
pub(super) fn ids(world: &World, spawned: &[Entity]) -> Vec<Entity> {
    let mut ids = spawned.to_vec();
    ids.push(world.reserve_entity().expect("few ids"));
    let of = |generation: u64, index: u64| Entity::from_bits(generation << 32 | index);
    ids.extend([0, 1, 70_000, u64::from(u32::MAX)].map(|index| of(7, index)));
    ids.extend(spawned.iter().map(|id| of(u64::from(u32::MAX), id.to_bits() & 0xffff_ffff)));
    ids.push(Entity::NULL);
    ids
}

/// Look-ups of many rows and of one agree about all ids, in rows and in reasons.
fn assert_agree<Q: ReadTerms, F: Filter>(mut query: Query<'_, Q, F>, ids: &[Entity])
where
    for<'a> Q::Row<'a>: Debug,
{
    let lookup = query.lookup();
    let said: Vec<_> = ids.iter().map(|&id| format!("{:?}", lookup.get(id))).collect();
    for (&id, said) in ids.iter().zip(&said) {
        assert_eq!(*said, format!("{:?}", query.get(id)), "{id}");
    }
    let found = ids.iter().filter(|&&id| lookup.get(id).is_ok()).count();
    assert!(found >= query.count_rows(), "a row of the pass was not found");
    // A view for writing whose query only reads keeps no addresses.
    let one = query.lookup_mut();
    for (&id, said) in ids.iter().zip(&said) {
        assert_eq!(*said, format!("{:?}", one.get(id)), "{id}");
    }
}

fn assert_all_agree(world: &World, ids: &[Entity]) {
    assert_agree(world.query::<()>(), ids);
    assert_agree(world.query::<Entity>(), ids);
    assert_agree(world.query::<&Four>(), ids);
    assert_agree(world.query::<(Entity, &Twelve, &Byte)>(), ids);
    assert_agree(world.query::<(Option<&Byte>, &Four, Option<&Parts>, &Tag)>(), ids);
    assert_agree(world.query::<(&Parts, Entity)>(), ids);
    assert_agree(world.query::<(&Open, Option<&Twelve>)>().with::<Tag>(), ids);
    assert_agree(world.query::<(&Tag, &Other)>(), ids);
    assert_agree(world.query::<&Third>(), ids);
    assert_agree(world.query::<&Four>().without::<Tag>().filter::<IncludeHidden>(), ids);
    // These need more than cells.
    assert_agree(world.query::<(&Four, &Number)>(), ids);
    assert_agree(world.query::<(&Awake, &Four)>(), ids);
    assert_agree(world.query::<(Option<&Awake>, &Four)>(), ids);
    assert_agree(world.query::<&Twelve>().changed_since(Version::default()), ids);
    assert_agree(world.query::<&Four>().filter::<Not<With<Number>>>(), ids);
    // Other filters of archetypes.
    assert_agree(world.query::<&Awake>().filter::<IgnoreEnabled>(), ids);
    assert_agree(world.query::<&Four>().filter::<Or<(With<Twelve>, Without<Number>)>>(), ids);
    assert_agree(world.query::<&Aligned>(), ids);
    assert_agree(world.query::<(&Heat, &Four)>(), ids);
}

/// Spawns an entity of one of the kinds.
pub(super) fn spawn(world: &mut World, kind: u32, n: u32) -> Entity {
    let parts = Parts { x: n as f32, y: 7 };
    match kind % 11 {
        0 => world.spawn((Four(n), Twelve([n; 3]))),
        1 => world.spawn((Four(n), Twelve([n; 3]), Tag, Byte(3), parts)),
        2 => world.spawn((Tag, Other)),
        3 => world.spawn((Open(n.is_multiple_of(2)), Twelve([n; 3]), Tag)),
        4 => world.spawn((parts, Byte(1))),
        5 => world.spawn((Four(n), Number(n))),
        6 => world.spawn((Four(n), Disabled)),
        7 => {
            let id = world.spawn((Four(n), Awake(n)));
            world.set_enabled::<Awake>(id, !n.is_multiple_of(3)).expect("it has one");
            id
        }
        8 => world.spawn((Aligned([n; 32]), Four(n))),
        9 => world.spawn((Heat(n), Four(n), Byte(2))),
        _ => world.spawn(()),
    }
}

/// A world after random steps, and the entities that it had.
pub(super) fn random_world(steps: &[(u8, u32)], many: u32) -> (World, Vec<Entity>) {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let mut all = Vec::new();
    for (step, n) in steps.iter().copied() {
        match step {
            0 | 1 => all.push(spawn(&mut world, n, n)),
            2 => all.extend((0..many).map(|i| spawn(&mut world, n, i))),
            3 if !all.is_empty() => {
                let id = all[n as usize % all.len()];
                _ = world.despawn(id);
            }
            4 if !all.is_empty() => {
                let id = all[n as usize % all.len()];
                _ = world.insert(id, (Twelve([n; 3]), Tag, Open(true)));
            }
            5 if !all.is_empty() => {
                let id = all[n as usize % all.len()];
                _ = world.remove::<Four>(id);
            }
            _ => _ = world.memory_mut().compact(n as usize),
        }
    }
    (world, all)
}

#[test]
fn a_view_is_shared_between_threads() {
    const fn assert_sync<T: Send + Sync>() {}
    assert_sync::<RowLookup<'_, (Entity, &Four, Option<&Parts>)>>();
    assert_sync::<RowLookup<'_, &mut Four>>();
}

#[test]
fn an_id_beyond_all_others_has_its_row() {
    let mut world = crate::common::world();
    let first = world.spawn((Four(1), Tag));
    let far = Entity::from_bits(1 << 32 | 4_000_000_000);
    world.spawn_at(far, (Four(2), Tag)).expect("a free id");
    let query = world.query::<(Entity, &Four, &Tag)>();
    let lookup = query.lookup();
    assert_eq!(
        [first, far].map(|id| lookup.get(id).map(|row| (row.0, row.1.0))),
        [Ok((first, 1)), Ok((far, 2))]
    );
    assert_all_agree(&world, &ids(&world, &[first, far]));
}

#[test]
fn rows_of_a_view_outlive_nothing_but_the_view() {
    let mut world = crate::common::world();
    let all: Vec<_> = (0..4).map(|n| world.spawn((Four(n), Open(n > 1)))).collect();
    let query = world.query::<(&Four, &Open)>();
    let lookup = query.lookup();
    let rows: Vec<_> = all.iter().map(|&id| lookup.get(id).expect("a row")).collect();
    assert!(rows.iter().map(|(four, open)| (four.0, open.0)).eq((0..4).map(|n| (n, n > 1))));
}

#[test]
fn parallel_systems_find_rows_beside_others_that_write_and_reserve_ids() {
    let mut world = crate::common::world();
    let rows = if cfg!(miri) { 20 } else { 300 };
    let all: Vec<_> = (0..rows).map(|n| spawn(&mut world, n, n)).collect();
    let with_four = world.query::<&Four>().count_rows();
    let mut schedule = Schedule::new();
    let known = all.clone();
    schedule.add(move |fours: Query<(Entity, &Four)>, mut commands: Commands| {
        let (lookup, new) = (fours.lookup(), commands.spawn(Four(9)));
        assert!(lookup.get(new).is_err(), "it has no row yet");
        assert_eq!(known.iter().filter(|&&id| lookup.get(id).is_ok()).count(), with_four);
        let rows = known.iter().filter_map(|&id| lookup.get(id).ok());
        assert!(rows.clone().all(|(id, _)| known.contains(&id)));
    });
    schedule.add(|mut twelves: Query<&mut Twelve>| {
        twelves.rows_mut().for_each(|twelve| twelve.0[0] += 1);
    });
    schedule.run(&mut world).expect("no system fails");
    assert_all_agree(&world, &ids(&world, &all));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { effort(12) }))]

    #[test]
    fn both_ways_to_a_row_agree(
        steps in proptest::collection::vec((0u8..6, 0u32..1000), 1..if cfg!(miri) { 4 } else { 60 }),
        many in 1..if cfg!(miri) { 4u32 } else { 700 },
    ) {
        let (world, all) = random_world(&steps, many);
        assert_all_agree(&world, &ids(&world, &all));
    }
}

//! Writes to rows of entities by the kept addresses of their cells, beside writes by the plan of
//! the query.

use core::fmt::Debug;

use phalanx::Filter;
use phalanx::prelude::*;
use phalanx::rows::RowError;
use phalanx::terms::{Not, Terms};
use proptest::prelude::*;

use super::rows_by_cells::{Aligned, Awake, Heat, Open, Parts, ids, random_world, spawn};
use crate::common::components::{Byte, Four, Number, Tag, Twelve, sound};
use crate::common::effort::effort;

/// Two equal worlds: one is written by views of many rows, the other by single calls.
struct Pair<'a> {
    one: &'a mut World,
    other: &'a mut World,
    ids: &'a [Entity],
}

impl Pair<'_> {
    /// Writes every third id and every sixth a second time, and compares the results of both ways,
    /// the worlds, and the chunks that count as changed.
    fn assert_agree<Q: Terms, F: Filter>(&mut self, write: impl Fn(&mut Q::Row<'_>))
    where
        for<'a> Q::Row<'a>: Debug,
    {
        let Self { one, other, ids } = self;
        let since = [one.version(), other.version()];
        let turns = || ids.iter().step_by(3).chain(ids.iter().rev().step_by(6)).copied();
        {
            let mut query = one.query_mut::<Q>().filter::<F>();
            let mut single = other.query_mut::<Q>().filter::<F>();
            let mut lookup = query.lookup_mut();
            for id in turns() {
                let (found, expected) = (lookup.get_mut(id), single.get_mut(id));
                assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{id}");
                let (Ok(mut found), Ok(mut expected)) = (found, expected) else { continue };
                write(&mut found);
                write(&mut expected);
            }
        }
        assert_eq!(values(one), values(other));
        assert_changed::<Four>([one, other], since);
        assert_changed::<Twelve>([one, other], since);
        assert_changed::<Open>([one, other], since);
        assert_changed::<Heat>([one, other], since);
    }
}

/// All values that are written here.
fn values(world: &World) -> Vec<String> {
    let query = world.query::<(
        Entity,
        Option<&Four>,
        Option<&Twelve>,
        Option<&Open>,
        Option<&Heat>,
        Option<&Aligned>,
        Option<&Awake>,
        Option<&Parts>,
    )>();
    let query = query.filter::<(IncludeHidden, IgnoreEnabled)>();
    query.rows().map(|row| format!("{row:?}")).collect()
}

/// The same rows of a component count as changed since versions of two worlds.
fn assert_changed<C: Component>(worlds: [&World; 2], since: [Version; 2]) {
    let [one, other] = [0, 1].map(|index| {
        let query = worlds[index].query::<Entity>().with::<C>().filter::<IncludeHidden>();
        query.changed_since::<C>(since[index]).rows().collect::<Vec<_>>()
    });
    assert_eq!(one, other, "{}", C::NAME);
}

fn assert_all_agree(one: &mut World, other: &mut World, ids: &[Entity]) {
    let mut pair = Pair { one, other, ids };
    pair.assert_agree::<&mut Four, ()>(|four| four.0 += 1);
    pair.assert_agree::<(Entity, &mut Twelve, &Tag), ()>(|(id, twelve, _)| {
        twelve.0[1] ^= id.index();
    });
    pair.assert_agree::<(Option<&mut Four>, &Twelve, Option<&mut Parts>), ()>(|(four, by, to)| {
        if let Some(four) = four {
            four.0 += by.0[0];
        }
        if let Some(to) = to {
            to.x += 1.0;
        }
    });
    pair.assert_agree::<(&mut Parts, &Byte), ()>(|(parts, _)| parts.y += 1);
    pair.assert_agree::<(&mut Open, &mut Tag), ()>(|(open, _)| open.0 = !open.0);
    pair.assert_agree::<&mut Four, (Without<Twelve>, IncludeHidden)>(|four| four.0 *= 3);
    pair.assert_agree::<(&mut Aligned, &mut Four), ()>(|(lines, four)| lines.0[31] += four.0);
    pair.assert_agree::<Option<&mut Four>, ()>(|four| {
        let _ = four.as_mut().map(|four| four.0 -= 1);
    });
    // These need more than cells.
    pair.assert_agree::<(&mut Heat, &mut Four), ()>(|(heat, _)| heat.0 += 1);
    pair.assert_agree::<(&mut Four, &Number), ()>(|(four, _)| four.0 += 1);
    pair.assert_agree::<(&mut Awake, &mut Four), ()>(|(awake, _)| awake.0 += 1);
    pair.assert_agree::<&mut Four, (Not<With<Number>>,)>(|four| four.0 += 1);
    sound(one);
}

#[test]
fn a_view_writes_as_single_calls_do() {
    let [(mut one, all), (mut other, same)] = [0, 1].map(|_| {
        let mut world = crate::common::world();
        let rows = if cfg!(miri) { 24 } else { 3000 };
        let all: Vec<_> = (0..rows).map(|n| spawn(&mut world, n, n)).collect();
        (world, all)
    });
    assert_eq!(all, same);
    let [ids, same] = [ids(&one, &all), ids(&other, &all)];
    assert_eq!(ids, same);
    assert_all_agree(&mut one, &mut other, &ids);
}

#[test]
fn only_chunks_of_written_rows_are_stamped() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let all = world.spawn_batch((0..3000).map(|n| (Four(n), Twelve([n; 3])))).to_vec();
    let dead = world.spawn((Four(0), Twelve([0; 3])));
    world.despawn(dead).expect("alive");
    let bare = world.spawn(Tag);
    let since = world.version();
    let changed = |world: &World| world.query::<&Four>().changed_since::<Four>(since).count_rows();
    {
        let mut query = world.query_mut::<(&mut Four, &Twelve)>();
        let mut lookup = query.lookup_mut();
        assert!(matches!(lookup.get_mut(dead), Err(RowError::NoSuchEntity(_))));
        assert!(matches!(lookup.get_mut(bare), Err(RowError::Excluded { .. })));
    }
    assert_eq!((changed(&world), world.version()), (0, since), "no row was written");
    {
        let mut query = world.query_mut::<(&mut Four, &Twelve)>();
        let mut lookup = query.lookup_mut();
        for &id in &all[..2] {
            lookup.get_mut(id).expect("a row").0.0 += 1;
        }
    }
    let in_chunk = world.query::<&Four>().iter().next().expect("a chunk").len();
    assert!(in_chunk < 3000, "the test proves nothing");
    assert_eq!(changed(&world), in_chunk);
    let read = world.query::<&Twelve>().changed_since::<Twelve>(since).count_rows();
    assert_eq!(read, 0, "what is read is not stamped");
    sound(&world);
}

#[test]
fn parallel_systems_write_by_entity_beside_others_that_read_and_reserve_ids() {
    let mut world = crate::common::world();
    let rows = if cfg!(miri) { 20 } else { 600 };
    let all: Vec<_> = (0..rows).map(|n| spawn(&mut world, n, n)).collect();
    let sum = |world: &World| world.query::<&Four>().rows().map(|four| u64::from(four.0)).sum();
    let before: u64 = sum(&world);
    let (known, turns) = (all.clone(), if cfg!(miri) { 2 } else { 20 });
    let mut schedule = Schedule::new();
    schedule.add(move |mut fours: Query<(&mut Four, Entity)>, mut commands: Commands| {
        let new = commands.spawn(Four(0));
        let mut lookup = fours.lookup_mut();
        assert!(lookup.get_mut(new).is_err(), "it has no row yet");
        for &id in &known {
            if let Ok((four, of)) = lookup.get_mut(id) {
                assert_eq!(of, id);
                four.0 += 1;
            }
        }
    });
    schedule.add(|mut twelves: Query<&mut Twelve>| {
        twelves.rows_mut().for_each(|twelve| twelve.0[0] += 1);
    });
    for _ in 0..turns {
        schedule.run(&mut world).expect("no system fails");
    }
    let written = all.iter().filter(|&&id| world.query::<&Four>().contains(id)).count();
    assert!(written > 0);
    assert_eq!(sum(&world), before + written as u64 * turns);
    sound(&world);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { effort(12) }))]

    #[test]
    fn both_ways_to_write_agree(
        steps in proptest::collection::vec((0u8..6, 0u32..1000), 1..if cfg!(miri) { 4 } else { 60 }),
        many in 1..if cfg!(miri) { 4u32 } else { 700 },
    ) {
        let [(mut one, all), (mut other, same)] = [0, 1].map(|_| random_world(&steps, many));
        prop_assert_eq!(&all, &same);
        let [ids, same] = [ids(&one, &all), ids(&other, &all)];
        prop_assert_eq!(&ids, &same);
        assert_all_agree(&mut one, &mut other, &ids);
    }
}

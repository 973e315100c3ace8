//! Changes of sparse components, as queries see them: the random test compares each block before
//! and after each way to write.

use std::collections::BTreeSet;

use phalanx::prelude::*;
use proptest::prelude::*;

use crate::common::components::{Four, sound};
use crate::common::effort::effort;
use crate::common::world;

use super::relations::ChildOf;

/// Two in a block.
#[component(sparse, plain)]
struct Half {
    value: u64,
    rest: [u64; 1023],
}

/// One in a block.
#[component(sparse)]
#[derive(Clone)]
struct Note {
    value: u64,
    _text: String,
    _rest: [u64; 1100],
}

/// The values of a set in its order.
type Dense = Vec<(Entity, u64)>;

fn half(value: u64) -> Half {
    Half { value, rest: [0; 1023] }
}

fn note(value: u64) -> Note {
    Note { value, _text: value.to_string(), _rest: [0; 1100] }
}

fn dense(world: &World) -> [Dense; 2] {
    let halves = world.sparse::<Half>().iter().map(|(entity, one)| (entity, one.value)).collect();
    let notes = world.sparse::<Note>().iter().map(|(entity, one)| (entity, one.value)).collect();
    [halves, notes]
}

/// The entities that queries report, of both components. All forms agree.
fn reported(world: &World, since: Version) -> [BTreeSet<Entity>; 2] {
    let all = world.query::<Entity>().filter::<IncludeHidden>();
    let halves = all.changed_since::<Half>(since);
    let rows: BTreeSet<_> = halves.rows().collect();
    assert_eq!(rows.len(), halves.count_rows());
    assert!(halves.iter().flatten().copied().eq(halves.rows()), "slices");
    assert!(halves.copies().entities().iter().copied().eq(halves.rows()), "copies");
    let masked = halves.masked().flat_map(|(mask, ids)| mask.runs().flat_map(|run| &ids[run]));
    assert!(masked.copied().eq(halves.rows()), "masks");
    let lookup = halves.lookup();
    for (entity, _) in world.sparse::<Half>().iter() {
        let is_changed = rows.contains(&entity);
        assert_eq!(halves.contains(entity), is_changed);
        assert_eq!([halves.get(entity).is_ok(), lookup.get(entity).is_ok()], [is_changed; 2]);
    }
    let with_term = world.query::<(Entity, &Half)>().filter::<IncludeHidden>();
    let with_term = with_term.filter_since::<Changed<Half>>(since);
    assert!(with_term.rows().map(|(entity, _)| entity).eq(halves.rows()), "beside its own term");
    let notes = all.filter_since::<Changed<Note>>(since);
    [rows, notes.rows().collect()]
}

/// The members of the blocks in which two states of a set differ.
fn differing(before: &Dense, after: &Dense, block: usize) -> BTreeSet<Entity> {
    let blocks = after.chunks(block).enumerate();
    let differs = |at: usize, now: &[(Entity, u64)]| {
        now.iter().enumerate().any(|(i, one)| before.get(at * block + i) != Some(one))
    };
    let differing = blocks.filter(|(at, now)| differs(*at, now));
    differing.flat_map(|(_, now)| now.iter().map(|one| one.0)).collect()
}

/// The members of the last block, in which a value may have come and gone.
fn last_block(now: &Dense, block: usize) -> BTreeSet<Entity> {
    now[now.len() / block * block..].iter().map(|one| one.0).collect()
}

const RESTORE: u8 = 17;

fn change(world: &mut World, (call, a, b): (u8, u8, u8), fresh: &mut u64) {
    let known = world.query::<Entity>().filter::<IncludeHidden>().rows().collect::<Vec<_>>();
    let id = |at: u8| known.get(usize::from(at) % known.len().max(1)).copied();
    let (Some(one), Some(other)) = (id(a), id(b)) else {
        world.spawn_batch((0..6).map(Four));
        return;
    };
    let mut next = || {
        *fresh += 1;
        *fresh
    };
    match call % 24 {
        0 => _ = world.spawn((Four(1), half(next()), note(next()))),
        1 => _ = world.spawn_batch((0..b % 5).map(|_| half(next()))).len(),
        2..=4 => world.insert(one, half(next())).unwrap(),
        5 => world.insert(one, (Four(2), note(next()))).unwrap(),
        6 => _ = world.remove::<Half>(one),
        7 => _ = world.exchange::<Half, _>(one, (half(next()), note(next()))),
        8 => {
            let mut view = world.sparse_mut::<Half>();
            view.insert(one, half(next())).unwrap();
            view.remove(other);
        }
        9 => world.sparse_mut::<Note>().iter_mut().for_each(|(_, one)| one.value = next()),
        10 => _ = world.get_mut::<Half>(one).map(|mut_half| mut_half.value = next()),
        11 => world.query_mut::<&mut Half>().rows().for_each(|one| one.value = next()),
        12 => {
            for (_, halves) in world.query_mut::<(&Four, &mut Half)>() {
                halves.into_iter().take(2).for_each(|(_, one)| one.value = next());
            }
        }
        13 => {
            let mut halves = world.query_mut::<(Option<&mut Half>, &mut Note)>();
            if let Ok((half, note)) = halves.get_mut(one) {
                half.into_iter().for_each(|half| half.value = next());
                note.value = next();
            }
        }
        14 => _ = world.despawn(one),
        15 => _ = world.despawn_batch(&[one, other, one]),
        16 => _ = world.insert(one, Disabled),
        RESTORE => {
            let state = world.snapshot().unwrap();
            _ = world.remove::<Half>(one);
            world.insert(other, note(next())).unwrap();
            world.restore(&state).unwrap();
        }
        call => change_by_others(world, call, [one, other], &mut next),
    }
}

/// Changes by systems and commands, and between worlds.
fn change_by_others(
    world: &mut World,
    call: u8,
    [one, other]: [Entity; 2],
    mut next: impl FnMut() -> u64,
) {
    match call {
        18 => {
            let (first, second) = (next(), next());
            world.run(move |mut halves: SparseMut<Half>, mut notes: SparseMut<Note>| {
                halves.insert(one, half(first)).unwrap();
                halves.get_mut(other).into_iter().for_each(|one| one.value = second);
                notes.remove(one);
            });
        }
        19 => {
            let first = next();
            world.run(move |mut all: Query<&mut Half>| {
                all.rows_mut().take(1).for_each(|one| one.value = first);
            });
        }
        20 => {
            let mut buffer = world.command_buffer(2).unwrap();
            buffer.on_dead_entity(DeadEntityPolicy::Ignore);
            buffer.insert(one, half(next()));
            buffer.remove::<Half>(other);
            buffer.spawn(note(next()));
            world.apply(&mut buffer).unwrap();
        }
        21 => {
            let mut guest = crate::common::world();
            guest.spawn_batch((0..3).map(|_| (half(next()), note(next()))));
            world.merge(guest).unwrap();
        }
        22 => {
            world.insert(one, Leaving).unwrap();
            let mut target = crate::common::world();
            let before = target.version();
            target.move_from(world.matching::<Entity>().with::<Leaving>()).unwrap();
            let came = dense(&target).map(|all| all.iter().map(|one| one.0).collect());
            assert_eq!(reported(&target, before), came, "all are new there");
        }
        _ => {
            world.memory_mut().compact(100);
        }
    }
}

#[component]
struct Leaving;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 1 } else { effort(48) },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn blocks_that_differ_are_reported_and_no_others(
        steps in prop::collection::vec(any::<(u8, u8, u8)>(), 1..if cfg!(miri) { 12 } else { 60 }),
    ) {
        let (mut world, mut fresh) = (world(), 0);
        world.sparse_mut::<Note>().keep_in_snapshots();
        let mut readers = Vec::new();
        for (number, &step) in steps.iter().enumerate() {
            let (version, before) = (world.version(), dense(&world));
            if number % 8 == 0 {
                readers.push((version, before.clone()));
            }
            change(&mut world, step, &mut fresh);
            let after = dense(&world);
            let found = reported(&world, version);
            for (kind, block) in [2, 1].into_iter().enumerate() {
                let expected = differing(&before[kind], &after[kind], block);
                let last = last_block(&after[kind], block);
                let missed: Vec<_> = expected.difference(&found[kind]).collect();
                prop_assert!(missed.is_empty(), "{kind}: {missed:?} after {step:?}");
                let more: Vec<_> = found[kind].difference(&expected).collect();
                let is_allowed = |one: &&Entity| last.contains(one) || step.0 % 24 == RESTORE;
                prop_assert!(more.iter().all(is_allowed), "{kind}: {more:?} after {step:?}");
            }
            for (since, then) in &readers {
                let found = reported(&world, *since);
                for (kind, block) in [2, 1].into_iter().enumerate() {
                    let expected = differing(&then[kind], &after[kind], block);
                    prop_assert!(expected.is_subset(&found[kind]), "since {since} after {step:?}");
                }
            }
            prop_assert_eq!(reported(&world, world.version()), [BTreeSet::new(), BTreeSet::new()]);
        }
        sound(&world);
    }
}

/// The number of rows that a system of each kind has seen.
#[derive(Default)]
struct Seen {
    with_term: Vec<usize>,
    alone: Vec<usize>,
    written: Vec<usize>,
}

#[test]
fn a_system_sees_what_changed_since_its_last_run() {
    let mut world = world();
    world.insert_resource(Seen::default());
    let all = world.spawn_batch((0..6).map(|i| (Four(i), half(1)))).to_vec();
    let mut schedule = Schedule::new();
    schedule.add((
        |changed: Query<(&Four, &Half), Changed<Half>>, mut seen: ResMut<Seen>| {
            seen.with_term.push(changed.rows().count());
        },
        |changed: Query<&Four, (With<Four>, Changed<Half>)>, mut seen: ResMut<Seen>| {
            seen.alone.push(changed.count_rows());
        },
        |mut changed: Query<&mut Half, Changed<Half>>, mut seen: ResMut<Seen>| {
            let count = changed.count_rows();
            assert_eq!(changed.rows_mut().map(|one| one.value += 1).count(), count);
            seen.written.push(count);
        },
    ));
    schedule.run(&mut world).unwrap();
    // The last system has written all, which it does not see as a change.
    schedule.run(&mut world).unwrap();
    schedule.run(&mut world).unwrap();
    world.get_mut::<Half>(all[2]).unwrap().value = 7;
    schedule.run(&mut world).unwrap();
    schedule.run(&mut world).unwrap();
    let seen = world.resource::<Seen>().unwrap();
    assert_eq!(seen.with_term, [6, 6, 0, 2, 2]);
    assert_eq!(seen.alone, [6, 6, 0, 2, 2]);
    assert_eq!(seen.written, [6, 0, 0, 2, 0]);
}

#[test]
fn a_system_that_filters_by_changes_excludes_writers() {
    fn reads(_: Query<&Four, Changed<Half>>) {}
    assert!(Schedule::new().try_add((reads, |_: Query<&Half>, _: Sparse<Half>| ())).is_ok());
    let both = |_: Query<&Four, Changed<Half>>, _: Query<&mut Half>| ();
    assert!(Schedule::new().try_add(both).is_err());
    let apart = |_: Query<&Four, Changed<Half>>, _: Query<&mut Half, Without<Four>>| ();
    assert!(Schedule::new().try_add(apart).is_err(), "a set has one lock");
    let view = |_: Query<&Four, Changed<Half>>, _: SparseMut<Half>| ();
    assert!(Schedule::new().try_add(view).is_err());
}

#[test]
fn a_query_of_a_system_is_narrowed_by_changes_of_what_it_names() {
    let mut world = world();
    world.spawn_batch((0..3).map(|i| (Four(i), half(1))));
    world.run(|named: Query<(&Four, Option<&Half>)>| {
        assert_eq!(named.changed_since::<Half>(Version::NEVER).count_rows(), 3);
        assert_eq!(named.changed_since::<Half>(Version::NEVER).rows().count(), 3);
    });
    world.run(|mut written: Query<(&Four, &mut Half)>| {
        let changed = written.reborrow().changed_since::<Half>(Version::NEVER);
        assert_eq!(changed.count_rows(), 3);
        assert_eq!(changed.rows().count(), 3);
    });
}

#[test]
#[should_panic(expected = "must name it, or others could write it at the same time")]
fn a_query_of_a_system_is_not_narrowed_by_changes_of_what_it_does_not_read() {
    let mut world = world();
    world.spawn((Four(1), half(1)));
    world.run(|others: Query<&Four, With<Half>>| {
        _ = others.filter_since::<Changed<Half>>(Version::NEVER).count_rows();
    });
}

#[test]
fn a_new_target_is_a_change() {
    let mut world = world();
    let [a, b] = [world.spawn(()), world.spawn(())];
    let child = world.spawn(ChildOf::of(a));
    let before = world.version();
    let changed = |world: &World, since| {
        world.query::<Entity>().changed_since::<ChildOf>(since).rows().collect::<Vec<_>>()
    };
    assert!(changed(&world, before).is_empty());
    world.insert(child, ChildOf::of(b)).unwrap();
    assert_eq!(changed(&world, before), [child]);
}

#[test]
fn changes_choose_rows_for_changes_of_many() {
    let mut world = world();
    let all = world.spawn_batch((0..6).map(|i| (Four(i), half(1)))).to_vec();
    let before = world.version();
    world.get_mut::<Half>(all[5]).unwrap().value = 2;
    let changed = world.matching::<(&Four,)>().changed_since::<Half>(before);
    assert_eq!(changed.despawn(), 2);
    assert!(world.query::<Entity>().rows().eq(all[..4].iter().copied()));
    let none = world.query::<&Half>().changed_since(world.version());
    assert_eq!((none.count_rows(), none.single().is_err()), (0, true));
    // The component has no set in this world.
    let other = World::new();
    assert_eq!(other.query::<Entity>().changed_since::<Half>(Version::NEVER).count_rows(), 0);
}

#[test]
fn a_snapshot_that_is_put_back_changes_all_values_of_a_component_that_differs() {
    let mut world = world();
    let all = world.spawn_batch((0..6).map(|i| (Four(i), half(1)))).to_vec();
    let state = world.snapshot().unwrap();
    world.get_mut::<Half>(all[0]).unwrap().value = 2;
    let before = world.version();
    world.restore(&state).unwrap();
    let changed = |world: &World, since| world.query::<&Half>().changed_since(since).count_rows();
    assert_eq!(changed(&world, before), 6);
    let after = world.version();
    assert_eq!(changed(&world, after), 0);
    let mut other = self::world();
    other.spawn((Four(1), half(1)));
    let before = other.version();
    let read = other.read_snapshot(&state.to_bytes().unwrap()).unwrap();
    other.restore(&read).unwrap();
    assert_eq!(changed(&other, before), 6);
    sound(&other);
}

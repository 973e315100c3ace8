//! Cached slices of chunks: after any changes between two queries, the slices are at the places of
//! the rows.
//!
//! The oracle is [`World::get`], which caches no address: it must return the same addresses as the
//! slices.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use phalanx::prelude::*;

use crate::common::components::{
    Big, Byte, Four, Hundred, Nth, Other, Tag, Third, Twelve, capacity, sound,
};
use crate::common::world;

/// Asserts that a row is where `World::get` finds it.
#[track_caller]
fn assert_here<C: Component>(world: &World, entity: Entity, row: &C) {
    assert!(ptr::eq(row, world.get::<C>(entity).expect("a row of the query")), "{entity:?} moved");
}

/// Asserts that the slices of queries that read and of queries that write are at the places of the
/// rows, that padding can be read, and that all rows are visited once.
#[track_caller]
fn assert_here_all(world: &mut World) {
    let expected: BTreeSet<_> =
        world.query::<(Entity, &Four)>().chunks().flat_map(|c| c.entities().to_vec()).collect();
    let mut seen = BTreeSet::new();
    for (entities, four, twelve, tag) in
        world.query::<(Entity, &Four, Option<&Twelve>, Option<&Tag>)>()
    {
        assert_eq!(entities.len(), four.len());
        for (row, &entity) in entities.iter().enumerate() {
            assert!(seen.insert(entity), "{entity:?} twice");
            assert_here(world, entity, &four[row]);
            twelve.into_iter().for_each(|twelve| assert_here(world, entity, &twelve[row]));
            assert_eq!(tag.is_some(), world.has::<Tag>(entity));
        }
    }
    assert_eq!(seen, expected);
    let padding = world.query::<&Four>().padded().iter().flatten().fold(0, |sum, f| sum ^ f.0);
    std::hint::black_box(padding);

    let addresses: Vec<_> = world
        .query_mut::<(Entity, &mut Four, Option<&mut Twelve>)>()
        .rows()
        .map(|(entity, four, twelve)| {
            four.0 = four.0.wrapping_add(1);
            (entity, ptr::from_mut(four), twelve.map(ptr::from_mut))
        })
        .collect();
    assert_eq!(addresses.len(), expected.len());
    for (entity, four, twelve) in addresses {
        assert!(ptr::eq(four, world.get::<Four>(entity).expect("a row")), "{entity:?} moved");
        if let Some(twelve) = twelve {
            assert!(ptr::eq(twelve, world.get::<Twelve>(entity).expect("a row")));
        }
    }
    sound(world);
}

#[test]
fn a_list_that_grows_and_shrinks_is_followed_through_every_block_it_has() {
    let sizes = if cfg!(miri) { &ChunkSize::ALL[..1] } else { &ChunkSize::ALL[..] };
    for &size in sizes {
        let mut world = World::builder().chunk_size(size).build();
        let mut entities = vec![world.spawn((Four(0), Twelve([0; 3]), Hundred([0; 25])))];
        let small = capacity(&world);
        let mut grow = |world: &mut World, until: usize| {
            while entities.len() < until {
                let last = u32::try_from(entities.len()).expect("few");
                entities.push(world.spawn((Four(last), Twelve([last; 3]), Hundred([last; 25]))));
            }
            entities.len()
        };
        assert_here_all(&mut world);
        for rows in [small - 1, small, small + 1] {
            grow(&mut world, rows);
            assert_here_all(&mut world);
        }
        let full = capacity(&world);
        assert!(full > small, "the first block has become a chunk");
        for rows in [full - 1, full, full + 1, 2 * full, 2 * full + 1] {
            grow(&mut world, rows);
            assert_here_all(&mut world);
        }
        for rows in [2 * full, full + 1, full, full - 1, small, 1, 0] {
            entities.drain(rows..).for_each(|entity| world.despawn(entity).expect("alive"));
            assert_here_all(&mut world);
            if rows == 1 {
                world.memory_mut().compact(usize::MAX);
                assert_here_all(&mut world);
            }
        }
        world.spawn_batch((0..3).map(|i| (Four(i), Twelve([i; 3]), Hundred([i; 25]))));
        assert_here_all(&mut world);
    }
}

#[test]
fn one_block_that_serves_two_archetypes_in_turn_is_never_seen_through_both() {
    let mut world = world();
    let entity = world.spawn((Four(1), Twelve([1; 3])));
    let still = world.spawn((Four(2), Twelve([2; 3]), Third));
    for round in 0..6 {
        // The row's archetype loses its only block, and the next archetype takes it from the pool.
        world.insert(entity, Tag).expect("alive");
        assert_here_all(&mut world);
        assert_eq!(world.query_mut::<&mut Four>().without::<Tag>().iter_mut().flatten().count(), 1);
        world.remove::<Tag>(entity).expect("there");
        if round % 2 == 0 {
            world.insert(entity, Other).expect("alive");
            world.remove::<Other>(entity).expect("there");
        }
        assert_here_all(&mut world);
        assert_eq!(world.query_mut::<&mut Four>().with::<Tag>().iter_mut().flatten().count(), 0);
    }
    assert_eq!(world.get::<Twelve>(still).expect("alive").0, [2; 3]);
}

#[test]
fn what_a_failed_spawn_has_moved_is_found_again() {
    let mut world = world();
    world.spawn((Four(0), Twelve([0; 3])));
    let small = u32::try_from(capacity(&world)).expect("few");
    world.spawn_batch((1..small).map(|i| (Four(i), Twelve([i; 3]))));
    assert_here_all(&mut world);
    let caught = catch_unwind(AssertUnwindSafe(|| {
        // The small block is full: the first row that is written makes it a chunk.
        world.spawn_batch((0..10).map(|i| match i {
            5 => panic!("the sixth"),
            i => (Four(i), Twelve([i; 3])),
        }));
    }));
    assert!(caught.is_err(), "the panic reached the caller");
    assert!(capacity(&world) > small as usize, "the block was replaced");
    assert_eq!(world.len(), small as usize);
    assert_here_all(&mut world);

    let mut world = World::builder().entities_max(small).build();
    world.spawn_batch((0..small).map(|i| (Four(i), Twelve([i; 3]))));
    assert_here_all(&mut world);
    assert!(world.try_spawn((Four(0), Twelve([0; 3]))).is_err(), "no id is left");
    assert_here_all(&mut world);
    let taken = world.query::<Entity>().iter().flatten().copied().next().expect("an entity");
    assert!(world.spawn_at(taken, (Four(0), Twelve([0; 3]))).is_err(), "it lives");
    assert_here_all(&mut world);
}

/// Archetypes of one chunk, of several, of none, and again of one, in this order.
fn mixed(size: ChunkSize) -> World {
    let mut world = World::builder().chunk_size(size).build();
    world.spawn_batch((0..3).map(|i| (Four(i), Tag)));
    world.spawn_batch((0..9).map(|i| (Four(i), Big([i; 250]))));
    let gone = world.spawn((Four(0), Other));
    world.despawn(gone).expect("alive");
    world.spawn_batch((0..2).map(|i| (Four(i), Third)));
    world.spawn_batch((0..9).map(|i| (Four(i), Big([i; 250]), Tag)));
    world.spawn((Four(7), Byte(1)));
    world
}

/// Takes `turns` items of a pass by chunk or by row, goes on by `rest`, and asserts that every row
/// is seen once.
fn in_two_steps<'w, I: Iterator>(
    mut iter: I,
    turns: usize,
    mut see: impl FnMut(I::Item, &mut Vec<Entity>, &mut Vec<&'w mut Four>),
    folds: bool,
) -> usize {
    let (mut seen, mut held) = (Vec::new(), Vec::new());
    for item in iter.by_ref().take(turns) {
        see(item, &mut seen, &mut held);
    }
    match folds {
        true => iter.for_each(|item| see(item, &mut seen, &mut held)),
        false => {
            for item in iter {
                see(item, &mut seen, &mut held);
            }
        }
    }
    // Slices of the first items are still valid after the last.
    held.into_iter().for_each(|four| four.0 += 1);
    let count = seen.len();
    assert_eq!(seen.into_iter().collect::<BTreeSet<_>>().len(), count, "a row was seen twice");
    count
}

/// The entities seen and the values held by a turn with slices.
fn see_slices<'w>(
    (entities, four): (&[Entity], &'w mut [Four]),
    seen: &mut Vec<Entity>,
    held: &mut Vec<&'w mut Four>,
) {
    seen.extend(entities);
    held.extend(four);
}

#[test]
fn a_pass_may_go_on_in_another_way_after_any_turn() {
    let mut world = mixed(ChunkSize::KIB_4);
    let (rows, chunks) = (world.len(), world.query::<&Four>().iter().count());
    assert_eq!(chunks, 3 + 2 * 3, "three of one chunk, two of three");
    // Miri has time for three of them.
    for turns in (0..=chunks + 1).step_by(if cfg!(miri) { 4 } else { 1 }) {
        for folds in [false, true] {
            let iter = world.query_mut::<(Entity, &mut Four)>().into_iter();
            let count = in_two_steps(iter, turns, see_slices, folds);
            assert_eq!(count, rows, "slices after {turns}");
            let by_chunk = world.query_mut::<(Entity, &mut Four)>().chunks();
            let count = in_two_steps(
                by_chunk,
                turns,
                |chunk, seen, held| {
                    seen.extend(chunk.entities());
                    held.extend(chunk.slices().1);
                },
                folds,
            );
            assert_eq!(count, rows, "chunks after {turns}");
            let by_row = world.query_mut::<(Entity, &mut Four)>().rows();
            let count = in_two_steps(
                by_row,
                turns,
                |(entity, four), seen, held| {
                    seen.push(entity);
                    held.push(four);
                },
                folds,
            );
            assert_eq!(count, rows, "rows after {turns}");
            let padded = world.query_mut::<(Entity, &mut Four)>().padded().into_iter();
            let count = in_two_steps(padded, turns, see_slices, folds);
            assert_eq!(count, rows, "padded after {turns}");
            // The pass is abandoned in the middle.
            assert_eq!(
                world.query_mut::<&mut Four>().iter_mut().take(turns).count(),
                turns.min(chunks)
            );
            world.spawn((Four(1), Third));
            let last = world.query::<Entity>().with::<Third>().iter().flatten().copied().last();
            world.despawn(last.expect("an entity")).expect("alive");
        }
    }
    sound(&world);
}

#[test]
fn worlds_that_change_places_keep_their_own_addresses() {
    let (mut here, mut there) = (mixed(ChunkSize::KIB_4), mixed(ChunkSize::KIB_64));
    for round in 0..if cfg!(miri) { 2 } else { 4 } {
        assert_here_all(&mut here);
        std::mem::swap(&mut here, &mut there);
        here.spawn((Four(round), Tag));
        assert_here_all(&mut here);
        let old = std::mem::take(&mut there);
        assert_eq!(there.query_mut::<&mut Four>().iter_mut().count(), 0);
        there = *Box::new(old);
        assert_here_all(&mut there);
        drop(std::mem::replace(&mut there, mixed(ChunkSize::KIB_8)));
        assert_here_all(&mut there);
    }
}

#[test]
fn rows_of_tags_are_cut_although_they_have_no_block() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let capacity = {
        world.spawn(Tag);
        capacity(&world)
    };
    // A chunk holds many tags: Miri sees the end of one, and the beginning of the next.
    let few = [1, 2, capacity + 1];
    let all = [1, 2, capacity - 1, capacity, capacity + 1, 2 * capacity];
    for &rows in if cfg!(miri) { &few[..] } else { &all[..] } {
        let missing = rows - world.len();
        world.spawn_batch((0..missing).map(|_| Tag));
        let before = world.version();
        let tags =
            world.query_mut::<(&mut Tag, Entity)>().into_iter().map(|(t, e)| (t.len(), e.len()));
        let (tags, entities) = tags.fold((0, 0), |sum, len| (sum.0 + len.0, sum.1 + len.1));
        assert_eq!((tags, entities), (rows, rows));
        let chunks = world.query::<&Tag>().changed_since(before).iter().count();
        assert_eq!(chunks, rows.div_ceil(capacity), "each chunk is stamped");
        let optional = world.query::<(Option<&Tag>, Option<&Four>)>();
        assert!(optional.into_iter().all(|(tag, four)| tag.is_some() && four.is_none()));
    }
    world.clear();
    assert_eq!(world.query_mut::<&mut Tag>().iter_mut().count(), 0);
    world.spawn(Tag);
    assert_eq!(world.query_mut::<&mut Tag>().iter_mut().flatten().count(), 1);
    sound(&world);
}

#[test]
fn a_component_that_was_unknown_when_its_plan_was_kept_is_cut_when_it_comes() {
    let mut world = world();
    let old = world.spawn(Four(1));
    let columns = |world: &World| {
        let query = world.query::<(Entity, &Four, Option<&Nth<7>>)>();
        query
            .into_iter()
            .flat_map(|(e, _, n)| e.iter().map(move |_| n.is_some()))
            .collect::<Vec<_>>()
    };
    assert_eq!(columns(&world), [false]);
    let new = world.spawn((Four(2), Nth::<7>(9)));
    assert_eq!(columns(&world), [false, true]);
    world.insert(old, Nth::<7>(8)).expect("alive");
    assert_eq!(columns(&world), [true, true]);
    world.query_mut::<(&Four, Option<&mut Nth<7>>)>().iter_mut().for_each(|(_, nth)| {
        nth.into_iter().flatten().for_each(|nth| nth.0 += 1);
    });
    let nths = [old, new].map(|entity| world.get::<Nth<7>>(entity).expect("there").0);
    assert_eq!(nths, [9, 10]);
    sound(&world);
}

/// A generator of the same numbers each time (Knuth's constants).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).expect("31 bits") % sides
    }
}

/// Gives the entity the components with set bits, so that many archetypes exist.
fn set_bits(world: &mut World, entity: Entity, bits: usize) {
    macro_rules! set {
        ($($n:literal)*) => {
            $(if bits >> $n & 1 == 1 {
                world.insert(entity, Nth::<$n>(1)).expect("alive");
            })*
        };
    }
    set!(0 1 2 3 4 5 6);
}

/// Asserts that a query that ran saw this many rows, each at its place.
#[track_caller]
fn assert_rows(world: &World, rows: &[(Entity, *const Four)], len: usize) {
    assert_eq!(rows.len(), len, "rows of the plan's archetypes");
    for &(entity, four) in rows {
        assert!(ptr::eq(four, world.get::<Four>(entity).expect("a row")), "{entity:?} moved");
    }
}

macro_rules! looks {
    ($($(.$filter:ident::<$component:ty>())*;)*) => {
        [$(
            |world: &mut World| {
                let query = world.query::<(Entity, &Four)>()$(.$filter::<$component>())*;
                let len = query.count_rows();
                let rows: Vec<_> = query.rows().map(|(e, four)| (e, ptr::from_ref(four))).collect();
                assert_rows(world, &rows, len);
            },
            |world: &mut World| {
                let query = world.query_mut::<(&mut Four, Entity)>()$(.$filter::<$component>())*;
                let len = query.count_rows();
                let rows: Vec<_> = query
                    .rows()
                    .map(|(four, e)| {
                        four.0 += 1;
                        (e, ptr::from_mut(four).cast_const())
                    })
                    .collect();
                assert_rows(world, &rows, len);
            },
        )*]
    };
}

#[test]
fn plans_that_look_now_and_then_all_see_what_has_moved() {
    let looks: [fn(&mut World); 8] = looks! {
        ;
        .with::<Nth<0>>();
        .without::<Nth<1>>();
        .with::<Nth<2>>().without::<Nth<3>>();
    };
    let kinds = if cfg!(miri) { 8 } else { 128 };
    let mut dice = Dice(7);
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let mut entities = Vec::new();
    for step in 0..if cfg!(miri) { 120 } else { 20_000 } {
        // Queries come in bursts, so that the log is long at times and forgotten at others.
        let calm = step / 500 % 2 == 0;
        let which = |dice: &mut Dice, entities: &[Entity]| dice.roll(entities.len());
        match dice.roll(if calm { 16 } else { 200 }) {
            0..4 => looks[dice.roll(looks.len())](&mut world),
            4 if !entities.is_empty() => {
                let entity = entities.swap_remove(which(&mut dice, &entities));
                world.despawn(entity).expect("alive");
            }
            5 if dice.roll(8) == 0 => {
                entities.extend(world.spawn_batch((0..40).map(|i| (Four(i), Twelve([i; 3])))));
            }
            6 if dice.roll(40) == 0 => _ = world.memory_mut().compact(usize::MAX),
            7 if dice.roll(100) == 0 => {
                world.clear();
                entities.clear();
            }
            8 if !entities.is_empty() => {
                let entity = entities[which(&mut dice, &entities)];
                world.get_mut::<Four>(entity).expect("alive").0 += 1;
            }
            9 => world.reserve::<(Four, Tag)>(dice.roll(50)).expect("room"),
            10 if !entities.is_empty() => {
                let entity = entities[which(&mut dice, &entities)];
                let _ = world.remove::<Nth<0>>(entity);
            }
            _ if entities.len() < 400 => {
                let entity = world.spawn(Four(1));
                set_bits(&mut world, entity, dice.roll(kinds));
                entities.push(entity);
            }
            _ => {
                let entity = entities[which(&mut dice, &entities)];
                set_bits(&mut world, entity, dice.roll(kinds));
            }
        }
    }
    looks.iter().for_each(|look| look(&mut world));
    sound(&world);
}

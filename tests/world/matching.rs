//! Changes by query: whole chunks that change owner or are copied, with tails of every length.

use phalanx::error::LayoutError;
use phalanx::prelude::*;

use crate::common::components::small_world as world;
use crate::common::components::{Big, Byte, Four, Other, Page, Quarter, Tag, Third, Twelve};
use crate::common::components::{capacity, sound};

/// Three quarters of the smallest chunk.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Wide([u8; 3072]);
impl_component!(Wide);

/// Rows of a chunk of `{Four}` in the world of the tests.
fn four_capacity() -> usize {
    let mut world = world();
    world.spawn_batch((0..300).map(Four));
    capacity(&world)
}

/// Asserts that every entity has its number, and whether it has `T`.
#[track_caller]
fn assert_numbers<T: Component>(world: &World, entities: &[Entity], has: impl Fn(usize) -> bool) {
    for (i, (&entity, number)) in entities.iter().zip(0u32..).enumerate() {
        assert_eq!(world.get::<Four>(entity), Ok(&Four(number)), "entity {i}");
        assert_eq!(world.has::<T>(entity), has(i), "entity {i}");
    }
    sound(world);
}

/// Lengths around the ends of small blocks, vectors and chunks.
fn lengths(capacity: usize) -> Vec<usize> {
    if cfg!(miri) {
        return vec![0, 17, capacity + 3];
    }
    let c = capacity;
    vec![0, 1, 15, 16, 17, 255, 256, 257, c - 1, c, c + 1, c + c / 2, 2 * c, 2 * c + 40, 3 * c - 1]
}

#[test]
fn a_tag_comes_and_goes_whatever_the_lengths_of_both_ends() {
    let lengths = lengths(four_capacity());
    for &source in &lengths {
        for &target in &lengths {
            let mut world = world();
            let first = u32::try_from(source).expect("a short list");
            let mut entities = world.spawn_batch((0..first).map(Four)).to_vec();
            let tagged = (first..).take(target).map(|i| (Four(i), Tag));
            entities.extend_from_slice(world.spawn_batch(tagged));
            let inserted = world.matching::<&Four>().without::<Tag>().insert(Tag);
            assert_eq!(inserted, Ok(source));
            assert_numbers::<Tag>(&world, &entities, |_| true);
            assert_eq!(world.query::<&Four>().copies().gather().len(), source + target);
            assert_eq!(world.matching::<Entity>().remove::<Tag>(), source + target);
            assert_numbers::<Tag>(&world, &entities, |_| false);
            assert_eq!(world.matching::<Entity>().remove::<Tag>(), 0, "no entity has it");
        }
    }
}

#[test]
fn a_column_comes_and_goes_whatever_the_lengths_of_both_ends() {
    let lengths = lengths(four_capacity());
    for &source in &lengths {
        for &target in &lengths {
            let mut world = world();
            let first = u32::try_from(source).expect("a short list");
            let mut entities = world.spawn_batch((0..first).map(Four)).to_vec();
            let others = (first..).take(target).map(|i| (Four(i), Twelve([i; 3])));
            entities.extend_from_slice(world.spawn_batch(others));
            let matching = world.matching::<&Four>().without::<Twelve>();
            assert_eq!(matching.insert((Twelve([7; 3]), Other)), Ok(source));
            assert_numbers::<Twelve>(&world, &entities, |_| true);
            for (i, number) in (0..source + target).zip(0u32..) {
                let expected = if i < source { 7 } else { number };
                assert_eq!(world.get::<Twelve>(entities[i]), Ok(&Twelve([expected; 3])));
            }
            assert_eq!(world.matching::<&Twelve>().remove::<(Twelve, Other)>(), source + target);
            assert_numbers::<Twelve>(&world, &entities, |_| false);
        }
    }
}

#[test]
fn chunks_that_change_owner_stay_where_they_are() {
    let mut world = world();
    let rows = u32::try_from(3 * four_capacity() + 5).expect("a few chunks");
    world.spawn_batch((0..rows).map(Four));
    let addresses = |world: &World| -> Vec<_> {
        world.query::<&Four>().iter().map(|four| (four.as_ptr(), four.len(), four[0])).collect()
    };
    let before = addresses(&world);
    let blocks = world.memory().block_bytes;
    assert_eq!(world.matching::<&Four>().insert((Tag, Other)), Ok(rows as usize));
    assert_eq!(addresses(&world), before, "no block was copied");
    assert_eq!(world.matching::<&Four>().remove::<(Tag, Third)>(), rows as usize);
    assert_eq!(addresses(&world), before);
    assert_eq!(world.memory().block_bytes, blocks);
    // A small block changes owner, too.
    world.clear();
    world.spawn_batch((0..5).map(Four));
    let before = addresses(&world);
    assert_eq!(world.matching::<&Four>().insert(Tag), Ok(5));
    assert_eq!(addresses(&world), before);
    sound(&world);
}

#[test]
fn full_chunks_stand_before_a_last_one_that_is_partly_filled() {
    let mut world = world();
    let full = u32::try_from(four_capacity()).expect("rows of a chunk");
    world.spawn_batch((0..10).map(|i| (Four(i), Tag)));
    world.spawn_batch((0..2 * full).map(|i| Four(100 + i)));
    assert_eq!(world.matching::<&Four>().without::<Tag>().insert(Tag), Ok(2 * full as usize));
    let order = world.query::<&Four>().copies().gather();
    let expected: Vec<_> = (100..100 + 2 * full).chain(0..10).map(Four).collect();
    assert_eq!(order, expected);
    // Two tails: the end of the arriving one fills up the present one.
    world.spawn_batch((0..full - 4).map(|i| Four(9_000_000 + i)));
    assert_eq!(world.matching::<&Four>().without::<Tag>().insert(Tag), Ok(full as usize - 4));
    let order = world.query::<&Four>().copies().gather();
    let tail: Vec<_> = order[2 * full as usize..].iter().map(|four| four.0).collect();
    let merged = 9_000_000 + 6..9_000_000 + full - 4;
    let expected: Vec<_> = (0..10).chain(merged).chain(9_000_000..9_000_006).collect();
    assert_eq!(tail, expected);
    sound(&world);
}

#[test]
fn several_archetypes_meet_in_one() {
    let mut world = world();
    let mut entities = Vec::new();
    entities.extend_from_slice(world.spawn_batch((0..1_000).map(Four)));
    entities.extend_from_slice(world.spawn_batch((1_000..1_300).map(|i| (Four(i), Tag))));
    entities.extend_from_slice(world.spawn_batch((1_300..1_310).map(|i| (Four(i), Other))));
    let all = (1_310..2_000).map(|i| (Four(i), Tag, Other));
    entities.extend_from_slice(world.spawn_batch(all));
    entities.extend_from_slice(world.spawn_batch((2_000..2_050).map(|i| (Four(i), Byte(1)))));
    let changed = world.matching::<&Four>().insert((Tag, Other));
    assert_eq!(changed, Ok(2_050), "those that had them count");
    assert_numbers::<Tag>(&world, &entities, |_| true);
    assert_numbers::<Other>(&world, &entities, |_| true);
    assert_eq!(world.query::<&Four>().without::<Byte>().copies().gather().len(), 2_000);
    assert_eq!(world.matching::<Entity>().remove::<(Other, Tag, Byte)>(), 2_050);
    assert_eq!(world.query::<&Four>().without::<Other>().without::<Byte>().count_rows(), 2_050);
    assert_numbers::<Tag>(&world, &entities, |_| false);
}

#[test]
fn a_value_that_is_there_is_overwritten_in_place() {
    let mut world = world();
    let entities = world.spawn_batch((0..3_000).map(|i| (Four(i), Tag))).to_vec();
    let address = world.query::<&Four>().iter().next().expect("a chunk").as_ptr();
    assert_eq!(world.matching::<Entity>().insert((Tag, Four(5))), Ok(3_000));
    assert!(entities.iter().all(|&e| world.get::<Four>(e) == Ok(&Four(5))));
    // With a tag in the bundle, chunks change owner and are overwritten.
    assert_eq!(world.matching::<&Four>().insert((Four(6), Other)), Ok(3_000));
    assert!(
        entities.iter().all(|&e| world.get::<Four>(e) == Ok(&Four(6)) && world.has::<Other>(e))
    );
    assert_eq!(world.query::<&Four>().iter().next().expect("a chunk").as_ptr(), address);
    // With an added column, the overwritten column is not copied.
    assert_eq!(world.matching::<&Four>().insert((Four(7), Big([3; 250]))), Ok(3_000));
    assert!(entities.iter().all(|&e| world.get::<Four>(e) == Ok(&Four(7))));
    assert!(world.query::<&Big>().iter().flatten().all(|big| big.0 == [3; 250]));
    sound(&world);
}

#[test]
fn rows_without_bytes_move_as_well() {
    let mut world = world();
    let rows = if cfg!(miri) { 40 } else { 40_000 };
    let entities = world.spawn_batch((0..rows).map(|_| ())).to_vec();
    world.spawn_batch((0..100).map(|_| Tag));
    assert_eq!(world.matching::<Entity>().without::<Tag>().insert(Tag), Ok(rows));
    assert_eq!(world.query::<&Tag>().copies().gather().len(), rows + 100);
    sound(&world);
    assert_eq!(world.matching::<Entity>().insert((Other, Four(4))), Ok(rows + 100));
    assert!(entities.iter().all(|&e| world.get::<Four>(e) == Ok(&Four(4)) && world.has::<Tag>(e)));
    sound(&world);
    assert_eq!(world.matching::<&Tag>().remove::<(Tag, Other, Four)>(), rows + 100);
    assert_eq!(world.matching::<Entity>().insert(()), Ok(rows + 100), "nothing, to all of them");
    sound(&world);
    assert_eq!(world.matching::<Entity>().despawn(), rows + 100);
    sound(&world);
    assert!(world.is_empty());
}

#[test]
fn nothing_matches_and_nothing_changes() {
    let mut world = world();
    world.spawn_batch((0..100).map(Four));
    let before = world.version();
    assert_eq!(world.matching::<&Tag>().insert(Other), Ok(0));
    assert_eq!(world.matching::<&Tag>().remove::<Four>(), 0);
    assert_eq!(world.matching::<&Four>().remove::<(Tag, Other)>(), 0, "no entity has any");
    assert_eq!(world.matching::<&Tag>().despawn(), 0);
    assert_eq!(world.matching::<&Four>().changed_since(before).despawn(), 0);
    assert_eq!(world.query::<&Tag>().copies().gather().len(), 0);
    assert_eq!(world.query::<&Tag>().copies().offsets(), [0]);
    assert_eq!(world.query_mut::<&mut Tag>().scatter(&[]), Ok(()));
    assert_eq!(world.query::<&Four>().changed_since(before).iter().count(), 0);
    assert_eq!((world.len(), world.query::<&Four>().iter().count()), (100, 1));
    sound(&world);
}

#[test]
fn a_row_that_fits_no_chunk_changes_nothing() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    world.spawn_batch((0..100).map(Four));
    world.spawn_batch((0..7).map(|i| (Quarter([1; 1024]), Four(i))));
    let (archetypes, version) = (world.reflect().archetypes().count(), world.version());
    let wide = world.matching::<&Four>().insert((Tag, Page([9; 4096])));
    assert!(matches!(wide, Err(LayoutError::RowTooWide { .. })), "{wide:?}");
    // The first archetype has room for it, the second has not.
    let wide = world.matching::<&Four>().insert((Tag, Wide([9; 3072])));
    assert!(matches!(wide, Err(LayoutError::RowTooWide { .. })), "{wide:?}");
    assert_eq!((world.reflect().archetypes().count(), world.version()), (archetypes, version));
    assert_eq!(world.query::<&Four>().without::<Tag>().count_rows(), 107);
    sound(&world);
}

#[test]
fn some_chunks_leave_and_those_from_the_end_fill_the_holes() {
    let full = four_capacity();
    let rows = u32::try_from(5 * full + 7).expect("a few chunks");
    for chosen in (1..1usize << 6).step_by(if cfg!(miri) { 17 } else { 1 }) {
        let mut world = world();
        let entities = world.spawn_batch((0..rows).map(Four)).to_vec();
        let before = world.version();
        for chunk in (0..6).filter(|chunk| chosen >> chunk & 1 == 1) {
            world.get_mut::<Four>(entities[chunk * full]).expect("alive");
        }
        let is_chosen = |i: usize| chosen >> (i / full) & 1 == 1;
        let expected = (0..rows as usize).filter(|&i| is_chosen(i)).count();
        match chosen % 3 {
            0 => {
                let matching = world.matching::<&Four>().changed_since(before);
                assert_eq!(matching.insert(Tag), Ok(expected));
                assert_numbers::<Tag>(&world, &entities, is_chosen);
            }
            1 => {
                let matching = world.matching::<&Four>().changed_since(before);
                assert_eq!(matching.insert(Byte(3)), Ok(expected));
                assert_numbers::<Byte>(&world, &entities, is_chosen);
            }
            _ => {
                let matching = world.matching::<&Four>().changed_since(before);
                assert_eq!(matching.despawn(), expected);
                for (i, &entity) in entities.iter().enumerate() {
                    assert_eq!(world.contains(entity), !is_chosen(i));
                }
                assert_eq!(world.len(), rows as usize - expected);
                sound(&world);
            }
        }
    }
}

#[test]
fn ids_are_freed_as_by_one_despawn_after_the_other() {
    let (mut bulk, mut single) = (world(), world());
    for world in [&mut bulk, &mut single] {
        world.spawn_batch((0..300).map(Four));
        world.spawn_batch((0..300).map(|i| (Four(i), Tag)));
        world.spawn_batch((0..10).map(|i| (Four(i), Other)));
    }
    let doomed: Vec<_> = single.query::<(Entity, &Four)>().without::<Other>().rows().collect();
    let doomed: Vec<_> = doomed.into_iter().map(|(entity, _)| entity).collect();
    doomed.iter().for_each(|&entity| single.despawn(entity).expect("alive"));
    assert_eq!(bulk.matching::<&Four>().without::<Other>().despawn(), 600);
    let born = [&mut bulk, &mut single].map(|world| world.spawn_batch([(); 700]).to_vec());
    assert_eq!(born[0], born[1]);
    assert!(doomed.iter().all(|&entity| !bulk.contains(entity)));
    sound(&bulk);
}

#[test]
fn an_older_generation_that_was_given_out_again_dies_once() {
    let mut world = world();
    let old = world.spawn(Four(1));
    for _ in 0..3 {
        let entity = world.query::<Entity>().iter().flatten().copied().next().expect("one");
        world.despawn(entity).expect("alive");
        world.spawn(Four(1));
    }
    let young = world.query::<Entity>().iter().flatten().copied().next().expect("one");
    world.despawn(young).expect("alive");
    world.spawn_at(old, Four(2)).expect("free");
    assert_eq!(world.matching::<&Four>().despawn(), 1);
    sound(&world);
    let next = world.spawn(());
    assert_eq!(next.index(), old.index());
    assert!(next.generation() > young.generation(), "no old handle comes back to life");
}

#[test]
fn reserved_ids_live_before_the_query_looks() {
    let mut world = world();
    let reserved: Vec<_> = world.reserve_entities(5).expect("room").collect();
    assert_eq!(world.matching::<Entity>().insert(Four(1)), Ok(5));
    assert!(reserved.iter().all(|&entity| world.get::<Four>(entity) == Ok(&Four(1))));
    sound(&world);
}

#[test]
fn room_that_was_reserved_is_kept_and_used() {
    let mut world = world();
    let rows = 2 * four_capacity() + 9;
    world.spawn_batch((0..9u32).map(Four));
    world.reserve::<(Four, Tag)>(rows).expect("it fits");
    world.reserve::<Four>(rows).expect("it fits");
    assert_eq!(world.matching::<&Four>().insert(Tag), Ok(9));
    sound(&world);
    assert_eq!(world.matching::<&Four>().insert(Byte(1)), Ok(9));
    sound(&world);
    assert_eq!(world.matching::<&Four>().remove::<(Byte, Tag)>(), 9);
    sound(&world);
    assert_eq!(world.matching::<&Four>().despawn(), 9);
    world.memory_mut().compact(usize::MAX);
    sound(&world);
}

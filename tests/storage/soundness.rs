//! Regressions of unsound code. The whole file runs under Miri.
#![forbid(unsafe_code)]

use phalanx::prelude::*;

use crate::common::components::{Four, Line, Mega, Odd, Other, Page, Sixteen, Tag};

fn small_chunks() -> World {
    World::builder().chunk_size(ChunkSize::KIB_4).build()
}

/// Reads every row of every padded slice.
fn sum_of_padded(world: &World) -> u32 {
    world.query::<&Four>().padded().iter().flatten().fold(0, |sum, four| sum.wrapping_add(four.0))
}

#[test]
fn a_batch_of_one_row_initialises_the_padding_behind_it() {
    for rows in [0, 15, 16, 17, 32] {
        let mut world = small_chunks();
        world.spawn_batch((0..rows).map(Four));
        world.spawn_batch([Four(1)]);
        assert_eq!(sum_of_padded(&world), (0..rows).sum::<u32>() + 1, "{rows} rows before");
        world.spawn_columns(&[Four(2)][..]).expect("room");
        assert_eq!(sum_of_padded(&world), (0..rows).sum::<u32>() + 3, "{rows} rows before");
    }
}

#[test]
fn a_batch_that_was_given_up_leaves_initialised_padding() {
    let mut world = small_chunks();
    world.spawn_batch((0..16).map(Four));
    let panicking = (0..5).map(|i| if i == 4 { panic!("the fifth") } else { Four(i) });
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        world.spawn_batch(panicking);
    }));
    assert!(caught.is_err(), "the panic reached the caller");
    assert_eq!(sum_of_padded(&world), 120);
    world.spawn(Four(1));
    assert_eq!(sum_of_padded(&world), 121);
    world.check().expect("sound");
}

#[test]
fn a_lookup_sees_the_last_chunk_when_it_is_full() {
    let mut world = small_chunks();
    let sixteens = world.spawn_batch((0..1024).map(|i| Sixteen([i; 4]))).to_vec();
    assert_eq!(
        world.reflect().archetypes().next().map(|a| (a.capacity(), a.chunk_len())),
        Some((256, 4))
    );
    let lookup = world.lookup::<Sixteen>();
    for (entity, i) in sixteens.iter().zip(0..) {
        assert_eq!(lookup.get(*entity).ok(), Some(&Sixteen([i; 4])), "row {i}");
    }
}

#[test]
fn a_lookup_sees_chunks_of_one_row() {
    let mut world = small_chunks();
    let pages = world.spawn_batch((0..4).map(|i| Page([i; 4096]))).to_vec();
    let lookup = world.lookup::<Page>();
    assert!(pages.iter().zip(0..).all(|(&e, i)| lookup.get(e).is_ok_and(|page| page.0[0] == i)));
}

#[test]
fn a_lookup_sees_tags() {
    let mut world = small_chunks();
    let tagged = world.spawn_batch([Tag; 3]).to_vec();
    let other = world.spawn(Four(0));
    let lookup = world.lookup::<Tag>();
    assert!(tagged.iter().all(|&entity| lookup.get(entity).is_ok()), "tagged");
    assert!(lookup.get(other).is_err() && lookup.get(Entity::NULL).is_err(), "others");
}

/// Rows found and written by one view: in one archetype and in two, with gaps, and of dead ids.
fn written_through_a_view<C>(rows: u32, make: fn(u32) -> C)
where
    C: Component + PartialEq + std::fmt::Debug,
{
    let mut world = small_chunks();
    let mut entities = world.spawn_batch((0..rows).map(make)).to_vec();
    for holes in [false, true] {
        let beyond = u64::from(rows + 3) << 32 | 1;
        let dead = [0, 3, beyond, 1 << 32, 2, u64::MAX, u64::MAX - 1, u64::MAX << 32];
        let mut view = world.lookup_mut::<C>();
        for entity in dead.map(Entity::from_bits) {
            assert!(view.get(entity).is_err() && view.get_mut(entity).is_err(), "{entity}");
        }
        for (&entity, i) in entities.iter().zip(0..rows + 3).rev() {
            let is_hole = holes && i % 3 == 0 && i < rows;
            assert_eq!(view.get(entity).ok(), Some(&make(i)).filter(|_| !is_hole), "row {i}");
            let written = view.get_mut(entity).map(|cell| *cell = make(i + 1));
            assert_eq!(written.is_err(), is_hole, "row {i}");
        }
        for (&entity, i) in entities.iter().zip(0..) {
            let found = world.get::<C>(entity);
            assert!(found.is_err() || found == Ok(&make(i + 1)), "row {i}");
            let _ = world.get_mut::<C>(entity).map(|cell| *cell = make(i));
        }
        entities.extend(world.spawn_batch((rows..rows + 3).map(|i| (make(i), Other))).to_vec());
        for &entity in entities[..rows as usize].iter().step_by(3) {
            let _ = world.despawn(entity);
        }
        assert_eq!(world.check(), Ok(()), "holes: {holes}");
    }
}

#[test]
fn a_view_writes_rows_of_any_size_in_chunks_of_any_number() {
    // Chunks of one row, of three, of 256, of 1,360 and of 4,096; full at the end, or not.
    written_through_a_view(4, |i| Page([i.to_le_bytes()[0]; 4096]));
    written_through_a_view(10, |i| Mega([i.to_le_bytes()[0]; 1300]));
    written_through_a_view(if cfg!(miri) { 256 } else { 1024 }, |i| Sixteen([i; 4]));
    written_through_a_view(64, |i| Line([i; 16]));
    let many = if cfg!(miri) { 40 } else { 8192 };
    written_through_a_view(many, |i| Odd([i.to_le_bytes()[0]; 3]));
    written_through_a_view(many, |_| Tag);
}

#[test]
fn edges_and_plans_of_worlds_that_trade_places_stay_apart() {
    let mut worlds = [small_chunks(), World::new(), World::new()];
    for round in 0..if cfg!(miri) { 6 } else { 9 } {
        for (world, i) in worlds.iter_mut().zip(0u8..) {
            let number = u32::from(i) * 100 + round;
            let entity = world.spawn((Four(number), Odd([i; 3])));
            world.insert(entity, (Tag, Line([number; 16]))).expect("alive");
            world.insert(entity, Line([number + 1; 16])).expect("alive");
            assert_eq!(world.remove::<Line>(entity), Ok(Line([number + 1; 16])));
            let old = world.exchange::<(Four, Tag), _>(entity, (Sixteen([number; 4]), Other));
            assert_eq!(old, Ok((Four(number), Tag)));
            assert!(
                world
                    .query_mut::<&mut Odd>()
                    .iter_mut()
                    .flatten()
                    .all(|odd| odd.0 == [odd.0[0]; 3])
            );
            assert_eq!(world.get::<Sixteen>(entity), Ok(&Sixteen([number; 4])));
            assert_eq!(world.check(), Ok(()));
        }
        worlds.rotate_left(1);
        let last = std::mem::take(&mut worlds[2]);
        let [first, second, third] = &mut worlds;
        std::mem::swap(first, second);
        *third = if round == 4 { World::new() } else { last };
    }
}

#[test]
fn a_world_asked_for_impossible_room_says_so() {
    let mut world = World::builder().entities_max(100).build();
    assert!(world.reserve::<Four>(usize::MAX).is_err());
    assert!(world.reserve::<Four>(101).is_err());
    world.reserve::<Four>(100).expect("a hundred may live");
}

/// Rows of `{Four}` and of `{Four, Tag}`, given both components at once.
fn overwritten_and_tagged(source: u32, target: u32) {
    let mut world = small_chunks();
    let mut entities = world.spawn_batch((0..source).map(Four)).to_vec();
    entities.extend_from_slice(world.spawn_batch((0..target).map(|i| (Four(i), Tag))));
    let changed = world.matching::<&Four>().without::<Tag>().insert((Four(7), Tag));
    assert_eq!(changed, Ok(source as usize), "{source} to {target}");
    assert_eq!(world.check(), Ok(()), "{source} to {target}");
    let expected = |i: u32| if i < source { 7 } else { i - source };
    for (i, &entity) in (0..).zip(&entities) {
        assert_eq!(
            world.get::<Four>(entity),
            Ok(&Four(expected(i))),
            "{i} of {source} to {target}"
        );
    }
    std::hint::black_box(sum_of_padded(&world));
}

#[test]
fn rows_that_fill_the_targets_last_chunk_get_the_values_that_came_with_a_tag() {
    let mut world = small_chunks();
    world.spawn_batch((0..1500).map(Four));
    let capacity = u32::try_from(world.query::<&Four>().iter().next().expect("a chunk").len());
    let capacity = capacity.expect("rows of a chunk");
    if cfg!(miri) {
        return overwritten_and_tagged(capacity + 3, 5);
    }
    for source in [3, capacity + 3, 2 * capacity, 2 * capacity - 1] {
        for target in [0, 5, capacity - 2, capacity, capacity + 17] {
            overwritten_and_tagged(source, target);
        }
    }
}

/// Numbers that look random.
struct Random(u32);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) % end
    }
}

/// One change of a world whose chunks have 63 rows, four vectors. Single rows come and go between
/// changes of many, which end, move, replace or copy the vector that was prepared last.
fn change_few_rows(world: &mut World, entities: &mut Vec<Entity>, random: &mut Random) {
    let some = 1 + random.below(18);
    let any = random.below(entities.len().try_into().expect("few entities")) as usize;
    let entity = entities[any];
    match random.below(17) {
        0..5 if entities.len() < 150 => {
            entities.extend((0..some).map(|i| world.spawn(Line([i; 16]))));
        }
        5 => entities.extend(world.spawn_batch((0..some).map(|_| (Line([1; 16]), Tag))).to_vec()),
        6 => entities.extend(
            world.spawn_columns(&vec![Line([1; 16]); some as usize][..]).expect("room").to_vec(),
        ),
        7 => world.insert(entity, Tag).expect("alive"),
        8 => drop(world.remove::<Tag>(entity)),
        9 => drop(world.matching::<&Line>().without::<Tag>().insert(Tag)),
        10 => drop(world.matching::<&Line>().remove::<Tag>()),
        11 => drop(world.memory_mut().compact(usize::MAX)),
        12 => world.reserve::<Line>(some as usize).expect("room"),
        13 => {
            let mut other = small_chunks();
            other.spawn_batch((0..some).map(|i| Line([i; 16])));
            let merged = world.merge(other).expect("the worlds have one chunk size");
            entities.extend(merged.iter().map(|(_, new)| new));
        }
        14 => entities.extend(world.instantiate(entity, some as usize).expect("alive").to_vec()),
        _ => {
            for _ in 0..some.min(u32::try_from(entities.len() - 1).expect("few entities")) {
                let at = random.below(entities.len().try_into().expect("few entities")) as usize;
                world.despawn(entities.swap_remove(at)).expect("alive");
            }
        }
    }
}

#[test]
fn padding_is_initialised_after_any_history_of_single_rows() {
    let (seeds, steps) = if cfg!(miri) { (1, 100) } else { (20, 300) };
    for seed in 0..seeds {
        let (mut world, mut random) = (small_chunks(), Random(seed));
        let mut entities = vec![world.spawn(Line([0; 16]))];
        let mut saved = (world.snapshot().expect("it has no shared values"), entities.clone());
        for step in 0..steps {
            match random.below(20) {
                0 => saved = (world.snapshot().expect("no shared values"), entities.clone()),
                1 => {
                    world.restore(&saved.0).expect("it is a state of this world");
                    entities.clone_from(&saved.1);
                }
                _ => change_few_rows(&mut world, &mut entities, &mut random),
            }
            let lines = world.query::<&Line>().padded();
            std::hint::black_box(lines.iter().flatten().fold(0, |sum, line| sum ^ line.0[0]));
            assert_eq!(world.len(), entities.len(), "seed {seed}, step {step}");
            if !cfg!(miri) {
                assert_eq!(world.check(), Ok(()), "seed {seed}, step {step}");
            }
        }
        assert_eq!(world.check(), Ok(()), "seed {seed}");
    }
}

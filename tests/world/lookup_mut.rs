//! Random writes: `lookup_mut` finds the same rows as `get_mut`, and stamps the same columns.

use phalanx::prelude::*;

use crate::common::components::{Four, Hundred, Line, Other, Tag, Twelve, small_world, sound};
use crate::common::world;

/// The numbers of the archetypes and chunks in which `C` has changed.
fn changed<C: Component>(world: &World, since: Version) -> Vec<(usize, usize)> {
    let chunks = world.query::<&C>().changed_since(since).chunks();
    chunks.map(|chunk| (chunk.archetype(), chunk.index())).collect()
}

#[test]
fn every_row_of_several_archetypes_is_written_and_read_back() {
    let mut world = small_world();
    let many = if cfg!(miri) { 400 } else { 3_000 };
    let mut entities = world.spawn_batch((0..many).map(|i| (Four(i), Twelve([i; 3])))).to_vec();
    entities.extend(world.spawn_batch((many..many + 10).map(|i| (Four(i), Hundred([i; 25])))));
    entities.push(world.spawn((Four(many + 10), Line([1; 16]), Tag)));
    entities.extend(world.spawn_batch((many + 11..2 * many).map(Four)));
    let others = world.spawn_batch((0..10).map(|i| Twelve([i; 3]))).to_vec();
    let step = if cfg!(miri) { 97 } else { 1 };
    let mut fours = world.lookup_mut::<Four>();
    for &entity in entities.iter().rev().step_by(step) {
        let value = fours.get(entity).expect("it has one").0;
        fours.get_mut(entity).expect("it has one").0 = value + 10_000;
        assert_eq!(fours.get(entity).ok(), Some(&Four(value + 10_000)));
    }
    assert!(others.iter().all(|&other| fours.get_mut(other).is_err()));
    for (number, &entity) in (0u32..).zip(&entities).step_by(if cfg!(miri) { 13 } else { 1 }) {
        let written = (entities.len() - 1 - number as usize).is_multiple_of(step);
        let expected = number + if written { 10_000 } else { 0 };
        assert_eq!(world.get::<Four>(entity), Ok(&Four(expected)));
        assert_eq!(world.lookup::<Four>().get(entity).ok(), Some(&Four(expected)));
    }
    sound(&world);
}

#[test]
fn the_dead_the_foreign_and_the_made_up_are_not_written() {
    for several in [false, true] {
        let mut world = world();
        let entities = world.spawn_batch((0..100).map(Four)).to_vec();
        if several {
            world.spawn((Four(100), Twelve([0; 3])));
        }
        let bare = world.spawn(Tag);
        let reserved = world.reserve_entity().expect("room");
        world.despawn(entities[99]).expect("alive");
        let reused = world.spawn(Four(7));
        assert_eq!(reused.index(), entities[99].index(), "of another generation");
        let before = world.version();
        let mut fours = world.lookup_mut::<Four>();
        let made_up = [0, 2, u64::MAX, 1 << 63, 0x0000_0001_0000_0002, 0xffff_ffff_0000_0001];
        let made_up = made_up.map(Entity::from_bits);
        let no_one = [Entity::NULL, bare, reserved, entities[99]].into_iter().chain(made_up);
        for entity in no_one {
            assert_eq!(fours.get(entity).ok(), None, "{entity}");
            assert_eq!(fours.get_mut(entity).ok(), None, "{entity}");
        }
        assert_eq!(world.query::<&Four>().changed_since(before).iter().count(), 0);
        assert_eq!(world.lookup_mut::<Four>().get_mut(reused).ok(), Some(&mut Four(7)));
        assert!(world.lookup_mut::<Twelve>().get_mut(entities[0]).is_err());
        assert!(world.lookup_mut::<Line>().get_mut(entities[0]).is_err(), "no entity has one");
        sound(&world);
    }
}

#[test]
fn a_write_stamps_its_column_of_its_chunk_and_a_read_nothing() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    // Three chunks of 256 rows and one of 20.
    let entities = world.spawn_batch((0..788).map(|i| (Four(i), Twelve([i; 3])))).to_vec();
    let tagged = world.spawn((Four(0), Twelve([0; 3]), Tag));
    let before = world.version();
    let fours = world.lookup_mut::<Four>();
    let step = if cfg!(miri) { 50 } else { 1 };
    assert!(entities.iter().step_by(step).all(|&entity| fours.get(entity).is_ok()));
    assert_eq!(changed::<Four>(&world, before), [], "they were read");
    let mut fours = world.lookup_mut::<Four>();
    for row in [300, 787, 301, 300] {
        fours.get_mut(entities[row]).expect("alive").0 += 1;
    }
    assert_eq!(changed::<Four>(&world, before), [(0, 1), (0, 3)]);
    assert_eq!(changed::<Twelve>(&world, before), []);
    let between = world.version();
    let mut fours = world.lookup_mut::<Four>();
    fours.get_mut(tagged).expect("alive").0 += 1;
    fours.get_mut(entities[0]).expect("alive").0 += 1;
    assert_eq!(changed::<Four>(&world, between), [(0, 0), (1, 0)], "each view stamps anew");
    assert!(world.version() > between, "the clock went on");
    assert_eq!(changed::<Four>(&world, world.version()), []);
    sound(&world);
}

#[test]
fn components_without_bytes_are_lent_and_stamped_too() {
    let mut world = world();
    let (a, b, c) = (world.spawn(Tag), world.spawn((Tag, Four(1))), world.spawn(Other));
    let before = world.version();
    let mut tags = world.lookup_mut::<Tag>();
    *tags.get_mut(a).expect("there") = Tag;
    assert_eq!(tags.get(b).ok(), Some(&Tag));
    assert_eq!(tags.get_mut(c).ok(), None);
    assert_eq!(changed::<Tag>(&world, before), [(0, 0)]);
    let lookup = world.lookup::<Tag>();
    assert_eq!([a, b, c].map(|entity| lookup.get(entity).is_ok()), [true, true, false]);
}

#[test]
fn a_world_whose_rows_are_gone_has_nothing_to_find() {
    let mut world = world();
    assert!(world.lookup_mut::<Four>().get_mut(Entity::NULL).is_err(), "never registered");
    let entity = world.spawn((Four(1), Tag));
    world.remove::<Tag>(entity).expect("it has one");
    assert_eq!(world.lookup_mut::<Four>().get_mut(entity).ok(), Some(&mut Four(1)), "it has moved");
    world.despawn(entity).expect("alive");
    assert!(world.lookup_mut::<Four>().get_mut(entity).is_err());
    assert!(world.lookup::<Four>().get(entity).is_err());
}

/// Spawns `(Four(0), …)` in a system whose share of the ids lies far beyond the ids in use.
fn spawn_far(world: &mut World, count: u32) -> Vec<Entity> {
    let mut schedule = Schedule::new();
    schedule.threads(1);
    for _ in 0..40 {
        schedule.add(|_: Commands| ());
    }
    schedule.add(move |mut commands: Commands| {
        (0..count).for_each(|i| _ = commands.spawn(Four(i)));
    });
    schedule.run(world).expect("no system fails");
    let rows = world.query::<(Entity, &Four)>().without::<Tag>();
    rows.rows().map(|(entity, _)| entity).collect()
}

#[test]
fn entities_with_far_ids_are_found_read_and_written() {
    let mut world = World::new();
    let fars = spawn_far(&mut world, if cfg!(miri) { 15 } else { 400 });
    let last = fars.last().expect("it spawned some").index();
    assert!(last as usize > 20 * fars.len(), "index {last} is not far");
    // One archetype has the component, then two.
    for others in [0, 1] {
        let before = world.version();
        world.spawn_batch(std::iter::repeat_n((Four(9), Tag), others));
        let mut fours = world.lookup_mut::<Four>();
        for (&entity, i) in fars.iter().zip(0..) {
            assert_eq!(fours.get(entity).ok(), Some(&Four(i)));
            fours.get_mut(entity).expect("it has one").0 += 10;
            assert_eq!(fours.get(entity).ok(), Some(&Four(i + 10)));
            *fours.get_mut(entity).expect("it has one") = Four(i);
            let stale = Entity::from_bits(entity.to_bits() + 1);
            assert!(fours.get(stale).is_err() && fours.get_mut(stale).is_err(), "{stale}");
        }
        assert_eq!(changed::<Four>(&world, before).len(), 1 + others, "written chunks are stamped");
        let fours = world.lookup::<Four>();
        assert!(fars.iter().zip(0..).all(|(&entity, i)| fours.get(entity).ok() == Some(&Four(i))));
    }
    sound(&world);
}

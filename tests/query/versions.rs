//! Change versions: the calls that stamp, the calls that do not, and the rows that a stamp follows.

use phalanx::prelude::*;

use crate::common::components::{Byte, Four, Other, Tag, Twelve, sound};
use crate::common::world;

/// Three chunks of 256 rows and one of 20, `(Four(i), Twelve([i; 3]))`.
fn filled() -> (World, Vec<Entity>) {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let entities = world.spawn_batch((0..788).map(|i| (Four(i), Twelve([i; 3])))).to_vec();
    assert_eq!(world.query::<&Four>().iter().count(), 4);
    (world, entities)
}

/// The numbers of the chunks in which `C` has changed.
fn changed<C: Component>(world: &World, since: Version) -> Vec<usize> {
    world.query::<(&C,)>().changed_since::<C>(since).chunks().map(|c| c.index()).collect()
}

/// The numbers of the chunks in which rows arrived.
fn added(world: &World, since: Version) -> Vec<usize> {
    world.query::<(&Four,)>().filter_since::<Arrived>(since).chunks().map(|c| c.index()).collect()
}

/// The numbers of the chunks in which rows were added or removed.
fn ordered(world: &World, since: Version) -> Vec<usize> {
    let chunks = world.query::<(&Four,)>().chunks();
    chunks.filter(|c| c.order_version() > since).map(|c| c.index()).collect()
}

#[track_caller]
fn nothing_changed(world: &World, since: Version) {
    assert!(changed::<Four>(world, since).is_empty(), "no Four");
    assert!(changed::<Twelve>(world, since).is_empty(), "no Twelve");
    assert!(added(world, since).is_empty(), "none arrived");
    assert!(ordered(world, since).is_empty(), "none moved");
}

#[test]
fn reading_leaves_every_version_also_in_parallel() {
    let (mut world, entities) = filled();
    let before = world.version();
    assert_eq!(world.query::<(&Four, &Twelve)>().iter().count(), 4);
    assert_eq!(world.query_mut::<(&Four, Option<&Twelve>)>().rows().count(), 788);
    assert_eq!(world.query_mut::<&Four>().chunks().count(), 4);
    world.query_mut::<&Four>().for_each_chunk(|_| ());
    world.query_mut::<&Four>().par().for_each_chunk(|_| ());
    let _ = (world.get::<Four>(entities[0]), world.lookup::<Twelve>().get(entities[9]));
    let _ = (world.query_mut::<&mut Four>().count_rows(), world.query_mut::<&mut Four>());
    nothing_changed(&world, before);
}

#[test]
fn writing_stamps_exactly_the_written_columns_of_visited_chunks() {
    let (mut world, _) = filled();
    let before = world.version();
    for (four, twelve) in world.query_mut::<(&mut Four, &Twelve)>() {
        four[0].0 = twelve[0].0[0];
    }
    assert_eq!(changed::<Four>(&world, before), [0, 1, 2, 3]);
    assert!(changed::<Twelve>(&world, before).is_empty());
    assert!(added(&world, before).is_empty() && ordered(&world, before).is_empty());
    let between = world.version();
    world.query_mut::<(Option<&mut Twelve>, Option<&mut Byte>, Entity)>().rows().for_each(drop);
    assert_eq!(changed::<Twelve>(&world, between), [0, 1, 2, 3]);
    assert!(changed::<Four>(&world, between).is_empty());
    sound(&world);
}

#[test]
fn an_early_break_stamps_the_visited_chunks_only() {
    let (mut world, _) = filled();
    let before = world.version();
    for (turn, _) in world.query_mut::<&mut Four>().iter_mut().enumerate() {
        if turn == 1 {
            break;
        }
    }
    assert_eq!(changed::<Four>(&world, before), [0, 1]);
    let before = world.version();
    let _ = world.query_mut::<&mut Four>().rows().take(257).count();
    assert_eq!(changed::<Four>(&world, before), [0, 1]);
    let before = world.version();
    let _ = world.query_mut::<&mut Four>().chunks().nth(2);
    assert_eq!(changed::<Four>(&world, before), [0, 1, 2]);
}

#[test]
fn one_row_written_reports_its_chunk_and_no_other() {
    let (mut world, entities) = filled();
    let before = world.version();
    world.get_mut::<Four>(entities[300]).expect("there").0 = 1;
    assert_eq!(changed::<Four>(&world, before), [1]);
    let before = world.version();
    let _ = world.get_disjoint_mut::<Twelve, 2>([entities[787], entities[0]]).expect("two");
    assert_eq!(changed::<Twelve>(&world, before), [0, 3]);
    assert!(changed::<Four>(&world, before).is_empty());
    let before = world.version();
    assert!(world.get_mut::<Byte>(entities[0]).is_err());
    assert!(world.get_mut::<Byte>(Entity::NULL).is_err());
    nothing_changed(&world, before);
}

#[test]
fn an_untouched_body_stamps_nothing_and_a_touched_one_does_also_in_parallel() {
    let (mut world, _) = filled();
    let before = world.version();
    world.query_mut::<(&mut Four, &mut Twelve)>().for_each_chunk(|_| Modified::No);
    nothing_changed(&world, before);
    world.query_mut::<&mut Four>().par().for_each_chunk(|_| Modified::No);
    nothing_changed(&world, before);
    let third = |four: &mut [Four]| match four[0].0 {
        512 => Modified::Yes,
        _ => Modified::No,
    };
    world.query_mut::<&mut Four>().for_each_chunk(third);
    assert_eq!(changed::<Four>(&world, before), [2]);
    let before = world.version();
    world.query_mut::<&mut Four>().par().for_each_chunk(third);
    assert_eq!(changed::<Four>(&world, before), [2]);
    let before = world.version();
    world.query_mut::<&mut Four>().for_each_chunk(|_| ());
    assert_eq!(changed::<Four>(&world, before), [0, 1, 2, 3]);
}

/// A result without bytes, as `()` is, which says that nothing was written.
struct Never;

impl From<Never> for Modified {
    fn from(Never: Never) -> Self {
        Self::No
    }
}

#[test]
fn a_body_says_that_it_wrote_nothing_by_a_result_without_bytes_too() {
    let (mut world, _) = filled();
    let before = world.version();
    world.query_mut::<&mut Four>().for_each_chunk(|_| Never);
    nothing_changed(&world, before);
    world.query_mut::<&mut Four>().par().for_each_chunk(|_| Never);
    nothing_changed(&world, before);
}

#[test]
fn a_filtered_pass_stamps_what_it_visits_only() {
    let (mut world, entities) = filled();
    let v = world.version();
    world.get_mut::<Four>(entities[300]).expect("there").0 = 1;
    let between = world.version();
    // A pass over the changed chunks writes their other column.
    let pass = world.query_mut::<(&mut Twelve, &Four)>().changed_since::<Four>(v);
    assert_eq!(pass.into_iter().count(), 1);
    assert_eq!(changed::<Twelve>(&world, between), [1]);
    assert!(changed::<Four>(&world, between).is_empty());
    // A pass that writes a column that it watches does not trigger itself for ever.
    let seen = world.version();
    assert_eq!(world.query_mut::<&mut Four>().changed_since(v).iter_mut().count(), 1);
    let after = world.version();
    assert_eq!(world.query_mut::<&mut Four>().changed_since(after).iter_mut().count(), 0);
    assert_eq!(changed::<Four>(&world, seen), [1]);
}

#[test]
fn a_reader_of_every_third_frame_sees_three_frames_of_change() {
    let (mut world, entities) = filled();
    let mut last = world.version();
    for frame in 0..9 {
        world.get_mut::<Four>(entities[frame % 3 * 256]).expect("there").0 += 1;
        if frame % 3 == 2 {
            assert_eq!(changed::<Four>(&world, last), [0, 1, 2]);
            last = world.version();
            assert!(changed::<Four>(&world, last).is_empty());
        }
    }
}

#[test]
fn a_move_keeps_the_newer_stamp_and_changes_nothing() {
    let mut world = world();
    let a = world.spawn((Four(1), Twelve([0; 3])));
    let b = world.spawn((Four(2), Twelve([0; 3]), Tag));
    world.get_mut::<Four>(a).expect("there").0 = 5;
    let v = world.version();
    world.get_mut::<Four>(b).expect("there").0 = 6;
    let stamp = |world: &World, entity| {
        let chunks = world.query::<(&Four, &Twelve)>().chunks();
        let home = chunks.into_iter().find(|c| c.entities().contains(&entity)).expect("home");
        (home.version::<Four>(), home.version::<Twelve>(), home.arrival_version())
    };
    let (old_a, old_b) = (stamp(&world, a), stamp(&world, b));
    assert!(old_b.0 > old_a.0, "b is newer");
    // An old row joins a newer chunk, and moves on with the stamp of that chunk.
    world.insert(a, Tag).expect("room");
    assert_eq!(stamp(&world, b).0, old_b.0);
    assert_eq!(stamp(&world, b).1, old_a.1.max(old_b.1));
    assert_eq!(changed::<Four>(&world, world.version()), [] as [usize; 0]);
    assert!(stamp(&world, b).2 > v, "and the chunk says that a row arrived");
    // A new row joins an older chunk and makes it newer.
    let c = world.spawn((Four(3), Twelve([0; 3])));
    let moved = world.version();
    world.insert(b, Other).expect("room");
    world.remove::<(Tag, Other)>(b).expect("there");
    assert!(stamp(&world, c).0 >= old_b.0, "no change is lost");
    assert!(stamp(&world, b).0 <= Some(moved), "and none is invented");
    sound(&world);
}

#[test]
fn only_the_added_component_of_a_move_is_new() {
    let (mut world, entities) = filled();
    let v = world.version();
    world.insert(entities[5], (Byte(1), Twelve([9; 3]))).expect("room");
    assert_eq!(world.query::<&Byte>().changed_since(v).rows().count(), 1);
    let both = world.query::<(Entity, &Twelve)>().changed_since::<Twelve>(v);
    assert_eq!(both.rows().map(|(e, _)| e).collect::<Vec<_>>(), [entities[5]], "overwritten");
    assert!(changed::<Four>(&world, v).is_empty(), "kept");
    assert_eq!(ordered(&world, v), [0, 3, 0], "left, lent its last row, and arrived");
    let v = world.version();
    world.insert(entities[6], Four(1)).expect("room");
    assert_eq!(changed::<Four>(&world, v), [0], "overwritten in place");
    assert!(ordered(&world, v).is_empty(), "no row moved");
}

#[test]
fn a_tag_added_to_or_taken_from_a_whole_chunk_raises_the_order_versions() {
    let mut world = world();
    let entities = world.spawn_batch((0..20).map(|i| (Four(i), Twelve([0; 3])))).to_vec();
    let v = world.version();
    for &entity in &entities {
        world.insert(entity, Tag).expect("room");
    }
    assert!(changed::<Four>(&world, v).is_empty());
    assert_eq!(ordered(&world, v), [0]);
    assert_eq!(added(&world, v), [0]);
    assert_eq!(world.query::<&Tag>().changed_since(v).rows().count(), 20, "the tag is new");
    let v = world.version();
    for &entity in &entities {
        world.remove::<Tag>(entity).expect("there");
    }
    assert!(changed::<Four>(&world, v).is_empty());
    assert_eq!((ordered(&world, v), added(&world, v)), (vec![0], vec![0]));
}

#[test]
fn a_removal_carries_the_stamps_of_the_row_that_fills_the_hole() {
    let (mut world, entities) = filled();
    let v = world.version();
    world.get_mut::<Four>(entities[787]).expect("there").0 = 1;
    world.despawn(entities[3]).expect("alive");
    // The changed row is now in the first chunk, whose versions must report it.
    assert!(changed::<Four>(&world, v).contains(&0));
    assert!(changed::<Twelve>(&world, v).is_empty());
    assert_eq!(ordered(&world, v), [0, 3]);
    let v = world.version();
    let late = world.spawn((Four(0), Twelve([0; 3])));
    world.despawn(entities[4]).expect("alive");
    let here = world.query::<(&Four,)>().filter_since::<Arrived>(v).chunks();
    let here: Vec<_> = here.filter(|c| c.entities().contains(&late)).map(|c| c.index()).collect();
    assert_eq!(here, [0], "what arrived and then moved is found");
    sound(&world);
}

#[test]
fn spawning_stamps_every_column_of_the_chunks_it_fills() {
    let (mut world, _) = filled();
    let v = world.version();
    world.spawn((Four(0), Twelve([0; 3])));
    assert_eq!(changed::<Four>(&world, v), [3]);
    assert_eq!((changed::<Twelve>(&world, v), added(&world, v)), (vec![3], vec![3]));
    let v = world.version();
    world.spawn_batch((0..256).map(|i| (Four(i), Twelve([0; 3]))));
    assert_eq!(changed::<Four>(&world, v), [3, 4]);
    let v = world.version();
    world.spawn_columns((&[Four(0); 300][..], &[Twelve([0; 3]); 300][..])).expect("even");
    assert_eq!(changed::<Twelve>(&world, v), [4, 5]);
    assert_eq!((added(&world, v), ordered(&world, v)), (vec![4, 5], vec![4, 5]));
    let v = world.version();
    world.spawn_at(Entity::from_bits(5_000 << 32 | 1), (Four(0), Twelve([0; 3]))).expect("free");
    assert_eq!(changed::<Four>(&world, v), [5]);
}

#[test]
fn a_chunk_that_comes_back_has_no_old_versions() {
    let (mut world, entities) = filled();
    world.query_mut::<(&mut Four, &mut Twelve)>().iter_mut().for_each(drop);
    for &entity in &entities[256..] {
        world.despawn(entity).expect("alive");
    }
    let v = world.version();
    world.spawn((Four(0), Twelve([0; 3])));
    let now = world.version();
    let chunk = world.query::<(&Four, &Twelve)>().chunks().nth(1).expect("a second chunk");
    assert_eq!((chunk.version::<Four>(), chunk.version::<Twelve>()), (Some(now), Some(now)));
    assert_eq!(changed::<Four>(&world, v), [1]);
    world.clear();
    let v = world.version();
    assert!(changed::<Four>(&world, Version::NEVER).is_empty());
    world.spawn_batch((0..300).map(|i| (Four(i), Twelve([0; 3]))));
    assert_eq!(changed::<Four>(&world, v), [0, 1]);
}

#[test]
fn the_clock_never_goes_back() {
    let (mut world, entities) = filled();
    let mut last = world.version();
    let mut later = |world: &World, least: u64| {
        let now = world.version();
        assert!(now.to_bits() >= last.to_bits() + least, "{now} after {last}");
        last = now;
    };
    let _ = world.query_mut::<&mut Four>().iter_mut().next();
    later(&world, 1);
    world.despawn(entities[0]).expect("alive");
    later(&world, 1);
    world.insert(entities[1], Tag).expect("room");
    later(&world, 1);
    world.clear();
    later(&world, 1);
    world.memory_mut().compact(usize::MAX);
    later(&world, 0);
    world.spawn(());
    later(&world, 1);
}

#[test]
fn handing_out_tags_as_mut_stamps_them_as_well() {
    let mut world = world();
    world.spawn((Four(1), Tag));
    let v = world.version();
    world.query_mut::<(&mut Tag, &Four)>().iter_mut().for_each(drop);
    assert_eq!(world.query::<&Tag>().changed_since(v).iter().count(), 1);
    assert!(changed::<Four>(&world, v).is_empty());
}

//! Change versions under changes by query: kept columns keep their stamps, added columns get new
//! ones.

use phalanx::prelude::*;

use crate::common::components::small_world as world;
use crate::common::components::{Byte, Four, Other, Tag, Twelve, capacity, sound};

/// The versions of each chunk of `{Four, …}`: of the column, of the order, of the arrival.
fn versions(world: &World) -> Vec<(Option<Version>, Version, Version)> {
    let chunks = world.query::<(&Four,)>().chunks();
    chunks.map(|c| (c.version::<Four>(), c.order_version(), c.arrival_version())).collect()
}

/// Three full chunks and a few rows more, and one more stamp in the second chunk.
fn stamped_world() -> (World, Vec<Entity>) {
    let mut world = world();
    world.spawn_batch((0..300).map(Four));
    let full = capacity(&world);
    world.clear();
    let rows = u32::try_from(3 * full + 4).expect("a few chunks");
    let entities = world.spawn_batch((0..rows).map(Four)).to_vec();
    world.get_mut::<Four>(entities[full]).expect("alive");
    (world, entities)
}

#[test]
fn a_tag_for_whole_chunks_raises_order_and_arrival_and_no_column() {
    let (mut world, _) = stamped_world();
    for insert in [true, false] {
        let before = versions(&world);
        let since = world.version();
        if insert {
            world.matching::<&Four>().insert(Tag).expect("a tag fits");
        } else {
            world.matching::<&Four>().remove::<Tag>();
        }
        let (after, now) = (versions(&world), world.version());
        assert!(now > since);
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(*after, (before.0, now, now), "a moved chunk brings its own stamp");
        }
        assert_eq!(before.len(), after.len());
        assert_eq!(world.query::<&Four>().changed_since(since).iter().count(), 0);
        assert_eq!(
            world.query::<&Four>().filter_since::<Arrived>(since).iter().count(),
            after.len()
        );
        let tags = world.query::<(Entity, &Tag)>().changed_since::<Tag>(since);
        assert_eq!(
            tags.into_iter().count(),
            if insert { after.len() } else { 0 },
            "the added column is new"
        );
        sound(&world);
    }
}

#[test]
fn a_column_that_comes_is_new_and_the_others_are_not() {
    let (mut world, entities) = stamped_world();
    let full = capacity(&world);
    let written = world.version();
    let since = world.version();
    world.matching::<&Four>().insert(Twelve([1; 3])).expect("it fits");
    assert_eq!(world.query::<&Four>().changed_since(since).iter().count(), 0);
    let chunks = world.query::<&Four>().iter().count();
    assert_eq!(world.query::<&Twelve>().changed_since(since).iter().count(), chunks);
    assert_eq!(world.query::<&Four>().filter_since::<Arrived>(since).iter().count(), chunks);
    // The last write is still found, in any chunk that has the row now.
    let older = Version::from_bits(written.to_bits() - 1);
    let query = world.query::<(Entity, &Four)>().changed_since::<Four>(older);
    let found: Vec<_> = query.rows().map(|(entity, _)| entity).collect();
    assert!(found.contains(&entities[full]));
    assert!(found.len() < entities.len(), "not everything is reported");
}

#[test]
fn rows_that_fill_up_a_chunk_raise_it_to_their_newer_stamp() {
    let mut world = world();
    world.spawn_batch((0..4).map(|i| (Four(i), Tag)));
    let old = world.version();
    world.spawn_batch((4..8).map(Four));
    let new = world.version();
    world.matching::<&Four>().without::<Tag>().insert(Tag).expect("a tag fits");
    assert_eq!(versions(&world), [(Some(new), world.version(), world.version())]);
    // And must not lower it.
    world.spawn_batch((0..4).map(|i| (Four(i), Other)));
    world.query_mut::<&mut Four>().with::<Tag>().iter_mut().for_each(drop);
    let newest = world.version();
    assert!(old < new && new < newest);
    world.matching::<&Four>().with::<Other>().remove::<Other>();
    world.matching::<&Four>().insert(Tag).expect("a tag fits");
    assert_eq!(versions(&world), [(Some(newest), world.version(), world.version())]);
    sound(&world);
}

#[test]
fn a_value_that_is_overwritten_is_new_and_nothing_arrives() {
    let (mut world, _) = stamped_world();
    let before = versions(&world);
    world.matching::<&Four>().insert(Four(3)).expect("it is there");
    let now = world.version();
    let expected: Vec<_> = before.iter().map(|b| (Some(now), b.1, b.2)).collect();
    assert_eq!(versions(&world), expected);
    // With an added tag the chunk arrives as well.
    world.matching::<&Four>().insert((Four(4), Tag)).expect("a tag fits");
    let now = world.version();
    assert_eq!(versions(&world), vec![(Some(now), now, now); before.len()]);
}

#[test]
fn terms_of_a_change_by_query_stamp_nothing() {
    let (mut world, _) = stamped_world();
    let since = world.version();
    world.matching::<(&mut Four, Entity)>().insert(Tag).expect("a tag fits");
    world.matching::<&mut Four>().insert(Byte(1)).expect("it fits");
    world.matching::<&mut Four>().remove::<(Byte, Tag)>();
    assert_eq!(world.query_mut::<&mut Four>().copies().gather().len(), world.len());
    assert_eq!(world.query::<&Four>().changed_since(since).iter().count(), 0);
}

#[test]
fn chunks_that_stay_keep_their_stamps_but_for_the_order_of_those_that_move_up() {
    let (mut world, entities) = stamped_world();
    let full = capacity(&world);
    // Chunk 1 was written last: it alone leaves.
    let before = versions(&world);
    let since = Version::from_bits(world.version().to_bits() - 1);
    assert_eq!(world.matching::<&Four>().changed_since(since).despawn(), full);
    let (after, now) = (versions(&world), world.version());
    // The last chunk stays last, so chunk 2 fills the gap.
    assert_eq!(after[0], before[0]);
    assert_eq!(after[1], (before[2].0, now, before[2].2));
    assert_eq!(after[2], (before[3].0, now, before[3].2));
    assert_eq!(after.len(), 3);
    assert_eq!(
        world.get::<Four>(entities[2 * full]),
        Ok(&Four(u32::try_from(2 * full).expect("small")))
    );
    // An archetype that has lost all of its rows has changed its order, too.
    world.matching::<&Four>().despawn();
    world.spawn(Four(1));
    assert_eq!(versions(&world).len(), 1);
    sound(&world);
}

#[test]
fn a_chunk_that_steps_back_brings_its_stamps() {
    let (mut world, _) = stamped_world();
    let full = capacity(&world);
    let few: Vec<_> = world.query::<Entity>().iter().flatten().skip(3 * full).copied().collect();
    few.into_iter().for_each(|entity| world.despawn(entity).expect("alive"));
    world.spawn_batch((0..7).map(|i| (Four(i), Tag)));
    let tail = world.version();
    let arrived: Vec<_> = world.query::<(&Tag,)>().chunks().map(|c| c.arrival_version()).collect();
    let before = versions(&world);
    world.matching::<&Four>().without::<Tag>().insert(Tag).expect("a tag fits");
    let (after, now) = (versions(&world), world.version());
    assert_eq!(after.len(), 4);
    for (chunk, stamps) in after[..3].iter().enumerate() {
        assert_eq!(*stamps, (before[chunk].0, now, now));
    }
    assert_eq!(after[3], (Some(tail), now, arrived[0]), "its rows were here before");
    sound(&world);
}

#[test]
fn a_scatter_stamps_what_it_writes_and_nothing_else() {
    let (mut world, _) = stamped_world();
    world.matching::<&Four>().insert(Byte(1)).expect("it fits");
    let since = world.version();
    let fours = world.query::<(&Four, &Byte)>().copies().gather::<Four>();
    let wrong = world.query_mut::<(&mut Four, &mut Byte)>().scatter::<Four>(&fours[1..]);
    assert!(wrong.is_err());
    assert_eq!(world.version(), since, "nothing was written");
    world.query_mut::<(&mut Four, &mut Byte)>().scatter::<Four>(&fours).expect("one a row");
    assert_eq!(world.query::<&Byte>().changed_since(since).iter().count(), 0);
    let chunks = world.query::<&Four>().iter().count();
    assert_eq!(world.query::<&Four>().changed_since(since).iter().count(), chunks);
    assert_eq!(world.query::<&Four>().filter_since::<Arrived>(since).iter().count(), 0);
    sound(&world);
}

#[test]
fn copies_are_new() {
    let mut world = world();
    let prototype = world.spawn((Four(1), Tag));
    let since = world.version();
    world.instantiate(prototype, 20_000).expect("room");
    let chunks = world.query::<&Four>().iter().count();
    assert_eq!(world.query::<&Four>().changed_since(since).iter().count(), chunks);
    assert_eq!(world.query::<&Tag>().changed_since(since).iter().count(), chunks);
    assert_eq!(world.query::<&Tag>().filter_since::<Arrived>(since).iter().count(), chunks);
    sound(&world);
}

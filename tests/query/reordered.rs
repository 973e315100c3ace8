//! Chunks that have other rows, or rows in other places.

use std::collections::BTreeMap;

use phalanx::prelude::*;
use proptest::prelude::*;

use crate::common::components::{Byte, Four, Tag, Twelve};
use crate::common::effort::effort;

/// The entities of each chunk, by archetype and number.
fn chunks(world: &World) -> BTreeMap<(usize, usize), Vec<Entity>> {
    let chunks = world.query::<Entity>().chunks();
    chunks.map(|chunk| ((chunk.archetype(), chunk.index()), chunk.entities().to_vec())).collect()
}

fn reordered(world: &World, since: Version) -> Vec<(usize, usize)> {
    let chunks = world.query::<Entity>().filter_since::<Reordered>(since).chunks();
    chunks.map(|chunk| (chunk.archetype(), chunk.index())).collect()
}

fn world() -> (World, Vec<Entity>) {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let mut entities = world.spawn_batch((0..2000).map(|i| (Four(i), Byte(0)))).to_vec();
    entities.extend(world.spawn_batch((0..2000).map(|i| (Four(i), Tag))));
    (world, entities)
}

#[test]
fn a_row_that_goes_changes_its_chunk_and_the_last_one() {
    let (mut world, entities) = world();
    let last = world.query::<&Byte>().chunks().count() - 1;
    assert!(last > 1, "{last}");
    let since = world.version();
    world.despawn(entities[0]).unwrap();
    assert_eq!(reordered(&world, since), [(0, 0), (0, last)]);
    assert_eq!(world.query::<Entity>().filter_since::<Arrived>(since).iter().count(), 0);
    let since = world.version();
    world.insert(entities[1], Twelve([0; 3])).unwrap();
    assert_eq!(reordered(&world, since), [(0, 0), (0, last), (2, 0)]);
    let since = world.version();
    world.insert(entities[1], Four(1)).unwrap();
    world.query_mut::<&mut Four>().rows().for_each(|four| four.0 += 1);
    world.memory_mut().compact(usize::MAX);
    assert_eq!(reordered(&world, since), [], "no row came or went");
    assert_eq!(world.matching::<&Four>().filter_since::<Reordered>(since).despawn(), 0);
}

#[test]
fn of_the_last_row_of_an_archetype_no_chunk_tells() {
    let mut world = World::new();
    let entity = world.spawn(Four(1));
    let mut removed = world.cursor::<Removals<Four>>();
    let since = world.version();
    world.despawn(entity).unwrap();
    assert_eq!(reordered(&world, since), []);
    assert_eq!(removed.read(&world).0, [entity], "this tells");
}

#[test]
fn a_system_sees_what_went_since_it_ran() {
    let (mut world, entities) = world();
    world.insert_resource(Vec::<usize>::new());
    let mut schedule = Schedule::new();
    schedule.threads(1);
    let count = |rows: Query<&Four, Reordered>, mut counts: ResMut<Vec<usize>>| {
        counts.push(rows.iter().count());
    };
    schedule.add(count).named("count");
    assert!(schedule.to_string().contains("rows came or went"), "{schedule}");
    schedule.run(&mut world).unwrap();
    schedule.run(&mut world).unwrap();
    world.despawn(entities[0]).unwrap();
    schedule.run(&mut world).unwrap();
    let all = world.query::<&Four>().iter().count();
    assert_eq!(*world.resource::<Vec<usize>>().unwrap(), [all, 0, 2]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { effort(8) }))]

    /// No chunk with other rows is missed, and no unchanged chunk is reported.
    #[test]
    fn chunks_with_other_rows_are_reported(
        steps in proptest::collection::vec((0u8..9, 0usize..4000), 1..if cfg!(miri) { 6 } else { 60 }),
    ) {
        let (mut world, mut entities) = world();
        for (step, at) in steps {
            let (before, since) = (chunks(&world), world.version());
            let entity = entities[at % entities.len()];
            match step {
                0 => _ = world.despawn(entity),
                1 => _ = world.insert(entity, Twelve([1; 3])),
                2 => _ = world.remove::<Four>(entity),
                3 => entities.push(world.spawn((Four(1), Tag))),
                4 => _ = world.despawn_batch(&entities[at / 2..(at / 2 + 50).min(entities.len())]),
                5 => {
                    let marks = world.matching::<&Four>();
                    marks.retain(|four, keep| four.iter().zip(keep).for_each(|(four, keep)| {
                        *keep = four.0 as usize % 100 != at % 100;
                    }));
                }
                6 => _ = world.matching::<&Byte>().changed_since(since).remove::<Byte>(),
                7 => _ = world.matching::<&Four>().filter_since::<Arrived>(since).insert(Tag).unwrap(),
                _ => _ = world.matching::<&Twelve>().remove::<Twelve>(),
            }
            let (after, reported) = (chunks(&world), reordered(&world, since));
            for (place, rows) in &after {
                if before.get(place) != Some(rows) {
                    prop_assert!(reported.contains(place), "{:?} after step {}", place, step);
                }
            }
            let by_version = world.query::<Entity>().chunks().filter(|c| c.order_version() > since);
            let by_version: Vec<_> = by_version.map(|c| (c.archetype(), c.index())).collect();
            prop_assert_eq!(by_version, reported);
        }
    }
}

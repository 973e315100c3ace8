//! Rows that are visited outside of a pass: the row of an entity, the only row, several at a time.

use phalanx::error::NotSingle;
use phalanx::prelude::*;
use phalanx::rows::{Exclusion, RowError};

use crate::common::components::{Byte, Four, Other, Tag, Twelve};

/// Enough rows for several chunks of small rows.
const ROWS: u32 = if cfg!(miri) { 48 } else { 5000 };

/// Entities of four archetypes in turn.
fn mixed(world: &mut World) -> Vec<Entity> {
    let spawn = |n: u32| match n % 4 {
        0 => world.spawn((Four(n), Twelve([n; 3]))),
        1 => world.spawn((Four(n), Twelve([n; 3]), Tag)),
        2 => world.spawn((Four(n), Byte(1))),
        _ => world.spawn(Byte(2)),
    };
    (0..ROWS).map(spawn).collect()
}

#[test]
fn the_row_of_each_entity_is_that_of_the_pass() {
    let mut world = crate::common::world();
    let all = mixed(&mut world);
    let query = world.query::<(Entity, &Four, Option<&Byte>)>().without::<Tag>();
    let of_pass: Vec<_> =
        world.query::<(Entity, &Four, Option<&Byte>)>().without::<Tag>().rows().collect();
    for row in &of_pass {
        assert_eq!(query.get(row.0).as_ref(), Ok(row));
        assert!(query.contains(row.0));
    }
    let excluded = all.iter().filter(|&&entity| query.get(entity).is_err()).count();
    assert_eq!(excluded + of_pass.len(), all.len());
}

#[test]
fn a_row_is_written_and_only_its_chunk_is_stamped() {
    let mut world = crate::common::world();
    let all = mixed(&mut world);
    let before = world.version();
    let target = all[4 * (all.len() / 8)];
    let mut query = world.query_mut::<(&mut Four, &Twelve)>();
    let (four, twelve) = query.get_mut(target).expect("it has both");
    four.0 += twelve.0[0];
    let expected = 2 * 4 * (ROWS / 8);
    assert_eq!(query.get_mut(target).map(|row| row.0.0), Ok(expected));
    assert_eq!(world.get::<Four>(target), Ok(&Four(expected)));
    let changed = world.query::<(Entity, &Four)>().changed_since::<Four>(before);
    assert_eq!(changed.iter().count(), 1, "one chunk");
    assert!(changed.contains(target));
    assert_eq!(world.query::<&Twelve>().changed_since(before).count_rows(), 0, "only read");
    world.check().expect("sound");
}

#[test]
fn the_reason_for_which_a_query_has_no_row() {
    let mut world = crate::common::world();
    let all = mixed(&mut world);
    let reason = |result: Result<&Four, RowError>| match result {
        Err(RowError::Excluded { reason, .. }) => reason,
        other => panic!("the entity should be excluded: {other:?}"),
    };
    assert_eq!(reason(world.query::<&Four>().get(all[3])), Exclusion::Lacks(Four::NAME));
    let untagged = world.query::<&Four>().without::<Tag>();
    assert_eq!(reason(untagged.get(all[1])), Exclusion::Has(Tag::NAME));
    let either = world.query::<&Four>().filter::<AnyOf<(Tag, Other)>>();
    assert_eq!(reason(either.get(all[0])), Exclusion::HasNone);
    let unchanged = world.query::<&Four>().changed_since(world.version());
    assert_eq!(reason(unchanged.get(all[0])), Exclusion::Unchanged);
    let text = world.query::<&Four>().get(all[3]).expect_err("it has none").to_string();
    assert!(text.contains(Four::NAME) && text.contains(&all[3].to_string()), "{text}");
    world.despawn(all[0]).expect("alive");
    let query = world.query::<&Four>();
    let dead = query.get(all[0]);
    assert!(matches!(dead, Err(RowError::NoSuchEntity(_))), "{dead:?}");
    for entity in [Entity::NULL, all[0]] {
        assert!(!world.query::<Entity>().contains(entity));
        assert!(world.query_mut::<&mut Four>().get_mut(entity).is_err());
    }
}

#[test]
fn an_error_stamps_nothing_and_leaves_the_clock() {
    let mut world = crate::common::world();
    let all = mixed(&mut world);
    let (before, hash) = (world.version(), world.hash());
    assert!(world.query_mut::<(&mut Four, &Tag)>().get_mut(all[0]).is_err());
    assert!(world.query_mut::<&mut Four>().single().is_err());
    assert_eq!((world.version(), world.hash()), (before, hash));
}

#[test]
fn systems_find_rows_of_others() {
    fn count(victims: Query<(Entity, &Four)>, mut bytes: Query<&mut Byte, Without<Tag>>) {
        for (entity, four) in victims.rows() {
            if let Ok(byte) = bytes.get_mut(entity) {
                byte.0 = four.0.to_le_bytes()[0];
            }
        }
    }
    let mut world = crate::common::world();
    let all = mixed(&mut world);
    let mut schedule = Schedule::new();
    schedule.add(count);
    let _ = schedule.run(&mut world);
    for (n, &entity) in (0..ROWS).zip(&all) {
        let expected = match n % 4 {
            2 => Some(Byte(n.to_le_bytes()[0])),
            3 => Some(Byte(2)),
            _ => None,
        };
        assert_eq!(world.get::<Byte>(entity).ok().copied(), expected);
    }
}

#[test]
fn single_has_one_row_and_says_how_many_there_are_otherwise() {
    let mut world = crate::common::world();
    let rows = |result: Result<&Four, NotSingle>| result.expect_err("not one").rows;
    assert_eq!(rows(world.query::<&Four>().single()), 0);
    world.spawn((Four(7), Tag));
    assert_eq!(world.query::<&Four>().single(), Ok(&Four(7)));
    let before = world.version();
    world.spawn((Four(8), Byte(1)));
    assert_eq!(rows(world.query::<&Four>().single()), 2);
    assert_eq!(world.query::<&Four>().filter_since::<Arrived>(before).single(), Ok(&Four(8)));
    world.query_mut::<&mut Four>().with::<Tag>().single().expect("one has the tag").0 += 1;
    assert_eq!(world.query::<&Four>().with::<Tag>().single(), Ok(&Four(8)));
    let none = world.query::<&Four>().without::<Four>().single().expect_err("none").to_string();
    assert!(none.contains("Four") && none.contains("0 rows"), "{none}");
}

#[test]
fn combinations_are_all_choices_once_and_in_order() {
    let mut world = crate::common::world();
    let rows = 6u32;
    world.spawn_batch((0..rows - 1).map(Four));
    world.spawn((Four(rows - 1), Tag));
    let pairs: Vec<_> =
        world.query::<&Four>().rows().combinations().map(|[a, b]| (a.0, b.0)).collect();
    let mut expected = Vec::new();
    for a in 0..rows {
        expected.extend((a + 1..rows).map(|b| (a, b)));
    }
    assert_eq!(pairs, expected);
    let triples: Vec<_> = world.query::<&Four>().rows().combinations::<3>().collect();
    assert_eq!(triples.len(), 20);
    assert!(triples.iter().all(|[a, b, c]| a.0 < b.0 && b.0 < c.0));
    assert_eq!(world.query::<&Four>().rows().combinations::<6>().count(), 1);
    assert_eq!(world.query::<&Four>().rows().combinations::<7>().count(), 0, "there are six");
    assert_eq!(
        world.query::<&Four>().rows().combinations::<0>().count(),
        1,
        "one way to choose none"
    );
    assert_eq!(world.query::<&Byte>().rows().combinations::<2>().count(), 0);
}

#[test]
fn a_lookup_of_rows_reads_and_writes_many_with_one_version() {
    let mut world = crate::common::world();
    let all = mixed(&mut world);
    let before = world.version();
    let mut query = world.query_mut::<(&mut Four, &Twelve)>().without::<Tag>();
    let mut lookup = query.lookup_mut();
    let mut written = 0;
    for &entity in all.iter().rev() {
        if let Ok((four, twelve)) = lookup.get_mut(entity) {
            four.0 += twelve.0[0] + 1;
            written += 1;
        }
    }
    assert_eq!(written, all.len().div_ceil(4));
    assert_eq!(world.version().to_bits(), before.to_bits() + 1);
    let query = world.query::<&Four>();
    let lookup = query.lookup();
    for (n, &entity) in (0..ROWS).zip(&all) {
        match n % 4 {
            0 => assert_eq!(lookup.get(entity), Ok(&Four(2 * n + 1))),
            3 => assert!(lookup.get(entity).is_err()),
            _ => assert_eq!(lookup.get(entity), Ok(&Four(n))),
        }
    }
}

#[test]
fn a_lookup_that_finds_no_row_leaves_the_clock() {
    let mut world = crate::common::world();
    let all = mixed(&mut world);
    let before = world.version();
    let mut query = world.query_mut::<(&mut Four, &Other)>();
    let mut lookup = query.lookup_mut();
    assert!(all.iter().all(|&entity| lookup.get_mut(entity).is_err()));
    assert_eq!(world.version(), before);
}

#[test]
fn a_query_without_terms_counts_and_knows_who_passes() {
    let mut world = crate::common::world();
    let all = mixed(&mut world);
    let tagged = world.query::<()>().with::<Tag>();
    assert_eq!(tagged.count_rows(), all.len().div_ceil(4));
    assert_eq!(tagged.rows().count(), all.len().div_ceil(4));
    let tagged = world.query::<()>().with::<Tag>();
    assert!(tagged.contains(all[1]) && !tagged.contains(all[0]));
    assert_eq!(tagged.get(all[1]), Ok(()));
    assert_eq!(world.query::<()>().count_rows(), all.len());
    assert_eq!(
        world.query::<()>().without::<Four>().with::<Tag>().single().map_err(|e| e.rows),
        Err(0)
    );
    let chunks = world.query::<()>().chunks().map(|chunk| chunk.len()).sum::<usize>();
    assert_eq!(chunks, all.len());
    fn count(tagged: Query<(), With<Tag>>, mut rows: ResMut<usize>) {
        *rows = tagged.count_rows();
    }
    let mut schedule = Schedule::new();
    schedule.add(count);
    world.insert_resource(0usize);
    schedule.run(&mut world).expect("no error");
    assert_eq!(*world.resource::<usize>().expect("inserted"), all.len().div_ceil(4));
}

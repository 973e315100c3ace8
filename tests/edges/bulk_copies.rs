//! Components as dense runs, and copies of an entity.

use phalanx::prelude::*;
use phalanx::{
    SpawnError,
    error::{NoSuchEntity, OutOfIds, ScatterError},
};

use crate::components::small_world as world;
use crate::components::{Big, Four, Id, Line, Nth, One, Other, Tag, Twelve, capacity, sound};

#[test]
fn what_is_gathered_is_in_the_order_of_the_query() {
    let mut world = world();
    world.spawn_batch((0..3_000).map(|i| (Four(i), Twelve([i; 3]))));
    world.spawn_batch((3_000..3_010).map(|i| (Four(i), Tag)));
    world.spawn_batch((0..100).map(|_| Tag));
    world.spawn_batch((3_010..7_000).map(Four));
    let by_rows: Vec<_> = world.query::<&Four>().rows().copied().collect();
    assert_eq!(world.query::<&Four>().gather(), by_rows);
    assert_eq!(world.query_mut::<&mut Four>().gather(), by_rows);
    assert_eq!(world.query::<(Entity, &Four)>().padded().gather::<Four>(), by_rows);
    let tags = world.query::<(&Tag, Option<&Four>)>();
    assert_eq!(tags.gather::<Tag>().len(), 110);
    let mut behind = vec![Four(9)];
    world.query::<&Four>().with::<Tag>().gather_into(&mut behind);
    assert_eq!(behind[0], Four(9));
    assert_eq!(behind[1..], by_rows[3_000..3_010]);
}

#[test]
fn offsets_are_the_first_rows_of_chunks_and_the_end() {
    let mut world = world();
    let rows = if cfg!(miri) { 500 } else { 9_000 };
    world.spawn_batch((0..rows).map(|i| (Four(i), Big([i; 250]))));
    world.spawn_batch((0..rows).map(Four));
    let entity = world.spawn((Four(1), Tag));
    let since = world.version();
    let query = world.query::<(Entity, &Four)>().padded();
    let offsets = query.offsets();
    let firsts: Vec<_> = query.chunks().map(|c| (c.first_row(), c.len())).collect();
    assert_eq!(offsets.len(), firsts.len() + 1);
    for (rows, (first, len)) in offsets.windows(2).zip(&firsts) {
        assert_eq!((rows[0], rows[1]), (*first, first + len));
    }
    world.get_mut::<Four>(entity).expect("alive");
    let changed = || world.query::<&Four>().changed_since(since);
    assert_eq!(changed().offsets(), [0, 1]);
    assert_eq!(
        (changed().count_rows(), changed().into_iter().count()),
        (1, 1),
        "rows are those of offsets"
    );
    let by_rows = |query: Query<Entity>| query.rows().collect::<Vec<_>>();
    assert_eq!(world.query::<Entity>().entities(), by_rows(world.query()));
    let arrived = world.query::<Entity>().arrived_since(since);
    assert_eq!(
        arrived.entities(),
        world.query::<Entity>().arrived_since(since).rows().collect::<Vec<_>>()
    );
}

#[test]
fn what_is_scattered_comes_back() {
    let mut world = world();
    world.spawn_batch((0..3_000).map(|i| (Four(i), Twelve([i; 3]), Tag)));
    world.spawn_batch((3_000..7_000).map(Four));
    let mut fours = world.query::<&Four>().gather();
    fours.iter_mut().for_each(|four| four.0 += 1);
    world.query_mut::<&mut Four>().scatter(&fours).expect("one a row");
    assert_eq!(world.query::<&Four>().gather(), fours);
    assert!(
        world.query::<&Twelve>().iter().flatten().zip(0..).all(|(twelve, i)| twelve.0 == [i; 3])
    );
    let tagged = world.query_mut::<(&mut Four, &Tag)>().scatter::<Four>(&fours[..2_999]);
    assert_eq!(tagged, Err(ScatterError { rows: 3_000, values: 2_999 }));
    let text = tagged.expect_err("too few").to_string();
    assert_eq!(text, "2999 values cannot be scattered to 3000 rows: give one per row");
    world.query_mut::<&mut Tag>().scatter(&[Tag; 3_000]).expect("one a row, without bytes");
    assert_eq!(world.query::<&Four>().gather(), fours);
    sound(&world);
}

#[test]
fn copies_of_every_number_are_equal() {
    let mut world = world();
    let prototype = world.spawn((Four(7), Twelve([1, 2, 3]), Tag, Line([9; 16])));
    let others = world.spawn((Four(8), Twelve([4; 3]), Tag, Line([8; 16])));
    let mut born = Vec::new();
    let numbers =
        if cfg!(miri) { vec![0, 1, 17, 80] } else { vec![0, 1, 2, 15, 16, 17, 300, 5_000] };
    for copies in numbers {
        let copied = world.instantiate(prototype, copies).expect("room");
        assert_eq!(copied.len(), copies);
        born.extend_from_slice(copied);
        sound(&world);
    }
    for &entity in &born {
        assert_eq!(world.get(entity), Ok(&Four(7)));
        assert_eq!(world.get(entity), Ok(&Twelve([1, 2, 3])));
        assert_eq!(world.get(entity), Ok(&Line([9; 16])));
        assert!(world.has::<Tag>(entity));
    }
    assert_eq!(world.get(others), Ok(&Four(8)));
    assert_eq!(world.len(), born.len() + 2);
    let again = world.instantiate(born[born.len() - 1], 3).expect("a copy of a copy").to_vec();
    assert!(again.iter().all(|&entity| world.get(entity) == Ok(&Twelve([1, 2, 3]))));
}

#[test]
fn copies_of_nothing_and_of_tags() {
    let mut world = world();
    let many = if cfg!(miri) { 5_000 } else { 70_000 };
    let nothing = world.spawn(());
    let tags = world.spawn((Tag, Other));
    let reserved = world.reserve_entity().expect("room");
    assert_eq!(world.instantiate(nothing, 5_000).map(<[_]>::len), Ok(5_000));
    assert_eq!(world.instantiate(tags, many).map(<[_]>::len), Ok(many));
    assert_eq!(world.instantiate(reserved, 3).map(<[_]>::len), Ok(3), "it lives by now");
    assert_eq!(world.query::<&Other>().count_rows(), many + 1);
    sound(&world);
}

#[test]
fn a_copy_names_whom_the_prototype_named() {
    let mut world = world();
    let target = world.spawn(());
    let prototype = world.spawn(Id(target));
    let copy = world.instantiate(prototype, 1).expect("room")[0];
    assert_eq!(world.get(copy), Ok(&Id(target)));
}

#[test]
fn a_prototype_of_many_columns_is_copied_whole() {
    let mut world = world();
    type All = (Nth<0>, Nth<1>, Nth<2>, Nth<3>, Nth<4>, Nth<5>, Nth<6>, One, Big);
    let all: All = (Nth(0), Nth(1), Nth(2), Nth(3), Nth(4), Nth(5), Nth(6), One(3), Big([5; 250]));
    let prototype = world.spawn(all);
    world.instantiate(prototype, 100).expect("room");
    let rows = world.query::<(&Nth<0>, &Nth<3>, &Nth<6>, &One, &Big)>().rows();
    let expected = (&Nth(0), &Nth(3), &Nth(6), &One(3), &Big([5; 250]));
    assert_eq!(rows.filter(|row| *row == expected).count(), 101);
    assert!(capacity(&world) > 0);
    sound(&world);
}

#[test]
fn a_prototype_that_is_dead_or_has_too_many_copies_leaves_the_world_as_it_was() {
    let mut world = World::builder().entities_max(10).build();
    let prototype = world.spawn(Four(1));
    let blocks = world.memory().block_bytes;
    let exhausted = SpawnError::Exhausted(OutOfIds::InWorld { limit: 10 });
    assert_eq!(world.instantiate(prototype, 10), Err(exhausted));
    assert_eq!(world.instantiate(prototype, usize::MAX), Err(exhausted));
    assert_eq!((world.len(), world.memory().block_bytes), (1, blocks));
    assert_eq!(world.instantiate(prototype, 9).map(<[_]>::len), Ok(9));
    world.despawn(prototype).expect("alive");
    let dead = SpawnError::NoSuchEntity(NoSuchEntity { entity: prototype });
    assert_eq!(world.instantiate(prototype, 1), Err(dead));
    sound(&world);
}

//! Components as dense runs, and copies of an entity.

use phalanx::error::ScatterError;
use phalanx::prelude::*;

use crate::common::components::small_world as world;
use crate::common::components::{Big, Four, Tag, Twelve, sound};

/// Rows of an archetype with more than one chunk, at any size of chunks.
const MANY: u32 = if cfg!(miri) { 300 } else { 3_000 };

#[test]
fn what_is_gathered_is_in_the_order_of_the_query() {
    let mut world = world();
    world.spawn_batch((0..MANY).map(|i| (Four(i), Twelve([i; 3]))));
    world.spawn_batch((MANY..MANY + 10).map(|i| (Four(i), Tag)));
    world.spawn_batch((0..100).map(|_| Tag));
    world.spawn_batch((MANY + 10..2 * MANY).map(Four));
    let by_rows: Vec<_> = world.query::<&Four>().rows().copied().collect();
    assert_eq!(world.query::<&Four>().copies().gather(), by_rows);
    assert_eq!(world.query_mut::<&mut Four>().copies().gather(), by_rows);
    assert_eq!(world.query::<(Entity, &Four)>().padded().copies().gather::<Four>(), by_rows);
    let tags = world.query::<(&Tag, Option<&Four>)>();
    assert_eq!(tags.copies().gather::<Tag>().len(), 110);
    let mut behind = vec![Four(9)];
    world.query::<&Four>().with::<Tag>().copies().gather_into(&mut behind);
    assert_eq!(behind[0], Four(9));
    assert_eq!(behind[1..], by_rows[MANY as usize..][..10]);
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
    let offsets = query.copies().offsets();
    let firsts: Vec<_> = query.chunks().map(|c| (c.first_row(), c.len())).collect();
    assert_eq!(offsets.len(), firsts.len() + 1);
    for (rows, (first, len)) in offsets.windows(2).zip(&firsts) {
        assert_eq!((rows[0], rows[1]), (*first, first + len));
    }
    world.get_mut::<Four>(entity).expect("alive");
    let changed = || world.query::<&Four>().changed_since(since);
    assert_eq!(changed().copies().offsets(), [0, 1]);
    assert_eq!(
        (changed().count_rows(), changed().into_iter().count()),
        (1, 1),
        "rows are those of offsets"
    );
    let by_rows = |query: Query<Entity>| query.rows().collect::<Vec<_>>();
    assert_eq!(world.query::<Entity>().copies().entities(), by_rows(world.query()));
    let arrived = world.query::<Entity>().filter_since::<Arrived>(since);
    assert_eq!(
        arrived.copies().entities(),
        world.query::<Entity>().filter_since::<Arrived>(since).rows().collect::<Vec<_>>()
    );
}

#[test]
fn what_is_scattered_comes_back() {
    let mut world = world();
    let rows = MANY as usize;
    world.spawn_batch((0..MANY).map(|i| (Four(i), Twelve([i; 3]), Tag)));
    world.spawn_batch((MANY..2 * MANY).map(Four));
    let mut fours = world.query::<&Four>().copies().gather();
    fours.iter_mut().for_each(|four| four.0 += 1);
    world.query_mut::<&mut Four>().scatter(&fours).expect("one a row");
    assert_eq!(world.query::<&Four>().copies().gather(), fours);
    assert!(
        world.query::<&Twelve>().iter().flatten().zip(0..).all(|(twelve, i)| twelve.0 == [i; 3])
    );
    let tagged = world.query_mut::<(&mut Four, &Tag)>().scatter::<Four>(&fours[..rows - 1]);
    assert_eq!(tagged, Err(ScatterError { rows, values: rows - 1 }));
    let text = tagged.expect_err("too few").to_string();
    let values = rows - 1;
    assert_eq!(
        text,
        format!("{values} values cannot be scattered to {rows} rows: give one per row")
    );
    world.query_mut::<&mut Tag>().scatter(&[Tag; MANY as usize]).expect("one a row, without bytes");
    assert_eq!(world.query::<&Four>().copies().gather(), fours);
    sound(&world);
}

//! The shapes of queries and the ways to iterate over them.

use phalanx::prelude::*;

use crate::common::components::{Byte, Four, Nth, Other, Tag, Third, Twelve, capacity, sound};
use crate::common::world;

/// The rows of a query, read in every possible way.
fn everything(world: &World) -> Vec<u32> {
    let slices: Vec<u32> =
        world.query::<&Four>().iter().flat_map(|f| f.iter().map(|f| f.0)).collect();
    let rows: Vec<u32> = world.query::<&Four>().rows().map(|f| f.0).collect();
    let mut each = Vec::new();
    world.query::<&Four>().for_each_chunk(|f| each.extend(f.iter().map(|f| f.0)));
    let chunks: Vec<u32> =
        world.query::<&Four>().chunks().flat_map(|c| c.slices()).map(|f| f.0).collect();
    let folded = world.query::<&Four>().iter().fold(Vec::new(), |mut all, f| {
        all.extend(f.iter().map(|f| f.0));
        all
    });
    let mut stepped = Vec::new();
    let mut query = world.query::<(Entity, &Four, Option<&Tag>)>().rows();
    for (_, four, _) in query.by_ref() {
        stepped.push(four.0);
        if stepped.len() == 3 {
            break;
        }
    }
    query.for_each(|(_, four, _)| stepped.push(four.0));
    assert_eq!(rows, slices);
    assert_eq!(each, slices);
    assert_eq!(chunks, slices);
    assert_eq!(folded, slices);
    assert_eq!(stepped, slices);
    slices
}

#[test]
fn all_ways_of_walking_a_query_agree() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    assert!(everything(&world).is_empty());
    for (rows, kind) in [(1, 0), (2_500, 1), (3, 2), (1_024, 3), (0, 4)] {
        let range = (0..rows).map(|i| kind * 10_000 + i);
        match kind {
            0 => drop(world.spawn_batch(range.map(Four)).to_vec()),
            1 => drop(world.spawn_batch(range.map(|i| (Four(i), Tag))).to_vec()),
            2 => drop(world.spawn_batch(range.map(|i| (Four(i), Other))).to_vec()),
            3 => drop(world.spawn_batch(range.map(|i| (Four(i), Tag, Other))).to_vec()),
            _ => drop(world.spawn_batch(range.map(|i| (Four(i), Third))).to_vec()),
        }
    }
    assert_eq!(everything(&world).len(), 3_528);
}

#[test]
fn a_query_is_never_used_up_also_in_parallel() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    world.spawn_batch((0..4 * 1_024).map(|_| Four(0)));
    world.spawn_batch((0..1_024).map(|_| (Four(0), Tag)));
    let mut query = world.query_mut::<&mut Four>();
    for pass in 1..=3 {
        let mut chunks = 0;
        for fours in &mut query {
            fours.iter_mut().for_each(|four| four.0 += 1);
            chunks += 1;
        }
        assert_eq!(chunks, 5, "a loop over `&mut query`, pass {pass}");
        assert_eq!(query.iter_mut().count(), 5);
        // A pass that is abandoned.
        assert!(query.iter_mut().next().is_some());
        query.reborrow().for_each_chunk(|fours| fours.iter_mut().for_each(|four| four.0 += 1));
        query
            .reborrow()
            .par()
            .for_each_chunk(|fours| fours.iter_mut().for_each(|four| four.0 += 1));
        assert_eq!(query.rows_mut().filter(|four| four.0 == 3 * pass).count(), 5 * 1_024);
        assert_eq!(query.reborrow().chunks().map(|chunk| chunk.len()).sum::<usize>(), 5 * 1_024);
        assert_eq!((query.count_rows(), query.copies().entities().len()), (5 * 1_024, 5 * 1_024));
        assert_eq!(query.copies().gather().len(), 5 * 1_024);
        assert_eq!(query.copies().offsets().len(), 6);
    }
    let query = world.query::<&Four>();
    for _ in 0..2 {
        let mut chunks = 0;
        for _ in &query {
            chunks += 1;
        }
        assert_eq!((chunks, query.iter().count()), (5, 5));
    }
    let mut chunks = 0;
    for _ in query {
        chunks += 1;
    }
    assert_eq!(chunks, 5, "by value");
}

#[test]
fn passes_that_read_may_be_under_way_at_the_same_time() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    world.spawn_batch((0..3 * 1_024).map(Four));
    let query = world.query::<&Four>();
    let pairs = query.iter().flat_map(|a| query.iter().map(move |b| (a[0].0, b[0].0)));
    assert_eq!(pairs.count(), 9);
    // A query that could write borrows the world exclusively, and can read as well.
    let query = world.query_mut::<&Four>();
    assert!(query.iter().zip(&query).all(|(a, b)| a.as_ptr() == b.as_ptr()));
}

#[test]
fn a_pass_that_writes_advances_the_clock_when_it_begins() {
    let mut world = world();
    world.spawn_batch((0..3).map(Four));
    let before = world.version();
    let _ = world.query_mut::<&mut Four>();
    let _ = world.query_mut::<&Four>().into_iter();
    assert_eq!(world.version(), before, "a description, and a pass that reads");
    assert_eq!(world.query_mut::<&mut Four>().count_rows(), 3);
    assert_eq!(world.version(), before, "a question");
    let _ = world.query_mut::<&mut Four>().into_iter();
    assert!(world.version() > before, "a pass");
    assert_eq!(world.query::<&Four>().changed_since(before).count_rows(), 0, "nothing was cut");
}

/// Rows of nine archetypes: without a chunk, with one, with several, in turn.
fn patchwork() -> (World, usize) {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let mut four = 0..;
    let mut more = |n: usize| four.by_ref().take(n).map(Four).collect::<Vec<_>>();
    let lens = [1, 0, 1_100, 3, 17, 1_030, 2, 2_050, 1];
    world.spawn_batch(more(lens[0]));
    world.spawn_batch(more(lens[1]).into_iter().map(|f| (f, Tag)));
    world.spawn_batch(more(lens[2]).into_iter().map(|f| (f, Other)));
    world.spawn_batch(more(lens[3]).into_iter().map(|f| (f, Third)));
    world.spawn_batch(more(lens[4]).into_iter().map(|f| (f, Tag, Other)));
    world.spawn_batch(more(lens[5]).into_iter().map(|f| (f, Tag, Third)));
    world.spawn_batch(more(lens[6]).into_iter().map(|f| (f, Other, Third)));
    world.spawn_batch(more(lens[7]).into_iter().map(|f| (f, Byte(1))));
    world.spawn_batch(more(lens[8]).into_iter().map(|f| (f, Byte(1), Tag)));
    (world, lens.iter().sum())
}

/// Takes some items of an iterator and goes on in one of five ways. All slices are held to the end,
/// and each is written. Returns the visited rows.
fn begun_and_gone_on<F: Filter>(
    query: Query<'_, (Entity, &mut Four), F>,
    turns: usize,
    way: u8,
) -> Vec<Entity> {
    let mut slices: Vec<_> = Vec::new();
    let (mut entities, mut rows): (Vec<Entity>, Vec<&mut Four>) = Default::default();
    let mut take = |(entity, four)| {
        entities.push(entity);
        rows.push(four);
    };
    match way {
        0 => {
            let mut iter = query.into_iter();
            slices.extend(iter.by_ref().take(turns));
            iter.for_each(|slice| slices.push(slice));
        }
        1 => {
            let mut iter = query.into_iter();
            slices.extend(iter.by_ref().take(turns));
            slices.extend(iter.by_ref());
            assert!(iter.next().is_none(), "it has ended");
        }
        2 => {
            let mut chunks = query.chunks();
            slices.extend(chunks.by_ref().take(turns).map(|chunk| chunk.slices()));
            chunks.for_each(|chunk| slices.push(chunk.slices()));
        }
        3 => {
            let mut rows = query.rows();
            rows.by_ref().take(40 * turns).for_each(&mut take);
            rows.for_each(take);
        }
        _ => {
            let mut rows = query.rows();
            (0..40 * turns).map_while(|_| rows.next()).for_each(&mut take);
            for row in rows {
                take(row);
            }
        }
    }
    for (ids, fours) in &mut slices {
        fours.iter_mut().for_each(|four| four.0 ^= 1);
        entities.extend_from_slice(ids);
    }
    rows.iter_mut().for_each(|four| four.0 ^= 1);
    entities.sort_unstable();
    entities
}

#[test]
fn whatever_way_a_walk_goes_on_it_visits_each_row_once() {
    let (mut world, len) = patchwork();
    let all: Vec<_> = world.query::<Entity>().iter().flatten().copied().collect();
    let mut expected = all;
    expected.sort_unstable();
    assert_eq!(expected.len(), len);
    for turns in if cfg!(miri) { 3..5 } else { 0..13 } {
        for way in 0..5 {
            let query = world.query_mut::<(Entity, &mut Four)>();
            assert!(begun_and_gone_on(query, turns, way) == expected, "{turns} turns, then {way}");
            let query = world.query_mut::<(Entity, &mut Four)>();
            let query = query.changed_since::<Four>(Version::NEVER);
            assert!(begun_and_gone_on(query, turns, way) == expected, "{turns} turns, then {way}");
        }
    }
    sound(&world);
}

#[test]
fn slices_of_a_padded_query_are_whole_vectors_and_its_rows_are_entities() {
    let (mut world, len) = patchwork();
    let padded = world.query::<&Four>().padded();
    assert!(padded.iter().all(|four| four.len().is_multiple_of(16)), "whole vectors");
    assert!(padded.iter().flatten().count() > len);
    assert_eq!(padded.rows().count(), len);
    let mut padded = world.query_mut::<&mut Four>().padded();
    assert!(padded.iter_mut().all(|four| four.len().is_multiple_of(16)), "whole vectors");
    assert_eq!(padded.rows_mut().count(), len);
    assert!(padded.iter_mut().flatten().count() > len, "again");
}

#[test]
fn an_iterator_that_has_ended_stays_ended() {
    let mut world = world();
    world.spawn_batch((0..3).map(Four));
    let mut iter = world.query::<&Four>().into_iter();
    assert!(iter.next().is_some());
    assert!((0..3).all(|_| iter.next().is_none()));
    let mut chunks = world.query_mut::<&mut Four>().chunks();
    assert_eq!(chunks.by_ref().count(), 1);
    assert!((0..3).all(|_| chunks.next().is_none()));
    let mut rows = world.query_mut::<&mut Four>().rows();
    assert_eq!(rows.by_ref().count(), 3);
    assert!((0..3).all(|_| rows.next().is_none()));
}

#[test]
fn a_query_of_entity_alone_includes_the_entities_of_nothing() {
    let mut world = world();
    let all = [world.spawn(()), world.spawn(Four(1)), world.spawn(Tag), world.spawn(())];
    let mut found: Vec<_> = world.query::<Entity>().iter().flatten().copied().collect();
    found.sort_unstable();
    assert_eq!(found, all);
    assert_eq!(world.query::<(Entity,)>().rows().count(), 4);
    assert_eq!(world.query::<Entity>().without::<Four>().without::<Tag>().rows().count(), 2);
}

#[test]
fn a_query_of_options_only_matches_all() {
    let mut world = world();
    world.spawn_batch((0..20).map(|i| (Four(i), Tag)));
    world.spawn_batch([Tag; 3]);
    world.spawn_batch([(); 5]);
    let rows = world.query::<(Option<&Four>, Option<&Twelve>)>().rows();
    let found: Vec<_> = rows.map(|(four, twelve)| (four.copied(), twelve.is_some())).collect();
    assert_eq!(found.len(), 28);
    assert_eq!(found.iter().filter(|(four, _)| four.is_some()).count(), 20);
    assert!(found.iter().all(|&(_, twelve)| !twelve));
    assert_eq!(world.query::<Option<&Four>>().rows().count(), 28);
    assert_eq!(world.query::<Option<&Four>>().iter().filter(Option::is_none).count(), 2);
    for four in world.query_mut::<Option<&mut Four>>().iter_mut().flatten() {
        four.iter_mut().for_each(|four| four.0 += 1);
    }
    assert_eq!(world.query::<&Four>().iter().flatten().map(|f| f.0).sum::<u32>(), (1..=20).sum());
    sound(&world);
}

#[test]
fn a_query_of_types_a_shared_world_never_saw_is_empty() {
    let world = world();
    assert_eq!(world.query::<&Four>().iter().count(), 0);
    assert_eq!(world.query::<(&Four, Option<&Twelve>)>().padded().iter().count(), 0);
    assert_eq!(world.query::<Entity>().with::<Tag>().iter().count(), 0);
    assert_eq!(world.query::<&Four>().chunks().count(), 0);
    assert_eq!(world.query::<&Four>().rows().count(), 0);
    assert_eq!(world.query::<&Four>().changed_since(Version::NEVER).iter().count(), 0);
    assert_eq!(world.query::<&Four>().count_rows(), 0);
    assert_eq!(world.query::<Entity>().iter().count(), 0);
    sound(&world);
}

#[test]
fn a_query_of_twelve_terms_hands_out_twelve_columns() {
    let mut world = world();
    let rows = if cfg!(miri) { 20 } else { 2_000 };
    let low = |i| (Nth::<0>(i), Nth::<1>(i), Nth::<2>(i), Nth::<3>(i), Nth::<4>(i), Nth::<5>(i));
    let high = |i| (Nth::<6>(i), Nth::<7>(i), Nth::<8>(i), Nth::<9>(i), Nth::<10>(i));
    world.spawn_batch((0..rows).map(|i| (low(i), high(i))));
    let query = world.query_mut::<(
        &mut Nth<0>,
        &Nth<1>,
        &mut Nth<2>,
        Option<&mut Nth<3>>,
        Entity,
        &Nth<5>,
        Option<&Nth<11>>,
        &mut Nth<7>,
        &Nth<8>,
        Option<&mut Nth<9>>,
        &mut Nth<10>,
        &Nth<6>,
    )>();
    let mut seen = 0;
    for (a, b, c, d, ids, e, none, f, g, h, i, j) in query {
        let (d, h) = (d.expect("there"), h.expect("there"));
        assert!(none.is_none());
        for row in 0..ids.len() {
            let sum = b[row].0 + e[row].0 + g[row].0 + j[row].0;
            a[row].0 += sum;
            for cell in [&mut c[row].0, &mut d[row].0, &mut f[row].0, &mut h[row].0, &mut i[row].0]
            {
                *cell = sum;
            }
            seen += 1;
        }
    }
    assert_eq!(seen, rows as usize);
    for (entity, a) in world.query::<(Entity, &Nth<0>)>().rows() {
        let i = world.get::<Nth<4>>(entity).expect("there").0;
        assert_eq!(a.0, 5 * i);
        assert_eq!(world.get::<Nth<10>>(entity).expect("there").0, 4 * i);
    }
    sound(&world);
}

#[test]
fn padded_slices_are_whole_vectors_of_live_rows_and_zeros() {
    for rows in [1, 15, 16, 17, 100, 1_000] {
        let mut world = world();
        world.spawn_batch((0..rows).map(|i| (Four(i + 1), Byte(1))));
        for (ids, four, one) in world.query::<(Entity, &Four, &Byte)>().padded() {
            assert_eq!(four.len(), ids.len().next_multiple_of(16));
            assert_eq!(one.len(), four.len());
            assert!(four[..ids.len()].iter().all(|f| f.0 > 0), "rows");
            assert!(four[ids.len()..].iter().all(|f| f.0 == 0), "padding");
            assert!(one[ids.len()..].iter().all(|o| o.0 == 0), "padding");
        }
        // A write to the padding never changes a row.
        for (four, one) in world.query_mut::<(&mut Four, &mut Byte)>().padded() {
            four.iter_mut().for_each(|f| f.0 += 7);
            one.fill(Byte(9));
        }
        let next = world.spawn((Four(1), Byte(2)));
        assert_eq!(world.get::<Four>(next), Ok(&Four(1)));
        assert_eq!(world.query::<&Four>().rows().count(), rows as usize + 1);
        sound(&world);
    }
}

#[test]
fn chunks_say_where_they_are() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    world.spawn_batch([Tag; 3]);
    world.spawn_batch((0..2_500).map(Four));
    world.spawn_batch((0..10).map(|i| (Four(i), Tag)));
    let found: Vec<_> = world
        .query::<&Four>()
        .chunks()
        .map(|c| (c.archetype(), c.index(), c.first_row(), c.len(), c.entities().len()))
        .collect();
    assert_eq!(
        found,
        [
            (1, 0, 0, 1_024, 1_024),
            (1, 1, 1_024, 1_024, 1_024),
            (1, 2, 2_048, 452, 452),
            (2, 0, 2_500, 10, 10)
        ]
    );
    assert_eq!(world.query::<&Four>().count_rows(), 2_510);
    assert!(world.query::<&Four>().chunks().all(|c| !c.is_empty()));
}

#[test]
fn a_chunk_tells_the_versions_of_its_terms_only() {
    let mut world = world();
    let entity = world.spawn((Four(1), Twelve([0; 3])));
    let spawned = world.version();
    world.get_mut::<Twelve>(entity).expect("there").0[0] = 1;
    let written = world.version();
    let chunk = world.query::<(Entity, &Twelve, Option<&Byte>, &Four)>().chunks().next();
    let chunk = chunk.expect("one");
    assert_eq!(chunk.version::<Four>(), Some(spawned));
    assert_eq!(chunk.version::<Twelve>(), Some(written));
    assert_eq!(chunk.version::<Byte>(), None, "the archetype lacks it");
    assert_eq!(chunk.version::<Tag>(), None, "not a term");
    assert_eq!((chunk.order_version(), chunk.arrival_version()), (spawned, spawned));
}

#[test]
fn a_component_may_be_named_with_an_empty_string() {
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    #[repr(C)]
    struct Nameless(u32);
    impl_component!(Nameless as "");
    let mut world = world();
    let entity = world.spawn((Four(1), Nameless(2)));
    let spawned = world.version();
    world.get_mut::<Nameless>(entity).expect("there").0 = 3;
    let chunk = world.query::<(&Nameless, &Four)>().chunks().next().expect("one");
    assert_eq!(chunk.version::<Four>(), Some(spawned));
    assert_eq!(chunk.version::<Nameless>(), Some(world.version()));
}

#[test]
fn full_chunks_and_the_last_one_have_their_lengths() {
    let mut world = world();
    world.spawn_batch((0..100).map(|_| Tag));
    world.spawn_batch((0..1).map(Four));
    let rows = if cfg!(miri) { 1 } else { 200_000 };
    world.spawn_batch((1..rows).map(Four));
    let lens: Vec<_> = world.query::<&Four>().iter().map(<[_]>::len).collect();
    if rows > 1 {
        let full = capacity(&world);
        assert!(lens[..lens.len() - 1].iter().all(|&len| len == full), "every chunk but the last");
    }
    assert_eq!(lens.iter().sum::<usize>(), rows as usize);
}

#[test]
fn a_world_and_its_query_can_be_printed() {
    let mut world = world();
    world.spawn_batch((0..40).map(|i| (Four(i), Tag)));
    assert!(format!("{world:?}").contains("World"));
    let mut query = world.query_mut::<(&mut Four, Entity)>();
    assert!(format!("{query:?}").contains("Four"), "{query:?}");
    let mut iter = query.iter_mut();
    iter.next();
    assert!(format!("{iter:?}").contains("Four"), "{iter:?}");
    let chunk = world.query::<&Four>().chunks().next().expect("a chunk");
    assert!(format!("{chunk:?}").contains("len: 40"));
}

//! The shapes of queries and the ways to iterate over them.

use phalanx::prelude::*;

use crate::common::world;
use crate::components::{Four, Nth, One, Other, Tag, Third, Twelve, capacity, sound};

/// What a query yields, walked in every way there is.
fn everything(world: &World) -> Vec<u32> {
    let slices: Vec<u32> = world.query::<&Four>().flat_map(|f| f.iter().map(|f| f.0)).collect();
    let rows: Vec<u32> = world.query::<&Four>().rows().map(|f| f.0).collect();
    let mut each = Vec::new();
    world.query::<&Four>().for_each_chunk(|f| each.extend(f.iter().map(|f| f.0)));
    let chunks: Vec<u32> =
        world.query::<&Four>().chunks().flat_map(|c| c.slices()).map(|f| f.0).collect();
    let folded = world.query::<&Four>().fold(Vec::new(), |mut all, f| {
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
fn a_walk_that_was_begun_one_way_goes_on_another() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    world.spawn_batch((0..4 * 1_024).map(Four));
    world.spawn_batch((0..1_024).map(|i| (Four(i), Tag)));
    let begun = |world: &World, turns: usize| {
        let mut query = world.query::<&Four>();
        assert_eq!(query.by_ref().take(turns).count(), turns);
        // Not `fused`: the query is handed on as it is.
        let (mut each, mut all) = (0, 0);
        query.for_each_chunk(|_| each += 1);
        let mut query = world.query::<&Four>();
        query.by_ref().take(turns).for_each(drop);
        query.for_each(|_| all += 1);
        let mut query = world.query::<&Four>();
        query.by_ref().take(turns).for_each(drop);
        let chunks = query.chunks().count();
        let mut query = world.query::<&Four>();
        query.by_ref().take(turns).for_each(drop);
        let rows = query.rows().count();
        (each, all, chunks, rows)
    };
    for turns in 0..=5 {
        let left = 5 - turns;
        assert_eq!(begun(&world, turns), (left, left, left, left * 1_024), "after {turns} turns");
    }
}

#[test]
fn a_walk_that_was_begun_goes_on_with_par_for_each_chunk() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    world.spawn_batch((0..4 * 1_024).map(|_| Four(0)));
    world.spawn_batch((0..1_024).map(|_| (Four(0), Tag)));
    for turns in 0..=5 {
        world.query_mut::<&mut Four>().for_each(|four| four.fill(Four(0)));
        let mut query = world.query_mut::<&mut Four>();
        query.by_ref().take(turns).for_each(drop);
        query.par_for_each_chunk(|four| four.fill(Four(1)));
        let visited = world.query::<&Four>().filter(|four| four[0].0 == 1).count();
        assert_eq!(visited, 5 - turns, "after {turns} turns");
    }
}

/// Rows of nine archetypes: of no chunk, of one, of several, in turn.
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
    world.spawn_batch(more(lens[7]).into_iter().map(|f| (f, One(1))));
    world.spawn_batch(more(lens[8]).into_iter().map(|f| (f, One(1), Tag)));
    (world, lens.iter().sum())
}

/// Takes some turns of a query and goes on in one of six ways. All slices live to the end, where each
/// is written. Returns the rows visited.
fn begun_and_gone_on<F: Filter>(
    mut query: Query<'_, (Entity, &mut Four), F>,
    turns: usize,
    way: u8,
) -> Vec<Entity> {
    let mut slices: Vec<_> = query.by_ref().take(turns).collect();
    let (mut entities, mut rows): (Vec<Entity>, Vec<&mut Four>) = Default::default();
    let mut take = |(entity, four)| {
        entities.push(entity);
        rows.push(four);
    };
    match way {
        0 => query.for_each(|slice| slices.push(slice)),
        1 => query.for_each_chunk(|slice| slices.push(slice)),
        2 => slices.extend(query.chunks().map(|chunk| chunk.slices())),
        3 => query.rows().for_each(take),
        4 => {
            let mut rows = query.rows();
            rows.by_ref().take(40 * turns).for_each(&mut take);
            rows.for_each(take);
        }
        _ => {
            slices.extend(query.by_ref());
            assert!(query.next().is_none(), "it has ended");
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
    let all: Vec<_> = world.query::<Entity>().flatten().copied().collect();
    let mut expected = all;
    expected.sort_unstable();
    assert_eq!(expected.len(), len);
    for turns in if cfg!(miri) { 3..5 } else { 0..13 } {
        for way in 0..6 {
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
fn a_query_under_way_is_padded_from_now_on_and_its_rows_never_are() {
    let (world, len) = patchwork();
    for turns in 0..12 {
        let mut query = world.query::<&Four>().padded();
        let padded: usize = query.by_ref().take(turns).map(<[_]>::len).sum();
        assert!(padded.is_multiple_of(16), "whole vectors");
        let mut live = world.query::<&Four>();
        let visited: usize = live.by_ref().take(turns).map(<[_]>::len).sum();
        assert_eq!(query.rows().count(), len - visited, "after {turns} turns");
        assert!(live.padded().all(|four| four.len().is_multiple_of(16)), "after {turns} turns");
    }
}

#[test]
fn a_walk_that_has_ended_stays_ended() {
    let mut world = world();
    world.spawn_batch((0..3).map(Four));
    let mut query = world.query::<&Four>();
    assert!(query.next().is_some());
    assert!((0..3).all(|_| query.next().is_none()));
    assert_eq!(query.chunks().count(), 0);
    let mut rows = world.query_mut::<&mut Four>().rows();
    assert_eq!(rows.by_ref().count(), 3);
    assert!((0..3).all(|_| rows.next().is_none()));
}

#[test]
fn a_query_of_entity_alone_includes_the_entities_of_nothing() {
    let mut world = world();
    let all = [world.spawn(()), world.spawn(Four(1)), world.spawn(Tag), world.spawn(())];
    let mut found: Vec<_> = world.query::<Entity>().flatten().copied().collect();
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
    assert_eq!(world.query::<Option<&Four>>().filter(Option::is_none).count(), 2);
    for four in world.query_mut::<Option<&mut Four>>().flatten() {
        four.iter_mut().for_each(|four| four.0 += 1);
    }
    assert_eq!(world.query::<&Four>().flatten().map(|f| f.0).sum::<u32>(), (1..=20).sum());
    sound(&world);
}

#[test]
fn a_query_of_types_a_shared_world_never_saw_is_empty() {
    let world = world();
    assert_eq!(world.query::<&Four>().count(), 0);
    assert_eq!(world.query::<(&Four, Option<&Twelve>)>().padded().count(), 0);
    assert_eq!(world.query::<Entity>().with::<Tag>().count(), 0);
    assert_eq!(world.query::<&Four>().chunks().count(), 0);
    assert_eq!(world.query::<&Four>().rows().count(), 0);
    assert_eq!(world.query::<&Four>().changed_since(Version::NEVER).count(), 0);
    assert_eq!(world.query::<&Four>().rows_len(), 0);
    assert_eq!(world.query::<Entity>().count(), 0);
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
        world.spawn_batch((0..rows).map(|i| (Four(i + 1), One(1))));
        for (ids, four, one) in world.query::<(Entity, &Four, &One)>().padded() {
            assert_eq!(four.len(), ids.len().next_multiple_of(16));
            assert_eq!(one.len(), four.len());
            assert!(four[..ids.len()].iter().all(|f| f.0 > 0), "rows");
            assert!(four[ids.len()..].iter().all(|f| f.0 == 0), "padding");
            assert!(one[ids.len()..].iter().all(|o| o.0 == 0), "padding");
        }
        // Whoever writes to the padding writes to no row, now or later.
        for (four, one) in world.query_mut::<(&mut Four, &mut One)>().padded() {
            four.iter_mut().for_each(|f| f.0 += 7);
            one.fill(One(9));
        }
        let next = world.spawn((Four(1), One(2)));
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
    assert_eq!(world.query::<&Four>().rows_len(), 2_510);
    assert!(world.query::<&Four>().chunks().all(|c| !c.is_empty()));
}

#[test]
fn a_chunk_tells_the_versions_of_its_terms_only() {
    let mut world = world();
    let entity = world.spawn((Four(1), Twelve([0; 3])));
    let spawned = world.version();
    world.get_mut::<Twelve>(entity).expect("there").0[0] = 1;
    let written = world.version();
    let chunk = world.query::<(Entity, &Twelve, Option<&One>, &Four)>().chunks().next();
    let chunk = chunk.expect("one");
    assert_eq!(chunk.version::<Four>(), Some(spawned));
    assert_eq!(chunk.version::<Twelve>(), Some(written));
    assert_eq!(chunk.version::<One>(), None, "the archetype lacks it");
    assert_eq!(chunk.version::<Tag>(), None, "not a term");
    assert_eq!((chunk.order_version(), chunk.arrival_version()), (spawned, spawned));
}

#[test]
fn a_component_may_be_named_with_an_empty_string() {
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    #[repr(C)]
    struct Nameless(u32);
    component!(Nameless as "");
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
    let lens: Vec<_> = world.query::<&Four>().map(<[_]>::len).collect();
    if rows > 1 {
        let full = capacity(&world);
        assert!(lens[..lens.len() - 1].iter().all(|&len| len == full), "every chunk but the last");
    }
    assert_eq!(lens.iter().sum::<usize>(), rows as usize);
}

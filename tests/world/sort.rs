//! Rows in the order of a key: everything that belongs to a row follows it.

use std::cmp::Reverse;
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::lines::ChangedLines;
use phalanx::prelude::*;
use phalanx::rows::total_order;
use phalanx::{ChunkSize, HashCache};
use proptest::prelude::*;

use crate::common::world;

#[component]
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u32);
#[component]
#[derive(Debug, PartialEq)]
struct Body([u32; 25]);
#[component(enableable)]
struct Awake(u16);
#[component(lines)]
#[derive(Debug, PartialEq)]
struct Heat(u64);
#[component]
struct Mark;

fn small() -> World {
    World::builder().chunk_size(ChunkSize::KIB_4).build()
}

fn keys(world: &World) -> Vec<u32> {
    world.query::<&Key>().filter::<IgnoreEnabled>().rows().map(|key| key.0).collect()
}

fn entities(world: &World) -> Vec<Entity> {
    world.query::<Entity>().rows().collect()
}

#[test]
fn rows_ascend_and_equal_keys_keep_their_order() {
    let mut world = small();
    let all = world.spawn_batch((0..500).map(|i| (Key(i * 7 % 10), Body([i; 25])))).to_vec();
    let mut wanted: Vec<_> = (0..500usize).collect();
    wanted.sort_by_key(|i| i * 7 % 10);
    let moved = world.matching::<&Key>().sort_by_key(|key| key.0);
    assert_eq!(world.check(), Ok(()));
    assert_eq!(moved, wanted.iter().enumerate().filter(|(to, from)| to != *from).count());
    let wanted: Vec<_> = wanted.iter().map(|&i| all[i]).collect();
    assert_eq!(entities(&world), wanted);
    for (i, &entity) in (0..).zip(&all) {
        assert_eq!(world.get::<Key>(entity), Ok(&Key(i * 7 % 10)));
        assert_eq!(world.get::<Body>(entity), Ok(&Body([i; 25])));
    }
    let descending = world.matching::<&Key>().sort_by_key(|key| Reverse(key.0));
    assert!(descending > 0 && keys(&world).is_sorted_by(|a, b| a >= b));
}

/// The cells of columns that no cache holds are asked for ahead.
#[test]
fn large_columns_follow_their_keys() {
    let rows: u32 = if cfg!(miri) { 300 } else { 30_000 };
    let mut world = world();
    // In no order, and each key several times.
    let key = |i: u32| i.wrapping_mul(0x9e37_79b9) >> 19;
    let all = world.spawn_batch((0..rows).map(|i| (Key(key(i)), Body([i; 25])))).to_vec();
    let rest = world.spawn_batch((0..rows / 10).map(|i| (Key(key(i)), Body([i; 25]), Mark)));
    let rest = rest.to_vec();
    world.matching::<(&Key, &Mark)>().sort_by_key(|(key, _)| Reverse(key.0));
    world.matching::<&Key>().sort_by_key(|key| key.0);
    assert_eq!(world.check(), Ok(()));
    let mut wanted: Vec<_> = (0..rows).collect();
    wanted.sort_by_key(|&i| key(i));
    let wanted = wanted.into_iter().map(|i| (all[i as usize], i));
    let bodies = world.query::<(Entity, &Body)>().without::<Mark>();
    assert!(bodies.rows().map(|(entity, body)| (entity, body.0[24])).eq(wanted));
    let pairs = world.query::<(&Key, &Body)>();
    assert!(pairs.rows().all(|(own, body)| own.0 == key(body.0[0])));
    for (i, &entity) in (0..).zip(&rest) {
        assert_eq!(world.get::<Body>(entity), Ok(&Body([i; 25])));
    }
}

#[test]
fn rows_in_order_are_not_touched() {
    let mut world = small();
    world.spawn_batch((0..1000).map(Key));
    let before = world.version();
    assert_eq!(world.matching::<&Key>().sort_by_key(|key| key.0), 0);
    assert_eq!(world.version(), before);
    assert_eq!(World::new().matching::<&Key>().sort_by_key(|key| key.0), 0);
}

#[test]
fn only_chunks_with_other_rows_are_reordered_and_nothing_is_changed() {
    let mut world = small();
    let all = world.spawn_batch((0..4096).map(|i| (Key(i), Mark))).to_vec();
    let capacity = world.query::<&Key>().iter().next().expect("there are rows").len();
    let key = world.get::<Key>(all[capacity + 4]).expect("it is alive").0;
    world.get_mut::<Key>(all[capacity + 1]).expect("it is alive").0 = key;
    let before = world.version();
    assert_eq!(world.matching::<&Key>().sort_by_key(|key| key.0), 3);
    let query = world.query::<&Key>();
    let since = |chunks: Vec<usize>, wanted: &[usize]| assert_eq!(chunks, wanted);
    since(query.filter_since::<Reordered>(before).chunks().map(|c| c.index()).collect(), &[1]);
    since(query.filter_since::<Arrived>(before).chunks().map(|c| c.index()).collect(), &[]);
    since(query.changed_since(before).chunks().map(|c| c.index()).collect(), &[]);
}

#[test]
fn changes_before_the_sort_are_seen_after_it() {
    let mut world = small();
    let all = world.spawn_batch((0..4000).map(|i| (Key(4000 - i), Heat(0)))).to_vec();
    let before = world.version();
    world.get_mut::<Heat>(all[0]).expect("it is alive").0 = 1;
    world.get_mut::<Key>(all[7]).expect("it is alive").0 = 0;
    world.matching::<&Key>().sort_by_key(|key| key.0);
    let hot = world.query::<(Entity, &Heat)>().filter_since::<ChangedLines<Heat>>(before);
    let hot: Vec<_> = hot.rows().map(|(entity, _)| entity).collect();
    assert_eq!(hot, [all[0]]);
    let changed = world.query::<Entity>().filter_since::<Changed<Key>>(before);
    let changed: Vec<_> = changed.rows().collect();
    assert!(changed.contains(&all[7]) && changed.len() < 4000);
}

#[test]
fn chunks_that_keep_their_rows_keep_all_versions() {
    let mut world = small();
    let all = world.spawn_batch((0..4000).map(|i| (Key(i), Heat(0)))).to_vec();
    for heat in world.query_mut::<&mut Heat>() {
        heat[0].0 = 1;
    }
    world.get_mut::<Heat>(all[3999]).expect("it is alive").0 = 2;
    world.get_mut::<Key>(all[1]).expect("it is alive").0 = 3;
    let mut cache = HashCache::new();
    assert_eq!(cache.hash(&world), world.hash());
    world.matching::<&Key>().sort_by_key(|key| key.0);
    assert_eq!(cache.hash(&world), world.hash());
    assert_eq!(world.check(), Ok(()));
}

#[test]
fn reserved_rows_stay_reserved() {
    let mut world = small();
    world.reserve::<(Key, Mark)>(5000).expect("a row fits");
    world.spawn_batch([3, 1, 2].map(|key| (Key(key), Mark)));
    let before = world.memory().block_bytes;
    world.matching::<&Key>().sort_by_key(|key| key.0);
    assert!(world.memory().block_bytes >= before);
    world.spawn_batch((0..4000).map(|i| (Key(i), Mark)));
    assert_eq!(world.memory().block_bytes, before);
}

#[test]
fn rows_that_are_not_seen_keep_their_places() {
    let mut world = small();
    let all = world.spawn_batch((0..300).map(|i| (Key(300 - i), Awake(0)))).to_vec();
    for &entity in all.iter().step_by(3) {
        world.set_enabled::<Awake>(entity, false).expect("it has the component");
    }
    world.matching::<(&Key, &Awake)>().sort_by_key(|(key, _)| key.0);
    assert_eq!(world.check(), Ok(()));
    let sorted = world.query::<Entity>().filter::<IgnoreEnabled>().rows().collect::<Vec<_>>();
    for i in (0..300).step_by(3) {
        assert_eq!(sorted[i], all[i]);
    }
    for (i, &entity) in (0..).zip(&all) {
        assert_eq!(world.is_enabled::<Awake>(entity), Ok(i % 3 != 0));
        assert_eq!(world.get::<Key>(entity), Ok(&Key(300 - i)));
    }
    let seen: Vec<_> = world.query::<(&Key, &Awake)>().rows().map(|(key, _)| key.0).collect();
    assert!(seen.is_sorted() && seen.len() == 200);
}

#[test]
fn each_archetype_is_sorted_on_its_own() {
    let mut world = small();
    world.spawn_batch([5, 3, 9].map(Key));
    world.spawn_batch([4, 1].map(|key| (Key(key), Mark)));
    world.spawn_batch([8, 7].map(|key| (Key(key), Heat(0))));
    assert_eq!(world.matching::<&Key>().without::<Heat>().sort_by_key(|key| key.0), 4);
    assert_eq!(keys(&world), [3, 5, 9, 1, 4, 8, 7]);
}

#[test]
fn floats_sort_by_their_total_order() {
    #[component]
    struct Depth(f32);
    let mut world = world();
    let depths = [f32::NAN, 1.0, -0.0, 0.0, f32::NEG_INFINITY, -2.0];
    world.spawn_batch(depths.map(Depth));
    world.matching::<&Depth>().sort_by_key(|depth| total_order(depth.0));
    let sorted: Vec<_> = world.query::<&Depth>().rows().map(|depth| depth.0.to_bits()).collect();
    let mut wanted = depths;
    wanted.sort_by(f32::total_cmp);
    assert_eq!(sorted, wanted.map(f32::to_bits));
}

#[test]
fn a_panic_of_the_key_or_a_comparison_moves_nothing() {
    struct Refusing(u32);
    impl PartialEq for Refusing {
        fn eq(&self, other: &Self) -> bool {
            self.cmp(other).is_eq()
        }
    }
    impl Eq for Refusing {}
    impl PartialOrd for Refusing {
        fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
            Some(self.cmp(other))
        }
    }
    impl Ord for Refusing {
        fn cmp(&self, other: &Self) -> std::cmp::Ordering {
            assert!(self.0 != 7 && other.0 != 7, "seven has no place");
            self.0.cmp(&other.0)
        }
    }

    let mut world = small();
    world.spawn_batch((0..100).map(|i| (Key(100 - i), Mark)));
    world.spawn_batch((0..100).map(|i| Key(i * 37 % 100)));
    let (state, version) = (world.hash(), world.version());
    let mut calls = 0;
    let key = |key: &Key| {
        calls += 1;
        assert!(calls < 150, "enough");
        key.0
    };
    let call = AssertUnwindSafe(|| world.matching::<&Key>().sort_by_key(key));
    assert!(catch_unwind(call).is_err());
    let call = AssertUnwindSafe(|| world.matching::<&Key>().sort_by_key(|key| Refusing(key.0)));
    assert!(catch_unwind(call).is_err());
    assert_eq!((world.hash(), world.version(), world.check()), (state, version, Ok(())));
}

#[test]
fn rows_without_bytes_are_sorted_by_their_entities() {
    let mut world = small();
    let all = world.spawn_batch((0..3000).map(|_| Mark)).to_vec();
    world.matching::<Entity>().sort_by_key(Reverse);
    assert_eq!(world.check(), Ok(()));
    let mut wanted = all;
    wanted.sort_by_key(|&entity| Reverse(entity));
    assert_eq!(entities(&world), wanted);
}

#[test]
fn a_state_is_restored_after_a_sort_and_before_it() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = small();
    world.spawn_batch((0..2000).map(|i| (Key(i * 77 % 2000), Heat(u64::from(i)), Awake(1))));
    let mut state = world.snapshot()?;
    let before = world.hash();
    world.matching::<&Key>().sort_by_key(|key| key.0);
    let after = world.hash();
    let sorted = world.snapshot()?;
    world.restore(&state)?;
    assert_eq!((world.hash(), world.check()), (before, Ok(())));
    world.restore(&sorted)?;
    assert_eq!((world.hash(), world.check()), (after, Ok(())));
    world.snapshot_into(&mut state)?;
    world.clear();
    world.restore(&state)?;
    assert_eq!((world.hash(), world.check()), (after, Ok(())));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::common::effort::effort(64)))]

    /// Sorted worlds equal a map by entity, whatever happens between the sorts.
    #[test]
    fn sorts_between_changes_lose_nothing(
        steps in prop::collection::vec((0u8..7, any::<u32>()), 1..40),
    ) {
        let mut world = small();
        let mut model = std::collections::BTreeMap::<Entity, (u32, bool)>::new();
        for (operation, number) in steps {
            let any = model.keys().nth(number as usize % model.len().max(1)).copied();
            match (operation, any) {
                (0, Some(entity)) => {
                    world.despawn(entity).unwrap();
                    model.remove(&entity);
                }
                (1, Some(entity)) => {
                    world.get_mut::<Key>(entity).unwrap().0 = number;
                    model.insert(entity, (number, model[&entity].1));
                }
                (2, Some(entity)) => {
                    world.set_enabled::<Awake>(entity, number % 2 == 0).unwrap();
                    model.insert(entity, (model[&entity].0, number % 2 == 0));
                }
                (3, Some(entity)) => world.insert(entity, (Mark, Body([number; 25]))).unwrap(),
                (4, _) => {
                    let moved = world.matching::<&Key>().filter::<IgnoreEnabled>();
                    moved.sort_by_key(|key| key.0);
                }
                (5, _) => {
                    world.matching::<(&Key, &Awake)>().sort_by_key(|(key, _)| Reverse(key.0));
                }
                _ => {
                    let batch = (0..number % 60).map(|i| (Key(i * 31 % 17), Awake(0), Heat(0)));
                    let new = world.spawn_batch(batch).to_vec();
                    model.extend((0..).zip(new).map(|(i, entity)| (entity, (i * 31 % 17, true))));
                }
            }
            prop_assert_eq!(world.check(), Ok(()));
        }
        prop_assert_eq!(world.len(), model.len());
        for (entity, (key, is_awake)) in model {
            prop_assert_eq!(world.get::<Key>(entity).map(|key| key.0), Ok(key));
            prop_assert_eq!(world.is_enabled::<Awake>(entity), Ok(is_awake));
        }
    }
}

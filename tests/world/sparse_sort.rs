//! The order of a sparse set: sorted by a key.

use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;
use proptest::prelude::*;

use crate::common::components::{Four, Number, Tag, Text, small_world, sound};
use crate::common::effort::effort;

use super::sparse_blocks::{HALVES, Half, half};

fn order(world: &World) -> Vec<(Entity, u32)> {
    world.sparse::<Number>().iter().map(|(entity, number)| (entity, number.0)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 3 } else { effort(64) },
        failure_persistence: None,
        ..Default::default()
    })]

    /// The sort is stable, and everything else is found as before.
    #[test]
    fn a_sort_is_stable_and_keeps_all_else(keys in prop::collection::vec(0..12_u32, 0..60)) {
        let mut worlds = [small_world(), small_world()];
        for world in &mut worlds {
            for (at, &key) in (0..).zip(&keys) {
                match key % 3 {
                    0 => world.spawn((Four(at), Number(key), Text::from("kept"))),
                    1 => world.spawn((Tag, Number(key))),
                    _ => world.spawn(Number(key)),
                };
            }
            let before = order(world);
            let rows: Vec<_> = world.query::<(Entity, &Number)>().rows().map(|(e, _)| e).collect();
            let mut expected = before.clone();
            expected.sort_by_key(|&(_, key)| key);
            let moved = before.iter().zip(&expected).filter(|(a, b)| a != b).count();
            prop_assert_eq!(world.sparse_mut::<Number>().sort_by_key(|_, one| one.0), moved);
            sound(world);
            prop_assert_eq!(order(world), expected.clone());
            for &(entity, key) in &expected {
                prop_assert_eq!(world.get::<Number>(entity).expect("it has one").0, key);
            }
            let after: Vec<_> =
                world.query::<(Entity, &Number)>().rows().map(|(e, _)| e).collect();
            prop_assert_eq!(after, rows, "rows stay");
            prop_assert_eq!(world.sparse_mut::<Number>().sort_by_key(|_, one| one.0), 0);
            // By entity, back to the order of insertion.
            world.sparse_mut::<Number>().sort_by_key(|entity, _| entity.index());
            prop_assert_eq!(order(world), before);
            world.sparse_mut::<Number>().sort_by_key(|_, one| std::cmp::Reverse(one.0));
            if let Some(&(entity, _)) = expected.first() {
                world.remove::<Number>(entity).expect("it has one");
            }
            sound(world);
        }
        prop_assert_eq!(worlds[0].hash(), worlds[1].hash());
    }

    /// Blocks of values with new places are changed, and no others.
    #[test]
    fn blocks_of_values_that_move_are_changed(keys in prop::collection::vec(0..4_u64, 0..20)) {
        let mut world = small_world();
        let all: Vec<_> = keys.iter().map(|&key| world.spawn(half(key))).collect();
        let before = world.version();
        world.sparse_mut::<Half>().sort_by_key(|_, half| half.value);
        let after: Vec<_> = world.sparse::<Half>().iter().map(|(entity, _)| entity).collect();
        let moved = |at: usize| after[at] != all[at];
        let is_changed =
            |at: usize| (0..all.len()).any(|other| other / HALVES == at / HALVES && moved(other));
        let halves = world.sparse::<Half>();
        let changed: Vec<_> =
            halves.blocks().changed_since(before).flat_map(|(ids, _)| ids).copied().collect();
        let expected: Vec<_> =
            (0..all.len()).filter(|&at| is_changed(at)).map(|at| after[at]).collect();
        prop_assert_eq!(changed, expected);
    }
}

#[test]
fn the_order_is_part_of_states_and_of_the_hash() {
    #[component(sparse, plain)]
    struct Depth(u32);
    let order = |world: &World| -> Vec<u32> {
        world.sparse::<Depth>().iter().map(|(_, depth)| depth.0).collect()
    };
    let mut world = small_world();
    world.spawn_batch([3, 1, 2].map(Depth));
    let (state, hash) = (world.snapshot().expect("room"), world.hash());
    world.sparse_mut::<Depth>().sort_by_key(|_, depth| depth.0);
    assert!(world.hash() != hash && order(&world) == [1, 2, 3]);
    let bytes = world.snapshot().expect("room").to_bytes().expect("plain data");
    world.restore(&state).expect("it is its own");
    assert_eq!((order(&world), world.hash()), (vec![3, 1, 2], hash));
    sound(&world);
    let mut mirror = small_world();
    mirror.register::<Depth>();
    let state = mirror.read_snapshot(&bytes).expect("it was written");
    mirror.restore(&state).expect("it was read here");
    assert_eq!(order(&mirror), [1, 2, 3]);
    sound(&mirror);
}

#[test]
fn a_panic_changes_nothing() {
    /// A key whose comparison panics, or its destructor.
    #[derive(PartialEq, Eq)]
    struct Key(u32, &'static str);
    impl PartialOrd for Key {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }
    impl Ord for Key {
        fn cmp(&self, other: &Self) -> Ordering {
            assert!(self.1 != "compare" || self.0 < 9, "compared");
            self.0.cmp(&other.0)
        }
    }
    impl Drop for Key {
        fn drop(&mut self) {
            assert!(self.1 != "drop" || self.0 != 5 || std::thread::panicking(), "dropped");
        }
    }
    let mut world = small_world();
    world.spawn_batch([7, 1, 5, 12, 11].map(Number));
    let (before, state) = (order(&world), world.hash());
    for what in ["key", "compare", "drop"] {
        let mut numbers = world.sparse_mut::<Number>();
        let sort = || {
            numbers.sort_by_key(|_, number| {
                assert!(what != "key" || number.0 != 5, "the key panics");
                Key(number.0, what)
            })
        };
        assert!(catch_unwind(AssertUnwindSafe(sort)).is_err(), "{what}");
        assert_eq!(order(&world), before, "{what}");
        sound(&world);
    }
    assert_ne!(world.hash(), state, "a view advances the clock");
}

#[test]
fn a_system_sorts_and_values_without_bytes_are_sorted() {
    #[component(sparse, plain)]
    struct Mark;
    fn sort(mut numbers: SparseMut<Number>, mut marks: SparseMut<Mark>) {
        numbers.sort_by_key(|_, number| number.0);
        marks.sort_by_key(|entity, _| std::cmp::Reverse(entity.index()));
    }
    let mut world = small_world();
    let all: Vec<_> = [4, 9, 1].into_iter().map(|n| world.spawn((Number(n), Mark))).collect();
    let mut schedule = Schedule::new();
    schedule.add(sort);
    schedule.run(&mut world).expect("nothing fails");
    assert_eq!(order(&world), [(all[2], 1), (all[0], 4), (all[1], 9)]);
    let marks: Vec<_> = world.sparse::<Mark>().iter().map(|(entity, _)| entity).collect();
    assert_eq!(marks, [all[2], all[1], all[0]]);
    sound(&world);
    assert_eq!(small_world().sparse_mut::<Number>().sort_by_key(|_, number| number.0), 0);
}

#[test]
fn keys_are_compared_by_their_total_order_alone() {
    /// Ordered by `Ord`, and the other way by `PartialOrd`.
    #[derive(PartialEq, Eq)]
    struct Key(u32);

    #[expect(clippy::non_canonical_partial_ord_impl, reason = "the test is about such a type")]
    impl PartialOrd for Key {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(other.0.cmp(&self.0))
        }
    }

    impl Ord for Key {
        fn cmp(&self, other: &Self) -> Ordering {
            self.0.cmp(&other.0)
        }
    }

    let mut world = small_world();
    world.spawn_batch([3, 2, 1].map(Number));
    assert_eq!(world.sparse_mut::<Number>().sort_by_key(|_, number| Key(number.0)), 2);
    assert!(order(&world).iter().map(|&(_, number)| number).eq([1, 2, 3]));
    assert_eq!(world.sparse_mut::<Number>().sort_by_key(|_, number| Key(number.0)), 0);
}

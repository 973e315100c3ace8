//! The dense walk over a sparse component leaves out hidden entities.

use phalanx::Prototype;
use phalanx::prelude::*;
use proptest::prelude::*;

use crate::common::components::{Four, Number, Tag, Text, sound};
use crate::common::effort::effort;
use crate::common::world;

use super::relations::ChildOf;
use super::sparse_blocks::{HALVES, Half, half};

#[test]
fn values_of_hidden_entities_are_in_no_block() {
    let mut world = world();
    let parent = world.spawn(Text::from("seen"));
    let child = world.spawn((Text::from("hidden"), ChildOf::of(parent), Disabled));
    let model = world.spawn((Text::from("prototype"), Prototype));
    let last = world.spawn((Text::from("seen"), ChildOf::of(child)));
    let texts = world.sparse::<Text>();
    let slices: Vec<_> = texts.blocks().map(|(ids, _)| ids).collect();
    assert_eq!(slices, [&[parent][..], &[last]]);
    assert_eq!(texts.iter().count(), 4, "of all entities");
    drop(texts);
    // Relations are values like others.
    let tree = world.sparse::<ChildOf>();
    assert!(tree.blocks().map(|(ids, links)| (ids, links.len())).eq([(&[last][..], 1)]));
    drop(tree);
    // Each of two hides its entity.
    world.insert(child, Prototype).expect("alive");
    world.remove::<Disabled>(child).expect("it has one");
    assert_eq!(world.sparse::<ChildOf>().blocks().flat_map(|(ids, _)| ids).count(), 1);
    for hidden in [child, model] {
        world.remove::<Prototype>(hidden).expect("it has one");
    }
    let texts = world.sparse::<Text>();
    assert!(texts.blocks().map(|(ids, _)| ids).eq([&[parent, child, model, last][..]]), "whole");
}

/// Entities with a mark of each kind: hidden ones are at random places.
fn hidden_at(world: &mut World, hidden: &[bool]) -> Vec<Entity> {
    let all: Vec<_> = (0..).zip(hidden).map(|(value, _)| world.spawn(half(value))).collect();
    for (&entity, _) in all.iter().zip(hidden).filter(|(_, hidden)| **hidden) {
        match entity.index() % 3 {
            0 => world.insert(entity, Disabled).expect("alive"),
            1 => world.insert(entity, (Prototype, Tag)).expect("alive"),
            _ => world.insert(entity, (Four(1), Disabled, Prototype)).expect("alive"),
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 3 } else { effort(64) },
        failure_persistence: None,
        ..Default::default()
    })]

    /// Slices agree with a query by row, for reading and for writing, and a block counts as changed
    /// if a slice of it is handed out.
    #[test]
    fn slices_have_what_a_query_sees(
        hidden in prop::collection::vec(any::<bool>(), 0..20),
        written in 0..20_usize,
    ) {
        let mut world = world();
        let all = hidden_at(&mut world, &hidden);
        let seen = |world: &World| -> Vec<(Entity, u64)> {
            let mut seen: Vec<_> = world
                .query::<(Entity, &Half)>()
                .rows()
                .map(|(entity, half)| (entity, half.value))
                .collect();
            seen.sort_unstable_by_key(|(entity, _)| entity.index());
            seen
        };
        let halves = world.sparse::<Half>();
        let blocks = || halves.blocks().flat_map(|(ids, halves)| {
            assert!(!ids.is_empty() && ids.len() == halves.len());
            ids.iter().copied().zip(halves.iter().map(|half| half.value))
        });
        let bound = halves.blocks().size_hint();
        prop_assert!(bound.0 <= halves.blocks().count());
        prop_assert!(bound.1.is_some_and(|most| most >= halves.blocks().count()));
        prop_assert_eq!(blocks().collect::<Vec<_>>(), seen(&world));
        drop(halves);

        let before = world.version();
        if let Some(&entity) = all.get(written) {
            world.get_mut::<Half>(entity).expect("it has one").value += 100;
        }
        let mut halves = world.sparse_mut::<Half>();
        let changed: Vec<_> =
            halves.blocks_mut().changed_since(before).flat_map(|(ids, _)| ids).copied().collect();
        let block = |at: usize| at / HALVES;
        let expected = (0..all.len())
            .filter(|&at| written < all.len() && block(at) == block(written) && !hidden[at]);
        prop_assert_eq!(changed, expected.map(|at| all[at]).collect::<Vec<_>>());

        let before = world.version();
        world.sparse_mut::<Half>().blocks_mut().par_for_each(|(_, halves)| {
            halves.iter_mut().for_each(|half| half.value += 1000);
        });
        for (at, &entity) in all.iter().enumerate() {
            let value = world.get::<Half>(entity).expect("it has one").value;
            prop_assert_eq!(value >= 1000, !hidden[at]);
        }
        let marked = world
            .query::<&Half>()
            .filter::<IncludeHidden>()
            .changed_since(before)
            .count_rows();
        let is_marked = |&at: &usize| (0..all.len()).any(|i| block(i) == block(at) && !hidden[i]);
        prop_assert_eq!(marked, (0..all.len()).filter(is_marked).count());
        sound(&world);
    }
}

#[test]
fn blocks_of_systems_leave_out_what_is_hidden() {
    fn write(mut numbers: SparseMut<Number>, all: Query<Entity, IncludeHidden>) {
        let mut all: Vec<_> = all.rows().collect();
        all.sort_unstable_by_key(|entity| entity.index());
        for entity in all {
            numbers.insert(entity, Number(entity.index())).expect("alive");
        }
        // New members: their rows are not marked yet.
        assert_eq!(numbers.blocks().map(|(ids, _)| ids.len()).sum::<usize>(), 3);
        numbers.blocks_mut().flat_map(|(_, numbers)| numbers).for_each(|one| one.0 += 100);
    }
    fn read(numbers: Sparse<Number>) {
        let seen: Vec<_> = numbers.blocks().map(|(_, numbers)| numbers.len()).collect();
        assert_eq!(seen, [1, 2]);
    }
    let mut world = world();
    world.spawn(());
    world.spawn(Disabled);
    world.spawn_batch([(); 2]);
    let mut schedule = Schedule::new();
    schedule.add((write, read)).chain();
    schedule.run(&mut world).expect("nothing fails");
    schedule.run(&mut world).expect("nothing fails");
    let numbers: Vec<_> = world.sparse::<Number>().iter().map(|(_, number)| number.0).collect();
    assert_eq!(numbers, [100, 1, 102, 103]);
}

#[test]
fn blocks_leave_out_what_is_gone() {
    #[component(sparse, cleanup)]
    struct Handle;
    let mut world = world();
    let [one, two] = [0; 2].map(|_| world.spawn(Handle));
    world.despawn(one).expect("alive");
    let handles = world.sparse::<Handle>();
    assert!(handles.blocks().flat_map(|(ids, _)| ids).eq(&[two]));
    assert_eq!(handles.len(), 2);
}

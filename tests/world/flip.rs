//! Double-buffered components, against a map of the components of each entity.

use std::collections::BTreeMap;

use phalanx::prelude::*;
use phalanx::{Lookup, Previous};
use proptest::prelude::*;

use crate::common::effort::effort;
use crate::common::world;

#[component]
#[derive(Debug, PartialEq)]
struct Heat(u32);
#[component]
struct Mark;
#[component]
struct Weight(u64);

/// The components of an entity: its heat, and the previous heat.
type Model = BTreeMap<Entity, (u32, Option<u32>)>;

fn flip(world: &mut World, model: &mut Model) {
    world.flip::<Heat>().expect("rows are small");
    for (now, previous) in model.values_mut() {
        (*now, *previous) = (previous.unwrap_or(0), Some(*now));
    }
}

#[track_caller]
fn assert_same(world: &World, model: &Model) {
    assert_eq!(world.check(), Ok(()));
    let terms = world.query::<(Entity, &Heat, Option<&Previous<Heat>>)>();
    let found: Model =
        terms.rows().map(|(entity, now, old)| (entity, (now.0, old.map(|old| old.0.0)))).collect();
    assert_eq!(&found, model);
    for (&entity, &(now, previous)) in model {
        assert_eq!(world.get::<Heat>(entity).map(|heat| heat.0), Ok(now));
        let old = world.get::<Previous<Heat>>(entity).ok().map(|old| old.0.0);
        assert_eq!(old, previous);
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Flip,
    Spawn(u32),
    SpawnBatch(u16),
    SpawnBoth(u32),
    Write(u32),
    Mark(u8),
    Unmark(u8),
    MarkAll,
    UnmarkAll,
    Weigh(u8),
    WeighAll,
    Despawn(u8),
    Instantiate(u8),
    DropPrevious(u8),
    Retire,
    Compact,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    use Step::*;
    let step = prop_oneof![
        4 => Just(Flip),
        1 => any::<u32>().prop_map(Spawn),
        2 => (0..3_000_u16).prop_map(SpawnBatch),
        1 => any::<u32>().prop_map(SpawnBoth),
        2 => any::<u32>().prop_map(Write),
        1 => any::<u8>().prop_map(Mark),
        1 => any::<u8>().prop_map(Unmark),
        1 => Just(MarkAll),
        1 => Just(UnmarkAll),
        1 => any::<u8>().prop_map(Weigh),
        1 => Just(WeighAll),
        1 => any::<u8>().prop_map(Despawn),
        1 => any::<u8>().prop_map(Instantiate),
        1 => any::<u8>().prop_map(DropPrevious),
        1 => Just(Retire),
        1 => Just(Compact),
    ];
    prop::collection::vec(step, 1..if cfg!(miri) { 12 } else { 40 })
}

fn apply(world: &mut World, model: &mut Model, step: Step) {
    let nth = |model: &Model, n: u8| model.keys().nth(usize::from(n) % model.len().max(1)).copied();
    match step {
        Step::Flip => flip(world, model),
        Step::Spawn(heat) => drop(model.insert(world.spawn(Heat(heat)), (heat, None))),
        Step::SpawnBatch(rows) => {
            let rows = if cfg!(miri) { rows / 30 } else { rows };
            let ids = world.spawn_batch((0..u32::from(rows)).map(Heat));
            model.extend((0..).zip(ids).map(|(heat, &id)| (id, (heat, None))));
        }
        Step::SpawnBoth(heat) => {
            let id = world.spawn((Mark, Previous(Heat(heat)), Heat(!heat)));
            model.insert(id, (!heat, Some(heat)));
        }
        Step::Write(by) => {
            for (now, _) in world.query_mut::<(&mut Heat, Option<&Previous<Heat>>)>().rows() {
                now.0 = now.0.wrapping_mul(3).wrapping_add(by);
            }
            for (now, _) in model.values_mut() {
                *now = now.wrapping_mul(3).wrapping_add(by);
            }
        }
        Step::Mark(n) => {
            nth(model, n).into_iter().for_each(|entity| world.insert(entity, Mark).expect("alive"));
        }
        Step::Unmark(n) => {
            // It may have no tag.
            nth(model, n).into_iter().for_each(|entity| _ = world.remove::<Mark>(entity));
        }
        Step::MarkAll => drop(world.matching::<&Heat>().insert(Mark).expect("small")),
        Step::UnmarkAll => drop(world.matching::<&Heat>().remove::<Mark>()),
        Step::Weigh(n) => nth(model, n)
            .into_iter()
            .for_each(|entity| world.insert(entity, Weight(7)).expect("alive")),
        Step::WeighAll => drop(world.matching::<&Mark>().insert(Weight(9)).expect("small")),
        Step::Despawn(n) => {
            if let Some(entity) = nth(model, n) {
                world.despawn(entity).expect("alive");
                model.remove(&entity);
            }
        }
        Step::Instantiate(n) => {
            if let Some(entity) = nth(model, n) {
                let copies = world.instantiate(entity, 5).expect("alive").to_vec();
                let value = model[&entity];
                model.extend(copies.into_iter().map(|copy| (copy, value)));
            }
        }
        Step::DropPrevious(n) => {
            if let Some(entity) = nth(model, n) {
                _ = world.remove::<Previous<Heat>>(entity);
                model.get_mut(&entity).expect("in the model").1 = None;
            }
        }
        Step::Retire => drop(world.memory_mut().retire_archetypes()),
        Step::Compact => while !world.memory_mut().compact(1_000).finished {},
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 3 } else { effort(8) }, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_changes_between_flips(steps in steps()) {
        let (mut world, mut model) = (world(), Model::new());
        for step in steps {
            apply(&mut world, &mut model, step);
        }
        assert_same(&world, &model);
        flip(&mut world, &mut model);
        assert_same(&world, &model);
    }
}

/// Chunks move between archetypes that were there before a flip and one that was made after it.
#[test]
fn whole_chunks_move_after_an_odd_number_of_flips() {
    let (mut world, mut model) = (world(), Model::new());
    apply(&mut world, &mut model, Step::SpawnBatch(2_999));
    for step in [Step::Flip, Step::MarkAll, Step::Flip, Step::UnmarkAll, Step::WeighAll, Step::Flip]
    {
        apply(&mut world, &mut model, step);
        assert_same(&world, &model);
    }
}

/// The order of rows does not depend on when an archetype was made, even after flips of overlapping
/// pairs, which do not commute: chunks change owner, and only tags differ.
#[test]
fn an_archetype_is_the_same_before_and_after_flips() {
    fn order(flips: &[fn(&mut World)], marks_first: bool) -> Vec<u32> {
        let mut world = world();
        let row = |i| (Heat(i), Previous(Heat(i + 1)), Previous(Previous(Heat(i + 2))));
        let rows = if cfg!(miri) { 150 } else { 1_500 };
        world.spawn_batch((0..rows).map(row));
        let marked = |world: &mut World| {
            world.spawn_batch((0..10).map(|i| (row(i), Mark)));
        };
        if marks_first {
            marked(&mut world);
        }
        flips.iter().for_each(|flip| flip(&mut world));
        if !marks_first {
            marked(&mut world);
        }
        world.matching::<&Heat>().without::<Mark>().insert(Mark).expect("rows are small");
        assert_eq!(world.check(), Ok(()));
        world.query::<Entity>().rows().map(Entity::index).collect()
    }
    let inner: fn(&mut World) = |world| world.flip::<Heat>().expect("rows are small");
    let outer: fn(&mut World) = |world| world.flip::<Previous<Heat>>().expect("rows are small");
    for flips in [&[inner][..], &[inner, outer], &[inner, outer, inner], &[outer, inner, inner]] {
        assert_eq!(order(flips, true), order(flips, false), "{} flips", flips.len());
    }
}

#[test]
fn both_columns_count_as_changed() {
    let mut world = world();
    world.spawn_batch((0..2_000).map(Heat));
    world.flip::<Heat>().expect("rows are small");
    let before = world.version();
    let changed = |world: &World| {
        let heat = world.query::<&Heat>().changed_since(before).count_rows();
        (heat, world.query::<&Previous<Heat>>().changed_since(before).count_rows())
    };
    assert_eq!(changed(&world), (0, 0));
    world.flip::<Heat>().expect("rows are small");
    assert_eq!(changed(&world), (2_000, 2_000));
}

#[test]
fn a_row_that_does_not_fit_twice_is_an_error_and_nothing_is_flipped() {
    #[component]
    struct Wide([u64; 300]);
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let entity = world.spawn(Wide([5; 300]));
    let before = (world.version(), world.hash());
    let error = world.flip::<Wide>().expect_err("4,800 bytes are more than a chunk");
    assert!(error.to_string().contains("a chunk has 4096"), "{error}");
    assert_eq!(before, (world.version(), world.hash()));
    assert_eq!(world.get::<Wide>(entity).map(|wide| wide.0[299]), Ok(5));
    assert_eq!(world.check(), Ok(()));
}

/// A history of two steps: the buffers rotate.
#[test]
fn three_buffers_rotate() {
    let mut world = world();
    let entity = world.spawn(Heat(1));
    for step in 2..6 {
        world.flip::<Previous<Heat>>().expect("small");
        world.flip::<Heat>().expect("small");
        world.get_mut::<Heat>(entity).expect("alive").0 = step;
        let old = |world: &World| world.get::<Previous<Heat>>(entity).map(|heat| heat.0.0);
        assert_eq!(old(&world), Ok(step - 1));
        if step > 2 {
            let older = world.get::<Previous<Previous<Heat>>>(entity).map(|heat| heat.0.0.0);
            assert_eq!(older, Ok(step - 2));
        }
        assert_eq!(world.check(), Ok(()));
    }
}

/// A ring in which each heat becomes the sum of its neighbours' heat, in systems on several
/// threads.
#[test]
fn a_parallel_stencil_is_the_same_on_any_number_of_threads() {
    #[component]
    struct Ring {
        left: Entity,
        right: Entity,
    }
    type Terms<'a> = (&'a mut Heat, &'a Previous<Heat>, &'a Ring);
    fn step(cells: Query<Terms<'_>>, before: Lookup<'_, Previous<Heat>>) {
        let heat = |entity| before.get(entity).map_or(0, |heat| heat.0.0);
        cells.par().for_each_chunk(|(heats, own, rings)| {
            for ((next, own), ring) in heats.iter_mut().zip(own).zip(rings) {
                let around = heat(ring.left).wrapping_add(heat(ring.right));
                next.0 = own.0.0.wrapping_mul(3).wrapping_add(around);
            }
        });
    }
    let cells: usize = if cfg!(miri) { 40 } else { 10_000 };
    let frames = if cfg!(miri) { 2 } else { 9 };
    let mut expected: Vec<u32> = (0..).take(cells).collect();
    for _ in 0..frames {
        let old = expected.clone();
        for (i, next) in expected.iter_mut().enumerate() {
            let around = old[(i + cells - 1) % cells].wrapping_add(old[(i + 1) % cells]);
            *next = old[i].wrapping_mul(3).wrapping_add(around);
        }
    }
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let mut world = world();
        let ids = world.spawn_batch((0..).take(cells).map(Heat)).to_vec();
        for (i, &id) in ids.iter().enumerate() {
            let (left, right) = (ids[(i + cells - 1) % cells], ids[(i + 1) % cells]);
            world.insert(id, Ring { left, right }).expect("alive");
        }
        let mut schedule = Schedule::new();
        schedule.add((phalanx::schedule::flip::<Heat>, step)).chain();
        pool.install(|| (0..frames).for_each(|_| schedule.run(&mut world).expect("runs")));
        let heats: Vec<u32> =
            ids.iter().map(|&id| world.get::<Heat>(id).expect("alive").0).collect();
        assert_eq!(heats, expected, "{threads} threads");
    }
}

#[test]
fn explanations_are_those_of_what_is_there() {
    let mut world = world();
    world.spawn_batch((0..2_000).map(Heat));
    world.flip::<Heat>().expect("rows are small");
    let text = world.explain().to_string();
    assert!(text.contains("archetype 1: Heat, Heat (previous)"), "{text}");
    let query = world.query::<(&Heat, &Previous<Heat>)>().explain();
    assert_eq!(query.rows(), 2_000);
}

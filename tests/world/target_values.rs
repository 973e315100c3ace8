//! Values of targets and ancestors beside the rows of a query, against a look at each row.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;
use phalanx::sparse::Relation;
use proptest::prelude::*;

use super::relations::{ChildOf, Target};
use crate::common::components::{Tag, Text, sound};
use crate::common::effort::effort;
use crate::common::world;

#[component(enableable)]
#[derive(Debug, PartialEq)]
struct Value(u32);
#[component(lines)]
#[derive(Debug, PartialEq)]
struct Out(u32);
#[component]
#[derive(Debug, PartialEq)]
struct Seen(u32);
#[component(enableable)]
struct Awake;
#[component]
struct Heavy([u64; 12]);

/// The entities whose values a pass asks for.
#[derive(Clone, Copy, Debug)]
enum Way {
    Target,
    Nearest,
    OwnOrNearest,
}

const WAYS: [Way; 3] = [Way::Target, Way::Nearest, Way::OwnOrNearest];

/// The value of one entity, found by single reads.
fn wanted(world: &World, way: Way, entity: Entity) -> Option<u32> {
    let own = |entity| world.get::<Value>(entity).ok().map(|value| value.0);
    let parent = |entity| world.get::<ChildOf>(entity).ok().map(|above| above.target());
    let mut next = match way {
        Way::Target => return own(world.get::<Target>(entity).ok()?.target()),
        Way::Nearest => parent(entity),
        Way::OwnOrNearest => Some(entity),
    };
    while let Some(above) = next {
        if own(above).is_some() {
            return own(above);
        }
        next = parent(above);
    }
    None
}

/// Rows of a chunk that follow each other: entities and values.
type Run = Vec<(Entity, u32)>;

/// The place of a row: archetype, chunk, and row or line.
type Place = (usize, usize, usize);

/// The runs that a pass must hand out, and the places of their rows.
fn wanted_runs<F: Filter>(world: &World, way: Way, or: Option<u32>) -> (Vec<Run>, Vec<Place>) {
    let (mut runs, mut places) = (Vec::new(), Vec::new());
    for chunk in world.query::<(Entity, &Out, &Seen)>().filter::<F>().chunks() {
        let mut run = Run::new();
        for (&entity, row) in chunk.entities().iter().zip(chunk.rows()) {
            match wanted(world, way, entity).or(or) {
                Some(value) => {
                    run.push((entity, value));
                    places.push((chunk.archetype(), chunk.index(), row));
                }
                None => runs.push(std::mem::take(&mut run)),
            }
        }
        runs.push(run);
    }
    runs.retain(|run| !run.is_empty());
    (runs, places)
}

/// The query of the passes.
type All<'w, F> = Query<'w, (Entity, &'static mut Out, &'static mut Seen), F>;

/// One pass, which writes the values and counts. Returns the runs.
fn pass<F: Filter>(world: &mut World, way: Way, or: Option<u32>) -> Vec<Run> {
    let or = or.map(Value);
    let mut runs = Vec::new();
    let body = |slices: (&[Entity], &mut [Out], &mut [Seen]), values: &[Value]| {
        let (entities, outs, seen) = slices;
        assert_eq!([outs.len(), seen.len(), values.len()], [entities.len(); 3]);
        for ((out, seen), value) in outs.iter_mut().zip(seen).zip(values) {
            (out.0, seen.0) = (value.0, seen.0 + 1);
        }
        runs.push(entities.iter().zip(values).map(|(&e, value)| (e, value.0)).collect());
    };
    match way {
        Way::Target => {
            world.run(|targets: Relation<Target>, all: Lookup<Value>, query: All<F>| {
                let values = targets.target_values(&all);
                or.as_ref().map_or(values, |or| values.or(or)).for_each_chunk(query, body);
            });
        }
        _ => world.run(|tree: Relation<ChildOf>, all: Lookup<Value>, query: All<F>| {
            let values = match way {
                Way::Nearest => tree.nearest_values(&all),
                _ => tree.own_or_nearest_values(&all),
            };
            or.as_ref().map_or(values, |or| values.or(or)).for_each_chunk(query, body);
        }),
    }
    runs
}

/// One pass compared with a look at each row: the runs, what is written, and what is stamped.
fn prove<F: Filter>(world: &mut World, way: Way, or: Option<u32>) -> usize {
    let (runs, places) = wanted_runs::<F>(world, way, or);
    let state = |world: &World| -> Vec<(Entity, u32, u32)> {
        let all = world.query::<(Entity, &Out, &Seen)>().filter::<IncludeHidden>();
        let all = all.filter::<IgnoreEnabled>();
        all.rows().map(|(entity, out, seen)| (entity, out.0, seen.0)).collect()
    };
    let mut values: Vec<(Entity, u32)> = runs.concat();
    values.sort_unstable();
    let mut after = state(world);
    for (entity, out, seen) in &mut after {
        if let Ok(at) = values.binary_search_by_key(entity, |row| row.0) {
            (*out, *seen) = (values[at].1, *seen + 1);
        }
    }
    let before = world.version();
    assert_eq!(pass::<F>(world, way, or), runs, "{way:?} {or:?}");
    assert_eq!(state(world), after);
    let chunk_of = |place: &Place| (place.0, place.1);
    let line_of = |place: &Place| (place.0, place.1, place.2);
    let all = world.query::<(&Out, &Seen)>().filter::<IncludeHidden>();
    let changed = all.filter::<IgnoreEnabled>().changed_since::<Seen>(before);
    let mut chunks: Vec<_> = places.iter().map(chunk_of).collect();
    chunks.dedup();
    assert!(changed.chunks().map(|chunk| (chunk.archetype(), chunk.index())).eq(chunks));
    let changed = all.filter::<IgnoreEnabled>().filter_since::<ChangedLines<Out>>(before);
    let mut found: Vec<_> = changed
        .chunks()
        .flat_map(|chunk| chunk.rows().map(move |row| (chunk.archetype(), chunk.index(), row)))
        .collect();
    found.dedup();
    let mut lines: Vec<_> = places.iter().map(line_of).collect();
    lines.dedup();
    assert_eq!(found, lines);
    values.len()
}

/// Passes of all kinds. Returns the number of rows that were visited.
fn prove_all(world: &mut World) -> usize {
    let mut rows = 0;
    for way in WAYS {
        for or in [None, Some(4_000_000)] {
            rows += prove::<()>(world, way, or);
            rows += prove::<IncludeHidden>(world, way, or);
            rows += prove::<Without<Tag>>(world, way, or);
            rows += prove::<With<Awake>>(world, way, or);
            rows += prove::<(With<Target>, Without<Text>)>(world, way, or);
        }
    }
    rows
}

/// The chunk sizes of the tests, beside the one of the environment.
fn worlds() -> [World; 4] {
    let sized = |size, extent| World::builder().chunk_size(size).extent_chunks_max(extent).build();
    let [small, middle, large] = [4, 16, 256].map(|kib| ChunkSize::new(kib << 10).expect("a size"));
    [world(), sized(small, 4), sized(middle, 64), sized(large, 1)]
}

/// Entities of several archetypes with targets and parents among all of them.
fn random_world(world: &mut World, seed: u64, len: usize) {
    let mut state = seed | 1;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % below.max(1)
    };
    let row = || (Out(0), Seen(0), Heavy([0; 12]));
    let mut all = Vec::new();
    for number in (0..).take(len) {
        all.push(match random(7) {
            0 | 1 => world.spawn(row()),
            2 => world.spawn((row(), Value(number))),
            3 => world.spawn(Value(number)),
            4 => world.spawn((row(), Tag, Value(number))),
            5 => world.spawn((row(), Awake)),
            _ => world.spawn(Tag),
        });
    }
    // Rows with a target and rows without one lie in stretches of their own in one half.
    for at in 0..len {
        let (target, parent) = (all[random(len)], all[random(len)]);
        let is_related = if at < len / 2 { at / 20 % 2 == 0 } else { random(4) > 0 };
        if is_related {
            world.insert(all[at], Target::of(target)).expect("both are alive");
            _ = world.insert(all[at], ChildOf::of(parent)); // a cycle is refused
        }
        match random(12) {
            0 => _ = world.insert(all[at], Disabled),
            1 => _ = world.set_enabled::<Awake>(all[at], false),
            2 => _ = world.set_enabled::<Value>(all[at], false),
            3 => _ = world.insert(all[at], Text::from("text")),
            4 => _ = world.insert(all[at], Target::of(all[at])),
            _ => {}
        }
    }
    for _ in 0..len / 10 {
        let entity = all.swap_remove(random(all.len()));
        world.despawn(entity).expect("it is alive");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 1 } else { effort(6) },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn passes_are_looks_at_each_row(seed in any::<u64>(), len in 1usize..300) {
        for mut world in worlds() {
            random_world(&mut world, seed, if cfg!(miri) { len / 10 + 1 } else { len });
            sound(&world);
            prove_all(&mut world);
            sound(&world);
        }
    }
}

#[test]
fn a_random_world_has_rows_of_all_kinds() {
    for mut world in worlds() {
        random_world(&mut world, 7, if cfg!(miri) { 60 } else { 600 });
        for way in WAYS {
            let (some, _) = wanted_runs::<()>(&world, way, None);
            let (all, _) = wanted_runs::<()>(&world, way, Some(0));
            let [some_rows, all_rows] = [&some, &all].map(|runs| runs.concat().len());
            assert!(0 < some_rows && some_rows < all_rows, "{way:?}");
            let slices = world.query::<(&Out, &Seen)>().iter().count();
            assert!(some.len() > slices && all.len() == slices, "{way:?}");
        }
        assert!(prove_all(&mut world) > 100);
    }
}

#[test]
fn a_world_without_the_relation_has_own_values_alone() {
    let mut world = world();
    world.spawn((Out(0), Seen(0)));
    world.spawn((Out(0), Seen(0), Value(5)));
    assert_eq!(prove::<()>(&mut world, Way::Target, None), 0);
    assert_eq!(prove::<()>(&mut world, Way::Nearest, None), 0);
    assert_eq!(prove::<()>(&mut world, Way::OwnOrNearest, None), 1);
    assert_eq!(prove::<()>(&mut world, Way::Target, Some(3)), 2);
}

#[test]
fn rows_that_all_have_a_target_are_whole_chunks() {
    let mut world = world();
    let target = world.spawn((Value(9), Out(0), Seen(0)));
    world.insert(target, Target::of(target)).expect("it is alive");
    world.spawn_batch((0..5000).map(|_| (Value(1), Out(0), Seen(0), Target::of(target))));
    let slices = world.query::<(&Out, &Seen)>().iter().count();
    assert_eq!(pass::<()>(&mut world, Way::Target, None).len(), slices);
    assert_eq!(prove::<()>(&mut world, Way::Target, None), 5001);
    world.despawn(target).expect("it is alive");
    assert_eq!(prove::<()>(&mut world, Way::Target, None), 0, "the relations are gone with it");
}

#[test]
fn rows_that_are_sorted_by_their_target_are_one_slice() {
    let mut world = world();
    let target = world.spawn(Value(9));
    let rows = world.spawn_batch((0..20).map(|_| (Out(0), Seen(0)))).to_vec();
    for &row in rows.iter().step_by(2) {
        world.insert(row, Target::of(target)).expect("both are alive");
    }
    assert_eq!(pass::<()>(&mut world, Way::Target, None).len(), 10);
    let rows = world.matching::<(&Out, Option<&Target>)>();
    assert!(rows.sort_by_key(|(_, target)| target.is_none()) > 0);
    assert_eq!(pass::<()>(&mut world, Way::Target, None).len(), 1);
    assert_eq!(prove::<()>(&mut world, Way::Target, None), 10);
}

#[test]
fn a_cycle_of_targets_is_one_step_for_each() {
    let mut world = world();
    let all = world.spawn_batch((0..3).map(|i| (Value(i), Out(0), Seen(0)))).to_vec();
    for at in 0..3 {
        world.insert(all[at], Target::of(all[(at + 1) % 3])).expect("cycles are allowed");
    }
    assert_eq!(
        pass::<()>(&mut world, Way::Target, None),
        [[(all[0], 1), (all[1], 2), (all[2], 0)]]
    );
    assert_eq!(prove::<()>(&mut world, Way::Target, None), 3);
}

#[test]
fn a_long_chain_is_walked_to_its_root() {
    let mut world = world();
    let len = if cfg!(miri) { 40 } else { 500 };
    let all = world.spawn_batch((0..len).map(|_| (Out(0), Seen(0)))).to_vec();
    for pair in all.windows(2) {
        world.insert(pair[1], ChildOf::of(pair[0])).expect("no cycle");
    }
    assert_eq!(prove::<()>(&mut world, Way::Nearest, None), 0);
    world.insert(all[0], Value(8)).expect("it is alive");
    assert_eq!(prove::<()>(&mut world, Way::Nearest, None), len - 1);
    assert_eq!(prove::<()>(&mut world, Way::OwnOrNearest, None), len);
}

#[test]
fn a_pass_over_a_chain_walks_no_way_twice() {
    let mut world = world();
    let len = if cfg!(miri) { 60 } else { 100_000 };
    let all = world.spawn_batch((0..len).map(|_| (Out(0), Seen(0)))).to_vec();
    for pair in all.windows(2) {
        world.insert(pair[1], ChildOf::of(pair[0])).expect("no cycle");
    }
    // Five thousand million steps if each row walks to the root.
    assert!(pass::<()>(&mut world, Way::Nearest, None).is_empty());
    for (at, value) in [(0, 1), (len / 2, 2)] {
        world.insert(all[at], Value(value)).expect("it is alive");
    }
    let mut rows: Vec<_> = pass::<()>(&mut world, Way::Nearest, None).concat();
    rows.sort_unstable();
    let wanted = (1..len).map(|at| (all[at], if at <= len / 2 { 1 } else { 2 }));
    assert!(rows.into_iter().eq(wanted));
}

#[test]
fn a_panic_of_the_kernel_stamps_the_slices_that_it_got() {
    let mut world = world();
    let target = world.spawn(Value(1));
    let none = world.spawn(());
    let rows = world
        .spawn_batch((0..64).map(|i| (Out(0), Target::of(if i == 20 { none } else { target }))));
    let rows = rows.to_vec();
    let before = world.version();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        world.run(|targets: Relation<Target>, values: Lookup<Value>, outs: Query<&mut Out>| {
            targets.target_values(&values).for_each_chunk(outs, |outs, values| {
                outs[0].0 = values[0].0;
                assert!(outs.is_empty(), "in the middle");
            });
        });
    }));
    panicked.expect_err("it panics");
    sound(&world);
    let changed = world.query::<&Out>().filter_since::<ChangedLines<Out>>(before);
    assert!(changed.chunks().flat_map(|chunk| chunk.rows()).eq(0..20));
    assert_eq!(world.get::<Out>(rows[0]), Ok(&Out(1)));
    assert_eq!(world.get::<Out>(rows[21]), Ok(&Out(0)));
}

#[test]
fn a_body_that_wrote_nothing_stamps_nothing() {
    let mut world = world();
    let target = world.spawn(Value(1));
    world.spawn_batch((0..10).map(|i| (Out(i), Seen(i), Target::of(target))));
    world.spawn_batch((0..10).map(|i| (Out(i), Seen(i), Tag, Target::of(target))));
    let before = world.version();
    let len = world.run(|targets: Relation<Target>, values: Lookup<Value>, all: All<()>| {
        let mut len = 0;
        targets.target_values(&values).for_each_chunk(all, |(entities, ..), _| {
            len += entities.len();
            Modified::No
        });
        len
    });
    assert_eq!(len, 20);
    assert!(world.query::<&Seen>().changed_since::<Seen>(before).is_empty());
    assert!(world.query::<&Out>().filter_since::<ChangedLines<Out>>(before).is_empty());
}

#[test]
fn queries_that_read_and_terms_of_all_kinds_have_values_beside() {
    let mut world = world();
    let target = world.spawn((Value(6), Tag));
    let empty = world.spawn(());
    world.spawn_batch(
        (0..20).map(|i| (Seen(i), Target::of(if i % 5 == 0 { empty } else { target }))),
    );
    let named = world.spawn((Seen(100), Text::from("a"), Target::of(target)));
    let (targets, values) = (world.relation::<Target>(), world.lookup::<Value>());
    let values = targets.target_values(&values);
    assert_eq!(values.get(named), Some(&Value(6)));
    assert_eq!(
        (values.get(target), values.get(empty), values.get(Entity::NULL)),
        (None, None, None)
    );
    // Padding is no row.
    let mut lens = Vec::new();
    let seen = world.query::<&Seen>().padded();
    values.for_each_chunk(seen, |seen, values| {
        assert_eq!(seen.len(), values.len());
        lens.push(seen.len());
    });
    assert_eq!(lens, [4, 4, 4, 5]);
    // Sparse and optional terms, which are cut with the rows.
    let mut texts = Vec::new();
    let query = world.query::<(&Seen, Option<&Text>, Option<&Out>)>();
    values.for_each_chunk(query, |(seen, text, out), _| {
        assert!(out.is_none());
        let text = text.into_iter().flatten();
        texts.extend(text.map(|(row, text)| (seen[row].0, text.0.clone())));
    });
    assert_eq!(texts, [(100, "a".to_owned())]);
    // No terms, and a component without data.
    let tags = world.lookup::<Tag>();
    let (mut calls, mut rows) = (0, 0);
    targets.target_values(&tags).for_each_chunk(world.query::<()>().with::<Seen>(), |(), tags| {
        (calls, rows) = (calls + 1, rows + tags.len());
    });
    assert_eq!((calls, rows), (4, 17));
    // Nothing is found in a lookup of no entity, unless a value is given.
    let heavies = world.lookup::<Heavy>();
    let heavies = targets.target_values(&heavies);
    heavies.for_each_chunk(world.query::<&Seen>(), |seen, _| assert!(seen.is_empty()));
    assert!(heavies.or(&Heavy([3; 12])).get(Entity::NULL).is_some());
}

#[test]
fn a_sparse_value_that_is_written_is_marked_where_a_row_is_visited() {
    let mut world = world();
    let target = world.spawn(Value(6));
    // A block of values, and one more.
    let old = || (Seen(0), Text::from("old"));
    let left_out = world.spawn_batch((0..512).map(|_| old())).to_vec();
    let seen = world.spawn((old(), Target::of(target)));
    let before = world.version();
    world.run(|targets: Relation<Target>, values: Lookup<Value>, texts: Query<&mut Text>| {
        targets.target_values(&values).for_each_chunk(texts, |texts, values| {
            assert_eq!(values.len(), 1);
            texts.into_iter().for_each(|(row, text)| text.0 = format!("{} {row}", values[row].0));
        });
    });
    assert_eq!(world.get::<Text>(seen).expect("it has one").0, "6 0");
    assert!(left_out.iter().all(|&one| world.get::<Text>(one).expect("it has one").0 == "old"));
    let texts = world.sparse::<Text>();
    let changed: Vec<_> = texts.blocks().changed_since(before).flat_map(|(of, _)| of).collect();
    assert_eq!(changed, [&seen]);
    drop(texts);
    sound(&world);
}

#[test]
fn a_filter_by_change_sees_the_row_and_not_its_target() {
    let mut world = world();
    let target = world.spawn(Value(1));
    let row = world.spawn((Out(0), Target::of(target)));
    let visited = |world: &mut World, since| {
        world.run(move |targets: Relation<Target>, values: Lookup<Value>, outs: Query<&Out>| {
            let mut seen = Vec::new();
            let changed = outs.changed_since::<Out>(since);
            targets.target_values(&values).for_each_chunk(changed, |_, values| {
                seen.extend(values.iter().map(|value| value.0));
            });
            seen
        })
    };
    let before = world.version();
    world.get_mut::<Value>(target).expect("it has one").0 = 2;
    assert_eq!(visited(&mut world, before), []);
    world.get_mut::<Out>(row).expect("it has one").0 = 1;
    assert_eq!(visited(&mut world, before), [2]);
}

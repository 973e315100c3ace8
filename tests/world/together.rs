//! Enable bits, hidden and cleanup components, and readers of gains and losses, together.

use phalanx::prelude::*;

use crate::common::components::sound;

#[component]
#[derive(Debug, PartialEq)]
struct Engine(u32);
#[component(cleanup)]
#[derive(Debug, PartialEq)]
struct Handle(u32);
#[component(enableable)]
#[derive(Debug, PartialEq)]
struct Lit(u32);
#[component(enableable, cleanup)]
#[derive(Debug, PartialEq)]
struct Trace(u32);

#[test]
fn a_despawn_that_keeps_cleanup_components_is_one_departure() {
    let mut world = World::new();
    let mut gone = world.cursor::<Despawns>();
    let mut engines = world.cursor::<Removals<Engine>>();
    let mut handles = world.cursor::<Removals<Handle>>();
    let all: Vec<_> = (0..6).map(|i| world.spawn((Engine(i), Handle(i)))).collect();
    world.despawn(all[0]).unwrap();
    world.despawn_batch(&all[1..3]);
    world.matching::<&Engine>().despawn();
    assert_eq!(gone.read(&world).len(), 6, "each once");
    assert_eq!(engines.read(&world).0.len(), 6);
    assert!(handles.read(&world).0.is_empty(), "they are there");
    world.remove::<Handle>(all[0]).unwrap();
    world.matching::<&Handle>().with::<Gone>().remove::<Handle>();
    assert!(gone.read(&world).is_empty(), "they had gone before");
    let (entities, values) = handles.read(&world);
    assert_eq!(entities.len(), 6);
    assert!(entities.iter().zip(values).all(|(entity, handle)| all[handle.0 as usize] == *entity));
    assert!(world.is_empty());
    sound(&world);
}

#[test]
fn what_is_switched_neither_comes_nor_goes() {
    let mut world = World::new();
    let (mut come, mut gone) = (world.cursor::<Insertions<Lit>>(), world.cursor::<Removals<Lit>>());
    let entity = world.spawn(Lit(1));
    assert_eq!(come.read(&world), (&[entity][..], &[Lit(1)][..]));
    for on in [false, true, false] {
        world.set_enabled::<Lit>(entity, on).unwrap();
    }
    assert!(come.read(&world).0.is_empty() && gone.read(&world).0.is_empty());
    world.despawn(entity).unwrap();
    assert_eq!(gone.read(&world), (&[entity][..], &[Lit(1)][..]), "enabled or not");
}

#[test]
fn bits_follow_rows_to_where_they_are_gone() {
    let mut world = World::new();
    let all = world.spawn_batch((0..500).map(|i| (Engine(i), Trace(i), Lit(i)))).to_vec();
    for entity in all.iter().step_by(3) {
        world.set_enabled::<Trace>(*entity, false).unwrap();
    }
    world.despawn(all[3]).unwrap();
    world.matching::<&Engine>().despawn();
    sound(&world);
    let traced = world.query::<&Trace>().with::<Gone>().count_rows();
    assert_eq!(traced, 500 - 500usize.div_ceil(3));
    assert_eq!(
        world.query::<Entity>().filter::<WithDisabled<Trace>>().with::<Gone>().count_rows(),
        167
    );
    let left = world
        .matching::<Entity>()
        .filter::<(IncludeHidden, WithDisabled<Trace>)>()
        .remove::<Trace>();
    assert_eq!((left, world.len()), (167, 500 - 167), "the others keep their traces");
    sound(&world);
}

#[test]
fn copies_of_a_part_have_the_bits_of_their_original() {
    let mut world = World::new();
    let mut come = world.cursor::<Insertions<Lit>>();
    let original = world.spawn((Lit(7), Handle(1), Prototype));
    world.set_enabled::<Lit>(original, false).unwrap();
    come.read(&world);
    let copies = world.instantiate(original, 40).unwrap().to_vec();
    assert_eq!(come.read(&world).0, copies);
    for &copy in &copies {
        assert_eq!(world.is_enabled::<Lit>(copy), Ok(false));
        assert!(!world.has::<Handle>(copy) && !world.has::<Prototype>(copy));
    }
    assert_eq!(world.query::<&Lit>().count_rows(), 0);
    assert_eq!(
        world.query::<Entity>().filter::<WithDisabled<Lit>>().count_rows(),
        40,
        "not the prototype"
    );
    sound(&world);
}

#[test]
fn hidden_entities_are_switched_only_by_queries_that_see_them() {
    let mut world = World::new();
    let [seen, hidden] = [world.spawn(Lit(1)), world.spawn((Lit(2), Disabled))];
    assert_eq!(world.matching::<&Lit>().disable::<Lit>(), 1);
    assert_eq!(world.is_enabled::<Lit>(seen), Ok(false));
    assert_eq!(world.is_enabled::<Lit>(hidden), Ok(true));
    assert_eq!(world.matching::<&Lit>().filter::<IncludeHidden>().disable::<Lit>(), 1);
    assert_eq!(world.is_enabled::<Lit>(hidden), Ok(false));
    world
        .query_mut::<EnabledMut<Lit>>()
        .filter::<IncludeHidden>()
        .iter_mut()
        .for_each(|mut lit| lit.fill(true));
    assert_eq!(world.query::<&Lit>().filter::<IncludeHidden>().count_rows(), 2);
}

#[test]
fn what_is_done_by_query_is_done_in_its_order_whatever_is_disabled() {
    let order = |despawn: bool| {
        let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
        let all = world.spawn_batch((0..3_000).map(Lit)).to_vec();
        world.spawn_batch((0..3_000).map(|i| (Lit(i), Engine(i))));
        world.set_enabled::<Lit>(all[5], false).unwrap();
        let seen = world.query::<&Lit>().copies().entities();
        let mut gone = world.cursor::<Removals<Lit>>();
        match despawn {
            true => assert_eq!(world.matching::<&Lit>().despawn(), 5_999),
            false => assert_eq!(world.matching::<&Lit>().remove::<Lit>(), 5_999),
        }
        assert_eq!(gone.read(&world).0, seen);
        sound(&world);
    };
    order(true);
    order(false);
}

#[test]
fn a_destructor_that_panics_stops_no_despawn_by_query() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    #[component(sparse)]
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("a bomb");
        }
    }
    let mut world = World::new();
    let all: Vec<_> = (0..3).map(|i| world.spawn(Lit(i))).collect();
    let others: Vec<_> = (0..3).map(|i| world.spawn((Lit(i), Engine(i)))).collect();
    for entity in [&all[..], &others].concat() {
        world.insert(entity, Bomb).unwrap();
    }
    for entity in [all[1], others[1]] {
        world.set_enabled::<Lit>(entity, false).unwrap();
    }
    let despawn = || world.matching::<&Lit>().despawn();
    catch_unwind(AssertUnwindSafe(despawn)).expect_err("a destructor panics");
    assert_eq!((world.len(), world.query::<&Lit>().count_rows()), (2, 0));
    sound(&world);
    catch_unwind(AssertUnwindSafe(|| drop(world))).expect_err("the others panic");
}

#[test]
fn the_end_of_what_is_gone_is_a_removal_of_that() {
    let mut world = World::new();
    let mut ends = world.cursor::<Removals<Gone>>();
    let [one, other] = [1, 2].map(|i| world.spawn(Handle(i)));
    world.despawn(one).unwrap();
    world.despawn(other).unwrap();
    world.remove::<Handle>(one).unwrap();
    assert_eq!(ends.read(&world).0, [one]);
    let missing = world.set_enabled::<Lit>(other, true).unwrap_err();
    assert_eq!(missing, phalanx::error::NoSuchEntity { entity: other }.into());
}

#[test]
#[should_panic(expected = "`.masked().padded()`")]
fn a_padded_query_is_not_narrowed_to_runs() {
    let _ = World::new().query::<&Engine>().padded().with::<Lit>();
}

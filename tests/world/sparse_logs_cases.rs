//! Logs of sparse components, case by case: values, panics, views, and readers.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;

use crate::common::components::{Four, Text, sound};
use crate::common::world;

use super::relations::{ChildOf, PartOf};
use super::sparse::{Drops, Noted};

#[component(sparse, plain)]
#[derive(Debug, PartialEq)]
struct Points(u32);

#[test]
fn a_new_target_is_neither_a_gain_nor_a_loss() {
    let mut world = world();
    let [top, other, child] = [(); 3].map(|()| world.spawn(()));
    let (mut gained, mut lost) =
        (world.cursor::<Insertions<ChildOf>>(), world.cursor::<Removals<ChildOf>>());
    world.insert(child, ChildOf::of(top)).unwrap();
    world.insert(child, ChildOf::of(other)).unwrap();
    world.exchange::<ChildOf, _>(child, ChildOf::of(top)).unwrap();
    let (sources, relations) = gained.read(&world);
    assert_eq!((sources, relations), (&[child][..], &[ChildOf::of(top)][..]));
    assert!(lost.read(&world).0.is_empty());
    world.despawn(top).unwrap();
    let (sources, relations) = lost.read(&world);
    assert_eq!((sources, relations), (&[child][..], &[ChildOf::of(top)][..]));
    assert!(world.contains(child), "it has lost the relation alone");
}

#[test]
fn sources_that_are_despawned_with_their_target_lose_their_components() {
    let mut world = world();
    let whole = world.spawn(Points(1));
    let parts = world.spawn_batch([2, 3].map(|n| (Points(n), PartOf::of(whole)))).to_vec();
    let mut points = world.cursor::<Removals<Points>>();
    let mut relations = world.cursor::<Removals<PartOf>>();
    let mut despawned = world.cursor::<Despawns>();
    world.despawn(whole).unwrap();
    let all = [whole, parts[0], parts[1]];
    assert_eq!(points.read(&world), (&all[..], &[1, 2, 3].map(Points)[..]));
    let (sources, values) = relations.read(&world);
    assert_eq!(sources, &all[1..]);
    assert!(values.iter().all(|value| value.target() == whole));
    assert_eq!(despawned.read(&world), all);
}

#[test]
fn a_panic_of_a_destructor_loses_no_entry() {
    let (mut world, drops) = (world(), Drops::default());
    let mut lost = world.cursor::<Removals<Noted>>();
    let mut gained = world.cursor::<Insertions<Noted>>();
    let all = [drops.panicking(1), drops.value(2), drops.panicking(3), drops.value(4)];
    let entities = all.map(|value| world.spawn(value));
    assert_eq!(gained.read(&world).0, entities);
    let panics = |call: &mut dyn FnMut()| {
        catch_unwind(AssertUnwindSafe(call)).expect_err("a destructor panics");
    };
    panics(&mut || _ = world.despawn(entities[0]));
    assert_eq!(lost.read(&world), (&entities[..1], &[()][..]));
    panics(&mut || world.insert(entities[2], drops.panicking(5)).unwrap());
    assert!(lost.read(&world).0.is_empty() && gained.read(&world).0.is_empty(), "overwritten");
    panics(&mut || world.clear());
    assert_eq!(lost.read(&world).0.len(), 3);
    sound(&world);
}

#[test]
fn what_a_view_does_is_recorded_at_once() {
    let mut world = world();
    let entities = world.spawn_batch([(); 2]).to_vec();
    let mut gained = world.cursor::<Insertions<Text>>();
    let mut view = world.sparse_mut::<Text>();
    view.insert(entities[0], Text::from("a")).unwrap();
    view.insert(entities[1], Text::from("b")).unwrap();
    view.remove(entities[0]).unwrap();
    assert_eq!(gained.read(&world), (&entities[..], &[(); 2][..]));
}

#[test]
fn readers_read_alone_and_from_their_beginning_on() {
    let mut world = world();
    let before = world.spawn(Points(0));
    let mut first = world.cursor::<Removals<Points>>();
    world.remove::<Points>(before).unwrap();
    let mut second = world.cursor::<Removals<Points>>();
    world.insert(before, Points(7)).unwrap();
    world.despawn(before).unwrap();
    assert_eq!(first.read(&world).1, [0, 7].map(Points));
    assert_eq!(second.read(&world).1, [Points(7)]);
    drop((first, second));
    world.memory_mut().age_logs();
    let bytes = world.memory().log_bytes;
    world.spawn_batch((0..10_000).map(Points));
    world.clear();
    assert!(world.memory().log_bytes <= bytes, "no reader is left");
}

#[test]
fn unread_entries_over_the_bound_and_of_a_restored_world_are_missed() {
    let mut world = world();
    world.memory_mut().keep_log::<Insertions<Points>>(10 * 12);
    let mut gained = world.cursor::<Insertions<Points>>();
    let state = world.snapshot().unwrap();
    world.spawn_batch((0..30).map(Points));
    world.memory_mut().age_logs();
    assert_eq!(gained.missed(&world), 20);
    assert_eq!(gained.read(&world).1, Vec::from_iter((20..30).map(Points)));
    world.spawn_batch((0..3).map(Points));
    world.restore(&state).unwrap();
    assert_eq!(gained.missed(&world), 3);
    assert!(gained.read(&world).0.is_empty());
    let new = world.spawn(Points(4));
    assert_eq!(gained.read(&world), (&[new][..], &[Points(4)][..]));
}

#[test]
fn the_readers_of_a_world_stay_when_it_is_merged() {
    let [mut world, mut other] = [(); 2].map(|()| world());
    let mut theirs = other.cursor::<Insertions<Text>>();
    let old = other.spawn((Four(1), Text::from("theirs"), Points(3)));
    assert_eq!(theirs.read(&other).0, [old]);
    let mut gained = world.cursor::<Insertions<Points>>();
    let ids = world.merge(other).unwrap();
    let new = ids.get(old).unwrap();
    assert_eq!(gained.read(&world), (&[new][..], &[Points(3)][..]));
    // No reader of this world asked for it before.
    let mut texts = world.cursor::<Removals<Text>>();
    world.despawn(new).unwrap();
    assert_eq!(texts.read(&world).0, [new]);
}

#[test]
fn another_type_of_the_name_is_refused() {
    mod other {
        use phalanx::prelude::*;
        #[component(sparse, name = "sparse_logs.same")]
        pub(super) struct Same;
    }
    #[component(sparse, name = "sparse_logs.same")]
    struct Same;
    let mut world = world();
    world.spawn(Same);
    let refused = catch_unwind(AssertUnwindSafe(|| world.cursor::<Removals<other::Same>>()));
    let text = *refused.expect_err("the name is taken").downcast::<String>().unwrap();
    assert!(text.contains("sparse_logs.same"), "{text}");
}

#[test]
fn systems_read_what_other_systems_and_their_own_views_did() {
    #[derive(Default, Debug, PartialEq)]
    struct Seen(Vec<(Entity, u32)>, Vec<Entity>);

    fn award(rows: Query<(Entity, &Four)>, mut points: SparseMut<Points>) {
        for (entity, four) in rows.rows() {
            points.insert(entity, Points(four.0)).unwrap();
        }
    }

    /// Reads and writes one component: rows of logs conflict with no access.
    fn see(
        mut gained: Inserted<Points>,
        mut lost: Removed<Points>,
        mut points: SparseMut<Points>,
        mut seen: ResMut<Seen>,
    ) {
        let (entities, values) = gained.read();
        seen.0.extend(entities.iter().zip(values).map(|(&entity, value)| (entity, value.0)));
        seen.1.extend_from_slice(lost.read().0);
        entities.iter().for_each(|&entity| _ = points.remove(entity));
    }

    let mut world = world();
    let entities = world.spawn_batch((5..8).map(Four)).to_vec();
    world.insert_resource(Seen::default());
    let mut schedule = Schedule::new();
    schedule.add(award);
    schedule.add(see).after(award);
    schedule.run(&mut world).unwrap();
    schedule.run(&mut world).unwrap();
    let seen = world.remove_resource::<Seen>().unwrap();
    let once = Vec::from_iter(entities.iter().copied().zip(5..8));
    assert!(seen.0.starts_with(&once), "{seen:?}");
    assert_eq!(seen.1, entities, "removed in the first run");
    assert!(world.sparse::<Points>().is_empty());
    sound(&world);
}

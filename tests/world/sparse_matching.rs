//! Sparse components of all entities that a query matches: inserted and removed by one call.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use phalanx::command::{ApplyError, CommandErrorKind};
use phalanx::prelude::*;
use proptest::prelude::*;

use crate::common::components::{Four, Number, Other, Owned, Page, Tag, Text, small_world, sound};
use crate::common::effort::effort;

use super::relations::ChildOf;

/// The numbers and the texts of entities.
type Values = (BTreeMap<Entity, u32>, BTreeMap<Entity, String>);

fn values(world: &World) -> Values {
    let numbers = world.sparse::<Number>();
    let texts = world.sparse::<Text>();
    (
        numbers.iter().map(|(entity, number)| (entity, number.0)).collect(),
        texts.iter().map(|(entity, text)| (entity, text.0.clone())).collect(),
    )
}

fn apply(world: &mut World, record: impl FnOnce(&mut CommandBuffer)) -> usize {
    let mut buffer = world.command_buffer(0).expect("room");
    record(&mut buffer);
    world.apply(&mut buffer).expect("nothing fails").matched
}

/// A world with entities of each set of three components.
fn filled() -> (World, Vec<Entity>) {
    filled_in(small_world())
}

fn filled_in(mut world: World) -> (World, Vec<Entity>) {
    let mut all = Vec::new();
    for number in 0..if cfg!(miri) { 16 } else { 800 } {
        let entity = world.spawn(Four(number));
        if number % 2 == 0 {
            world.insert(entity, Tag).expect("alive");
        }
        if number % 3 == 0 {
            world.insert(entity, Number(number)).expect("alive");
        }
        if number % 7 == 0 {
            world.insert(entity, Disabled).expect("alive");
        }
        all.push(entity);
    }
    (world, all)
}

#[test]
fn a_mixed_bundle_goes_to_all_that_match() {
    for by_command in [false, true] {
        let (mut world, _) = filled();
        let matched: Vec<_> = world.query::<Entity>().with::<Tag>().rows().collect();
        let (mut expected, version) = (values(&world), world.version());
        let bundle = (Other, Number(9), Text::from("new"));
        let changed = match by_command {
            true => apply(&mut world, |buffer| buffer.insert_where::<Entity, With<Tag>, _>(bundle)),
            false => world.matching::<Entity>().with::<Tag>().insert(bundle).expect("it fits"),
        };
        assert_eq!(changed, matched.len());
        assert_eq!(world.version() > version, changed > 0);
        for &entity in &matched {
            expected.0.insert(entity, 9);
            expected.1.insert(entity, "new".to_owned());
        }
        assert_eq!(values(&world), expected);
        assert_eq!(world.query::<&Other>().count_rows(), matched.len());
        let order: Vec<_> = world.sparse::<Text>().iter().map(|(entity, _)| entity).collect();
        assert_eq!(order, matched, "in the order of the query");
        sound(&world);

        // Some entities with one of them have another.
        let having: Vec<_> =
            world.query::<Entity>().filter::<Or<(With<Number>, With<Other>)>>().rows().collect();
        let removed = match by_command {
            true => apply(&mut world, CommandBuffer::remove_where::<&Four, (), (Number, Other)>),
            false => world.matching::<&Four>().remove::<(Number, Other)>(),
        };
        assert_eq!(removed, having.len());
        having.iter().for_each(|entity| _ = expected.0.remove(entity));
        assert_eq!(values(&world), expected);
        assert_eq!(world.query::<&Other>().count_rows(), 0);
        sound(&world);
        let version = world.version();
        assert_eq!(world.matching::<&Four>().remove::<(Number, Other)>(), 0);
        assert_eq!(world.version(), version, "nothing has changed");
    }
}

#[test]
fn the_component_itself_may_be_what_matches() {
    let (mut world, _) = filled();
    let with: Vec<_> = world.query::<Entity>().with::<Number>().rows().collect();
    assert_eq!(world.matching::<&Number>().insert(Number(7)), Ok(with.len()));
    assert!(world.query::<&Number>().rows().all(|number| number.0 == 7));
    let without = world.query::<Entity>().without::<Number>().count_rows();
    let inserted = world.matching::<Entity>().without::<Number>().insert(Number(8));
    assert_eq!(inserted, Ok(without));
    sound(&world);
    assert_eq!(world.matching::<&Number>().remove::<Number>(), with.len() + without);
    assert_eq!(world.query::<&Number>().count_rows(), 0);
    // Hidden entities are passed over.
    let hidden = world.query::<Entity>().with::<Disabled>().count_rows();
    assert!(world.sparse::<Number>().len() <= hidden);
    sound(&world);
}

#[test]
fn a_call_that_is_refused_changes_nothing() {
    // A row of a page and more fits no chunk.
    let (mut world, _) = filled_in(World::builder().chunk_size(ChunkSize::KIB_4).build());
    let alive = Arc::new(1);
    for by_command in [false, true] {
        let (before, version, hash) = (values(&world), world.version(), world.hash());
        let bundle = (Page([0; 4096]), Number(1), Owned(Arc::clone(&alive)));
        if by_command {
            let mut buffer = world.command_buffer(0).expect("room");
            buffer.insert_where::<&Four, (), _>(bundle);
            let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else {
                panic!("the row does not fit")
            };
            assert!(matches!(errors.as_slice()[0].fault, CommandErrorKind::Layout(_)));
        } else {
            assert!(world.matching::<&Four>().insert(bundle).is_err());
            assert_eq!((world.version(), world.hash()), (version, hash));
        }
        assert_eq!((values(&world), Arc::strong_count(&alive)), (before, 1));
        sound(&world);
    }
}

/// Panics at the clone of a number.
#[component(sparse)]
struct Fragile {
    left: Arc<AtomicU32>,
    alive: Arc<()>,
}

impl Clone for Fragile {
    fn clone(&self) -> Self {
        assert!(self.left.fetch_sub(1, Relaxed) > 0, "a clone panics");
        Self { left: Arc::clone(&self.left), alive: Arc::clone(&self.alive) }
    }
}

#[test]
fn a_clone_that_panics_changes_nothing() {
    for by_command in [false, true] {
        let (mut world, _) = filled();
        let (before, version) = (values(&world), world.version());
        let alive = Arc::new(());
        let value = Fragile { left: Arc::new(AtomicU32::new(5)), alive: Arc::clone(&alive) };
        let bundle = (Other, Number(1), value);
        let result = catch_unwind(AssertUnwindSafe(|| match by_command {
            true => apply(&mut world, |buffer| buffer.insert_where::<&Four, (), _>(bundle)),
            false => world.matching::<&Four>().insert(bundle).expect("it fits"),
        }));
        assert!(result.is_err());
        assert_eq!(values(&world), before);
        assert!(by_command || world.version() == version);
        assert_eq!((Arc::strong_count(&alive), world.sparse::<Fragile>().len()), (1, 0));
        assert_eq!(world.query::<&Other>().count_rows(), 0);
        sound(&world);
    }
    // One clone for each entity but the last.
    let (mut world, _) = filled();
    let (alive, len) = (Arc::new(()), world.query::<&Four>().count_rows());
    let left = Arc::new(AtomicU32::new(u32::try_from(len).expect("few") - 1));
    let value = Fragile { left: Arc::clone(&left), alive: Arc::clone(&alive) };
    assert_eq!(world.matching::<&Four>().insert(value), Ok(len));
    assert_eq!((left.load(Relaxed), Arc::strong_count(&alive)), (0, len + 1));
    assert_eq!(world.matching::<&Four>().remove::<Fragile>(), len);
    assert_eq!(Arc::strong_count(&alive), 1);
    // Of no entity the value is dropped.
    let value = Fragile { left, alive: Arc::clone(&alive) };
    assert_eq!(world.matching::<&Four>().with::<Other>().insert(value), Ok(0));
    assert_eq!(Arc::strong_count(&alive), 1);
    // A command that is never applied drops it.
    let mut buffer = world.command_buffer(0).expect("room");
    let value = Fragile { left: Arc::default(), alive: Arc::clone(&alive) };
    buffer.insert_where::<&Four, (), _>(value);
    drop(buffer);
    assert_eq!(Arc::strong_count(&alive), 1);
}

#[test]
fn destructors_that_panic_end_no_change() {
    #[component(sparse)]
    #[derive(Clone)]
    struct Loud(Arc<()>);
    impl Drop for Loud {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let (mut world, _) = filled();
    let (alive, len) = (Arc::new(()), world.query::<&Four>().count_rows());
    assert_eq!(world.matching::<&Four>().insert(Loud(Arc::clone(&alive))), Ok(len));
    for _ in 0..2 {
        let bundle = (Other, Loud(Arc::clone(&alive)));
        let insert = || world.matching::<&Four>().insert(bundle);
        assert!(catch_unwind(AssertUnwindSafe(insert)).is_err());
        assert_eq!((world.sparse::<Loud>().len(), Arc::strong_count(&alive)), (len, len + 1));
        assert_eq!(world.query::<&Other>().count_rows(), len);
        sound(&world);
    }
    let remove = || world.matching::<&Four>().remove::<(Loud, Other)>();
    assert!(catch_unwind(AssertUnwindSafe(remove)).is_err());
    assert_eq!((world.sparse::<Loud>().len(), Arc::strong_count(&alive)), (0, 1));
    assert_eq!(world.query::<&Other>().count_rows(), 0);
    sound(&world);
}

#[test]
fn logs_have_what_came_and_what_went() {
    let (mut world, _) = filled();
    let mut gained = world.cursor::<Insertions<Text>>();
    let mut lost = world.cursor::<Removals<Text>>();
    let tagged: Vec<_> = world.query::<Entity>().with::<Tag>().rows().collect();
    world.insert(tagged[1], Text::from("had")).expect("alive");
    gained.read(&world);
    apply(&mut world, |buffer| buffer.insert_where::<Entity, With<Tag>, _>(Text::from("new")));
    let new: Vec<_> = tagged.iter().filter(|&&one| one != tagged[1]).copied().collect();
    assert_eq!(gained.read(&world).0, new);
    assert!(lost.read(&world).0.is_empty(), "one was replaced");
    apply(&mut world, CommandBuffer::remove_where::<Entity, With<Tag>, Text>);
    assert_eq!(lost.read(&world).0, tagged);
}

#[test]
fn relations_can_be_removed() {
    let mut world = small_world();
    let parent = world.spawn(());
    let children: Vec<_> = (0..9).map(|i| world.spawn((Four(i), ChildOf::of(parent)))).collect();
    assert_eq!(world.matching::<&Four>().remove::<ChildOf>(), children.len());
    assert!(world.relation::<ChildOf>().sources(parent).is_empty());
    sound(&world);
}

#[test]
fn what_is_gone_gets_none_and_loses_cleanup_components() {
    #[component(sparse, plain, cleanup)]
    struct Slot(u32);
    let mut world = small_world();
    let all: Vec<_> = (0..9).map(|i| world.spawn((Four(i), Slot(i)))).collect();
    world.despawn_batch(&all[..4]);
    let hidden = world.matching::<Entity>().filter::<IncludeHidden>();
    assert_eq!(hidden.insert((Number(1), Slot(7))), Ok(5));
    assert_eq!(world.sparse::<Number>().len(), 5);
    assert!(all[..4].iter().all(|&entity| world.get::<Slot>(entity).expect("kept").0 < 4));
    sound(&world);
    assert_eq!(world.matching::<&Slot>().with::<Gone>().remove::<(Slot, Number)>(), 4);
    assert_eq!(world.len(), 5);
    sound(&world);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 3 } else { effort(32) },
        failure_persistence: None,
        ..Default::default()
    })]

    /// A call for all that match has the effect of calls for each, in any chunks, and of a command.
    #[test]
    fn one_call_has_the_effect_of_many(
        kinds in prop::collection::vec(0..8_u32, 1..120),
        removes in any::<bool>(),
    ) {
        let mut worlds = [(); 3].map(|()| small_world());
        for world in &mut worlds {
            world.register::<(Four, Tag, Other, Number, Text)>();
            for (number, &kind) in (0..).zip(&kinds) {
                let entity = world.spawn(Four(number));
                if kind & 1 != 0 {
                    world.insert(entity, Tag).expect("alive");
                }
                if kind & 2 != 0 {
                    world.insert(entity, (Number(number), Text::from("old"))).expect("alive");
                }
                if kind & 4 != 0 {
                    world.insert(entity, Other).expect("alive");
                }
            }
        }
        let [one, many, commands] = &mut worlds;
        let tagged: Vec<_> = many.query::<Entity>().with::<Tag>().rows().collect();
        let bundle = || (Number(1000), Other, Text::from("new"));
        let changed = if removes {
            let mut removed = 0;
            for &entity in &tagged {
                let has = (
                    many.remove::<Number>(entity).is_ok(),
                    many.remove::<Other>(entity).is_ok(),
                );
                removed += usize::from(has.0 || has.1);
            }
            let remove = CommandBuffer::remove_where::<Entity, With<Tag>, (Number, Other)>;
            prop_assert_eq!(apply(commands, remove), removed);
            prop_assert_eq!(one.matching::<&Tag>().remove::<(Number, Other)>(), removed);
            removed
        } else {
            tagged.iter().for_each(|&entity| many.insert(entity, bundle()).expect("alive"));
            let insert = |buffer: &mut CommandBuffer| {
                buffer.insert_where::<Entity, With<Tag>, _>(bundle());
            };
            prop_assert_eq!(apply(commands, insert), tagged.len());
            prop_assert_eq!(one.matching::<&Tag>().insert(bundle()), Ok(tagged.len()));
            tagged.len()
        };
        prop_assert!(changed <= kinds.len());
        let order = |world: &World| -> Vec<Entity> {
            world.sparse::<Number>().iter().map(|(entity, _)| entity).collect()
        };
        for world in [&*one, &*commands] {
            sound(world);
            prop_assert_eq!(values(world), values(many));
            prop_assert_eq!(order(world), order(many));
            let others = |world: &World| world.query::<&Other>().count_rows();
            prop_assert_eq!(others(world), others(many));
        }
    }
}

//! Sparse components as parameters: their access, their values, and the end of their entities.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use phalanx::prelude::*;
use phalanx::schedule::Subject;
use phalanx::sparse::SparseComponent;
use phalanx::{AnyOf, IgnoreEnabled};

use super::{A, B, Mark, panic_text, world};

#[component(sparse)]
struct Name(String);

#[component(sparse)]
struct Text(String);
#[component(sparse)]
struct Number(u32);

/// Counts its values by the owners of one `Arc`.
#[component(sparse)]
struct Counted(Arc<()>);

fn name_all(rows: Query<(Entity, &A)>, mut names: SparseMut<Name>) {
    for (entity, a) in rows.rows() {
        let replaced = names.insert(entity, Name(format!("number {}", a.0))).unwrap();
        assert!(replaced.is_none(), "each entity is named once");
    }
}

#[test]
fn systems_write_and_read_values_by_entity() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add(|names: Sparse<Name>| assert!(names.is_empty(), "nothing has run before"));
    schedule.add(name_all);
    schedule.add(|rows: Query<(Entity, &A)>, names: Sparse<Name>, other: Sparse<Text>| {
        assert!(other.is_empty() && names.len() == 600);
        let names = &names;
        rows.par().for_each_chunk(|(entities, a)| {
            for (&entity, a) in entities.iter().zip(a) {
                assert_eq!(names.get(entity).unwrap().0, format!("number {}", a.0));
            }
        });
    });
    schedule.run(&mut world).unwrap();
    assert_eq!(world.sparse::<Name>().len(), 600);
    assert_eq!(world.check(), Ok(()));
}

#[test]
fn values_end_with_entities_that_commands_despawn_in_the_same_stage() {
    let (mut world, owner) = (world(), Arc::new(()));
    let mut schedule = Schedule::new();
    let counted = Arc::clone(&owner);
    schedule.add(move |rows: Query<Entity>, mut values: SparseMut<Counted>| {
        for &entity in rows.into_iter().flatten() {
            values.insert(entity, Counted(Arc::clone(&counted))).unwrap();
        }
    });
    schedule.add(|rows: Query<Entity, With<Mark>>, mut commands: Commands| {
        rows.into_iter().flatten().for_each(|&entity| commands.despawn(entity));
    });
    schedule.run(&mut world).unwrap();
    assert_eq!((world.len(), Arc::strong_count(&owner)), (300, 302));
    assert_eq!(world.check(), Ok(()));
    world.clear();
    assert_eq!(Arc::strong_count(&owner), 2);
}

#[test]
fn an_entity_that_is_not_alive_yet_takes_its_value_by_a_command() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add(|mut names: SparseMut<Name>, mut commands: Commands| {
        let [coming, gone] = [commands.spawn(A(7)), commands.spawn(A(8))];
        let refused = names.insert(coming, Name("too early".to_owned())).err();
        assert_eq!(refused.unwrap().entity, coming);
        commands.run(move |world| {
            world.sparse_mut().insert(coming, Name("in time".to_owned())).map(drop).unwrap();
            world.despawn(gone).unwrap();
            assert!(world.sparse_mut().insert(gone, Name("too late".to_owned())).is_err());
        });
    });
    for run in 1..4 {
        schedule.run(&mut world).unwrap();
        let names = world.sparse::<Name>();
        assert_eq!(names.len(), run);
        assert!(names.iter().all(|(_, name)| name.0 == "in time"));
    }
    assert_eq!(world.check(), Ok(()));
}

#[test]
fn systems_that_write_a_type_exclude_others_of_it() {
    #[track_caller]
    fn refused<M: 'static>(system: impl phalanx::schedule::System<M>, second: usize) {
        let error = Schedule::new().try_add(system).unwrap_err();
        assert_eq!((error.first.position, error.second.position), (1, second), "{error}");
        assert!(matches!(error.subject, Subject::Sparse(_)), "{error}");
    }
    refused(|_: Sparse<Name>, _: SparseMut<Name>| (), 2);
    refused(|_: SparseMut<Name>, _: Commands, _: SparseMut<Name>| (), 3);
    let mut schedule = Schedule::new();
    schedule.add(|_: Sparse<Name>, _: Sparse<Name>, _: SparseMut<Text>, _: Res<Name>| ());
    let text = panic_text(|| {
        fn twice(_: SparseMut<Text>, _: Sparse<Text>) {}
        Schedule::new().add(twice);
    });
    assert_eq!(
        text,
        format!(
            "system `twice`: parameters 1 `SparseMut<Text>` and 2 `Sparse<Text>` both name the sparse \
             component `{}`, and one writes it: remove one of the two",
            Text::NAME
        )
    );
    let text = panic_text(|| {
        Schedule::new().add(|_: Query<Entity, With<Text>>, _: SparseMut<Text>| ());
    });
    assert!(text.ends_with("or make insertions and removals commands"), "{text}");
}

#[test]
fn the_schedule_orders_writers_and_lets_readers_meet() {
    fn read(_: Sparse<Text>) {}
    fn read_too(_: Sparse<Text>, _: Sparse<Number>) {}
    fn write(_: SparseMut<Text>) {}
    fn write_other(_: SparseMut<Number>) {}
    fn component(_: Query<&mut B>, _: ResMut<String>) {}
    let mut schedule = Schedule::new();
    schedule.add((read, read_too, write, write_other, component));
    schedule.check().unwrap();
    let text = schedule.to_string();
    let waits: Vec<_> = text.lines().filter(|line| line.contains("waits for")).collect();
    assert_eq!(waits.len(), 3, "{text}");
    assert!(
        text.contains(&format!("waits for read: the sparse component `{}`", Text::NAME)),
        "{text}"
    );
    let waits = format!("waits for read_too: the sparse component `{}`", Number::NAME);
    assert!(text.contains(&waits), "{text}");
    let dot = schedule.to_graphviz().unwrap();
    assert!(dot.contains("writes Text"), "{dot}");
    assert!(dot.contains("reads Number"), "{dot}");
}

/// Every system moves each value from one set to another, if it is there.
#[test]
fn many_systems_in_parallel_lose_no_value() {
    trait Value: SparseComponent {
        fn new(value: u32) -> Self;
        fn get(&self) -> u32;
    }
    macro_rules! values {
        ($($name:ident)*) => {$(
            #[component(sparse)]
            struct $name(u32);
            impl Value for $name {
                fn new(value: u32) -> Self {
                    Self(value)
                }

                fn get(&self) -> u32 {
                    self.0
                }
            }
        )*};
    }
    values!(First Second Third);
    fn swap<X: Value, Y: Value>(mut x: SparseMut<X>, mut y: SparseMut<Y>) {
        let moving: Vec<_> = x.iter().map(|(entity, _)| entity).collect();
        for entity in moving.into_iter().filter(|entity| entity.index() % 3 == 0) {
            let value = x.remove(entity).unwrap().get();
            assert!(y.insert(entity, Y::new(value)).unwrap().is_none());
        }
    }
    fn sum(x: Sparse<First>, y: Sparse<Second>, z: Sparse<Third>) {
        let sums = [
            x.iter().map(|(_, x)| x.0).sum::<u32>(),
            y.iter().map(|(_, y)| y.0).sum::<u32>(),
            z.iter().map(|(_, z)| z.0).sum::<u32>(),
        ];
        assert_eq!(sums.iter().sum::<u32>(), 600 * 599 / 2);
    }
    let mut world = world();
    let entities: Vec<_> = world.query::<Entity>().iter().flatten().copied().collect();
    for (i, &entity) in (0u32..).zip(&entities) {
        world.insert(entity, First(i)).unwrap();
    }
    let mut schedule = Schedule::new();
    schedule.add((
        swap::<First, Second>,
        sum,
        swap::<Second, Third>,
        sum,
        swap::<Third, First>,
        sum,
    ));
    for seed in 0..if cfg!(miri) { 2 } else { 50 } {
        schedule.shuffle(seed);
        schedule.run(&mut world).unwrap();
        assert_eq!(world.check(), Ok(()));
    }
}

#[test]
fn a_system_that_panics_leaves_its_values_usable() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add(name_all).run_if(every(2));
    schedule
        .add(|mut names: SparseMut<Name>, mut fails: Local<bool>| {
            *fails = !*fails;
            names.iter_mut().for_each(|(_, name)| name.0.push('!'));
            assert!(!*fails, "halfway");
        })
        .named("shout");
    let run = catch_unwind(AssertUnwindSafe(|| schedule.run(&mut world)));
    assert!(run.is_err(), "it panicked");
    schedule.run(&mut world).unwrap();
    assert!(world.sparse::<Name>().iter().all(|(_, name)| name.0.ends_with('!')));
}

#[test]
fn a_destructor_that_panics_at_a_sync_point_names_the_system() {
    #[component(sparse)]
    struct Fragile;
    impl Drop for Fragile {
        fn drop(&mut self) {
            panic!("broken");
        }
    }
    let mut world = world();
    let fragile: Vec<_> = world.query::<Entity>().rows().take(3).collect();
    for &entity in &fragile {
        world.sparse_mut().insert(entity, Fragile).unwrap();
    }
    let mut schedule = Schedule::new();
    schedule
        .add(move |mut commands: Commands| {
            for &entity in &fragile {
                commands.despawn(entity);
            }
            commands.spawn(A(1));
        })
        .named("sweep");
    let text = panic_text(|| schedule.run(&mut world).unwrap());
    assert_eq!(text, "a command of system `sweep` panicked: broken");
    assert_eq!(world.len(), 600 - 3 + 1, "all commands were applied");
    assert_eq!(world.check(), Ok(()));
    assert!(world.sparse::<Fragile>().is_empty());
    schedule.run(&mut world).unwrap();
}

#[component(name = "taken")]
struct Column(u32);
#[component(sparse, name = "taken")]
struct Taken(u8);

#[test]
fn a_system_that_reads_owns_the_name() {
    let len = |values: Sparse<Taken>| values.iter().filter(|(_, taken)| taken.0 > 0).count();
    let mut world = World::new();
    world.spawn(Column(1));
    let text = panic_text(|| _ = world.run(len));
    assert!(text.contains("taken"), "{text}");
    let mut schedule = Schedule::new();
    schedule.add(move |values: Sparse<Taken>| _ = len(values));
    assert!(panic_text(|| schedule.run(&mut world).unwrap()).contains("taken"));

    let mut world = World::new();
    assert_eq!(world.run(len), 0);
    assert!(panic_text(|| _ = world.spawn(Column(1))).contains("taken"));
    assert_eq!((world.len(), world.check()), (0, Ok(())));
}

#[test]
fn systems_conflict_from_the_first_entity_with_a_component_on() {
    for seed in 0..20 {
        let mut world = world();
        let entity = world.spawn(A(0));
        let mut schedule = Schedule::new();
        schedule.add(|mut named: Query<&mut A, With<Name>>| named.rows_mut().for_each(|a| a.0 = 1));
        schedule.add(|mut all: Query<&mut A>| all.rows_mut().for_each(|a| a.0 += 10));
        schedule.threads(1).shuffle(seed);
        // No archetype has the component, so the systems may run in any order.
        schedule.run(&mut world).unwrap();
        world.insert(entity, Name("first".to_owned())).unwrap();
        schedule.run(&mut world).unwrap();
        assert_eq!(world.get::<A>(entity).map(|a| a.0), Ok(11), "seed {seed}");
    }
}

#[test]
fn queries_see_insertions_after_a_sync_point_and_removals_at_once() {
    let mut world = world();
    world.run(name_all);
    assert_eq!(world.query::<Entity>().with::<Name>().count_rows(), 600, "`run` ends with one");
    world.insert_resource(Vec::<usize>::new());
    fn count(named: Query<Entity, With<Name>>, mut counts: ResMut<Vec<usize>>) {
        counts.push(named.count_rows());
    }
    let mut schedule = Schedule::new();
    // All but the first named: one is removed and comes back, so that its insertion is a new one.
    let rename = |rows: Query<Entity>, mut names: SparseMut<Name>| {
        for (i, entity) in rows.rows().enumerate() {
            if i < 100 {
                names.remove(entity).expect("it has one");
            }
            if i < 50 {
                names.insert(entity, Name("new".to_owned())).unwrap();
            }
        }
    };
    // The same stage, then the one after the sync point.
    schedule.add(rename).named("rename");
    schedule.add(count);
    schedule
        .add(|named: Query<Entity, With<Name>>, mut counts: ResMut<Vec<usize>>| {
            counts.push(named.count_rows());
        })
        .after("rename");
    schedule.run(&mut world).unwrap();
    assert_eq!(*world.resource::<Vec<usize>>().unwrap(), [500, 550]);
    assert_eq!(world.check(), Ok(()));
}

#[test]
fn rows_chosen_by_a_component_make_no_queries_disjoint_and_read_it() {
    fn subject<M: 'static>(system: impl phalanx::schedule::System<M>) -> Option<String> {
        let error = Schedule::new().try_add(system).err()?;
        Some(error.subject.to_string())
    }
    type Named<'w> = Query<'w, &'static mut A, With<Name>>;
    type Nameless<'w> = Query<'w, &'static mut A, Without<Name>>;
    assert!(subject(|_: Named<'_>, _: Nameless<'_>| ()).expect("it is refused").contains("A"));
    let apart = subject(|_: Query<&mut A, With<Name>>, _: Query<&mut B, Without<Name>>| ());
    assert_eq!(apart, None, "they write other components");
    for refused in [
        subject(|_: Query<&A, With<Name>>, _: SparseMut<Name>| ()),
        subject(|_: SparseMut<Name>, _: Query<&A, Without<Name>>| ()),
        subject(|_: Query<&A, AnyOf<(Name, B)>>, _: SparseMut<Name>| ()),
        subject(|_: Query<&A, (With<Name>, IgnoreEnabled)>, _: SparseMut<Name>| ()),
    ] {
        assert!(refused.expect("it is refused").contains(Name::NAME));
    }
    assert_eq!(subject(|_: Query<&A, With<Name>>, _: Sparse<Name>| ()), None, "both read");
    assert_eq!(subject(|_: Query<&A, With<Name>>, _: SparseMut<Text>| ()), None, "another one");

    fn read(_: Query<&A, With<Text>>) {}
    fn write(_: SparseMut<Text>) {}
    let mut schedule = Schedule::new();
    schedule.add((read, write));
    let text = schedule.to_string();
    let waits = format!("waits for read: the sparse component `{}`", Text::NAME);
    assert!(text.contains(&waits), "{text}");
}

#[test]
fn a_query_of_a_system_is_narrowed_by_a_sparse_component_that_it_names_only() {
    let mut world = world();
    world.run(name_all);
    world.run(|rows: Query<&A, AnyOf<(Name, A)>>| {
        assert_eq!(rows.with::<Name>().count_rows(), 600);
    });
    let text = panic_text(|| {
        world.run(|rows: Query<&A>| rows.with::<Name>().count_rows());
    });
    assert!(text.contains(Name::NAME), "{text}");
}

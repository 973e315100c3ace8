//! The values of systems' parameters.

use phalanx::Lookup;
use phalanx::prelude::*;
use phalanx::schedule::SystemParam;
use phalanx::schedule::{ScheduleError, Subject};

use super::{A, B, C, Mark, panic_text, world};

#[test]
fn a_function_takes_every_kind_of_parameter() {
    struct Step(u64);

    #[expect(clippy::too_many_arguments, reason = "twelve is the limit")]
    fn all(
        bodies: Query<(&mut A, Option<&C>), Without<Mark>>,
        marked: Query<(Entity, &A), With<Mark>>,
        b: Query<&B>,
        everyone: Query<Entity>,
        step: Res<Step>,
        mut sum: ResMut<u64>,
        look: Lookup<B>,
        mut commands: Commands,
        mut runs: Local<u64>,
        mut other: Local<Vec<u32>>,
        text: Res<String>,
        changed: Query<&B, (Changed<B>, Without<C>)>,
    ) {
        *runs += 1;
        other.push(1);
        assert_eq!((other.len() as u64, text.as_str()), (*runs, "text"));
        bodies.rows().for_each(|(a, c)| {
            assert!(c.is_none());
            a.0 += step.0;
        });
        let (last, a) = marked.rows().last().unwrap();
        *sum = a.0 + look.get(last).unwrap().0 + b.into_iter().flatten().count() as u64;
        assert_eq!(everyone.rows().count(), 600);
        assert_eq!(changed.into_iter().count() > 0, *runs == 1, "no system writes B");
        commands.run(|world| *world.resource_mut::<u64>().unwrap() += 1000);
    }

    let mut world = world();
    world.insert_resource(Step(5));
    world.insert_resource(0u64);
    world.insert_resource(String::from("text"));
    let mut schedule = Schedule::new();
    schedule.add(all);
    for _ in 0..2 {
        schedule.run(&mut world).unwrap();
        assert_eq!(*world.resource::<u64>().unwrap(), 299 + 299 + 600 + 1000);
    }
    assert_eq!(world.query::<&A>().without::<Mark>().iter().flatten().next(), Some(&A(10)));
}

#[test]
fn twelve_of_a_kind_are_fine_if_they_only_read() {
    type P<'w> = Query<'w, &'static A>;
    #[expect(clippy::many_single_char_names, reason = "twelve")]
    #[expect(clippy::too_many_arguments, reason = "twelve is the limit")]
    #[rustfmt::skip]
    fn twelve<'w>(
        a: P<'w>, b: P<'w>, c: P<'w>, d: P<'w>, e: P<'w>, f: P<'w>,
        g: P<'w>, h: P<'w>, i: P<'w>, j: P<'w>, k: P<'w>, l: P<'w>,
    ) {
        let all =
            [a, b, c, d, e, f, g, h, i, j, k, l].map(|query| query.into_iter().flatten().count());
        assert_eq!(all, [600; 12]);
    }
    let mut schedule = Schedule::new();
    schedule.add(twelve);
    schedule.run(&mut world()).unwrap();
}

#[test]
fn a_system_without_parameters_and_one_with_state_of_its_own_run() {
    let mut world = world();
    world.insert_resource(0u32);
    let mut schedule = Schedule::new();
    schedule.add(|| ());
    let mut captured = 0;
    schedule.add(move |mut out: ResMut<u32>| {
        captured += 1;
        *out = captured;
    });
    for _ in 0..3 {
        schedule.run(&mut world).unwrap();
    }
    assert_eq!(*world.resource::<u32>().unwrap(), 3);
}

#[test]
fn boids_look_at_targets_while_they_are_written() {
    fn chase(boids: Query<&mut A, Without<Mark>>, targets: Query<&A, With<Mark>>) {
        let nearest = targets.into_iter().flatten().map(|a| a.0).max().unwrap();
        let count = targets.into_iter().flatten().count() as u64;
        boids.into_iter().flatten().for_each(|a| a.0 = nearest + count);
    }
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add(chase);
    schedule.run(&mut world).unwrap();
    assert!(world.query::<&A>().without::<Mark>().iter().flatten().all(|a| a.0 == 599));
    assert_eq!(world.query::<&A>().with::<Mark>().iter().flatten().next(), Some(&A(0)));
}

#[test]
fn a_query_is_passed_over_twice() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add(|mut all: Query<&mut A>| {
        let most = all.iter_mut().flatten().map(|a| a.0).max().unwrap();
        all.iter_mut().flatten().for_each(|a| a.0 = most - a.0);
        assert_eq!(all.rows().next().unwrap().0, 299);
    });
    schedule.run(&mut world).unwrap();
}

#[track_caller]
fn refused<M: 'static>(
    system: impl phalanx::schedule::System<M>,
    first: usize,
    second: usize,
    what: Subject,
) {
    let mut schedule = Schedule::new();
    let error = schedule.try_add(system).unwrap_err();
    assert_eq!((error.first.position, error.second.position), (first, second), "{error}");
    assert_eq!(error.subject, what, "{error}");
    schedule.run(&mut world()).unwrap();
    assert_eq!(schedule.timings().systems, [], "it was not added");
}

#[test]
fn parameters_that_alias_are_refused() {
    let a = Subject::Component("A");
    refused(|_: Query<&mut A>, _: Query<&A>| (), 1, 2, a);
    refused(|_: Query<&A>, _: Res<u32>, _: Query<(&B, &mut A)>| (), 1, 3, a);
    refused(|_: Query<&mut A>, _: Query<&mut A>| (), 1, 2, a);
    refused(|_: Query<&mut A>, _: Query<Option<&A>>| (), 1, 2, a);
    refused(|_: Query<&mut A, With<Mark>>, _: Query<&mut A>| (), 1, 2, a);
    refused(|_: Lookup<A>, _: Query<&mut A>| (), 1, 2, a);
    refused(|_: LookupMut<A>, _: Query<&A>| (), 1, 2, a);
    refused(|_: Query<&mut A, With<Mark>>, _: LookupMut<A>| (), 1, 2, a);
    refused(|_: LookupMut<A>, _: Lookup<A>| (), 1, 2, a);
    refused(|_: LookupMut<A>, _: Lookup<B>, _: LookupMut<A>| (), 1, 3, a);
    refused(|_: Query<&mut A>, _: Query<&B, Changed<A>>| (), 1, 2, a);
    let number = Subject::Resource("u32");
    refused(|_: Res<u32>, _: ResMut<u32>| (), 1, 2, number);
    refused(|_: ResMut<u32>, _: ResMut<u32>| (), 1, 2, number);
}

#[test]
fn the_refusal_names_system_parameters_component_and_the_way_out() {
    fn chase(_: Res<u32>, _: Query<(&mut A, &B)>, _: Query<&A, With<Mark>>) {}
    let text = panic_text_of_add();
    assert_eq!(
        text,
        "system `chase`: parameters 2 `Query<(&mut A, &B)>` and 3 `Query<&A, With<Mark>>` both \
         name component `A`, and one writes it: make them disjoint with a `Without<…>` of a \
         component that the other has, or merge them into one query, or read a \
         copy made by `Copies::gather` before"
    );
    fn panic_text_of_add() -> String {
        panic_text(|| {
            Schedule::new().add(chase);
        })
    }
}

#[test]
fn the_refusal_says_that_sparse_filters_do_not_make_queries_disjoint() {
    #[component(sparse, name = "burning")]
    struct Burning;
    #[relation(name = "aim")]
    struct Aim;
    #[track_caller]
    fn text<M: 'static>(system: impl phalanx::schedule::System<M>) -> String {
        Schedule::new().try_add(system).unwrap_err().to_string()
    }
    let one = text(|_: Query<&mut A, With<Burning>>, _: Query<&mut A, Without<Burning>>| ());
    assert!(one.contains("a filter by a sparse component or a relation does not make"), "{one}");
    assert!(one.contains("`Without<…>` of a component in columns"), "{one}");
    let one = text(|_: Query<&mut A>, _: Query<(&A, &Aim)>| ());
    assert!(one.contains("a relation does not make queries disjoint"), "{one}");
    Schedule::new()
        .add(|_: Query<&mut A, (With<Mark>, With<Burning>)>, _: Query<&mut A, Without<Mark>>| ());
}

#[test]
fn the_refusal_of_a_lookup_suggests_a_separate_system() {
    let mut schedule = Schedule::new();
    let error = schedule.try_add(|_: LookupMut<A>, _: Query<&A, With<Mark>>| ()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("parameters 1 `LookupMut<A>` and 2 `Query<&A, With<Mark>>`"), "{text}");
    assert!(text.ends_with("move one of the two into a separate system"), "{text}");
}

#[test]
fn a_system_writes_any_entity_and_others_see_what_changed() {
    let mut world = world();
    let last = world.query::<Entity>().with::<Mark>().rows().last().expect("a marked one");
    let mut schedule = Schedule::new();
    schedule.add(move |mut a: LookupMut<A>, b: Query<(Entity, &B), With<Mark>>| {
        for (entity, b) in b.rows().filter(|&(entity, _)| entity == last) {
            a.get_mut(entity).expect("alive").0 = b.0 + 5_000;
        }
        assert!(a.get_mut(Entity::NULL).is_err());
    });
    schedule.add(|changed: Query<&A, Changed<A>>, mut seen: ResMut<Vec<u64>>| {
        seen.push(changed.into_iter().flatten().filter(|a| a.0 >= 5_000).count() as u64);
    });
    world.insert_resource(Vec::<u64>::new());
    let expected = world.get::<B>(last).expect("it has one").0 + 5_000;
    schedule.run(&mut world).unwrap();
    assert_eq!(world.get::<A>(last), Ok(&A(expected)));
    assert_eq!(*world.resource::<Vec<u64>>().unwrap(), [1]);
    world.check().unwrap();
}

#[test]
fn parameters_that_are_parted_are_accepted() {
    let mut schedule = Schedule::new();
    schedule.add(|_: Query<&mut A, With<Mark>>, _: Query<&mut A, Without<Mark>>| ());
    schedule.add(|_: Query<(&mut A, &C)>, _: Query<&mut A, Without<C>>| ());
    schedule.add(|_: Query<&A>, _: Query<&A>, _: Lookup<A>| ());
    schedule.add(|_: Query<&mut A>, _: Query<&mut B>| ());
    schedule.add(|_: LookupMut<A>, _: Lookup<B>, _: Query<&B>| ());
    schedule.add(|_: Res<u32>, _: Res<u32>, _: ResMut<u64>| ());
    schedule.check().unwrap();
}

#[test]
fn a_missing_resource_is_an_error_with_its_name_and_the_rest_runs() {
    let mut world = world();
    world.insert_resource(0u32);
    let mut schedule = Schedule::new();
    schedule.add(|_: ResMut<String>| panic!("there is none")).named("reads text");
    schedule.add(|mut count: ResMut<u32>| *count += 1);
    let error = schedule.run(&mut world).unwrap_err();
    let ScheduleError::MissingResource { system, missing, of_condition: false } = &error else {
        panic!("{error}")
    };
    assert_eq!((system.as_str(), missing.resource), ("reads text", "alloc::string::String"));
    assert_eq!(*world.resource::<u32>().unwrap(), 1);
    assert!(!schedule.timings().systems[0].ran && schedule.timings().systems[1].ran);
}

#[test]
fn a_resource_that_may_be_missing_is_asked_for_as_an_option() {
    fn bring(there: Option<Res<u8>>, mut commands: Commands) {
        if there.is_none() {
            commands.run(|world| assert_eq!(world.insert_resource(7u8), None));
        }
    }
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add(bring);
    schedule.add(|there: Option<ResMut<u8>>, mut runs: Local<u8>| {
        assert_eq!(there.is_some(), *runs > 0, "it came at the end of the first run");
        if let Some(mut there) = there {
            *there += 1;
        }
        *runs += 1;
    });
    for _ in 0..3 {
        schedule.run(&mut world).unwrap();
    }
    assert_eq!(*world.resource::<u8>().unwrap(), 9);
    assert!(schedule.to_string().contains("waits for bring: resource `u8`"), "{schedule}");
    refused(|_: Option<Res<u8>>, _: ResMut<u8>| (), 1, 2, Subject::Resource("u8"));
}

#[test]
fn a_resource_can_be_brought_by_a_command() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule
        .add(|mut commands: Commands| {
            commands.run(|world| assert_eq!(world.insert_resource(7u8), None));
        })
        .named("bring");
    schedule.add(|seven: Res<u8>| assert_eq!(*seven, 7)).after("bring");
    schedule.run(&mut world).unwrap();
}

/// The argument for a parameter in a run is the same type with another lifetime.
fn same<'a, P: SystemParam<Item<'a> = P>>() {}

#[test]
fn items_are_parameters_themselves() {
    same::<Query<'_, (&A, Entity), With<Mark>>>();
    same::<Res<'_, u32>>();
    same::<ResMut<'_, u32>>();
    same::<Option<Res<'_, u32>>>();
    same::<Option<ResMut<'_, u32>>>();
    same::<Lookup<'_, A>>();
    same::<LookupMut<'_, A>>();
    same::<Commands<'_>>();
    same::<Local<'_, u32>>();
}

#[test]
fn a_system_sees_hidden_entities_only_if_its_parameter_names_them() {
    let told = |system: fn(Query<&A>)| {
        let mut world = world();
        world.spawn((A(0), Disabled));
        let mut schedule = Schedule::new();
        schedule.add(system).named("spy");
        panic_text(|| drop(schedule.run(&mut world)))
    };
    type Spy = (fn(Query<&A>), &'static str);
    let systems: [Spy; 3] = [
        (|query| assert_eq!(query.with::<Disabled>().count_rows(), 1), "`phalanx::Disabled`"),
        (
            |query| assert!(query.filter::<AnyOf<(Disabled, Mark)>>().iter().next().is_none()),
            "`phalanx::Disabled`",
        ),
        (
            |query| assert_eq!(query.filter::<IncludeHidden>().rows().count(), 601),
            "`IncludeHidden`",
        ),
    ];
    for (system, by) in systems {
        let text = told(system);
        let wanted = format!("asks for hidden entities by {by}, which the parameter of its system");
        assert!(text.contains(&wanted), "{text}");
    }
    let counted =
        |query: Query<&A, IncludeHidden>, lookup: Lookup<A>, own: Query<Entity, With<Disabled>>| {
            assert_eq!(query.count_rows(), 601);
            assert_eq!(lookup.get(own.single().expect("one is hidden")), Ok(&A(0)));
            assert_eq!(query.without::<Disabled>().rows().count(), 600);
        };
    let narrowed = |query: Query<&A>| assert_eq!(query.without::<Disabled>().rows().count(), 600);
    let mut world = world();
    world.spawn((A(0), Disabled));
    let mut schedule = Schedule::new();
    schedule.add((counted, narrowed));
    schedule.run(&mut world).expect("nothing is asked for that was not granted");
}

#[test]
fn tuples_of_parameters_are_parameters() {
    type Both<'r> = (Query<'r, &'static A, With<Mark>>, Query<'r, &'static mut B>);
    type Nested<'r> = (Both<'r>, (Res<'r, u64>, (), (Local<'r, u32>,)), Commands<'r>);
    fn many(
        ((marked, numbers), (step, (), (mut runs,)), mut commands): Nested,
        mut sent: EventWriter<u64>,
        (mut total,): (ResMut<usize>,),
    ) {
        *runs += 1;
        *total = marked.count_rows();
        numbers.rows().for_each(|b| b.0 = *step + u64::from(*runs));
        commands.spawn(C(7));
        sent.send(*step);
    }
    let mut world = world();
    world.insert_resource(40u64);
    world.insert_resource(0usize);
    let mut schedule = Schedule::new();
    schedule.add(many);
    schedule.run(&mut world).unwrap();
    schedule.run(&mut world).unwrap();
    assert_eq!(*world.resource::<usize>().unwrap(), 300);
    assert!(world.query::<&B>().rows().all(|b| b.0 == 42));
    assert_eq!((world.query::<&C>().count_rows(), world.events::<u64>().len()), (2, 2));
    assert_eq!(world.remove_resource::<u64>(), Some(40));
    assert!(schedule.run(&mut world).unwrap_err().to_string().contains("u64"), "it is missing");
}

#[test]
fn more_than_twelve_parameters_are_taken_in_tuples() {
    type P<'w> = Query<'w, &'static A>;
    type Four<'w> = (P<'w>, P<'w>, P<'w>, P<'w>);
    fn rows(all: Four) -> [usize; 4] {
        [all.0, all.1, all.2, all.3].map(|one| one.count_rows())
    }
    fn sixteen((a, b, c, d): (Four, Four, Four, Four)) {
        assert_eq!([rows(a), rows(b), rows(c), rows(d)], [[600; 4]; 4]);
    }
    let mut schedule = Schedule::new();
    schedule.add(sixteen);
    schedule.run(&mut world()).unwrap();
}

#[test]
fn parameters_clash_across_and_inside_of_tuples() {
    let across = |_: Res<u64>, _: (Query<&mut A>, Commands), _: ((Query<&A>, Local<u8>),)| ();
    let error = Schedule::new().try_add(across).unwrap_err();
    assert_eq!((error.first.position, error.second.position), (2, 3));
    assert_eq!((&error.first.name[..], &error.second.name[..]), ("Query<&mut A>", "Query<&A>"));
    let inside = |_: (Query<&mut A>, Query<&A>)| ();
    let error = Schedule::new().try_add(inside).unwrap_err();
    assert_eq!((error.first.position, error.second.position), (1, 1));
}

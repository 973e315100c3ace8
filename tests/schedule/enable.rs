//! Enable bits in systems: terms, filters, lookups and commands.

use phalanx::prelude::*;

use super::panic_text;

#[component]
#[derive(Debug, PartialEq)]
struct Charge(u32);
#[component(enableable)]
struct Awake;
#[component]
struct Sleeper(Entity);

fn filled() -> World {
    let mut world = World::new();
    let ids = world.spawn_batch((0..10_000).map(|i| (Charge(i), Awake))).to_vec();
    world.spawn_batch(ids.iter().step_by(3).map(|&entity| Sleeper(entity)));
    world
}

fn charge(mut awake: Query<&mut Charge, With<Awake>>) {
    awake.iter_mut().flatten().for_each(|charge| charge.0 = charge.0.wrapping_mul(31) + 1);
}

fn rest(mut rows: Query<(&Charge, EnabledMut<Awake>)>) {
    for (charges, mut awake) in &mut rows {
        awake.assign(|row| charges[row].0 % 7 < 5);
    }
}

fn nudge(sleepers: Query<&Sleeper>, mut awake: LookupMut<Awake>) {
    for sleeper in sleepers.rows() {
        let was = awake.is_enabled(sleeper.0).expect("alive");
        awake.set_enabled(sleeper.0, !was).expect("alive");
    }
}

fn tire(asleep: Query<(Entity, &Charge), WithDisabled<Awake>>, mut commands: Commands) {
    for (entity, charge) in asleep.rows() {
        if charge.0 % 5 == 0 {
            commands.set_enabled::<Awake>(entity, true);
        }
    }
    commands.disable_where::<Awake, &Charge, WithDisabled<Awake>>();
}

#[test]
fn par_systems_leave_the_same_world_on_any_number_of_threads() {
    let run = |threads: usize| {
        let mut world = filled();
        let mut schedule = Schedule::new();
        schedule.threads(threads);
        schedule.add((charge, rest, nudge, tire)).chain();
        for _ in 0..4 {
            schedule.run(&mut world).unwrap();
        }
        world.check().unwrap();
        (world.hash(), world.query::<&Awake>().count_rows())
    };
    let (hash, awake) = run(1);
    assert!((1..10_000).contains(&awake), "{awake} are awake");
    assert_eq!(run(2), (hash, awake));
    assert_eq!(run(4), (hash, awake));
}

#[test]
fn a_system_sees_a_switch_as_a_change_once() {
    #[derive(Default)]
    struct Seen(usize);
    let mut world = filled();
    world.insert_resource(Seen::default());
    let mut schedule = Schedule::new();
    schedule.add(|rows: Query<Entity, (Changed<Awake>, IgnoreEnabled)>, mut seen: ResMut<Seen>| {
        seen.0 = rows.count_rows();
    });
    schedule.run(&mut world).unwrap();
    assert_eq!(world.resource::<Seen>().unwrap().0, 10_000, "all are new");
    schedule.run(&mut world).unwrap();
    assert_eq!(world.resource::<Seen>().unwrap().0, 0);
    let entity = world.query::<Entity>().with::<Awake>().rows().next().unwrap();
    world.set_enabled::<Awake>(entity, false).unwrap();
    schedule.run(&mut world).unwrap();
    let chunk = world.query::<&Charge>().iter().next().unwrap().len();
    assert_eq!(world.resource::<Seen>().unwrap().0, chunk);
}

#[test]
fn bits_that_a_system_does_not_name_are_refused() {
    let mut world = filled();
    let mut schedule = Schedule::new();
    schedule.add(|rows: Query<&Charge>| assert!(rows.with::<Awake>().rows().count() > 0));
    let text = panic_text(|| drop(schedule.run(&mut world)));
    assert!(text.contains("asks for more than its system was granted"), "{text}");
}

#[component]
struct Boss;
#[component(enableable)]
struct Armed;

#[test]
fn a_system_may_ignore_the_bits_of_an_alternative_that_it_names() {
    type Either = Or<(WithDisabled<Awake>, With<Boss>)>;
    type Both = Or<(WithDisabled<Awake>, WithDisabled<Armed>)>;
    type Neither = Not<(WithDisabled<Awake>, With<Boss>)>;
    let mut world = filled();
    world.spawn((Charge(0), Boss));
    world.spawn((Charge(0), Armed));
    let mut schedule = Schedule::new();
    schedule.add((
        |rows: Query<&Charge, Either>| {
            assert_eq!(rows.count_rows(), 1);
            assert_eq!(rows.filter::<IgnoreEnabled>().count_rows(), 10_001);
        },
        |rows: Query<&Charge, Both>| {
            assert_eq!(rows.count_rows(), 0);
            assert_eq!(rows.filter::<IgnoreEnabled>().count_rows(), 10_001);
        },
        |rows: Query<&Charge, Neither>| {
            assert_eq!(rows.filter::<IgnoreEnabled>().count_rows(), 10_002);
        },
    ));
    schedule.run(&mut world).unwrap();
}

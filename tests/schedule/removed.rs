//! Gained and lost components and despawned entities in systems: the readers that see them, the
//! commands that cause them, and how long they are kept.

use phalanx::prelude::*;

use super::{A, B, Mark, panic_text, world};

/// The values that systems have read, in order.
#[derive(Clone, Default, Debug, PartialEq)]
struct Seen {
    despawned: Vec<Entity>,
    lost: Vec<(Entity, u64)>,
    missed: u64,
}

fn see(mut despawned: Despawned, mut lost: Removed<A>, mut seen: ResMut<Seen>) {
    seen.missed += despawned.missed() + lost.missed();
    seen.despawned.extend_from_slice(despawned.read());
    let (entities, values) = lost.read();
    seen.lost.extend(entities.iter().zip(values).map(|(&entity, a)| (entity, a.0)));
    assert!(despawned.is_empty() && despawned.read().is_empty(), "each is read once");
    assert!(lost.is_empty() && lost.read() == (&[], &[]), "each is read once");
}

fn seeing_world() -> World {
    let mut world = world();
    world.insert_resource(Seen::default());
    world
}

fn seen(world: &mut World) -> Seen {
    std::mem::take(&mut *world.resource_mut::<Seen>().unwrap())
}

/// A schedule that starts no thread.
fn serial() -> Schedule {
    let mut schedule = Schedule::new();
    schedule.threads(1);
    schedule
}

/// Despawns the first entity.
fn despawn_first(rows: Query<(Entity, &A)>, mut commands: Commands) {
    commands.despawn(rows.rows().next().unwrap().0);
}

#[test]
fn a_reader_sees_the_commands_before_its_sync_point_and_those_after_it_in_the_next_run() {
    let mut world = seeing_world();
    let order: Vec<_> = world.query::<Entity>().rows().collect();
    let mut schedule = serial();
    schedule.add(despawn_first).named("first");
    schedule.add(see).after("first");
    schedule.add(|mut commands: Commands| commands.remove_where::<&Mark, (), A>()).after(see);
    world.despawn(order[1]).unwrap();
    schedule.run(&mut world).unwrap();
    let one = seen(&mut world);
    assert_eq!(one.despawned, [order[0]], "not what went before the first run");
    assert_eq!(one.lost, [(order[0], 0)]);
    world.despawn(order[2]).unwrap();
    schedule.run(&mut world).unwrap();
    let two = seen(&mut world);
    assert_eq!(two.despawned[0], order[2]);
    assert_eq!(two.despawned.len(), 2);
    assert_eq!(two.lost.len(), 302, "those of the last sync point, then the two");
    assert!(two.lost[..300].iter().map(|&(_, a)| a).eq(0..300));
}

#[test]
fn each_reader_reads_each_loss_once() {
    let mut world = seeing_world();
    let mut schedule = serial();
    schedule.add(|mut one: Removed<A>, mut other: Removed<A>| {
        assert_eq!((one.len(), one.missed()), (other.len(), 0));
        assert_eq!(one.read(), other.read());
    });
    schedule.add(see);
    // It reads only when enough entities have been despawned.
    schedule.add(|mut batch: Despawned, mut batches: Local<Vec<usize>>| {
        if batch.len() >= 3 {
            batches.push(batch.read().len());
        }
        assert!(batches.iter().all(|&len| len == 3));
    });
    let order: Vec<_> = world.query::<Entity>().rows().collect();
    schedule.run(&mut world).unwrap();
    for &entity in &order[..30] {
        world.despawn(entity).unwrap();
        schedule.run(&mut world).unwrap();
    }
    assert_eq!(seen(&mut world).despawned, order[..30]);
    assert!(world.memory().log_bytes < 10_000);
}

#[test]
fn a_reader_that_is_skipped_keeps_its_losses_within_the_bound_and_counts_those_it_misses() {
    let mut world = seeing_world();
    world.memory_mut().keep_log::<Removals<A>>(10 * (size_of::<Entity>() + size_of::<A>()));
    let mut schedule = serial();
    schedule.add(|mut commands: Commands| {
        let entity = commands.spawn(A(1));
        commands.run(move |world| world.despawn(entity).unwrap());
    });
    schedule.add(see).run_if(every(50));
    for _ in 0..51 {
        schedule.run(&mut world).unwrap();
    }
    let kept = seen(&mut world);
    assert_eq!(kept.despawned.len(), 50, "the last one is despawned after it");
    assert_eq!((kept.lost.len(), kept.missed), (10, 40), "10 entities with their values");
}

#[test]
fn bounded_memory_whatever_readers_do() {
    let runs = if cfg!(miri) { 100 } else { 100_000 };
    let mut world = World::new();
    let mut schedule = serial();
    schedule.add(|mut commands: Commands| {
        let entity = commands.spawn(A(1));
        commands.run(move |world| world.despawn(entity).unwrap());
    });
    schedule.add(|mut lost: Removed<A>, mut count: ResMut<usize>| *count += lost.read().0.len());
    world.memory_mut().keep_log::<Despawns>(64 * size_of::<Entity>());
    schedule.add(|never: Despawned| assert!(never.len() <= 66));
    world.insert_resource(0usize);
    for _ in 0..runs {
        schedule.run(&mut world).unwrap();
    }
    assert_eq!(*world.resource::<usize>().unwrap(), runs - 1);
    assert!(world.memory().log_bytes < 5000, "{}", world.memory().log_bytes);
    schedule.reset();
    (0..2).for_each(|_| world.memory_mut().age_logs());
    world.memory_mut().compact(0);
    assert_eq!(world.memory().log_bytes, 0, "a schedule that is reset reads nothing");
}

#[test]
fn a_system_that_panics_has_read_what_it_has_read() {
    let mut world = seeing_world();
    let order: Vec<_> = world.query::<Entity>().rows().collect();
    let mut schedule = serial();
    schedule.add(|mut despawned: Despawned, lost: Removed<A>, mut commands: Commands| {
        if let [first, ..] = despawned.read() {
            assert_eq!(lost.len(), 1, "it reads this one never");
            commands.despawn(*first);
            panic!("after {first}");
        }
    });
    schedule.add(see);
    schedule.run(&mut world).unwrap();
    world.despawn(order[0]).unwrap();
    let text = panic_text(|| _ = schedule.run(&mut world));
    assert!(text.contains(&format!("after {}", order[0])), "{text}");
    assert_eq!(seen(&mut world).despawned, [order[0]], "other readers read it too");
    schedule.run(&mut world).unwrap();
    assert_eq!(seen(&mut world), Seen::default());
}

#[test]
fn a_panic_of_a_command_keeps_what_has_gone_before_it() {
    let mut world = seeing_world();
    let order: Vec<_> = world.query::<Entity>().rows().collect();
    let (first, second) = (order[0], order[1]);
    let mut schedule = serial();
    let system = move |mut commands: Commands| {
        commands.despawn(first);
        commands.run(|_| panic!("a command"));
        commands.despawn(second);
    };
    schedule.add(system).run_if(every(1000)).named("torn");
    schedule.add(see);
    let text = panic_text(|| _ = schedule.run(&mut world));
    assert!(text.contains("a command"), "{text}");
    schedule.run(&mut world).unwrap();
    assert_eq!(seen(&mut world).despawned, [first, second]);
}

#[test]
fn readers_wait_for_nothing_and_are_shown() {
    let mut schedule = serial();
    schedule.add(|_: Query<&mut A>, _: Removed<A>, _: EventWriter<A>| ()).named("writes");
    schedule.add(|_: Removed<A>, _: Despawned, _: Removed<A>| ()).named("reads");
    let text = schedule.to_string();
    assert!(!text.contains("waits for"), "{text}");
    assert!(text.contains("    reads removals of A\n    reads despawned entities\n"), "{text}");
    let mut world = World::new();
    assert!(schedule.run(&mut world).is_ok());
    let shown = format!("{:?}", world.cursor::<Removals<A>>());
    assert!(shown.starts_with("LogCursor"), "{shown}");
}

#[test]
fn conditions_read_too() {
    fn any_lost(mut lost: Removed<B>) -> bool {
        !lost.read().0.is_empty()
    }
    let mut world = seeing_world();
    let mut schedule = serial();
    schedule.add(see).run_if(any_lost);
    schedule.run(&mut world).unwrap();
    assert!(!schedule.timings().systems[0].ran);
    world.matching::<&B>().remove::<(A, B)>();
    schedule.run(&mut world).unwrap();
    assert_eq!(seen(&mut world).lost.len(), 600);
    schedule.run(&mut world).unwrap();
    assert!(!schedule.timings().systems[0].ran);
}

#[test]
fn a_system_that_is_added_later_sees_what_goes_later() {
    let mut world = seeing_world();
    let order: Vec<_> = world.query::<Entity>().rows().collect();
    let mut schedule = serial();
    schedule.add(despawn_first);
    schedule.run(&mut world).unwrap();
    schedule.add(see);
    schedule.run(&mut world).unwrap();
    schedule.run(&mut world).unwrap();
    assert_eq!(seen(&mut world).despawned, [order[299]], "the last row took the first place");
}

#[test]
fn a_hook_runs_after_the_commands_and_its_own_are_applied_after_it() {
    let mut world = World::new();
    let mut schedule = serial();
    schedule.add(|mut commands: Commands, mut next: Local<u64>| {
        *next += 1;
        commands.spawn_batch([A(*next), A(*next + 100)]);
    });
    schedule.sync();
    let hook = |mut gained: Inserted<A>, mut commands: Commands, mut seen: ResMut<Vec<u64>>| {
        let (entities, values) = gained.read();
        seen.extend(values.iter().map(|a| a.0));
        entities.iter().for_each(|&entity| commands.insert(entity, (A(0), B(1))));
    };
    schedule.add(hook).named("hook");
    let second = |mut gained: Inserted<B>, lookup: Lookup<A>, mut count: ResMut<usize>| {
        let (entities, _) = gained.read();
        assert!(entities.iter().all(|&entity| lookup.get(entity) == Ok(&A(0))), "overwritten");
        *count += entities.len();
    };
    schedule.add(second).after("hook");
    world.insert_resource(Vec::<u64>::new());
    world.insert_resource(0usize);
    for _ in 0..3 {
        schedule.run(&mut world).unwrap();
    }
    assert_eq!(*world.resource::<Vec<u64>>().unwrap(), [1, 101, 2, 102, 3, 103]);
    assert_eq!(*world.resource::<usize>().unwrap(), 6);
    assert!(schedule.to_string().contains("reads insertions of A"), "{schedule}");
}

#[test]
fn hooks_that_call_each_other_take_a_step_for_each_sync_point() {
    let mut world = World::new();
    let mut schedule = serial();
    schedule.add(|mut gained: Inserted<A>, mut commands: Commands| {
        for &entity in gained.read().0 {
            commands.remove::<A>(entity);
            commands.insert(entity, B(1));
        }
    });
    schedule.add(|mut gained: Inserted<B>, mut commands: Commands| {
        for &entity in gained.read().0 {
            commands.remove::<B>(entity);
            commands.insert(entity, A(1));
        }
    });
    schedule.run(&mut world).unwrap();
    let entity = world.spawn(A(0));
    for run in 0..100 {
        assert_eq!((world.has::<A>(entity), world.has::<B>(entity)), (run % 2 == 0, run % 2 == 1));
        schedule.run(&mut world).unwrap();
    }
    assert!(world.memory().log_bytes < 2000, "{}", world.memory().log_bytes);
}

/// A table kept as the documentation of `Inserted` says equals the world's components.
#[test]
fn a_table_of_all_that_have_a_component_is_kept() {
    type Table = std::collections::BTreeMap<Entity, u64>;
    fn keep(
        mut lost: Removed<A>,
        mut gained: Inserted<A>,
        lookup: Lookup<A>,
        mut table: ResMut<Table>,
    ) {
        for entity in lost.read().0 {
            table.remove(entity);
        }
        for &entity in gained.read().0 {
            if let Ok(a) = lookup.get(entity) {
                table.insert(entity, a.0);
            }
        }
    }
    let mut world = World::new();
    world.insert_resource(Table::new());
    let mut schedule = serial();
    schedule.add(keep).run_if(every(3));
    schedule.run(&mut world).unwrap();
    let entities = world.spawn_batch((0..50).map(A)).to_vec();
    for step in 0..300u64 {
        let entity = entities[(step * step % 47) as usize];
        match step % 7 {
            0 | 3 => _ = world.remove::<A>(entity),
            1 | 4 | 5 => {
                if !world.has::<A>(entity) {
                    _ = world.insert(entity, A(step));
                }
            }
            2 if step % 5 == 0 => _ = world.despawn(entity),
            _ => _ = world.insert(entity, B(step)),
        }
        if step % 4 == 0 {
            (0..3).for_each(|_| schedule.run(&mut world).unwrap());
            let want: Table = world.query::<(Entity, &A)>().rows().map(|(e, a)| (e, a.0)).collect();
            assert_eq!(*world.resource::<Table>().unwrap(), want, "after step {step}");
        }
    }
}

/// Systems that change the structure in many ways, and readers between them.
fn busy() -> Schedule {
    fn thin(rows: Query<(Entity, &A)>, mut commands: Commands) {
        rows.par().record(&mut commands, |(entities, rows), commands| {
            for (&entity, a) in entities.iter().zip(rows) {
                match a.0 % 7 {
                    0 => commands.despawn(entity),
                    1 => commands.remove::<A>(entity),
                    2 => commands.insert(entity, Mark),
                    3 => commands.insert(entity, A(a.0 + 1)),
                    _ => {}
                }
            }
        });
    }
    fn renew(mut commands: Commands, mut next: Local<u64>) {
        commands.spawn_batch((*next..*next + 200).map(A));
        *next += 200;
        commands.retain_where::<&A, ()>(|a, keep| {
            a.iter().zip(keep).for_each(|(a, keep)| *keep = a.0 % 11 != 5);
        });
        commands.remove_where::<&Mark, (), A>();
    }
    let mut schedule = Schedule::new();
    schedule.add((thin, renew)).in_set("changes");
    schedule.add(see);
    schedule.sync();
    schedule.add((thin, see));
    schedule.add(see).run_if(every(3));
    schedule
}

#[test]
fn par_the_order_does_not_depend_on_threads_or_on_shuffling() {
    let run = |change: &dyn Fn(&mut Schedule)| {
        let (mut world, mut schedule) = (seeing_world(), busy());
        world.spawn_batch((0..5000).map(A));
        change(&mut schedule);
        let mut lost = world.cursor::<Removals<A>>();
        let mut gained = world.cursor::<Insertions<A>>();
        for _ in 0..6 {
            schedule.run(&mut world).unwrap();
        }
        let [lost, gained] = [lost.read(&world), gained.read(&world)].map(|(entities, values)| {
            entities.iter().zip(values).map(|(&entity, a)| (entity, a.0)).collect::<Vec<_>>()
        });
        (seen(&mut world), (lost, gained), world.hash())
    };
    let want = run(&|schedule| _ = schedule.threads(1));
    let (lost, gained) = &want.1;
    let lens = [want.0.lost.len(), lost.len(), gained.len()];
    assert!(lens[0] > 3000 && lens[1] > 1000 && lens[2] == 1200, "{lens:?}");
    for threads in [1, 2, 4] {
        for seed in 0..if cfg!(miri) { 1 } else { 5 } {
            assert!(run(&|schedule| _ = schedule.threads(threads).shuffle(seed)) == want);
        }
    }
}

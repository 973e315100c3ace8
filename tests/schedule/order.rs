//! The order of systems, and invalid orders.

use phalanx::prelude::*;
use phalanx::schedule::ScheduleError;
use proptest::prelude::*;

use super::{A, Log, note, panic_text, world};
use crate::effort::effort;

#[test]
fn systems_that_clash_run_in_the_order_of_insertion() {
    let mut world = world();
    let mut schedule = Schedule::new();
    for name in ["first", "second", "third"] {
        schedule.add(move |_: Query<&mut A>, log: Res<Log>| log.note(name)).named(name);
    }
    for threads in [1, 2, 4] {
        schedule.threads(threads).shuffle(threads as u64);
        schedule.run(&mut world).unwrap();
        assert_eq!(Log::take(&mut world), ["first", "second", "third"]);
    }
}

#[test]
fn before_after_and_sets_bend_it() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.threads(1);
    schedule.add(note("draw")).named("draw").after("physics");
    schedule.add(note("integrate")).named("integrate").in_set("physics");
    schedule.add(note("collide")).named("collide").in_set("physics").after("integrate");
    schedule.add(note("input")).named("input").before("physics");
    for seed in 0..20 {
        schedule.shuffle(seed);
        schedule.run(&mut world).unwrap();
        assert_eq!(Log::take(&mut world), ["input", "integrate", "collide", "draw"]);
    }
}

#[test]
fn a_cycle_names_its_members_and_runs_nothing() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add(note("egg")).named("egg").after("hen");
    schedule.add(note("chick")).named("chick").after("egg");
    schedule.add(note("hen")).named("hen").after("chick");
    schedule.add(note("farmer")).named("farmer").before("egg");
    let error = schedule.run(&mut world).unwrap_err();
    let members = ["egg", "chick", "hen"].map(str::to_owned).to_vec();
    assert_eq!(error, ScheduleError::Cycle { members, through: vec![None; 3] });
    assert!(
        error.to_string().contains("`egg` before `chick` before `hen` before `egg`"),
        "{error}"
    );
    assert_eq!(Log::take(&mut world), [""; 0]);
    // The advice of the text works: another system takes the place of one of them.
    let mut schedule = Schedule::new();
    schedule.add(note("egg")).named("egg").after("hen");
    schedule.add(note("hen")).named("hen");
    schedule.run(&mut world).unwrap();
}

#[test]
fn an_unknown_name_is_told_with_those_there_are() {
    let mut schedule = Schedule::new();
    schedule.add(note("draw")).named("draw").in_set("late").after("phisics");
    let text = schedule.check().unwrap_err().to_string();
    let want =
        "`draw` must run after `phisics`, but no system or set has that name; known names: late";
    assert_eq!(text, want);
    schedule.add(note("step")).in_set("physics");
    let text = schedule.check().unwrap_err().to_string();
    assert!(text.contains("; did you mean `physics`? known names: "), "{text}");
    let mut schedule = Schedule::new();
    schedule.add(note("a")).named("a").before("b");
    let text = schedule.check().unwrap_err().to_string();
    let want =
        "`a` must run before `b`, but no system or set has that name; there are no other names";
    assert_eq!(text, want);
}

#[test]
fn a_cycle_through_a_set_names_the_set() {
    let mut schedule = Schedule::new();
    schedule.add(note("a")).named("a").in_set("x").after("b");
    schedule.add(note("b")).named("b").after("x");
    assert_eq!(
        schedule.check().unwrap_err().to_string(),
        "systems wait for each other in a cycle: `a` before `b` (`b` is after the set `x`) before \
         `a`: remove one `before` or `after`"
    );
    let mut schedule = Schedule::new();
    schedule.add(note("a")).named("a").in_set("x").after("b");
    schedule.add(note("b")).named("b");
    schedule.set("x").before("b");
    let text = schedule.check().unwrap_err().to_string();
    assert!(text.contains("`a` before `b` (the set `x` is before `b`) before `a`"), "{text}");
}

#[test]
fn a_system_before_itself_is_an_error() {
    let mut schedule = Schedule::new();
    schedule.add(note("a")).named("a").before("a");
    let text = schedule.check().unwrap_err().to_string();
    assert_eq!(text, "`a` is ordered relative to itself: remove that constraint");
    let mut schedule = Schedule::new();
    schedule.set("x").after("x");
    assert!(schedule.check().is_err());
}

#[test]
fn a_set_is_there_before_its_members_and_orders_them() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.threads(1);
    schedule.add(note("heal")).named("heal").before("combat");
    assert!(schedule.check().is_err(), "no such set");
    schedule.set("combat").before("render").after("heal");
    schedule.set("render");
    for seed in 0..10 {
        schedule.shuffle(seed).run(&mut world).unwrap();
        assert_eq!(Log::take(&mut world), ["heal"]);
    }
    schedule.add(note("draw")).in_set("render");
    schedule.add(note("fight")).in_set("combat");
    schedule.add(note("flee")).in_set("combat").after("combat");
    for seed in 0..10 {
        schedule.shuffle(seed).run(&mut world).unwrap();
        assert_eq!(Log::take(&mut world), ["heal", "fight", "flee", "draw"]);
    }
}

#[test]
fn a_chain_of_systems_needs_no_names() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.threads(1);
    schedule.add(note("c")).named("c").after("b");
    // Closures, all with the same name.
    schedule.add(note("a")).then(note("b")).named("b").then(note("d")).after("c").then(note("e"));
    for seed in 0..20 {
        schedule.shuffle(seed).run(&mut world).unwrap();
        assert_eq!(Log::take(&mut world), ["a", "b", "c", "d", "e"]);
    }
    schedule.add(note("f")).named("f").before("g").then(note("g")).named("g").before("f");
    let text = schedule.check().unwrap_err().to_string();
    assert!(text.contains("`f` before `g` before `f`"), "{text}");
}

#[test]
fn the_next_of_a_chain_sees_what_commands_did() {
    let mut world = World::new();
    let mut schedule = Schedule::new();
    schedule
        .add(|mut commands: Commands| {
            commands.spawn(A(1));
        })
        .then(|a: Query<&A>, mut runs: Local<usize>| {
            *runs += 1;
            assert_eq!(a.count_rows(), *runs);
        });
    (0..3).for_each(|_| schedule.run(&mut world).unwrap());
    assert_eq!(schedule.timings().sync_points, 1);
}

#[test]
fn functions_of_one_name_are_told_apart_by_their_paths() {
    mod left {
        use super::{Log, Res};
        pub(super) fn up(log: Res<Log>) {
            log.note("left");
        }
    }
    mod right {
        use super::{Log, Res};
        pub(super) fn up(log: Res<Log>) {
            log.note("right");
        }
    }
    fn generic<T: 'static>(log: Res<Log>) {
        log.note(std::any::type_name::<T>());
    }
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.threads(1);
    schedule.add(generic::<Vec<u8>>).after("left::up").before("right::up");
    schedule.add(generic::<u16>).before("generic<Vec<u8>>").after("left::up");
    schedule.add(right::up);
    schedule.add(left::up);
    schedule.add(note("last")).after("up").after("generic");
    for seed in 0..10 {
        schedule.shuffle(seed).run(&mut world).unwrap();
        let ran = Log::take(&mut world);
        assert_eq!(ran, ["left", "u16", "alloc::vec::Vec<u8>", "right", "last"]);
    }
    // If the name alone is ambiguous, the path is shown everywhere.
    let names = schedule.timings().systems.iter().map(|system| &*system.name);
    let ends = ["::generic<Vec<u8>>", "::generic<u16>", "::right::up", "::left::up", "note"];
    assert!(names.clone().zip(ends).all(|(name, end)| name.ends_with(end)), "{schedule}");
    schedule.add(|| ()).after("rigth::up");
    let text = schedule.check().unwrap_err().to_string();
    assert!(text.contains("::left::up") && text.contains("::generic<u16>"), "{text}");
}

#[test]
fn a_system_is_named_like_its_function() {
    fn integrate(_: Query<&mut A>) {
        panic!("here")
    }
    let mut schedule = Schedule::new();
    schedule.add(integrate);
    let text = panic_text(|| drop(schedule.run(&mut world())));
    assert_eq!(text, "system `integrate` panicked: here");
}

#[test]
fn systems_can_be_added_between_runs() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add(|mut count: Local<u32>, log: Res<Log>| {
        *count += 1;
        log.note(&format!("old {}", *count));
    });
    schedule.run(&mut world).unwrap();
    schedule.add(note("new"));
    schedule.threads(1).run(&mut world).unwrap();
    assert_eq!(Log::take(&mut world), ["old 1", "old 2", "new"]);
}

#[test]
fn a_shuffle_finds_orders_that_no_edge_asks_for() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.threads(1).shuffle(1);
    for name in ["a", "b", "c"] {
        schedule.add(note(name));
    }
    let mut orders: Vec<_> = (0..100)
        .map(|_| {
            schedule.run(&mut world).unwrap();
            Log::take(&mut world)
        })
        .collect();
    orders.sort();
    orders.dedup();
    assert_eq!(orders.len(), 6, "all orders of three");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { effort(10) }))]

    /// Systems and edges at random: a system before another has finished when the other begins, on
    /// one thread and on two; or the error names a cycle of them.
    #[test]
    fn random_graphs_are_respected(
        edges in prop::collection::vec((0usize..12, 0usize..12), 0..20),
        commands in prop::collection::vec(any::<bool>(), 12),
        seed in any::<u64>(),
    ) {
        let mut schedule = Schedule::new();
        for (i, &records) in commands.iter().enumerate() {
            let name = format!("s{i}");
            let noted = name.clone();
            let mut entry = if records {
                schedule.add(move |log: Res<Log>, _: Commands| log.note(&noted))
            } else {
                schedule.add(move |log: Res<Log>| log.note(&noted))
            };
            entry = entry.named(&name);
            for &(_, to) in edges.iter().filter(|&&(from, to)| from == i && from != to) {
                entry = entry.before(&format!("s{to}"));
            }
        }
        let mut world = world();
        for threads in [1, 2] {
            schedule.threads(threads).shuffle(seed);
            match schedule.run(&mut world) {
                Ok(()) => {
                    let ran = Log::take(&mut world);
                    prop_assert_eq!(ran.len(), 12);
                    let at = |i: usize| ran.iter().position(|name| *name == format!("s{i}"));
                    for &(from, to) in edges.iter().filter(|(from, to)| from != to) {
                        prop_assert!(at(from) < at(to), "s{} before s{}: {:?}", from, to, ran);
                    }
                }
                Err(ScheduleError::Cycle { members, through }) => {
                    prop_assert_eq!(through, vec![None; members.len()]);
                    for (i, from) in members.iter().enumerate() {
                        let to = &members[(i + 1) % members.len()];
                        let is_edge = edges
                            .iter()
                            .any(|&(a, b)| *from == format!("s{a}") && *to == format!("s{b}"));
                        prop_assert!(is_edge, "{} before {}: {:?}", from, to, members);
                    }
                }
                Err(error) => prop_assert!(false, "{}", error),
            }
        }
    }
}

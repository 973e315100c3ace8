//! An index by value against a scan, after any change of any kind.

use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use phalanx::Previous;
use phalanx::prelude::*;
use phalanx::rows::ValueIndex;

use crate::common::components::{Big, Tag, sound};
use crate::common::world;

#[component(enableable)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Team(pub(super) u32);
/// Twelve bytes, so that the capacity of a chunk is no power of two.
#[component]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Cell(pub(super) [i32; 3]);

pub(super) const VALUES: u32 = 12;

/// Compares the index with a scan for some values, with several filters.
#[track_caller]
fn assert_found(
    world: &World,
    (teams, cells): (&ValueIndex<Team>, &ValueIndex<Cell>),
    values: impl IntoIterator<Item = u32>,
) {
    for value in values {
        let team = Team(value);
        macro_rules! check {
            ($($query:expr),* $(,)?) => {$(
                let query = $query;
                let rows = query.rows().filter(|row| *row.1 == team);
                let expected: Vec<_> = rows.map(|row| row.0).collect();
                assert_eq!(teams.find(&query, &team), expected, "team {value}");
            )*};
        }
        let all = || world.query::<(Entity, &Team)>();
        check! {
            all(),
            all().filter::<IgnoreEnabled>(),
            all().without::<Tag>(),
            all().filter::<WithDisabled<Team>>().filter::<IgnoreEnabled>(),
            all().filter::<Or<(With<Tag>, With<Big>)>>(),
            all().filter::<IncludeHidden>(),
            all().where_shared(&1_u8),
        }
        let cell = Cell([value as i32, -1, 0]);
        let query = world.query::<(Entity, &Cell)>();
        let rows = query.rows().filter(|row| *row.1 == cell);
        let expected: Vec<_> = rows.map(|row| row.0).collect();
        assert_eq!(cells.find(&query, &cell), expected, "cell {value}");
    }
}

/// A generator of a fixed sequence.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).expect("it is below a `usize`")
    }

    pub(super) fn value(&mut self) -> u32 {
        u32::try_from(self.below(VALUES as usize)).expect("a small number")
    }
}

pub(super) fn team_and_cell(value: u32) -> (Team, Cell) {
    (Team(value), Cell([value as i32, -1, 0]))
}

/// One change of a random kind.
pub(super) fn change(world: &mut World, all: &mut Vec<Entity>, chance: &mut Chance) {
    let (entity, value) = (all[chance.below(all.len())], chance.value());
    match chance.below(14) {
        0 => all.extend(world.spawn_batch((0..100).map(|n| team_and_cell((n + value) % VALUES)))),
        1 => all.push(world.spawn(Team(value))),
        2 => {
            let _ = world.despawn(entity);
        }
        3 => drop(world.insert(entity, Tag)),
        4 => drop(world.remove::<Tag>(entity)),
        5 => drop(world.insert(entity, team_and_cell(value))),
        6 => {
            if let Ok(team) = world.get_mut::<Team>(entity) {
                team.0 = value;
            }
        }
        7 => {
            let rows = world.query_mut::<&mut Cell>().with::<Tag>().rows();
            rows.for_each(|cell| cell.0[0] = value as i32);
        }
        8 => drop(world.set_enabled::<Team>(entity, value % 2 == 0)),
        9 => drop(world.insert_shared(entity, (value % 2) as u8)),
        10 => drop(world.matching::<&Tag>().insert(Big([1; 250]))),
        11 => drop(world.matching::<&Big>().remove::<(Big,)>()),
        12 => drop(world.insert(entity, Disabled)),
        _ => {
            // As two systems that run one after the other, each with its own version.
            world.run(|mut teams: Query<&mut Team>| {
                if let Ok(team) = teams.get_mut(entity) {
                    team.0 = value;
                }
            });
        }
    }
    if all.len() > 3_000 {
        assert!(all.drain(..1_000).filter(|&entity| world.despawn(entity).is_ok()).count() > 0);
    }
}

#[test]
fn an_index_finds_what_a_scan_finds_after_any_change() {
    for seed in 1..=3 {
        let mut chance = Chance(seed);
        let (mut world, teams, cells) = (world(), ValueIndex::new(), ValueIndex::new());
        let mut all = world.spawn_batch((0..2_000).map(|n| team_and_cell(n % VALUES))).to_vec();
        let mut kept = None;
        let steps = if cfg!(miri) { 3 } else { 90 };
        for step in 0..steps {
            (0..1 + chance.below(4)).for_each(|_| change(&mut world, &mut all, &mut chance));
            match step % 30 {
                9 => kept = Some((world.snapshot().expect("no buffer is open"), all.clone())),
                19 | 25 => {
                    let (snapshot, entities) = kept.as_ref().expect("it was taken");
                    world.restore(snapshot).expect("of this world");
                    all.clone_from(entities);
                }
                28 => {
                    world.memory_mut().compact(10_000);
                }
                29 => {
                    let mut other = crate::common::world();
                    other.spawn_batch((0..500).map(|n| team_and_cell(n % 5)));
                    assert_found(&other, (&teams, &cells), 0..=VALUES);
                    world.merge(other).expect("built alike");
                }
                _ => {}
            }
            let values = [chance.value(), chance.value()];
            assert_found(&world, (&teams, &cells), values);
        }
        sound(&world);
        world.clear();
        assert_found(&world, (&teams, &cells), 0..=VALUES);
        // The rows of several chunks are gone, and the new ones are in a smaller block.
        world.spawn_batch((0..30).map(|n| team_and_cell(n % VALUES)));
        assert_found(&world, (&teams, &cells), 0..=VALUES);
    }
}

#[test]
fn worlds_of_equal_versions_have_their_own_values() {
    let index = ValueIndex::new();
    let worlds = [1, 2].map(|value| {
        let mut world = World::new();
        world.spawn_batch([Team(value); 3]);
        world
    });
    assert_eq!(worlds[0].version(), worlds[1].version());
    for _ in 0..2 {
        for (world, wanted) in worlds.iter().zip([3, 0]) {
            assert_eq!(index.find(&world.query::<&Team>(), &Team(1)).len(), wanted);
        }
    }
}

#[test]
fn several_threads_refresh_one_index_at_once() {
    let (mut world, index) = (world(), ValueIndex::new());
    let all = world.spawn_batch((0..5_000).map(|n| Team(n % VALUES))).to_vec();
    for round in 0..if cfg!(miri) { 1 } else { 20_u32 } {
        for entity in all.iter().skip(round as usize).step_by(7) {
            world.get_mut::<Team>(*entity).expect("it is alive").0 = round % VALUES;
        }
        let query = world.query::<(Entity, &Team)>();
        std::thread::scope(|threads| {
            for value in 0..4 {
                let index = &index;
                threads.spawn(move || {
                    let team = Team(value);
                    let expected: Vec<_> =
                        query.rows().filter(|row| *row.1 == team).map(|row| row.0).collect();
                    assert_eq!(index.find(&query, &team), expected);
                });
            }
        });
    }
}

#[test]
fn systems_find_what_earlier_systems_wrote() {
    #[derive(Default)]
    struct Found(Vec<usize>);
    fn count(index: Res<ValueIndex<Team>>, teams: Query<&Team>, mut found: ResMut<Found>) {
        found.0.push(index.find(&teams, &Team(1)).len());
    }
    fn write(mut teams: Query<&mut Team>) {
        let first = teams.rows_mut().find(|team| team.0 != 1);
        first.expect("another team").0 = 1;
    }
    let mut world = world();
    world.spawn_batch((0..1_000).map(|n| Team(n % 10)));
    world.insert_resource(ValueIndex::<Team>::new());
    world.insert_resource(Found::default());
    let mut schedule = Schedule::new();
    schedule.add((count, write, count, write, count)).chain();
    schedule.run(&mut world).expect("all systems run");
    schedule.run(&mut world).expect("all systems run");
    assert_eq!(
        world.resource::<Found>().expect("it was inserted").0,
        [100, 101, 102, 102, 103, 104]
    );
}

static PANICS: AtomicBool = AtomicBool::new(false);

/// A component of which the hash may panic.
#[component]
#[derive(Debug, PartialEq, Eq)]
struct Moody(u32);

impl Hash for Moody {
    fn hash<H: Hasher>(&self, state: &mut H) {
        assert!(self.0 != 700 || !PANICS.load(Ordering::Relaxed), "in a bad mood");
        self.0.hash(state);
    }
}

#[test]
fn an_index_is_usable_after_a_panic_of_a_hash() {
    let (mut world, index) = (world(), ValueIndex::new());
    let all = world.spawn_batch((0..1_000).map(Moody)).to_vec();
    assert_eq!(index.find(&world.query::<&Moody>(), &Moody(5)), [all[5]]);
    world.query_mut::<&mut Moody>().rows().skip(800).for_each(|moody| moody.0 = 5);
    PANICS.store(true, Ordering::Relaxed);
    let query = world.query::<&Moody>();
    catch_unwind(AssertUnwindSafe(|| index.find(&query, &Moody(5)))).expect_err("a bad mood");
    PANICS.store(false, Ordering::Relaxed);
    let fives = [&all[5..6], &all[800..]].concat();
    assert_eq!(index.find(&query, &Moody(5)), fives);
    assert_eq!(index.find(&query, &Moody(700)), [all[700]]);
}

#[component]
struct Warm(f32);

#[test]
fn lists_that_got_new_keys_are_forgotten() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = world();
    world.spawn_batch((0..1000).map(|i| (Team(i % 10), Warm(0.0), Previous(Warm(0.0)))));
    for i in 0..50 {
        world.spawn_batch((0..4).map(|_| Cell([i; 3])));
    }
    let index = ValueIndex::new();
    let find = |world: &World| {
        assert_eq!(index.find(&world.query::<&Team>(), &Team(3)).len(), 100);
        index.memory_bytes()
    };
    let once = find(&world);
    for _ in 0..40 {
        world.flip::<Warm>()?;
        world.matching::<&Team>().sort_by_key(|team| std::cmp::Reverse(team.0));
        assert!(find(&world) <= 2 * once);
    }
    let bytes = world.snapshot()?.to_bytes()?;
    for _ in 0..10 {
        let state = world.read_snapshot(&bytes)?;
        world.restore(&state)?;
        assert!(find(&world) <= 2 * once);
    }
    Ok(())
}

//! Relations and sparse components that systems change, at once and by commands, are the same on
//! any number of threads and in any order of the systems that have no order.
//!
//! A program has all systems of a list, in an order that its seed draws, with sync points between
//! them. It first runs on one thread, and every other run must have each frame of that run.
#![forbid(unsafe_code)]
#![cfg(not(miri))] // Miri runs the schedule's own tests; here it would take hours.

use std::hash::{DefaultHasher, Hash, Hasher};

use phalanx::Schedule;
use phalanx::command::CommandWriter;
use phalanx::prelude::*;
use phalanx::rows::LevelPlan;
use phalanx::schedule::{CommandReport, Local};

use super::determinism::Random;
use super::effort::effort;

/// A source in a tree has a higher rank than its target, so that no order of commands makes a
/// cycle, which would be an error of the run.
#[component]
struct Rank(u32);

/// The length of a path to an entity from its root, by the ranks along it.
#[component]
struct Depth(u32);

#[relation(tree)]
struct ChildOf;

#[relation(tree, ordered, on_delete = despawn)]
struct SlotOf;

#[relation(many)]
struct Likes {
    weight: u32,
}

#[component(sparse, plain)]
struct Heat(u32);

/// A value that the hash does not cover.
#[component(sparse)]
struct Note(String);

/// A number that follows from all that systems have seen, in order.
#[derive(Default)]
struct Seen(u64);

impl Seen {
    fn see(&mut self, entity: Entity) {
        self.0 = self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ entity.to_bits();
    }
}

type Ranks<'w> = Query<'w, (Entity, &'static Rank)>;

/// Pairs of rows, the one of a higher rank first: others for each round and each `salt`.
fn pairs(
    ranks: &Ranks<'_>,
    round: &mut Local<'_, u64>,
    (salt, count): (u64, usize),
) -> Vec<[(Entity, u32); 2]> {
    **round += 1;
    let mut random = Random((**round * 8 + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let rows: Vec<_> = ranks.rows().map(|(entity, rank)| (entity, rank.0)).collect();
    let pairs = (0..count).map(|_| {
        let mut pair = [(); 2].map(|()| rows[random.below(rows.len())]);
        pair.sort_unstable_by_key(|row| std::cmp::Reverse(row.1));
        pair
    });
    pairs.filter(|[source, target]| source.1 > target.1).collect()
}

/// Records commands of pairs on threads of their own.
fn on_threads(
    pairs: &[[(Entity, u32); 2]],
    commands: &mut Commands,
    record: impl Fn(&mut CommandWriter, &[(Entity, u32); 2]) + Sync,
) {
    let parts: Vec<_> = pairs.chunks(16).collect();
    let mut writers = commands.par_writers(parts.len());
    std::thread::scope(|scope| {
        for (writer, part) in writers.iter_mut().zip(parts) {
            scope.spawn(|| part.iter().for_each(|pair| record(writer, pair)));
        }
    });
}

fn adopt(ranks: Ranks, mut round: Local<u64>, mut commands: Commands) {
    for [(source, _), (target, _)] in pairs(&ranks, &mut round, (1, 90)) {
        commands.insert(source, ChildOf::of(target));
    }
}

fn orphan(tree: Relation<ChildOf>, mut commands: Commands, mut seen: ResMut<Seen>) {
    for (source, target) in tree.iter().step_by(7) {
        tree.sources(target).iter().for_each(|&sibling| seen.see(sibling));
        commands.remove::<ChildOf>(source);
    }
}

fn insert_into_lists(ranks: Ranks, mut round: Local<u64>, mut commands: Commands) {
    for [(source, rank), (target, _)] in pairs(&ranks, &mut round, (2, 60)) {
        commands.insert(source, SlotOf::of(target).at(rank as usize % 5));
    }
}

/// Despawns targets, and the sources in their lists along with them.
fn fell(ranks: Ranks, mut round: Local<u64>, mut commands: Commands) {
    for [_, (target, _)] in pairs(&ranks, &mut round, (3, 8)) {
        commands.despawn(target);
    }
}

fn like(ranks: Ranks, mut round: Local<u64>, mut commands: Commands) {
    let pairs = pairs(&ranks, &mut round, (4, 200));
    on_threads(&pairs, &mut commands, |writer, &[(source, weight), (target, _)]| {
        writer.insert(source, Likes { weight }.of(target));
    });
}

fn forget(likes: Pairs<Likes>, mut commands: Commands, mut seen: ResMut<Seen>) {
    for (i, (source, target, value)) in likes.iter().enumerate() {
        seen.see(target);
        match i % 6 {
            0 => commands.remove_pair::<Likes>(source, target),
            1 => commands.insert(target, Likes { weight: value.weight + 1 }.of(source)),
            2 if value.weight % 9 == 0 => commands.remove::<Targets<Likes>>(source),
            _ => {}
        }
    }
}

/// Spawns entities below others and below each other.
fn grow(ranks: Ranks, mut round: Local<u64>, mut commands: Commands) {
    for [(source, rank), (target, _)] in pairs(&ranks, &mut round, (5, 12)) {
        let new = commands.spawn((Rank(rank + 1), Depth(0), ChildOf::of(source)));
        let slots =
            (0..3).map(|_| (Rank(rank + 2), SlotOf::of(new), Likes { weight: 3 }.of(target)));
        commands.spawn_batch(slots);
    }
}

fn sort_by_rank(mut commands: Commands) {
    commands.sort_where::<&Rank, (), _>(|rank| rank.0 % 9);
}

fn sort_by_level(mut commands: Commands) {
    commands.run(|world| {
        world.matching::<&Depth>().sort_by_level::<ChildOf>();
    });
}

/// Rows lie in whatever order the sorts have left.
fn place(
    tree: Relation<ChildOf>,
    mut plan: Local<LevelPlan<ChildOf>>,
    rows: Query<(&mut Depth, &Rank)>,
) {
    tree.propagate(&mut plan, rows, &Depth(1), |depths, ranks, parents| {
        for ((depth, rank), parent) in depths.iter_mut().zip(ranks).zip(parents) {
            depth.0 = parent.0 % 1_000_003 * 5 + rank.0;
        }
    });
}

/// Copies the first tree of at most 20 entities, as a tree of its own.
fn copy_tree(mut commands: Commands) {
    commands.run(|world| {
        let tree = world.relation::<ChildOf>();
        let mut roots = tree.iter().map(|(_, target)| tree.root(target));
        let root = roots.find(|&root| tree.descendants(root).len() < 20);
        drop(roots);
        drop(tree);
        if let Some(root) = root {
            world.instantiate_tree::<ChildOf>(root, None).expect("it is alive");
        }
    });
}

fn look(
    mut gained: Inserted<ChildOf>,
    mut lost: Removed<SlotOf>,
    lists: Relation<SlotOf>,
    mut seen: ResMut<Seen>,
) {
    for &entity in gained.read().0.iter().chain(lost.read().0) {
        seen.see(entity);
        lists.sources(entity).iter().for_each(|&slot| seen.see(slot));
    }
}

fn ignite(ranks: Ranks, mut heat: SparseMut<Heat>, mut round: Local<u64>) {
    for [(first, rank), (second, _)] in pairs(&ranks, &mut round, (6, 300)) {
        heat.insert(first, Heat(rank)).expect("it is alive");
        heat.remove(second);
    }
}

fn simmer(mut heat: SparseMut<Heat>) {
    heat.blocks_mut().par_for_each(|(entities, heat)| {
        heat.iter_mut()
            .zip(entities)
            .for_each(|(heat, entity)| heat.0 = heat.0 * 3 % 1009 + entity.index() % 2);
    });
}

fn warm(mut rows: Query<(&Rank, &mut Heat), Without<Note>>) {
    rows.rows_mut().for_each(|(rank, heat)| heat.0 += rank.0);
}

fn pass_on(ranks: Ranks, mut round: Local<u64>, mut commands: Commands) {
    let pairs = pairs(&ranks, &mut round, (7, 200));
    on_threads(&pairs, &mut commands, |writer, &[(source, rank), (target, _)]| {
        writer.insert(source, (Heat(rank), Note(format!("at {rank}"))));
        writer.exchange::<Heat, _>(target, Note("from above".to_owned()));
        if rank % 8 == 0 {
            writer.spawn((Rank(rank), Heat(7)));
        }
    });
}

fn read_notes(
    rows: Query<(Entity, &Note), With<Heat>>,
    mut commands: Commands,
    mut seen: ResMut<Seen>,
) {
    for (i, (entity, note)) in rows.rows().enumerate() {
        seen.see(entity);
        match (i + note.0.len()) % 20 {
            0 => commands.despawn(entity),
            1..5 => commands.remove::<(Note, Heat)>(entity),
            5..9 => commands.remove::<Note>(entity),
            _ => {}
        }
    }
}

fn count(hot: Query<Entity, (With<Heat>, Changed<Heat>)>, mut seen: ResMut<Seen>) {
    hot.rows().for_each(|entity| seen.see(entity));
}

/// Adds one system of a list.
type Add = fn(&mut Schedule);

/// Systems that change relations.
const RELATIONS: &[Add] = &[
    |schedule| _ = schedule.add(adopt),
    |schedule| _ = schedule.add(orphan),
    |schedule| _ = schedule.add(insert_into_lists),
    |schedule| _ = schedule.add(fell),
    |schedule| _ = schedule.add(like),
    |schedule| _ = schedule.add(forget),
    |schedule| _ = schedule.add(grow),
    |schedule| _ = schedule.add(sort_by_rank),
    |schedule| _ = schedule.add(sort_by_level),
    |schedule| _ = schedule.add(place),
    |schedule| _ = schedule.add(copy_tree),
    |schedule| _ = schedule.add(look),
];

/// Systems that change sparse components.
const SPARSE: &[Add] = &[
    |schedule| _ = schedule.add(ignite),
    |schedule| _ = schedule.add(simmer),
    |schedule| _ = schedule.add(warm),
    |schedule| _ = schedule.add(pass_on),
    |schedule| _ = schedule.add(read_notes),
    |schedule| _ = schedule.add(count),
];

/// The program of a seed.
fn program(systems: &[Add], seed: u64) -> Schedule {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (mut schedule, mut systems) = (Schedule::new(), systems.to_vec());
    while !systems.is_empty() {
        systems.swap_remove(random.below(systems.len()))(&mut schedule);
        if random.below(4) == 0 {
            schedule.sync();
        }
    }
    schedule
}

/// The observable state of a frame.
#[derive(Debug, PartialEq)]
struct Frame {
    hash: u64,
    version: Version,
    seen: u64,
    /// The hash of all notes, in order.
    notes: u64,
    /// The commands that had no effect.
    report: CommandReport,
}

/// The frames of a program.
fn run(mut schedule: Schedule) -> Vec<Frame> {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    world.spawn_batch((0..600).map(|i| (Rank(i * 7 % 100), Depth(0))));
    world.spawn_batch((0..300).map(|i| Rank(i * 11 % 100)));
    world.spawn_batch((0..300).map(|i| (Rank(i % 50), Heat(i), Note(i.to_string()))));
    world.insert_resource(Seen::default());
    let frame = |_| {
        schedule.run(&mut world).expect("no command makes a cycle");
        world.check().expect("the world is sound");
        let mut notes = DefaultHasher::new();
        world.sparse::<Note>().iter().for_each(|(at, note)| (at, &note.0).hash(&mut notes));
        let seen = world.resource::<Seen>().expect("it is there").0;
        let report = schedule.take_report();
        Frame { hash: world.hash(), version: world.version(), seen, notes: notes.finish(), report }
    };
    (0..5).map(frame).collect()
}

/// Runs programs on several numbers of threads, in several orders. Other programs have other
/// frames: so equal ones are no accident.
#[track_caller]
fn threads_and_order_do_not_matter(systems: &[Add]) {
    let mut hashes = Vec::new();
    for seed in 0..effort(4).into() {
        let mut alone = program(systems, seed);
        alone.threads(1);
        let want = run(alone);
        hashes.push(want[4].hash);
        for (round, threads) in (0..).zip([1, 2, 4, 1, 2, 4]) {
            let mut schedule = program(systems, seed);
            schedule.threads(threads);
            if round > 0 {
                schedule.shuffle(round);
            }
            assert_eq!(run(schedule), want, "program {seed}, {threads} threads, shuffle {round}");
        }
    }
    let programs = hashes.len();
    hashes.sort_unstable();
    hashes.dedup();
    assert!(hashes.len() + 1 >= programs, "of {programs} programs {} hashes", hashes.len());
}

#[test]
fn relations_are_the_same_on_any_number_of_threads() {
    threads_and_order_do_not_matter(RELATIONS);
}

#[test]
fn sparse_components_are_the_same_on_any_number_of_threads() {
    threads_and_order_do_not_matter(SPARSE);
}

//! The same program of systems in the same world gives the same results on any number of threads,
//! at any instruction-set level, and in any order of the systems that have no order.
//!
//! Programs are drawn from a seed: their systems, the order of adding them, and the requested
//! order. Each program first runs on one thread, frame by frame; after each frame, every other run
//! must have the hash of that run.
#![forbid(unsafe_code)]
#![cfg(not(miri))] // Miri runs the schedule's own tests; here it would take hours.

use crate::effort::effort;
use phalanx::prelude::*;
use phalanx::schedule::{CommandReport, Local};
use phalanx::{Lookup, Schedule};

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Position {
    x: f32,
    y: f32,
    z: f32,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Velocity {
    x: f32,
    y: f32,
    z: f32,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Health(f32);

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Link(Entity);

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Pull(f32);

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Burning;

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Frozen;

impl_component!(Position, Velocity, Health, Link, Pull, Burning, Frozen);

/// A component with a version of each 64 rows.
#[component(lines)]
struct Glow(u32);

/// The counts of systems, as a resource.
#[derive(Default)]
struct Seen {
    rows: u64,
    changed: u64,
}

/// One Euler step.
#[kernel]
fn integrate(position: &mut [Position], velocity: &[Velocity]) {
    for (p, v) in position.iter_mut().zip(velocity) {
        p.x += v.x * 0.016;
        p.y += v.y * 0.016;
        p.z += v.z * 0.016;
    }
}

/// Rounds of arithmetic with a result that depends on their order.
#[kernel]
fn simmer(health: &mut [Health]) {
    for h in health {
        for _ in 0..20 {
            h.0 = h.0 * 0.999 + 0.05 / (1.0 + h.0 * h.0);
        }
    }
}

fn step(query: Query<(&mut Position, &Velocity)>) {
    query.into_iter().for_each(|(position, velocity)| integrate(position, velocity));
}

fn fall(query: Query<&mut Velocity, Without<Frozen>>) {
    query.into_iter().flatten().for_each(|v| v.y -= 0.16);
}

fn heat(query: Query<&mut Health>) {
    query.par().for_each_chunk(simmer);
}

fn burn(query: Query<(Entity, &mut Health), With<Burning>>, mut commands: Commands) {
    for (entity, health) in query.rows() {
        health.0 -= 3.0;
        if health.0 < 0.0 {
            commands.despawn(entity);
        }
    }
}

fn ignite(query: Query<(Entity, &Health), Without<Burning>>, mut commands: Commands) {
    for (entity, health) in query.rows().step_by(37) {
        if health.0 < 60.0 {
            commands.insert(entity, Burning);
        }
    }
}

fn freeze(query: Query<(Entity, &Position)>, mut commands: Commands) {
    for (entity, position) in query.rows().step_by(101) {
        if position.y < -0.05 {
            commands.insert(entity, Frozen);
            commands.remove::<Burning>(entity);
        }
    }
}

fn thaw(mut commands: Commands, mut round: Local<u32>) {
    *round += 1;
    if round.is_multiple_of(3) {
        commands.remove_where::<&Position, With<Frozen>, Frozen>();
    }
}

fn breed(mut commands: Commands, mut last: Local<Option<Entity>>) {
    for i in 0..700u16 {
        let at = f32::from(i);
        let position = Position { x: at, y: 0.0, z: -at };
        let child = commands.spawn((position, Velocity::zeroed(), Health(at % 100.0), Pull(0.0)));
        if let Some(before) = last.replace(child) {
            commands.insert(child, Link(before));
        }
    }
}

fn pull(query: Query<(&Link, &mut Pull)>, positions: Lookup<Position>) {
    for (link, pull) in query.rows() {
        pull.0 += positions.get(link.0).map_or(1.0, |p| p.x * 0.5 + p.y);
    }
}

fn look(query: Query<&Position, Changed<Position>>, mut seen: ResMut<Seen>) {
    seen.changed += query.into_iter().flatten().count() as u64;
}

fn count(query: Query<Entity>, mut seen: ResMut<Seen>) {
    seen.rows += query.into_iter().map(<[_]>::len).sum::<usize>() as u64;
}

fn scatter_sparks(query: Query<(Entity, &Health), With<Burning>>, mut commands: Commands) {
    let chunks = query.iter().count();
    let mut writers = commands.par_writers(chunks);
    let chunks: Vec<_> = query.into_iter().collect();
    std::thread::scope(|scope| {
        for (writer, (entities, health)) in writers.iter_mut().zip(chunks) {
            scope.spawn(move || {
                for (&entity, health) in entities.iter().zip(health).step_by(11) {
                    writer.insert(entity, Pull(health.0));
                    writer.spawn((Health(health.0 * 0.5), Velocity::zeroed()));
                }
            });
        }
    });
}

/// Writes some rows of each chunk, on several threads.
fn glow(query: Query<(Entity, LinesMut<Glow>)>) {
    query.par().for_each_chunk(|(entities, mut glows)| {
        for (row, entity) in entities.iter().enumerate() {
            if (entity.index() + glows[row].0 * 7).is_multiple_of(29) {
                glows.row_mut(row).0 += 1;
            }
        }
    });
}

/// Writes all rows.
fn glow_all(query: Query<LinesMut<Glow>>) {
    query.par().for_each_chunk(|mut glows| glows.all_mut().iter_mut().for_each(|glow| glow.0 += 1));
}

fn reflect(query: Query<&Glow, ChangedLines<Glow>>, mut seen: ResMut<Seen>) {
    seen.changed += query.rows().map(|glow| u64::from(glow.0)).sum::<u64>();
}

fn kindle(query: Query<(Entity, &Health), Without<Glow>>, mut commands: Commands) {
    for (entity, health) in query.rows().step_by(17) {
        if health.0 > 50.0 {
            commands.insert(entity, Glow(0));
        }
    }
}

/// A xorshift generator.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % n
    }
}

/// The program of a seed.
fn program(seed: u64) -> Schedule {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut schedule = Schedule::new();
    let mut names = Vec::new();
    for number in 0..6 + random.below(7) {
        let name = format!("{number}");
        let entry = match random.below(16) {
            0 => schedule.add(step),
            1 => schedule.add(fall),
            2 => schedule.add(heat),
            3 => schedule.add(burn),
            4 => schedule.add(ignite),
            5 => schedule.add(freeze),
            6 => schedule.add(thaw),
            7 => schedule.add(breed),
            8 => schedule.add(pull),
            9 => schedule.add(look),
            10 => schedule.add(count),
            11 => schedule.add(glow),
            12 => schedule.add(reflect),
            13 => schedule.add(kindle),
            14 => schedule.add(glow_all),
            _ => schedule.add(scatter_sparks),
        };
        let entry = entry.named(&name);
        if !names.is_empty() && random.below(4) == 0 {
            let other: &String = &names[random.below(names.len())];
            entry.after(other);
        }
        if random.below(8) == 0 {
            schedule.sync();
        }
        names.push(name);
    }
    schedule
}

fn world() -> World {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let position = |i: u16| Position { x: f32::from(i), y: 0.0, z: 1.0 };
    let velocity = |i: u16| Velocity { x: 1.0, y: f32::from(i % 7), z: 0.5 };
    world.spawn_batch((0..4000).map(|i| (position(i), velocity(i), Health(f32::from(i % 100)))));
    world.spawn_batch((0..2000).map(|i| (position(i), Health(f32::from(i % 90)), Burning)));
    world.spawn_batch((0..500).map(|i| (velocity(i), Frozen)));
    world.spawn_batch((0..1500u16).map(|i| (Health(f32::from(i % 80)), Glow(0))));
    world.insert_resource(Seen::default());
    world
}

/// The observable state of a frame.
#[derive(Debug, PartialEq)]
struct Frame {
    hash: u64,
    version: Version,
    /// The counts of the systems so far.
    rows: u64,
    changed: u64,
    /// The commands that had no effect.
    report: CommandReport,
}

/// The frames of a program.
fn run(mut schedule: Schedule) -> Vec<Frame> {
    const FRAMES: usize = 5;
    let mut world = world();
    let frames = (0..FRAMES).map(|_| {
        schedule.run(&mut world).expect("the programs can run");
        // A call between two frames.
        world.run(|glows: Query<(Entity, LinesMut<Glow>)>, mut commands: Commands| {
            glow(glows);
            commands.spawn((Health(1.0), Glow(1)));
        });
        let report = schedule.take_report();
        let Seen { rows, changed } = *world.resource::<Seen>().expect("it is there");
        Frame { hash: world.hash(), version: world.version(), rows, changed, report }
    });
    let frames = frames.collect();
    world.check().expect("the world is sound");
    frames
}

#[test]
fn threads_levels_and_order_do_not_matter() {
    // Each level with each number of threads, at least.
    let (programs, runs) = (u64::from(effort(6)), 9);
    let levels: Vec<Level> = Level::available().collect();
    let mut stale = 0;
    // From a program on whose commands meet entities that are gone.
    for seed in 19..19 + programs {
        Level::pin(levels[0]).expect("available");
        let mut alone = program(seed);
        alone.threads(1);
        let want = run(alone);
        stale += want.iter().map(|frame| frame.report.count()).sum::<u64>();
        for round in 0..runs {
            let level = levels[(round / 3) as usize % levels.len()];
            let threads = [1, 2, 4][(round % 3) as usize];
            Level::pin(level).expect("available");
            let mut schedule = program(seed);
            schedule.threads(threads).shuffle(round);
            let got = run(schedule);
            assert_eq!(got, want, "program {seed}, {threads} threads, {level}, shuffle {round}");
        }
    }
    Level::unpin();
    assert!(stale > 0, "some programs report something");
}

/// The test above can fail: a result that depends on the order of systems changes the hash.
#[test]
fn another_program_has_another_hash() {
    let mut hashes: Vec<u64> =
        (0..8).map(|seed| run(program(seed)).last().expect("frames").hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert!(hashes.len() >= 6, "of eight programs {} hashes", hashes.len());
}

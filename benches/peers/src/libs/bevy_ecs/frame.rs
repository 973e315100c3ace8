use super::*;
use crate::frame::{self, Census, Mover, TAGS, for_beacon_tags, for_mover_tags};
use crate::frame::{frame_kernels, frame_rows};
use bevy_ecs::schedule::SingleThreadedExecutor;
use bevy_tasks::{ComputeTaskPool, TaskPoolBuilder};

frame_rows! { [#[derive(Component)]] }
frame_kernels! {}

#[derive(Component)]
struct Target(Entity);

/// The beacons, by their numbers.
#[derive(Resource)]
struct Beacons(Vec<Entity>);

#[derive(Resource, Default)]
struct Clock(frame::Clock);

/// Systems in a chain, on one thread.
pub(crate) fn frame(h: &mut Harness, _: usize) {
    macro_rules! run {
        ($systems:ident, $variant:literal) => {{
            use $systems::*;
            let mut schedule = Schedule::default();
            schedule.add_systems((steer, accelerate, slow, advance, bounce).chain());
            schedule.add_systems((sicken, heal, signal, mirror).chain().after(bounce));
            schedule.add_systems((age, reap, breed).chain_ignore_deferred().after(mirror));
            schedule.set_executor(SingleThreadedExecutor::new());
            frame_of(h, $variant, schedule);
        }};
    }
    run!(by_rows, "");
    run!(by_slices, "contig, no ticks, #[kernel]");
}

/// Chains of the systems that share components, on all threads.
pub(crate) fn two_threads(h: &mut Harness, _: usize) {
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(2).build());
    macro_rules! run {
        ($systems:ident, $steer:ident, $variant:literal) => {{
            use $systems::*;
            let mut schedule = Schedule::default();
            schedule.add_systems($steer.before(accelerate));
            schedule.add_systems((accelerate, slow, advance, bounce).chain());
            schedule.add_systems((sicken, heal).chain());
            schedule.add_systems((signal, mirror).chain());
            schedule.add_systems((age, reap).chain_ignore_deferred());
            schedule.add_systems(breed.after(signal));
            frame_of(h, $variant, schedule);
        }};
    }
    run!(by_rows, steer, "");
    run!(by_rows, steer_in_parallel, "steer in parallel");
    run!(by_slices, steer, "contig, no ticks, #[kernel]");
    run!(by_slices, steer_in_parallel, "contig, no ticks, #[kernel], steer in parallel");
}

fn frame_of(h: &mut Harness, variant: &str, schedule: Schedule) {
    let mut w = World::new();
    populate(&mut w);
    h.run(variant, (w, schedule), |(w, schedule)| schedule.run(w), |(w, _)| census(w));
}

mod by_rows {
    use super::*;

    pub(super) fn steer(
        mut movers: Query<(&mut Force, &Position, &Target)>,
        positions: Query<&Position, With<Signal>>,
    ) {
        movers.iter_mut().for_each(|(mut force, position, target)| {
            if let Ok(beacon) = positions.get(target.0) {
                steer_row(&mut force, position, beacon);
            }
        });
    }

    pub(super) fn steer_in_parallel(
        mut movers: Query<(&mut Force, &Position, &Target)>,
        positions: Query<&Position, With<Signal>>,
    ) {
        movers.par_iter_mut().for_each(|(mut force, position, target)| {
            if let Ok(beacon) = positions.get(target.0) {
                steer_row(&mut force, position, beacon);
            }
        });
    }

    pub(super) fn accelerate(mut movers: Query<(&mut Velocity, &Force)>) {
        movers.iter_mut().for_each(|(mut v, f)| accelerate_row(&mut v, f));
    }

    pub(super) fn slow(mut movers: Query<(&mut Velocity, &Drag)>) {
        movers.iter_mut().for_each(|(mut v, d)| slow_row(&mut v, d));
    }

    pub(super) fn advance(mut movers: Query<(&mut Position, &Velocity)>) {
        movers.iter_mut().for_each(|(mut p, v)| advance_row(&mut p, v));
    }

    pub(super) fn bounce(mut movers: Query<(&Position, &mut Velocity)>) {
        movers.iter_mut().for_each(|(p, mut v)| bounce_row(p, &mut v));
    }

    pub(super) fn sicken(mut movers: Query<(&mut Health, &Poison)>) {
        movers.iter_mut().for_each(|(mut h, p)| sicken_row(&mut h, p));
    }

    pub(super) fn heal(mut movers: Query<&mut Health>) {
        movers.iter_mut().for_each(|mut h| heal_row(&mut h));
    }

    pub(super) fn age(mut movers: Query<&mut Life>) {
        movers.iter_mut().for_each(|mut life| age_row(&mut life));
    }
}

/// The kernels of phalanx, over the slices of each table. Only the numbers of beacons need change
/// ticks.
mod by_slices {
    use super::*;

    pub(super) fn steer(
        mut movers: Query<(&mut Force, &Position, &Target)>,
        positions: Query<&Position, With<Signal>>,
    ) {
        movers.iter_mut().for_each(|(mut force, position, target)| {
            if let Ok(beacon) = positions.get(target.0) {
                steer_row(force.bypass_change_detection(), position, beacon);
            }
        });
    }

    pub(super) fn steer_in_parallel(
        mut movers: Query<(&mut Force, &Position, &Target)>,
        positions: Query<&Position, With<Signal>>,
    ) {
        movers.par_iter_mut().for_each(|(mut force, position, target)| {
            if let Ok(beacon) = positions.get(target.0) {
                steer_row(force.bypass_change_detection(), position, beacon);
            }
        });
    }

    pub(super) fn accelerate(mut movers: Query<(&mut Velocity, &Force)>) {
        for (mut v, f) in movers.contiguous_iter_mut().expect("dense") {
            accelerate_rows(v.bypass_change_detection(), f);
        }
    }

    pub(super) fn slow(mut movers: Query<(&mut Velocity, &Drag)>) {
        for (mut v, d) in movers.contiguous_iter_mut().expect("dense") {
            slow_rows(v.bypass_change_detection(), d);
        }
    }

    pub(super) fn advance(mut movers: Query<(&mut Position, &Velocity)>) {
        for (mut p, v) in movers.contiguous_iter_mut().expect("dense") {
            advance_rows(p.bypass_change_detection(), v);
        }
    }

    pub(super) fn bounce(mut movers: Query<(&Position, &mut Velocity)>) {
        for (p, mut v) in movers.contiguous_iter_mut().expect("dense") {
            p.iter().zip(v.bypass_change_detection()).for_each(|(p, v)| bounce_row(p, v));
        }
    }

    pub(super) fn sicken(mut movers: Query<(&mut Health, &Poison)>) {
        for (mut h, p) in movers.contiguous_iter_mut().expect("dense") {
            sicken_rows(h.bypass_change_detection(), p);
        }
    }

    pub(super) fn heal(mut movers: Query<&mut Health>) {
        for mut h in movers.contiguous_iter_mut().expect("dense") {
            heal_rows(h.bypass_change_detection());
        }
    }

    pub(super) fn age(mut movers: Query<&mut Life>) {
        for mut lives in movers.contiguous_iter_mut().expect("dense") {
            lives.bypass_change_detection().iter_mut().for_each(age_row);
        }
    }
}

fn signal(mut signals: Query<&mut Signal>, beacons: Res<Beacons>, clock: Res<Clock>) {
    for number in clock.0.signals() {
        signals.get_mut(beacons.0[number]).expect("beacons stay").0 += 1;
    }
}

fn mirror(mut beacons: Query<(&mut Mirror, &Signal), Changed<Signal>>) {
    beacons.iter_mut().for_each(|(mut m, s)| mirror_row(&mut m, s));
}

fn reap(movers: Query<(Entity, &Life)>, mut commands: Commands) {
    movers.iter().filter(|(_, life)| life.left == 0).for_each(|(entity, _)| {
        commands.entity(entity).despawn();
    });
}

fn breed(mut clock: ResMut<Clock>, beacons: Res<Beacons>, mut commands: Commands) {
    for mover in clock.0.born() {
        spawn(&mut commands, &mover, beacons.0[mover.beacon]);
    }
}

fn spawn(commands: &mut Commands, mover: &Mover, beacon: Entity) {
    type Spawn = fn(&mut Commands, &Mover, Target);
    macro_rules! by_tag {
        ($($tag:ident)*) => { [$(|c, mover, target| spawn_tagged(c, mover, target, $tag)),*] };
    }
    const SPAWN: [Spawn; TAGS] = for_mover_tags!(by_tag);
    SPAWN[mover.kind % TAGS](commands, mover, Target(beacon));
}

fn spawn_tagged<T: Component>(c: &mut Commands, mover: &Mover, target: Target, tag: T) {
    let body = (body(mover), target);
    match mover.kind / TAGS {
        0 => c.spawn((body, tag)),
        1 => c.spawn((body, Poison(mover.extra), tag)),
        _ => c.spawn((body, Drag(mover.extra), tag)),
    };
}

fn populate(w: &mut World) {
    let beacons = (0..frame::BEACONS).map(|i| {
        let beacon = (Position::new(frame::beacon(i)), Signal(0), Mirror(1));
        macro_rules! by_tag {
            ($($tag:ident)*) => { [$(|w, beacon| w.spawn((beacon, $tag)).id()),*] };
        }
        type Spawn = fn(&mut World, (Position, Signal, Mirror)) -> Entity;
        const SPAWN: [Spawn; frame::BEACON_KINDS] = for_beacon_tags!(by_tag);
        SPAWN[i % frame::BEACON_KINDS](w, beacon)
    });
    let beacons: Vec<Entity> = beacons.collect();
    let mut commands = w.commands();
    Mover::first().for_each(|mover| spawn(&mut commands, &mover, beacons[mover.beacon]));
    w.flush();
    w.insert_resource(Beacons(beacons));
    w.init_resource::<Clock>();
}

fn census(w: &mut World) -> Outcome {
    let mut census = Census::default();
    let mut movers = w.query::<(&Position, &Velocity, &Health, &Life)>();
    for (p, v, health, life) in movers.iter(w) {
        census.mover(life.serial, life.left, health.0, [[p.x, p.y, p.z], [v.x, v.y, v.z]]);
    }
    let mut beacons = w.query::<(&Position, &Signal, &Mirror)>();
    for (p, signal, mirror) in beacons.iter(w) {
        census.beacon([p.x, p.y, p.z], signal.0, mirror.0);
    }
    census.outcome()
}

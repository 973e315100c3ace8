use super::*;
use crate::frame::{self, Census, Clock, Mover, TAGS, for_beacon_tags, for_mover_tags};
use crate::frame::{frame_kernels, frame_rows};

frame_rows! { [] }
frame_kernels! {}
impl_component!(Force, Health, Poison, Drag, Signal, Mirror, Life);

#[component]
struct Target(Entity);

/// The beacons, by their numbers.
struct Beacons(Vec<Entity>);

pub(crate) fn frame(h: &mut Harness, _: usize) {
    for kib in CHUNK_KIB {
        frame_of(h, &chunk_variant(kib), world(kib), schedule(1, Steer::Rows));
    }
}

pub(crate) fn two_threads(h: &mut Harness, _: usize) {
    for (variant, steer) in [("", Steer::Rows), ("steer in parallel", Steer::Parallel)] {
        frame_of(h, variant, World::new(), schedule(2, steer));
    }
}

fn frame_of(h: &mut Harness, variant: &str, mut w: World, schedule: Schedule) {
    populate(&mut w);
    let run = |(w, s): &mut (World, Schedule)| s.run(w).expect("no system fails");
    h.run(variant, (w, schedule), run, |(w, _)| census(w));
}

/// How the longest system walks its rows.
enum Steer {
    Rows,
    Parallel,
}

/// The order of the systems is that of the frame; births and deaths come last.
fn schedule(threads: usize, form: Steer) -> Schedule {
    let mut schedule = Schedule::new();
    schedule.threads(threads);
    match form {
        Steer::Rows => schedule.add(steer),
        Steer::Parallel => schedule.add(steer_in_parallel),
    };
    schedule.add((accelerate, slow, advance, bounce));
    schedule.add((sicken, heal, signal, mirror));
    schedule.add((age, reap, breed));
    schedule
}

fn steer(movers: Query<(&mut Force, &Position, &Target)>, positions: Lookup<Position>) {
    movers.rows().for_each(move |(force, position, target)| {
        if let Ok(beacon) = positions.get(target.0) {
            steer_row(force, position, beacon);
        }
    });
}

fn steer_in_parallel(movers: Query<(&mut Force, &Position, &Target)>, positions: Lookup<Position>) {
    movers.par().for_each_chunk(|(forces, places, targets)| {
        for ((force, position), target) in forces.iter_mut().zip(places).zip(targets) {
            if let Ok(beacon) = positions.get(target.0) {
                steer_row(force, position, beacon);
            }
        }
    });
}

fn accelerate(movers: Query<(&mut Velocity, &Force)>) {
    movers.into_iter().for_each(|(velocity, force)| accelerate_rows(velocity, force));
}

fn slow(movers: Query<(&mut Velocity, &Drag)>) {
    movers.into_iter().for_each(|(velocity, drag)| slow_rows(velocity, drag));
}

fn advance(movers: Query<(&mut Position, &Velocity)>) {
    movers.into_iter().for_each(|(position, velocity)| advance_rows(position, velocity));
}

fn bounce(movers: Query<(&Position, &mut Velocity)>) {
    movers.rows().for_each(|(position, velocity)| bounce_row(position, velocity));
}

fn sicken(movers: Query<(&mut Health, &Poison)>) {
    movers.into_iter().for_each(|(health, poison)| sicken_rows(health, poison));
}

fn heal(movers: Query<&mut Health>) {
    movers.into_iter().for_each(heal_rows);
}

fn signal(mut signals: LookupMut<Signal>, beacons: Res<Beacons>, clock: Res<Clock>) {
    for number in clock.signals() {
        signals.get_mut(beacons.0[number]).expect("beacons stay").0 += 1;
    }
}

fn mirror(beacons: Query<(&mut Mirror, &Signal), Changed<Signal>>) {
    beacons.into_iter().for_each(|(mirror, signal)| mirror_rows(mirror, signal));
}

fn age(movers: Query<&mut Life>) {
    movers.rows().for_each(age_row);
}

fn reap(movers: Query<(Entity, &Life)>, mut commands: Commands) {
    movers.rows().for_each(|(entity, life)| {
        if life.left == 0 {
            commands.despawn(entity);
        }
    });
}

fn breed(mut clock: ResMut<Clock>, beacons: Res<Beacons>, mut commands: Commands) {
    for mover in clock.born() {
        spawn(&mut commands, &mover, beacons.0[mover.beacon]);
    }
}

fn spawn(commands: &mut Commands, mover: &Mover, beacon: Entity) {
    type Spawn = fn(&mut Commands, usize, Body, f32);
    macro_rules! by_tag {
        ($($tag:ident)*) => { [$(|c, kind, body, extra| spawn_tagged(c, kind, body, extra, $tag)),*] };
    }
    const SPAWN: [Spawn; TAGS] = for_mover_tags!(by_tag);
    SPAWN[mover.kind % TAGS](commands, mover.kind, (body(mover), Target(beacon)), mover.extra);
}

type Body = ((Position, Velocity, Force, Health, Life), Target);

fn spawn_tagged<T: Component>(c: &mut Commands, kind: usize, body: Body, extra: f32, tag: T) {
    match kind / TAGS {
        0 => _ = c.spawn((body, tag)),
        1 => _ = c.spawn((body, Poison(extra), tag)),
        _ => _ = c.spawn((body, Drag(extra), tag)),
    }
}

fn populate(w: &mut World) {
    let beacons = (0..frame::BEACONS).map(|i| {
        let beacon = (Position::new(frame::beacon(i)), Signal(0), Mirror(1));
        macro_rules! by_tag {
            ($($tag:ident)*) => { [$(|w, beacon| w.spawn((beacon, $tag))),*] };
        }
        type Spawn = fn(&mut World, (Position, Signal, Mirror)) -> Entity;
        const SPAWN: [Spawn; frame::BEACON_KINDS] = for_beacon_tags!(by_tag);
        SPAWN[i % frame::BEACON_KINDS](w, beacon)
    });
    let beacons = Beacons(beacons.collect());
    w.insert_resource(beacons);
    w.insert_resource(Clock::default());
    w.run(|beacons: Res<Beacons>, mut commands: Commands| {
        Mover::first().for_each(|mover| spawn(&mut commands, &mover, beacons.0[mover.beacon]));
    });
}

fn census(w: &World) -> Outcome {
    let mut census = Census::default();
    for (p, v, health, life) in w.query::<(&Position, &Velocity, &Health, &Life)>().rows() {
        census.mover(life.serial, life.left, health.0, [[p.x, p.y, p.z], [v.x, v.y, v.z]]);
    }
    for (p, signal, mirror) in w.query::<(&Position, &Signal, &Mirror)>().rows() {
        census.beacon([p.x, p.y, p.z], signal.0, mirror.0);
    }
    census.outcome()
}

use super::*;
use crate::frame::{self, Census, Clock, Mover, TAGS, for_beacon_tags, for_mover_tags};
use crate::frame::{frame_kernels, frame_rows};
use hecs::With;

frame_rows! { [] }
frame_kernels! {}

struct Target(Entity);

struct Frame {
    world: World,
    queries: Queries,
    beacons: Vec<Entity>,
    clock: Clock,
    dead: Vec<Entity>,
}

#[derive(Default)]
struct Queries {
    beacons: PreparedQuery<With<&'static Position, &'static Signal>>,
    steered: PreparedQuery<(&'static mut Force, &'static Position, &'static Target)>,
    accelerated: PreparedQuery<(&'static mut Velocity, &'static Force)>,
    slowed: PreparedQuery<(&'static mut Velocity, &'static Drag)>,
    moved: PreparedQuery<(&'static mut Position, &'static Velocity)>,
    bounced: PreparedQuery<(&'static Position, &'static mut Velocity)>,
    ill: PreparedQuery<(&'static mut Health, &'static Poison)>,
    healed: PreparedQuery<&'static mut Health>,
    signals: PreparedQuery<&'static mut Signal>,
    mirrors: PreparedQuery<(&'static mut Mirror, &'static Signal)>,
    lives: PreparedQuery<&'static mut Life>,
    old: PreparedQuery<(Entity, &'static Life)>,
}

/// Prepared queries by hand: the library has neither systems nor a change filter.
pub(crate) fn frame(h: &mut Harness, _: usize) {
    h.run("", Frame::new(), Frame::by_rows, |frame| census(&frame.world));
    h.run("columns, #[kernel]", Frame::new(), Frame::by_columns, |frame| census(&frame.world));
}

impl Frame {
    fn by_rows(&mut self) {
        self.steer();
        let Self { world: w, queries: q, .. } = self;
        q.accelerated.query_mut(w).for_each(|(v, f)| accelerate_row(v, f));
        q.slowed.query_mut(w).for_each(|(v, d)| slow_row(v, d));
        q.moved.query_mut(w).for_each(|(p, v)| advance_row(p, v));
        q.bounced.query_mut(w).for_each(|(p, v)| bounce_row(p, v));
        q.ill.query_mut(w).for_each(|(h, p)| sicken_row(h, p));
        q.healed.query_mut(w).for_each(heal_row);
        self.signal();
        let Self { world: w, queries: q, .. } = self;
        q.mirrors.query_mut(w).for_each(|(m, s)| mirror_row(m, s));
        self.live_and_die();
    }

    /// The systems that are kernels in phalanx are the same kernels here.
    fn by_columns(&mut self) {
        self.steer();
        let Self { world: w, queries: q, .. } = self;
        on_columns(w, accelerate_rows);
        on_columns(w, slow_rows);
        on_columns(w, advance_rows);
        q.bounced.query_mut(w).for_each(|(p, v)| bounce_row(p, v));
        on_columns(w, sicken_rows);
        for mut health in w.archetypes().filter_map(|archetype| archetype.get::<&mut Health>()) {
            heal_rows(&mut health);
        }
        self.signal();
        on_columns(&self.world, mirror_rows);
        self.live_and_die();
    }

    fn steer(&mut self) {
        let Self { world: w, queries: q, .. } = self;
        let mut positions = q.beacons.query(w);
        let positions = positions.view();
        for (force, position, target) in q.steered.query(w).iter() {
            if let Some(beacon) = positions.get(target.0) {
                steer_row(force, position, beacon);
            }
        }
    }

    fn signal(&mut self) {
        let Self { world: w, queries: q, beacons, clock, .. } = self;
        let mut signals = q.signals.view_mut(w);
        for number in clock.signals() {
            signals.get_mut(beacons[number]).expect("beacons stay").0 += 1;
        }
    }

    fn live_and_die(&mut self) {
        let Self { world: w, queries: q, beacons, clock, dead } = self;
        q.lives.query_mut(w).for_each(age_row);
        dead.extend(q.old.query_mut(w).filter(|(_, life)| life.left == 0).map(|(e, _)| e));
        dead.drain(..).for_each(|entity| w.despawn(entity).expect("alive"));
        clock.born().for_each(|mover| spawn(w, &mover, beacons[mover.beacon]));
    }

    fn new() -> Self {
        let mut world = World::new();
        let beacons: Vec<Entity> = (0..frame::BEACONS)
            .map(|i| {
                let place = Position::new(frame::beacon(i));
                macro_rules! by_tag {
                    ($($tag:ident)*) => {
                        [$(|w, place| w.spawn((place, Signal(0), Mirror(1), $tag))),*]
                    };
                }
                type Spawn = fn(&mut World, Position) -> Entity;
                const SPAWN: [Spawn; frame::BEACON_KINDS] = for_beacon_tags!(by_tag);
                SPAWN[i % frame::BEACON_KINDS](&mut world, place)
            })
            .collect();
        Mover::first().for_each(|mover| spawn(&mut world, &mover, beacons[mover.beacon]));
        let (queries, clock) = (Queries::default(), Clock::default());
        Self { world, queries, beacons, clock, dead: Vec::new() }
    }
}

/// Runs a kernel on two columns of each archetype that has both.
fn on_columns<X: hecs::Component, Y: hecs::Component>(w: &World, kernel: impl Fn(&mut [X], &[Y])) {
    for archetype in w.archetypes() {
        if let (Some(mut x), Some(y)) = (archetype.get::<&mut X>(), archetype.get::<&Y>()) {
            kernel(&mut x, &y);
        }
    }
}

fn spawn(w: &mut World, mover: &Mover, beacon: Entity) {
    type Spawn = fn(&mut World, &Mover, Target);
    macro_rules! by_tag {
        ($($tag:ident)*) => { [$(|w, mover, target| spawn_tagged(w, mover, target, $tag)),*] };
    }
    const SPAWN: [Spawn; TAGS] = for_mover_tags!(by_tag);
    SPAWN[mover.kind % TAGS](w, mover, Target(beacon));
}

fn spawn_tagged<T: hecs::Component>(w: &mut World, mover: &Mover, target: Target, tag: T) {
    let (p, v, f, h, l) = body(mover);
    match mover.kind / TAGS {
        0 => w.spawn((p, v, f, h, l, target, tag)),
        1 => w.spawn((p, v, f, h, l, target, tag, Poison(mover.extra))),
        _ => w.spawn((p, v, f, h, l, target, tag, Drag(mover.extra))),
    };
}

fn census(w: &World) -> Outcome {
    let mut census = Census::default();
    for (p, v, health, life) in w.query::<(&Position, &Velocity, &Health, &Life)>().iter() {
        census.mover(life.serial, life.left, health.0, [[p.x, p.y, p.z], [v.x, v.y, v.z]]);
    }
    for (p, signal, mirror) in w.query::<(&Position, &Signal, &Mirror)>().iter() {
        census.beacon([p.x, p.y, p.z], signal.0, mirror.0);
    }
    census.outcome()
}

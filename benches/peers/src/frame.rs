//! `frame`: a whole frame of a game, on one thread.
//!
//! Of 100,000 entities 10,000 are beacons, in three archetypes, and live for ever. The others are
//! movers, in 27 archetypes: one of nine tags, and a poison, a drag or neither. A mover lives for
//! ninety frames, so 1,000 are born and die in each. Twelve systems:
//!
//! | system | rows | work |
//! | --- | --- | --- |
//! | steer | movers | the force towards a beacon, which is found by its entity |
//! | accelerate, advance, bounce | movers | `v += f * dt`, `p += v * dt`, a floor |
//! | slow | movers with a drag | `v *= drag` |
//! | sicken | movers with a poison | `health -= poison` |
//! | heal | movers | `health += 0.5`, up to a maximum |
//! | signal | 100 beacons | a number is written, by entity |
//! | mirror | beacons with a changed number | a second number is computed from it |
//! | age, reap | movers | a year less to live; despawned if none is left |
//! | breed | | 1,000 movers are spawned |
//!
//! A library without a change filter mirrors all beacons, with the same result. Each value depends
//! on the values of one entity and on the place of its beacon, so the order of the rows does not
//! matter, and the results are equal bit for bit.

use crate::outcome::Outcome;

pub(crate) const BEACONS: usize = 10_000;
pub(crate) const MOVERS: usize = 90_000;
/// Archetypes of beacons, by tag.
pub(crate) const BEACON_KINDS: usize = 3;
/// Tags of movers.
pub(crate) const TAGS: usize = 9;
/// Archetypes of movers: each tag with a poison, a drag, or neither.
pub(crate) const KINDS: usize = TAGS * 3;
pub(crate) const BORN: usize = 1_000;
const SIGNALS: usize = 100;
/// Frames from birth to death.
const LIFE: u32 = (MOVERS / BORN) as u32;

pub(crate) const STEP: f32 = 1.0 / 64.0;
pub(crate) const PULL: f32 = 0.25;
pub(crate) const HEALTH_MAX: f32 = 100.0;

/// A mover at its birth. The types of its components belong to the libraries.
#[derive(Clone, Copy)]
pub(crate) struct Mover {
    pub(crate) position: [f32; 3],
    pub(crate) velocity: [f32; 3],
    pub(crate) health: f32,
    /// Its poison, or its drag, if its kind has one.
    pub(crate) extra: f32,
    pub(crate) left: u32,
    pub(crate) serial: u32,
    /// The number of its beacon.
    pub(crate) beacon: usize,
    /// The tag is the remainder of a division by [`TAGS`], the quotient is 0, 1 for a poison, or 2
    /// for a drag.
    pub(crate) kind: usize,
}

impl Mover {
    fn new(serial: u32, left: u32) -> Self {
        let random = scrambled(serial);
        let place = |shift: u32| f32::from((random >> shift) as u8) / 4.0 - 32.0;
        let kind = (random >> 24) as usize % KINDS;
        Self {
            position: [place(0), place(8), place(16)],
            velocity: [1.0, 2.0, (serial % 4) as f32],
            health: HEALTH_MAX / 2.0,
            extra: if kind / TAGS == 1 { 0.75 } else { 0.96875 },
            left,
            serial,
            beacon: (random >> 40) as usize % BEACONS,
            kind,
        }
    }

    /// The movers of the first frame. In each frame that follows, an equal number of them dies.
    pub(crate) fn first() -> impl Iterator<Item = Self> {
        (0..MOVERS as u32).map(|serial| Self::new(serial, 1 + serial % LIFE))
    }
}

fn scrambled(number: u32) -> u64 {
    let product = u64::from(number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (product ^ (product >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// The place of a beacon.
pub(crate) fn beacon(number: usize) -> [f32; 3] {
    let random = scrambled(number as u32 + 0x8000_0000);
    [0, 8, 16].map(|shift| f32::from((random >> shift) as u8) / 2.0 - 64.0)
}

/// The number of the frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock(u32);

impl Clock {
    /// The movers born in this frame. Ends the frame.
    pub(crate) fn born(&mut self) -> impl Iterator<Item = Mover> + use<> {
        let first = MOVERS as u32 + self.0 * BORN as u32;
        self.0 += 1;
        (first..first + BORN as u32).map(|serial| Mover::new(serial, LIFE))
    }

    /// The beacons that signal in this frame.
    pub(crate) fn signals(self) -> impl Iterator<Item = usize> {
        let first = self.0 as usize * SIGNALS;
        (first..first + SIGNALS).map(|number| number % BEACONS)
    }
}

/// The components, defined for each library, and the work of the systems on a row. The types
/// `Position` and `Velocity` are those of other workloads.
macro_rules! frame_rows {
    ([$($m:tt)*]) => {
        crate::components::components_vec3! { [$($m)*] Force }
        crate::components::components_inner! { [$($m)*]
            Health(f32) Poison(f32) Drag(f32) Signal(u32) Mirror(u32)
        }
        $($m)* #[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)] #[repr(C)]
        pub(crate) struct Life { pub(crate) left: u32, pub(crate) serial: u32 }

        use $crate::frame::{HEALTH_MAX, PULL, STEP};

        #[inline(always)]
        fn steer_row(force: &mut Force, position: &Position, beacon: &Position) {
            force.x = (beacon.x - position.x) * PULL;
            force.y = (beacon.y - position.y) * PULL;
            force.z = (beacon.z - position.z) * PULL;
        }
        #[inline(always)]
        fn accelerate_row(velocity: &mut Velocity, force: &Force) {
            velocity.x += force.x * STEP;
            velocity.y += force.y * STEP;
            velocity.z += force.z * STEP;
        }
        #[inline(always)]
        fn advance_row(position: &mut Position, velocity: &Velocity) {
            position.x += velocity.x * STEP;
            position.y += velocity.y * STEP;
            position.z += velocity.z * STEP;
        }
        #[inline(always)]
        fn bounce_row(position: &Position, velocity: &mut Velocity) {
            velocity.y = if position.y < -48.0 { velocity.y.abs() } else { velocity.y };
        }
        #[inline(always)]
        fn slow_row(velocity: &mut Velocity, drag: &Drag) {
            velocity.x *= drag.0;
            velocity.y *= drag.0;
            velocity.z *= drag.0;
        }
        #[inline(always)]
        fn sicken_row(health: &mut Health, poison: &Poison) {
            health.0 -= poison.0;
        }
        #[inline(always)]
        fn heal_row(health: &mut Health) {
            health.0 = (health.0 + 0.5).min(HEALTH_MAX);
        }
        #[inline(always)]
        fn mirror_row(mirror: &mut Mirror, signal: &Signal) {
            mirror.0 = 3 * signal.0 + 1;
        }
        #[inline(always)]
        fn age_row(life: &mut Life) {
            life.left -= 1;
        }

        #[allow(dead_code, reason = "the limit has columns")]
        fn body(mover: &$crate::frame::Mover) -> (Position, Velocity, Force, Health, Life) {
            (
                Position::new(mover.position),
                Velocity::new(mover.velocity),
                Force::new([0.0; 3]),
                Health(mover.health),
                Life { left: mover.left, serial: mover.serial },
            )
        }
    };
}
pub(crate) use frame_rows;

/// The work of systems on slices of a library's columns, which is the same for all that hand them
/// out.
macro_rules! frame_kernels {
    () => {
        use ::phalanx::kernel;

        #[kernel]
        fn accelerate_rows(velocity: &mut [Velocity], force: &[Force]) {
            velocity.iter_mut().zip(force).for_each(|(v, f)| accelerate_row(v, f));
        }
        #[kernel]
        fn slow_rows(velocity: &mut [Velocity], drag: &[Drag]) {
            velocity.iter_mut().zip(drag).for_each(|(v, d)| slow_row(v, d));
        }
        #[kernel]
        fn advance_rows(position: &mut [Position], velocity: &[Velocity]) {
            position.iter_mut().zip(velocity).for_each(|(p, v)| advance_row(p, v));
        }
        #[kernel]
        fn sicken_rows(health: &mut [Health], poison: &[Poison]) {
            health.iter_mut().zip(poison).for_each(|(h, p)| sicken_row(h, p));
        }
        #[kernel]
        fn heal_rows(health: &mut [Health]) {
            health.iter_mut().for_each(heal_row);
        }
        #[kernel]
        #[allow(dead_code, reason = "where rows have ticks, the changed ones are mirrored alone")]
        fn mirror_rows(mirror: &mut [Mirror], signal: &[Signal]) {
            mirror.iter_mut().zip(signal).for_each(|(m, s)| mirror_row(m, s));
        }
    };
}
pub(crate) use frame_kernels;

/// Runs a macro with the tags of the movers.
macro_rules! for_mover_tags {
    ($mac:ident) => {
        $mac! { T3 T4 T5 T6 T7 T8 T9 T10 T11 }
    };
}
/// Runs a macro with the tags of the beacons.
macro_rules! for_beacon_tags {
    ($mac:ident) => {
        $mac! { T0 T1 T2 }
    };
}
pub(crate) use {for_beacon_tags, for_mover_tags};

/// A sum over all entities that does not depend on their order.
#[derive(Default)]
pub(crate) struct Census {
    rows: usize,
    sum: u64,
}

impl Census {
    /// Adds a mover.
    pub(crate) fn mover(&mut self, serial: u32, left: u32, health: f32, [p, v]: [[f32; 3]; 2]) {
        let floats = p.into_iter().chain(v).chain([health]).map(f32::to_bits);
        self.add([serial, left].into_iter().chain(floats));
    }

    /// Adds a beacon.
    pub(crate) fn beacon(&mut self, place: [f32; 3], signal: u32, mirror: u32) {
        self.add(place.map(f32::to_bits).into_iter().chain([signal, mirror]));
    }

    fn add(&mut self, numbers: impl Iterator<Item = u32>) {
        let hash = numbers.fold(0_u64, |hash, number| {
            (hash.rotate_left(5) ^ u64::from(number)).wrapping_mul(0x517C_C1B7_2722_0A95)
        });
        self.rows += 1;
        self.sum = self.sum.wrapping_add(hash);
    }

    pub(crate) fn outcome(self) -> Outcome {
        Outcome::Rows(self.rows, self.sum)
    }
}

/// The state of a mover in the plain simulation.
struct Body {
    mover: Mover,
    force: [f32; 3],
}

impl Body {
    fn frame(&mut self) {
        let Mover { position, velocity, health, extra, left, beacon: number, kind, .. } =
            &mut self.mover;
        let place = beacon(*number);
        for axis in 0..3 {
            self.force[axis] = (place[axis] - position[axis]) * PULL;
            velocity[axis] += self.force[axis] * STEP;
            if *kind / TAGS == 2 {
                velocity[axis] *= *extra;
            }
            position[axis] += velocity[axis] * STEP;
        }
        if position[1] < -48.0 {
            velocity[1] = velocity[1].abs();
        }
        if *kind / TAGS == 1 {
            *health -= *extra;
        }
        *health = (*health + 0.5).min(HEALTH_MAX);
        *left -= 1;
    }
}

/// The outcome after a number of frames, by a plain simulation of one entity after the other.
pub(crate) fn expected(frames: u64) -> Outcome {
    let body = |mover| Body { mover, force: [0.0; 3] };
    let mut bodies: Vec<Body> = Mover::first().map(body).collect();
    let (mut clock, mut signals) = (Clock::default(), vec![0; BEACONS]);
    for _ in 0..frames {
        bodies.iter_mut().for_each(Body::frame);
        clock.signals().for_each(|number| signals[number] += 1);
        bodies.retain(|body| body.mover.left > 0);
        bodies.extend(clock.born().map(body));
    }
    let mut census = Census::default();
    for Body { mover, .. } in bodies {
        let Mover { position, velocity, health, left, serial, .. } = mover;
        census.mover(serial, left, health, [position, velocity]);
    }
    for (number, signal) in signals.into_iter().enumerate() {
        census.beacon(beacon(number), signal, 3 * signal + 1);
    }
    census.outcome()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_thousand_die_in_each_frame_and_all_kinds_are_born() {
        for left in 1..=LIFE {
            assert_eq!(Mover::first().filter(|mover| mover.left == left).count(), BORN);
        }
        let kinds: BTreeSet<_> = Clock::default().born().map(|mover| mover.kind).collect();
        assert_eq!(kinds.len(), KINDS);
    }

    #[test]
    fn the_outcome_of_each_frame_is_another_and_the_number_of_rows_stays() {
        let outcomes = [0, 1, 2, 100].map(expected);
        let rows = |outcome: &Outcome| matches!(outcome, Outcome::Rows(100_000, _));
        assert!(outcomes.iter().all(rows), "{outcomes:?}");
        assert!((1..4).all(|i| outcomes[i] != outcomes[i - 1]), "{outcomes:?}");
    }
}

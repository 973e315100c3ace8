//! The components of particles, and the kernels that move them.

use phalanx::prelude::*;

/// A place in the cube from -1 to 1; z points up.
#[component]
#[derive(Debug)]
pub(crate) struct Position {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) z: f32,
}

/// Units of length per second.
#[component]
#[derive(Debug)]
pub(crate) struct Velocity {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) z: f32,
}

/// Seconds until the particle is despawned.
#[component]
#[derive(Debug)]
pub(crate) struct Life(pub(crate) f32);

/// The strength and direction of the force of the magnetic field.
#[component]
#[derive(Debug)]
pub(crate) struct Charge(pub(crate) f32);

/// A tag of particles without gravity.
#[component]
#[derive(Debug)]
pub(crate) struct Weightless;

/// The greatest heat that a probe in the floor has measured.
#[component]
#[derive(Debug)]
pub(crate) struct Heat(pub(crate) f32);

/// Acceleration towards the centre at distance 1.
pub(crate) const GRAVITY: f32 = 0.5;
/// Added to squared distances, so that the acceleration near the centre is bounded.
const SOFTENING: f32 = 0.01;
/// Turn of a unit charge, in radians per second.
const FIELD: f32 = 3.0;
/// The part of its speed that a charge loses per second.
const LOSS: f32 = 0.2;
/// The part of its speed that a particle keeps at a wall.
const BOUNCE: f32 = 0.8;
/// A probe this hot raises the alarm.
pub(crate) const ALARM: f32 = 0.5;

impl Life {
    #[inline(always)]
    fn is_over(self) -> bool {
        self.0 <= 0.0
    }
}

// Functions called by a kernel are inlined, so they are compiled for each level as well.
#[inline(always)]
fn bury(entities: &[Entity], life: &[Life], dead: &mut Vec<Entity>) {
    let over = entities.iter().zip(life).filter(|(_, life)| life.is_over());
    dead.extend(over.map(|(&entity, _)| entity));
}

// Each column is a separate parameter and the loop is inside the function: that is enough for
// full-width vectors at each level.
/// Applies gravity: particles accelerate towards the centre.
#[kernel]
pub(crate) fn accelerate(position: &[Position], velocity: &mut [Velocity], dt: f32) {
    for (p, v) in position.iter().zip(velocity) {
        let distance2 = p.x * p.x + p.y * p.y + p.z * p.z + SOFTENING;
        let pull = GRAVITY * dt / (distance2 * distance2.sqrt());
        v.x -= p.x * pull;
        v.y -= p.y * pull;
        v.z -= p.z * pull;
    }
}

/// Applies magnetism: a field along z turns charges, which lose speed.
#[kernel]
pub(crate) fn swirl(velocity: &mut [Velocity], charge: &[Charge], dt: f32) {
    let kept = 1.0 - LOSS * dt;
    for (v, c) in velocity.iter_mut().zip(charge) {
        // Rotates by twice the arc tangent of `half`: exact, and without a sine.
        let half = 0.5 * FIELD * c.0 * dt;
        let (cos, sin) = (1.0 - half * half, 2.0 * half);
        let scale = kept / (1.0 + half * half);
        *v = Velocity {
            x: (v.x * cos - v.y * sin) * scale,
            y: (v.x * sin + v.y * cos) * scale,
            z: v.z * kept,
        };
    }
}

/// One Euler step. All axes are treated alike, so the columns are viewed as plain numbers.
#[kernel]
pub(crate) fn advance(position: &mut [Position], velocity: &[Velocity], dt: f32) {
    for (p, v) in scalars_mut::<f32>(position).iter_mut().zip(scalars::<f32>(velocity)) {
        *p += v * dt;
    }
}

/// Reflects particles at the walls: positions outside of the cube are clamped.
#[kernel]
pub(crate) fn bounce(position: &mut [Position], velocity: &mut [Velocity]) {
    let axes = scalars_mut::<f32>(position).iter_mut().zip(scalars_mut::<f32>(velocity));
    for (p, v) in axes {
        let inside = p.clamp(-1.0, 1.0);
        *v = if inside == *p { *v } else { -*v * BOUNCE };
        *p = inside;
    }
}

/// Decrements the lifetimes.
#[kernel]
pub(crate) fn age(life: &mut [Life], dt: f32) {
    for life in life {
        life.0 -= dt;
    }
}

/// Collects the particles with no time left. They are few: most blocks need one comparison.
#[kernel]
pub(crate) fn collect_dead(entities: &[Entity], life: &[Life], dead: &mut Vec<Entity>) {
    let (life_blocks, life_rest) = life.as_chunks::<VECTOR_ROWS>();
    let (blocks, rest) = entities.as_chunks::<VECTOR_ROWS>();
    for (entities, life) in blocks.iter().zip(life_blocks) {
        if life.iter().fold(false, |any, life| any | life.is_over()) {
            bury(entities, life, dead);
        }
    }
    bury(rest, life_rest, dead);
}

/// Heats probes by a comet. Returns whether one of them is hotter than ever before.
#[kernel]
pub(crate) fn warm(position: &[Position], heat: &mut [Heat], comet: Position) -> bool {
    let mut hotter = 0;
    for (p, heat) in position.iter().zip(heat) {
        let (x, y, z) = (p.x - comet.x, p.y - comet.y, p.z - comet.z);
        let felt = 1.0 - 40.0 * (x * x + y * y + z * z);
        hotter |= u32::from(felt > heat.0);
        heat.0 = if felt > heat.0 { felt } else { heat.0 };
    }
    hotter != 0
}

/// Counts the probes that raise the alarm.
#[kernel]
pub(crate) fn alarms(heat: &[Heat]) -> u32 {
    heat.iter().map(|heat| u32::from(heat.0 >= ALARM)).sum()
}

//! What particles are made of, and the kernels that move them.

use phalanx::prelude::*;

/// Where it is. The world is the cube from -1 to 1; z points up.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Position {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) z: f32,
}

/// How far it goes in a second.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Velocity {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) z: f32,
}

/// Seconds it has left; dead at 0.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct Life(pub(crate) f32);

/// How hard the magnetic field pulls at it, and to which side.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct Charge(pub(crate) f32);

/// A tag: gravity does not concern it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Weightless;

/// The greatest heat that a probe in the floor has ever felt.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct Heat(pub(crate) f32);

component!(Position, Velocity, Life, Charge, Weightless, Heat);

/// Pull of the centre, at distance 1.
pub(crate) const GRAVITY: f32 = 0.5;
/// Added to squared distances: who passes through the centre is not flung out of the world.
const SOFTENING: f32 = 0.01;
/// Turn of a unit charge, in radians a second.
const FIELD: f32 = 3.0;
/// The part of its speed that a charge loses in a second.
const LOSS: f32 = 0.2;
/// The part of its speed that a particle keeps when it hits a wall.
const BOUNCE: f32 = 0.8;
/// A probe this hot raises the alarm.
pub(crate) const ALARM: f32 = 0.5;

impl Life {
    #[inline(always)]
    fn is_over(self) -> bool {
        self.0 <= 0.0
    }
}

// What a kernel calls is inlined into it, and so compiled for each level as well.
#[inline(always)]
fn bury(entities: &[Entity], life: &[Life], dead: &mut Vec<Entity>) {
    let over = entities.iter().zip(life).filter(|(_, life)| life.is_over());
    dead.extend(over.map(|(&entity, _)| entity));
}

// Each column is a parameter of its own, and the loop is inside: that is all it takes to be
// compiled to full-width vectors at each level.
kernel! {
    /// Gravity: all that has weight falls towards the centre.
    pub(crate) fn accelerate(position: &[Position], velocity: &mut [Velocity], dt: f32) {
        for (p, v) in position.iter().zip(velocity) {
            let distance2 = p.x * p.x + p.y * p.y + p.z * p.z + SOFTENING;
            let pull = GRAVITY * dt / (distance2 * distance2.sqrt());
            v.x -= p.x * pull;
            v.y -= p.y * pull;
            v.z -= p.z * pull;
        }
    }

    /// Magnetism: a field along z turns charges sideways, and they lose speed by it.
    pub(crate) fn swirl(velocity: &mut [Velocity], charge: &[Charge], dt: f32) {
        let kept = 1.0 - LOSS * dt;
        for (v, c) in velocity.iter_mut().zip(charge) {
            // The rotation by twice the arc tangent of `half`: exact, and without a sine.
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

    /// One Euler step. The axes are all alike, so this sees columns as plain numbers.
    pub(crate) fn advance(position: &mut [Position], velocity: &[Velocity], dt: f32) {
        for (p, v) in scalars_mut::<f32>(position).iter_mut().zip(scalars::<f32>(velocity)) {
            *p += v * dt;
        }
    }

    /// Walls: whoever left the cube is put back, and turned round.
    pub(crate) fn bounce(position: &mut [Position], velocity: &mut [Velocity]) {
        let axes = scalars_mut::<f32>(position).iter_mut().zip(scalars_mut::<f32>(velocity));
        for (p, v) in axes {
            let inside = p.clamp(-1.0, 1.0);
            *v = if inside == *p { *v } else { -*v * BOUNCE };
            *p = inside;
        }
    }

    /// Time passes.
    pub(crate) fn age(life: &mut [Life], dt: f32) {
        for life in life {
            life.0 -= dt;
        }
    }

    /// Collects those who have no time left. Few have: most blocks are done with one comparison.
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

    /// A comet passes over probes. Whether one of them is hotter now than it ever was.
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

    /// How many probes raise the alarm.
    pub(crate) fn alarms(heat: &[Heat]) -> u32 {
        heat.iter().map(|heat| u32::from(heat.0 >= ALARM)).sum()
    }
}

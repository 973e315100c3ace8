//! The loops over rows. Each exists twice: for rows that are all awake, and for rows with a flag.
//!
//! Both forms compute the same bits: the second discards its results for dozing agents.

use crate::model::{Camera, Gait, Home, IsAwake, JOINTS, Pose, Position};
use phalanx::prelude::*;

/// Seconds of a frame.
const STEP: f32 = 1.0 / 60.0;

/// A step of an agent around its home, which stays near it.
#[inline(always)]
fn step(at: Position, home: Home, gait: Gait) -> (Position, Gait) {
    let (x, y) = (at.x - home.x, at.y - home.y);
    let pull = 1.0 - (x * x + y * y);
    let next = gait.0 + 1.5 * STEP;
    (
        Position { x: at.x + (x * pull - y) * STEP, y: at.y + (y * pull + x) * STEP },
        Gait(if next >= 1.0 { next - 1.0 } else { next }),
    )
}

/// The angle of a joint: a smooth wave, ahead of the joint before.
#[inline(always)]
fn angle(gait: f32, joint: usize) -> f32 {
    let phase = gait + joint as f32 / JOINTS as f32;
    let phase = if phase >= 1.0 { phase - 1.0 } else { phase };
    let slope = 4.0 * (phase - 0.5).abs() - 1.0;
    slope * (1.5 - 0.5 * slope * slope)
}

/// The pose of an agent, if it is in reach of the camera.
#[inline(always)]
fn posed(old: Pose, at: Position, gait: Gait, camera: Camera, reach: f32) -> Pose {
    let (x, y) = (at.x - camera.x, at.y - camera.y);
    let is_seen = x * x + y * y < reach * reach;
    Pose(std::array::from_fn(|j| if is_seen { angle(gait.0, j) } else { old.0[j] }))
}

/// Moves agents.
#[kernel]
pub(crate) fn walk(positions: &mut [Position], homes: &[Home], gaits: &mut [Gait]) {
    for ((at, home), gait) in positions.iter_mut().zip(homes).zip(gaits) {
        (*at, *gait) = step(*at, *home, *gait);
    }
}

/// Moves agents that are awake.
#[kernel]
pub(crate) fn walk_if(
    positions: &mut [Position],
    homes: &[Home],
    gaits: &mut [Gait],
    awake: &[IsAwake],
) {
    for (((at, home), gait), awake) in positions.iter_mut().zip(homes).zip(gaits).zip(awake) {
        if awake.0 {
            (*at, *gait) = step(*at, *home, *gait);
        }
    }
}

/// Computes the poses of agents in reach of the camera.
#[kernel]
pub(crate) fn animate(
    poses: &mut [Pose],
    positions: &[Position],
    gaits: &[Gait],
    camera: Camera,
    reach: f32,
) {
    for ((pose, at), gait) in poses.iter_mut().zip(positions).zip(gaits) {
        *pose = posed(*pose, *at, *gait, camera, reach);
    }
}

/// Computes the poses of agents that are awake and in reach of the camera.
#[kernel]
pub(crate) fn animate_if(
    poses: &mut [Pose],
    positions: &[Position],
    gaits: &[Gait],
    awake: &[IsAwake],
    camera: Camera,
    reach: f32,
) {
    for (((pose, at), gait), awake) in poses.iter_mut().zip(positions).zip(gaits).zip(awake) {
        if awake.0 {
            *pose = posed(*pose, *at, *gait, camera, reach);
        }
    }
}

/// The lowest and the highest coordinates.
#[kernel]
pub(crate) fn measure(positions: &[Position]) -> ([f32; 2], [f32; 2]) {
    let (mut low, mut high) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
    for at in positions {
        low = [low[0].min(at.x), low[1].min(at.y)];
        high = [high[0].max(at.x), high[1].max(at.y)];
    }
    (low, high)
}

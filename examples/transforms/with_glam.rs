//! The components and kernels with types of glam, and the operators of the crate.

use crate::forms::{Form, Speed, Types};
use glam::{Mat4, Quat, Vec3, Vec4};
use phalanx::prelude::*;

#[component]
pub(crate) struct Position(Vec3);
#[component]
pub(crate) struct Velocity(Vec3);
#[component]
pub(crate) struct Rotation(Quat); // its default is the identity, as that of `Quat`
#[component]
pub(crate) struct Scale(#[default(Vec3::ONE)] Vec3);
#[component]
pub(crate) struct LocalToWorld(Mat4);
#[component]
pub(crate) struct Tint(Vec4);
#[component]
pub(crate) struct Fade(Vec4);

/// Components and kernels of glam.
pub(crate) struct Glam;

impl Types for Glam {
    type Position = Position;
    type Velocity = Velocity;
    type Rotation = Rotation;
    type Scale = Scale;
    type LocalToWorld = LocalToWorld;
    type Tint = Tint;
    type Fade = Fade;
}

impl Form for Glam {
    type Of = Self;

    fn drift(positions: &mut [Position], velocities: &[Velocity], dt: f32) {
        drift(positions, velocities, dt);
    }

    fn fade(tints: &mut [Tint], fades: &[Fade], dt: f32) {
        fade(tints, fades, dt);
    }

    fn spin(rotations: &mut [Rotation], speeds: &[Speed], dt: f32) {
        spin(rotations, speeds, dt);
    }

    fn place(
        matrices: &mut [LocalToWorld],
        positions: &[Position],
        rotations: &[Rotation],
        scales: &[Scale],
    ) {
        place(matrices, positions, rotations, scales);
    }
}

#[kernel]
fn drift(positions: &mut [Position], velocities: &[Velocity], dt: f32) {
    for (position, velocity) in positions.iter_mut().zip(velocities) {
        position.0 += velocity.0 * dt;
    }
}

#[kernel]
fn fade(tints: &mut [Tint], fades: &[Fade], dt: f32) {
    for (tint, fade) in tints.iter_mut().zip(fades) {
        tint.0 += fade.0 * dt;
    }
}

#[kernel]
fn spin(rotations: &mut [Rotation], speeds: &[Speed], dt: f32) {
    for (rotation, speed) in rotations.iter_mut().zip(speeds) {
        let turn = Quat::from_axis_angle(Vec3::Y, speed.0 * dt);
        rotation.0 = (rotation.0 * turn).normalize();
    }
}

#[kernel]
fn place(
    matrices: &mut [LocalToWorld],
    positions: &[Position],
    rotations: &[Rotation],
    scales: &[Scale],
) {
    let terms = positions.iter().zip(rotations).zip(scales);
    for (matrix, ((position, rotation), scale)) in matrices.iter_mut().zip(terms) {
        matrix.0 = Mat4::from_scale_rotation_translation(scale.0, rotation.0, position.0);
    }
}

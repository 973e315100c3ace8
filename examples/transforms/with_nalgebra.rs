//! The components and kernels with types of nalgebra, and the operators of the crate.

use crate::forms::{Form, Speed, Types};
use crate::kernels::half_turn;
use nalgebra::{Matrix4, Quaternion, UnitQuaternion, Vector3, Vector4};
use phalanx::prelude::*;

#[component]
pub(crate) struct Position(Vector3<f32>);
#[component]
pub(crate) struct Velocity(Vector3<f32>);
#[component]
pub(crate) struct Rotation(UnitQuaternion<f32>); // its default is the identity
#[component]
pub(crate) struct Scale(#[default(Vector3::new(1.0, 1.0, 1.0))] Vector3<f32>);
#[component]
pub(crate) struct LocalToWorld(Matrix4<f32>);
#[component]
pub(crate) struct Tint(Vector4<f32>);
#[component]
pub(crate) struct Fade(Vector4<f32>);

/// Components and kernels of nalgebra.
pub(crate) struct Nalgebra;

impl Types for Nalgebra {
    type Position = Position;
    type Velocity = Velocity;
    type Rotation = Rotation;
    type Scale = Scale;
    type LocalToWorld = LocalToWorld;
    type Tint = Tint;
    type Fade = Fade;
}

impl Form for Nalgebra {
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
        // `UnitQuaternion::from_axis_angle` calls the sine of the standard library for each
        // row, and LLVM does not vectorise loops with such calls.
        let [sin, cos] = half_turn(speed.0 * dt);
        let turned = rotation.0.into_inner() * Quaternion::new(cos, 0.0, sin, 0.0);
        rotation.0 = UnitQuaternion::new_normalize(turned);
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
        let rotated = rotation.0.to_homogeneous();
        let scaled = rotated.prepend_nonuniform_scaling(&scale.0);
        matrix.0 = scaled.append_translation(&position.0);
    }
}

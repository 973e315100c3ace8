//! The forms of the kernels: their requirements, and the form for columns of floats.

use crate::kernels;
use phalanx::bytemuck::{cast_slice, cast_slice_mut};
use phalanx::prelude::*;
use std::marker::PhantomData;

/// The speed of a rotation about the axis y, in radians a second.
#[component]
pub(crate) struct Speed(pub(crate) f32);

/// The components of a form: floats in the order x, y, z, w, and matrices column by column.
pub(crate) trait Types: 'static {
    /// Three floats.
    type Position: Component + Pod + Default;
    /// Three floats, per second.
    type Velocity: Component + Pod;
    /// A quaternion; the default is the identity.
    type Rotation: Component + Pod + Default;
    /// Three floats; their default is 1.
    type Scale: Component + Pod + Default;
    /// Sixteen floats.
    type LocalToWorld: Component + Pod;
    /// Four floats.
    type Tint: Component + Pod;
    /// Four floats, per second.
    type Fade: Component + Pod;
}

/// A way to write the kernels.
pub(crate) trait Form: Sized {
    type Of: Types;

    /// Moves positions: a vector of three floats.
    fn drift(positions: &mut [Position<Self>], velocities: &[Velocity<Self>], dt: f32);
    /// Changes colours: a vector of four floats.
    fn fade(tints: &mut [Tint<Self>], fades: &[Fade<Self>], dt: f32);
    /// Turns rotations: `rotation = normalize(rotation * axis_angle(y, speed * dt))`.
    fn spin(rotations: &mut [Rotation<Self>], speeds: &[Speed], dt: f32);
    /// Writes matrices.
    fn place(
        matrices: &mut [LocalToWorld<Self>],
        positions: &[Position<Self>],
        rotations: &[Rotation<Self>],
        scales: &[Scale<Self>],
    );
}

pub(crate) type Position<F> = <<F as Form>::Of as Types>::Position;
pub(crate) type Velocity<F> = <<F as Form>::Of as Types>::Velocity;
pub(crate) type Rotation<F> = <<F as Form>::Of as Types>::Rotation;
pub(crate) type Scale<F> = <<F as Form>::Of as Types>::Scale;
pub(crate) type LocalToWorld<F> = <<F as Form>::Of as Types>::LocalToWorld;
pub(crate) type Tint<F> = <<F as Form>::Of as Types>::Tint;
pub(crate) type Fade<F> = <<F as Form>::Of as Types>::Fade;

/// The form for full width, for any types: kernels see columns as floats and arrays.
pub(crate) struct Floats<T>(PhantomData<T>);

impl<T: Types> Form for Floats<T> {
    type Of = T;

    fn drift(positions: &mut [T::Position], velocities: &[T::Velocity], dt: f32) {
        kernels::advance(scalars_mut(positions), scalars(velocities), dt);
    }

    fn fade(tints: &mut [T::Tint], fades: &[T::Fade], dt: f32) {
        kernels::advance(scalars_mut(tints), scalars(fades), dt);
    }

    fn spin(rotations: &mut [T::Rotation], speeds: &[Speed], dt: f32) {
        kernels::spin(cast_slice_mut(rotations), speeds, dt);
    }

    fn place(
        matrices: &mut [T::LocalToWorld],
        positions: &[T::Position],
        rotations: &[T::Rotation],
        scales: &[T::Scale],
    ) {
        let (positions, rotations) = (cast_slice(positions), cast_slice(rotations));
        kernels::place(cast_slice_mut(matrices), positions, rotations, cast_slice(scales));
    }
}

#[component]
pub(crate) struct ArrayPosition([f32; 3]);
#[component]
pub(crate) struct ArrayVelocity([f32; 3]);
#[component]
pub(crate) struct ArrayRotation(#[default([0.0, 0.0, 0.0, 1.0])] [f32; 4]);
#[component]
pub(crate) struct ArrayScale(#[default([1.0; 3])] [f32; 3]);
#[component]
pub(crate) struct ArrayLocalToWorld([f32; 16]);
#[component]
pub(crate) struct ArrayTint([f32; 4]);
#[component]
pub(crate) struct ArrayFade([f32; 4]);

/// Components without types of another crate.
pub(crate) struct Arrays;

impl Types for Arrays {
    type Position = ArrayPosition;
    type Velocity = ArrayVelocity;
    type Rotation = ArrayRotation;
    type Scale = ArrayScale;
    type LocalToWorld = ArrayLocalToWorld;
    type Tint = ArrayTint;
    type Fade = ArrayFade;
}

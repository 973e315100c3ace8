//! The kernels over arrays of floats, which all forms can use: they contain no types of other
//! crates.

use crate::forms::Speed;
use phalanx::kernel;

/// Adds rates to values, float by float: for vectors of any number of floats.
#[kernel]
pub(crate) fn advance(values: &mut [f32], rates: &[f32], dt: f32) {
    for (value, rate) in values.iter_mut().zip(rates) {
        *value += rate * dt;
    }
}

/// Turns each rotation about the axis y by its speed, and normalizes it.
#[kernel]
pub(crate) fn spin(rotations: &mut [[f32; 4]], speeds: &[Speed], dt: f32) {
    for (rotation, speed) in rotations.iter_mut().zip(speeds) {
        let [sin, cos] = half_turn(speed.0 * dt);
        let [x, y, z, w] = product(*rotation, [0.0, sin, 0.0, cos]);
        let scale = 1.0 / (x * x + y * y + z * z + w * w).sqrt();
        *rotation = [x * scale, y * scale, z * scale, w * scale];
    }
}

/// Writes the matrices, column by column: scale, rotation and translation, in this order.
#[kernel]
pub(crate) fn place(
    matrices: &mut [[f32; 16]],
    positions: &[[f32; 3]],
    rotations: &[[f32; 4]],
    scales: &[[f32; 3]],
) {
    let terms = positions.iter().zip(rotations).zip(scales);
    for (matrix, ((position, rotation), scale)) in matrices.iter_mut().zip(terms) {
        let [x, y, z, w] = *rotation;
        let [x2, y2, z2] = [x + x, y + y, z + z];
        let [xx, xy, xz] = [x * x2, x * y2, x * z2];
        let [yy, yz, zz] = [y * y2, y * z2, z * z2];
        let [wx, wy, wz] = [w * x2, w * y2, w * z2];
        let [a, b, c] = *scale;
        *matrix = [
            (1.0 - (yy + zz)) * a,
            (xy + wz) * a,
            (xz - wy) * a,
            0.0,
            (xy - wz) * b,
            (1.0 - (xx + zz)) * b,
            (yz + wx) * b,
            0.0,
            (xz + wy) * c,
            (yz - wx) * c,
            (1.0 - (xx + yy)) * c,
            0.0,
            position[0],
            position[1],
            position[2],
            1.0,
        ];
    }
}

/// Sine and cosine of half an angle.
///
/// A polynomial, which vectors can follow: the functions of the standard library are a call for
/// each row. Its error is below 1e-7 up to an angle of 1, and no body turns farther in a step.
#[inline(always)]
pub(crate) fn half_turn(angle: f32) -> [f32; 2] {
    let half = 0.5 * angle;
    let square = half * half;
    let sin = half * (1.0 - square * (1.0 / 6.0 - square * (1.0 / 120.0 - square / 5040.0)));
    let cos = 1.0 - square * (0.5 - square * (1.0 / 24.0 - square * (1.0 / 720.0)));
    [sin, cos]
}

/// The product of two quaternions: x, y, z and the real part.
#[inline(always)]
fn product([ax, ay, az, aw]: [f32; 4], [bx, by, bz, bw]: [f32; 4]) -> [f32; 4] {
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

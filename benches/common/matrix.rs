//! The heavy kernel: matrices inverted over and over, much arithmetic on few bytes.

use phalanx::prelude::*;

/// A matrix of four columns.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct Matrix(pub(crate) [f32; 16]);

impl_component!(Matrix as "bench.matrix");

/// A scaling by 2, 4 and 8, then a move by (1, 2, 3): the matrix, its inverse and the inverse of
/// the inverse are exact in `f32`.
pub(crate) const START: Matrix =
    Matrix([2.0, 0.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 8.0, 0.0, 1.0, 2.0, 3.0, 1.0]);

/// Inverts each matrix that many times, and moves it by one.
#[kernel]
pub(crate) fn invert(matrices: &mut [Matrix], times: u32) {
    for matrix in matrices {
        matrix.0 = inverted_and_moved(matrix.0, times);
    }
}

/// The matrix inverted `times` times and moved by one along x, so that passes can be counted.
///
/// The body of phalanx's kernel and of the limit's: one loop, two owners of the data.
#[inline(always)]
pub(crate) fn inverted_and_moved(mut matrix: [f32; 16], times: u32) -> [f32; 16] {
    for _ in 0..times {
        matrix = inverse(&matrix);
    }
    matrix[12] += 1.0;
    matrix
}

/// The inverse by cofactors, from the six minors of two columns each.
#[inline(always)]
fn inverse(m: &[f32; 16]) -> [f32; 16] {
    let minor = |a: usize, b: usize, column: usize| {
        m[4 * column + a] * m[4 * column + 4 + b] - m[4 * column + b] * m[4 * column + 4 + a]
    };
    let of =
        |column| [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)].map(|(a, b)| minor(a, b, column));
    let ([s0, s1, s2, s3, s4, s5], [c0, c1, c2, c3, c4, c5]) = (of(0), of(2));
    let determinant = s0 * c5 - s1 * c4 + s2 * c3 + s3 * c2 - s4 * c1 + s5 * c0;
    let by = 1.0 / determinant;
    [
        (m[5] * c5 - m[6] * c4 + m[7] * c3) * by,
        (-m[1] * c5 + m[2] * c4 - m[3] * c3) * by,
        (m[13] * s5 - m[14] * s4 + m[15] * s3) * by,
        (-m[9] * s5 + m[10] * s4 - m[11] * s3) * by,
        (-m[4] * c5 + m[6] * c2 - m[7] * c1) * by,
        (m[0] * c5 - m[2] * c2 + m[3] * c1) * by,
        (-m[12] * s5 + m[14] * s2 - m[15] * s1) * by,
        (m[8] * s5 - m[10] * s2 + m[11] * s1) * by,
        (m[4] * c4 - m[5] * c2 + m[7] * c0) * by,
        (-m[0] * c4 + m[1] * c2 - m[3] * c0) * by,
        (m[12] * s4 - m[13] * s2 + m[15] * s0) * by,
        (-m[8] * s4 + m[9] * s2 - m[11] * s0) * by,
        (-m[4] * c3 + m[5] * c1 - m[6] * c0) * by,
        (m[0] * c3 - m[1] * c1 + m[2] * c0) * by,
        (-m[12] * s3 + m[13] * s1 - m[14] * s0) * by,
        (m[8] * s3 - m[9] * s1 + m[10] * s0) * by,
    ]
}

/// Asserts that all are the initial matrix, moved by one for each pass.
///
/// `times` is even, and all intermediate values are exactly representable.
pub(crate) fn check_inverted<'a>(
    matrices: impl Iterator<Item = &'a [f32; 16]>,
    len: usize,
    steps: u64,
) {
    let mut want = START.0;
    want[12] += steps as f32;
    let mut found = 0;
    for matrix in matrices {
        assert_eq!(*matrix, want, "matrix {found} after {steps} passes");
        found += 1;
    }
    assert_eq!(found, len, "matrices");
}

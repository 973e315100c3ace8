//! Bodies of loops that a kernel of phalanx and a limit share: one loop, two owners of the data.

use super::programs::life::next_state;

/// Added to the square of a distance, so that a source pulls at its own place too.
pub(crate) const SOFTENING: f32 = 0.25;

/// The square of a distance from which a source does not pull.
pub(crate) const REACH: f32 = 4_000.0;

/// The contribution of a source at a distance: the body of the kernels of `lanes`, for one row.
#[inline(always)]
pub(crate) fn pull(d: f32) -> f32 {
    let squared = d * d + SOFTENING;
    if squared < REACH { d / (squared * squared.sqrt()) } else { 0.0 }
}

/// The velocity of a body that is pulled towards the origin with the square of its distance.
#[inline(always)]
pub(crate) fn pulled(velocity: [f32; 3], [x, y, z]: [f32; 3]) -> [f32; 3] {
    let squared = x * x + y * y + z * z + 0.01;
    let pull = 0.016 / (squared * squared.sqrt());
    [velocity[0] - x * pull, velocity[1] - y * pull, velocity[2] - z * pull]
}

/// The next states of the cells of `alive`.
///
/// `north`, `here` and `south` reach one cell further than `alive` on both sides.
#[inline(always)]
pub(crate) fn next_cells(alive: &mut [u8], north: &[u8], here: &[u8], south: &[u8]) {
    let len = alive.len();
    let [nw, n, ne] = [&north[..len], &north[1..len + 1], &north[2..len + 2]];
    let [w, e] = [&here[..len], &here[2..len + 2]];
    let [sw, s, se] = [&south[..len], &south[1..len + 1], &south[2..len + 2]];
    for i in 0..len {
        let neighbours = nw[i] + n[i] + ne[i] + w[i] + e[i] + sw[i] + s[i] + se[i];
        alive[i] = next_state(alive[i], neighbours);
    }
}

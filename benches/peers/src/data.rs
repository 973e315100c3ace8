//! Initial values and expected results, shared by all libraries.

use crate::outcome::Outcome;
use glam::Mat4;

pub(crate) const DT: f32 = 0.5;
/// Entities in each archetype of `fragmented_iter`.
pub(crate) const FRAGMENT_ROWS: usize = 20;
pub(crate) const MANY_ENTITIES: usize = 20_000;
/// Entities in each archetype of `query_many`.
pub(crate) const MANY_QUERIES_ROWS: usize = 20;
/// Archetypes that an iteration of `new_archetypes` makes.
pub(crate) const NEW_ARCHETYPES: usize = 100;
/// Cached queries of `new_archetypes`.
pub(crate) const CACHED_QUERIES: usize = 100;
/// Entities of `cold_archetypes` that get a component: half of them.
pub(crate) const COLD_ENTITIES: usize = 10_000;
pub(crate) const CHANGED_ENTITIES: usize = 1_000_000;
pub(crate) const CHANGED_ROWS: usize = 10_000;
pub(crate) const SNAPSHOT_ENTITIES: usize = 1_000_000;
pub(crate) const GET_ENTITIES: usize = 100_000;
pub(crate) const GET_LOOKUPS: usize = 1_000_000;

pub(crate) fn pos0(i: usize) -> [f32; 3] {
    [(i % 64) as f32, 1.0, 2.0]
}

pub(crate) fn vel0(i: usize) -> [f32; 3] {
    [1.0, 2.0, (i % 4) as f32]
}

/// Whole numbers: their sum, modulo 2^32, is the same in any order.
pub(crate) fn tally0(i: usize) -> [u32; 3] {
    let i = i as u32;
    [i, i.wrapping_mul(0x9E37_79B9), 7]
}

/// The sum of all position coordinates after a number of steps of `p += v * dt`.
///
/// Every value on the way is exactly representable, so the sum is exact.
pub(crate) fn expected_positions(size: usize, steps: u64, dt: f32) -> Outcome {
    let coordinate = |p: f32, v: f32| f64::from(p) + f64::from(v) * f64::from(dt) * steps as f64;
    let row = |i| pos0(i).into_iter().zip(vel0(i)).map(|(p, v)| coordinate(p, v)).sum::<f64>();
    Outcome::Sum((0..size).map(row).sum())
}

/// All numbers of rows of a matrix of ones, a position, and a velocity.
pub(crate) fn expected_rows(size: usize) -> Outcome {
    let row = |i| 16.0 + pos0(i).into_iter().chain(vel0(i)).map(f64::from).sum::<f64>();
    Outcome::Sum((0..size).map(row).sum())
}

/// The row that is copied.
pub(crate) const PROTOTYPE: usize = 7;

/// As [`expected_rows`], of rows that are all the same.
pub(crate) fn expected_copies(size: usize) -> Outcome {
    let numbers = pos0(PROTOTYPE).into_iter().chain(vel0(PROTOTYPE));
    Outcome::Sum((16.0 + numbers.map(f64::from).sum::<f64>()) * size as f64)
}

pub(crate) fn expected_tallies(size: usize) -> Outcome {
    let sum = (0..size).flat_map(tally0).fold(0, u32::wrapping_add);
    Outcome::Sum(f64::from(sum))
}

/// The rows that were doubled, added up over all steps.
pub(crate) fn expected_doubled(size: usize, steps: u64) -> Outcome {
    Outcome::Sum(size as f64 * steps as f64)
}

/// A matrix of whole numbers with an inverse that `f32` rounds: the inverse of the inverse is a
/// slightly different matrix, so each pair of inversions leaves a trace.
pub(crate) fn mat0() -> Mat4 {
    Mat4::from_cols_array(&[
        3.0, 1.0, 2.0, 1.0, 2.0, 5.0, 1.0, 2.0, 1.0, 2.0, 7.0, 1.0, 1.0, 2.0, 3.0, 4.0,
    ])
}

/// Inversions of a step of `heavy_compute`.
const INVERSIONS: usize = 100;

/// The end of the way on which a matrix of `heavy_compute` moves.
const WAY: f32 = 1024.0;

pub(crate) fn mat_sum(matrix: &Mat4) -> f64 {
    matrix.to_cols_array().into_iter().map(f64::from).sum()
}

/// One step of `heavy_compute`. The inversions end near the matrix they began with, so it is moved
/// by 1: a row that was left out in one step is behind all others.
#[inline(always)]
pub(crate) fn heavy(matrix: &mut Mat4) {
    for _ in 0..INVERSIONS {
        *matrix = matrix.inverse();
    }
    let x = &mut matrix.w_axis.x;
    *x = if *x < WAY { *x + 1.0 } else { 1.0 };
}

/// The sum of all matrices, which all are one matrix. Its numbers are between a half and 2^11, so
/// they are multiples of 2^-24, and sums of a thousand matrices are exact.
pub(crate) fn expected_matrices(size: usize, steps: u64) -> Outcome {
    let mut matrix = mat0();
    (0..steps).for_each(|_| heavy(&mut matrix));
    Outcome::Sum(mat_sum(&matrix) * size as f64)
}

/// The value that each of `size` entities keeps while a component is added to `pairs` of them and
/// removed, in each step.
pub(crate) fn expected_kept(size: usize, pairs: usize, steps: u64) -> Outcome {
    Outcome::kept((0..size).map(|i| i as f32), 0).held(pairs * steps as usize)
}

/// Sums of A to E for `schedule/*`: a quarter of the entities each in AB, ABC, ABCD, ABCE.
pub(crate) fn expected_swaps(size: usize, steps: u64) -> Outcome {
    let quarter = (size / 4) as f64;
    Outcome::Sums(if steps % 2 == 1 {
        [2.0 * 4.0, 1.0 * 4.0, 3.0 + 4.0 + 5.0, 3.0, 3.0].map(|sum| sum * quarter)
    } else {
        [1.0 * 4.0, 2.0 * 4.0, 3.0 * 3.0, 4.0, 5.0].map(|sum| sum * quarter)
    })
}

fn xorshift(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}

/// The order of random lookups: indices into the list of entities.
pub(crate) fn lookup_order() -> Vec<u32> {
    let mut random = xorshift(0x1234_5678_9ABC_DEF1);
    (0..GET_LOOKUPS).map(|_| ((random() >> 33) as usize % GET_ENTITIES) as u32).collect()
}

/// The sum of the read values, added in the order of the reads: inexact, but the same for all.
pub(crate) fn expected_lookups(_: usize) -> Outcome {
    let sum: f32 = lookup_order().iter().map(|&i| pos0(i as usize)[0]).sum();
    Outcome::Sum(f64::from(sum))
}

/// The sum of all `x` after passes that add 1 at each lookup.
pub(crate) fn expected_writes(size: usize, steps: u64) -> Outcome {
    let start: f64 = (0..size).map(|i| f64::from(pos0(i)[0])).sum();
    Outcome::Sum(start + (steps as usize * GET_LOOKUPS) as f64)
}

/// The tags of entity `i`, one bit each, in a world of that many archetypes.
pub(crate) fn tags_of(i: usize, archetypes: usize) -> u32 {
    (((i % archetypes) * 40_503) & 0xFFFF) as u32
}

/// The entities of `cold_archetypes` in two random orders: indices into the list of entities.
pub(crate) fn cold_orders() -> [Vec<usize>; 2] {
    let mut random = xorshift(0xC01D_C01D_0000_0001);
    let mut first: Vec<usize> = (0..MANY_ENTITIES).collect();
    shuffle(&mut first, &mut random);
    first.truncate(COLD_ENTITIES);
    let mut second = first.clone();
    shuffle(&mut second, &mut random);
    [first, second]
}

/// The numbers below `n` in a random order.
pub(crate) fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    shuffle(&mut order, &mut xorshift(seed));
    order
}

fn shuffle(order: &mut [usize], random: &mut impl FnMut() -> u64) {
    for end in (1..order.len()).rev() {
        order.swap(end, (random() >> 33) as usize % (end + 1));
    }
}

/// The sum of the numbers of a row of `add_remove/wide`, as `wide_rows` makes it.
pub(crate) fn expected_wide(size: usize, steps: u64) -> Outcome {
    let row = |i: usize| {
        let vectors = pos0(i).into_iter().chain(vel0(i)).sum::<f32>();
        // A matrix and four numbers of `i`, the constant matrix, a cell, and a tally.
        (20 * i) as f32 + mat_sum(&mat0()) as f32 + vectors + (i + 1) as f32 + (i + 8) as f32
    };
    Outcome::kept((0..size).map(row), 0).held(size * steps as usize)
}

/// The rows of all cached queries: each pair of `for_pairs` has one query that requires both tags
/// and one that requires the first and excludes the second.
pub(crate) fn expected_matches(archetypes: usize) -> Outcome {
    let pairs = || (0..5).flat_map(|first| (5..15).map(move |second| (1 << first, 1 << second)));
    let queries = |tags: u32| {
        let both = pairs().filter(|(a, b)| tags & a != 0 && tags & b != 0).count();
        let one = pairs().filter(|(a, b)| tags & a != 0 && tags & b == 0).count();
        both + one
    };
    Outcome::Count((0..MANY_ENTITIES).map(|i| queries(tags_of(i, archetypes))).sum())
}

/// The shape of a Game of Life: a torus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Grid {
    pub(crate) width: usize,
    pub(crate) height: usize,
}

impl Grid {
    /// The height of all.
    const HEIGHT: usize = 100;

    /// The one with this number of cells.
    pub(crate) fn of(cells: usize) -> Self {
        assert!(cells.is_multiple_of(Self::HEIGHT), "{cells} cells are no rectangle");
        Self { width: cells / Self::HEIGHT, height: Self::HEIGHT }
    }

    pub(crate) fn cells(self) -> usize {
        self.width * self.height
    }

    /// All places, row by row.
    pub(crate) fn places(self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.height).flat_map(move |y| (0..self.width).map(move |x| (x, y)))
    }

    /// The eight neighbours of a place, as indices into the rows.
    #[inline(always)]
    pub(crate) fn around(self, x: usize, y: usize) -> [usize; 8] {
        let Self { width, height } = self;
        let left = if x == 0 { width - 1 } else { x - 1 };
        let right = if x == width - 1 { 0 } else { x + 1 };
        let above = (if y == 0 { height - 1 } else { y - 1 }) * width;
        let below = (if y == height - 1 { 0 } else { y + 1 }) * width;
        let here = y * width;
        [
            above + left,
            above + x,
            above + right,
            here + left,
            here + right,
            below + left,
            below + x,
            below + right,
        ]
    }
}

pub(crate) fn life_start(grid: Grid) -> Vec<u32> {
    let mut random = xorshift(0xBEEF_CAFE_0001_0003);
    (0..grid.cells()).map(|_| (random() >> 40) as u32 & 1).collect()
}

#[inline(always)]
pub(crate) fn life_rule(alive: u32, neighbours: u32) -> u32 {
    u32::from(neighbours == 3 || (alive == 1 && neighbours == 2))
}

/// The same by two plain arrays.
pub(crate) fn life_reference(grid: Grid, frames: u64) -> Vec<u32> {
    let mut now = life_start(grid);
    let mut next = now.clone();
    for _ in 0..frames {
        for ((x, y), next) in grid.places().zip(&mut next) {
            let neighbours = grid.around(x, y).iter().map(|&i| now[i]).sum();
            *next = life_rule(now[y * grid.width + x], neighbours);
        }
        std::mem::swap(&mut now, &mut next);
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blinker_turns_on_a_torus() {
        let grid = Grid { width: 10, height: 10 };
        assert_eq!(grid.around(0, 0), [99, 90, 91, 9, 1, 19, 10, 11]);
        let neighbours: usize = grid.around(5, 5).iter().sum();
        assert_eq!(neighbours, 8 * 55, "they lie around the middle");
        assert_eq!(
            [life_rule(1, 2), life_rule(0, 2), life_rule(0, 3), life_rule(1, 4)],
            [1, 0, 1, 0]
        );
    }

    /// A step of that many inversions.
    fn step_of(inversions: usize, mut matrix: Mat4) -> Mat4 {
        (0..inversions).for_each(|_| matrix = matrix.inverse());
        let x = matrix.w_axis.x;
        matrix.w_axis.x = if x < WAY { x + 1.0 } else { 1.0 };
        matrix
    }

    /// All steps of the way twice.
    #[test]
    fn a_step_is_a_hundred_inversions_and_sums_are_exact() {
        let mut matrix = mat0();
        for _ in 0..2 * WAY as u64 {
            let (before, next) = (mat_sum(&matrix), step_of(100, matrix));
            heavy(&mut matrix);
            assert_eq!(matrix, next);
            assert_ne!(mat_sum(&matrix), before);
            let exact = |x: &f32| {
                (0.5..2048.0).contains(x) && (f64::from(*x) * 2f64.powi(24)).fract() == 0.0
            };
            assert!(matrix.to_cols_array().iter().all(exact), "{matrix}");
        }
    }

    /// A pair of inversions, the least number that could go unnoticed, is missing in one step.
    #[test]
    fn the_sum_of_matrices_notices_a_missing_pair_of_inversions() {
        const STEPS: usize = 40;
        for missing in 0..STEPS {
            let inversions = |step| if step == missing { 98 } else { 100 };
            let matrix = (0..STEPS).fold(mat0(), |m, step| step_of(inversions(step), m));
            assert_ne!(Outcome::Sum(mat_sum(&matrix)), expected_matrices(1, STEPS as u64));
        }
    }

    #[test]
    fn cold_orders_are_two_orders_of_the_same_entities() {
        let [first, second] = cold_orders();
        assert_ne!(first, second);
        let sorted = [first, second].map(|mut order| {
            order.sort_unstable();
            order.dedup();
            order
        });
        assert_eq!(sorted[0].len(), COLD_ENTITIES);
        assert_eq!(sorted[0], sorted[1]);
        assert!(sorted[0].iter().all(|&i| i < MANY_ENTITIES));
    }

    #[test]
    fn tags_make_as_many_archetypes_as_asked_for() {
        for archetypes in [1_000, 4_096, 10_000] {
            let mut tags: Vec<_> = (0..MANY_ENTITIES).map(|i| tags_of(i, archetypes)).collect();
            tags.sort_unstable();
            tags.dedup();
            assert_eq!(tags.len(), archetypes);
        }
    }
}

//! The loops: plain functions over slices, compiled for every instruction set.

use super::*;

/// The value of a row at the last visit: a stamp belongs to a chunk, so changed rows are found by
/// value.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Seen(pub(super) Position);
impl_component!(Seen);

#[kernel]
pub(super) fn add_rows(position: &mut [Position], velocity: &[Velocity]) {
    for (p, v) in position.iter_mut().zip(velocity) {
        p.x += v.x;
        p.y += v.y;
        p.z += v.z;
    }
}

#[kernel]
pub(super) fn add_dt_rows(position: &mut [Position], velocity: &[Velocity], dt: f32) {
    for (p, v) in position.iter_mut().zip(velocity) {
        p.x += v.x * dt;
        p.y += v.y * dt;
        p.z += v.z * dt;
    }
}

#[kernel]
pub(super) fn sum_rows(tallies: &[Tally]) -> u32 {
    tallies.iter().fold(0, |sum, t| sum.wrapping_add(t.sum()))
}

#[kernel]
pub(super) fn double(data: &mut [Data]) {
    for d in data {
        d.0 *= 2.0;
    }
}

/// Data of whole vectors, as `padded` returns them.
#[kernel]
pub(super) fn double_vectors(data: &mut [Data]) {
    let (vectors, rest) = data.as_chunks_mut::<VECTOR_ROWS>();
    for vector in vectors {
        vector.iter_mut().for_each(|d| d.0 *= 2.0);
    }
    rest.iter_mut().for_each(|d| d.0 *= 2.0);
}

#[kernel]
pub(super) fn invert(matrices: &mut [Mat]) {
    for m in matrices {
        heavy(&mut m.0);
    }
}

/// The sum of all `x`, in eight running lanes.
#[kernel]
pub(super) fn sum_x(position: &[Position]) -> f32 {
    let mut lanes = [0f32; 8];
    let (blocks, rest) = position.as_chunks::<8>();
    for block in blocks {
        for (lane, p) in lanes.iter_mut().zip(block) {
            *lane += p.x;
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().map(|p| p.x).sum::<f32>()
}

/// The number of rows that differ from the last visit, and the sum of their `x`.
#[kernel]
pub(super) fn visit_changed(position: &[Position], seen: &mut [Seen]) -> (usize, f32) {
    let (mut rows, mut sum) = (0, 0.0);
    for (p, seen) in position.iter().zip(seen) {
        if *p != seen.0 {
            rows += 1;
            sum += p.x;
            seen.0 = *p;
        }
    }
    (rows, sum)
}

#[kernel]
pub(super) fn swap_ab(a: &mut [A], b: &mut [B]) {
    for (a, b) in a.iter_mut().zip(b) {
        std::mem::swap(&mut a.0, &mut b.0);
    }
}

#[kernel]
pub(super) fn swap_cd(c: &mut [C], d: &mut [D]) {
    for (c, d) in c.iter_mut().zip(d) {
        std::mem::swap(&mut c.0, &mut d.0);
    }
}

#[kernel]
pub(super) fn swap_ce(c: &mut [C], e: &mut [E]) {
    for (c, e) in c.iter_mut().zip(e) {
        std::mem::swap(&mut c.0, &mut e.0);
    }
}

/// Copies the next states of the cells.
#[kernel]
pub(super) fn commit(cells: &mut [Cell], next: &[u32]) {
    for (cell, &next) in cells.iter_mut().zip(next) {
        cell.alive = next;
    }
}

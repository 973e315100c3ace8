//! The pull of all bodies on each body, in two forms with the same bits.

use crate::model::{Acceleration, Mass, Position, SOFTENING};
use phalanx::VECTOR_ROWS;
use phalanx::kernel;
use phalanx::prelude::World;

/// A body that pulls: x, y, z and mass.
pub(crate) type Source = [f32; 4];

/// Copies all bodies to one array, which each body reads.
///
/// The copy is the second buffer: the accelerations of all bodies are computed from the same
/// positions. It is small beside the work, 16 bytes a body.
pub(crate) fn gather(world: &World, sources: &mut Vec<Source>) {
    sources.clear();
    let bodies = world.query::<(&Position, &Mass)>().rows();
    sources.extend(bodies.map(|(p, mass)| [p.x, p.y, p.z, mass.0]));
}

/// The plain form: body by body, source by source.
///
/// The sum of one body has one order, and floats round in that order. So the compiler may not add
/// eight sources at once, and each pair is computed with scalars.
pub(crate) fn by_rows(world: &mut World, sources: &[Source]) {
    for (p, mut sum) in world.query_mut::<(&Position, &mut Acceleration)>().rows() {
        *sum = Acceleration::default();
        for &[x, y, z, mass] in sources {
            let [dx, dy, dz] = [x - p.x, y - p.y, z - p.z];
            let square = dx * dx + dy * dy + dz * dz + SOFTENING;
            let scale = mass / (square * square.sqrt());
            sum.x += dx * scale;
            sum.y += dy * scale;
            sum.z += dz * scale;
        }
    }
}

/// The form for vectors: a kernel over the slices of each chunk, on all threads of the pool.
///
/// `padded` rounds the slices up to whole vectors, so the kernel needs no loop for a rest. Its
/// results for the rows of padding are never read.
pub(crate) fn by_vectors(world: &mut World, sources: &[Source]) {
    let bodies = world.query_mut::<(&Position, &mut Acceleration)>().padded();
    bodies.par().for_each_chunk(|(p, sum)| pull(p.x, p.y, p.z, sum.x, sum.y, sum.z, sources));
}

/// Computes the accelerations of the bodies of a chunk, [`VECTOR_ROWS`] bodies at a time.
///
/// The bodies lie in the lanes of vectors, and a source is the same for all of them. Each lane
/// adds its own sum in the order of the sources, so the bits equal the bits of [`by_rows`].
#[kernel]
pub(crate) fn pull(
    x: &[f32],
    y: &[f32],
    z: &[f32],
    sum_x: &mut [f32],
    sum_y: &mut [f32],
    sum_z: &mut [f32],
    sources: &[Source],
) {
    let sums = vectors_mut(sum_x).zip(vectors_mut(sum_y)).zip(vectors_mut(sum_z));
    let places = vectors(x).zip(vectors(y)).zip(vectors(z));
    for (((x, y), z), ((sum_x, sum_y), sum_z)) in places.zip(sums) {
        let mut sum = [[0.0; VECTOR_ROWS]; 3];
        for source in sources {
            for lane in 0..VECTOR_ROWS {
                let [dx, dy, dz] = [source[0] - x[lane], source[1] - y[lane], source[2] - z[lane]];
                let square = dx * dx + dy * dy + dz * dz + SOFTENING;
                let scale = source[3] / (square * square.sqrt());
                sum[0][lane] += dx * scale;
                sum[1][lane] += dy * scale;
                sum[2][lane] += dz * scale;
            }
        }
        [*sum_x, *sum_y, *sum_z] = sum;
    }
}

/// A column as arrays. With `padded` it has no rest.
#[inline(always)]
fn vectors(column: &[f32]) -> std::slice::Iter<'_, [f32; VECTOR_ROWS]> {
    let (vectors, rest) = column.as_chunks();
    debug_assert!(rest.is_empty(), "the column is not padded");
    vectors.iter()
}

#[inline(always)]
fn vectors_mut(column: &mut [f32]) -> std::slice::IterMut<'_, [f32; VECTOR_ROWS]> {
    let (vectors, rest) = column.as_chunks_mut();
    debug_assert!(rest.is_empty(), "the column is not padded");
    vectors.iter_mut()
}

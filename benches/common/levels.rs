//! The same kernels at each instruction set of the machine: light, heavy, and a fold.
//!
//! `limit` is the loop over flat `Vec`s at AVX2, as everywhere. The data lies in the L1 cache, so
//! the time depends on the width of the vectors.

use bytemuck::{cast_slice, cast_slice_mut};
use phalanx::prelude::*;

use super::bodies::pulled;
use super::iterate::{flat_pos_vel, flat_sum, our_pos_vel, our_sum};
use super::sides::{Side, Workload, steady};
use super::{Position, Velocity, flat, moving_world, position, positions, velocities, velocity};

/// A chunk of positions and velocities holds 672.
const ROWS: usize = 600;

/// Pulls every velocity towards the origin: divisions and square roots.
#[kernel]
fn pull(velocities: &mut [Velocity], positions: &[Position]) {
    for (v, p) in velocities.iter_mut().zip(positions) {
        [v.x, v.y, v.z] = pulled([v.x, v.y, v.z], [p.x, p.y, p.z]);
    }
}

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    vec![
        Workload::new("level_heavy", ROWS, ROWS).limit(flat_pull).phalanx_levels(our_pull),
        Workload::new("level_pos_vel", ROWS, ROWS)
            .limit(|| flat_pos_vel(ROWS, 1))
            .phalanx_levels(|chunk| our_pos_vel(chunk, ROWS, 1)),
        Workload::new("level_sum", ROWS, ROWS)
            .limit(|| flat_sum(ROWS))
            .phalanx_levels(|chunk| our_sum(chunk, ROWS)),
    ]
}

fn flat_pull() -> impl Side {
    steady(
        (velocities(ROWS), positions(ROWS)),
        |(velocities, positions)| flat::pull(cast_slice_mut(velocities), cast_slice(positions)),
        |(velocities, _), steps| check_pulled(velocities, steps),
    )
}

fn our_pull(chunk: ChunkSize) -> impl Side {
    steady(
        moving_world(chunk, ROWS).0,
        |world| {
            for (v, p) in world.query_mut::<(&mut Velocity, &Position)>() {
                pull(v, p);
            }
        },
        |world, steps| {
            let velocities: Vec<_> = world.query::<&Velocity>().iter().flatten().copied().collect();
            check_pulled(&velocities, steps);
        },
    )
}

/// Compared bit by bit with a loop over rows. Positions and velocities repeat after 64 rows.
fn check_pulled(velocities: &[Velocity], steps: u64) {
    const STARTS: usize = 64;
    let want: Vec<[f32; 3]> = (0..STARTS)
        .map(|i| {
            let (p, v) = (position(i), velocity(i));
            (0..steps).fold([v.x, v.y, v.z], |v, _| pulled(v, [p.x, p.y, p.z]))
        })
        .collect();
    assert_eq!(velocities.len(), ROWS, "rows");
    for (i, v) in velocities.iter().enumerate() {
        assert_eq!([v.x, v.y, v.z], want[i % STARTS], "velocity {i} after {steps} passes");
    }
}

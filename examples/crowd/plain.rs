//! The same crowd without enable bits, values of chunks and shared values: a flag, a distance and
//! the number of a mesh for each row.

use crate::draw_calls::{DrawCalls, is_seen};
use crate::kernels::{animate_if, walk_if};
use crate::model::{
    Camera, Frame, Gait, Home, IsAwake, MESHES, MeshId, Pose, Position, Stall, is_awake,
};
use crate::systems::{PERIOD, reach};
use phalanx::prelude::*;
use std::mem;

/// An agent with a flag and a mesh of its own.
pub(crate) fn agent(home: Home, stall: Stall, mesh: MeshId) -> impl Bundle {
    let at = Position { x: home.x + 0.1, y: home.y };
    (at, home, stall, Gait(0.0), Pose::default(), IsAwake(true), mesh)
}

/// All systems, in the order in which they run.
pub(crate) fn schedule() -> Schedule {
    let mut schedule = Schedule::new();
    schedule.add(doze).run_if(every(PERIOD));
    schedule.add(stroll);
    schedule.add(pose);
    schedule.add(draw);
    schedule
}

fn doze(agents: Query<(&Stall, &mut IsAwake)>, frame: Res<Frame>) {
    let period = frame.0 / PERIOD;
    agents.rows().for_each(|(stall, awake)| awake.0 = is_awake(*stall, period));
}

fn stroll(agents: Query<(&mut Position, &Home, &mut Gait, &IsAwake)>) {
    agents.par().for_each_chunk(|(positions, homes, gaits, awake)| {
        walk_if(positions, homes, gaits, awake);
    });
}

fn pose(
    agents: Query<(&mut Pose, &Position, &Gait, &IsAwake)>,
    camera: Res<Camera>,
    frame: Res<Frame>,
) {
    let (camera, reach) = (*camera, reach(*frame));
    agents.par().for_each_chunk(|(poses, positions, gaits, awake)| {
        animate_if(poses, positions, gaits, awake, camera, reach);
    });
}

fn draw(
    agents: Query<(&Position, &Gait, &MeshId)>,
    camera: Res<Camera>,
    mut calls: ResMut<DrawCalls>,
) {
    calls.clear();
    // By number while the rows are walked: a search for the call of each agent would take longer.
    let mut by_number = MESHES.each_ref().map(|mesh| mem::take(calls.of(mesh)));
    for (positions, gaits, meshes) in agents {
        for ((at, gait), mesh) in positions.iter().zip(gaits).zip(meshes) {
            if is_seen(*at, *camera) {
                by_number[usize::from(mesh.0)].push((*at, *gait));
            }
        }
    }
    for (mesh, instances) in MESHES.iter().zip(by_number) {
        *calls.of(mesh) = instances;
    }
}

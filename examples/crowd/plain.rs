//! The same crowd without enable bits and values of chunks: a flag and a distance for each row.

use crate::kernels::{animate_if, walk_if};
use crate::model::{Camera, Frame, Gait, Home, IsAwake, Pose, Position, Stall, is_awake};
use crate::systems::{PERIOD, reach};
use phalanx::prelude::*;

/// An agent with a flag.
pub(crate) fn agent(home: Home, stall: Stall) -> impl Bundle {
    let at = Position { x: home.x + 0.1, y: home.y };
    (at, home, stall, Gait(0.0), Pose::default(), IsAwake(true))
}

/// All systems, in the order in which they run.
pub(crate) fn schedule() -> Schedule {
    let mut schedule = Schedule::new();
    schedule.add(doze).run_if(every(PERIOD));
    schedule.add(stroll);
    schedule.add(pose);
    schedule
}

fn doze(agents: Query<(&Stall, &mut IsAwake)>, frame: Res<Frame>) {
    let period = frame.0 / PERIOD;
    agents.rows().for_each(|(stall, awake)| awake.0 = is_awake(*stall, period));
}

fn stroll(agents: Query<(&mut Position, &Home, &mut Gait, &IsAwake)>) {
    agents.par_for_each_chunk(|(positions, homes, gaits, awake)| {
        walk_if(positions, homes, gaits, awake);
    });
}

fn pose(
    agents: Query<(&mut Pose, &Position, &Gait, &IsAwake)>,
    camera: Res<Camera>,
    frame: Res<Frame>,
) {
    let (camera, reach) = (*camera, reach(*frame));
    agents.par_for_each_chunk(|(poses, positions, gaits, awake)| {
        animate_if(poses, positions, gaits, awake, camera, reach);
    });
}

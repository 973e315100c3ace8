//! The systems that read no row that they do not need.

use crate::draw_calls::{DrawCalls, is_seen};
use crate::kernels::{animate, measure, walk};
use crate::model::{
    Awake, Bounds, COARSE, Camera, Detail, FINE, Frame, Gait, Home, Mesh, MeshId, Pose, Position,
    Stall, is_awake,
};
use phalanx::prelude::*;

/// Frames of a period. After each, other stalls are awake.
pub(crate) const PERIOD: u32 = 32;
/// Frames from one computation of a pose in coarse detail to the next.
pub(crate) const COARSE_FRAMES: u32 = 4;

/// An agent in a chunk with bounds and a level of detail.
pub(crate) fn agent(home: Home, stall: Stall, _: MeshId) -> impl Bundle {
    let at = Position { x: home.x + 0.1, y: home.y };
    let of_chunk = (PerChunk::<Bounds>::TAG, PerChunk::<Detail>::TAG);
    (at, home, stall, Gait(0.0), Pose::default(), Awake, of_chunk)
}

/// Gives this mesh to the agents without a mesh: their chunks change owner.
pub(crate) fn share(world: &mut World, mesh: &Mesh) {
    let new = world.matching::<&Stall>().filter::<WithoutShared<Mesh>>();
    new.insert_shared(mesh.clone()).expect("a row fits a chunk");
}

/// All systems, in the order in which they run.
pub(crate) fn schedule() -> Schedule {
    let mut schedule = Schedule::new();
    schedule.add(doze).run_if(every(PERIOD));
    schedule.add(stroll);
    schedule.add(bound);
    schedule.add(choose);
    schedule.add(pose);
    schedule.add(draw);
    schedule
}

/// Switches agents on and off. No row moves: an agent has a bit.
fn doze(agents: Query<(&Stall, EnabledMut<Awake>)>, frame: Res<Frame>) {
    let period = frame.0 / PERIOD;
    for (stalls, mut awake) in agents {
        awake.assign(|row| is_awake(stalls[row], period));
    }
}

/// Moves agents that are awake. The slices are runs of their rows; chunks in which all agents doze
/// are neither visited nor stamped.
fn stroll(agents: Query<(&mut Position, &Home, &mut Gait), With<Awake>>) {
    agents.par().for_each_chunk(|(positions, homes, gaits)| walk(positions, homes, gaits));
}

/// Computes the bounds of chunks in which an agent has moved.
fn bound(agents: Query<(&Position, PerChunkMut<Bounds>), Changed<Position>>) {
    agents.par().for_each_chunk(|(positions, mut bounds)| {
        (bounds.low, bounds.high) = measure(positions);
    });
}

/// Chooses the level of detail of each chunk. Reads no row.
fn choose(chunks: Query<(PerChunk<Bounds>, PerChunkMut<Detail>)>, camera: Res<Camera>) {
    chunks.for_each_chunk(|(bounds, mut detail)| {
        let distance = bounds.squared_distance(*camera);
        let chosen = match distance {
            near if near < FINE * FINE => Detail::Fine,
            near if near < COARSE * COARSE => Detail::Coarse,
            _ => Detail::Far,
        };
        let modified = if *detail == chosen { Modified::No } else { Modified::Yes };
        *detail = chosen;
        modified
    });
}

/// Computes poses in the chunks that are near enough.
fn pose(
    agents: Query<(&mut Pose, &Position, &Gait, PerChunk<Detail>), With<Awake>>,
    camera: Res<Camera>,
    frame: Res<Frame>,
) {
    let (camera, reach) = (*camera, reach(*frame));
    let is_due = move |detail: &Detail| match detail {
        Detail::Fine => true,
        Detail::Coarse => reach == COARSE,
        Detail::Far => false,
    };
    agents.where_chunk(is_due).par().for_each_chunk(|(poses, positions, gaits, _)| {
        animate(poses, positions, gaits, camera, reach);
    });
}

/// Makes a draw call for each mesh. The mesh comes with the chunk: it is looked up once for all of
/// its rows, and distant chunks are skipped.
fn draw(
    agents: Query<(Shared<Mesh>, &Position, &Gait, PerChunk<Detail>)>,
    camera: Res<Camera>,
    mut calls: ResMut<DrawCalls>,
) {
    calls.clear();
    let near = agents.where_chunk(|detail: &Detail| *detail != Detail::Far);
    for (mesh, positions, gaits, _) in near {
        let rows = positions.iter().copied().zip(gaits.iter().copied());
        calls.of(&mesh).extend(rows.filter(|(at, _)| is_seen(*at, *camera)));
    }
}

/// The distance within which poses are computed in a frame.
pub(crate) const fn reach(frame: Frame) -> f32 {
    if frame.0.is_multiple_of(COARSE_FRAMES) { COARSE } else { FINE }
}

/// The number of all chunks, and of chunks in which no pose is computed.
pub(crate) fn chunks_animated(world: &World) -> (usize, usize) {
    let details: Vec<_> = world.query::<PerChunk<Detail>>().into_iter().collect();
    (details.len(), details.iter().filter(|detail| **detail == Detail::Far).count())
}

//! The components of agents, their places, and the place of the camera.

use phalanx::prelude::*;

/// A place on the square, in metres.
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Position {
    pub(crate) x: f32,
    pub(crate) y: f32,
}

/// The place around which an agent walks.
#[component]
pub(crate) struct Home {
    pub(crate) x: f32,
    pub(crate) y: f32,
}

/// The stall at which an agent sits.
#[component]
pub(crate) struct Stall(pub(crate) u32);

/// The progress of an agent in its step, from 0 to 1.
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Gait(pub(crate) f32);

/// The angles of the joints.
#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Pose(pub(crate) [f32; JOINTS]);

/// Whether an agent is awake, as an enable bit.
#[component(enableable)]
pub(crate) struct Awake;

/// Whether an agent is awake, as a flag.
#[component]
pub(crate) struct IsAwake(pub(crate) bool);

/// The mesh with which an agent is drawn, by its number in [`MESHES`].
#[component]
pub(crate) struct MeshId(pub(crate) u8);

/// The detail in which the camera sees an agent, or the nearest agent that may be in a chunk.
#[component]
#[derive(Debug, PartialEq)]
pub(crate) enum Detail {
    /// Its pose is computed in each frame.
    Fine,
    /// Its pose is computed in each fourth frame.
    Coarse,
    /// Its pose is not computed.
    Far,
}

/// The mesh of the agents of one guild. A real program has a handle of the graphics card here.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mesh {
    pub(crate) name: &'static str,
    pub(crate) triangles: u32,
}

/// The meshes. Each guild has a quarter of the market.
pub(crate) const MESHES: [Mesh; 4] = [
    Mesh { name: "baker", triangles: 1800 },
    Mesh { name: "weaver", triangles: 2400 },
    Mesh { name: "smith", triangles: 3200 },
    Mesh { name: "potter", triangles: 2000 },
];

/// The rectangle in which all agents of a chunk are.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Bounds {
    pub(crate) low: [f32; 2],
    pub(crate) high: [f32; 2],
}

impl_component!(Bounds);

impl Default for Bounds {
    /// Bounds of a chunk that was not measured yet: its agents may be anywhere.
    fn default() -> Self {
        Self { low: [f32::NEG_INFINITY; 2], high: [f32::INFINITY; 2] }
    }
}

impl Bounds {
    /// The square of the distance between the camera and the nearest point of the rectangle.
    pub(crate) fn squared_distance(&self, camera: Camera) -> f32 {
        let outside = |low: f32, high: f32, at: f32| (low - at).max(at - high).max(0.0);
        let x = outside(self.low[0], self.high[0], camera.x);
        let y = outside(self.low[1], self.high[1], camera.y);
        x * x + y * y
    }
}

/// Joints of an agent.
pub(crate) const JOINTS: usize = 8;
/// Agents of a stall.
const STALL: u32 = 64;
/// Metres from one stall to the next.
const SPACING: f32 = 9.0;
/// Within these distances of the camera agents are seen in fine and in coarse detail.
pub(crate) const FINE: f32 = 25.0;
pub(crate) const COARSE: f32 = 60.0;
/// One of this many stalls is awake.
const DOZING: u32 = 10;

/// The number of the frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame(pub(crate) u32);

/// The place of the camera.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Camera {
    pub(crate) x: f32,
    pub(crate) y: f32,
}

impl Camera {
    /// The place of the camera in a frame: it goes from corner to corner and back.
    pub(crate) fn at(frame: u32, agents: u32) -> Self {
        let turn = (frame % 1200) as f32 / 600.0;
        let way = (1.0 - (turn - 1.0).abs()) * side(agents);
        Self { x: way, y: way }
    }
}

/// Stalls of a row of the square.
fn stalls_of_a_row(agents: u32) -> u32 {
    let stalls = agents.div_ceil(STALL);
    (1..).find(|side| side * side >= stalls).expect("a number has a root")
}

/// The length of a side of the square in metres.
pub(crate) fn side(agents: u32) -> f32 {
    stalls_of_a_row(agents) as f32 * SPACING
}

/// Fills a world with agents, guild by guild, and calls `end` after each. The agents of one stall
/// follow each other, and the rows of stalls alternate in direction, so that the agents of a chunk
/// are near each other.
pub(crate) fn filled<B: Bundle>(
    mut world: World,
    agents: u32,
    agent: impl Fn(Home, Stall, MeshId) -> B,
    end: impl Fn(&mut World, &Mesh),
) -> World {
    let (row, quarter) = (stalls_of_a_row(agents), agents.div_ceil(4));
    let place = |i: u32| {
        let (stall, seat) = (i / STALL, i % STALL);
        let jitter = |n: u32| (mix(i * 2 + n) % 1024) as f32 / 1024.0;
        let column =
            if (stall / row).is_multiple_of(2) { stall % row } else { row - 1 - stall % row };
        let x = column as f32 * SPACING + (seat % 8) as f32 + jitter(0);
        let y = (stall / row) as f32 * SPACING + (seat / 8) as f32 + jitter(1);
        (Home { x, y }, Stall(stall))
    };
    for (mesh, id) in MESHES.iter().zip(0_u8..) {
        let first = u32::from(id) * quarter;
        world.spawn_batch((first.min(agents)..(first + quarter).min(agents)).map(|i| {
            let (home, stall) = place(i);
            agent(home, stall, MeshId(id))
        }));
        end(&mut world, mesh);
    }
    world
}

/// Whether the agents of a stall are awake in a period.
pub(crate) fn is_awake(stall: Stall, period: u32) -> bool {
    mix(stall.0 ^ mix(period)).is_multiple_of(DOZING)
}

/// Mixes the bits of a number: equal numbers give equal results.
fn mix(mut number: u32) -> u32 {
    for factor in [0x7FEB_352D, 0x846C_A68B] {
        number = (number ^ number >> 16).wrapping_mul(factor);
    }
    number ^ number >> 15
}

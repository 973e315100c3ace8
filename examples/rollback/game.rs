//! The game: a step is a function of only the world and the inputs.

use phalanx::prelude::*;

#[component]
pub struct Position {
    x: f32,
    y: f32,
}
#[component]
pub struct Velocity {
    x: f32,
    y: f32,
}
/// Frames until a spark goes out.
#[component]
pub struct Life(f32);
#[component]
pub struct Ship {
    number: u32,
}

/// The pressed keys of a player in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Input(pub(crate) u8);

impl Input {
    /// Left, right, up, down, and fire.
    pub(crate) const KEYS: u8 = 5;

    const fn is_down(self, key: u8) -> bool {
        self.0 >> key & 1 == 1
    }

    /// -1, 0 or 1.
    fn axis(self, back: u8, forth: u8) -> f32 {
        f32::from(u8::from(self.is_down(forth))) - f32::from(u8::from(self.is_down(back)))
    }
}

/// Sparks of a quarter of a shot.
const QUARTER: u8 = 6;

/// A world and its two ships.
pub(crate) struct Game {
    pub(crate) world: World,
    ships: [Entity; 2],
}

/// Dust and sparks are drawn to both ships, and slow down.
#[kernel]
fn attract(positions: &[Position], velocities: &mut [Velocity], ships: [[f32; 2]; 2]) {
    for (p, v) in positions.iter().zip(velocities) {
        for [x, y] in ships {
            let (dx, dy) = (x - p.x, y - p.y);
            let pull = 0.02 / (dx * dx + dy * dy + 0.5);
            v.x = v.x * 0.998 + dx * pull;
            v.y = v.y * 0.998 + dy * pull;
        }
    }
}

#[kernel]
fn drift(positions: &mut [Position], velocities: &[Velocity]) {
    for (p, v) in positions.iter_mut().zip(velocities) {
        p.x += v.x;
        p.y += v.y;
    }
}

impl Game {
    /// Two ships in a square of dust.
    pub(crate) fn new(dust: u32) -> Self {
        let mut world = World::new();
        let ships = [0u16, 1].map(|number| {
            let position = Position { x: f32::from(number) * 8.0 - 4.0, y: 0.0 };
            world.spawn((Ship { number: number.into() }, position, Velocity::default()))
        });
        let side = f64::from(dust).sqrt().ceil();
        world.spawn_batch((0..dust).map(|i| {
            let (row, column) = ((f64::from(i) / side).floor(), f64::from(i) % side);
            #[expect(clippy::cast_possible_truncation, reason = "it is rounded")]
            let place = |n: f64| (n / side * 20.0 - 10.0) as f32;
            (Position { x: place(column), y: place(row) }, Velocity::default())
        }));
        Self { world, ships }
    }

    /// One frame.
    pub(crate) fn step(&mut self, inputs: [Input; 2]) {
        for (number, input) in inputs.into_iter().enumerate() {
            self.steer(number, input);
        }
        let ships = self.ships.map(|ship| {
            let at = self.world.get::<Position>(ship).expect("a ship has a position");
            [at.x, at.y]
        });
        let free = self.world.query_mut::<(&Position, &mut Velocity)>().without::<Ship>();
        free.par().for_each_chunk(|(positions, velocities)| attract(positions, velocities, ships));
        let all = self.world.query_mut::<(&mut Position, &Velocity)>();
        all.par().for_each_chunk(|(positions, velocities)| drift(positions, velocities));
        self.world.query_mut::<&mut Life>().into_iter().flatten().for_each(|life| life.0 -= 1.0);
        self.world.matching::<&Life>().retain(|lives, kept| {
            kept.iter_mut().zip(lives).for_each(|(kept, life)| *kept = life.0 > 0.0);
        });
    }

    /// Moves a ship, which throws sparks if its player fires.
    fn steer(&mut self, number: usize, input: Input) {
        let ship = self.ships[number];
        let thrust = [input.axis(0, 1) * 0.01, input.axis(2, 3) * 0.01];
        let velocity = self.world.get_mut::<Velocity>(ship).expect("a ship has a velocity");
        velocity.x = velocity.x * 0.97 + thrust[0];
        velocity.y = velocity.y * 0.97 + thrust[1];
        if input.is_down(4) {
            let at = *self.world.get::<Position>(ship).expect("a ship has a position");
            self.world.spawn_batch((0..4 * QUARTER).map(|i| {
                // Around the ship without `sin`, because its last bits depend on the system's
                // library.
                let part = f32::from(i % QUARTER) / f32::from(QUARTER);
                let (x, y) = (1.0 - part, part);
                let [x, y] = match i / QUARTER {
                    0 => [x, y],
                    1 => [-y, x],
                    2 => [-x, -y],
                    _ => [y, -x],
                };
                (at, Velocity { x: x * 0.2, y: y * 0.2 }, Life(30.0 + f32::from(i % 7)))
            }));
        }
    }
}

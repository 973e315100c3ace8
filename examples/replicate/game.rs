//! The game that is mirrored: things that walk and rest, and sparks at the end of a thing.

use phalanx::prelude::*;

use phalanx_examples::chance::Chance;

#[component]
pub struct Position {
    x: f32,
    y: f32,
}
/// Zero for things that rest.
#[component]
pub struct Velocity {
    x: f32,
    y: f32,
}
/// The tag of walking things, if they lie in chunks of their own.
#[component]
pub struct Walks;
#[component]
pub struct Thing {
    kind: u32,
    health: f32,
}
/// Frames until a spark goes out.
#[component]
pub struct Life(f32);

/// All components of the game.
pub(crate) type All = (Position, Velocity, Walks, Thing, Life);

/// The side of the square in which things begin.
const SIDE: u32 = 1000;

/// Sparks of a thing that ends.
const SPARKS: u32 = 4;

/// A world, and the parameters of its game.
pub(crate) struct Game {
    pub(crate) world: World,
    things: Vec<Entity>,
    chance: Chance,
    /// The number of things at the start.
    start: u32,
    /// The number of walking things in a hundred.
    moving: u32,
    /// Whether walking things have a tag, and so chunks of their own.
    apart: bool,
}

#[kernel]
fn drift(positions: &mut [Position], velocities: &[Velocity]) {
    for (p, v) in positions.iter_mut().zip(velocities) {
        p.x += v.x;
        p.y += v.y;
    }
}

impl Game {
    /// A number of things. `moving` of a hundred walk.
    pub(crate) fn new(things: u32, (moving, apart): (u32, bool), seed: u64) -> Self {
        let chance = Chance::new(seed);
        let (world, start) = (World::new(), things);
        let mut game = Self { world, things: Vec::new(), chance, start, moving, apart };
        game.appear(things);
        game
    }

    /// One frame: some things start or stop walking, some end, others appear, and walking things
    /// move.
    pub(crate) fn step(&mut self) {
        for _ in 0..self.start.div_ceil(100) {
            let Some(at) = self.choose() else { continue };
            let (thing, velocity) = (self.things[at], self.walk());
            *self.world.get_mut::<Velocity>(thing).expect("a thing has one") = velocity;
            self.sort(thing, velocity);
        }
        let few = self.start.div_ceil(4000);
        (0..few).for_each(|_| self.end_one());
        // The number of things that have ended, on average.
        let new = self.chance.below(2 * few + 1);
        self.appear(new);
        for (positions, velocities) in self.world.query_mut::<(&mut Position, &Velocity)>() {
            drift(positions, velocities);
        }
        self.world.query_mut::<&mut Life>().into_iter().flatten().for_each(|life| life.0 -= 1.0);
        self.world.matching::<&Life>().retain(|lives, kept| {
            kept.iter_mut().zip(lives).for_each(|(kept, life)| *kept = life.0 > 0.0);
        });
    }

    fn appear(&mut self, things: u32) {
        let new = (0..things).map(|_| {
            let position = Position { x: self.coordinate(), y: self.coordinate() };
            let health = 1.0 - self.chance.part() / 2.0;
            (position, self.walk(), Thing { kind: self.chance.below(8), health })
        });
        let new: Vec<_> = new.collect();
        let velocities: Vec<_> = new.iter().map(|&(_, velocity, _)| velocity).collect();
        let first = self.things.len();
        self.things.extend_from_slice(self.world.spawn_batch(new));
        for (at, velocity) in (first..).zip(velocities) {
            self.sort(self.things[at], velocity);
        }
    }

    /// Moves a thing to the chunks of walking things, or of resting ones.
    fn sort(&mut self, thing: Entity, velocity: Velocity) {
        let walks = self.apart && [velocity.x, velocity.y] != [0.0, 0.0];
        match (walks, self.world.has::<Walks>(thing)) {
            (true, false) => self.world.insert(thing, Walks).expect("it is alive"),
            (false, true) => {
                self.world.remove::<Walks>(thing).expect("it walked");
            }
            _ => {}
        }
    }

    /// A thing ends, and throws sparks.
    fn end_one(&mut self) {
        let Some(at) = self.choose() else { return };
        let thing = self.things.swap_remove(at);
        let position = *self.world.get::<Position>(thing).expect("a thing has a position");
        self.world.despawn(thing).expect("it is alive");
        let chance = &mut self.chance;
        let sparks = (0..SPARKS).map(|_| {
            let velocity = Velocity { x: chance.part() - 0.5, y: chance.part() - 0.5 };
            (position, velocity, Life(20.0 + chance.part() * 20.0))
        });
        self.world.spawn_batch(sparks.collect::<Vec<_>>());
    }

    /// The place of a thing in the list of all.
    fn choose(&mut self) -> Option<usize> {
        let things = u32::try_from(self.things.len()).expect("there are fewer");
        (things > 0).then(|| self.chance.below(things) as usize)
    }

    /// A random velocity: zero for things that rest.
    fn walk(&mut self) -> Velocity {
        match self.chance.below(100) < self.moving {
            true => Velocity { x: self.chance.part() / 4.0, y: self.chance.part() / 4.0 },
            false => Velocity::default(),
        }
    }

    fn coordinate(&mut self) -> f32 {
        let side = f32::from(u16::try_from(SIDE).expect("it is small"));
        self.chance.part() * side
    }
}

//! Reads by entity, and reads of what changed.

use std::ops::Range;

use phalanx::prelude::*;

use super::{D1, LINE, Least, PLACE, Position, Program, position, same};

const LEN: usize = 100_000;

/// Reads in random order.
struct Lookups {
    world: World,
    order: Vec<Entity>,
    want: u64,
    sum: u64,
}

/// 100,000 reads by entity, over 100,000 entities.
pub(super) fn lookup_random() -> Box<dyn Program> {
    let mut world = World::new();
    let entities = world.spawn_batch((0..LEN).map(position)).to_vec();
    let indices: Vec<usize> = random_indices().collect();
    let order = indices.iter().map(|&i| entities[i]).collect();
    let want = indices.iter().map(|&i| position(i).x as u64).sum();
    Box::new(Lookups { world, order, want, sum: 0 })
}

impl Program for Lookups {
    fn pass(&mut self) {
        let positions = self.world.lookup::<Position>();
        let x = |&entity: &Entity| positions.get(entity).expect("alive").x as u64;
        self.sum = self.order.iter().map(x).sum();
    }

    fn check(&self, _: u64) -> Result<(), String> {
        same("the sum of what was read", self.sum, self.want)
    }

    /// A read takes the next entity of the order, its place, and the `x` of its row. Places and rows
    /// are hit at random: a full cache has the line with the share that it holds of all lines. One
    /// place in eight lies across two lines.
    fn least(&self) -> Least {
        let per_line = |bytes: u64| bytes as f64 / LINE as f64;
        let rows = self.world.query::<&Position>().explain().lines() as f64;
        let places = per_line(PLACE * LEN as u64);
        let lines_of_place = 1.0 + per_line(PLACE - size_of::<u32>() as u64);
        let missed = 1.0 - per_line(D1) / (rows + places);
        let read = per_line(size_of::<Entity>() as u64) + (lines_of_place + 1.0) * missed;
        Least { units: LEN as u64, lines: read * LEN as f64 }
    }
}

/// Indices below [`LEN`], as many, from a xorshift generator.
fn random_indices() -> impl Iterator<Item = usize> {
    let mut state = 0x1234_5678_9ABC_DEF1_u64;
    (0..LEN).map(move |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let bits = state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(bits % LEN as u64).expect("an index is below the length")
    })
}

/// Rows of which one in a hundred was written.
struct Changed {
    world: World,
    since: Version,
    seen: usize,
    sum: u64,
}

/// All rows, and those that were written.
const ROWS: usize = 1_000_000;
const WRITTEN: Range<usize> = 500_000..510_000;

/// What the written rows have as their `x`, and no other.
const MARK: f32 = 1000.0;

kernel! {
    /// The sum of all `x`, which are small whole numbers.
    fn sum_x(positions: &[Position]) -> u64 {
        positions.iter().map(|p| p.x as u64).sum()
    }
}

/// 1,000,000 rows, of which 10,000 neighbours were written since.
pub(super) fn changed_1_percent() -> Box<dyn Program> {
    let mut world = World::new();
    let entities = world.spawn_batch((0..ROWS).map(position)).to_vec();
    let since = world.version();
    for &entity in &entities[WRITTEN] {
        world.get_mut::<Position>(entity).expect("alive").x = MARK;
    }
    Box::new(Changed { world, since, seen: 0, sum: 0 })
}

impl Program for Changed {
    fn pass(&mut self) {
        let (mut seen, mut sum) = (0, 0);
        for positions in self.world.query::<&Position>().changed_since::<Position>(self.since) {
            seen += positions.len();
            sum += sum_x(positions);
        }
        (self.seen, self.sum) = (seen, sum);
    }

    /// The pass saw every written row, and of the others only those of the two chunks it cuts.
    fn check(&self, _: u64) -> Result<(), String> {
        let changed = || self.world.query::<&Position>().changed_since::<Position>(self.since);
        let written = changed().flatten().filter(|p| p.x == MARK).count();
        same("the number of written rows seen", written, WRITTEN.len())?;
        let x: u64 = changed().flatten().map(|p| p.x as u64).sum();
        same("the sum over changed chunks", self.sum, x)?;
        let capacity = self.world.archetypes().map(|a| a.capacity()).max().unwrap_or(0);
        let most = WRITTEN.len() + 2 * capacity;
        if self.seen > most {
            return Err(format!("{} rows were seen, and must be at most {most}", self.seen));
        }
        Ok(())
    }

    fn least(&self) -> Least {
        let changed = self.world.query::<&Position>().changed_since::<Position>(self.since);
        Least::of_loop(WRITTEN.len(), changed.explain().lines())
    }
}

//! Writes to a part of the rows, the search for these rows, and the sum over the found ones.

use phalanx::bytemuck::cast_slice;
use phalanx::prelude::*;

use super::Program;
use super::components::{Position, Tracked, position, world};
use super::proof::same;

/// The sum of all `x`, in eight running lanes.
#[kernel]
pub fn sum_x(positions: &[Position]) -> f32 {
    sum_x_lanes(cast_slice(positions))
}

/// The body of [`sum_x`] and of the limit's function of that name: one loop, two owners of the
/// data.
#[inline(always)]
pub fn sum_x_lanes(data: &[[f32; 3]]) -> f32 {
    let mut lanes = [0f32; 8];
    let (blocks, rest) = data.as_chunks::<8>();
    for block in blocks {
        for (lane, d) in lanes.iter_mut().zip(block) {
            *lane += d[0];
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().map(|d| d[0]).sum::<f32>()
}

/// The number of rows in chunks that changed since, and the sum of their `x`.
pub fn scan(world: &World, since: Version) -> (usize, f64) {
    let (mut seen, mut sum) = (0, 0.0);
    for positions in world.query::<&Position>().changed_since::<Position>(since) {
        seen += positions.len();
        sum += f64::from(sum_x(positions));
    }
    (seen, sum)
}

/// The number of rows before the first scan, which may rightly see none.
const NO_SCAN: usize = usize::MAX;

/// A scan for rows that were written once and for all.
pub struct Changed {
    pub world: World,
    pub since: Version,
    /// The written rows.
    pub written: Vec<usize>,
    seen: usize,
    sum: f64,
}

impl Changed {
    /// `len` rows, with one added to the `x` of the written ones.
    pub fn new(chunk: ChunkSize, len: usize, written: impl IntoIterator<Item = usize>) -> Self {
        let mut world = world(chunk);
        let entities = world.spawn_batch((0..len).map(position)).to_vec();
        let since = world.version();
        let written: Vec<usize> = written.into_iter().collect();
        for &row in &written {
            world.get_mut::<Position>(entities[row]).expect("alive").x += 1.0;
        }
        Self { world, since, written, seen: NO_SCAN, sum: 0.0 }
    }

    /// The number of rows that a scan must see, and their sum: a chunk that holds a written row is
    /// seen whole, and no other chunk is.
    fn wanted(&self) -> (usize, f64) {
        let len = self.world.len();
        let capacity = self.world.reflect().archetypes().map(|a| a.capacity()).max().unwrap_or(1);
        let mut is_seen = vec![false; len.div_ceil(capacity)];
        self.written.iter().for_each(|row| is_seen[row / capacity] = true);
        let rows = || (0..len).filter(|row| is_seen[row / capacity]);
        let before: f64 = rows().map(|row| f64::from(position(row).x)).sum();
        (rows().count(), before + self.written.len() as f64)
    }
}

/// A scan for rows that were written once and for all, which the component tracks.
pub struct ChangedLines {
    pub world: World,
    pub since: Version,
    entities: Vec<Entity>,
    written: Vec<usize>,
    /// How often they were written.
    writes: u64,
    seen: usize,
    sum: f64,
}

impl ChangedLines {
    /// `len` rows, with one added to the `x` of the written ones.
    pub fn new(chunk: ChunkSize, len: usize, written: impl IntoIterator<Item = usize>) -> Self {
        let mut world = world(chunk);
        let entities = world.spawn_batch((0..len).map(|i| Tracked(position(i)))).to_vec();
        let since = world.version();
        let written: Vec<usize> = written.into_iter().collect();
        let mut this = Self { world, since, entities, written, writes: 0, seen: NO_SCAN, sum: 0.0 };
        this.write();
        this
    }

    /// Writes the rows once more, each by its entity.
    pub fn write(&mut self) {
        let mut tracked = self.world.lookup_mut::<Tracked>();
        for &row in &self.written {
            tracked.get_mut(self.entities[row]).expect("alive").0.x += 1.0;
        }
        self.writes += 1;
    }
}

impl Program for ChangedLines {
    fn pass(&mut self) {
        (self.seen, self.sum) = (0, 0.0);
        for tracked in self
            .world
            .query::<&Tracked>()
            .filter_since::<phalanx::lines::ChangedLines<Tracked>>(self.since)
        {
            self.seen += tracked.len();
            // A few rows only: the call of a kernel would take longer than its loop.
            self.sum += f64::from(sum_x_lanes(cast_slice(tracked)));
        }
    }

    fn check(&self, _: u64) -> Result<(), String> {
        let before: f64 = self.written.iter().map(|&row| f64::from(position(row).x)).sum();
        same("the number of rows seen", self.seen, self.written.len())?;
        let added = self.written.len() as f64 * self.writes as f64;
        same("the sum over the rows seen", self.sum, before + added)
    }
}

/// The writes of [`ChangedLines`] in each pass, before its scan for them.
pub struct WriteAndVisit(pub ChangedLines);

impl WriteAndVisit {
    /// One row of each hundred, in a place of its own among them.
    pub fn scattered(chunk: ChunkSize, len: usize) -> Self {
        let written = (0..len / 100).map(|i| i * 100 + i * 37 % 100);
        Self(ChangedLines::new(chunk, len, written))
    }
}

impl Program for WriteAndVisit {
    fn pass(&mut self) {
        self.0.since = self.0.world.version();
        self.0.write();
        self.0.pass();
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        self.0.check(passes)
    }
}

impl Program for Changed {
    fn pass(&mut self) {
        (self.seen, self.sum) = scan(&self.world, self.since);
    }

    fn check(&self, _: u64) -> Result<(), String> {
        let (seen, sum) = self.wanted();
        same("the number of rows seen", self.seen, seen)?;
        same("the sum over the rows seen", self.sum, sum)
    }
}

//! Who is near: boids sorted into the cells of a grid that are as large as they see.
//!
//! ```text
//!  halo │  one row of cells  │ halo          a boid here ──┐
//! ┌─────┬─────┬─────┬─────┬─────┐                   ┌─────┼─────┐
//! │ (3) │  1  │  2  │  3  │ (1) │                   │  .  │  .  │  three runs of memory,
//! └─────┴─────┴─────┴─────┴─────┘                   │  .  │  x  │  each of three cells,
//!  cells of a row lie one behind the other          │  .  │  .  │  hold all that it sees
//! ```
//!
//! The sky has no edge, and the grid has none either: around it is a halo of cells, copies of those
//! on the other side. So no look at a neighbour has to ask where the edge is.
//!
//! A run may be read past its end, to fill vectors: what follows lies in the same row, a cell or
//! more away, and is out of sight. (After the last cell of a row comes the halo of the next, on the
//! other side of the sky.)

use crate::model::{Position, Sky, Velocity};
use phalanx::prelude::*;

/// How far a boid sees. No side of a cell is shorter.
pub(crate) const SIGHT: f32 = 1.0;
/// How many neighbours are looked at together.
const LANES: usize = 8;
/// Out of everyone's sight.
const FAR: f32 = 1e9;

/// Where boids were, and how fast, when the grid was filled.
///
/// A copy: whoever steers by it may change velocities at once, and neighbours that do the same on
/// another thread see what was, not what is half done.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    columns: u32,
    rows: u32,
    /// Cells in a unit of length, along each axis.
    scale: (f32, f32),
    sky: (f32, f32),
    /// Where each cell begins in the lists below, row by row, halo included; and where the last ends.
    starts: Vec<u32>,
    x: Vec<f32>,
    y: Vec<f32>,
    velocity_x: Vec<f32>,
    velocity_y: Vec<f32>,
    /// The cell of each boid, in the order of the query.
    cells: Vec<u32>,
    /// Where the next boid of each cell goes.
    next: Vec<u32>,
}

kernel! {
    /// The cells of boids.
    fn find_cells(position: &[Position], cells: &mut [u32], scale: (f32, f32), size: (u32, u32)) {
        for (p, cell) in position.iter().zip(cells) {
            *cell = cell_of(p.y, scale.1, size.1) * (size.0 + 2) + cell_of(p.x, scale.0, size.0);
        }
    }
}

/// The cell along one axis, of so many; number 0 is halo.
///
/// A place may be a bit outside. The nearest cell is right for it: it sees what is there.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "a float that is no number of a cell saturates"
)]
fn cell_of(place: f32, scale: f32, cells: u32) -> u32 {
    1 + ((place * scale) as i32).clamp(0, cells.cast_signed() - 1).cast_unsigned()
}

impl Grid {
    /// An empty grid. At least four cells each way keep the two sides of the halo apart.
    #[expect(clippy::cast_possible_truncation, reason = "a whole number of cells")]
    pub(crate) fn new(sky: Sky) -> Self {
        let cells = |size: f32| ((size / SIGHT) as u32).max(4);
        let (columns, rows) = (cells(sky.width), cells(sky.height));
        Self {
            columns,
            rows,
            scale: (columns as f32 / sky.width, rows as f32 / sky.height),
            sky: (sky.width, sky.height),
            starts: vec![0; (columns as usize + 2) * (rows as usize + 2) + 1],
            ..Self::default()
        }
    }

    /// Sorts boids into cells, by counting. Equal boids give an equal grid.
    pub(crate) fn fill<F: Filter>(&mut self, mut boids: Query<(&Position, &Velocity), F>) {
        self.cells.resize(boids.count_rows(), 0);
        let mut rest = &mut self.cells[..];
        for (position, _) in boids.reborrow() {
            let cells = rest.split_off_mut(..position.len()).expect("a cell for each boid");
            find_cells(position, cells, self.scale, (self.columns, self.rows));
        }
        self.count();
        let mut cells = self.cells.iter();
        for (position, velocity) in boids {
            for ((p, v), &cell) in position.iter().zip(velocity).zip(&mut cells) {
                let at = self.next[cell as usize] as usize;
                self.next[cell as usize] += 1;
                (self.x[at], self.y[at]) = (p.x, p.y);
                (self.velocity_x[at], self.velocity_y[at]) = (v.x, v.y);
            }
        }
        self.copy_halo();
    }

    /// Finds out where each cell begins.
    fn count(&mut self) {
        // Of each cell the number of boids, one place behind it: summed up, that is its beginning.
        self.starts.fill(0);
        for &cell in &self.cells {
            self.starts[cell as usize + 1] += 1;
        }
        for (halo, cell, _) in self.halo() {
            self.starts[halo + 1] = self.starts[cell + 1];
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.next.clone_from(&self.starts);
        for list in [&mut self.x, &mut self.y, &mut self.velocity_x, &mut self.velocity_y] {
            list.clear();
            list.resize(sum as usize + LANES, FAR);
        }
    }

    fn copy_halo(&mut self) {
        for (halo, cell, (x, y)) in self.halo() {
            let from = self.starts[cell] as usize..self.starts[cell + 1] as usize;
            let to = self.starts[halo] as usize;
            for (from, to) in from.zip(to..) {
                (self.x[to], self.y[to]) = (self.x[from] + x, self.y[from] + y);
                self.velocity_x[to] = self.velocity_x[from];
                self.velocity_y[to] = self.velocity_y[from];
            }
        }
    }

    /// The cells of the halo: which one, of which it is a copy, and how far it lies from that.
    fn halo(&self) -> impl Iterator<Item = (usize, usize, (f32, f32))> + use<> {
        let (columns, rows, (width, height)) = (self.columns, self.rows, self.sky);
        let place = move |column, row| (row * (columns + 2) + column) as usize;
        (0..rows + 2).flat_map(move |row| {
            let is_edge = row == 0 || row == rows + 1;
            let (from_row, y) = opposite(row, rows, height);
            // All of the first and the last row, and both ends of those between.
            (0..columns + 2).step_by(if is_edge { 1 } else { columns as usize + 1 }).map(
                move |column| {
                    let (from_column, x) = opposite(column, columns, width);
                    (place(column, row), place(from_column, from_row), (x, y))
                },
            )
        })
    }

    /// What a boid at this place sees.
    #[inline(always)]
    pub(crate) fn look(&self, place: Position, crowd: f32) -> Sight {
        let width = self.columns as usize + 2;
        let column = cell_of(place.x, self.scale.0, self.columns) as usize;
        let row = cell_of(place.y, self.scale.1, self.rows) as usize;
        let mut sums = Sums::default();
        for row in row - 1..=row + 1 {
            let first = row * width + column - 1;
            let (start, end) = (self.starts[first] as usize, self.starts[first + 3] as usize);
            // Up to a whole vector: see above why that is no mistake.
            let run = start..start + (end - start).next_multiple_of(LANES);
            let x = self.x[run.clone()].as_chunks().0.iter();
            let y = self.y[run.clone()].as_chunks().0;
            let velocity_x = self.velocity_x[run.clone()].as_chunks().0;
            let velocity_y = self.velocity_y[run].as_chunks().0;
            for (((x, y), velocity_x), velocity_y) in x.zip(y).zip(velocity_x).zip(velocity_y) {
                sums.add(place, crowd, x, y, velocity_x, velocity_y);
            }
        }
        sums.total()
    }
}

/// The cell of which this one, if it is halo, is a copy; and how far it lies from it.
const fn opposite(cell: u32, cells: u32, size: f32) -> (u32, f32) {
    match cell {
        0 => (cells, -size),
        _ if cell > cells => (1, size),
        _ => (cell, 0.0),
    }
}

/// All that a boid sees, added up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sight {
    /// How many it sees.
    pub(crate) count: f32,
    /// The ways to all of them.
    pub(crate) way: (f32, f32),
    /// Their velocities.
    pub(crate) velocity: (f32, f32),
    /// The ways from those that are too near, the longer the nearer.
    pub(crate) escape: (f32, f32),
}

/// A [`Sight`] in each lane. Plain arrays: within a kernel they become registers of its level. Each
/// lane adds in an order of its own, so the bits are the same at every level.
#[derive(Clone, Copy, Default)]
struct Sums {
    count: [f32; LANES],
    way: [[f32; LANES]; 2],
    velocity: [[f32; LANES]; 2],
    escape: [[f32; LANES]; 2],
}

impl Sums {
    #[inline(always)]
    fn add(
        &mut self,
        place: Position,
        crowd: f32,
        x: &[f32; LANES],
        y: &[f32; LANES],
        velocity_x: &[f32; LANES],
        velocity_y: &[f32; LANES],
    ) {
        for lane in 0..LANES {
            let way = (x[lane] - place.x, y[lane] - place.y);
            let distance2 = way.0 * way.0 + way.1 * way.1;
            // It does not see itself, which is where it is.
            let is_seen = (distance2 < SIGHT * SIGHT) & (distance2 > 0.0);
            let seen = if is_seen { 1.0 } else { 0.0 };
            let near = 1.0 - distance2 * (1.0 / (crowd * crowd));
            let push = if is_seen & (near > 0.0) { near } else { 0.0 };
            self.count[lane] += seen;
            self.way[0][lane] += way.0 * seen;
            self.way[1][lane] += way.1 * seen;
            self.velocity[0][lane] += velocity_x[lane] * seen;
            self.velocity[1][lane] += velocity_y[lane] * seen;
            self.escape[0][lane] -= way.0 * push;
            self.escape[1][lane] -= way.1 * push;
        }
    }

    #[inline(always)]
    fn total(&self) -> Sight {
        let pair = |[x, y]: &[[f32; LANES]; 2]| (sum(x), sum(y));
        Sight {
            count: sum(&self.count),
            way: pair(&self.way),
            velocity: pair(&self.velocity),
            escape: pair(&self.escape),
        }
    }
}

#[inline(always)]
fn sum(lanes: &[f32; LANES]) -> f32 {
    lanes.iter().sum()
}

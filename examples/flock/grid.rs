//! Neighbour search: boids are sorted into the cells of a grid. A cell is as large as a boid sees.
//!
//! ```text
//!  halo │  one row of cells  │ halo          a boid here ──┐
//! ┌─────┬─────┬─────┬─────┬─────┐                   ┌─────┼─────┐
//! │ (3) │  1  │  2  │  3  │ (1) │                   │  .  │  .  │  three runs of memory,
//! └─────┴─────┴─────┴─────┴─────┘                   │  .  │  x  │  each of three cells,
//!  cells of a row lie one after the other           │  .  │  .  │  hold all that it sees
//! ```
//!
//! The sky has no edge. A halo of cells surrounds the grid, with copies of the cells on the other
//! side, so that no search for neighbours has to handle the edge.
//!
//! A run may be read past its end, to fill vectors: the cells that follow are in the same row, at
//! least one cell away, and out of sight. (The last cell of a row is followed by the halo of the
//! next row, on the other side of the sky.)

use crate::model::{Position, Sky, Velocity};
use phalanx::prelude::*;

/// The distance at which a boid sees others. No side of a cell is shorter.
pub(crate) const SIGHT: f32 = 1.0;
/// The number of neighbours that are processed together.
const LANES: usize = 8;
/// A coordinate out of sight of all boids.
const FAR: f32 = 1e9;

/// The positions and velocities of boids when the grid was filled.
///
/// They are copies, so a system may change velocities while it reads the grid: threads that steer
/// neighbours read the old velocities, not partly updated ones.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    columns: u32,
    rows: u32,
    /// Cells per unit of length, along each axis.
    scale: (f32, f32),
    sky: (f32, f32),
    /// Start of each cell in the lists below, row by row with the halo, and end of the last one.
    starts: Vec<u32>,
    x: Vec<f32>,
    y: Vec<f32>,
    velocity_x: Vec<f32>,
    velocity_y: Vec<f32>,
    /// The cell of each boid, in the order of the query.
    cells: Vec<u32>,
    /// The index at which the next boid of each cell is stored.
    next: Vec<u32>,
}

/// Finds the cells of boids.
#[kernel]
fn find_cells(position: &[Position], cells: &mut [u32], scale: (f32, f32), size: (u32, u32)) {
    for (p, cell) in position.iter().zip(cells) {
        *cell = cell_of(p.y, scale.1, size.1) * (size.0 + 2) + cell_of(p.x, scale.0, size.0);
    }
}

/// The index of a cell along one axis of `cells` cells. Index 0 is halo.
///
/// A place slightly outside of the sky belongs to the nearest cell.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "a float outside of all cells saturates")]
fn cell_of(place: f32, scale: f32, cells: u32) -> u32 {
    1 + ((place * scale) as i32).clamp(0, cells.cast_signed() - 1).cast_unsigned()
}

impl Grid {
    /// An empty grid. Four cells along each axis, the minimum, keep the sides of the halo apart.
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

    /// Sorts boids into cells by a counting sort. Equal boids give an equal grid.
    pub(crate) fn fill<F: Filter>(&mut self, boids: Query<(&Position, &Velocity), F>) {
        self.cells.resize(boids.count_rows(), 0);
        let mut rest = &mut self.cells[..];
        for (position, _) in &boids {
            let cells =
                rest.split_off_mut(..position.len()).expect("`cells` has fewer entries than boids");
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

    /// Computes the start of each cell.
    fn count(&mut self) {
        // The boids of each cell are counted one index after it, so the running sum is its start.
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

    /// The cells of the halo: the index, the index of the original, and the offset between the two.
    fn halo(&self) -> impl Iterator<Item = (usize, usize, (f32, f32))> + use<> {
        let (columns, rows, (width, height)) = (self.columns, self.rows, self.sky);
        let place = move |column, row| (row * (columns + 2) + column) as usize;
        (0..rows + 2).flat_map(move |row| {
            let is_edge = row == 0 || row == rows + 1;
            let (from_row, y) = opposite(row, rows, height);
            // All cells of the first and the last row, and both ends of the other rows.
            (0..columns + 2).step_by(if is_edge { 1 } else { columns as usize + 1 }).map(
                move |column| {
                    let (from_column, x) = opposite(column, columns, width);
                    (place(column, row), place(from_column, from_row), (x, y))
                },
            )
        })
    }

    /// Sums up the boids that a boid at this place sees.
    #[inline(always)]
    pub(crate) fn look(&self, place: Position, crowd: f32) -> Sight {
        let width = self.columns as usize + 2;
        let column = cell_of(place.x, self.scale.0, self.columns) as usize;
        let row = cell_of(place.y, self.scale.1, self.rows) as usize;
        let mut sums = Sums::default();
        for row in row - 1..=row + 1 {
            let first = row * width + column - 1;
            let (start, end) = (self.starts[first] as usize, self.starts[first + 3] as usize);
            // Rounded up to a whole vector; the module docs say why that is correct.
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

/// The original of a cell along one axis, and its offset: a halo cell is a copy of another cell.
const fn opposite(cell: u32, cells: u32, size: f32) -> (u32, f32) {
    match cell {
        0 => (cells, -size),
        _ if cell > cells => (1, size),
        _ => (cell, 0.0),
    }
}

/// The sums over all boids that a boid sees.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sight {
    /// The number of visible boids.
    pub(crate) count: f32,
    /// The sum of the ways to them.
    pub(crate) way: (f32, f32),
    /// The sum of their velocities.
    pub(crate) velocity: (f32, f32),
    /// The sum of the ways from boids that are too near, weighted by nearness.
    pub(crate) escape: (f32, f32),
}

/// A [`Sight`] per lane. Within a kernel the plain arrays become registers of its level. The order
/// of additions in a lane is fixed, so the bits are equal at every level.
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
            // The boid itself is at distance zero and is not counted.
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

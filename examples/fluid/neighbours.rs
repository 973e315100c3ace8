//! The neighbours of each particle: found once a frame, read by two systems.
//!
//! ```text
//!  starts   │ 0 │ 3 │ 5 │ ...       row 0 has the neighbours 0 to 2, row 1 has 3 and 4
//!            ╲     ╲     ╲
//!  found    │ a b c │ d e │ ...     places of rows, or ids
//! ```

use crate::model::{Position, REACH, Tank};
use phalanx::prelude::*;
use phalanx::rows::{PlaceLookup, RowPlace};

/// A reference from a particle to another one.
pub(crate) trait Reference: Copy + PartialEq + Send + Sync + 'static {
    /// The reference to an entity.
    fn to<C: Component>(lookup: &PlaceLookup<'_, C>, entity: Entity) -> Option<Self>;

    /// A component of the other particle.
    fn follow<'w, C: Component>(self, lookup: &PlaceLookup<'w, C>) -> Option<&'w C>;
}

impl Reference for Entity {
    fn to<C: Component>(_: &PlaceLookup<'_, C>, entity: Entity) -> Option<Self> {
        Some(entity)
    }

    #[inline(always)]
    fn follow<'w, C: Component>(self, lookup: &PlaceLookup<'w, C>) -> Option<&'w C> {
        lookup.get(self).ok()
    }
}

impl Reference for RowPlace {
    fn to<C: Component>(lookup: &PlaceLookup<'_, C>, entity: Entity) -> Option<Self> {
        lookup.place(entity).ok()
    }

    #[inline(always)]
    fn follow<'w, C: Component>(self, lookup: &PlaceLookup<'w, C>) -> Option<&'w C> {
        lookup.at(self).ok()
    }
}

/// The neighbours of all particles, in the order of the rows.
#[derive(Debug)]
pub(crate) struct Neighbours<R> {
    starts: Vec<u32>,
    found: Vec<R>,
    cells: Cells<R>,
}

impl<R> Default for Neighbours<R> {
    fn default() -> Self {
        Self { starts: Vec::new(), found: Vec::new(), cells: Cells::default() }
    }
}

impl<R: Reference> Neighbours<R> {
    /// Finds the neighbours of all particles.
    pub(crate) fn find(
        &mut self,
        particles: Query<(Entity, &Position)>,
        positions: &PlaceLookup<'_, Position>,
        tank: Tank,
    ) {
        self.cells.fill(particles, positions, tank);
        self.starts.clear();
        self.found.clear();
        self.starts.push(0);
        for (_, position) in particles.rows() {
            for (other, place) in self.cells.around(*position) {
                let (x, y) = (place.x - position.x, place.y - position.y);
                let distance2 = x * x + y * y;
                // The particle itself is at distance zero.
                if distance2 > 0.0 && distance2 < REACH * REACH {
                    self.found.push(other);
                }
            }
            self.starts.push(narrow(self.found.len()));
        }
    }

    /// The neighbours of each row, in the order of the rows.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[R]> {
        self.starts.windows(2).map(|ends| &self.found[ends[0] as usize..ends[1] as usize])
    }

    /// The number of pairs.
    pub(crate) const fn len(&self) -> usize {
        self.found.len()
    }
}

/// The particles by cell, each as large as the reach of a particle.
#[derive(Debug)]
struct Cells<R> {
    columns: usize,
    rows: usize,
    starts: Vec<u32>,
    particles: Vec<(R, Position)>,
    /// All particles in the order of the rows, with their cells.
    unsorted: Vec<(usize, R, Position)>,
}

impl<R> Default for Cells<R> {
    fn default() -> Self {
        let (starts, particles, unsorted) = (Vec::new(), Vec::new(), Vec::new());
        Self { columns: 0, rows: 0, starts, particles, unsorted }
    }
}

impl<R: Reference> Cells<R> {
    /// Sorts the particles by cell.
    fn fill(
        &mut self,
        particles: Query<(Entity, &Position)>,
        positions: &PlaceLookup<'_, Position>,
        tank: Tank,
    ) {
        (self.columns, self.rows) = (cell(tank.width) + 1, cell(tank.height) + 1);
        self.unsorted.clear();
        self.starts.clear();
        self.starts.resize(self.columns * self.rows + 2, 0);
        for (entity, position) in particles.rows() {
            let Some(reference) = R::to(positions, entity) else { continue };
            let cell = cell(position.y) * self.columns + cell(position.x);
            // Counted two cells on: after the sums the entry of the next cell is its start, and
            // after the copies its end.
            self.starts[cell + 2] += 1;
            self.unsorted.push((cell, reference, *position));
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.particles.clear();
        self.particles.extend(self.unsorted.iter().map(|&(_, particle, at)| (particle, at)));
        for &(cell, particle, at) in &self.unsorted {
            let next = &mut self.starts[cell + 1];
            self.particles[*next as usize] = (particle, at);
            *next += 1;
        }
    }

    /// The particles of the cells around a place, row by row of cells.
    fn around(&self, place: Position) -> impl Iterator<Item = (R, Position)> {
        let (x, y) = (cell(place.x), cell(place.y));
        let rows = y.saturating_sub(1)..(y + 2).min(self.rows);
        let columns = x.saturating_sub(1)..(x + 2).min(self.columns);
        rows.flat_map(move |row| {
            let first = self.starts[row * self.columns + columns.start] as usize;
            let end = self.starts[row * self.columns + columns.end] as usize;
            self.particles[first..end].iter().copied()
        })
    }
}

/// The number of a cell along one axis.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn cell(place: f32) -> usize {
    (place / REACH) as usize
}

fn narrow(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 pairs")
}

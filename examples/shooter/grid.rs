//! Finds enemies by their place: all enemies, sorted into the cells of a grid.
//!
//! The cells of a row lie one after the other, so the cells around a place are a few runs of
//! memory, one for each row of cells.
//!
//! The grid has copies of the positions and the ids, so a system that reads it borrows no component
//! of the enemies. It is a resource; systems that only read it run in parallel.

use crate::model::{ARENA, Enemy, Position};
use phalanx::prelude::*;

/// The number of cells along a side of the arena.
const CELLS: u16 = 48;
/// The length of a side of a cell.
const CELL: f32 = ARENA / CELLS as f32;
/// The cells of a row, as an index.
const ROW: usize = CELLS as usize;

/// One enemy, as it was when the grid was filled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) position: Position,
    pub(crate) entity: Entity,
    pub(crate) kind: Enemy,
}

#[derive(Debug)]
pub(crate) struct Grid {
    /// The start of each cell in `marks`, and the end of the last cell.
    starts: Vec<usize>,
    marks: Vec<Mark>,
    /// The enemies in the order of the query, each with its cell. Kept for its memory.
    unsorted: Vec<(usize, Mark)>,
}

impl Grid {
    pub(crate) fn new() -> Self {
        let starts = vec![0; ROW * ROW + 1];
        Self { starts, marks: Vec::new(), unsorted: Vec::new() }
    }

    /// Sorts all enemies into cells. The sort is stable, so equal worlds give equal grids.
    pub(crate) fn fill(&mut self, enemies: Query<(Entity, &Position, &Enemy)>) {
        self.unsorted.clear();
        for (entity, &position, &kind) in enemies.rows() {
            let cell = index(position.y) * ROW + index(position.x);
            self.unsorted.push((cell, Mark { position, entity, kind }));
        }
        self.unsorted.sort_by_key(|&(cell, _)| cell);
        self.marks.clear();
        self.marks.extend(self.unsorted.iter().map(|&(_, mark)| mark));
        let mut end = 0;
        for (cell, start) in self.starts.iter_mut().enumerate() {
            while self.unsorted.get(end).is_some_and(|&(of, _)| of < cell) {
                end += 1;
            }
            *start = end;
        }
    }

    /// All enemies nearer than `distance` to a place, each with the square of its distance.
    pub(crate) fn within(
        &self,
        place: Position,
        distance: f32,
    ) -> impl Iterator<Item = (f32, &Mark)> {
        let (left, right) = (index(place.x - distance), index(place.x + distance));
        let rows = index(place.y - distance)..=index(place.y + distance);
        rows.flat_map(move |row| {
            &self.marks[self.starts[row * ROW + left]..self.starts[row * ROW + right + 1]]
        })
        .map(move |mark| {
            let (x, y) = (mark.position.x - place.x, mark.position.y - place.y);
            (x * x + y * y, mark)
        })
        .filter(move |&(square, _)| square < distance * distance)
    }

    /// The nearest enemy, if one is nearer than `distance`. The first of equally near ones.
    pub(crate) fn nearest(&self, place: Position, distance: f32) -> Option<&Mark> {
        let near = self.within(place, distance);
        near.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, mark)| mark)
    }
}

/// The row or the column of a coordinate. Outside of the arena it is the nearest one.
#[expect(clippy::cast_possible_truncation, reason = "a float outside of all cells saturates")]
#[expect(clippy::cast_sign_loss, reason = "a negative float becomes 0")]
fn index(coordinate: f32) -> usize {
    ((coordinate / CELL) as usize).min(ROW - 1)
}

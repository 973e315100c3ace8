//! The fast form: the cells are stored in row order, so the index of a neighbour is computed.
//!
//! A generation is two passes. The first copies the states to a *board*. The second writes the next
//! states to the world and reads the neighbours from the board, so with any number of threads all
//! cells read states of the same generation.
//!
//! The board is the torus in a frame with copies of the opposite edges:
//!
//! ```text
//!            i | g h i | g
//!            --+-------+--
//!            c | a b c | a
//!            f | d e f | d      the torus a..i in its frame
//!            i | g h i | g
//!            --+-------+--
//!            c | a b c | a
//! ```
//!
//! In the frame every cell has its neighbours beside it, so the kernel does not handle edges. The
//! board is also contiguous, so the kernel does not handle chunks: in the world, the row above may
//! begin in one chunk and end in the next. The copy costs one byte per cell.

use crate::life::{Alive, Cell};
use crate::rule::Rule;
use crate::torus::{Run, Torus};
use phalanx::prelude::*;

/// Computes the next states of adjacent cells.
///
/// `north`, `here` and `south` are the three rows of the board around them. Each is one cell
/// longer on both sides.
#[kernel]
fn next_states(alive: &mut [Alive], north: &[u8], here: &[u8], south: &[u8], rule: Rule) {
    let len = alive.len();
    let [nw, n, ne] = [&north[..len], &north[1..len + 1], &north[2..len + 2]];
    let [w, e] = [&here[..len], &here[2..len + 2]];
    let [sw, s, se] = [&south[..len], &south[1..len + 1], &south[2..len + 2]];
    for i in 0..len {
        let neighbours = nw[i] + n[i] + ne[i] + w[i] + e[i] + sw[i] + s[i] + se[i];
        alive[i].0 = rule.next(alive[i].0, neighbours);
    }
}

/// Steps a world of cells in row order.
pub(crate) struct ByRows {
    rule: Rule,
    board: Board,
}

impl ByRows {
    pub(crate) fn new(torus: Torus, rule: Rule) -> Self {
        Self { rule, board: Board::new(torus) }
    }

    /// Computes the next generation.
    pub(crate) fn step(&mut self, world: &mut World) {
        self.board.copy_cells(world);
        let Self { rule, ref board } = *self;
        world.query_mut::<(&Cell, &mut Alive)>().par().for_each_chunk(|(cells, alive)| {
            for run in board.torus.runs(first(cells), alive.len()) {
                let [north, here, south] = board.rows_around(&run);
                next_states(&mut alive[run.range], north, here, south, rule);
            }
        });
    }
}

/// The number of a chunk's first cell.
fn first(cells: &[Cell]) -> usize {
    cells[0].0 as usize
}

/// The last generation in its frame.
struct Board {
    torus: Torus,
    cells: Vec<u8>,
}

impl Board {
    fn new(torus: Torus) -> Self {
        Self { torus, cells: vec![0; (torus.width() + 2) * (torus.height() + 2)] }
    }

    /// The length of a row, frame included.
    fn stride(&self) -> usize {
        self.torus.width() + 2
    }

    fn copy_cells(&mut self, world: &World) {
        for (cells, alive) in world.query::<(&Cell, &Alive)>() {
            for run in self.torus.runs(first(cells), alive.len()) {
                let start = (run.y + 1) * self.stride() + run.x + 1;
                let target = &mut self.cells[start..start + run.range.len()];
                target.copy_from_slice(scalars(&alive[run.range]));
            }
        }
        self.copy_frame();
    }

    fn copy_frame(&mut self) {
        let (stride, width) = (self.stride(), self.torus.width());
        for row in self.cells.chunks_exact_mut(stride) {
            row[0] = row[width];
            row[width + 1] = row[1];
        }
        // Whole rows are copied last, with the corners.
        let (first, last) = (stride, self.torus.height() * stride);
        self.cells.copy_within(last..last + stride, 0);
        self.cells.copy_within(first..first + stride, last + stride);
    }

    /// The rows above, of and below a run. Each is one cell longer on both sides.
    fn rows_around(&self, run: &Run) -> [&[u8]; 3] {
        [0, 1, 2].map(|down| {
            let start = (run.y + down) * self.stride() + run.x;
            &self.cells[start..start + run.range.len() + 2]
        })
    }
}

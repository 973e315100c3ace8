//! Conway's Life on a torus, one entity a cell, on one thread.
//!
//! Neighbours are found by entity (each cell keeps the ids of its eight neighbours, and looks them
//! up) or by place (cells lie in row order, so the place of a neighbour is computed). The limits do
//! the same with indices into a `Vec`, and on a framed board. In `phalanx_enabled` dead cells are
//! disabled, in `phalanx_sparse` living cells have a sparse component: in both, only living cells
//! look up their neighbours, to increment their counts.

use std::ops::Range;

use phalanx::prelude::*;

use super::bodies::next_cells;
use super::programs::life::{
    Alive, Populated, Switched, around, cells_of, look_up, neighbours_world, next_state, reference,
    start,
};
use super::sides::{Side, Workload, steady};
use super::{flat, world};

/// Widths and heights: 10,000 and 50,000 cells.
const SIZES: [[usize; 2]; 2] = [[100, 100], [500, 100]];

/// Generations that are compared with a reference.
const REFERENCE_MAX: u64 = 16;

/// A generation of cells that lie side by side, from the three rows around them.
#[kernel]
fn next_alive(alive: &mut [Alive], north: &[u8], here: &[u8], south: &[u8]) {
    next_cells(scalars_mut(alive), north, here, south);
}

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    let by = |workload: fn(usize, usize) -> Workload| SIZES.map(|[w, h]| workload(w, h));
    by(life_by_lookup).into_iter().chain(by(life_by_rows)).collect()
}

fn life_by_lookup(width: usize, height: usize) -> Workload {
    let len = width * height;
    Workload::new("life_by_lookup", len, len)
        .limit(move || {
            let cells = start(len);
            let around: Vec<[u32; 8]> = (0..len).map(|cell| around(width, height, cell)).collect();
            let step = |(cells, around): &mut (Vec<u8>, Vec<[u32; 8]>), next: &mut Vec<u8>| {
                for ((next, alive), around) in next.iter_mut().zip(&*cells).zip(&*around) {
                    let neighbours = around.iter().map(|&i| cells[i as usize]).sum();
                    *next = next_state(*alive, neighbours);
                }
                std::mem::swap(cells, next);
            };
            generations(width, height, (cells, around), step, |(cells, _)| cells.clone())
        })
        .phalanx("phalanx", move |chunk| {
            let world = neighbours_world(chunk, width, height);
            generations(width, height, world, |world, next| look_up(world, next), cells_of)
        })
        .phalanx("phalanx_enabled", move |chunk| {
            let cells = Switched::new(chunk, width, height);
            generations(width, height, cells, |cells, _| cells.step(), Switched::cells)
        })
        .phalanx("phalanx_sparse", move |chunk| {
            let cells = Populated::new(chunk, width, height);
            generations(width, height, cells, |cells, _| cells.step(), Populated::cells)
        })
}

fn life_by_rows(width: usize, height: usize) -> Workload {
    let len = width * height;
    Workload::new("life_by_rows", len, len)
        .limit(move || {
            let state = (start(len), Board::new(width, height));
            let step = |(cells, board): &mut (Vec<u8>, Board), _: &mut Vec<u8>| {
                board.copy(0, cells);
                board.copy_frame();
                board.runs(0, cells.len(), |range, [north, here, south]| {
                    flat::next_generation(&mut cells[range], north, here, south);
                });
            };
            generations(width, height, state, step, |(cells, _)| cells.clone())
        })
        .phalanx("phalanx", move |chunk| {
            let mut world = world(chunk);
            world.spawn_batch(start(len).into_iter().map(Alive));
            let state = (world, Board::new(width, height));
            let step =
                |(world, board): &mut (World, Board), _: &mut Vec<u8>| count_rows(world, board);
            generations(width, height, state, step, |(world, _)| cells_of(world))
        })
}

fn count_rows(world: &mut World, board: &mut Board) {
    let mut first = 0;
    for alive in world.query::<&Alive>() {
        board.copy(first, scalars(alive));
        first += alive.len();
    }
    board.copy_frame();
    let mut first = 0;
    for alive in world.query_mut::<&mut Alive>() {
        board.runs(first, alive.len(), |range, [north, here, south]| {
            next_alive(&mut alive[range], north, here, south);
        });
        first += alive.len();
    }
}

/// A side that advances by one generation a pass.
///
/// The first generations are compared with a reference. Later, since the check runs one more pass,
/// the reference is computed from the cells before that pass.
fn generations<S>(
    width: usize,
    height: usize,
    state: S,
    step: impl Fn(&mut S, &mut Vec<u8>) + Copy,
    cells: impl Fn(&S) -> Vec<u8>,
) -> impl Side {
    let len = width * height;
    let one = move |(state, next, done): &mut (S, Vec<u8>, u64)| {
        step(state, next);
        *done += 1;
    };
    steady((state, vec![0; len], 0), one, move |all, _| {
        let generation = |cells: Vec<u8>| reference(width, height, &cells);
        if all.2 <= REFERENCE_MAX {
            let want = (0..all.2).fold(start(len), |cells, _| generation(cells));
            assert!(cells(&all.0) == want, "generation {} of Life", all.2);
        }
        let before = cells(&all.0);
        assert!(before.contains(&1), "some cells live");
        one(all);
        assert!(cells(&all.0) == generation(before), "generation {} of Life", all.2);
    })
}

/// The last generation, in a frame of copies of the opposite edges.
struct Board {
    width: usize,
    height: usize,
    cells: Vec<u8>,
}

impl Board {
    fn new(width: usize, height: usize) -> Self {
        Self { width, height, cells: vec![0; (width + 2) * (height + 2)] }
    }

    /// Cuts `len` cells from the `first` on at the ends of rows: for each piece its range among the
    /// cells, and the place of its north-western neighbour on the board.
    fn pieces(
        &self,
        first: usize,
        len: usize,
    ) -> impl Iterator<Item = (Range<usize>, usize)> + use<> {
        let width = self.width;
        let mut begin = 0;
        std::iter::from_fn(move || {
            let (x, y) = ((first + begin) % width, (first + begin) / width);
            let range = begin..len.min(begin + width - x);
            begin = range.end;
            (!range.is_empty()).then_some((range, y * (width + 2) + x))
        })
    }

    /// Copies the states of cells onto the board, from the `first` on.
    fn copy(&mut self, first: usize, cells: &[u8]) {
        let stride = self.width + 2;
        for (range, north_west) in self.pieces(first, cells.len()) {
            let place = north_west + stride + 1;
            self.cells[place..place + range.len()].copy_from_slice(&cells[range]);
        }
    }

    /// Copies the edges outwards: columns first, so that the copied rows include the corners.
    fn copy_frame(&mut self) {
        let (stride, width) = (self.width + 2, self.width);
        for row in self.cells.chunks_exact_mut(stride) {
            row[0] = row[width];
            row[width + 1] = row[1];
        }
        let last = self.height * stride;
        self.cells.copy_within(last..last + stride, 0);
        self.cells.copy_within(stride..2 * stride, last + stride);
    }

    /// Calls `run` for each piece, with the three rows around it.
    fn runs(&self, first: usize, len: usize, mut run: impl FnMut(Range<usize>, [&[u8]; 3])) {
        for (range, north_west) in self.pieces(first, len) {
            let len = range.len();
            let row = |down: usize| &self.cells[north_west + down * (self.width + 2)..][..len + 2];
            run(range, [row(0), row(1), row(2)]);
        }
    }
}

//! A block folded into rows of cache lines, to scale.

use core::ops::Range;

use phalanx::LINE_BYTES;

use super::svg::{INK, SMALL, Svg};
use super::text::grouped;

/// The left edge of the rows. Offsets are to the left of it.
pub(super) const LEFT: f64 = 64.0;
/// The top edge of the first row.
pub(super) const TOP: f64 = 128.0;
/// Width of a row of lines, 7 × 128. A byte is 7/8 to 7/64 of a pixel wide, which has an exact
/// decimal form, so areas equal bytes exactly.
pub(super) const GRID: f64 = 896.0;
/// Pixels between rows of lines.
const GAP: f64 = 3.0;

/// A block folded into rows of cache lines.
pub(super) struct Grid {
    /// Bytes per row.
    pub(super) row_bytes: usize,
    pub(super) rows: usize,
    row_px: f64,
}

impl Grid {
    /// Rows of 16 to 128 lines: a block of 1 KiB and one of 256 KiB fit the same page.
    pub(super) fn new(block_bytes: usize) -> Self {
        let lines = match block_bytes.div_ceil(LINE_BYTES) {
            0..=64 => 16,
            65..=256 => 32,
            257..=1024 => 64,
            _ => 128,
        };
        let row_bytes = lines * LINE_BYTES;
        let rows = block_bytes.div_ceil(row_bytes);
        let row_px = (320.0 / rows.max(1) as f64).clamp(18.0, 40.0);
        Self { row_bytes, rows, row_px: row_px.floor() }
    }

    pub(super) fn height(&self) -> f64 {
        self.rows as f64 * (self.row_px + GAP)
    }

    fn y(&self, row: usize) -> f64 {
        TOP + row as f64 * (self.row_px + GAP)
    }

    /// The rectangles of a run of bytes, one per row: x, y, width and height.
    pub(super) fn rects(&self, bytes: Range<usize>) -> impl Iterator<Item = [f64; 4]> {
        let byte = GRID / self.row_bytes as f64;
        let rows = bytes.start / self.row_bytes..bytes.end.div_ceil(self.row_bytes);
        rows.map(move |row| {
            let start = bytes.start.max(row * self.row_bytes) - row * self.row_bytes;
            let end = bytes.end.min((row + 1) * self.row_bytes) - row * self.row_bytes;
            [LEFT + start as f64 * byte, self.y(row), (end - start) as f64 * byte, self.row_px]
        })
    }

    /// Draws the edges of cache lines, and the offset at which each row begins.
    pub(super) fn draw(&self, svg: &mut Svg) {
        let lines = self.row_bytes / LINE_BYTES;
        let step = GRID / lines as f64;
        let mut edges = String::new();
        for row in 0..self.rows {
            let (y, down) = (self.y(row), self.row_px);
            edges.extend(
                (1..lines).map(|line| format!("M{} {y}v{down}", LEFT + line as f64 * step)),
            );
            let offset = grouped(row * self.row_bytes);
            let middle = y + down / 2.0 + 4.0;
            svg.label((LEFT - 8.0, middle), SMALL.to_the_left(), offset);
        }
        svg.leaf(
            "path",
            &[("d", &edges), ("stroke", &INK), ("stroke-opacity", &0.15), ("fill", &"none")],
        );
    }
}

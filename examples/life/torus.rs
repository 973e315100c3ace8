//! The geometry: a rectangle of cells with opposite edges joined, numbered row by row.

use crate::rle::{CELLS_MAX, Pattern};
use std::error::Error;
use std::fmt;
use std::ops::Range;

/// The size of a torus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Torus {
    width: usize,
    height: usize,
}

/// A run of adjacent cells in one row of the torus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The column of its first cell.
    pub(crate) x: usize,
    /// Its row.
    pub(crate) y: usize,
    /// The range of its cells in the slice that was cut into runs.
    pub(crate) range: Range<usize>,
}

impl Torus {
    /// A torus of `width` × `height` cells.
    ///
    /// # Errors
    ///
    /// If the torus has no cells, or more than [`CELLS_MAX`].
    pub(crate) fn new(width: u32, height: u32) -> Result<Self, SizeError> {
        match width.checked_mul(height) {
            Some(0) => Err(SizeError::Empty),
            Some(cells) if cells <= CELLS_MAX => {
                Ok(Self { width: width as usize, height: height as usize })
            }
            _ => Err(SizeError::TooLarge { width, height }),
        }
    }

    pub(crate) fn width(self) -> usize {
        self.width
    }

    pub(crate) fn height(self) -> usize {
        self.height
    }

    pub(crate) fn cells_len(self) -> usize {
        self.width * self.height
    }

    /// The states of all cells, with `pattern` in the middle of the torus.
    ///
    /// # Errors
    ///
    /// If the pattern is wider or higher than the torus.
    pub(crate) fn with_pattern(self, pattern: &Pattern) -> Result<Vec<u8>, SizeError> {
        let (width, height) = (pattern.width as usize, pattern.height as usize);
        if width > self.width || height > self.height {
            let torus = self;
            return Err(SizeError::TooSmall { torus, width, height });
        }
        let mut cells = vec![0; self.cells_len()];
        let (left, top) = ((self.width - width) / 2, (self.height - height) / 2);
        for y in 0..height {
            let first = (top + y) * self.width + left;
            cells[first..first + width].copy_from_slice(&pattern.cells[y * width..(y + 1) * width]);
        }
        Ok(cells)
    }

    /// The eight neighbours of a cell. On a tiny torus some of them are the same cell.
    pub(crate) fn around(self, cell: usize) -> [usize; 8] {
        let (x, y) = (cell % self.width, cell / self.width);
        let (west, east) = ((x + self.width - 1) % self.width, (x + 1) % self.width);
        let (north, south) = ((y + self.height - 1) % self.height, (y + 1) % self.height);
        [
            (west, north),
            (x, north),
            (east, north),
            (west, y),
            (east, y),
            (west, south),
            (x, south),
            (east, south),
        ]
        .map(|(x, y)| y * self.width + x)
    }

    /// Cuts `len` consecutive cells from number `first` at the ends of rows.
    ///
    /// The cells of a chunk are consecutive, but a chunk may begin and end in the middle of a row.
    pub(crate) fn runs(self, first: usize, len: usize) -> impl Iterator<Item = Run> {
        let mut start = 0;
        std::iter::from_fn(move || {
            let (x, y) = ((first + start) % self.width, (first + start) / self.width);
            let range = start..len.min(start + self.width - x);
            start = range.end;
            (!range.is_empty()).then_some(Run { x, y, range })
        })
    }
}

impl fmt::Display for Torus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// The reason why a torus is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SizeError {
    Empty,
    TooLarge { width: u32, height: u32 },
    TooSmall { torus: Torus, width: usize, height: usize },
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a torus needs at least one row and one column"),
            Self::TooLarge { width, height } => {
                write!(f, "a torus of {width}x{height} is too large: at most {CELLS_MAX} cells")
            }
            Self::TooSmall { torus, width, height } => {
                write!(f, "the pattern ({width}x{height}) is larger than the torus ({torus})")
            }
        }
    }
}

impl Error for SizeError {}

//! `changed_*`: frames with writes to 1 % of the entities, and a search for the written rows.
//!
//! Every library must visit exactly the rows that were written in the frame. Its visits are counted
//! and summed over all frames, as a part of the compared outcome.

use crate::data::{CHANGED_ENTITIES, CHANGED_ROWS, pos0};
use crate::harness::Harness;
use crate::outcome::Outcome;
use std::hint::black_box;
use std::time::Instant;

/// The rows that are written in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pattern {
    /// A run of neighbours, which is in a few chunks.
    Run,
    /// Every hundredth row, so that all chunks contain some.
    Scattered,
}

impl Pattern {
    /// The distance from one row to the next.
    pub(crate) const fn stride(self) -> usize {
        match self {
            Self::Run => 1,
            Self::Scattered => CHANGED_ENTITIES / CHANGED_ROWS,
        }
    }

    /// The first row of a frame; another one in the next frame.
    pub(crate) const fn first(self, frame: u64) -> usize {
        match self {
            Self::Run => (frame as usize * 10_007) % (CHANGED_ENTITIES - CHANGED_ROWS),
            Self::Scattered => (frame as usize * 37) % Self::Scattered.stride(),
        }
    }

    /// All rows of a frame, in ascending order.
    pub(crate) fn rows(self, frame: u64) -> impl Iterator<Item = usize> {
        (0..CHANGED_ROWS).map(move |nth| self.first(frame) + nth * self.stride())
    }
}

/// The timed part of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Part {
    /// Writes and visits.
    Frame,
    /// The visits alone.
    Scan,
}

/// The written value: differs from the old one, and sums of these values are never rounded.
#[inline(always)]
pub(crate) fn rewritten(x: f32) -> f32 {
    63.0 - x
}

/// Rows that were visited in a frame, and the sum of their `x`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Visit {
    pub(crate) rows: usize,
    pub(crate) sum: f32,
}

/// The calls of a library, over its state `S`.
pub(crate) struct Calls<W, V, A> {
    /// Writes the rows of a frame.
    pub(crate) write: W,
    /// Visits the rows written since the last visit.
    pub(crate) visit: V,
    /// The sum of `x` over all entities.
    pub(crate) all: A,
}

/// Runs the frames of a library that visits exactly the written rows.
pub(crate) fn frames<S>(
    h: &mut Harness,
    variant: &str,
    (pattern, part): (Pattern, Part),
    state: S,
    calls: Calls<impl FnMut(&mut S, u64), impl FnMut(&mut S) -> Visit, impl FnMut(&mut S) -> f64>,
) {
    frames_narrowed(h, variant, (pattern, part), state, calls, |_, _, visit| visit);
}

/// Runs the frames of a library that visits more rows. `narrow` is not timed: it selects the
/// visited rows that were written in that frame.
pub(crate) fn frames_narrowed<S>(
    h: &mut Harness,
    variant: &str,
    (_, part): (Pattern, Part),
    state: S,
    calls: Calls<impl FnMut(&mut S, u64), impl FnMut(&mut S) -> Visit, impl FnMut(&mut S) -> f64>,
    mut narrow: impl FnMut(&mut S, u64, Visit) -> Visit,
) {
    let Calls { mut write, mut visit, mut all } = calls;
    let step = |(state, frame, rows, sum): &mut (S, u64, usize, f64)| {
        let start = Instant::now();
        write(state, *frame);
        let written = Instant::now();
        let seen = black_box(visit(state));
        let time = match part {
            Part::Frame => start.elapsed(),
            Part::Scan => written.elapsed(),
        };
        let seen = narrow(state, *frame, seen);
        *rows += seen.rows;
        *sum += f64::from(seen.sum);
        *frame += 1;
        time
    };
    h.run_part(variant, (state, 0, 0, 0.0), step, |(state, _, rows, sum)| Outcome::Changes {
        rows: *rows,
        sum: *sum,
        all: all(state),
    });
}

/// The same on a plain array.
pub(crate) fn expected(pattern: Pattern, steps: u64) -> Outcome {
    let mut x: Vec<f32> = (0..CHANGED_ENTITIES).map(|i| pos0(i)[0]).collect();
    let (mut rows, mut sum) = (0, 0.0);
    for frame in 0..steps {
        for row in pattern.rows(frame) {
            x[row] = rewritten(x[row]);
            rows += 1;
            sum += f64::from(x[row]);
        }
    }
    Outcome::Changes { rows, sum, all: x.into_iter().map(f64::from).sum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_writes_as_many_different_rows_as_it_should() {
        for pattern in [Pattern::Run, Pattern::Scattered] {
            for frame in [0, 1, 99, 12_345] {
                let rows: Vec<_> = pattern.rows(frame).collect();
                assert_eq!(rows.len(), CHANGED_ROWS);
                assert!(rows.is_sorted_by(|a, b| a < b), "{pattern:?}");
                assert!(rows[CHANGED_ROWS - 1] < CHANGED_ENTITIES, "{pattern:?}");
            }
            assert_ne!(pattern.first(0), pattern.first(1));
        }
    }

    #[test]
    fn what_is_written_is_always_another_value() {
        assert!((0..64).map(|i| pos0(i)[0]).all(|x| rewritten(x) != x));
        assert!((0..64).map(|i| pos0(i)[0]).all(|x| rewritten(rewritten(x)) == x));
    }

    #[test]
    fn the_outcome_tells_the_patterns_apart() {
        assert_ne!(expected(Pattern::Run, 3), expected(Pattern::Scattered, 3));
    }
}

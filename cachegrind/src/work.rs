//! The work of a pass: its units, and the least lines that it can miss.

use phalanx::LINE_BYTES;
use phalanx::explain::QueryExplanation;

/// Bytes of the simulated first-level data cache: 32 KiB with 8 ways.
pub const D1_BYTES: u64 = 32_768;

/// The work of a pass, and the least lines that it can miss.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// use phalanx_cachegrind::Work;
///
/// let mut world = World::new();
/// world.spawn_batch((0..100_000).map(|_| Health(1.0)));
/// let work = Work::of_query(&world.query::<&Health>().explain());
/// // 400,000 bytes are 6,250 lines of 64.
/// assert_eq!((work.units, work.lines), (100_000, 6_250.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Entities, reads or archetypes of a pass; the counts are divided by this number.
    pub units: u64,
    /// Lines that a pass must load into the first-level cache after earlier passes.
    pub lines: f64,
    /// Runs of memory that a pass walks, over all columns. Zero for work that is not a walk.
    pub streams: u64,
    /// Lines that a pass must touch, cached or not: a pass with fewer data references did not do
    /// its work. Zero if unknown.
    pub touched: u64,
}

impl Work {
    /// The walk of one query over its rows, as [`Query::explain`](phalanx::Query::explain) computes
    /// it: a unit is a row.
    ///
    /// A pass reads the lines of the pass before in the same order, so the least is all of them,
    /// or none if they fit in the first-level cache ([`D1_BYTES`]).
    #[must_use]
    pub fn of_query(walk: &QueryExplanation) -> Self {
        let cached = walk.lines() * LINE_BYTES as u64 <= D1_BYTES;
        let lines = if cached { 0.0 } else { walk.lines() as f64 };
        let units = walk.rows() as u64;
        Self { units, lines, streams: walk.streams(), touched: walk.lines() }
    }

    /// Several walks, one after the other, with more lines together than the first-level cache
    /// holds: a system of several queries, or a schedule. A unit is a row of the first walk.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// use phalanx_cachegrind::Work;
    ///
    /// let mut world = World::new();
    /// world.spawn_batch((0..100_000).map(|_| Health(1.0)));
    /// let walk = world.query::<&Health>().explain();
    /// let twice = Work::of_queries(&[walk.clone(), walk]);
    /// assert_eq!((twice.units, twice.lines), (100_000, 12_500.0));
    /// ```
    #[must_use]
    pub fn of_queries(walks: &[QueryExplanation]) -> Self {
        let lines: u64 = walks.iter().map(QueryExplanation::lines).sum();
        let missed = if lines * LINE_BYTES as u64 <= D1_BYTES { 0.0 } else { lines as f64 };
        let units = walks.first().map_or(0, |walk| walk.rows() as u64);
        let streams = walks.iter().map(QueryExplanation::streams).sum();
        Self { units, lines: missed, streams, touched: lines }
    }

    /// Work other than walks over columns: lookups, spawns, structural changes. `lines` is the
    /// least number of lines that a pass misses, or zero if it is not known.
    ///
    /// ```
    /// use phalanx_cachegrind::Work;
    ///
    /// let work = Work::of_units(1_000, 0.0);
    /// assert_eq!((work.units, work.streams), (1_000, 0));
    /// ```
    #[must_use]
    pub const fn of_units(units: u64, lines: f64) -> Self {
        Self { units, lines, streams: 0, touched: 0 }
    }

    /// The same work counted in another unit, as in "instructions an archetype".
    ///
    /// ```
    /// use phalanx_cachegrind::Work;
    ///
    /// assert_eq!(Work::of_units(1_000, 0.0).in_units(10).units, 10);
    /// ```
    #[must_use]
    pub const fn in_units(self, units: u64) -> Self {
        Self { units, ..self }
    }

    /// The line that the counted process prints, and [`Work::parse`] reads.
    pub(crate) fn to_line(self) -> String {
        format!("phalanx-work {} {} {} {}", self.units, self.lines, self.streams, self.touched)
    }

    /// Finds the line among everything that the process printed.
    pub(crate) fn parse(said: &str) -> Option<Self> {
        let line = said.lines().rev().find_map(|line| line.strip_prefix("phalanx-work "))?;
        let mut numbers = line.split_whitespace();
        Some(Self {
            units: numbers.next()?.parse().ok()?,
            lines: numbers.next()?.parse().ok()?,
            streams: numbers.next()?.parse().ok()?,
            touched: numbers.next()?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_found_among_other_output() {
        let work = Work { units: 3, lines: 1.5, streams: 2, touched: 9 };
        let said = format!("loading\n{}\ndone\n", work.to_line());
        assert_eq!(Work::parse(&said), Some(work));
        assert_eq!(Work::parse("loading\n"), None);
        assert_eq!(Work::parse("phalanx-work 3 1.5 2\n"), None);
    }
}

//! The rows of the table: programs, their numbers of passes, and the least that each can miss.

use phalanx::ChunkSize;
use phalanx::explain::QueryExplanation;

use crate::programs::Program;
use crate::programs::archetypes::ManyArchetypes;
use crate::programs::changed::Changed;
use crate::programs::columns::{PosVel, SimpleIter};
use crate::programs::fragments::FragmentedIter;
use crate::programs::insert::SpawnAndClear;
use crate::programs::lookup::RandomLookup;
use crate::programs::new_archetypes::NewArchetypes;
use crate::programs::structure::AddRemove;

mod access;
mod iterate;
mod structure;
mod vagabond;

use vagabond::Vagabond;

/// Bytes of a cache line.
pub const LINE: u64 = 64;

/// Bytes of the simulated first-level cache.
pub const D1: u64 = 32_768;

/// Bytes of an entity's slot in the directory: generation, archetype and row, each a `u32`. The
/// type is private; an assertion in `entity::directory` checks the size.
const SLOT: u64 = 12;

/// A program whose misses are counted, with the least number of them.
pub trait Counted: Program {
    /// The work of a pass.
    fn least(&self) -> Least;
}

/// The work of a pass, and the least lines that it can miss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Least {
    /// Entities, reads or archetypes per pass.
    pub units: u64,
    /// Lines that a pass must load into the first-level cache after earlier passes.
    pub lines: f64,
    /// Runs of memory that a pass walks, over all columns. Zero for what is no walk.
    pub streams: u64,
}

impl Least {
    /// Work that is no walk over columns.
    #[must_use]
    pub const fn of_work(units: u64, lines: f64) -> Self {
        Self { units, lines, streams: 0 }
    }

    /// A walk that reads the same lines again in the same order: all miss, or all hit if they fit.
    #[must_use]
    pub fn of_loop(units: usize, walk: &QueryExplanation) -> Self {
        let missed = if walk.lines() * LINE <= D1 { 0 } else { walk.lines() };
        Self { units: units as u64, lines: missed as f64, streams: walk.streams() }
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name, on the command line and in the budgets.
    pub name: &'static str,
    /// The name of a unit.
    pub unit: &'static str,
    /// The numbers of passes of the two runs whose difference is taken.
    pub passes: (u64, u64),
    /// Creates the program.
    pub start: fn() -> Box<dyn Counted>,
    /// D1 misses of the whole second run in a published measurement, printed for comparison.
    pub published: Option<u64>,
}

/// The default chunk size.
const CHUNK: ChunkSize = ChunkSize::KIB_16;

/// All rows, in the order of the table.
pub const ROWS: [Row; 13] = [
    row("pos_vel_10000", "entity", (2, 102), || Box::new(PosVel::new(CHUNK, 10_000))),
    row("pos_vel_100000", "entity", (2, 22), || Box::new(PosVel::new(CHUNK, 100_000))),
    row("pos_vel_1000000", "entity", (1, 5), || Box::new(PosVel::new(CHUNK, 1_000_000))),
    row("simple_iter", "entity", (2, 102), || Box::new(SimpleIter::new(CHUNK, 10_000))),
    row("fragmented_iter", "entity", (2, 1_002), || Box::new(FragmentedIter::new(CHUNK))),
    row("archetypes_4096", "archetype", (2, 22), || Box::new(ManyArchetypes::new(CHUNK, 4_096))),
    row("new_archetypes", "new archetype", (1, 5), || Box::new(NewArchetypes::new(CHUNK))),
    row("lookup_random", "read", (1, 6), || Box::new(RandomLookup::new(CHUNK, 100_000, 100_000))),
    row("changed_1_percent", "changed entity", (2, 22), || {
        Box::new(Changed::new(CHUNK, 1_000_000, 500_000..510_000))
    }),
    row("add_remove", "pair", (2, 6), || Box::new(AddRemove::new(CHUNK, 10_000))),
    row("spawn_batch", "spawn and clear", (2, 12), || Box::new(SpawnAndClear::new(CHUNK, 10_000))),
    published("vagabond_10000", || Box::new(Vagabond::new(10_000)), 20_814_368),
    published("vagabond_100000", || Box::new(Vagabond::new(100_000)), 207_415_181),
];

const fn row(
    name: &'static str,
    unit: &'static str,
    passes: (u64, u64),
    start: fn() -> Box<dyn Counted>,
) -> Row {
    Row { name, unit, passes, start, published: None }
}

const fn published(name: &'static str, start: fn() -> Box<dyn Counted>, misses: u64) -> Row {
    Row { name, unit: "entity", passes: (2, 1_000), start, published: Some(misses) }
}

/// Finds a row by name.
///
/// # Errors
///
/// A line that names all rows.
pub fn find(name: &str) -> Result<&'static Row, String> {
    let names = || ROWS.map(|row| row.name).join(", ");
    let found = ROWS.iter().find(|row| row.name == name);
    found.ok_or_else(|| format!("no row {name:?}: choose one of {}", names()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_proves_its_result() {
        for row in ROWS {
            let mut program = (row.start)();
            program.pass();
            assert_eq!(program.check(1), Ok(()), "{}", row.name);
            let least = program.least();
            assert!(least.units > 0 && least.lines >= 0.0, "{}: {least:?}", row.name);
        }
    }

    #[test]
    fn a_wrong_result_is_detected() {
        for name in ["pos_vel_10000", "simple_iter", "fragmented_iter", "vagabond_10000"] {
            let mut program = (find(name).expect("a row").start)();
            program.pass();
            assert!(program.check(2).is_err(), "{name}: one pass is not two");
        }
        for name in ["lookup_random", "changed_1_percent"] {
            let program = (find(name).expect("a row").start)();
            assert!(program.check(1).is_err(), "{name}: nothing was read");
        }
    }

    #[test]
    fn least_lines_are_those_of_the_columns() {
        let least = |name| (find(name).expect("a row").start)().least();
        let lines = |name| (least(name).units, least(name).lines);
        assert_eq!(lines("pos_vel_100000"), (100_000, 37_500.0));
        assert_eq!(lines("vagabond_10000"), (10_000, 2_500.0));
        assert_eq!(lines("fragmented_iter"), (520, 0.0));
    }

    #[test]
    fn long_archetypes_are_few_streams() {
        let streams = |name| (find(name).expect("a row").start)().least().streams;
        // About 1,500 chunks and 150, in extents of up to 64; two columns.
        assert_eq!(streams("pos_vel_1000000"), 66);
        assert_eq!(streams("pos_vel_100000"), 26);
        // 26 archetypes with one chunk and one column each.
        assert_eq!(streams("fragmented_iter"), 26);
        assert_eq!(streams("lookup_random"), 0);
    }

    #[test]
    fn the_error_for_an_unknown_row_lists_all() {
        let wrong = find("pos").expect_err("no row");
        assert!(wrong.starts_with("no row \"pos\": choose one of pos_vel_10000, "), "{wrong}");
    }
}

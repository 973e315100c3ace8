//! The programs that are counted: each makes a world, runs passes over it and proves its result.

use phalanx::prelude::*;

mod access;
mod archetypes;
mod iterate;
mod structure;
mod vagabond;

/// Bytes of a cache line.
pub const LINE: u64 = 64;

/// Bytes of the first-level cache that is simulated.
pub const D1: u64 = 32_768;

/// Bytes of an entity's place in the directory: generation, archetype and row, each a `u32`. The
/// library keeps it to itself; an assertion in its `entity::directory` says the same.
const PLACE: u64 = 12;

/// A program: the world it was given, and what a pass does with it.
pub trait Program {
    /// Runs the workload once.
    fn pass(&mut self);

    /// What is wrong with the result after so many passes, if anything is.
    ///
    /// # Errors
    ///
    /// A line that says what was wanted and what was found.
    fn check(&self, passes: u64) -> Result<(), String>;

    /// How much work a pass is.
    fn least(&self) -> Least;
}

/// The work of a pass, and the fewest lines it can miss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Least {
    /// Entities, reads or archetypes of a pass.
    pub units: u64,
    /// Lines that a pass must bring into a first-level cache which the passes before left behind.
    pub lines: f64,
}

impl Least {
    /// A loop that comes back to `lines` in the same order: all miss, or all stay if they fit.
    #[must_use]
    pub fn of_loop(units: usize, lines: u64) -> Self {
        let missed = if lines * LINE <= D1 { 0 } else { lines };
        Self { units: units as u64, lines: missed as f64 }
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name, on the command line and in the budgets.
    pub name: &'static str,
    /// What a unit is.
    pub unit: &'static str,
    /// The passes of the two runs whose difference is taken.
    pub passes: (u64, u64),
    /// Makes the program.
    pub start: fn() -> Box<dyn Program>,
    /// D1 misses of the whole second run that a published measurement had, to be printed beside.
    pub published: Option<u64>,
}

/// All rows, in the order of the table.
pub const ROWS: [Row; 12] = [
    row("pos_vel_10000", "entity", (2, 102), iterate::pos_vel::<10_000>),
    row("pos_vel_100000", "entity", (2, 22), iterate::pos_vel::<100_000>),
    row("pos_vel_1000000", "entity", (1, 5), iterate::pos_vel::<1_000_000>),
    row("simple_iter", "entity", (2, 102), iterate::simple_iter),
    row("fragmented_iter", "entity", (2, 1_002), iterate::fragmented_iter),
    row("archetypes_4096", "archetype", (2, 22), archetypes::archetypes_4096),
    row("lookup_random", "read", (1, 6), access::lookup_random),
    row("changed_1_percent", "changed entity", (2, 22), access::changed_1_percent),
    row("add_remove", "pair", (2, 6), structure::add_remove),
    row("spawn_batch", "spawn and clear", (2, 12), structure::spawn_batch),
    published("vagabond_10000", vagabond::vagabond::<10_000>, 20_814_368),
    published("vagabond_100000", vagabond::vagabond::<100_000>, 207_415_181),
];

const fn row(
    name: &'static str,
    unit: &'static str,
    passes: (u64, u64),
    start: fn() -> Box<dyn Program>,
) -> Row {
    Row { name, unit, passes, start, published: None }
}

const fn published(name: &'static str, start: fn() -> Box<dyn Program>, misses: u64) -> Row {
    Row { name, unit: "entity", passes: (2, 1_000), start, published: Some(misses) }
}

/// The row of this name.
///
/// # Errors
///
/// A line that names all rows.
pub fn find(name: &str) -> Result<&'static Row, String> {
    let names = || ROWS.map(|row| row.name).join(", ");
    let found = ROWS.iter().find(|row| row.name == name);
    found.ok_or_else(|| format!("no row {name:?}: take one of {}", names()))
}

/// Where an entity is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Position {
    x: f32,
    y: f32,
    z: f32,
}

/// How fast it moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Velocity {
    x: f32,
    y: f32,
    z: f32,
}

/// A third column of three floats, never read.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
struct Rotation {
    x: f32,
    y: f32,
    z: f32,
}

/// A matrix, never read.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Transform([f32; 16]);

/// One float to be doubled.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
struct Data(f32);

component!(Position, Velocity, Rotation, Transform, Data);

kernel! {
    /// Doubles every datum.
    fn double(data: &mut [Data]) {
        for d in data {
            d.0 *= 2.0;
        }
    }
}

/// Where entity `i` starts.
fn position(i: usize) -> Position {
    Position { x: (i % 64) as f32, y: 1.0, z: 2.0 }
}

/// How fast entity `i` moves.
fn velocity(i: usize) -> Velocity {
    Velocity { x: 1.0, y: 2.0, z: (i % 4) as f32 }
}

/// A row of 100 bytes.
fn row_of_100_bytes(i: usize) -> (Transform, Position, Rotation, Velocity) {
    (Transform([1.0; 16]), position(i), Rotation::default(), velocity(i))
}

/// The doubled data of `len` entities, infinite from 128 passes on.
fn check_doubled(world: &World, len: usize, passes: u64) -> Result<(), String> {
    let one = if passes < 128 { 2f64.powf(passes as f64) } else { f64::INFINITY };
    let sum: f64 = world.query::<&Data>().flatten().map(|data| f64::from(data.0)).sum();
    same("the sum of the data", sum, one * len as f64)
}

/// Says what differs, if anything does.
fn same<T: PartialEq + std::fmt::Display>(what: &str, got: T, want: T) -> Result<(), String> {
    if got == want { Ok(()) } else { Err(format!("{what} is {got}, and must be {want}")) }
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
    fn a_wrong_result_is_noticed() {
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
        assert_eq!(least("pos_vel_100000"), Least { units: 100_000, lines: 37_500.0 });
        assert_eq!(least("vagabond_10000"), Least { units: 10_000, lines: 2_500.0 });
        assert_eq!(least("fragmented_iter"), Least { units: 520, lines: 0.0 });
    }

    #[test]
    fn an_unknown_row_is_answered_with_all() {
        let wrong = find("pos").expect_err("no row");
        assert!(wrong.starts_with("no row \"pos\": take one of pos_vel_10000, "), "{wrong}");
    }
}

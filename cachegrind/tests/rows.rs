//! The rows of `cachegrind/run`: each proves its result, and its least follows from the layout.

use phalanx_cachegrind::{Row, Work, Workload};

#[path = "../../benches/programs/mod.rs"]
mod programs;
#[path = "../benches/budgets/rows/mod.rs"]
mod rows;

fn start(name: &str) -> Box<dyn Workload> {
    let rows = rows::rows();
    rows.iter().find(|row| row.name() == name).expect("a row").start()
}

#[test]
fn every_row_proves_its_result() {
    for row in rows::rows() {
        let mut program = row.start();
        program.pass();
        assert_eq!(program.check(1), Ok(()), "{}", row.name());
        let work = row.start().work();
        assert!(work.units > 0 && work.lines >= 0.0, "{}: {work:?}", row.name());
    }
}

#[test]
fn names_are_those_of_the_budgets() {
    let rows = rows::rows();
    let mut names: Vec<&str> = rows.iter().map(Row::name).collect();
    assert_eq!((names.len(), names[0]), (17, "pos_vel_10000"));
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 17, "each once");
}

#[test]
fn a_wrong_result_is_detected() {
    for name in
        ["pos_vel_10000", "simple_iter", "fragmented_iter", "objects_columns", "vagabond_10000"]
    {
        let mut program = start(name);
        program.pass();
        assert!(program.check(2).is_err(), "{name}: one pass is not two");
    }
    for name in ["lookup_random", "changed_1_percent"] {
        assert!(start(name).check(1).is_err(), "{name}: nothing was read");
    }
}

#[test]
fn least_lines_are_those_of_the_columns() {
    let lines = |name| {
        let Work { units, lines, .. } = start(name).work();
        (units, lines)
    };
    assert_eq!(lines("pos_vel_100000"), (100_000, 37_500.0));
    assert_eq!(lines("vagabond_10000"), (10_000, 2_500.0));
    assert_eq!(lines("fragmented_iter"), (520, 0.0));
}

#[test]
fn long_archetypes_are_few_streams() {
    let streams = |name| start(name).work().streams;
    // About 1,500 chunks and 150, in extents of up to 64; two columns.
    assert_eq!(streams("pos_vel_1000000"), 48);
    assert_eq!(streams("pos_vel_100000"), 8);
    assert_eq!(streams("pos_vel_10000"), 2);
    // 26 archetypes with one chunk and one column each.
    assert_eq!(streams("fragmented_iter"), 26);
    assert_eq!(streams("lookup_random"), 0);
}

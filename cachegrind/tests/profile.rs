//! The program `phalanx-cachegrind`, which profiles itself.

mod common;

use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_phalanx-cachegrind");

fn run(arguments: &[&str]) -> Output {
    Command::new(PROGRAM).args(arguments).output().expect("it starts")
}

#[test]
fn a_profile_has_the_functions_of_the_program() {
    if let Err(missing) = phalanx_cachegrind::cachegrind::check_version() {
        return common::skip("tests/profile.rs", missing);
    }
    let out = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("profile 100%.out");
    let kept = out.to_str().expect("a plain path");
    let output =
        run(&["profile", "--top", "400", "--out", kept, PROGRAM, "--", "profile", "--help"]);
    let table = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{table}");
    assert!(table.contains("Usage: phalanx-cachegrind profile"), "what it printed: {table}");
    assert!(table.contains("| the whole program "), "{table}");
    assert!(table.contains("clap_builder::"), "the functions of its parser: {table}");
    assert!(table.contains("|   inlined: library/"), "{table}");
    assert!(!table.contains("no line numbers"), "{table}");
    assert!(out.is_file(), "it was to be kept");
}

#[test]
fn each_mistake_is_one_line() {
    for (arguments, wanted) in [
        (&["profile"][..], "phalanx-cachegrind: the following required arguments"),
        (&["profile", "/no/such/program"], "phalanx-cachegrind: "),
        (&["profile", "--by", "l3", PROGRAM], "phalanx-cachegrind: invalid value 'l3'"),
        (&[], "phalanx-cachegrind: "),
    ] {
        let output = run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.starts_with(wanted), "{arguments:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{arguments:?}: {said}");
    }
}

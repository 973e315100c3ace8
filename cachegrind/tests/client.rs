//! A user's crate (`tests/client`), copied out of the repository and counted by `cargo bench`.
//!
//! Compiles phalanx with optimisation, which takes a minute or two the first time.

mod common;

use common::skip;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The copy, with absolute paths of phalanx and the versions of this repository's lock file.
fn copy() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.parent().expect("this package is in a folder of the repository");
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("client");
    for folder in ["src", "benches/rows"] {
        fs::create_dir_all(copy.join(folder)).expect("the target folder is writable");
    }
    let benches =
        ["misses", "callgrind", "wrong", "rows/mod"].map(|name| format!("benches/{name}.rs"));
    for file in benches.iter().map(String::as_str).chain(["src/lib.rs"]) {
        fs::copy(here.join("tests/client").join(file), copy.join(file)).expect("it is there");
    }
    let manifest = fs::read_to_string(here.join("tests/client/Cargo.toml")).expect("it is there");
    let path = |path: &Path| format!("path = {:?}", path.display().to_string());
    let manifest = manifest.replace("path = \"../../..\"", &path(root));
    let manifest = manifest.replace("path = \"../..\"", &path(here));
    fs::write(copy.join("Cargo.toml"), manifest).expect("the folder is writable");
    fs::copy(root.join("Cargo.lock"), copy.join("Cargo.lock")).expect("a lock file");
    copy
}

fn cargo_bench(bench: &str, arguments: &[&str]) -> Output {
    bench_command(bench, arguments).output().expect("cargo starts")
}

fn bench_command(bench: &str, arguments: &[&str]) -> Command {
    let mut command = cargo();
    command.args(["bench", "--quiet", "--bench", bench, "--"]).args(arguments);
    command
}

/// Cargo in the copy.
fn cargo() -> Command {
    let copy = copy();
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(&copy).env("CARGO_TARGET_DIR", copy.join("target"));
    command.env_remove("RUST_BACKTRACE");
    // The tests read numbers from its output.
    command.env("CARGO_TERM_COLOR", "never").env_remove("IAI_CALLGRIND_COLOR");
    command
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// The cells of a row of the table.
fn cells<'t>(table: &'t str, row: &str) -> Vec<&'t str> {
    let line = table.lines().find(|line| line.starts_with(&format!("| {row} ")));
    let line = line.unwrap_or_else(|| panic!("no row {row}: {table}"));
    line.split('|').map(str::trim).collect()
}

fn number(cells: &[&str], column: usize) -> f64 {
    cells[column].parse().unwrap_or_else(|_| panic!("no number in column {column}: {cells:?}"))
}

const INSTRUCTIONS: usize = 3;
const RATIO: usize = 7;

// One test, since cargo would make others wait for it.
#[test]
fn a_users_crate_is_counted() {
    if let Err(missing) = phalanx_cachegrind::cachegrind::check_version() {
        return skip("tests/client.rs", missing);
    }
    rows_within_their_limits_pass();
    iai_callgrind_counts_the_same_rows();
    each_wrong_row_is_named_and_the_others_are_counted();
    the_command_line_says_what_to_do();
    an_old_valgrind_is_refused();
    the_tests_of_the_crate_pass();
}

#[test]
fn the_readme_shows_what_is_tested() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| fs::read_to_string(here.join(file)).expect("it is there");
    let readme = read("README.md");
    let client = read("tests/client/src/lib.rs");
    let callgrind = read("tests/client/benches/callgrind.rs");
    let known: Vec<&str> = client.lines().chain(callgrind.lines()).map(str::trim).collect();
    let blocks: Vec<&str> = readme
        .split("```rust,ignore\n")
        .skip(1)
        .filter_map(|text| text.split("```").next())
        .collect();
    assert_eq!(blocks.len(), 3, "the bodies, the test, and the rows of iai-callgrind");
    for line in blocks.iter().flat_map(|block| block.lines()) {
        assert!(known.contains(&line.trim()), "tests/client has no line {line:?}");
    }
}

fn rows_within_their_limits_pass() {
    let output = cargo_bench("misses", &[]);
    let (table, said) = texts(&output);
    assert_eq!(output.status.code(), Some(0), "{table}{said}");
    let ratio = number(&cells(&table, "step"), RATIO);
    assert!((1.0..1.02).contains(&ratio), "{table}");
    let pairs = ["n_body_scalar", "n_body_vectors"];
    let [scalar, vectors] = pairs.map(|row| number(&cells(&table, row), INSTRUCTIONS));
    // Eight lanes, less the code outside the loop.
    assert!(scalar > 5.0 * vectors, "{table}");
}

/// The counts of a pass equal the table, but for the first and last instructions.
fn iai_callgrind_counts_the_same_rows() {
    if Command::new("iai-callgrind-runner").stdin(Stdio::null()).output().is_err() {
        return skip("tests/client.rs", "iai-callgrind has no runner here");
    }
    let (table, _) = texts(&cargo_bench("misses", &[]));
    let (counts, said) = texts(&cargo_bench("callgrind", &[]));
    for (row, units) in [("step", 100_000.0), ("n_body_vectors", 512.0 * 512.0)] {
        let counted = counts.split_once(&format!("warm(\"{row}\")"));
        let (_, counted) = counted.unwrap_or_else(|| panic!("no {row}: {counts}{said}"));
        let counted = counted.split(':').nth(1).and_then(|count| count.split('|').next());
        let counted: f64 = counted.and_then(|count| count.trim().parse().ok()).expect(row);
        let wanted = number(&cells(&table, row), INSTRUCTIONS) * units;
        assert!((counted / wanted - 1.0).abs() < 0.01, "{row}: {counted}, not {wanted}");
    }
}

fn each_wrong_row_is_named_and_the_others_are_counted() {
    let output = cargo_bench("wrong", &[]);
    let (table, said) = texts(&output);
    assert_eq!(output.status.code(), Some(1), "{table}{said}");
    for part in [
        "wrong: too_many: 0.37",
        "D1 misses per row, limit 0.1875",
        "benches/wrong.rs:23 in wrong::pass  position.0[0] += black_box(velocity.0[0]);",
        "wrong: too_many: 1",
        "instructions per row, limit 1.0000",
        "wrong: wrong_result: the result is wrong after 2 passes: the sum is 0 after 2 passes\n",
        "wrong: panics: it panicked: no such body (benches/wrong.rs:",
        "wrong: nothing: a pass does nothing, in ",
        "wrong: untouched: a pass makes ",
        "wrong: no_units: a pass has 0 units: ",
        "wrong: cached: the least is 0, ",
        "wrong: grows: counts do not repeat: ",
    ] {
        assert!(said.contains(part), "{part:?} is missing:\n{said}");
    }
    assert!(number(&cells(&table, "within"), RATIO) < 1.1, "counted nevertheless: {table}");
    for failed in ["wrong_result", "panics", "nothing", "grows"] {
        assert!(!table.contains(failed), "{failed} has no counts: {table}");
    }
}

fn the_command_line_says_what_to_do() {
    let code = |arguments: &[&str]| {
        let output = cargo_bench("wrong", arguments);
        let (out, said) = texts(&output);
        (output.status.code(), out, said)
    };
    let (list_code, list, _) = code(&["--list"]);
    assert_eq!((list_code, list.lines().next()), (Some(0), Some("too_many")), "{list}");
    let (unknown_code, _, said) = code(&["within", "wihtin"]);
    assert_eq!(unknown_code, Some(2), "{said}");
    assert!(said.starts_with("wrong: no row \"wihtin\": choose of too_many, "), "{said}");
    let (nothing_code, table, said) = code(&["within", "nothing"]);
    assert_eq!(nothing_code, Some(2), "{said}");
    assert!(table.contains("| within "), "counted nevertheless: {table}");
    let (bad_code, _, said) = code(&["--rows"]);
    assert_eq!(bad_code, Some(2), "{said}");
    assert!(said.starts_with("wrong: unexpected argument '--rows' found: see --help"), "{said}");
}

/// A script of that name is found first.
fn an_old_valgrind_is_refused() {
    let folder = copy().join("old");
    fs::create_dir_all(&folder).expect("the folder is writable");
    let script = folder.join("valgrind");
    fs::write(&script, "#!/bin/sh\necho valgrind-3.15.0\n").expect("the folder is writable");
    let made = Command::new("chmod").arg("+x").arg(&script).status().expect("chmod starts");
    assert!(made.success(), "the script is executable");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = bench_command("misses", &[]);
    let output = command.env("PATH", format!("{}:{path}", folder.display())).output();
    let output = output.expect("cargo starts");
    let (_, said) = texts(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.starts_with("misses: valgrind-3.15.0 is too old: install valgrind 3.18 "),
        "{said}"
    );
}

fn the_tests_of_the_crate_pass() {
    let output = cargo().args(["test", "--quiet", "--profile", "bench", "--lib"]).output();
    let (out, said) = texts(&output.expect("cargo starts"));
    assert!(out.contains("test result: ok. 1 passed"), "{out}{said}");
}

//! The Life example as a program: what it prints, and how it refuses.

use crate::patterns;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output};

/// Runs the example, which `cargo test` builds beside this test; `None` if this test was built alone.
fn program(arguments: &[&str]) -> Option<Output> {
    let test = std::env::current_exe().expect("a test has a path");
    let name = format!("life{}", std::env::consts::EXE_SUFFIX);
    let program =
        test.ancestors().nth(2).expect("target/profile/deps/test").join("examples").join(name);
    if !program.exists() {
        // Not by `eprintln!`, which the test harness swallows when the test passes.
        let skipped =
            format!("SKIPPED: no {}; run `cargo build --example life`", program.display());
        writeln!(std::io::stderr(), "{skipped}").expect("stderr is open");
        return None;
    }
    let output = Command::new(program).current_dir(patterns()).args(arguments).output();
    Some(output.expect("the program starts"))
}

fn lines(bytes: &[u8]) -> Vec<&str> {
    std::str::from_utf8(bytes).expect("text").lines().collect()
}

/// A path for a file of this test run.
fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("phalanx-life-{}-{name}", std::process::id()))
}

#[test]
fn the_program_ends_with_the_population() {
    let png = scratch("glider.png");
    let png_argument = png.to_str().expect("a plain path");
    for form in ["rows", "lookup"] {
        for threads in ["1", "2"] {
            let arguments = ["glider.rle", "--generations", "12", "--neighbours", form];
            let more = ["--size", "20x10", "--threads", threads, "--png", png_argument];
            let Some(output) = program(&[&arguments[..], &more].concat()) else {
                return;
            };
            assert!(output.status.success(), "{output:?}");
            assert_eq!(
                lines(&output.stdout).last(),
                Some(&"generation 12: 5 alive"),
                "the last line"
            );
            assert!(output.stderr.is_empty(), "no progress where nobody looks: {output:?}");
        }
    }
    assert!(std::fs::read(&png).expect("a picture").starts_with(b"\x89PNG"), "it is a PNG");
    std::fs::remove_file(png).expect("it was there");
    let Some(output) = program(&["rpentomino.rle", "--generations", "0"]) else {
        return;
    };
    assert_eq!(
        lines(&output.stdout).last(),
        Some(&"generation 0: 5 alive"),
        "nothing has happened"
    );
}

#[test]
fn the_table_has_a_line_for_each_size_and_form_and_two_slopes() {
    let Some(output) = program(&["--table", "--generations", "3"]) else {
        return;
    };
    assert!(output.status.success(), "{output:?}");
    let lines = lines(&output.stdout);
    for size in ["10x10", "50x20", "100x100", "500x100"] {
        let rows: Vec<_> = lines.iter().filter(|line| line.trim().starts_with(size)).collect();
        assert_eq!(rows.len(), 2, "{size}: {lines:?}");
        for row in rows {
            let figures: Vec<f64> = row.split_whitespace().flat_map(str::parse).collect();
            let [mean, median, _, least, most] = figures[..] else { panic!("{row}") };
            assert!(least <= mean && mean <= most && least <= median && median <= most, "{row}");
        }
    }
    assert_eq!(lines.iter().filter(|line| line.contains("ns a cell by")).count(), 2, "{lines:?}");
}

#[test]
fn the_program_refuses_in_one_line_and_exits_with_2() {
    let malformed = scratch("malformed.rle");
    std::fs::write(&malformed, "#C\nx = 3, y = 3\nbo$2q!").expect("a writable directory");
    let malformed_argument = malformed.to_str().expect("a plain path");
    let refusals: &[(&[&str], &str)] = &[
        (&[malformed_argument], "malformed.rle:3:5: unknown tag `q`"),
        (&["nowhere.rle"], "nowhere.rle: "),
        (&["."], ".: "),
        (&["glider.rle", "--png", "nowhere/glider.png"], "nowhere/glider.png: "),
        (
            &["pulsar.rle", "--size", "12x99"],
            "the pattern (13x13) is larger than the torus (12x99)",
        ),
        (&["glider.rle", "--size", "0x5"], "at least one row and one column"),
        (&["glider.rle", "--size", "99999x99999"], "too large"),
        (&["--table", "--generations", "1"], "at least two generations"),
    ];
    for (arguments, message) in refusals {
        let Some(output) = program(arguments) else {
            break;
        };
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let stderr = lines(&output.stderr);
        assert!(stderr.len() == 1 && stderr[0].contains(message), "{arguments:?}: {stderr:?}");
    }
    for arguments in [
        &["glider.rle", "--size", "5"][..],
        &["glider.rle", "--threads", "0"],
        &["glider.rle", "--table"],
        &[],
    ] {
        let Some(output) = program(arguments) else {
            break;
        };
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
    std::fs::remove_file(malformed).expect("it was there");
}

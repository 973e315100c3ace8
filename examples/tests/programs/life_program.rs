//! The Life example as a program: its output, and its refusals.

use crate::example::{Example, example};
use crate::life_rules::patterns;
use std::path::PathBuf;
use std::process::Output;

static LIFE: Example = example!("life");

fn program(arguments: &[&str]) -> Output {
    let output = LIFE.command().current_dir(patterns()).args(arguments).output();
    output.expect("the program starts")
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
            let output = program(&[&arguments[..], &more].concat());
            assert!(output.status.success(), "{output:?}");
            assert_eq!(
                lines(&output.stdout).last(),
                Some(&"generation 12: 5 alive"),
                "the last line"
            );
            assert!(output.stderr.is_empty(), "no progress without a terminal: {output:?}");
        }
    }
    assert!(std::fs::read(&png).expect("a picture").starts_with(b"\x89PNG"), "it is a PNG");
    std::fs::remove_file(png).expect("it was there");
    let output = program(&["rpentomino.rle", "--generations", "0"]);
    assert_eq!(
        lines(&output.stdout).last(),
        Some(&"generation 0: 5 alive"),
        "nothing has happened"
    );
}

#[test]
fn a_rule_with_a_torus_says_how_large_it_is() {
    let path = scratch("torus.rle");
    let argument = path.to_str().expect("a plain path");
    let text = |torus: &str| format!("x = 3, y = 3, rule = HighLife:{torus}\nbo$2bo$3o!");
    std::fs::write(&path, text("T11,9")).expect("a writable directory");
    for (arguments, size) in [(&[argument][..], "11x9"), (&[argument, "--size", "20x30"], "20x30")]
    {
        let output = program(arguments);
        let first = format!("B36/S23 on a torus of {size}");
        assert!(lines(&output.stdout)[0].ends_with(&first), "{output:?}");
    }
    for (torus, message) in [
        ("T2", "the pattern (3x3) is larger than the torus (2x2)"),
        ("T99999", "a torus of 99999x99999 is too large"),
    ] {
        std::fs::write(&path, text(torus)).expect("a writable directory");
        let output = program(&[argument]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(lines(&output.stderr)[0].contains(message), "{output:?}");
    }
    std::fs::remove_file(path).expect("it was there");
}

#[test]
fn the_table_has_a_line_for_each_size_and_form_and_two_slopes() {
    let output = program(&["--table", "--generations", "3"]);
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
        (&["nowhere.rle"], "cannot read nowhere.rle: "),
        (&["nowhere.rle"], "; choose a pattern, such as examples/patterns/glider.rle"),
        (&["."], "cannot read .: "),
        (&["glider.rle", "--png", "nowhere/glider.png"], "cannot write nowhere/glider.png: "),
        (&["glider.rle", "--png", "nowhere/glider.png"], "; choose a file that can be written"),
        (
            &["pulsar.rle", "--size", "12x99"],
            "the pattern (13x13) is larger than the torus (12x99)",
        ),
        (&["glider.rle", "--size", "0x5"], "at least one row and one column"),
        (&["glider.rle", "--size", "99999x99999"], "too large"),
        (&["--table", "--generations", "1"], "at least two generations"),
        // The times of this many generations would not fit any memory.
        (&["--table", "--generations", "18446744073709551615"], "at most 1000000"),
        (&["glider.rle", "--size", "5"], "such as 640x480"),
        (&["glider.rle", "--size=-1x5"], "such as 640x480"),
        (&["glider.rle", "--size", "4294967296x1"], "such as 640x480"),
        (&["glider.rle", "--threads", "0"], "1..=1024"),
        (&["glider.rle", "--generations", "-1"], "--generations"),
        (&["glider.rle", "--generations", "18446744073709551616"], "--generations"),
        (&["glider.rle", "--neighbours", "far"], "rows, lookup"),
        (&["glider.rle", "--table"], "--table"),
        (&[], "<PATTERN>"),
    ];
    for (arguments, message) in refusals {
        let output = program(arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let stderr = lines(&output.stderr);
        assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
        let one = stderr.len() == 1 && stderr[0].starts_with("life: ");
        assert!(one && stderr[0].contains(message), "{arguments:?}: {stderr:?}");
    }
    std::fs::remove_file(malformed).expect("it was there");
}

//! The flock example as a program: its hash, its report, its picture, and how it refuses.

// A child process is not for an interpreter.
#![cfg(not(miri))]
#![forbid(unsafe_code)]

use phalanx::Level;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

/// The example, which `cargo test` builds beside this test; `None` if this test was built alone.
fn command(arguments: &[&str]) -> Option<Command> {
    let test = std::env::current_exe().expect("a test has a path");
    let name = format!("flock{}", std::env::consts::EXE_SUFFIX);
    let program =
        test.ancestors().nth(2).expect("target/profile/deps/test").join("examples").join(name);
    if !program.exists() {
        // Not by `eprintln!`, which the test harness swallows when the test passes.
        let skipped =
            format!("SKIPPED: no {}; run `cargo build --example flock`", program.display());
        writeln!(std::io::stderr(), "{skipped}").expect("stderr is open");
        return None;
    }
    let mut command = Command::new(program);
    command.args(arguments);
    Some(command)
}

/// What a successful run prints.
fn printed(mut command: Command) -> String {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{command:?}: {output:?}");
    assert!(output.stderr.is_empty(), "no progress where nobody looks: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The hash that the last line of `text` says.
fn hash(text: &str) -> u64 {
    let last = text.lines().last().expect("a line");
    let digits = last.strip_prefix("hash ").unwrap_or_else(|| panic!("no hash: {last}"));
    assert_eq!(digits.len(), 16, "leading zeros too: {last}");
    u64::from_str_radix(digits, 16).expect("hexadecimal")
}

/// The hash of a run with these arguments, and others.
fn hash_of(arguments: &[&str], more: &[&str]) -> Option<u64> {
    command(&[arguments, more].concat()).map(|command| hash(&printed(command)))
}

/// A path for a file of this test run.
fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("phalanx-flock-{}-{name}", std::process::id()))
}

/// Enough for several chunks, for two predators, for deaths and births, and for threads to share.
const SMALL: [&str; 4] = ["--boids", "10000", "--frames", "40"];

#[test]
fn the_hash_does_not_depend_on_threads() {
    for size in [["--boids", "1"], ["--boids", "700"], ["--boids", "10000"]] {
        let hashes: Option<BTreeSet<_>> = ["1", "2", "4"]
            .iter()
            .map(|threads| hash_of(&size, &["--frames", "60", "--threads", threads]))
            .collect();
        let Some(hashes) = hashes else {
            return;
        };
        assert_eq!(hashes.len(), 1, "{size:?}: {hashes:x?}");
    }
}

#[test]
fn the_hash_does_not_depend_on_the_level() {
    let mut hashes = BTreeSet::new();
    for level in Level::available() {
        let Some(mut command) = command(&SMALL) else {
            return;
        };
        command.env("PHALANX_LEVEL", level.to_string());
        hashes.insert(hash(&printed(command)));
    }
    assert_eq!(hashes.len(), 1, "{hashes:x?}");
}

#[test]
fn the_hash_depends_on_seed_frames_and_boids() {
    let others: Option<Vec<_>> = [["--seed", "1"], ["--seed", "2"]]
        .iter()
        .map(|more| hash_of(&SMALL, more))
        .chain([
            hash_of(&["--boids", "10000", "--frames", "41"], &[]),
            hash_of(&["--boids", "10001", "--frames", "40"], &[]),
        ])
        .collect();
    let Some(others) = others else {
        return;
    };
    assert_eq!(Some(others[0]), hash_of(&SMALL, &[]), "1 is the seed if none is given");
    assert_eq!(others.iter().collect::<BTreeSet<_>>().len(), 4, "{others:x?}");
}

#[test]
fn the_report_names_every_system_and_counts_births() {
    let Some(command) = command(&[&SMALL[..], &["--threads", "2"]].concat()) else {
        return;
    };
    let text = printed(command);
    assert!(text.starts_with("10000 boids, 2 predators, threads: 2\n"), "{text}");
    for system in ["fill_grid", "grow_old", "steer", "hunt", "fly", "hatch", "whole run"] {
        let line = text.lines().find_map(|line| line.strip_prefix(system));
        let line = line.unwrap_or_else(|| panic!("no `{system}` in\n{text}"));
        let time: f64 = line.split_whitespace().next().expect("figures").parse().expect("a time");
        assert!(time > 0.0 && !line.contains("did not run"), "{system}{line}");
    }
    assert!(text.contains("2 sync points"), "one before `hatch`, one at the end: {text}");
    // They live for 30 seconds in the mean, and 4/3 of a second passes.
    let hatched = text.lines().find_map(|line| line.strip_suffix(" boids hatched, as many died"));
    let hatched: usize = hatched.expect("a count").parse().expect("a number");
    assert!((200..900).contains(&hatched), "{hatched} hatched: {text}");
}

#[test]
fn the_picture_is_a_png_in_which_boids_flock() {
    let path = scratch("flock.png");
    let lit = |frames: &str| {
        let png = ["--boids", "20000", "--png", path.to_str().expect("a plain path")];
        printed(command(&[&png[..], &["--frames", frames]].concat())?);
        let bytes = fs::read(&path).expect("a picture");
        fs::remove_file(&path).expect("it was there");
        Some(lit_pixels(&bytes))
    };
    let (Some(first), Some(last)) = (lit("1"), lit("300")) else {
        return;
    };
    assert!(first > 50_000, "boids all over the sky: {first} pixels");
    assert!(last < first / 10 * 9, "flocks leave the sky empty: {first}, then {last} pixels");
}

/// How many pixels of a picture a boid lights.
fn lit_pixels(bytes: &[u8]) -> usize {
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"), "the magic of a PNG");
    let decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    let mut reader = decoder.read_info().expect("a header");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a small picture")];
    let frame = reader.next_frame(&mut pixels).expect("pixels");
    assert_eq!((frame.width, frame.height), (1200, 900), "its size");
    pixels.chunks(3).filter(|pixel| pixel.iter().any(|&light| light > 30)).count()
}

#[test]
fn the_program_refuses_in_one_line_and_exits_with_2() {
    let nowhere = scratch("nowhere").join("flock.png");
    let refusals = [
        (vec!["--frames", "0"], "expected a number from 1 to"),
        (vec!["--boids", "0"], "expected a number from 1 to"),
        (vec!["--boids", "-5"], "expected a number from 1 to"),
        (vec!["--boids", "many"], "expected a number from 1 to"),
        (vec!["--threads", "0"], "expected a number from 1 to"),
        (vec!["--seed", "green"], "--seed"),
        (vec!["--png", nowhere.to_str().expect("a plain path")], "choose a file"),
        (vec!["--quickly"], "--quickly"),
    ];
    for (arguments, message) in refusals {
        let Some(mut command) = command(&arguments) else {
            return;
        };
        let output = command.output().expect("the program starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
        let stderr = String::from_utf8(output.stderr).expect("text");
        let one = stderr.lines().count() == 1 && stderr.starts_with("flock: ");
        assert!(one && stderr.contains(message), "{arguments:?}: {stderr}");
    }
}

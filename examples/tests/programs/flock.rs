//! The flock example as a program: its hash, its report, its picture, and its refusals.

use crate::example::{Example, example};
use phalanx::Level;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

static FLOCK: Example = example!("flock");

fn command(arguments: &[&str]) -> Command {
    let mut command = FLOCK.command();
    command.args(arguments);
    command
}

/// The output of a successful run.
fn printed(mut command: Command) -> String {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{command:?}: {output:?}");
    assert!(output.stderr.is_empty(), "no progress without a terminal: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The hash in the last line of `text`.
fn hash(text: &str) -> u64 {
    let last = text.lines().last().expect("a line");
    let digits = last.strip_prefix("hash ").unwrap_or_else(|| panic!("no hash: {last}"));
    assert_eq!(digits.len(), 16, "leading zeros too: {last}");
    u64::from_str_radix(digits, 16).expect("hexadecimal")
}

/// The hash of a run with these arguments, and others.
fn hash_of(arguments: &[&str], more: &[&str]) -> u64 {
    hash(&printed(command(&[arguments, more].concat())))
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
        let hashes: BTreeSet<_> = ["1", "2", "4"]
            .iter()
            .map(|threads| hash_of(&size, &["--frames", "60", "--threads", threads]))
            .collect();
        assert_eq!(hashes.len(), 1, "{size:?}: {hashes:x?}");
    }
}

#[test]
fn the_hash_does_not_depend_on_the_level() {
    let mut hashes = BTreeSet::new();
    for level in Level::available() {
        let mut command = command(&SMALL);
        command.env("PHALANX_LEVEL", level.to_string());
        hashes.insert(hash(&printed(command)));
    }
    assert_eq!(hashes.len(), 1, "{hashes:x?}");
}

#[test]
fn the_hash_depends_on_seed_frames_and_boids() {
    let others: Vec<_> = [["--seed", "1"], ["--seed", "2"]]
        .iter()
        .map(|more| hash_of(&SMALL, more))
        .chain([
            hash_of(&["--boids", "10000", "--frames", "41"], &[]),
            hash_of(&["--boids", "10001", "--frames", "40"], &[]),
        ])
        .collect();
    assert_eq!(others[0], hash_of(&SMALL, &[]), "1 is the seed if none is given");
    assert_eq!(others.iter().collect::<BTreeSet<_>>().len(), 4, "{others:x?}");
}

#[test]
fn the_report_names_every_system_and_counts_births() {
    let command = command(&[&SMALL[..], &["--threads", "2"]].concat());
    let text = printed(command);
    assert!(text.starts_with("10000 boids, 2 predators, threads: 2\n"), "{text}");
    for system in ["fill_grid", "grow_old", "steer", "hunt", "fly", "hatch", "whole run"] {
        let line = text.lines().find_map(|line| line.strip_prefix(system));
        let line = line.unwrap_or_else(|| panic!("no `{system}` in\n{text}"));
        let time: f64 = line.split_whitespace().next().expect("figures").parse().expect("a time");
        assert!(time > 0.0 && !line.contains("did not run"), "{system}{line}");
    }
    assert!(text.contains("2 sync points"), "one before `hatch`, one at the end: {text}");
    // They live for 30 seconds in the mean, and the run has 4/3 of a second.
    let hatched = text.lines().find_map(|line| line.strip_suffix(" boids hatched, as many died"));
    let hatched: usize = hatched.expect("a count").parse().expect("a number");
    assert!((200..900).contains(&hatched), "{hatched} hatched: {text}");
}

#[test]
fn the_picture_is_a_png_in_which_boids_flock() {
    let path = scratch("flock.png");
    let lit = |frames: &str| {
        let png = ["--boids", "20000", "--png", path.to_str().expect("a plain path")];
        printed(command(&[&png[..], &["--frames", frames]].concat()));
        let bytes = fs::read(&path).expect("a picture");
        fs::remove_file(&path).expect("it was there");
        lit_pixels(&bytes)
    };
    let (first, last) = (lit("1"), lit("300"));
    assert!(first > 50_000, "boids all over the sky: {first} pixels");
    assert!(last < first / 10 * 9, "flocks leave the sky empty: {first}, then {last} pixels");
}

/// The number of pixels of a picture that a boid lights.
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
        (vec!["--frames", "0"], "is not in 1..="),
        (vec!["--boids", "0"], "is not in 1..="),
        (vec!["--boids", "-5"], "is not in 1..="),
        (vec!["--boids", "many"], "invalid digit"),
        (vec!["--threads", "0"], "is not in 1..="),
        (vec!["--seed", "green"], "--seed"),
        (vec!["--png", nowhere.to_str().expect("a plain path")], "choose a file"),
        (vec!["--boids", "4294967296"], "is not in 1..="),
    ];
    for (arguments, message) in refusals {
        let mut command = command(&arguments);
        let output = command.output().expect("the program starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
        let stderr = String::from_utf8(output.stderr).expect("text");
        let one = stderr.lines().count() == 1 && stderr.starts_with("flock: ");
        assert!(one && stderr.contains(message), "{arguments:?}: {stderr}");
    }
}

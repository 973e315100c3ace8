//! The swarm example as a program: its tables, its checksum, its picture, and its refusals.

use crate::example::{Example, example};
use phalanx::Level;
use std::fs;
use std::path::PathBuf;
use std::process::Output;

static SWARM: Example = example!("swarm");

fn program(arguments: &[&str]) -> Output {
    SWARM.command().args(arguments).output().expect("the program starts")
}

/// The output of a successful run.
fn printed(arguments: &[&str]) -> String {
    let output = program(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    assert!(output.stderr.is_empty(), "no progress without a terminal: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The line of `text` that begins with the words `start`, and the words after them.
fn line<'t>(text: &'t str, start: &str) -> Vec<&'t str> {
    let rest = text.lines().find_map(|line| line.trim_start().strip_prefix(start));
    rest.unwrap_or_else(|| panic!("no line `{start}` in\n{text}")).split_whitespace().collect()
}

/// A path for a file of this test run.
fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("phalanx-swarm-{}-{name}", std::process::id()))
}

/// Enough for several chunks of each kind, for deaths, and for two threads to have work.
const SMALL: [&str; 4] = ["--entities", "60000", "--frames", "30"];

#[test]
fn there_is_a_row_for_each_pass_and_each_archetype() {
    let text = printed(&SMALL);
    let level = Level::current().to_string();
    for kernel in ["accelerate", "swirl", "advance", "bounce", "age", "warm", "find the dead"] {
        let figures = line(&text, kernel);
        assert_eq!(figures.last(), Some(&level.as_str()), "{kernel}: {figures:?}");
        assert_eq!(figures.len(), 8, "seven figures, one of them in per cent: {figures:?}");
    }
    assert_eq!(line(&text, "alarm (changed chunks)").last(), Some(&level.as_str()));
    for pass in ["despawn", "spawn"] {
        let figures = line(&text, pass);
        assert_eq!(figures.last(), Some(&"–"), "{pass} is no kernel: {figures:?}");
        assert_ne!(figures[0], "0", "there are deaths, and as many births: {text}");
    }
    // The bytes of the components: 12 for place and for speed, and 4 for all others.
    assert_eq!(line(&text, "advance")[3], "36", "reads both columns, writes one");
    assert_eq!(line(&text, "swirl")[3], "28", "reads both columns, writes the larger");
    for archetype in [
        "Heat, Position ",
        "Life, Position, Velocity ",
        "Charge, Life, Position, Velocity ",
        "Life, Position, Velocity, Weightless ",
    ] {
        assert_eq!(line(&text, archetype)[4], "%", "the occupancy of {archetype}");
    }
}

#[test]
fn the_filtered_pass_looks_into_few_chunks() {
    let text = printed(&["--entities", "200000", "--frames", "40"]);
    let words = line(&text, "alarm looked into");
    let figure = |at: usize| words[at].parse::<u32>().expect("a number");
    let (visited, all, skipped) = (figure(0), figure(2), figure(8));
    assert_eq!(visited + skipped, all, "{words:?}");
    assert!((1..all / 2).contains(&visited), "the comet is somewhere, not everywhere: {words:?}");
}

#[test]
fn positions_do_not_depend_on_threads_or_level() {
    let text = printed(&SMALL);
    let end = |text: &str| text.lines().rev().take(2).map(str::to_owned).collect::<Vec<_>>();
    let expected = end(&text);
    assert!(expected[0].starts_with("checksum ") && expected[1].starts_with("alarms "), "{text}");
    for level in Level::available() {
        for threads in ["1", "2"] {
            let more = ["--level", &level.to_string(), "--threads", threads];
            let text = printed(&[&SMALL[..], &more].concat());
            assert_eq!(end(&text), expected, "at {level} on {threads} threads");
        }
    }
    let other = printed(&[&SMALL[..], &["--seed", "2"]].concat());
    assert_ne!(end(&other)[0], expected[0], "another seed is another swarm");
}

#[test]
fn few_entities_are_enough() {
    for entities in ["1", "2", "7", "40"] {
        let text = printed(&["--entities", entities, "--frames", "1"]);
        let entity = format!("{entities} entities, 1 frames");
        assert!(text.starts_with(&entity), "{text}");
    }
}

#[test]
fn the_picture_is_a_png() {
    let path = scratch("picture.png");
    let argument = path.to_str().expect("a plain path");
    printed(&[&SMALL[..], &["--png", argument]].concat());
    let bytes = fs::read(&path).expect("a picture");
    fs::remove_file(&path).expect("it was there");
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"), "the magic of a PNG");
    let decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    let mut reader = decoder.read_info().expect("a header");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a small picture")];
    let frame = reader.next_frame(&mut pixels).expect("pixels");
    assert_eq!((frame.width, frame.height), (1200, 900), "its size");
    let lit = pixels.iter().filter(|&&light| light > 30).count();
    assert!((10_000..pixels.len() / 2).contains(&lit), "particles on a dark ground: {lit}");
}

#[test]
fn the_program_refuses_in_one_line_and_exits_with_2() {
    let nowhere = scratch("nowhere").join("swarm.png");
    let mut refusals = vec![
        (vec!["--frames", "0"], "is not in 1..="),
        (vec!["--entities", "0"], "is not in 1..="),
        (vec!["--entities", "-5"], "is not in 1..="),
        (vec!["--threads", "0"], "is not in 1..="),
        (vec!["--seed", "green"], "--seed"),
        (vec!["--level", "mmx"], "avx2"),
        (vec!["--entities", "100000001"], "is not in 1..="),
        (vec!["--frames", "99999999999999999999"], "too large"),
        (vec!["--png", nowhere.to_str().expect("a plain path")], "choose a file"),
    ];
    if !Level::Avx512.is_supported() {
        refusals.push((vec!["--level", "avx512"], "does not support avx512"));
    }
    for (arguments, message) in refusals {
        let output = program(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
        let stderr = String::from_utf8(output.stderr).expect("text");
        let one = stderr.lines().count() == 1 && stderr.starts_with("swarm: ");
        assert!(one && stderr.contains(message), "{arguments:?}: {stderr}");
    }
}

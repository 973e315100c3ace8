//! All examples as programs: a mistake in the command line or the environment is reported in one
//! line, before any work. The tests of a single example are in the file named after it.

use crate::example::{Example, example};
use crate::first_steps;
use phalanx::Level;
use std::process::Command;

static EXAMPLES: [(&str, Example, &[&str]); 15] = [
    ("crowd", example!("crowd"), &["--agents", "10", "--frames", "1"]),
    ("explain", example!("explain"), &[]),
    ("flock", example!("flock"), &["--boids", "10", "--frames", "1"]),
    ("fluid", example!("fluid"), &["--particles", "10", "--frames", "1"]),
    ("life", example!("life"), &[concat!(env!("CARGO_MANIFEST_DIR"), "/patterns/glider.rle")]),
    ("scene", example!("scene"), &[concat!(env!("CARGO_MANIFEST_DIR"), "/scene/village.json")]),
    ("replicate", example!("replicate"), &["--entities", "10", "--frames", "1"]),
    ("rollback", example!("rollback"), &["--entities", "10", "--frames", "1"]),
    (
        "streaming",
        example!("streaming"),
        &["--entities", "10", "--present", "10", "--frames", "1", "--rate", "1000"],
    ),
    ("swarm", example!("swarm"), &["--entities", "10", "--frames", "1"]),
    (
        "templates",
        example!("templates"),
        &[
            concat!(env!("CARGO_MANIFEST_DIR"), "/templates/types"),
            "--types=10",
            "--objects=10",
            "--steps=1",
        ],
    ),
    ("shooter", example!("shooter"), &["--seconds", "1"]),
    ("nbody", example!("nbody"), &["--bodies", "10", "--steps", "1"]),
    ("transforms", example!("transforms"), &["--entities", "8", "--frames", "1"]),
    ("epidemic", example!("epidemic"), &["--agents", "100", "--steps", "1"]),
];

/// The only line that a program prints when it refuses.
fn refusal(name: &str, command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    assert_eq!(output.status.code(), Some(2), "{command:?}: {output:?}");
    assert!(output.stdout.is_empty(), "{command:?} refuses before it begins: {output:?}");
    let line = String::from_utf8(output.stderr).expect("text");
    let is_one = line.starts_with(&format!("{name}: ")) && line.lines().count() == 1;
    assert!(is_one, "{command:?}: {line}");
    line.trim_end().to_owned()
}

#[test]
fn a_level_that_is_none_is_refused_with_the_names_there_are() {
    for (name, example, arguments) in &EXAMPLES {
        let line = refusal(name, example.command().args(*arguments).env("PHALANX_LEVEL", "avx9"));
        let wrong = "PHALANX_LEVEL=avx9: not a level: expected baseline, avx2 or avx512";
        assert_eq!(line, format!("{name}: {wrong}"));
        refusal(name, example.command().args(*arguments).env("PHALANX_LEVEL", "avx2\nno"));
        // An empty variable is an unset one.
        let output = example.command().args(*arguments).env("PHALANX_LEVEL", "").output();
        assert!(output.expect("the program starts").status.success(), "{name}");
    }
}

#[test]
fn a_level_that_this_machine_lacks_is_refused_with_those_it_has() {
    for level in [Level::Avx2, Level::Avx512].into_iter().filter(|level| !level.is_supported()) {
        for (name, example, arguments) in &EXAMPLES {
            let mut command = example.command();
            command.args(*arguments).env("PHALANX_LEVEL", level.to_string());
            let wrong = format!("PHALANX_LEVEL={level}: this machine does not support {level}");
            let line = refusal(name, &mut command);
            assert!(line.starts_with(&format!("{name}: {wrong}; expected baseline")), "{line}");
        }
    }
}

#[test]
fn an_option_for_the_level_comes_before_the_environment() {
    let named = |(name, _, _): &&(&str, Example, _)| *name == "swarm";
    let (_, swarm, arguments) = EXAMPLES.iter().find(named).expect("an example");
    let mut command = swarm.command();
    command.args(*arguments).args(["--level", "baseline"]).env("PHALANX_LEVEL", "avx9");
    assert!(command.output().expect("the program starts").status.success(), "{command:?}");
}

#[test]
fn an_unknown_option_is_refused_in_one_line() {
    for (name, example, _) in &EXAMPLES {
        for option in ["--quickly", "--quickly\nnow"] {
            let line = refusal(name, example.command().arg(option));
            assert!(line.contains("--quickly"), "{line}");
            assert!(line.ends_with("; --help explains the options"), "{line}");
        }
    }
}

#[test]
fn every_program_of_the_package_is_looked_at() {
    let listed = include_str!("../../Cargo.toml").lines();
    let mut listed: Vec<_> = listed.skip_while(|line| *line != "[[bin]]").collect();
    listed.retain(|line| line.starts_with("name = "));
    let first_steps = first_steps::PRINTED.iter().map(|(name, ..)| name);
    let known = EXAMPLES.iter().map(|(name, ..)| name).chain(first_steps);
    let mut known: Vec<_> = known.map(|name| format!("name = \"{name}\"")).collect();
    listed.sort_unstable();
    known.sort_unstable();
    assert_eq!(listed, known);
}

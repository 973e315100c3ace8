//! The fluid example as a program: its hash, its report, and its refusals.

use crate::example::{Example, example};
use phalanx::Level;
use std::collections::BTreeSet;

static FLUID: Example = example!("fluid");

/// The output of a successful run with these arguments, at a level.
fn printed(arguments: &[&str], level: Option<Level>) -> String {
    let mut command = FLUID.command();
    command.args(["--particles", "3000"]).args(arguments);
    if let Some(level) = level {
        command.env("PHALANX_LEVEL", level.to_string());
    }
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The hash in the last line.
fn hash(text: &str) -> String {
    let last = text.lines().last().expect("a line");
    last.strip_prefix("hash ").unwrap_or_else(|| panic!("no hash: {last}")).to_owned()
}

#[test]
fn ids_and_places_lead_to_the_same_neighbours() {
    for order in ["spawned", "morton"] {
        let hashes: BTreeSet<_> = ["id", "place"]
            .iter()
            .flat_map(|by| ["1", "3"].map(|threads| (by, threads)))
            .map(|(by, threads)| {
                let arguments = ["--order", order, "--by", by, "--threads", threads];
                hash(&printed(&arguments, None))
            })
            .collect();
        assert_eq!(hashes.len(), 1, "{order}: {hashes:?}");
    }
}

#[test]
fn the_hash_depends_on_frames_and_not_on_the_level() {
    let of = |frames: &str, level| hash(&printed(&["--frames", frames], level));
    let hashes: BTreeSet<_> = Level::available().map(|level| of("20", Some(level))).collect();
    assert_eq!(hashes.len(), 1, "{hashes:?}");
    assert!(!hashes.contains(&of("21", None)), "{hashes:?}");
}

#[test]
fn the_report_names_every_system_and_counts_pairs() {
    let text = printed(&[], None);
    for system in ["find", "press", "push", "flow"] {
        assert!(text.lines().any(|line| line.starts_with(system)), "no `{system}` in\n{text}");
    }
    let pairs = text.split(" particles, ").nth(1).and_then(|rest| rest.split(' ').next());
    let pairs: u32 = pairs.expect("a count").parse().expect("a number");
    assert!((15_000..150_000).contains(&pairs), "{pairs} pairs: neither dust nor a clot");
}

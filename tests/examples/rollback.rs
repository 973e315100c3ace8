//! The game of two players: late inputs, threads and levels change nothing.

use crate::example::Example;
use phalanx::Level;
use std::collections::BTreeSet;
use std::fs;

static ROLLBACK: Example = Example::new("rollback");

/// Several chunks, and time for shots and rollbacks.
const SMALL: [&str; 4] = ["--entities", "3000", "--frames", "90"];

fn last(text: &str) -> &str {
    text.lines().last().expect("a line")
}

#[test]
fn late_inputs_threads_and_levels_change_nothing() {
    let mut hashes = BTreeSet::new();
    for late in ["1", "8", "60"] {
        for threads in ["1", "2"] {
            let text = ROLLBACK
                .printed(&[&SMALL[..], &["--late", late, "--threads", threads]].concat(), None);
            assert!(text.contains("a run that had all inputs in time has the same hash"), "{text}");
            assert!(!text.contains("\n0 rollbacks"), "{text}");
            hashes.insert(last(&text).to_owned());
        }
    }
    for level in Level::available() {
        hashes.insert(last(&ROLLBACK.printed(&SMALL, Some(level))).to_owned());
    }
    assert_eq!(hashes.len(), 1, "{hashes:?}");
    let other = ROLLBACK.printed(&[&SMALL[..], &["--seed", "2"]].concat(), None);
    assert!(!hashes.contains(last(&other)), "another seed, another game");
}

#[test]
fn a_recording_is_replayed() {
    let path = std::env::temp_dir().join(format!("phalanx-rollback-{}", std::process::id()));
    let file = path.to_str().expect("text");
    let played = ROLLBACK.printed(&[&SMALL[..], &["--save", file]].concat(), None);
    for level in Level::available() {
        let replayed = ROLLBACK.printed(&["--replay", file, "--threads", "2"], Some(level));
        assert_eq!(last(&replayed), last(&played));
    }
    let refused = |text: &str| {
        fs::write(&path, text).expect("a file");
        let output = ROLLBACK.command().args(["--replay", file]).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8(output.stderr).expect("text")
    };
    assert!(refused("sand 3\n").contains("line 1: expected `dust`"));
    assert!(refused("dust 3\n1 2\n1 32\n").contains("line 3: expected two numbers"));
    fs::remove_file(&path).expect("it is there");
}

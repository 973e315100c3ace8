//! The game of two players: late inputs, threads and levels do not change the result.

use crate::example::{Example, example};
use crate::network::Network;
use phalanx::Level;
use phalanx_examples::output::Output;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

static ROLLBACK: Example = example!("rollback");

/// Several chunks, and enough frames for shots and rollbacks.
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
    fs::remove_file(&path).expect("it is there");
}

#[test]
fn the_last_state_is_saved_and_is_that_of_the_replay() {
    let path =
        |name| std::env::temp_dir().join(format!("phalanx-rollback-{}-{name}", std::process::id()));
    let paths = [path("inputs"), path("played"), path("replayed")];
    let [inputs, played, replayed] = paths.each_ref().map(|path| path.to_str().expect("text"));
    ROLLBACK.printed(&[&SMALL[..], &["--save", inputs, "--state", played]].concat(), None);
    ROLLBACK.printed(&["--replay", inputs, "--state", replayed, "--threads", "1"], None);
    let states = [played, replayed].map(|path| fs::read(path).expect("a state"));
    assert!(states[0].len() > 3000 * 16, "two components of each grain of dust");
    assert!(states[0] == states[1], "the same inputs, the same bytes");
    for path in &paths {
        fs::remove_file(path).expect("it is there");
    }
    let nowhere = path("nowhere").join("state");
    let nowhere = nowhere.to_str().expect("text");
    let mut command = ROLLBACK.command();
    command.args(SMALL).args(["--state", nowhere]);
    let output = command.output().expect("it starts");
    assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{output:?}");
    let line = String::from_utf8(output.stderr).expect("text");
    assert!(line.starts_with("rollback: cannot write ") && line.lines().count() == 1, "{line}");
}

#[test]
fn every_input_arrives_once_and_is_late_by_a_few_frames() {
    let (frames, late) = (20_000, 8);
    let network = Network::new(1, frames, late);
    let mut arrivals = vec![None; network.pressed().len()];
    let at_last = network.arriving_at_last().map(|input| (frames, input));
    let in_time = (0..frames).flat_map(|now| network.arriving(now).map(move |input| (now, input)));
    for (now, (frame, input)) in in_time.chain(at_last) {
        assert_eq!([network.own(frame), input], network.pressed()[frame as usize]);
        assert_eq!(arrivals[frame as usize].replace(now - frame), None, "frame {frame}");
    }
    for lateness in 0..=late {
        assert!(arrivals.contains(&Some(lateness)), "some are late by {lateness} frames");
    }
    assert!(arrivals.iter().all(|arrival| arrival.is_some_and(|lateness| lateness <= late)));
}

#[test]
fn a_state_that_cannot_be_written_is_noticed_before_the_run() {
    let path =
        |name| std::env::temp_dir().join(format!("phalanx-rollback-{}-{name}", std::process::id()));
    let (nowhere, inputs) = (path("nowhere").join("state"), path("never"));
    let [state, save] = [&nowhere, &inputs].map(|path| path.to_str().expect("text"));
    let refused = |state, save| {
        let files = ["--state", state, "--save", save];
        let output = ROLLBACK.command().args(SMALL).args(files).output().expect("it starts");
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{output:?}");
    };
    refused(state, save);
    assert!(!inputs.exists(), "the inputs are those of a run");
    // A former state stays as it is, and a new one is not begun.
    fs::write(&inputs, "a state").expect("a file");
    refused(save, state);
    assert_eq!(fs::read(&inputs).expect("it is there"), b"a state");
    fs::remove_file(&inputs).expect("it is there");
    refused(save, state);
    assert!(!inputs.exists());
}

#[test]
fn a_check_for_a_state_touches_no_file_and_needs_room_beside_it() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rollback-room");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the files of a test");
    let path = |name| folder.join(name);
    fs::write(path("former"), "a state").expect("room");
    assert_eq!(Output::ensure_replaceable(&path("former")), Ok(()));
    assert_eq!(Output::ensure_replaceable(&path("new")), Ok(()));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(path("nowhere"), path("link")).expect("room");
        assert_eq!(Output::ensure_replaceable(&path("link")), Ok(()));
        assert_eq!(fs::read_link(path("link")).expect("it is there"), path("nowhere"));
        fs::remove_file(path("link")).expect("it is there");
    }
    let refused = |path: &Path| {
        let line = Output::ensure_replaceable(path).expect_err("no state can be there");
        assert!(line.starts_with("cannot write ") && line.lines().count() == 1, "{line}");
    };
    refused(&folder);
    refused(&path("new/"));
    refused(&path("nowhere/state"));
    refused(&path("former/state"));
    // A file that can be written, in a folder where none can be created.
    #[cfg(target_os = "linux")]
    refused(Path::new("/proc/self/comm"));
    let left: Vec<_> = fs::read_dir(&folder).expect("it is there").collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(fs::read(path("former")).expect("it is there"), b"a state");
}

#[test]
fn what_is_no_recording_is_refused() {
    let path = std::env::temp_dir().join(format!("phalanx-rollback-{}-no", std::process::id()));
    let file = path.to_str().expect("text");
    let refused = |bytes: &[u8], what: &str| {
        fs::write(&path, bytes).expect("a file");
        let output = ROLLBACK.command().args(["--replay", file]).output().expect("it starts");
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{output:?}");
        let line = String::from_utf8(output.stderr).expect("text");
        assert!(line.contains(what) && line.lines().count() == 1, "{line}");
    };
    let no_dust: [&[u8]; 6] =
        [b"", b"sand 3\n", b"dust\n", b"dust 0\n", b"dust -1\n", b"dust 10000001\n"];
    for bytes in no_dust {
        refused(bytes, "line 1: expected `dust`");
    }
    let no_inputs: [&[u8]; 5] = [b"1 32", b"1", b"1 2 3", b"-1 2", b""];
    for line in no_inputs {
        refused(&[b"dust 3\n1 2\n", line, b"\n"].concat(), "line 3: expected two numbers");
    }
    refused(b"dust 3\n\xFF 2\n", "cannot read");
    fs::remove_file(&path).expect("it is there");
}

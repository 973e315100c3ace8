//! The example `templates` as a program: its counts, and its refusals.

use crate::example::{Example, example};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

static TEMPLATES: Example = example!("templates");
const TYPES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/templates/types");

/// An empty folder for a test of this name.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the files of a test");
    folder
}

/// The lines without the ones that have times.
fn lines(arguments: &[&str]) -> Vec<String> {
    let text = TEMPLATES.printed(&[&[TYPES], arguments].concat(), None);
    let without_time = |line: &str| match line.rsplit_once([',', ':']) {
        Some((line, time)) if time.ends_with(" ms") => line.to_owned(),
        _ => line.to_owned(),
    };
    text.lines().filter(|line| !line.contains(" a second")).map(without_time).collect()
}

#[test]
fn objects_are_counted_in_every_step_and_in_the_reload() {
    let arguments = ["--types", "60", "--objects", "900", "--side", "3", "--steps", "3"];
    let first = lines(&arguments);
    assert_eq!(first[0], "73 types in 5 files: 13 written, 60 generated");
    assert!(first[2].starts_with("900 objects of ") && first[2].ends_with(" in 9 regions"));
    let entities = first[2].split(' ').nth(3).expect("a number");
    let moves = ["at 0,0: 4 regions came, 0 left", "at 1,1: 5 regions came, 0 left"];
    let back = ["at 2,2: 0 regions came, 5 left", "at 1,1: 5 regions came, 0 left"];
    for (line, moved) in first[4..8].iter().zip(moves.into_iter().chain(back)) {
        assert!(line.starts_with("step ") && line.contains(moved), "{line}");
    }
    assert!(first[5].contains(&format!(": {entities} entities in ")), "all regions: {first:?}");
    assert_eq!(first[5].split("came").last(), first[7].split("came").last(), "as before");
    assert_eq!(first[8], "generated-000.json was changed, and has 1 fault: all stays as it is");
    let fault = "  generated-000.json:7:19: `points` is the number 70000: write a whole number";
    assert!(first[9].starts_with(fault), "{}", first[9]);
    assert!(first[10].starts_with("generated-000.json was changed, and with it "), "{first:?}");
    assert!(first[11].contains(" 0 children came"), "{}", first[11]);
    assert!(!first[11].contains(": 0 fields"), "{}", first[11]);
    assert!(first[12].starts_with(&format!("  all {entities} entities are as ")), "{first:?}");
    assert_eq!(first.len(), 13, "{first:?}");

    assert_eq!(lines(&arguments), first, "the same run");
    let trees = lines(&[&arguments[..], &["--copies", "tree"]].concat());
    assert_eq!(trees, first, "the other way to copy makes the same objects");
}

#[test]
fn a_square_of_one_region_and_no_generated_types_are_enough() {
    let lines = lines(&["--types", "0", "--objects", "5", "--side", "1", "--steps", "2"]);
    assert_eq!(lines[0], "13 types in 4 files: 13 written, 0 generated");
    assert!(lines[4].starts_with("step 0, at 0,0: 1 region came, 0 left"), "{lines:?}");
    assert!(lines[6].starts_with("step 2, at 0,0: 0 regions came, 0 left"), "{lines:?}");
    assert_eq!(lines.len(), 7, "no file to change: {lines:?}");
    crate::templates::lines(&["--types", "3", "--objects", "0", "--steps", "0"]);
}

#[test]
fn all_faults_of_a_folder_are_printed_before_any_work() {
    let folder = folder("templates-faults");
    fs::write(folder.join("a.json"), "{\n  \"a\": { \"parent\": \"b\" },\n  \"b\": }")
        .expect("room");
    fs::write(folder.join("b.json"), "{ \"c\": { \"components\": { \"lihgt\": {} } } }")
        .expect("room");
    fs::write(folder.join("notes.txt"), "no types").expect("room");
    let output = TEMPLATES.command().arg(&folder).output().expect("the program starts");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{output:?}");
    let text = String::from_utf8(output.stderr).expect("text");
    let lines: Vec<_> = text.lines().collect();
    let path = |name| folder.join(name).display().to_string();
    assert!(lines[0].starts_with(&format!("{}:3:8: this is not JSON: ", path("a.json"))), "{text}");
    assert!(lines[1].starts_with(&format!("{}:1:26: no component", path("b.json"))), "{text}");
    assert!(lines[1].ends_with("; did you mean `light`?"), "{text}");
    let last = "templates: the types have 2 faults: correct the files, and start again";
    assert_eq!(lines[2..], [last]);
}

#[test]
fn a_folder_without_types_is_refused() {
    let empty = folder("templates-empty");
    for (folder, says) in [(empty.as_path(), "no types"), (Path::new("/no/such"), "cannot read")] {
        let output = TEMPLATES.command().arg(folder).output().expect("the program starts");
        let line = String::from_utf8(output.stderr).expect("text");
        assert_eq!((output.status.code(), line.lines().count()), (Some(2), 1), "{line}");
        assert!(line.starts_with("templates: ") && line.contains(says), "{line}");
    }
}

#[test]
fn a_file_that_a_user_changes_is_reloaded_and_a_refused_one_is_not_forgotten() {
    let (folder, outside) = (folder("templates-watched"), folder("templates-edited"));
    let name = ["houses.json", "lamps.json", "things.json", "trees.json"];
    for name in name {
        fs::copy(Path::new(TYPES).join(name), folder.join(name)).expect("a copy");
    }
    // A file changes as a whole, as editors do it.
    let edit = |name: &str, from: &str, to: &str| {
        let text = fs::read_to_string(folder.join(name)).expect("a file");
        assert!(text.contains(from), "{name} has no {from}");
        fs::write(outside.join(name), text.replace(from, to)).expect("room");
        fs::rename(outside.join(name), folder.join(name)).expect("the same disk");
    };
    let arguments = ["--types=0", "--objects=300", "--side=1", "--steps=0", "--watch=60"];
    let mut command = TEMPLATES.command();
    // A program that is ended from outside leaves its temporary files.
    command.arg(&folder).args(arguments).env("TMPDIR", &outside).stdout(Stdio::piped());
    let mut program = command.spawn().expect("the program starts");
    let mut lines = BufReader::new(program.stdout.take().expect("a pipe")).lines();
    let mut until = |start: &str| {
        let line =
            lines.by_ref().map(|line| line.expect("text")).find(|line| line.starts_with(start));
        line.unwrap_or_else(|| panic!("no line starts with {start}"))
    };
    until("step 0");
    edit("lamps.json", "150", "1500000");
    until("lamps.json was changed, and has 1 fault: all stays as it is");
    until("  lamps.json:15:41: `power` is the number 1500000: write a whole number");
    // The lamps are still refused, and not forgotten.
    edit("trees.json", "300", "3000");
    until("lamps.json, trees.json was changed, and has 1 fault");
    edit("lamps.json", "1500000", "1500");
    let types = until("lamps.json, trees.json was changed, and with it ");
    assert!(types.contains("with it 3 types: "), "street lamps, trees and apple trees: {types}");
    until("  all ");
    program.kill().expect("it runs");
    program.wait().expect("it ends");
}

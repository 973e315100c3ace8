//! The example `templates` as a program: its counts, and its refusals.

use crate::example::{Example, example};
use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};

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
    assert_eq!(first[8], "generated/000.json was changed, and has 1 fault: all stays as it is");
    let fault = "  generated/000.json:7:19: `points` is the number 70000: write a whole number";
    assert!(first[9].starts_with(fault), "{}", first[9]);
    assert!(first[10].starts_with("generated/000.json was changed, and with it "), "{first:?}");
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

#[cfg(target_os = "linux")]
#[test]
fn files_whose_names_are_not_text_are_faults_and_names_are_escaped() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = folder("templates-names");
    for name in [&b"\xFE.json"[..], b"\xFF.json", b"\x1B[2J.json"] {
        let text = r#"{ "c": { "parent": "\u001b[2J" } }"#;
        fs::write(folder.join(OsStr::from_bytes(name)), text).expect("room");
    }
    let output = TEMPLATES.command().arg(&folder).output().expect("the program starts");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{output:?}");
    let text = String::from_utf8(output.stderr).expect("text");
    let says = ":1:1: the file cannot be read: its name is not UTF-8: correct that, or remove it";
    for name in [r#"/\xFE.json""#, r#"/\xFF.json""#] {
        assert!(text.lines().any(|line| line.ends_with(&format!("{name}{says}"))), "{text}");
    }
    assert!(
        text.ends_with("templates: the types have 2 faults: correct the files, and start again\n")
    );
    assert!(!text.contains('\u{1b}'), "{text:?}");

    for name in [&b"\xFE.json"[..], b"\xFF.json"] {
        fs::remove_file(folder.join(OsStr::from_bytes(name))).expect("it is there");
    }
    let output = TEMPLATES.command().arg(&folder).output().expect("the program starts");
    let text = String::from_utf8(output.stderr).expect("text");
    let says = r"/\u{1b}[2J.json:1:20: no type is named `\u{1b}[2J`: define it, or correct it";
    assert!(text.lines().next().is_some_and(|line| line.ends_with(says)), "{text:?}");
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
fn a_folder_of_a_user_gets_no_types_but_on_demand() {
    let folder = folder("templates-own");
    let run = |arguments: &[&str]| {
        let short = ["--objects=20", "--side=1", "--steps=0"];
        let output = TEMPLATES.command().arg(&folder).args(short).args(arguments).output();
        let output = output.expect("the program starts");
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(text).expect("text"))
    };
    // A type of 900 entities begins no other one.
    let child = |number| format!(r#""c{number}": {{ "type": "small" }}"#);
    let children: Vec<_> = (1..900).map(child).collect();
    let large =
        format!(r#"{{ "large": {{ "children": {{ {} }} }}, "small": {{}} }}"#, children.join(","));
    fs::write(folder.join("a.json"), large).expect("room");
    let (is_good, text) = run(&[]);
    assert!(is_good && text.starts_with("2 types in 1 file: 2 written, 0 generated"), "{text}");
    let (is_good, text) = run(&["--types=60"]);
    assert!(is_good && text.starts_with("62 types in 2 files: 2 written, 60 generated"), "{text}");
    // Only a large one: the others begin as none.
    let only = (1..900).map(|number| format!(r#""c{number}": {{ "type": "b" }}"#));
    let only =
        format!(r#"{{ "a": {{ "children": {{ {} }} }},"#, only.collect::<Vec<_>>().join(","));
    fs::write(folder.join("a.json"), format!(r#"{only} "b": {{}} }}"#)).expect("room");
    assert!(run(&["--types=60"]).0);

    // A file may have any name. A type is told from the ones that the program makes.
    fs::write(folder.join("generated-000.json"), r#"{ "generated-x": {} }"#).expect("room");
    let (is_good, text) = run(&[]);
    assert!(is_good && text.starts_with("3 types in 2 files: 3 written, 0 generated"), "{text}");
    let (is_good, text) = run(&["--types=5"]);
    let says = "templates: `generated-x` is named like the types that the program makes: rename it";
    assert!(!is_good && text.starts_with(says) && text.lines().count() == 1, "{text}");
}

/// The program while it watches a copy of the folder of types.
struct Watched {
    folder: PathBuf,
    outside: PathBuf,
    program: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watched {
    fn new(name: &str) -> Self {
        let (outside, folder) = (folder(&format!("{name}-edited")), folder(name));
        for name in ["houses.json", "lamps.json", "things.json", "trees.json"] {
            fs::copy(Path::new(TYPES).join(name), folder.join(name)).expect("a copy");
        }
        let mut command = TEMPLATES.command();
        command.arg(&folder).args(["--objects=300", "--side=1", "--steps=0", "--watch=60"]);
        let mut program = command.stdout(Stdio::piped()).spawn().expect("the program starts");
        let lines = BufReader::new(program.stdout.take().expect("a pipe")).lines();
        let mut watched = Self { folder, outside, program, lines };
        let line = format!("watching {} for 60 s: change a file", watched.folder.display());
        assert_eq!(watched.until("watching"), line, "before the first change");
        watched
    }

    /// Changes a file as a whole, as editors do it.
    fn edit(&self, name: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.folder.join(name)).expect("a file");
        assert!(text.contains(from), "{name} has no {from}");
        fs::write(self.outside.join(name), text.replace(from, to)).expect("room");
        fs::rename(self.outside.join(name), self.folder.join(name)).expect("the same disk");
    }

    /// The next line that starts so.
    fn until(&mut self, start: &str) -> String {
        let mut lines = self.lines.by_ref().map(|line| line.expect("text"));
        let line = lines.find(|line| line.starts_with(start));
        line.unwrap_or_else(|| panic!("no line starts with {start}"))
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // It may have ended with an error, which the test tells.
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

#[test]
fn a_file_that_a_user_changes_is_reloaded_and_a_refused_one_is_not_forgotten() {
    let mut watched = Watched::new("templates-watched");
    watched.edit("lamps.json", "150", "1500000");
    watched.until("lamps.json was changed, and has 1 fault: all stays as it is");
    watched.until("  lamps.json:15:41: `power` is the number 1500000: write a whole number");
    // The lamps are still refused, and not forgotten.
    watched.edit("trees.json", "300", "3000");
    watched.until("lamps.json, trees.json were changed, and have 1 fault");
    watched.edit("lamps.json", "1500000", "1500");
    let types = watched.until("lamps.json, trees.json were changed, and with them ");
    assert!(types.contains("with them 3 types: "), "street lamps, trees and apple trees: {types}");
    watched.until("  all ");
}

#[test]
fn children_change_their_order_and_components_go_and_come_back() {
    let mut watched = Watched::new("templates-order");
    let low = r#""low": { "type": "apple" }"#;
    let high = r#""high": { "type": "apple", "components": { "place": { "y": 3 } } }"#;
    watched.edit("trees.json", &format!("{low},\n      {high}"), &format!("{high},\n      {low}"));
    watched.until("trees.json was changed, and with it 1 type: ");
    let counts = watched.until("  ");
    assert!(counts.ends_with(": 0 fields renewed, 0 children came, 0 left"), "{counts}");
    let all = watched.until("  all ");
    // Objects have places and health of their own: they keep both, and get the rest again.
    let text = fs::read_to_string(watched.folder.join("trees.json")).expect("a file");
    let bare = r#"{ "tree": {}, "apple_tree": {}, "apple": {} }"#;
    for (from, to) in [(&*text, bare), (bare, &*text)] {
        watched.edit("trees.json", from, to);
        watched.until("trees.json was changed, and with it 3 types: ");
        let after = watched.until("  all ");
        assert_eq!(after.split("but for").last(), all.split("but for").last(), "own fields");
        assert_eq!(after == all, to == text, "the apples are back");
    }
}

#[test]
fn a_directory_is_no_file_of_types_and_an_unreadable_file_is_a_fault() {
    let mut watched = Watched::new("templates-unreadable");
    fs::create_dir(watched.folder.join("new.json")).expect("room");
    #[cfg(unix)]
    {
        let link = watched.folder.join("loop.json");
        std::os::unix::fs::symlink(&link, &link).expect("room");
        watched.until("loop.json was changed, and has 1 fault: all stays as it is");
        watched.until("  loop.json:1:1: the file cannot be read: ");
        fs::remove_file(&link).expect("it is there");
        watched.until("loop.json was changed, and with it 0 types");
    }
    watched.edit("lamps.json", "150", "160");
    watched.until("lamps.json was changed, and with it 1 type: ");
    fs::rename(&watched.folder, watched.outside.join("away")).expect("the same disk");
    watched.until("cannot read ");
    fs::rename(watched.outside.join("away"), &watched.folder).expect("the same disk");
    watched.edit("lamps.json", "160", "170");
    watched.until("lamps.json was changed, and with it 1 type: ");
}

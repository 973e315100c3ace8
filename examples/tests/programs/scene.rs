//! The example `scene`: what it lists, copies, changes and saves.

use crate::example::{Example, example};
use std::process::Output;

static SCENE: Example = example!("scene");
const VILLAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scene/village.json");

fn run(arguments: &[&str]) -> Output {
    SCENE.command().args(arguments).output().expect("the program starts")
}

/// The lines that it prints.
fn lines(arguments: &[&str]) -> Vec<String> {
    let output = run(arguments);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_scene_is_listed_by_the_debug_of_its_components() {
    let lines = lines(&[VILLAGE]);
    assert_eq!(lines.len(), 4);
    assert!(lines[0].contains("game.mood: Calm, game.position: Position { x: 1.5, y: 2.0 }"));
    assert!(lines[2].contains("game.door: Door { is_open: false, keys: 2 }"));
    assert!(lines[3].ends_with("{}"), "{}", lines[3]);
}

#[test]
fn what_was_copied_and_changed_is_saved_and_loads_again() {
    let folder = tempdir("scene");
    let path = folder.join("saved.json");
    let path = path.to_str().expect("text");
    let health = ["--set", "4", "game.health", r#"{"points": 7}"#];
    let mood = ["--set", "3", "game.mood", "\"Angry\"", "--save", path];
    let first = lines(&[&[VILLAGE, "--copy", "0"], &health[..], &mood[..]].concat());
    assert!(
        first[4].contains("Health { points: 7 }") && first[4].contains("Villager"),
        "{first:?}"
    );
    assert!(first[0].contains("Health { points: 100 }"), "the original stays");
    assert!(first[3].contains("game.mood: Angry"), "{first:?}");
    let again = lines(&[path]);
    let components = |line: &String| line.split_once('{').expect("a map").1.to_owned();
    let both = [&first, &again].map(|lines| lines.iter().map(components).collect::<Vec<_>>());
    assert_eq!(both[0], both[1]);
}

#[test]
fn what_is_wrong_with_a_scene_is_said_in_one_line() {
    let cases: [(&[&str], &str); 6] = [
        (&["--set", "0", "game.healht", "{}"], "no component `game.healht`: there are"),
        (&["--set", "0", "game.health", "{}"], "`game.health` needs a u16 `points`"),
        (&["--set", "0", "game.health", r#"{"points": 70000}"#], "needs a u16 `points`"),
        (&["--set", "0", "game.mood", "\"Glad\""], "`game.mood` is one of Calm, Afraid, Angry"),
        (&["--set", "9", "game.mood", "\"Calm\""], "choose one from 0 to 3"),
        (&["--copy", "9"], "choose one from 0 to 3"),
    ];
    for (arguments, expected) in cases {
        let output = run(&[&[VILLAGE], arguments].concat());
        let line = String::from_utf8(output.stderr).expect("text");
        assert_eq!((output.status.code(), line.lines().count()), (Some(2), 1), "{line}");
        assert!(line.starts_with("scene: ") && line.contains(expected), "{line}");
    }
}

/// An empty folder for a test of this name.
fn tempdir(name: &str) -> std::path::PathBuf {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder for the files of a test");
    folder
}

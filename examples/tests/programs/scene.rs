//! The example `scene`: it lists, copies, changes and saves entities.

use crate::entities::{self, Components};
use crate::example::{Example, example};
use phalanx::prelude::*;
use proptest::prelude::*;
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
fn a_component_of_a_mod_is_set_saved_and_loaded_by_its_fields() {
    let folder = tempdir("scene_mod");
    let path = folder.join("saved.json");
    let path = path.to_str().expect("text");
    let define = ["--define", "mod.fuel", r#"[["litres", "f32"], ["cans", "u32"]]"#];
    let set = ["--set", "2", "mod.fuel", r#"{"litres": 4.5, "cans": 3}"#, "--save", path];
    let first = lines(&[&[VILLAGE], &define[..], &set[..]].concat());
    assert!(first[2].contains("mod.fuel: {litres: 4.5, cans: 3}"), "{first:?}");
    assert_eq!(lines(&[&[path], &define[..]].concat())[2], first[2]);
    let output = run(&[path]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.contains("no component `mod.fuel`"), "{text}");
    let wide = ["--define", "mod.fuel", r#"[["cans", "u8"], ["litres", "f32"]]"#];
    let output = run(&[&[VILLAGE], &wide[..]].concat());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.contains("3 bytes of padding"), "{text}");
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

#[test]
fn a_scene_without_entities_says_so() {
    let folder = tempdir("scene-empty");
    let path = folder.join("empty.json");
    std::fs::write(&path, "[]").expect("room on the disk");
    let path = path.to_str().expect("text");
    assert_eq!(lines(&[path]), [""; 0]);
    for arguments in [&["--copy", "0"][..], &["--set", "0", "game.mood", "\"Calm\""]] {
        let output = run(&[&[path], arguments].concat());
        let line = String::from_utf8(output.stderr).expect("text");
        assert_eq!((output.status.code(), line.lines().count()), (Some(2), 1), "{line}");
        assert!(line.ends_with("there is no entity 0: the scene has no entities\n"), "{line}");
    }
}

#[test]
fn a_scene_that_cannot_be_read_is_refused_with_its_place() {
    let folder = tempdir("scene-refused");
    let path = folder.join("wrong.json");
    std::fs::write(&path, "[\n  {},\n  {\"game.position\": {\"x\": 1e39, \"y\": 0}}\n]\n")
        .expect("room on the disk");
    let output = run(&[path.to_str().expect("text")]);
    let line = String::from_utf8(output.stderr).expect("text");
    assert_eq!((output.status.code(), line.lines().count()), (Some(2), 1), "{line}");
    assert!(line.starts_with("scene: cannot load "), "{line}");
    let fault = "`game.position` needs a f32 `x`: number out of range at line 3 column 30";
    assert!(line.contains(fault), "{line}");
}

#[component(name = "t.wide")]
#[derive(Debug)]
struct Wide {
    a: u64,
    b: i64,
    c: f64,
}
#[component(name = "t.middle")]
#[derive(Debug)]
struct Middle {
    a: u32,
    b: i32,
    c: f32,
}
#[component(name = "t.narrow")]
#[derive(Debug)]
struct Narrow {
    a: u16,
    b: i16,
}
#[component(name = "t.tiny")]
#[derive(Debug)]
struct Tiny {
    a: u8,
    b: i8,
    c: bool,
}
#[component(name = "t.pair")]
#[derive(Debug)]
struct Pair(f32, f32);
#[component(name = "t.mood")]
#[derive(Debug)]
enum Mood {
    Calm,
    Afraid = 7,
}
#[component(name = "t.tag")]
#[derive(Debug)]
struct Tag;
#[component(name = "t.link")]
#[derive(Debug)]
struct Link {
    to: Entity,
}

fn world() -> World {
    let mut world = World::new();
    world.register::<(Wide, Middle, Narrow, Tiny, Pair, Mood, Tag, Link)>();
    world
}

/// Spawns the entities of a scene that was read.
fn spawned(world: &mut World, scene: &[Components]) -> Vec<Entity> {
    let spawn = |components: &Components| {
        let entity = world.spawn(());
        let values = components.iter().map(|(name, bytes)| (*name, &bytes[..]));
        world.reflect_mut().insert(entity, values).expect("values of these components");
        entity
    };
    scene.iter().map(spawn).collect()
}

/// The entities of a scene in the order of their components' names, as a file has them.
fn sorted(mut scene: Vec<Components>) -> Vec<Components> {
    scene.iter_mut().for_each(|components| components.sort());
    scene
}

#[test]
fn each_fault_of_a_scene_has_its_place() {
    let faults = [
        // Numbers that the type of their field does not have.
        (r#"{"t.pair": {"0": 1e39, "1": 0}}"#, "needs a f32 `0`: number out of range", 21),
        (r#"{"t.pair": {"0": -1e39, "1": 0}}"#, "needs a f32 `0`: number out of range", 22),
        (r#"{"t.pair": {"0": 0, "1": 3.5e38}}"#, "needs a f32 `1`: number out of range", 31),
        (r#"{"t.wide": {"c": 1e400}}"#, "needs a f64 `c`: number out of range", 22),
        (r#"{"t.tiny": {"a": 256}}"#, "needs a u8 `a`: invalid value: integer `256`", 20),
        (r#"{"t.tiny": {"a": -1}}"#, "needs a u8 `a`: invalid value: integer `-1`", 19),
        (r#"{"t.tiny": {"b": 128}}"#, "needs a i8 `b`: invalid value: integer `128`", 20),
        (r#"{"t.tiny": {"a": 1.5}}"#, "needs a u8 `a`: invalid type: floating point `1.5`", 20),
        (r#"{"t.tiny": {"a": 1e2}}"#, "needs a u8 `a`: invalid type: floating point", 20),
        (r#"{"t.wide": {"a": 18446744073709551616}}"#, "needs a u64 `a`: invalid type", 37),
        (r#"{"t.wide": {"b": 9223372036854775808}}"#, "needs a i64 `b`: invalid value", 36),
        (r#"{"t.tiny": {"a": "1"}}"#, "needs a u8 `a`: invalid type: string", 20),
        (r#"{"t.tiny": {"c": 1}}"#, "needs a bool `c`: invalid type: integer", 18),
        (r#"{"t.pair": {"0": null}}"#, "needs a f32 `0`: invalid type: null", 21),
        (r#"{"t.pair": {"0": NaN}}"#, "needs a f32 `0`: expected", 18),
        // Names that are unknown, missing or there twice.
        (r#"{"t.tinny": {}}"#, "no component `t.tinny`: there are t.wide, t.middle", 10),
        (r#"{"t.tag": {"x": 1}}"#, "`t.tag` has no field `x`: there are", 14),
        (r#"{"t.narrow": {"a": 1, "b": 2, "c": 3}}"#, "has no field `c`: there are a, b", 33),
        (r#"{"t.narrow": {"a": 1}}"#, "`t.narrow` needs a i16 `b`", 21),
        (r#"{"t.narrow": {"a": 1, "b": 2, "a": 1}}"#, "`t.narrow` has its `a` twice", 33),
        (r#"{"t.tag": {}, "t.mood": "Calm", "t.tag": {}}"#, "has its `t.tag` twice", 39),
        (r#"{"t.mood": "Glad"}"#, "`t.mood` is one of Calm, Afraid", 17),
        // Other kinds of values.
        (r#"{"t.mood": 7}"#, "invalid type: integer `7`, expected `t.mood` is one of", 12),
        (r#"{"t.tag": 5}"#, "expected an object with the fields of `t.tag`", 11),
        (r#"{"t.tag": []}"#, "expected an object with the fields of `t.tag`", 10),
        (r#"{"t.link": {"to": 5}}"#, "needs a Entity `to`: nothing is known of the type", 18),
        ("5", "expected an entity: an object", 1),
    ];
    for (entity, fault, column) in faults {
        let text = format!("[\r\n{{}},\n{entity}\n]");
        let error = entities::read(&world(), text.as_bytes()).expect_err(entity);
        assert!(error.to_string().contains(fault), "{entity}: {error}");
        assert_eq!((error.line(), error.column()), (3, column), "{entity}: {error}");
        assert!(error.to_string().ends_with(&format!("at line 3 column {column}")), "{error}");
    }
    for text in ["", "5", "{}", "[{}", "[{}] x", "[{},]", "\u{feff}", "[\u{feff}]", "[{\"t"] {
        let error = entities::read(&world(), text.as_bytes()).expect_err(text);
        assert_eq!(error.line(), 1, "{text}: {error}");
    }
    let world = world();
    let tiny = entities::component(&world, "t.tiny").expect("it is known");
    assert!(entities::read_value(tiny, r#"{"a": 1, "b": -1, "c": true}"#).is_ok());
    for text in ["", "{}", r#"{"a": 1, "b": -1, "c": true}}"#] {
        assert_eq!(entities::read_value(tiny, text).expect_err(text).line(), 1, "{text}");
    }
    assert_eq!(entities::read(&world, b"[\n{\"\xFF\": 1}]").expect_err("no UTF-8").line(), 2);
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_scene() {
    let text = "\u{feff}[{\"t.tag\": {}}]";
    assert_eq!(entities::read(&world(), text.as_bytes()).expect("a scene"), [[("t.tag", vec![])]]);
    let error = entities::read(&world(), "\u{feff}[7]".as_bytes()).expect_err("no object");
    assert_eq!((error.line(), error.column()), (1, 2), "as an editor shows it");
}

#[test]
fn what_json_does_not_have_is_refused_and_leaves_the_file() {
    for (x, says) in [(f32::NAN, "NaN"), (f32::INFINITY, "inf"), (f32::NEG_INFINITY, "-inf")] {
        let mut world = world();
        let entities = [world.spawn(()), world.spawn(Pair(1.0, x))];
        let error = entities::write(&world, &entities).expect_err("no number");
        let expected =
            format!("entity 1: `t.pair` has {says}, which JSON does not have, as its `1`");
        assert_eq!(error, expected);
    }
    let mut world = world();
    let entity = world.spawn(Wide { a: 0, b: 0, c: f64::NAN });
    assert!(entities::write(&world, &[entity]).is_err_and(|error| error.contains("`c`")));
    let entity = world.spawn(Link { to: entity });
    assert!(entities::write(&world, &[entity]).is_err_and(|error| error.contains("`Entity`")));
}

#[test]
fn numbers_are_saved_by_their_shortest_digits() {
    let mut world = world();
    let entity = world.spawn(Pair(0.1, -0.0));
    let text = entities::write(&world, &[entity]).expect("numbers");
    assert_eq!(text.split_whitespace().collect::<String>(), r#"[{"t.pair":{"0":0.1,"1":-0.0}}]"#);
}

/// Values from bits, of all types. Some floats are not a number or infinite.
fn entity_of(world: &mut World, [a, b, c]: [u64; 3]) -> Entity {
    let halves = a.to_ne_bytes();
    let [first, second] = [[halves[0], halves[1]], [halves[2], halves[3]]];
    let c32 = u32::from_ne_bytes([halves[4], halves[5], halves[6], halves[7]]);
    let float = f32::from_bits(c32);
    let entity = world.spawn((
        Wide { a, b: b.cast_signed(), c: f64::from_bits(c) },
        Middle { a: c32, b: c32.cast_signed(), c: float },
        Narrow { a: u16::from_ne_bytes(first), b: i16::from_ne_bytes(second) },
        Tiny { a: halves[0], b: halves[1].cast_signed(), c: a > b },
        Pair(float, -float),
        if a > b { Mood::Calm } else { Mood::Afraid },
    ));
    if a > c {
        world.insert(entity, Tag).expect("alive");
    }
    entity
}

/// The names and bytes of an entity's components.
fn values(world: &World, entity: Entity) -> Components {
    let view = world.entity(entity).expect("alive");
    view.components().map(|one| (one.info().name(), one.bytes().to_vec())).collect()
}

proptest! {
    #[test]
    fn what_is_saved_is_loaded_as_it_was(
        bits in prop::collection::vec(prop::array::uniform3(any::<u64>()), 0..8),
        numbers in prop::collection::vec(any::<f64>(), 8),
    ) {
        let mut world = world();
        let spawn = |(&[a, b, bits], &number): (&[u64; 3], &f64)| {
            // Half of them by bits, half from ordinary numbers.
            let c = if a > b { bits } else { number.to_bits() };
            entity_of(&mut world, [a, b, c])
        };
        let entities: Vec<Entity> = bits.iter().zip(&numbers).map(spawn).collect();
        let is_finite = |entity: &Entity| {
            let wide = world.get::<Wide>(*entity).expect("alive").c;
            wide.is_finite() && world.get::<Middle>(*entity).expect("alive").c.is_finite()
        };
        let all_finite = entities.iter().all(is_finite);
        match entities::write(&world, &entities) {
            Err(error) => prop_assert!(!all_finite && error.contains("entity "), "{}", error),
            Ok(text) => {
                prop_assert!(all_finite, "{}", text);
                let scene = entities::read(&world, text.as_bytes()).expect("it was written");
                let again = spawned(&mut world, &scene);
                prop_assert_eq!(again.len(), entities.len());
                for (&old, &new) in entities.iter().zip(&again) {
                    prop_assert_eq!(values(&world, old), values(&world, new));
                }
                prop_assert_eq!(entities::write(&world, &again), Ok(text));
            }
        }
    }

    #[test]
    fn what_is_loaded_is_saved_and_loaded_again(
        numbers in prop::collection::vec(
            "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?", 5,
        ),
        bom: bool,
    ) {
        let [a, b, c, d, e] = &numbers[..] else { unreachable!("five numbers") };
        let mark = if bom { "\u{feff}" } else { "" };
        // Once with the whole numbers as they are; too large ones hide the other faults.
        for [c, d] in [[c, d].map(String::as_str), ["-7", "8"]] {
            let text = format!(
                r#"{mark}[{{"t.pair": {{"0": {a}, "1": {b}}}}}, {{"t.narrow": {{"b": {c}, "a": {d}}}}},
                {{"t.wide": {{"a": 1, "b": -2, "c": {e}}}, "t.mood": "Calm"}}]"#,
            );
            let mut world = world();
            match entities::read(&world, text.as_bytes()) {
                Err(error) => prop_assert!(error.line() > 0 && error.column() > 0, "{}", error),
                Ok(scene) => {
                    let entities = spawned(&mut world, &scene);
                    let saved = entities::write(&world, &entities).expect("what was loaded");
                    let again = entities::read(&world, saved.as_bytes()).expect("what was saved");
                    prop_assert_eq!(sorted(again), sorted(scene));
                }
            }
        }
    }

    #[test]
    fn any_text_is_a_scene_or_an_error_with_its_place(
        text in r#"(\[|\{|\}|\]|,|:|"t\.(tag|pair|mood|tiny)"|"[0abc]"|"Calm"|-?[0-9]{1,4}|true|null| |
)*"#,
    ) {
        if let Err(error) = entities::read(&world(), text.as_bytes()) {
            let lines: Vec<_> = text.split('\n').collect();
            prop_assert!((1..=lines.len()).contains(&error.line()), "{}", error);
            prop_assert!(error.column() <= lines[error.line() - 1].len() + 1, "{}", error);
        }
    }
}

/// An empty folder for a test of this name.
fn tempdir(name: &str) -> std::path::PathBuf {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder for the files of a test");
    folder
}

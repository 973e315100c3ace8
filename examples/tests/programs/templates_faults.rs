//! The types of the example `templates`: every fault has its place, and values are inherited.

use crate::loader::{Fault, Types, Values, Visible};
use crate::objects::schema;
use proptest::prelude::*;

fn load(files: &[(&str, &str)]) -> Result<Types, Vec<Fault>> {
    Types::load(schema(), files.iter().map(|(name, text)| (*name, Ok(text.as_bytes()))))
}

fn faults(files: &[(&str, &str)]) -> Vec<String> {
    let faults = load(files).expect_err("there are faults");
    faults.iter().map(ToString::to_string).collect()
}

/// The values of the node with a path.
fn values<'t>(types: &'t Types, name: &str, path: &str) -> &'t Values {
    let kind = (0..types.len()).map(|number| types.get(number)).find(|one| one.name == name);
    let nodes = &kind.expect("a type of this name").nodes;
    &nodes.iter().find(|node| node.path == path).expect("a node of this path").values
}

/// The bytes of a component.
fn bytes<'v>(types: &Types, values: &'v Values, component: &str) -> &'v [u8] {
    let component = types.schema().find(component).expect("a component of this name");
    &values.of(component).expect("a node with this component").bytes
}

/// Types in a cycle, or that lead to one.
const CYCLE: &str = r#"{
  "a": { "parent": "b" },
  "b": { "parent": "c" },
  "c": { "parent": "a" },
  "d": { "parent": "a" }
}"#;

/// Types with one fault, its line and column, and the beginning of its text.
type Cases = &'static [(&'static str, &'static str, &'static str)];

/// Names that are unknown, or there twice.
const NAMES: Cases = &[
    (
        r#"{"a": {"components": {"lihgt": {}}}}"#,
        "1:23",
        "no component is named `lihgt`: write one of",
    ),
    (
        r#"{"a": {"components": {"door": {"key": 1}}}}"#,
        "1:32",
        "`door` has no field `key`: write `is_open`, `keys`; did you mean `keys`?",
    ),
    (
        r#"{"a": {"components": {"burnt": {"x": 1}}}}"#,
        "1:33",
        "`burnt` has no field `x`: write `{}`",
    ),
    (
        r#"{"a": {"parents": "b"}}"#,
        "1:8",
        "`a` has no `parents`: write `parent`, `components`, `children`; did you mean `parent`?",
    ),
    (
        "{\"a\": {},\n \"b\": {\"parent\": \"aa\"}}",
        "2:18",
        "no type is named `aa`: define it, or correct it",
    ),
    (
        "{\"lamp\": {},\n \"b\": {\"children\": {\"x\": {\"type\": \"lmap\"}}}}",
        "2:35",
        "no type is named `lmap`: define it, or correct it; did you mean `lamp`?",
    ),
    ("{\"a\": {},\n \"a\": {}}", "2:2", "a file has `a` twice: remove or rename one"),
    (
        r#"{"a": {"components": {"burnt": {}, "burnt": {}}}}"#,
        "1:36",
        "`components` of `a` has `burnt` twice",
    ),
    (
        r#"{"a": {"components": {"place": {"x": 1, "y": 2, "x": 3}}}}"#,
        "1:49",
        "`place` has `x` twice",
    ),
    (
        r#"{"a": {"children": {"b/c": {"type": "a"}}}}"#,
        "1:21",
        "`b/c` is a part of a path: use a name without `/`",
    ),
    (r#"{"a": {"children": {"b": {}}}}"#, "1:21", "`b` is no inherited child: give its `type`"),
    (
        "{\"a\": {\"children\": {\"b\": {\"type\": \"c\"}}}, \"c\": {},\n\"d\": {\"parent\": \"a\", \"children\": {\"x\": {}}}}",
        "2:35",
        "`x` is no inherited child: give its `type`, or write `b`",
    ),
];

/// Values that their fields cannot have.
const VALUES: Cases = &[
    (
        r#"{"a": {"components": {"place": {"x": "1", "y": 2}}}}"#,
        "1:38",
        "`x` is the text \"1\": write a number",
    ),
    (
        r#"{"a": {"components": {"place": {"x": 1e39, "y": 2}}}}"#,
        "1:38",
        "`x` is the number 1e39: write a number from -3.4028235e38",
    ),
    (
        r#"{"a": {"components": {"door": {"is_open": 1, "keys": 0}}}}"#,
        "1:43",
        "`is_open` is the number 1: write `true` or `false`",
    ),
    (
        r#"{"a": {"components": {"door": {"is_open": true, "keys": 256}}}}"#,
        "1:57",
        "`keys` is the number 256: write a whole number from 0 to 255",
    ),
    (
        r#"{"a": {"components": {"door": {"is_open": true, "keys": -1}}}}"#,
        "1:57",
        "`keys` is the number -1: write a whole number from 0 to 255",
    ),
    (
        r#"{"a": {"components": {"door": {"is_open": true, "keys": 1.5}}}}"#,
        "1:57",
        "`keys` is the number 1.5: write a whole number",
    ),
    (
        r#"{"a": {"components": {"door": {"is_open": null, "keys": 1}}}}"#,
        "1:43",
        "`is_open` is `null`: write `true` or `false`",
    ),
    (
        r#"{"a": {"components": {"material": "Woood"}}}"#,
        "1:35",
        "`material` is the text \"Woood\": write one of `Wood`, `Stone`, `Iron`, `Glass`; did you mean `Wood`?",
    ),
    (r#"{"a": {"components": {"material": {}}}}"#, "1:35", "`material` is an object: write one of"),
    (
        r#"{"a": {"components": {"place": [1, 2]}}}"#,
        "1:32",
        "`place` is a list: write an object of fields by their names",
    ),
    (
        r#"{"a": {"components": {"place": {"x": 1}}}}"#,
        "1:23",
        "`place` needs a value for `y`: write a number here, or in a parent type",
    ),
    (
        r#"{"a": {"components": {"light": {"power": 1}}}}"#,
        "1:23",
        "`light` needs values for `radius` (a number), `colour` (a whole number): write them here, or",
    ),
    (
        r#"{"a": {"components": {"door": {}}}}"#,
        "1:23",
        "`door` needs values for `is_open` (`true` or `false`), `keys` (a whole number): write",
    ),
    (
        r#"{"a": 7}"#,
        "1:7",
        "`a` is the number 7: write an object of `parent`, `components`, `children`",
    ),
    (r#"{"a": {"parent": {}}}"#, "1:18", "`parent` is an object: write the name of a type"),
    ("[]", "1:1", "a file is a list: write an object of types by their names"),
];

/// Texts that are not JSON, and cycles.
const FORMS: Cases = &[
    ("", "1:1", "the file is empty"),
    ("{\n  \"a\": {},\n}", "2:10", "this is not JSON: trailing commas are not allowed"),
    ("{\n  \"a\": {} // lamp\n}", "2:11", "this is not JSON: comments are not allowed"),
    ("{\"ä\": {]", "1:8", "this is not JSON: "),
    (CYCLE, "4:20", "a cycle of parents: `a` → `b` → `c` → `a`: give one of them another parent"),
    (r#"{"a": {"parent": "a"}}"#, "1:18", "a cycle of parents: `a` → `a`: give one"),
    (
        "{\"a\": {\"children\": {\"x\": {\"type\": \"b\"}}},\n\"b\": {\"children\": {\"y\": {\"type\": \"a\"}}}}",
        "2:34",
        "a cycle of children: `a` → `b` → `a`: an object would contain itself",
    ),
    (
        "{\"a\": {\"children\": {\"x\": {\"type\": \"b\"}}},\n\"b\": {\"parent\": \"a\"}}",
        "2:17",
        "a cycle of children: `a` → `b` → `a`",
    ),
];

#[test]
fn every_fault_has_its_line_and_column_and_says_what_to_do() {
    for (text, place, says) in [NAMES, VALUES, FORMS].concat() {
        let found = faults(&[("x.json", text)]);
        assert_eq!(found.len(), 1, "{text}: {found:#?}");
        assert!(found[0].starts_with(&format!("x.json:{place}: {says}")), "{text}: {}", found[0]);
    }
}

#[test]
fn all_faults_of_all_files_are_found_in_one_go() {
    let first = "{\n\"lamp\": { \"parent\": \"thing\",\n  \"components\": { \"light\": { \"power\": 70000, \"glow\": 1,\n  \"radius\": \"far\" } } } }";
    let second = r#"{ "lamp": {}, "tree": { "parent": "tree" }, "x": { "parent": "tree" } }"#;
    let places: Vec<_> = faults(&[("b.json", second), ("a.json", first)])
        .iter()
        .map(|fault| fault.split(": ").next().expect("a place").to_owned())
        .collect();
    let a = ["a.json:2:21", "a.json:3:39", "a.json:3:46", "a.json:4:13"];
    assert_eq!(places, [&a[..], &["b.json:1:3", "b.json:1:35"]].concat());
}

#[test]
fn a_file_that_is_not_json_makes_no_names_of_others_unknown() {
    let files = [("a.json", "{\"base\": {}"), ("b.json", r#"{"x": {"parent": "base"}, "y": 1}"#)];
    let found = faults(&files);
    assert!(found[0].starts_with("a.json:1:"), "{found:?}");
    assert!(found[1].starts_with("b.json:1:32: `y` is the number 1"), "{found:?}");
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn a_file_without_utf8_or_with_a_byte_order_mark_has_places_too() {
    let file = |bytes: &'static [u8]| Types::load(schema(), [("x.json", Ok(bytes))]);
    let fault = file(b"{\n\"\xFF\": {}}").expect_err("no UTF-8").remove(0).to_string();
    assert_eq!(fault, "x.json:2:2: this byte is not UTF-8: save the file as UTF-8");
    assert_eq!(file("\u{feff}{\"a\": {}}".as_bytes()).expect("a type").len(), 1);
    let fault = file("\u{feff}{\"a\": 1}".as_bytes()).expect_err("no type").remove(0);
    assert!(fault.to_string().starts_with("x.json:1:7: "), "as an editor shows it: {fault}");
}

#[test]
fn an_object_that_grows_with_each_type_is_refused_before_the_memory_is() {
    let double = |n: u32| {
        format!(
            r#","t{n}": {{"children": {{"a": {{"type": "t{0}"}}, "b": {{"type": "t{0}"}}}}}}"#,
            n - 1
        )
    };
    let text = format!("{{\"t0\": {{}}{}}}", (1..40).map(double).collect::<String>());
    let found = faults(&[("x.json", &text)]);
    let first = "with this, an object has more than 1000 entities: remove children";
    assert!(found[0].ends_with(first), "{found:?}");
}

#[test]
fn a_child_that_is_replaced_counts_no_more() {
    let ten = |name: &str, of: &str| {
        let child = |number| format!(r#""c{number}": {{"type": "{of}"}}"#);
        let children: Vec<_> = (0..10).map(child).collect();
        format!(r#""{name}": {{"children": {{{}}}}}"#, children.join(","))
    };
    let types = |children: &str| {
        let (tens, hundreds) = (ten("ten", "one"), ten("hundred", "ten"));
        format!(
            r#"{{"one": {{}}, {tens}, {hundreds},
            "most": {{"children": {{"a": {{"type": "hundred"}}, "b": {{"type": "hundred"}},
              "c": {{"type": "hundred"}}, "d": {{"type": "hundred"}}, "e": {{"type": "hundred"}},
              "f": {{"type": "hundred"}}, "g": {{"type": "hundred"}}, "h": {{"type": "hundred"}}}}}},
            "new": {{"parent": "most", "children": {{{children}}}}}}}"#
        )
    };
    let nodes = |children: &str| {
        let types = load(&[("x.json", &types(children))])?;
        Ok::<_, Vec<Fault>>(types.get(types.len() - 1).nodes.len())
    };
    // An object of 111, and one of eight of them.
    assert_eq!(nodes("").expect("889 entities"), 889);
    assert_eq!(nodes(r#""x": {"type": "hundred"}"#).expect("1000 entities"), 1000);
    let replaced = r#""a": {"type": "hundred"}, "b": {"type": "hundred"}"#;
    assert_eq!(nodes(replaced).expect("as many as before"), 889);
    // The order in the file does not matter.
    let moved = r#""x": {"type": "hundred"}, "y": {"type": "ten"}, "a": {"type": "one"}"#;
    assert_eq!(nodes(moved).expect("1011 entities but 110"), 1011 - 110);
    let deep = r#""a": {"children": {"c0": {"type": "hundred"}}}"#;
    assert_eq!(nodes(deep).expect("100 more"), 989);
    let many = r#""x": {"type": "hundred"}, "y": {"type": "one"}"#;
    let faults = nodes(many).expect_err("1001 entities");
    assert!(faults[0].text.starts_with("with this, an object has more than 1000"), "{faults:?}");
}

#[test]
fn a_file_that_cannot_be_read_is_a_fault_of_it_alone() {
    let files = [("a.json", Err("no right")), ("b.json", Ok(&br#"{"x": {"parent": "y"}}"#[..]))];
    let faults = Types::load(schema(), files).expect_err("a fault");
    let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
    let says = "a.json:1:1: the file cannot be read: no right: correct that, or remove it";
    assert_eq!(faults, [says], "the other type may be in it");
}

#[test]
fn a_long_line_of_parents_needs_no_deep_stack() {
    let child = |n: u32| format!(r#","t{n}": {{"parent": "t{}"}}"#, n - 1);
    let text = format!(
        r#"{{"t0": {{"components": {{"burnt": {{}}}}}}{}}}"#,
        (1..20_000).map(child).collect::<String>()
    );
    let types = load(&[("x.json", &text)]).expect("types");
    assert!(bytes(&types, values(&types, "t19999", ""), "burnt").is_empty());
    let text = text.replacen(r#""t0": {"#, r#""t0": {"parent": "t19999", "#, 1);
    assert_eq!(faults(&[("x.json", &text)]).len(), 1, "one cycle is one fault");
}

#[test]
fn cycles_that_share_most_of_their_types_have_short_texts() {
    let types = 2000;
    let link = |n: u32| {
        let next = (n + 1) % types;
        format!(r#""t{n}": {{"parent": "t{next}", "children": {{"x": {{"type": "t0"}}}}}}"#)
    };
    let text = format!("{{{}}}", (0..types).map(link).collect::<Vec<_>>().join(","));
    let found = load(&[("x.json", &text)]).expect_err("each type leads back to the first");
    assert_eq!(found.len(), types as usize);
    assert!(found.iter().all(|fault| fault.text.len() < 200), "a few names of each cycle");
    let long = found.iter().find(|fault| fault.text.contains("`t3` → 1900 more → `t1904` → "));
    let long = &long.expect("a cycle of 1908 types").text;
    assert!(long.starts_with("a cycle of children: `t0` → `t1` → "), "{long}");
    assert!(long.contains(" → `t1907` → `t0`: an object would contain itself"), "{long}");
    let parents = found.iter().filter(|fault| fault.text.starts_with("a cycle of parents: "));
    assert_eq!(parents.count(), 1, "the parent of the last one is the first, and once its child");
}

#[test]
fn a_file_of_types_that_is_gone_leaves_few_searches_for_their_names() {
    let types = 20_000;
    let missing = |n: u32| match n {
        0 => "lapm".to_owned(),
        n if n == types - 1 => "lmap".to_owned(),
        n => format!("m{n}"),
    };
    let one = |n: u32| format!(r#""a long name {n}": {{"parent": "{}"}}"#, missing(n));
    let all = (0..types).map(one).collect::<Vec<_>>().join(",\n");
    let found = faults(&[("x.json", &format!(r#"{{{all}, "lamp": {{}}}}"#))]);
    assert_eq!(found.len(), types as usize);
    assert!(found[0].ends_with("`lapm`: define it, or correct it; did you mean `lamp`?"));
    let last = found.last().expect("20,000 faults");
    assert!(last.ends_with("`lmap`: define it, or correct it"), "{last}");
}

#[test]
fn long_names_are_not_compared_and_long_lists_are_cut() {
    let long = |end: &str| format!("{}{end}", "n".repeat(64));
    let text = format!(r#"{{"{}": {{}}, "x": {{"parent": "{}"}}}}"#, long("a"), long("b"));
    let found = faults(&[("x.json", &text)]);
    assert!(found[0].ends_with("b`: define it, or correct it"), "{found:?}");

    let key = |n: u32| format!(r#""k{n}": 0"#);
    let keys: Vec<_> = (0..9).map(key).collect();
    let found = faults(&[("x.json", &format!(r#"{{"{}": {{{}}}}}"#, long("aa"), keys.join(",")))]);
    let says = format!("`{}…` has no `k", long(""));
    assert!(found.len() == 9 && found.iter().all(|fault| fault.contains(&says)), "{found:?}");

    let child = |number| format!(r#""{number:070}": {{"type": "one"}}"#);
    let children: Vec<_> = (0..900).map(child).collect();
    let text = format!(
        r#"{{"one": {{}}, "most": {{"children": {{{}}}}},
        "x": {{"parent": "most", "children": {{"y": {{}}}}}}}}"#,
        children.join(",")
    );
    let found = faults(&[("x.json", &text)]);
    let names = vec![format!("`{}…`", "0".repeat(64)); 16].join(", ");
    let says = format!("`y` is no inherited child: give its `type`, or write {names}, 884 more");
    assert_eq!(found, [format!("x.json:2:46: {says}")]);
}

#[test]
fn a_chain_of_children_with_long_names_is_refused_before_the_memory_is() {
    let chain = |len: usize, name: &str| {
        let link =
            |n| format!(r#", "t{n}": {{"children": {{"{name}": {{"type": "t{}"}}}}}}"#, n - 1);
        format!(r#"{{"t0": {{}}{}}}"#, (1..len).map(link).collect::<String>())
    };
    let paths = |types: &Types| {
        let nodes = (0..types.len()).flat_map(|number| &types.get(number).nodes);
        nodes.map(|node| node.path.len()).max()
    };
    let types = load(&[("x.json", &chain(9, &"n".repeat(31)))]).expect("eight children in a line");
    assert_eq!(paths(&types), Some(256));
    let found = faults(&[("x.json", &chain(10, &"n".repeat(31)))]);
    let says =
        "with this, the names on the path to an entity have more than 256 bytes: use shorter";
    assert!(found.len() == 1 && found[0].contains(says), "{found:?}");
    assert!(!faults(&[("x.json", &chain(999, &"n".repeat(150)))]).is_empty());

    // A child that is overridden has the path of the names above it.
    let far = |len: usize| {
        format!(
            r#"{{"one": {{}}, "a": {{"children": {{"{0}": {{"type": "one"}}}}}}, "b": {{"parent": "a",
            "children": {{"{0}": {{"children": {{"{1}": {{"type": "one"}}}}}}}}}}}}"#,
            "n".repeat(155),
            "m".repeat(len)
        )
    };
    assert_eq!(paths(&load(&[("x.json", &far(99))]).expect("155 + 99 + 2")), Some(256));
    assert!(faults(&[("x.json", &far(100))])[0].contains(says));
}

#[test]
fn names_do_not_control_a_terminal() {
    let text = r#"{"\u001b[2J\n\u202ex": {"parent": "\u0007"}, "é": 7}"#;
    let found = faults(&[("\u{9b}\r.json", text)]);
    let says = r"`\u{7}`: define it, or correct it";
    assert!(found[0].starts_with(r"\u{9b}\r.json:1:") && found[0].ends_with(says), "{found:?}");
    assert!(found[1].contains("`é` is the number 7"), "letters stay: {found:?}");
    let name = "\u{1b}[2J\n\u{202e}\u{61c}x";
    assert_eq!(Visible(name).to_string(), r"\u{1b}[2J\n\u{202e}\u{61c}x");
    let twice = [("\n", r#"{"a": {}}"#), ("x", r#"{"a": {}}"#)];
    assert_eq!(faults(&twice), [r"x:1:2: `a` is also at \n:1:2: rename one"]);
}

#[test]
fn fields_are_inherited_and_overridden_over_three_levels() {
    let text = r#"{
      "lamp": { "components": { "light": { "radius": 1, "power": 10, "colour": 100 }, "burnt": {} } },
      "lantern": { "parent": "lamp", "components": { "light": { "power": 20 } } },
      "beacon": { "parent": "lantern",
        "components": { "light": { "colour": 300 }, "place": { "x": 0.5, "y": 2 } } }
    }"#;
    let types = load(&[("x.json", text)]).expect("types");
    let light = |radius: f32, power: u16, colour: u16| {
        [&radius.to_ne_bytes()[..], &power.to_ne_bytes(), &colour.to_ne_bytes()].concat()
    };
    for (name, expected) in [
        ("lamp", light(1.0, 10, 100)),
        ("lantern", light(1.0, 20, 100)),
        ("beacon", light(1.0, 20, 300)),
    ] {
        let values = values(&types, name, "");
        assert_eq!(bytes(&types, values, "light"), expected, "{name}");
        assert!(bytes(&types, values, "burnt").is_empty(), "{name}");
        assert_eq!(values.iter().count(), if name == "beacon" { 3 } else { 2 }, "{name}");
    }
}

#[test]
fn children_are_inherited_overridden_by_name_and_replaced_by_a_type() {
    let text = r#"{
      "lamp": { "components": { "health": { "points": 5, "armour": 1 } } },
      "fire": { "components": { "burnt": {} } },
      "room": { "children": { "lamp": { "type": "lamp" } } },
      "house": { "children": { "a": { "type": "room" }, "b": { "type": "room" } } },
      "villa": { "parent": "house", "children": {
        "a": { "children": { "lamp": { "components": { "health": { "points": 9 } } } } },
        "b": { "children": { "lamp": { "type": "fire" } } },
        "c": { "type": "lamp" } } }
    }"#;
    let types = load(&[("x.json", text)]).expect("types");
    let health = |name, path| bytes(&types, values(&types, name, path), "health").to_vec();
    let points = |points: u16| [points.to_ne_bytes(), 1u16.to_ne_bytes()].concat();
    assert_eq!(health("house", "/a/lamp"), points(5));
    assert_eq!(health("villa", "/a/lamp"), points(9));
    assert_eq!(health("villa", "/c"), points(5));
    let fire = values(&types, "villa", "/b/lamp");
    assert_eq!((fire.iter().count(), bytes(&types, fire, "burnt").len()), (1, 0));
    let villa = (0..types.len()).map(|n| types.get(n)).find(|one| one.name == "villa");
    let paths: Vec<_> = villa.expect("a villa").nodes.iter().map(|node| &*node.path).collect();
    assert_eq!(paths, ["", "/a", "/b", "/c", "/a/lamp", "/b/lamp"], "level after level");
}

proptest! {
    #[test]
    fn any_text_is_types_or_faults_with_places_in_it(
        text in r#"\{("(a|b|c)": \{(|"parent": "[abc]"|"children": \{"x": \{"type": "[abc]"\}\}|"components": \{"(place|door|burnt|x)": (\{\}|\{"(x|y|keys)": -?[0-9]{1,4}\}|7)\})\}[,
]?){0,4}\}?"#,
    ) {
        match load(&[("x.json", &text)]) {
            Ok(types) => prop_assert!(types.len() <= 3),
            Err(faults) => {
                prop_assert!(faults.is_sorted() && !faults.is_empty());
                let lines: Vec<_> = text.split('\n').collect();
                for fault in faults {
                    prop_assert!((1..=lines.len()).contains(&fault.at.line), "{}", fault);
                    let len = lines[fault.at.line - 1].chars().count();
                    prop_assert!((1..=len + 1).contains(&fault.at.column), "{}: {}", text, fault);
                }
            }
        }
    }
}

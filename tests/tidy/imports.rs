//! The rule of the floors: imports go down, or sideways without a cycle.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::Source;
use crate::{FLOORS, assert_none};

/// A use of something of module `target`, in a file of module `source`.
struct Import {
    source: String,
    target: String,
    place: String,
}

/// The places where each macro of the crate is defined: `crate::name!` alone does not tell.
fn macro_homes(sources: &[Source]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut homes: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for source in sources {
        for i in 0..source.tokens.len() {
            if source.text(i) == "macro_rules" && source.text(i + 1) == "!" {
                let home = source.top().unwrap_or("lib");
                homes.entry(source.text(i + 2)).or_default().insert(home);
            }
        }
    }
    homes
}

/// All imports, and the paths that name no module.
fn imports(sources: &[Source]) -> (Vec<Import>, Vec<String>) {
    let homes = macro_homes(sources);
    let (mut found, mut unclear) = (Vec::new(), Vec::new());
    for source in sources {
        let Some(top) = source.top() else { continue };
        let mut add = |target: &str, line: usize| {
            let place = format!("{}:{line}", source.path);
            found.push(Import { source: top.to_owned(), target: target.to_owned(), place });
        };
        for i in rooted_names(source) {
            let (name, line) = (source.text(i), source.tokens[i].line);
            let home = homes.get(name).filter(|homes| homes.len() == 1).and_then(|h| h.first());
            let is_call = source.text(i + 1) == "!";
            match (floor(name), home) {
                (Some(_), _) if !is_call => add(name, line),
                (_, Some(home)) => add(home, line),
                _ => unclear.push(source.complain(
                    line,
                    &format!("`crate::{name}` is no module of a floor: name where it stands"),
                )),
            }
        }
        for i in 0..source.tokens.len() {
            // A macro called by its bare name comes from somewhere, too.
            let is_bare_call = source.text(i + 1) == "!" && i > 0 && source.text(i - 1) != "::";
            if let Some(homes) = homes.get(source.text(i)).filter(|_| is_bare_call)
                && let [home] = homes.iter().collect::<Vec<_>>()[..]
            {
                add(home, source.tokens[i].line);
            }
        }
    }
    found.retain(|import| import.source != import.target);
    (found, unclear)
}

/// The indices of the names that follow the crate's root: `crate::name`, `crate::{name, name}`,
/// `phalanx::name`, and `super` repeated up to the root.
fn rooted_names(source: &Source) -> Vec<usize> {
    let mut names = Vec::new();
    let mut braces = 0;
    let mut inline_modules = Vec::new();
    for i in 0..source.tokens.len() {
        match source.text(i) {
            "{" => {
                braces += 1;
                if i >= 2 && source.text(i - 2) == "mod" {
                    inline_modules.push(braces);
                }
            }
            "}" => {
                if inline_modules.last() == Some(&braces) {
                    inline_modules.pop();
                }
                braces -= 1;
            }
            "::" if i > 0
                && leads_to_root(source, i - 1, source.depth() + inline_modules.len()) =>
            {
                names.extend(names_after(source, i + 1));
            }
            _ => {}
        }
    }
    names
}

/// Whether the path that ends at token `i` is the crate's root, seen from `depth` modules below.
fn leads_to_root(source: &Source, i: usize, depth: usize) -> bool {
    let before = |k: usize| i.checked_sub(k).map_or("", |i| source.text(i));
    match source.text(i) {
        // `$crate::…` is resolved at the use of the macro; `pub(in crate::…)` imports no item.
        "crate" => before(1) != "$" && !(before(1) == "in" && before(2) == "("),
        "phalanx" => before(1) != "::",
        "super" => {
            let supers = (0..).step_by(2).take_while(|&k| before(k) == "super").count();
            let links = (1..).step_by(2).take_while(|&k| before(k) == "::").count();
            depth > 0 && supers == depth && links + 1 >= supers
        }
        _ => false,
    }
}

/// The first names of a path's rest: one name, or the names of a group in braces.
fn names_after(source: &Source, start: usize) -> Vec<usize> {
    if source.text(start) != "{" {
        // `super::super` goes on: its last link is checked by itself.
        return if source.text(start) == "super" { Vec::new() } else { vec![start] };
    }
    let mut names = Vec::new();
    let mut depth = 0;
    for i in start..source.tokens.len() {
        match source.text(i) {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if depth == 1 && matches!(source.text(i), "{" | ",") && source.text(i + 1) != "}" {
            names.push(i + 1);
        }
    }
    names
}

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().find(|(_, modules)| modules.contains(&module)).map(|&(floor, _)| floor)
}

/// Imports go down, or sideways without a cycle.
pub(crate) fn import_violations(sources: &[Source]) -> Vec<String> {
    let (imports, mut violations) = imports(sources);
    for source in sources {
        if let Some(top) = source.top().filter(|top| floor(top).is_none()) {
            violations.push(source.complain(1, &format!("module `{top}` stands on no floor")));
        }
    }
    let mut sideways: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for Import { source, target, place } in &imports {
        let (Some(from), Some(to)) = (floor(source), floor(target)) else {
            violations.push(format!("{place}: `{source}` uses `{target}`, which has no floor"));
            continue;
        };
        if to > from {
            violations.push(format!(
                "{place}: `{source}` (floor {from}) uses `{target}` (floor {to}): imports go down"
            ));
        } else if to == from {
            sideways.entry(source).or_default().insert(target);
        }
    }
    violations.extend(cycle(&sideways).map(|c| format!("modules in a circle: {}", c.join(" → "))));
    violations
}

/// A module that does not exist must be removed from its floor.
pub(crate) fn stale_floors(sources: &[Source], floors: &[(usize, &[&str])]) -> Vec<String> {
    let exists = |name: &str| sources.iter().any(|source| source.top() == Some(name));
    let names =
        floors.iter().flat_map(|(floor, names)| names.iter().map(move |name| (floor, name)));
    let stale = names.filter(|(_, name)| !exists(name));
    stale.map(|(floor, name)| format!("floor {floor}: there is no module `{name}`")).collect()
}

/// A cycle in the graph, if it has one.
fn cycle<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Option<Vec<&'a str>> {
    fn visit<'a>(
        edges: &BTreeMap<&'a str, BTreeSet<&'a str>>,
        path: &mut Vec<&'a str>,
        node: &'a str,
    ) -> Option<Vec<&'a str>> {
        if let Some(start) = path.iter().position(|&n| n == node) {
            return Some([&path[start..], &[node]].concat());
        }
        path.push(node);
        let found = edges.get(node)?.iter().find_map(|next| visit(edges, path, next));
        path.pop();
        found
    }
    // The early return of `?` leaves the path behind, so each start has its own.
    edges.keys().find_map(|node| visit(edges, &mut Vec::new(), node))
}

fn imports_of(files: &[(&str, &str)]) -> Vec<String> {
    let sources: Vec<_> = files.iter().map(|(path, text)| Source::new(path, text)).collect();
    import_violations(&sources)
}

#[test]
fn an_import_upwards_is_found_in_every_form() {
    for text in [
        "use crate::world::World;",
        "use crate::{line::LINE, world::{World, Edit}};",
        "use super::super::world::World;",
        "fn f() { crate::world::g(); }",
        "mod tests { use super::super::super::world::World; }",
        "mod tests { fn f(w: phalanx::world::World) {} }",
        "use crate::{\n    entity::Entity,\n    query,\n};",
    ] {
        let violations = imports_of(&[("storage/slab.rs", text)]);
        assert_eq!(violations.len(), 1, "{text}: {violations:?}");
    }
}

#[test]
fn an_import_downwards_or_beside_is_fine() {
    for text in [
        "use crate::line::LINE; use crate::{simd, entity::{Entity, EntityError}};",
        "use super::columns::Columns; use super::super::line::LINE; // crate::world",
        "mod tests { use super::*; use super::super::columns::world; }",
        "pub(in crate::storage) fn f() {} macro_rules! m { () => { $crate::world::f() }; }",
        r#"/// `crate::world::World`
        fn f() -> &'static str { "crate::world" }"#,
    ] {
        assert_none(&imports_of(&[("storage/slab.rs", text)]));
    }
    assert_none(&imports_of(&[(
        "lib.rs",
        "pub use crate::world::World; pub use explain::Explain;",
    )]));
}

#[test]
fn an_import_through_the_root_is_found() {
    assert_eq!(imports_of(&[("query/plan.rs", "use crate::World;")]).len(), 1);
    assert_eq!(imports_of(&[("query/plan.rs", "use crate::*;")]).len(), 1);
    assert_eq!(imports_of(&[("query/plan.rs", "use crate::prelude::*;")]).len(), 1);
    assert_none(&imports_of(&[("prelude.rs", "pub use crate::World;")]));
    assert_eq!(imports_of(&[("entity/mod.rs", "use super::World;")]).len(), 1);
}

#[test]
fn a_macro_counts_as_an_import_of_its_home() {
    let home = ("world/edit.rs", "macro_rules! edit { () => {}; }");
    for call in ["crate::edit!();", "use crate::edit;", "edit!();", "{ edit! { a } }"] {
        let violations = imports_of(&[home, ("query/plan.rs", &format!("fn f() {{}} {call}"))]);
        assert_eq!(violations.len(), 1, "{call}: {violations:?}");
        assert_none(&imports_of(&[home, ("explain/mod.rs", &format!("fn f() {{}} {call}"))]));
    }
}

#[test]
fn a_circle_on_one_floor_is_found() {
    let there = ("schedule/run.rs", "use crate::command::Commands;");
    let back = ("command.rs", "use crate::schedule::System;");
    assert_eq!(imports_of(&[there, back]), ["modules in a circle: command → schedule → command"]);
    assert_none(&imports_of(&[there]));
    let circle = [
        ("command/mod.rs", "use crate::schedule::a;"),
        ("schedule/mod.rs", "use crate::explain::a;"),
        ("explain/mod.rs", "use crate::schedule::a;"),
    ];
    assert_eq!(imports_of(&circle).len(), 1);
    assert_none(&imports_of(&circle[..2]));
}

#[test]
fn a_module_without_a_floor_is_found() {
    assert_eq!(imports_of(&[("cellar.rs", "")]).len(), 1);
    assert_eq!(imports_of(&[("cellar/mod.rs", "use crate::line::LINE;")]).len(), 2);
}

#[test]
fn a_floor_of_a_module_that_is_gone_is_found() {
    let sources = [Source::new("line.rs", ""), Source::new("storage/slab.rs", "")];
    assert_none(&stale_floors(&sources, &[(0, &["line"]), (2, &["storage"])]));
    assert_eq!(stale_floors(&sources, &[(0, &["line", "bits"]), (1, &["slab"])]).len(), 2);
}

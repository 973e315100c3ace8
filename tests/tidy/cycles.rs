//! The rule of the files: no file imports itself through others.
//!
//! Folders stand on floors ([`imports`](crate::imports)); inside of a folder, files must not form a
//! cycle either. A path is followed through the re-exports of `mod.rs` to the file that has the
//! item. Only code that is shipped counts: modules of tests may use everything. Paths that `$crate`
//! starts are resolved where a macro is used, and left out.
//!
//! The rule holds in every folder with a program, too. A `main.rs` is a file like others: its
//! modules may not import its items.

use std::collections::{BTreeMap, BTreeSet};

use crate::assert_none;
use crate::source::Source;

/// Files that import each other in a circle, in order of their paths.
pub(crate) type Circle = &'static [&'static str];

/// A path, its last name under the name that it is known by afterwards.
#[derive(Clone, Debug, PartialEq)]
struct Import {
    path: Vec<String>,
    name: String,
    is_public: bool,
}

/// A file as a module.
struct Module<'a> {
    source: &'a Source,
    /// Its path below the crate.
    path: Vec<String>,
    imports: Vec<Import>,
    /// Names after `fn`, `struct`, and the like in its code.
    items: BTreeSet<String>,
}

/// No cycle of files exists except the listed ones, and each listed one still exists.
pub(crate) fn cycle_violations(sources: &[Source], known: &[Circle]) -> Vec<String> {
    let edges = edges(sources);
    let found = circles(&edges);
    let mut violations = Vec::new();
    for circle in &found {
        let is_in = |known: &&Circle| circle.iter().all(|file| known.contains(&file.as_str()));
        match known.iter().find(is_in) {
            Some(known) if known.len() == circle.len() => {}
            Some(_) => violations.push(format!(
                "files in a circle: {}: fewer than the list has, so shorten it",
                circle.join(", ")
            )),
            None => violations.push(format!("files in a circle: {}", ties(circle, &edges))),
        }
    }
    for known in known {
        let is_in = |circle: &Vec<String>| circle.iter().all(|f| known.contains(&f.as_str()));
        if !found.iter().any(is_in) {
            let files = known.join(", ");
            violations.push(format!("no circle any more: take {files} off the list"));
        }
    }
    violations
}

/// The imports that tie the files of a circle.
fn ties(circle: &[String], edges: &BTreeMap<String, BTreeSet<String>>) -> String {
    let tie = |from: &String| {
        let to: Vec<_> = edges[from].iter().filter(|to| circle.contains(to)).cloned().collect();
        format!("{from} → {}", to.join(" "))
    };
    circle.iter().map(tie).collect::<Vec<_>>().join("; ")
}

/// The files that each file imports.
fn edges(sources: &[Source]) -> BTreeMap<String, BTreeSet<String>> {
    let modules: Vec<_> = sources.iter().map(module).collect();
    let index: BTreeMap<&[String], &Module<'_>> =
        modules.iter().map(|module| (&module.path[..], module)).collect();
    let tests = test_files(sources);
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for module in &modules {
        let path = module.source.path.as_str();
        // A file that only re-exports stands above its own folder.
        if tests.contains(path) || path.ends_with("mod.rs") || module.source.top().is_none() {
            continue;
        }
        let targets = edges.entry(path.to_owned()).or_default();
        for import in &module.imports {
            if let Some(target) = home(&index, &module.path, &import.path, 0)
                && target.source.path != path
                && !target.source.path.ends_with("mod.rs")
            {
                targets.insert(target.source.path.clone());
            }
        }
    }
    edges
}

/// The file with the item of a path, seen from a module.
fn home<'a>(
    index: &BTreeMap<&[String], &'a Module<'a>>,
    from: &[String],
    path: &[String],
    depth: usize,
) -> Option<&'a Module<'a>> {
    // Re-exports that lead to each other end somewhere.
    if depth > 16 {
        return None;
    }
    let mut at = from.to_vec();
    let mut rest = path;
    let mut is_first = true;
    while let Some((name, after)) = rest.split_first() {
        match name.as_str() {
            "crate" if is_first => at.clear(),
            "self" => {}
            "super" => drop(at.pop()?),
            name => {
                let child = [&at[..], &[name.to_owned()]].concat();
                if index.contains_key(&child[..]) {
                    at = child;
                } else if is_first {
                    // A name of another crate, of the prelude, or of this file.
                    return None;
                } else {
                    return exported(index, &at, name, depth);
                }
            }
        }
        is_first = false;
        rest = after;
    }
    index.get(&at[..]).copied()
}

/// The file that has a name of a module: itself, or the target of its re-exports.
fn exported<'a>(
    index: &BTreeMap<&[String], &'a Module<'a>>,
    at: &[String],
    name: &str,
    depth: usize,
) -> Option<&'a Module<'a>> {
    let module = index.get(at).copied()?;
    if module.items.contains(name) || name == "*" {
        return Some(module);
    }
    let public = module.imports.iter().filter(|import| import.is_public);
    let named = public.clone().find(|import| import.name == name);
    if let Some(import) = named {
        return home(index, at, &import.path, depth + 1);
    }
    // `pub use child::*`.
    let globs = public.filter(|import| import.name == "*");
    let mut homes = globs.filter_map(|import| {
        let mut path = import.path.clone();
        *path.last_mut()? = name.to_owned();
        home(index, at, &path, depth + 1).filter(|home| home.items.contains(name))
    });
    // A module that is kept elsewhere, by `#[path]`, is no item of the root.
    homes.next().or((!at.is_empty()).then_some(module))
}

fn module(source: &Source) -> Module<'_> {
    let stem = source.path.strip_suffix(".rs").unwrap_or(&source.path);
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    let path: Vec<String> = match stem {
        "lib" | "main" | "mod" => Vec::new(),
        stem => stem.split('/').map(str::to_owned).collect(),
    };
    let shipped = shipped(source);
    let imports = import_paths(&shipped);
    const WORDS: [&str; 8] =
        ["fn", "struct", "enum", "trait", "type", "const", "static", "macro_rules"];
    let mut items = BTreeSet::new();
    for (i, word) in shipped.iter().enumerate() {
        if WORDS.contains(word) {
            let bang = usize::from(*word == "macro_rules");
            items.extend(shipped.get(i + 1 + bang).map(|name| (*name).to_owned()));
        }
    }
    Module { source, path, imports, items }
}

/// Files with a `mod` after `#[cfg(test)]`.
fn test_files(sources: &[Source]) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    for source in sources {
        for i in test_attributes(source) {
            let mut at = i;
            while source.text(at) != "mod" && !matches!(source.text(at), "" | ";" | "{") {
                at += 1;
            }
            if source.text(at) == "mod" && source.text(at + 2) == ";" {
                let folder = source.path.strip_suffix("mod.rs").map(str::to_owned);
                let folder =
                    folder.unwrap_or_else(|| format!("{}/", source.path.trim_end_matches(".rs")));
                files.insert(format!("{folder}{}.rs", source.text(at + 1)));
            }
        }
    }
    files
}

/// The indices after each `#[cfg(test)]`.
fn test_attributes(source: &Source) -> Vec<usize> {
    const ATTRIBUTE: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let is_here = |i: usize| (0..ATTRIBUTE.len()).all(|k| source.text(i + k) == ATTRIBUTE[k]);
    (0..source.tokens.len()).filter(|&i| is_here(i)).map(|i| i + ATTRIBUTE.len()).collect()
}

/// The words of a file without the items after `#[cfg(test)]`.
fn shipped(source: &Source) -> Vec<&str> {
    let mut words = Vec::new();
    let tests = test_attributes(source);
    let mut i = 0;
    while i < source.tokens.len() {
        if tests.contains(&i) {
            // To the end of the item: a semicolon, or the brace that closes its first one.
            let mut depth = 0;
            while i < source.tokens.len() {
                match source.text(i) {
                    "{" => depth += 1,
                    "}" => depth -= 1,
                    _ => {}
                }
                let is_end = matches!(source.text(i), "}" | ";") && depth == 0;
                i += 1;
                if is_end {
                    break;
                }
            }
            continue;
        }
        words.push(source.text(i));
        i += 1;
    }
    words
}

/// All paths of `use` lines, and all paths in code that begin with `crate`, `super` or `self`.
fn import_paths(words: &[&str]) -> Vec<Import> {
    let mut imports = Vec::new();
    let mut i = 0;
    while i < words.len() {
        let word = words[i];
        let is_rooted = matches!(word, "crate" | "super" | "self")
            && words.get(i + 1) == Some(&"::")
            && !matches!(i.checked_sub(1).map(|k| words[k]), Some("$" | "::" | "in"));
        if word == "use" {
            let before = i.checked_sub(1).map_or("", |k| words[k]);
            let is_public = matches!(before, "pub" | ")");
            i = tree(words, i + 1, &[], is_public, &mut imports);
        } else if is_rooted {
            i = tree(words, i, &[], false, &mut imports);
        } else {
            i += 1;
        }
    }
    imports
}

/// Adds the paths of a tree of `use` that begins at `i`; returns the index after it.
fn tree(
    words: &[&str],
    mut i: usize,
    prefix: &[String],
    is_public: bool,
    imports: &mut Vec<Import>,
) -> usize {
    let mut path = prefix.to_vec();
    loop {
        match words.get(i).copied() {
            Some("{") => {
                i += 1;
                while words.get(i).is_some_and(|word| *word != "}") {
                    let next = tree(words, i, &path, is_public, imports);
                    i = next.max(i + 1);
                    if words.get(i) == Some(&",") {
                        i += 1;
                    }
                }
                return i + 1;
            }
            Some(word) => path.push(word.to_owned()),
            None => return i,
        }
        i += 1;
        if words.get(i) != Some(&"::") {
            break;
        }
        i += 1;
        // Type arguments: the path ends before them.
        if words.get(i) == Some(&"<") {
            break;
        }
    }
    let mut name = path.last().cloned().unwrap_or_default();
    if name == "self" && path.len() > 1 {
        path.pop();
        name = path.last().cloned().unwrap_or_default();
    }
    if words.get(i) == Some(&"as") {
        name = words.get(i + 1).map_or(name, |word| (*word).to_owned());
        i += 2;
    }
    imports.push(Import { path, name, is_public });
    i
}

/// The sets of files that all reach each other, by Warshall's closure.
fn circles(edges: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let mut reached = edges.clone();
    for via in edges.keys() {
        let onward = reached[via].clone();
        for targets in reached.values_mut().filter(|targets| targets.contains(via)) {
            targets.extend(onward.iter().cloned());
        }
    }
    let reaches = |from: &String, to: &String| reached.get(from).is_some_and(|t| t.contains(to));
    let mut circles: Vec<Vec<String>> = Vec::new();
    for file in edges.keys().filter(|file| reaches(file, file)) {
        match circles.iter_mut().find(|c| reaches(&c[0], file) && reaches(file, &c[0])) {
            Some(circle) => circle.push(file.clone()),
            None => circles.push(vec![file.clone()]),
        }
    }
    circles
}

fn check(files: &[(&str, &str)], known: &[Circle]) -> Vec<String> {
    let sources: Vec<_> = files.iter().map(|(path, text)| Source::new(path, text)).collect();
    cycle_violations(&sources, known)
}

/// A folder with two files that use the texts `a` and `b`.
fn folder<'a>(a: &'a str, b: &'a str) -> [(&'a str, &'a str); 4] {
    let index = "mod list;\nmod page;\npub(crate) use list::{List, Other as Another};\n\
                 pub use page::*;";
    [
        ("storage/list.rs", a),
        ("storage/mod.rs", index),
        ("storage/page.rs", b),
        ("lib.rs", "mod storage;"),
    ]
}

#[test]
fn a_circle_of_files_is_found_in_every_form() {
    let list = "use super::page::Page;\npub(crate) struct List;\npub struct Other;";
    for page in [
        "use super::list::List; pub struct Page;",
        "use super::List; pub struct Page;",
        "use super::{Another, x::Y}; pub struct Page;",
        "use crate::storage::list::{self, List}; pub struct Page;",
        "use crate::{line::LINE, storage::{List, page::P}}; pub struct Page;",
        "pub struct Page; fn f() -> super::List {}",
        "pub struct Page; fn f() { crate::storage::list::g::<u8>(1); }",
    ] {
        let found = check(&folder(list, page), &[]);
        assert_eq!(found.len(), 1, "{page}: {found:?}");
    }
    // Through the star of `pub use page::*`.
    let star = "use super::Page;\npub(crate) struct List;";
    assert_eq!(check(&folder(star, "use super::List;\npub struct Page;"), &[]).len(), 1);
}

#[test]
fn imports_that_close_no_circle_are_fine() {
    let list = "use super::page::Page;\npub(crate) struct List;";
    for page in [
        "pub struct Page;",
        "pub struct Page;\n#[cfg(test)]\nmod tests {\n    use super::super::list::List;\n}",
        "pub struct Page;\n#[cfg(test)]\nuse super::list::List;",
        "pub struct Page; macro_rules! m { () => { $crate::storage::List }; }",
        "pub struct Page; pub(in crate::storage) fn f() {} // super::List",
        "use super::Missing; pub struct Page;",
    ] {
        assert_none(&check(&folder(list, page), &[]));
    }
    let twin = [
        ("storage/mod.rs", "mod list;\n#[cfg(test)]\nmod twin;"),
        ("storage/list.rs", "use super::twin::Twin; pub struct List;"),
        ("storage/twin.rs", "use super::list::List; pub struct Twin;"),
    ];
    assert_none(&check(&twin, &[]));
}

#[test]
fn a_program_is_in_a_circle_with_the_modules_that_use_its_items() {
    let main = "mod page;\nuse page::print;\nfn main() { print() }\nstruct Failure;";
    let found = |page| check(&[("main.rs", main), ("page.rs", page)], &[]);
    assert_eq!(found("use crate::Failure; pub fn print() {}").len(), 1);
    assert_eq!(found("pub fn print() { super::Failure; }").len(), 1);
    assert_none(&found("pub fn print() {}"));
    // The root of a folder that several programs share.
    let shared = |flat| {
        let body = "use super::flat::add; pub fn pull() {}";
        let root = "mod flat;\nmod life;\npub fn world() {}";
        check(&[("mod.rs", root), ("flat.rs", flat), ("life.rs", body)], &[])
    };
    assert_eq!(shared("pub fn add() { super::life::pull() }").len(), 1);
    assert_none(&shared("pub fn add() { super::world(); super::programs::life::next() }"));
}

#[test]
fn the_list_of_circles_only_shrinks() {
    const BOTH: Circle = &["storage/list.rs", "storage/page.rs"];
    const MORE: Circle = &["storage/list.rs", "storage/page.rs", "storage/slab.rs"];
    let circle = folder("use super::Page; struct List;", "use super::List; pub struct Page;");
    assert_none(&check(&circle, &[BOTH]));
    assert_eq!(check(&circle, &[MORE]).len(), 1, "it has shrunk");
    assert_eq!(check(&circle, &[&["storage/list.rs", "storage/slab.rs"]]).len(), 2, "another");
    let straight = folder("use super::Page; struct List;", "pub struct Page;");
    assert_eq!(check(&straight, &[BOTH]).len(), 1, "it is gone");
}

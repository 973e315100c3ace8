//! The essay of a folder, in its `mod.rs`, names every file of the folder, and only files that
//! exist.

use std::collections::BTreeSet;

use crate::assert_none;
use crate::source::Source;

/// Each file and folder beside a `mod.rs` is named in its comments as code: `` `graph` ``. Each
/// path in them that ends with `.rs` is a path of a file, from the folder or from `src`.
///
/// A name outside of backticks does not count, because names such as `row` and `set` are words too.
/// Drawings are between fences, so a name in a drawing alone does not count either: it has no
/// clause that tells the contents of the file.
pub(crate) fn essay_violations(sources: &[Source]) -> Vec<String> {
    let mut violations = Vec::new();
    for source in sources {
        let Some(folder) = source.path.strip_suffix("mod.rs") else { continue };
        let beside: BTreeSet<_> =
            sources.iter().filter_map(|other| name_in(folder, &other.path)).collect();
        let names = named(source);
        let missing = beside.into_iter().filter(|&name| !names.contains(name));
        violations.extend(
            missing.map(|name| source.complain(1, &format!("the essay does not name `{name}`"))),
        );
        for (line, path) in paths(source) {
            let is_file = |from: &str| sources.iter().any(|s| s.path == format!("{from}{path}"));
            if !is_file(folder) && !is_file("") {
                violations.push(source.complain(line, &format!("`{path}` is not a file")));
            }
        }
    }
    violations
}

/// The module directly in the folder that has the file; `None` for `mod.rs` and other folders.
fn name_in<'s>(folder: &str, path: &'s str) -> Option<&'s str> {
    let name = path.strip_prefix(folder)?.split('/').next()?;
    let name = name.strip_suffix(".rs").unwrap_or(name);
    (name != "mod").then_some(name)
}

/// The text of a line that is a comment, without its marks.
fn comment(line: &str) -> Option<&str> {
    Some(line.trim_start().strip_prefix("//")?.trim_start_matches(['/', '!']))
}

/// The code between backticks in the comments of a file, outside of fences.
fn named(source: &Source) -> BTreeSet<&str> {
    let mut is_fenced = false;
    let mut names = BTreeSet::new();
    for text in source.lines.iter().filter_map(|line| comment(line)) {
        is_fenced ^= text.trim_start().starts_with("```");
        if !is_fenced {
            let codes = text.split('`').skip(1).step_by(2);
            names.extend(codes.map(|code| code.strip_prefix("mod@").unwrap_or(code)));
        }
    }
    names
}

/// The paths of Rust files of `src` in the comments of a file, with their lines.
fn paths(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    let is_in_path = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    (1..).zip(&source.lines).filter_map(|(i, line)| Some((i, comment(line)?))).flat_map(
        move |(i, text)| {
            let words = text.split(move |c| !is_in_path(c));
            let paths = words.filter(|word| word.ends_with(".rs") && !word.starts_with("tests/"));
            paths.map(move |path| (i, path))
        },
    )
}

#[test]
fn an_essay_that_misses_a_file_is_found() {
    let folder = |essay: &str| {
        [
            Source::new("world/mod.rs", essay),
            Source::new("world/row.rs", ""),
            Source::new("world/parts/mod.rs", "//! Parts: [`part`]."),
            Source::new("world/parts/part.rs", ""),
            Source::new("store/plan.rs", ""),
        ]
    };
    for essay in [
        "//! [`row`] has a row, and [`mod@parts`] has its parts.",
        "//! `row` and\n//! `parts`: see `parts/part.rs` and `store/plan.rs`.",
        "//! The world.\n// | `row`, `parts` | hold all |\nmod row;",
    ] {
        assert_none(&essay_violations(&folder(essay)));
    }
    for (essay, count) in [
        ("//! [`row`] has a row.", 1),
        ("//! A row has parts.", 2),
        ("//! [`parts`] of `rows`.\n//! ```text\n//! `row`\n//! ```", 1),
        ("//! [`parts`].\nmod row; /* `row` */", 1),
        ("//! `row`, `parts`.\n//! ```text\n//!  Row::new    rows.rs\n//! ```", 1),
        ("//! `row`, `parts`: see `store/plans.rs`.", 1),
    ] {
        let violations = essay_violations(&folder(essay));
        assert_eq!(violations.len(), count, "{essay}: {violations:?}");
    }
}

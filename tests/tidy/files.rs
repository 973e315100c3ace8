//! The rules for single files: length, width of comments, `mod.rs`, stubs, README and changelog.

use crate::source::Source;
use crate::{COMMENT_COLUMNS_MAX, LINES_MAX, STUBS, assert_none};

/// Files are short.
pub(crate) fn length_violations(source: &Source) -> Vec<String> {
    let len = source.lines.len();
    let violation = || source.complain(len, &format!("{len} lines; a file has under {LINES_MAX}"));
    (len >= LINES_MAX).then(violation).into_iter().collect()
}

/// The number of wide comment lines that a file may have: the number at the creation of the rule.
pub(crate) type Wide = (&'static str, usize);

/// Comments are as narrow as code, but for tables, and drawings and programs between fences.
///
/// A file of the list has exactly the number of wide lines in the list.
pub(crate) fn width_violations(source: &Source, known: &[Wide]) -> Vec<String> {
    let mut is_fenced = false;
    let mut wide = Vec::new();
    for (i, line) in source.lines.iter().enumerate() {
        let Some(text) = line.trim_start().strip_prefix("//") else {
            is_fenced = false;
            continue;
        };
        let text = text.trim_start_matches(['/', '!']).trim_start();
        is_fenced ^= text.starts_with("```");
        if line.chars().count() > COMMENT_COLUMNS_MAX && !is_fenced && !text.starts_with('|') {
            wide.push(i + 1);
        }
    }
    let allowed = known.iter().find(|(path, _)| *path == source.path).map_or(0, |known| known.1);
    if wide.len() > allowed {
        let what = format!("a comment is wider than {COMMENT_COLUMNS_MAX} columns");
        return wide.into_iter().map(|line| source.complain(line, &what)).collect();
    }
    let lower = || format!("{}: {} wide comments: lower its {allowed}", source.path, wide.len());
    (wide.len() < allowed).then(lower).into_iter().collect()
}

/// A `mod.rs` has the essay, `mod` and `pub use`, and no code.
pub(crate) fn mod_file_violations(source: &Source) -> Vec<String> {
    let mut violations = Vec::new();
    if !source.path.ends_with("mod.rs") {
        return violations;
    }
    let skip_to = |from: usize, what: &str| {
        (from..source.tokens.len()).find(|&k| source.text(k) == what).unwrap_or(source.tokens.len())
    };
    let mut i = 0;
    while i < source.tokens.len() {
        if source.text(i) == "#" {
            i = attribute_end(source, i);
            continue;
        }
        let start = i;
        let is_pub = source.text(i) == "pub";
        if is_pub {
            i += 1;
            if source.text(i) == "(" {
                i = skip_to(i, ")") + 1;
            }
        }
        let is_module = source.text(i) == "mod" && source.text(i + 2) == ";";
        let is_export = source.text(i) == "use" && is_pub;
        if !is_module && !is_export {
            let what = "a mod.rs holds docs, `mod` and `pub use`, no code";
            violations.push(source.complain(source.tokens[start].line, what));
            return violations;
        }
        i = skip_to(i, ";") + 1;
    }
    violations
}

/// The index after the attribute that begins at `start`.
fn attribute_end(source: &Source, start: usize) -> usize {
    let mut depth = 0;
    for i in start..source.tokens.len() {
        match source.text(i) {
            "[" => depth += 1,
            "]" if depth == 1 => return i + 1,
            "]" => depth -= 1,
            _ => {}
        }
    }
    source.tokens.len()
}

/// No stubs, no forgotten debugging, no ignored test.
pub(crate) fn stub_violations(source: &Source) -> Vec<String> {
    let mut violations = Vec::new();
    for (i, token) in source.tokens.iter().enumerate() {
        let next = source.text(i + 1);
        let what = match token.text.as_str() {
            stub if STUBS.contains(&stub) && next == "!" => format!("`{stub}!`"),
            "ignore" if i >= 1 && source.text(i - 1) == "[" && matches!(next, "]" | "=") => {
                "an ignored test".to_owned()
            }
            _ => continue,
        };
        violations.push(source.complain(token.line, &what));
    }
    violations
}

/// The most lines of the README: a page that a reader scrolls through once.
const README_LINES_MAX: usize = 150;

/// The front page of the documentation is a file of its own. The README is for the repository's
/// page: short, without the links and hidden lines that only rustdoc resolves, and tested.
pub(crate) fn front_page_violations(lib: &str, readme: &str) -> Vec<String> {
    let mut violations = Vec::new();
    for (include, text) in [
        (r#"#![doc = include_str!("front_page.md")]"#, "the front page is that file"),
        (r#"#[doc = include_str!("../README.md")]"#, "the programs of the README are tested"),
    ] {
        if lib.lines().filter(|line| line.trim() == include).count() != 1 {
            violations.push(format!("lib.rs: {text}: `{include}`"));
        }
    }
    if lib.lines().any(|line| line.trim_start().starts_with("//!")) {
        violations.push("lib.rs: crate docs beside the front page".to_owned());
    }
    if readme.trim().is_empty() {
        violations.push("README.md: empty".to_owned());
    }
    if readme.lines().count() > README_LINES_MAX {
        violations.push(format!("README.md: more than {README_LINES_MAX} lines"));
    }
    for (number, line) in (1..).zip(readme.lines()) {
        if line.contains("crate::") || line.starts_with("# ") && number > 1 {
            violations.push(format!("README.md:{number}: only rustdoc understands `{line}`"));
        }
    }
    violations
}

/// The changelog has a section for unreleased changes, before all others.
pub(crate) fn changelog_violations(changelog: &str) -> Vec<String> {
    let first = changelog.lines().find(|line| line.starts_with("## "));
    let is_unreleased = first.is_some_and(|line| line.trim() == "## [Unreleased]");
    let violation = || "CHANGELOG.md: the first section is not `## [Unreleased]`".to_owned();
    (!is_unreleased).then(violation).into_iter().collect()
}

/// A type that is an error is in the list of `error.rs`, which prints its text as its `Debug`.
pub(crate) fn error_violations(source: &Source, list: &str) -> Vec<String> {
    let (_, list) = list.split_once("debug_is_text! {").unwrap_or_default();
    let (list, _) = list.split_once('}').unwrap_or_default();
    let known: Vec<_> = list.split(',').map(str::trim).collect();
    let mut violations = Vec::new();
    for name in source.tokens.windows(3) {
        let [error, r#for, name] = name else { unreachable!("three tokens each") };
        if (&*error.text, &*r#for.text) == ("Error", "for") && !known.contains(&&*name.text) {
            let text = format!("add `{}` to `debug_is_text!` in error.rs", name.text);
            violations.push(source.complain(name.line, &text));
        }
    }
    violations
}

#[test]
fn a_long_file_is_found() {
    assert_eq!(length_violations(&Source::new("line.rs", &"\n".repeat(500))).len(), 1);
    assert_none(&length_violations(&Source::new("line.rs", &"\n".repeat(499))));
}

#[test]
fn a_wide_comment_is_found() {
    let wide = "word ".repeat(20);
    for text in [
        format!("// {wide}"),
        format!("    /// {wide}"),
        format!("//! ```\n//! short\n//! ```\n//! {wide}"),
        // A fence ends with its comment.
        format!("/// ```\nfn f() {{}}\n/// {wide}"),
    ] {
        let source = Source::new("line.rs", &text);
        assert_eq!(width_violations(&source, &[]).len(), 1, "{text}");
        assert_none(&width_violations(&source, &[("line.rs", 1)]));
        assert_eq!(width_violations(&source, &[("line.rs", 2)]).len(), 1, "the list is too long");
    }
    for text in [
        format!("//! | {wide} |"),
        format!("//! ```text\n//! {wide}\n//! ```"),
        format!("let a = \"{wide}\";"),
        format!("// {}", "é".repeat(97)),
    ] {
        assert_none(&width_violations(&Source::new("line.rs", &text), &[]));
    }
}

#[test]
fn code_in_a_mod_file_is_found() {
    for text in [
        "fn f() {}",
        "pub struct A;",
        "use crate::line::LINE;",
        "mod a { fn f() {} }",
        "//! Essay.\nmod a;\npub use a::A;\nconst B: u32 = 1;",
        "macro_rules! m { () => {}; }",
    ] {
        assert_eq!(mod_file_violations(&Source::new("world/mod.rs", text)).len(), 1, "{text}");
    }
    let good = "//! Essay.\n#![allow(x)]\nmod a;\n#[cfg(test)]\npub(crate) mod b;\npub use a::{A, B};\n\
                #[doc(hidden)]\npub(in crate::world) use b::C;";
    assert_none(&mod_file_violations(&Source::new("world/mod.rs", good)));
    assert_none(&mod_file_violations(&Source::new("world/edit.rs", "fn f() {}")));
}

#[test]
fn stubs_are_found() {
    for text in
        ["todo!()", "unimplemented!(\"later\")", "dbg!(a)", "#[ignore]", "#[ignore = \"slow\"]"]
    {
        assert_eq!(stub_violations(&Source::new("a.rs", text)).len(), 1, "{text}");
    }
    assert_none(&stub_violations(&Source::new("a.rs", "fn todo() { ignore(); } // todo!()")));
}

#[test]
fn a_front_page_without_its_programs_or_beside_another_is_found() {
    let lib =
        "#![doc = include_str!(\"front_page.md\")]\n#[doc = include_str!(\"../README.md\")]\n";
    let violations = |lib: &str, readme: &str| front_page_violations(lib, readme).len();
    assert_eq!(violations(lib, "# phalanx\n[docs](docs/a.md)"), 0);
    assert_eq!(violations("//! Docs.", "# phalanx"), 3);
    assert_eq!(violations("", "# phalanx"), 2);
    assert_eq!(violations(lib, " "), 1);
    assert_eq!(violations(&format!("{lib}//! More."), "# phalanx"), 1);
    assert_eq!(violations(lib, &"line\n".repeat(151)), 1);
    assert_eq!(violations(lib, "# phalanx\n# let mut world = World::new();"), 1);
    assert_eq!(violations(lib, "# phalanx\n[`World`]: crate::World"), 1);
}

#[test]
fn an_error_whose_debug_is_no_text_is_found() {
    let list = "debug_is_text! {\n    Full, Empty,\n}";
    let of = |name: &str| Source::new("a.rs", &format!("impl core::error::Error for {name} {{}}"));
    assert_none(&error_violations(&of("Full"), list));
    assert_none(&error_violations(&of("Empty"), list));
    assert_eq!(error_violations(&of("Other"), list).len(), 1);
    assert_eq!(error_violations(&of("Full"), "").len(), 1, "there is no list");
}

#[test]
fn a_closed_changelog_is_found() {
    assert_none(&changelog_violations("# Changelog\n\n## [Unreleased]\n\n### Added\n"));
    assert_eq!(changelog_violations("# Changelog\n\n## [0.1.0]\n\n## [Unreleased]\n").len(), 1);
    assert_eq!(changelog_violations("").len(), 1);
}

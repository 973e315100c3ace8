//! The rules for single files: length, `mod.rs`, `unsafe`, stubs, README and changelog.

use crate::source::Source;
use crate::{LINES_MAX, STUBS, assert_none};

/// Files are short.
pub(crate) fn length_violations(source: &Source) -> Vec<String> {
    let len = source.lines.len();
    let violation = || source.complain(len, &format!("{len} lines; a file has under {LINES_MAX}"));
    (len >= LINES_MAX).then(violation).into_iter().collect()
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

/// The index behind the attribute that begins at `start`.
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

/// `unsafe` stands in the files of the list, and every block and impl has its proof above it.
pub(crate) fn unsafe_violations(source: &Source, allowed: &[&str]) -> Vec<String> {
    let mut violations = Vec::new();
    for (i, token) in source.tokens.iter().enumerate().filter(|(_, t)| t.text == "unsafe") {
        if !allowed.contains(&source.path.as_str()) {
            violations
                .push(source.complain(token.line, "`unsafe` outside of the files allowed it"));
        }
        let needs_proof = matches!(source.text(i + 1), "{" | "impl");
        if needs_proof && !has_proof(&source.lines, token.line - 1) {
            violations.push(source.complain(token.line, "`unsafe` without `// SAFETY:` above it"));
        }
    }
    violations
}

/// Whether a `// SAFETY:` comment stands above the statement that line `at` belongs to.
fn has_proof(lines: &[String], at: usize) -> bool {
    let mut in_comment = false;
    for line in lines[..at].iter().rev().map(|line| line.trim()) {
        if line.starts_with("// SAFETY:") {
            return true;
        }
        let is_comment = line.starts_with("//");
        let is_attribute = line.starts_with("#[");
        let ends_before = line.is_empty() || line.ends_with([';', '{', '}', ',', '(', ']']);
        if (in_comment && !is_comment) || (!is_comment && !is_attribute && ends_before) {
            return false;
        }
        in_comment = is_comment;
    }
    false
}

/// A file of the list without `unsafe` comes off the list.
pub(crate) fn stale_allowances(sources: &[Source], allowed: &[&str]) -> Vec<String> {
    let has_unsafe = |path: &str| {
        let mut files = sources.iter().filter(|source| source.path == path);
        files.any(|source| source.tokens.iter().any(|token| token.text == "unsafe"))
    };
    let stale = allowed.iter().filter(|path| !has_unsafe(path));
    stale.map(|path| format!("{path}: allowed `unsafe`, and has none")).collect()
}

/// No stubs, no forgotten debugging, no test that is left out.
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

/// The crate's front page is the README itself, and nothing beside it.
pub(crate) fn front_page_violations(lib: &str, readme: &str) -> Vec<String> {
    let mut violations = Vec::new();
    let include = r#"#![doc = include_str!("../README.md")]"#;
    if lib.lines().filter(|line| line.trim() == include).count() != 1 {
        violations.push(format!("lib.rs: the crate docs are the README: `{include}`"));
    }
    if lib.lines().any(|line| line.trim_start().starts_with("//!")) {
        violations.push("lib.rs: crate docs beside the README's".to_owned());
    }
    if readme.trim().is_empty() {
        violations.push("README.md: empty".to_owned());
    }
    violations
}

/// The changelog has a section for what is not released yet, before all others.
pub(crate) fn changelog_violations(changelog: &str) -> Vec<String> {
    let first = changelog.lines().find(|line| line.starts_with("## "));
    let is_unreleased = first.is_some_and(|line| line.trim() == "## [Unreleased]");
    let violation = || "CHANGELOG.md: the first section is not `## [Unreleased]`".to_owned();
    (!is_unreleased).then(violation).into_iter().collect()
}

#[test]
fn a_long_file_is_found() {
    assert_eq!(length_violations(&Source::new("line.rs", &"\n".repeat(500))).len(), 1);
    assert_none(&length_violations(&Source::new("line.rs", &"\n".repeat(499))));
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
fn unsafe_elsewhere_is_found() {
    let text = "fn f() {\n    // SAFETY: proven.\n    unsafe { g() }\n}";
    assert_eq!(
        unsafe_violations(&Source::new("world/edit.rs", text), &["storage/slab.rs"]).len(),
        1
    );
    assert_none(&unsafe_violations(&Source::new("storage/slab.rs", text), &["storage/slab.rs"]));
    let word = "#![forbid(unsafe_code)] // unsafe { }\nconst A: &str = \"unsafe\";";
    assert_none(&unsafe_violations(&Source::new("world/edit.rs", word), &[]));
}

#[test]
fn unsafe_without_a_proof_is_found() {
    let check = |text: &str| unsafe_violations(&Source::new("a.rs", text), &["a.rs"]);
    for text in [
        "fn f() {\n    unsafe { g() }\n}",
        "unsafe impl Send for A {}",
        "// SAFETY: of another.\nlet a = b;\nlet c = unsafe { d() };",
        "// SAFETY: of another.\n\nunsafe impl Send for A {}",
        "// Safe enough.\nunsafe impl Send for A {}",
    ] {
        assert_eq!(check(text).len(), 1, "{text}");
    }
    for text in [
        "// SAFETY: proven,\n// at length.\n#[expect(unsafe_code)]\nlet a = unsafe { b() };",
        "// SAFETY: proven.\nlet a =\n    unsafe { b() };",
        "// SAFETY: proven.\nunsafe impl Send for A {}",
        "/// # Safety\n/// As said.\npub unsafe fn f() {}",
    ] {
        assert_none(&check(text));
    }
}

#[test]
fn a_stale_allowance_is_found() {
    let sources = [Source::new("a.rs", "unsafe fn f() {}"), Source::new("b.rs", "fn f() {}")];
    assert_eq!(stale_allowances(&sources, &["a.rs", "b.rs", "c.rs"]).len(), 2);
    assert_none(&stale_allowances(&sources, &["a.rs"]));
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
fn a_front_page_of_its_own_is_found() {
    let include = "#![doc = include_str!(\"../README.md\")]\n";
    assert_none(&front_page_violations(include, "# phalanx"));
    assert_eq!(front_page_violations("//! Docs.", "# phalanx").len(), 2);
    assert_eq!(front_page_violations("", "# phalanx").len(), 1);
    assert_eq!(front_page_violations(include, " ").len(), 1);
    assert_eq!(front_page_violations(&format!("{include}//! More."), "# phalanx").len(), 1);
}

#[test]
fn a_closed_changelog_is_found() {
    assert_none(&changelog_violations("# Changelog\n\n## [Unreleased]\n\n### Added\n"));
    assert_eq!(changelog_violations("# Changelog\n\n## [0.1.0]\n\n## [Unreleased]\n").len(), 1);
    assert_eq!(changelog_violations("").len(), 1);
}

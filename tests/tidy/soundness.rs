//! The rules for `unsafe`: its places and number, its proofs, and the traits that other crates may
//! implement.

use crate::assert_none;
use crate::source::Source;

/// A file that earned `unsafe` with a measurement.
pub(crate) struct Allowance {
    pub(crate) path: &'static str,
    /// The number of uses of the word in its code: blocks, `unsafe fn` and `unsafe impl`. It only
    /// falls.
    pub(crate) budget: usize,
    /// The cost of the safe form.
    pub(crate) reason: &'static str,
}

/// `unsafe` occurs only in the files of the list, in the listed number, and every block and impl
/// has its proof above it.
pub(crate) fn unsafe_violations(source: &Source, allowed: &[Allowance]) -> Vec<String> {
    let allowance = allowed.iter().find(|allowance| allowance.path == source.path);
    let budget = allowance.map_or(0, |allowance| allowance.budget);
    let mut violations = Vec::new();
    let mut count = 0;
    for (i, token) in source.tokens.iter().enumerate().filter(|(_, t)| t.text == "unsafe") {
        count += 1;
        if allowance.is_none() {
            violations
                .push(source.complain(token.line, "`unsafe` outside of the files allowed it"));
        }
        let needs_proof = matches!(source.text(i + 1), "{" | "impl");
        if needs_proof && !has_proof(&source.lines, token.line - 1) {
            violations.push(source.complain(token.line, "`unsafe` without `// SAFETY:` above it"));
        }
    }
    if allowance.is_some_and(|allowance| allowance.reason.is_empty()) {
        violations.push(format!("{}: allowed `unsafe` without a reason", source.path));
    }
    if allowance.is_some() && count > budget {
        let what = format!("`unsafe` {count} times, and its budget is {budget}");
        violations.push(format!("{}: {what}", source.path));
    }
    if count < budget {
        let what = format!("`unsafe` {count} times: lower its budget of {budget}");
        violations.push(format!("{}: {what}", source.path));
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

/// A file that does not exist must be removed from the list.
pub(crate) fn stale_allowances(sources: &[Source], allowed: &[Allowance]) -> Vec<String> {
    let exists = |path: &str| sources.iter().any(|source| source.path == path);
    let stale = allowed.iter().filter(|allowance| !exists(allowance.path));
    stale.map(|allowance| format!("{}: allowed `unsafe`, and is gone", allowance.path)).collect()
}

/// Every public trait is in the table of `contracts.rs`; every one that other crates cannot
/// implement has a program there that tries to.
pub(crate) fn trait_violations(sources: &[Source], contracts: &str) -> Vec<String> {
    let traits: Vec<_> = sources.iter().flat_map(public_traits).collect();
    let rows: Vec<_> = contracts.lines().filter_map(|line| line.strip_prefix("//! | `")).collect();
    let row = |name: &str| {
        let named = |row: &&&str| row.split_once('`').is_some_and(|(first, _)| first == name);
        rows.iter().find(named).copied()
    };
    let mut violations = Vec::new();
    for name in &traits {
        match row(name) {
            None => violations.push(format!("contracts.rs: the table lacks the trait `{name}`")),
            Some(row) if row.contains("other crates") => {}
            Some(_) if contracts.contains(&format!("impl {name}")) => {}
            Some(_) if contracts.contains(&format!("impl fold::{name}")) => {}
            Some(_) => {
                violations.push(format!("contracts.rs: no program implements the trait `{name}`"));
            }
        }
    }
    let names = rows.iter().filter_map(|row| Some(row.split_once('`')?.0));
    let gone = names.filter(|name| !traits.iter().any(|known| known == name));
    violations.extend(gone.map(|name| format!("contracts.rs: there is no public trait `{name}`")));
    violations
}

/// Traits that are `pub`. Traits of a private module `sealed` cannot be named, nor can the traits
/// of [`UNNAMED`].
fn public_traits(source: &Source) -> Vec<String> {
    let mut traits = Vec::new();
    let (mut depth, mut sealed_at) = (0, None);
    for (i, token) in source.tokens.iter().enumerate() {
        match token.text.as_str() {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                sealed_at = sealed_at.filter(|&at| depth > at);
            }
            "mod" if source.text(i + 1) == "sealed" => sealed_at = Some(depth),
            "trait" if sealed_at.is_none() => {
                let at = if i > 0 && source.text(i - 1) == "unsafe" { i - 1 } else { i };
                let is_pub = at > 0 && source.text(at - 1) == "pub";
                let name = source.text(i + 1);
                if is_pub && !UNNAMED.contains(&name) {
                    traits.push(name.to_owned());
                }
            }
            _ => {}
        }
    }
    traits
}

/// Traits that are public in a private module, and not exported.
const UNNAMED: [&str; 32] = [
    "BlockSource",
    "BundleShape",
    "CellShape",
    "ChangesEntities",
    "ColumnBundleShape",
    "ColumnVisitor",
    "ColumnarShape",
    "Columns",
    "InColumns",
    "Kept",
    "ListReader",
    "ListSink",
    "Mode",
    "ParSlices",
    "PickRow",
    "RelationShape",
    "RowKind",
    "RowShape",
    "SetValues",
    "Shape",
    "SparseBundle",
    "SparseLists",
    "SparseReader",
    "SparseSink",
    "SparseSource",
    "SparseVisitor",
    "SplitField",
    "TermParts",
    "TermSets",
    "TermShape",
    "WatchShape",
    "WatchedSets",
];

fn allowance(path: &'static str, budget: usize) -> Allowance {
    Allowance { path, budget, reason: "measured" }
}

#[test]
fn unsafe_elsewhere_is_found() {
    let text = "fn f() {\n    // SAFETY: proven.\n    unsafe { g() }\n}";
    let allowed = [allowance("storage/slab.rs", 1)];
    assert_eq!(unsafe_violations(&Source::new("world/edit.rs", text), &allowed).len(), 1);
    assert_none(&unsafe_violations(&Source::new("storage/slab.rs", text), &allowed));
    let word = "#![forbid(unsafe_code)] // unsafe { }\nconst A: &str = \"unsafe\";";
    assert_none(&unsafe_violations(&Source::new("world/edit.rs", word), &[]));
}

#[test]
fn a_budget_only_falls() {
    let text = "unsafe fn f() {}\n// SAFETY: proven.\nunsafe impl Send for A {}";
    let check =
        |budget| unsafe_violations(&Source::new("a.rs", text), &[allowance("a.rs", budget)]);
    assert_none(&check(2));
    assert_eq!(check(1).len(), 1, "more than the budget");
    assert_eq!(check(3).len(), 1, "less than the budget, which is to be lowered");
    let bare = [Allowance { path: "a.rs", budget: 2, reason: "" }];
    assert_eq!(unsafe_violations(&Source::new("a.rs", text), &bare).len(), 1, "no reason");
}

#[test]
fn unsafe_without_a_proof_is_found() {
    let check = |text: &str| unsafe_violations(&Source::new("a.rs", text), &[allowance("a.rs", 1)]);
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
    let sources = [Source::new("a.rs", "unsafe fn f() {}")];
    assert_eq!(stale_allowances(&sources, &[allowance("a.rs", 1), allowance("c.rs", 1)]).len(), 1);
    assert_none(&stale_allowances(&sources, &[allowance("a.rs", 1)]));
}

#[test]
fn a_trait_that_the_table_lacks_is_found() {
    let source = "pub trait A: sealed::B {}\nmod sealed {\n    pub trait B {}\n}\n\
                  pub(crate) trait C {}\npub trait D {}";
    let sources = [Source::new("a.rs", source)];
    let check = |contracts: &str| trait_violations(&sources, contracts);
    assert_none(&check("//! | `A` | none | |\n//! | `D` | other crates | x |\nimpl A for B {}"));
    assert_eq!(check("//! | `A` | none | |\nimpl A for B {}").len(), 1, "D is missing");
    assert_eq!(check("//! | `A` | none | |\n//! | `D` | other crates | |").len(), 1, "no program");
    let gone = "//! | `A` | none | |\n//! | `D` | other crates | |\n//! | `E` | none | |\nimpl A";
    assert_eq!(check(gone).len(), 1, "E is gone");
}

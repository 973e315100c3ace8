//! The drawings of calls in the essays are those of the code: each function stands in the file
//! beside it, and is named in a file of its caller.

use crate::assert_none;
use crate::source::Source;

/// A line of a drawing: functions, and the files that they stand in.
struct Call<'s> {
    line: usize,
    indent: usize,
    functions: Vec<&'s str>,
    /// The files, as paths in `src`.
    files: Vec<String>,
}

/// A drawing of calls is text between fences in which lines have functions, two spaces or more,
/// files, and perhaps a remark:
///
/// ```text
///  Store::insert               store.rs
///    Graph::find, Graph::add   archetype/graph.rs    the edge
/// ```
///
/// A path is from the folder or from `src`. Lines that are further to the right are calls of the
/// line above them.
pub(crate) fn drawing_violations(sources: &[Source]) -> Vec<String> {
    let essays = sources.iter().filter(|source| source.path.ends_with("mod.rs"));
    essays.flat_map(|essay| violations_in(essay, sources)).collect()
}

fn violations_in(essay: &Source, sources: &[Source]) -> Vec<String> {
    let mut violations = Vec::new();
    let mut callers: Vec<Call<'_>> = Vec::new();
    for call in calls(essay, sources) {
        callers.retain(|caller| caller.indent < call.indent && caller.line < call.line);
        let mut complain = |text: String| violations.push(essay.complain(call.line, &text));
        for function in &call.functions {
            let is_in = |file: &&Source| call.files.contains(&file.path);
            if !sources.iter().filter(is_in).any(|file| defines(file, function)) {
                complain(format!("`{function}` is not in {}", call.files.join(", ")));
            }
            let Some(caller) = callers.last() else { continue };
            let is_caller = |file: &&Source| caller.files.contains(&file.path);
            if !sources.iter().filter(is_caller).any(|file| uses(file, function)) {
                complain(format!("{} does not call `{function}`", caller.files.join(", ")));
            }
        }
        callers.push(call);
    }
    violations
}

/// The lines of drawings that name a file.
fn calls<'s>(essay: &'s Source, sources: &[Source]) -> Vec<Call<'s>> {
    let mut is_fenced = false;
    let mut calls = Vec::new();
    for (line, text) in (1..).zip(&essay.lines) {
        let Some(text) = text.trim_start().strip_prefix("//!") else { continue };
        let trimmed = text.trim_start();
        is_fenced ^= trimmed.starts_with("```");
        let names = |part: &'s str| part.split(", ").map(str::trim);
        let mut parts = trimmed.split("  ").map(str::trim).filter(|part| !part.is_empty());
        let (Some(functions), Some(files)) = (parts.next(), parts.next()) else { continue };
        // A name that fills its column is followed by a single space.
        let files = files.split_once(".rs ").map_or(files, |(first, _)| &files[..first.len() + 3]);
        if is_fenced && names(files).all(|file| file.ends_with(".rs")) {
            calls.push(Call {
                line,
                indent: text.len() - trimmed.len(),
                functions: names(functions).filter(|name| is_function(name)).collect(),
                files: names(files).map(|file| path_of(essay, file, sources)).collect(),
            });
        }
    }
    calls
}

/// Whether it is a name or `Type::name`, and not a remark such as `for each chunk`.
fn is_function(name: &str) -> bool {
    name.chars().all(|c| c.is_alphanumeric() || "_:".contains(c))
}

/// The path in `src` of a file that the essay names from there or from its own folder.
fn path_of(essay: &Source, file: &str, sources: &[Source]) -> String {
    let folder = essay.path.strip_suffix("mod.rs").unwrap_or_default();
    let beside = format!("{folder}{file}");
    if sources.iter().any(|s| s.path == beside) { beside } else { file.to_owned() }
}

/// Whether the file has the function, and its type if the name has one.
fn defines(file: &Source, name: &str) -> bool {
    let (of, function) = name.rsplit_once("::").map_or((None, name), |(of, f)| (Some(of), f));
    let texts = || file.tokens.windows(2).map(|pair| (&*pair[0].text, &*pair[1].text));
    texts().any(|pair| pair == ("fn", function))
        && of.is_none_or(|of| file.tokens.iter().any(|token| token.text == of))
}

/// Whether the file has the function's name, beside its definition.
fn uses(file: &Source, name: &str) -> bool {
    let function = name.rsplit("::").next().unwrap_or(name);
    (0..file.tokens.len()).any(|i| file.text(i) == function && (i == 0 || file.text(i - 1) != "fn"))
}

#[test]
fn a_drawing_that_differs_from_the_code_is_found() {
    let folder = |drawing: &str| {
        let essay = format!("//! Calls:\n//!\n//! ```text\n{drawing}\n//! ```");
        [
            Source::new("store/mod.rs", &essay),
            Source::new("store/store.rs", "impl Store { fn insert() { Graph::find(); grow() } }"),
            Source::new("archetype/graph.rs", "impl Graph { fn find() {} fn add() {} }"),
            Source::new("store/grow.rs", "fn grow() {}"),
        ]
    };
    for drawing in [
        "//!  Store::insert     store.rs\n//!    Graph::find    archetype/graph.rs   the edge",
        "//!  Store::insert, in short   store/store.rs what it does\n//!    grow       grow.rs",
        "//!  a box ──► another  of some text",
    ] {
        assert_none(&drawing_violations(&folder(drawing)));
    }
    for drawing in [
        "//!  Store::remove     store.rs",
        "//!  World::insert     store.rs",
        "//!  Store::insert     grow.rs",
        "//!  Store::insert     stores.rs",
        "//!  Store::insert     store.rs\n//!    Graph::add     archetype/graph.rs",
        "//!  Store::insert     store.rs\n//!    grow     grow.rs\n//!      Graph::find     archetype/graph.rs",
    ] {
        let violations = drawing_violations(&folder(drawing));
        assert_eq!(violations.len(), 1, "{drawing}: {violations:?}");
    }
}

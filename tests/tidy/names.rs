//! The rules for names: a page of the documentation is short enough to be read, a file and a type
//! have a name of their own.

use std::collections::BTreeMap;

use crate::source::Source;

/// The items that a page exports: modules and re-exports, without those that are hidden.
fn exports(page: &str) -> usize {
    let mut is_hidden = false;
    let mut statement = String::new();
    let mut names = 0;
    for line in page.lines().filter(|line| !line.trim_start().starts_with("//")) {
        if line == "#[doc(hidden)]" {
            is_hidden = true;
            continue;
        }
        statement.push_str(line);
        if line.ends_with(';') || line.is_empty() {
            names += if is_hidden { 0 } else { names_in(statement.trim()) };
            is_hidden &= line.is_empty();
            statement.clear();
        }
    }
    names
}

/// The names of one statement.
fn names_in(statement: &str) -> usize {
    match statement.split_once('{') {
        _ if !statement.starts_with("pub ") => 0,
        Some((_, list)) => {
            list.split(['}', ',']).filter(|n| n.contains(char::is_alphabetic)).count()
        }
        None => 1,
    }
}

/// A page has exactly its limit, so that the limit falls with it.
pub(crate) fn name_violations(path: &str, page: &str, limit: usize) -> Vec<String> {
    let names = exports(page);
    let violation = || format!("{path}: {names} public names; the limit is {limit}");
    (names != limit).then(violation).into_iter().collect()
}

/// The public methods of a type in a file: of its own `impl` blocks, not of traits.
fn methods(source: &Source, name: &str) -> usize {
    let (mut closing, mut is_hidden, mut methods) = (None, false, 0);
    for line in source.lines.iter().filter(|line| !line.trim_start().starts_with("//")) {
        let code = line.trim_start();
        let margin = &line[..line.len() - code.len()];
        match &closing {
            None if is_impl_of(code, name) && !is_hidden => {
                closing = Some(format!("{margin}}}"));
            }
            None => is_hidden = code == "#[doc(hidden)]",
            Some(end) if line == end => closing = None,
            Some(end) if margin.len() + 1 == end.len() + 4 => match code {
                "#[doc(hidden)]" => is_hidden = true,
                _ if code.starts_with("pub ") && code.contains("fn ") => {
                    methods += usize::from(!is_hidden);
                    is_hidden = false;
                }
                _ => {}
            },
            _ => {}
        }
    }
    methods
}

/// Whether a line opens an `impl` block of a type: `impl<'w, Q> Query<'w, Q> {`.
fn is_impl_of(line: &str, name: &str) -> bool {
    let Some(rest) = line.strip_prefix("impl") else { return false };
    let mut depth = 0;
    let end = rest.char_indices().find(|&(_, c)| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        depth == 0 && (c == ' ' || c == '>')
    });
    let target = end.map_or("", |(end, _)| rest[end + 1..].trim_start());
    let after = target.strip_prefix(name).unwrap_or("x");
    after.starts_with([' ', '<']) && !target.contains(" for ")
}

/// A type has exactly its limit of methods.
pub(crate) fn method_violations(sources: &[Source], name: &str, limit: usize) -> Vec<String> {
    let methods: usize = sources.iter().map(|source| methods(source, name)).sum();
    let violation = || format!("`{name}`: {methods} public methods; the limit is {limit}");
    (methods != limit).then(violation).into_iter().collect()
}

/// The names of files in several folders, but for `mod.rs`. Those of the list must be repeated.
pub(crate) fn file_name_violations(sources: &[Source], known: &[&str]) -> Vec<String> {
    let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in sources.iter().map(|source| &*source.path) {
        let name = path.rsplit('/').next().unwrap_or(path);
        files.entry(name.trim_end_matches(".rs")).or_default().push(path);
    }
    files.remove("mod");
    repeated(files, known, "file")
}

/// The names of types in several files: structs, enums, unions and traits outside of functions and
/// modules inside a file. So types of tests do not count.
pub(crate) fn type_name_violations(sources: &[Source], known: &[&str]) -> Vec<String> {
    let mut types: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for source in sources.iter().filter(|source| !source.path.ends_with("tests.rs")) {
        for name in source.lines.iter().filter_map(|line| type_name(line)) {
            let files = types.entry(name).or_default();
            if files.last() != Some(&&*source.path) {
                files.push(&source.path);
            }
        }
    }
    repeated(types, known, "type")
}

/// The name of the type that a line without a margin defines: `pub(crate) struct Name<T> {`.
fn type_name(line: &str) -> Option<&str> {
    let mut words = line.split([' ', '<', '(', ';', ':', ')']).filter(|word| !word.is_empty());
    if line.starts_with(' ') || line.starts_with("//") {
        return None;
    }
    words.find(|word| ["struct", "enum", "trait", "union"].contains(word))?;
    words.next().filter(|name| name.starts_with(char::is_uppercase))
}

fn repeated(names: BTreeMap<&str, Vec<&str>>, known: &[&str], what: &str) -> Vec<String> {
    let is_gone = |name: &&&str| names.get(**name).is_none_or(|files| files.len() < 2);
    let gone = known.iter().filter(is_gone);
    let mut violations: Vec<_> =
        gone.map(|name| format!("`{name}` is one {what} only: drop it from the list")).collect();
    let several = names.iter().filter(|(name, files)| files.len() > 1 && !known.contains(*name));
    violations.extend(several.map(|(name, files)| {
        format!("`{name}` is the name of several {what}s: {}", files.join(", "))
    }));
    violations
}

#[test]
fn methods_of_a_type_are_counted_in_all_its_blocks() {
    let text = "#[doc(hidden)]\nimpl Query {\n    pub fn h() {}\n}\nimpl<'w, Q: Terms<A>> Query<'w, Q> {\n    pub fn a() {}\n    fn b() {}\n    \
                pub(crate) fn c() {}\n}\nimpl Drop for Query<'_, Q> {\n    pub fn d() {}\n}\n\
                impl QueryIter {\n    pub fn e() {}\n}\nmod m {\n    impl Query<()> {\n        \
                pub const fn f() {}\n        #[doc(hidden)]\n        pub fn g() {}\n    }\n}\n";
    let sources = [Source::new("query.rs", text)];
    assert!(method_violations(&sources, "Query", 2).is_empty(), "`a` and `f`");
    assert_eq!(method_violations(&sources, "Query", 1).len(), 1, "a new method");
    assert_eq!(method_violations(&sources, "Query", 3).len(), 1, "a stale limit");
}

#[test]
fn a_name_more_or_less_than_the_limit_is_found() {
    let page =
        "mod a;\npub mod b;\n#[doc(hidden)]\npub use a::H;\npub use a::{\n    C, D,\n    E,\n};\n";
    assert!(name_violations("lib.rs", page, 4).is_empty());
    assert_eq!(name_violations("lib.rs", page, 3).len(), 1, "a new name");
    assert_eq!(name_violations("lib.rs", page, 5).len(), 1, "a stale limit");
}

#[test]
fn a_name_of_several_files_or_types_is_found() {
    let sources = [
        Source::new("a/mod.rs", "pub(crate) struct Row<T>(T);\n/// struct Cell\n"),
        Source::new("b/mod.rs", "trait Cell: Row {}\nfn f() {\n    struct Row;\n}\n"),
        Source::new("a/row.rs", "impl Row {}\nenum Cell {}\n"),
        Source::new("b/row.rs", ""),
    ];
    for (violations, name) in [
        (file_name_violations as fn(&[Source], &[&str]) -> Vec<String>, "row"),
        (type_name_violations, "Cell"),
    ] {
        let found = violations(&sources, &[]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with(&format!("`{name}`")), "{found:?}");
        assert_eq!(violations(&sources, &[name]), Vec::<String>::new());
        assert_eq!(violations(&sources, &[name, "Row"]).len(), 1, "the list is stale");
    }
}

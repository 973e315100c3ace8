//! The rule for public names: a page of the documentation is short enough to be read.

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

#[test]
fn a_name_more_or_less_than_the_limit_is_found() {
    let page =
        "mod a;\npub mod b;\n#[doc(hidden)]\npub use a::H;\npub use a::{\n    C, D,\n    E,\n};\n";
    assert!(name_violations("lib.rs", page, 4).is_empty());
    assert_eq!(name_violations("lib.rs", page, 3).len(), 1, "a new name");
    assert_eq!(name_violations("lib.rs", page, 5).len(), 1, "a stale limit");
}

//! The rule for published figures: a table names its commit, day and processor, and the measured
//! program. `.ci/run figures` lets git find tables that are older than that program.

use crate::assert_none;

/// The beginning of the line before a table, or before the first of several tables in a section.
const MEASURED: &str = "_Measured at ";
/// A table with this many numbers that have a point or a comma is a table of figures.
const NUMBERS_MIN: usize = 3;

/// Each table of figures of a page has a line about them above it, in its section.
pub(crate) fn figure_violations(path: &str, text: &str) -> Vec<String> {
    let lines: Vec<_> = text.lines().collect();
    let (mut violations, mut is_fenced, mut is_told) = (Vec::new(), false, false);
    let mut i = 0;
    while i < lines.len() {
        let (line, number) = (lines[i], i + 1);
        is_fenced ^= line.starts_with("```");
        if line.starts_with('#') && !is_fenced {
            is_told = false;
        }
        if line.starts_with(MEASURED) {
            is_told = true;
            if let Some(wrong) = wrong(line) {
                violations.push(format!("{path}:{number}: {wrong} in `{line}`"));
            }
        }
        let len = lines[i..].iter().take_while(|line| line.starts_with('|')).count();
        let numbers = lines[i..i + len].iter().flat_map(|line| line.split('|'));
        if numbers.filter(|cell| is_measure(cell)).count() >= NUMBERS_MIN && !is_told {
            violations.push(format!("{path}:{number}: figures, and no line `{MEASURED}…` above"));
        }
        i += len.max(1);
    }
    violations
}

/// Whether a cell begins with a number that was measured, not counted on fingers.
fn is_measure(cell: &str) -> bool {
    let word = cell.trim().trim_start_matches('*').split([' ', '*']).next().unwrap_or_default();
    let is_number = word.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ','));
    is_number && word.contains(['.', ',']) && word.starts_with(|c: char| c.is_ascii_digit())
}

/// The fault of a line: `_Measured at COMMIT on YEAR-MONTH-DAY, PROCESSOR, of `path`, …._`.
fn wrong(line: &str) -> Option<&'static str> {
    let rest = line.strip_prefix(MEASURED)?;
    let Some((commit, rest)) = rest.split_once(" on ") else { return Some("no ` on DATE`") };
    if commit.len() < 7 || !commit.chars().all(|c| c.is_ascii_hexdigit()) {
        return Some("no commit");
    }
    let Some((date, rest)) = rest.split_once(", ") else { return Some("no processor") };
    let form: Vec<_> = date.split('-').map(str::len).collect();
    if form != [4, 2, 2] || !date.chars().all(|c| c.is_ascii_digit() || c == '-') {
        return Some("no date");
    }
    let Some((processor, of)) = rest.rsplit_once(", of `") else { return Some("no paths") };
    let is_ended = of.ends_with("`._");
    (processor.is_empty() || !is_ended).then_some("no processor, or no end")
}

#[test]
fn figures_without_their_origin_are_found() {
    let table = "| | a |\n| --- | --- |\n| x | 1.5 |\n| y | **1,000** |\n| z | 0.97 (best) |\n";
    let told = "_Measured at 0a1b2c3 on 2026-01-31, Zen 5, of `src`, `benches/common`._\n";
    let found = |text: &str| figure_violations("page.md", text);
    assert_eq!(found(table).len(), 1);
    assert_none(&found(&format!("{told}\n{table}\n{table}")));
    assert_none(&found(&format!("{told}\n```text\n# no heading\n{table}```\n")));
    assert_eq!(found(&format!("{told}\n## Another section\n\n{table}")).len(), 1);
    assert_eq!(found(&format!("{table}\n{told}")).len(), 1, "it stands above");
    assert_none(&found("| code | meaning |\n| --- | --- |\n| 0 | a |\n| 1 | b |\n| 2 | c |\n"));
    for (from, to) in [
        ("0a1b2c3", "today"),
        ("2026-01-31", "31 January"),
        (", Zen 5, of", ", of"),
        (", of `src`, `benches/common`._", "._"),
        (" on 2026", ", 2026"),
        ("`._", ""),
    ] {
        assert_eq!(found(&told.replace(from, to)).len(), 1, "{from} as {to}");
    }
}

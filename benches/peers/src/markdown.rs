//! The table for a page: a row for each workload and size, a column for each library.

use crate::libs::{LIMIT, OURS};
use crate::report::{Group, Report};
use phalanx_figures::{significant, table, thousands};

/// The cell of a library that cannot run the workload.
const NONE: &str = "–";

/// The column of this project's faster calls.
const SPECIAL: &str = "… otherwise";

/// This project by its obvious variant, and in an additional column by a faster one; the others by
/// their fastest; the limit last. The fastest of the libraries is bold.
pub(crate) fn render(report: &Report) -> String {
    let libraries = libraries(report);
    let limit = report.groups.iter().any(|group| group.best_of(LIMIT).is_some());
    let mut header = vec!["ns per unit, median", "unit"];
    for &library in &libraries {
        header.push(library);
        header.extend((library == OURS).then_some(SPECIAL));
    }
    header.extend(limit.then_some("limit"));

    let mut table = table::markdown(header, 2);
    for group in &report.groups {
        let mut cells = vec![title(group), group.workload.unit.to_owned()];
        let text = |library: &str| {
            let shown = group.shown_of(library);
            shown.map_or_else(|| NONE.to_owned(), |(_, figures)| significant(figures.per_unit))
        };
        let best = fastest(group, &libraries);
        for &library in &libraries {
            // Times that are equal to the printed digits count as equal.
            let text = text(library);
            let is_best = best.as_ref() == Some(&text);
            cells.push(if is_best { format!("**{text}**") } else { text });
            cells.extend((library == OURS).then(|| special(group)));
        }
        cells.extend(limit.then(|| text(LIMIT)));
        table.add_row(cells);
    }
    let legend = "phalanx by the call that its documentation shows first, and beside it by a faster one, \
                  which is named; the others by their fastest variant; bold: the fastest library; limit: \
                  the same over plain `Vec`s; –: the library has no way to do it.";
    format!("{}\n\n{legend}\n", numbers_to_the_right(&table.to_string()))
}

/// A faster variant of this project, with its name.
fn special(group: &Group) -> String {
    group.special_of(OURS).map_or_else(String::new, |(line, figures)| {
        format!("{} `{}`", significant(figures.per_unit), line.row.variant)
    })
}

fn libraries(report: &Report) -> Vec<&'static str> {
    let lines = report.groups.first().map_or(&[][..], |group| &group.lines);
    let mut names: Vec<_> = lines.iter().map(|line| line.row.library).collect();
    names.dedup();
    names.retain(|&name| name != LIMIT);
    names
}

fn title(group: &Group) -> String {
    let size = thousands(group.size);
    format!("`{}`, {size} {}, {}", group.workload.name, group.workload.size, group.build)
}

fn fastest(group: &Group, libraries: &[&str]) -> Option<String> {
    let measured = libraries.iter().filter_map(|library| group.shown_of(library));
    measured.map(|(_, figures)| figures.per_unit).min_by(f64::total_cmp).map(significant)
}

/// Asks for numbers to the right, in the line below the header: all columns but the first two.
fn numbers_to_the_right(table: &str) -> String {
    let is_rule = |line: &str| line.starts_with("|--");
    let aligned = table.lines().map(|line| {
        if !is_rule(line) {
            return line.to_owned();
        }
        let mut columns: Vec<_> = line.split('|').map(str::to_owned).collect();
        for column in columns.iter_mut().skip(3).filter(|column| !column.is_empty()) {
            column.pop();
            column.push(':');
        }
        columns.join("|")
    });
    aligned.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::sample_report;

    fn rows(text: &str) -> Vec<Vec<&str>> {
        let lines = text.lines().filter(|line| line.starts_with('|'));
        lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
    }

    #[test]
    fn the_fastest_library_is_bold_and_the_limit_is_the_last_column() {
        let text = render(&sample_report());
        let rows = rows(&text);
        assert_eq!(rows[0][1..], ["unit", "phalanx", SPECIAL, "hecs", "bevy_ecs", "limit"]);
        assert_eq!(rows.len(), 2 + 4, "{text}");
        let cells =
            ["`pos_vel`, 10,000 entities, release", "entity", "**1.50**", "1.25 `256 KiB`", "2.00"];
        assert_eq!(rows[2][..5], cells, "{text}");
        assert_eq!(rows[2][5..], ["–", "1.00"], "{text}");
    }

    #[test]
    fn numbers_are_aligned_to_the_right_and_names_are_not() {
        let text = render(&sample_report());
        let rule = &rows(&text)[1];
        assert!(rule[..2].iter().all(|column| column.ends_with('-')), "{text}");
        assert!(rule[2..].iter().all(|column| column.ends_with(":")), "{text}");
    }
}

//! Text of explanations: names, numbers and tables.

use core::fmt;

/// The most archetypes that a text shows. The values themselves are complete.
pub(super) const SHOWN_MAX: usize = 8;

/// The name of the type without its path: the part after the last `::`. A component's name begins
/// with the path of its module, unless `#[component]` gave it another one.
pub(super) fn short(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// Short names separated by commas, or `none` if there are no names.
pub(super) fn list(names: &[&str], none: &str) -> String {
    match names {
        [] => none.to_owned(),
        names => names.iter().map(|name| short(name)).collect::<Vec<_>>().join(", "),
    }
}

/// A number with a comma between groups of three digits.
pub(super) fn grouped(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number and its noun: `1 chunk`, `2 chunks`.
pub(super) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// A part of a whole in per cent; 100 % if the whole is zero.
pub(super) fn percent(part: f64, whole: f64) -> String {
    let share = if whole == 0.0 { 1.0 } else { part / whole };
    format!("{:.1} %", 100.0 * share)
}

/// Writes the number of archetypes that a text leaves out.
pub(super) fn write_more(f: &mut fmt::Formatter<'_>, all: usize) -> fmt::Result {
    match all.saturating_sub(SHOWN_MAX) {
        0 => Ok(()),
        more => writeln!(f, "… and {}", count(more, "more archetype")),
    }
}

/// The alignment of the last column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastColumn {
    Number,
    Text,
}

/// A table, indented by two spaces: names are left-aligned, numbers right-aligned.
#[derive(Debug)]
pub(super) struct Table<const N: usize> {
    rows: Vec<[String; N]>,
    last: LastColumn,
}

impl<const N: usize> Table<N> {
    pub(super) fn new(head: [&str; N], last: LastColumn) -> Self {
        Self { rows: vec![head.map(str::to_owned)], last }
    }

    pub(super) fn push(&mut self, row: [String; N]) {
        self.rows.push(row);
    }
}

impl<const N: usize> fmt::Display for Table<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
        };
        let widths: [usize; N] = core::array::from_fn(width);
        for row in &self.rows {
            for (column, (text, &width)) in row.iter().zip(&widths).enumerate() {
                match column {
                    0 => write!(f, "  {text:width$}")?,
                    end if end + 1 == N && self.last == LastColumn::Text => write!(f, "  {text}")?,
                    _ => write!(f, "  {text:>width$}")?,
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number as u64), text);
        }
    }

    #[test]
    fn names_lose_the_path_of_their_module() {
        assert_eq!(short("game::physics::Position"), "Position");
        assert_eq!(list(&["a::B", "C"], "nothing"), "B, C");
        assert_eq!(list(&[], "nothing"), "nothing");
    }

    #[test]
    fn tables_are_aligned() {
        for (last, head) in [(LastColumn::Text, "why     "), (LastColumn::Number, "     why")] {
            let mut table = Table::new(["name", "rows", "why"], last);
            table.push(["one".into(), "1,000".into(), "misses A".into()]);
            let lines =
                [format!("  name   rows  {}", head.trim_end()), "  one   1,000  misses A".into()];
            assert_eq!(table.to_string().lines().collect::<Vec<_>>(), lines);
        }
    }
}

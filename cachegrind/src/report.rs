//! The table, and the lines of source of rows above their limits.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};

use crate::cachegrind::Event;
use crate::limits::Excess;
use crate::measure::Measured;
use crate::places::{Place, Sources, short_path};
use crate::row::Row;

/// Lines of source that are printed for a row above its limit.
const TOP_LINES: usize = 6;

/// Advice for a program without line numbers.
pub(crate) const NO_LINES: &str = "the program has no line numbers: add `debug = \"line-tables-only\"` \
     to its profile in Cargo.toml, `[profile.bench]` for cargo bench";

/// The table of all rows that were counted: counts per unit and pass.
pub(crate) fn table(results: &[(&Row, Measured)]) -> Table {
    const HEADS: [&str; 11] = [
        "row",
        "unit",
        "instructions",
        "data refs",
        "D1 misses",
        "least",
        "ratio",
        "I1 misses",
        "LL misses",
        "streams",
        "limits",
    ];
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(HEADS);
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for (row, measured) in results {
        let per_unit = |event| measured.per_unit(event);
        let (least, misses) = (measured.least_per_unit(), per_unit(Event::D1Misses));
        let streams = measured.work.streams;
        table.add_row([
            row.name.clone(),
            row.unit.to_owned(),
            format!("{:.2}", per_unit(Event::Instructions)),
            format!("{:.2}", per_unit(Event::References)),
            format!("{misses:.4}"),
            format!("{least:.4}"),
            if least > 0.0 { format!("{:.3}", misses / least) } else { "-".into() },
            format!("{:.4}", per_unit(Event::I1Misses)),
            format!("{:.4}", per_unit(Event::LlMisses)),
            if streams > 0 { streams.to_string() } else { "-".into() },
            row.limits.text(),
        ]);
    }
    table
}

/// Compares the whole program with a published figure.
pub(crate) fn beside_published(row: &Row, measured: &Measured) -> Option<String> {
    let published = row.published?;
    let whole = measured.whole.of(Event::D1Misses);
    let share = whole as f64 / published as f64;
    let (name, passes) = (&row.name, row.passes.1);
    Some(format!(
        "{name}: {whole} D1 misses in all, {passes} passes and set-up; published are {published} ({share:.4})"
    ))
}

/// An excess, and the lines of source with most of its events.
pub(crate) fn excess(row: &Row, measured: &Measured, excess: &Excess) -> String {
    let mut text = format!("{}: {}", row.name, excess.text);
    match top_lines(measured, excess.event) {
        Ok(lines) => text += &lines,
        Err(wrong) => text += &format!("\n  {wrong}"),
    }
    text
}

fn top_lines(measured: &Measured, event: Event) -> Result<String, String> {
    let places = measured.places()?;
    let all = measured.difference.of(event).max(1) as f64;
    let units = (measured.passes * measured.work.units) as f64;
    let mut sources = Sources::default();
    let mut text = format!("\n  {:>12}   share  line", event.name());
    for (place, count) in places.top(event, TOP_LINES) {
        let (each, share) = (count as f64 / units, count as f64 * 100.0 / all);
        let place = place_text(place, &mut sources);
        let _ = write!(text, "\n  {each:12.4} {share:5.1} %  {place}");
    }
    if places.lack_lines() {
        let _ = write!(text, "\n  {NO_LINES}");
    }
    Ok(text)
}

/// A place with its function and its text.
fn place_text(place: &Place, sources: &mut Sources) -> String {
    let (file, function) = (short_path(&place.file), &place.function);
    if place.file == "???" || place.line == 0 {
        return format!("{file} in {function}");
    }
    let text = sources.text(place).map_or(String::new(), |text| format!("  {text}"));
    format!("{file}:{} in {function}{text}", place.line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cachegrind::Counts;
    use crate::work::Work;

    fn result() -> (Row, Measured) {
        let row = Row::new("walk", || (), |()| {}, |()| Work::of_units(1, 0.0));
        let difference = Counts { d1_read_misses: 505, ..Counts::default() };
        let measured = Measured {
            difference,
            passes: 10,
            whole: difference,
            work: Work::of_units(100, 50.0),
            files: [std::path::PathBuf::from("/no/few"), std::path::PathBuf::from("/no/many")],
        };
        (row, measured)
    }

    #[test]
    fn the_table_has_counts_per_unit() {
        let (row, measured) = result();
        let row = row.unit("entity").ratio_max(1.02);
        let text = table(&[(&row, measured)]).to_string();
        for part in ["| walk ", "| entity ", " 0.5050 ", " 0.5000 ", " 1.010 ", "1.02 x least"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn a_published_figure_is_compared() {
        let (row, measured) = result();
        assert_eq!(beside_published(&row, &measured), None);
        let line = beside_published(&row.published_misses(1_010), &measured).expect("published");
        assert!(line.ends_with("published are 1010 (0.5000)"), "{line}");
    }

    #[test]
    fn an_excess_is_reported_also_without_files() {
        let (row, measured) = result();
        let above = Excess { event: Event::D1Misses, text: "too many".into() };
        let text = excess(&row, &measured, &above);
        assert!(text.starts_with("walk: too many\n  /no/few: "), "{text}");
    }
}

//! Measurements as tables.

use crate::stopwatch::{Pass, Stopwatch, median};
use crate::swarm::Alarms;
use comfy_table::{Cell, CellAlignment, LineStyle, Table, TableStyle};
use phalanx::reflect::ArchetypeInfo;
use phalanx::{Level, World};
use std::fmt::Display;

/// The cell of a missing measurement.
const NOTHING: &str = "–";

/// The table of passes, compared with `copy` bytes per second.
pub(crate) fn passes(watch: &Stopwatch, copy: f64) -> Table {
    let mut table = table(&[
        "pass",
        "entities",
        "µs/frame",
        "ns/entity",
        "B/entity",
        "GB/s",
        "of copy",
        "level",
    ]);
    for pass in watch.passes() {
        table.add_row(row(pass.name, pass_figures(pass, copy)));
    }
    table
}

fn pass_figures(pass: &Pass, copy: f64) -> Vec<String> {
    let nanoseconds = pass.nanoseconds_per_entity();
    // Bytes per nanosecond are gigabytes per second.
    let rate = pass.bytes.zip(nanoseconds).map(|(bytes, nanoseconds)| bytes as f64 / nanoseconds);
    vec![
        show(pass.entities(), grouped),
        show(pass.nanoseconds(), |nanoseconds| format!("{:.1}", nanoseconds / 1e3)),
        show(nanoseconds, |nanoseconds| format!("{nanoseconds:.2}")),
        show(pass.bytes, |bytes| bytes.to_string()),
        show(rate, |rate| format!("{rate:.1}")),
        show(rate, |rate| format!("{:.0} %", rate * 1e11 / copy)),
        show(pass.bytes, |_| Level::current().to_string()),
    ]
}

/// The number of chunks that the filtered pass visited: the median of all frames but the first.
pub(crate) fn visits(alarms: &Alarms) -> String {
    let visited = median(alarms.visits().iter().skip(1).copied());
    let all = alarms.chunks_len();
    let visited = visited.unwrap_or(0);
    format!(
        "alarm looked into {visited} of {all} chunks a frame and skipped {}",
        all.saturating_sub(visited)
    )
}

/// The table of archetypes, with the occupancy of their chunks.
pub(crate) fn archetypes(world: &World) -> Table {
    let mut table =
        table(&["archetype", "entities", "chunks", "rows/chunk", "occupancy", "B/row", "KiB"]);
    for archetype in world.reflect().archetypes().filter(|archetype| !archetype.is_empty()) {
        let figures = [
            grouped(archetype.len()),
            grouped(archetype.chunk_len()),
            archetype.capacity().to_string(),
            format!("{:.1} %", 100.0 * archetype.occupancy()),
            archetype.row_bytes().to_string(),
            grouped(archetype.block_bytes() >> 10),
        ];
        table.add_row(row(&components(archetype), figures));
    }
    table
}

/// The names of the components of an archetype, without their paths.
fn components(archetype: ArchetypeInfo<'_>) -> String {
    let names = archetype.components().map(|component| component.name());
    names.map(|name| name.rsplit("::").next().unwrap_or(name)).collect::<Vec<_>>().join(", ")
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    let line = LineStyle::none().fill('─').junction('─');
    table.load_style(TableStyle::new().header_separator(line).bottom_border(line));
    table.set_header(row(header[0], &header[1..]));
    table
}

/// A name and right-aligned figures.
fn row<T: Display>(name: &str, figures: impl IntoIterator<Item = T>) -> Vec<Cell> {
    let figures = figures.into_iter().map(|f| Cell::new(f).set_alignment(CellAlignment::Right));
    std::iter::once(Cell::new(name)).chain(figures).collect()
}

fn show<T>(value: Option<T>, format: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NOTHING.to_owned(), format)
}

/// Formats `1234567` as `1,234,567`.
pub(crate) fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    groups.map(|group| String::from_utf8_lossy(group)).collect::<Vec<_>>().join(",")
}

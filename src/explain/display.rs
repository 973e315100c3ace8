//! Explanations as text: a few lines for the totals, a table for each part.

use core::fmt;

use crate::simd::Level;
use crate::storage::AttachmentFigure;

use super::archetype_explanation::{ArchetypeExplanation, ColumnExplanation, SetConflict, Waste};
use super::query_explanation::QueryExplanation;
use super::shared_explanation::SharedExplanation;
use super::text::{LastColumn, SHOWN_MAX, Table, count, grouped, list, percent, short, write_more};
use super::world_explanation::{EventExplanation, SparseExplanation, WorldExplanation};

/// Writes the totals of the world, its first 8 types of sparse components, and its first 8
/// archetypes.
impl fmt::Display for WorldExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "world: {} in {} and {} of at most {} bytes; {} cache lines of rows",
            count(self.rows(), "row"),
            count(self.archetypes.len(), "archetype"),
            count(self.chunks(), "chunk"),
            grouped(self.chunk_bytes),
            grouped(self.lines()),
        )?;
        write_bytes(f, self.bytes_used(), self.wasted())?;
        writeln!(
            f,
            "  {} bytes of slabs, {} of bookkeeping",
            grouped(self.memory.slab_bytes),
            grouped(self.memory.bookkeeping_bytes),
        )?;
        for set in self.sparse.iter().take(SHOWN_MAX) {
            let SparseExplanation { name, values, bytes, index_bytes } = *set;
            let (values, index) = (count(values, "value"), grouped(index_bytes));
            let bytes = grouped(bytes);
            writeln!(
                f,
                "  beside the chunks: {values} of `{name}` in {bytes} bytes, {index} of them an index"
            )?;
        }
        if self.sparse.len() > SHOWN_MAX {
            writeln!(f, "  and {} more sparse components", self.sparse.len() - SHOWN_MAX)?;
        }
        for shared in self.shared.iter().take(SHOWN_MAX) {
            write_shared(f, shared)?;
        }
        if self.shared.len() > SHOWN_MAX {
            writeln!(f, "  and {} more types of shared values", self.shared.len() - SHOWN_MAX)?;
        }
        for EventExplanation { type_name, kept, bytes } in self.events.iter().take(SHOWN_MAX) {
            let (kept, bytes) = (count(*kept, "event"), grouped(*bytes));
            writeln!(f, "  {kept} of `{type_name}` in {bytes} bytes")?;
        }
        if self.events.len() > SHOWN_MAX {
            writeln!(f, "  and {} more types of events", self.events.len() - SHOWN_MAX)?;
        }
        for archetype in self.archetypes.iter().take(SHOWN_MAX) {
            write!(f, "\n{archetype}")?;
        }
        if self.archetypes.len() > SHOWN_MAX {
            writeln!(f)?;
        }
        write_more(f, self.archetypes.len())
    }
}

fn write_shared(f: &mut fmt::Formatter<'_>, shared: &SharedExplanation) -> fmt::Result {
    let SharedExplanation { type_name, values, rows, chunks, .. } = shared;
    let full = percent(shared.occupancy(), 1.0);
    writeln!(
        f,
        "  shared: {} of `{type_name}` in {} of {}, {full} full",
        count(*values, "value"),
        count(*rows, "row"),
        count(*chunks, "chunk"),
    )?;
    if shared.is_sparse() {
        writeln!(
            f,
            "  warning: chunks of `{type_name}` are {full} full: share what thousands of rows have, \
             and make of other values a component or a sparse component"
        )?;
    }
    Ok(())
}

fn write_bytes(f: &mut fmt::Formatter<'_>, used: usize, wasted: Waste) -> fmt::Result {
    writeln!(
        f,
        "  {} bytes used ({}), {} wasted: {} empty rows, {} column ends, {} rest of chunks, {} spare",
        grouped(used),
        percent(used as f64, (used + wasted.bytes()) as f64),
        grouped(wasted.bytes()),
        grouped(wasted.empty_rows),
        grouped(wasted.column_ends),
        grouped(wasted.rest),
        grouped(wasted.spare),
    )
}

/// Writes the archetype, followed by a table of its columns.
impl fmt::Display for ArchetypeExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "archetype {}: {}", self.archetype, list(&self.components(), "no components"))?;
        writeln!(
            f,
            "  {} of {} bytes in {}{} with room for {} each, occupancy {}",
            count(self.rows, "row"),
            grouped(self.row_bytes()),
            count(self.chunks, "chunk"),
            if self.chunks > 1 { format!(" ({})", count(self.runs, "run")) } else { String::new() },
            grouped(self.capacity),
            percent(self.occupancy(), 1.0),
        )?;
        write_bytes(f, self.bytes_used, self.wasted)?;
        if let Some(first) = self.first_block {
            writeln!(
                f,
                "  first block: {} bytes for {}{}; then chunks for {} each",
                grouped(first.bytes),
                count(first.capacity, "row"),
                if first.in_use { ", in use" } else { "" },
                grouped(self.chunk_capacity),
            )?;
        }
        if !self.columns.is_empty() {
            write!(f, "{}", column_table(&self.columns))?;
        }
        for column in &self.columns {
            for AttachmentFigure { amount, unit, text: [before, after] } in &column.attachments {
                let (name, amount) = (short(column.component), count(*amount, unit));
                writeln!(f, "  {name} {before}{amount}{after}")?;
            }
        }
        for SetConflict { set, components } in &self.conflicts {
            let starts = count(components.len(), "column");
            let names = list(components, "none");
            // The least associative first-level caches have sets of 8 lines: warn from half a set.
            let (kind, advice) = match components.len() {
                ..4 => ("note", ""),
                _ => ("warning", "; a kernel over all of them may evict its own lines"),
            };
            writeln!(
                f,
                "  {kind}: {starts} start in set {set} of the first-level cache: {names}{advice}"
            )?;
        }
        Ok(())
    }
}

fn column_table(columns: &[ColumnExplanation]) -> Table<10> {
    let [small, middle, wide] = LEVELS.map(|level| format!("/{} B", level.lane_bytes()));
    let head = [
        "column",
        "row bytes",
        "offset",
        "bytes",
        "lines",
        "rows/line",
        &small,
        &middle,
        &wide,
        "rows lost to it",
    ];
    let mut table = Table::new(head, LastColumn::Number);
    for column in columns {
        let ratio = |rows: Option<f64>| rows.map_or("-".to_owned(), |rows| format!("{rows:.2}"));
        let [small, middle, wide] = LEVELS.map(|level| ratio(column.rows_per_vector(level)));
        table.push([
            short(column.component).to_owned(),
            grouped(column.row_bytes),
            grouped(column.offset),
            grouped(column.bytes),
            grouped(column.lines),
            ratio(column.rows_per_line()),
            small,
            middle,
            wide,
            column.capacity_lost.map_or("-".to_owned(), grouped),
        ]);
    }
    table
}

const LEVELS: [Level; 3] = [Level::Baseline, Level::Avx2, Level::Avx512];

/// Writes the totals of the pass, the first 8 archetypes that match, and the first 8 that do not.
impl fmt::Display for QueryExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "query: reads {}; writes {}{}",
            list(&self.reads, "nothing"),
            list(&self.writes, "nothing"),
            if self.padded { "; padded to whole vectors" } else { "" },
        )?;
        writeln!(
            f,
            "  {} in {} ({} skipped)",
            count(self.rows(), "row"),
            count(self.chunks(), "chunk"),
            grouped(self.chunks_skipped()),
        )?;
        writeln!(
            f,
            "  {} cache lines, {} of them written; {:.3} a row; {}",
            grouped(self.lines()),
            grouped(self.lines_written()),
            self.lines_per_row(),
            count(usize::try_from(self.streams()).unwrap_or(usize::MAX), "stream"),
        )?;
        writeln!(
            f,
            "  {} bytes used of {} loaded ({})",
            grouped(self.bytes_used()),
            grouped(self.bytes_loaded()),
            percent(self.bytes_used() as f64, self.bytes_loaded() as f64),
        )?;
        if self.entities {
            writeln!(f, "  and 8 bytes a row of entities, beside the chunks")?;
        }
        write_matched(f, self)?;
        write_skipped(f, self)
    }
}

fn write_matched(f: &mut fmt::Formatter<'_>, query: &QueryExplanation) -> fmt::Result {
    writeln!(f, "{}", count(query.matched.len(), "matching archetype"))?;
    let head = ["archetype", "rows", "chunks", "skipped", "lines", "written", "components"];
    let mut table = Table::new(head, LastColumn::Text);
    for matched in query.matched.iter().take(SHOWN_MAX) {
        let lines = |written: bool| {
            let columns = matched.columns.iter().filter(|column| column.written || !written);
            columns.map(|column| column.lines).sum::<u64>()
        };
        table.push([
            matched.archetype.to_string(),
            grouped(matched.rows),
            grouped(matched.chunks),
            grouped(matched.chunks_skipped),
            grouped(lines(false)),
            grouped(lines(true)),
            list(&matched.components, "none"),
        ]);
    }
    if !query.matched.is_empty() {
        write!(f, "{table}")?;
    }
    write_more(f, query.matched.len())
}

fn write_skipped(f: &mut fmt::Formatter<'_>, query: &QueryExplanation) -> fmt::Result {
    writeln!(f, "{} left out", count(query.skipped.len(), "archetype"))?;
    let mut table = Table::new(["archetype", "rows", "why"], LastColumn::Text);
    for skipped in query.skipped.iter().take(SHOWN_MAX) {
        let why: Vec<_> = skipped.mismatches.iter().map(ToString::to_string).collect();
        table.push([skipped.archetype.to_string(), grouped(skipped.rows), why.join(", ")]);
    }
    if !query.skipped.is_empty() {
        write!(f, "{table}")?;
    }
    write_more(f, query.skipped.len())
}

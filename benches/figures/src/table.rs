//! Tables of one look, for people or for a page.

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

/// An empty table for people; all columns but the first `left` are numbers.
pub fn plain<T: ToString>(header: impl IntoIterator<Item = T>, left: usize) -> Table {
    let line = LineStyle::none().fill('─').junction('─');
    empty(TableStyle::new().header_separator(line).bottom_border(line), header, left)
}

/// An empty table in Markdown; all columns but the first `left` are numbers.
pub fn markdown<T: ToString>(header: impl IntoIterator<Item = T>, left: usize) -> Table {
    empty(ASCII_MARKDOWN, header, left)
}

fn empty<T: ToString>(
    style: TableStyle,
    header: impl IntoIterator<Item = T>,
    left: usize,
) -> Table {
    let mut table = Table::new();
    table.load_style(style).set_header(header.into_iter().map(|name| name.to_string()));
    for column in table.column_iter_mut().skip(left) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

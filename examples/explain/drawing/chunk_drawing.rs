//! One chunk of an archetype, drawn to scale.
//!
//! The bytes of a block run from left to right and top to bottom, so a row of the drawing is a run
//! of cache lines. Every column has a colour. The texture shows the use of the bytes: live rows are
//! filled, room for rows is hatched, the padding after a column is crossed, and the rest of the
//! block is dotted.

use core::ops::Range;

use phalanx::LINE_BYTES;
use phalanx::explain::{ArchetypeExplanation, ColumnExplanation};

use super::grid::{GRID, Grid, LEFT, TOP};
use super::part::{Part, part_textures, swatch};
use super::svg::{Font, MARGIN, PLAIN, SMALL, Svg, WIDTH};
use super::text::{count, grouped, list, percent, short};

/// The most columns that the legend lists.
const LISTED_MAX: usize = 48;
/// Height of an entry of the legend.
const ENTRY: f64 = 22.0;

/// Draws one chunk of an archetype as SVG: the last one, or the future layout of the first one if
/// none exists yet.
///
/// The legend lists the first 48 columns and counts the others. O(lines of the block + columns).
///
/// In the drawing, elements `g` with an attribute `data-part` (`rows`, `room`, `end` or `rest`)
/// hold the rectangles of their bytes, with `data-column` if the bytes belong to a column.
/// `data-bytes-per-pixel` is the scale along a row of lines.
pub(crate) fn chunk_svg(archetype: &ArchetypeExplanation) -> String {
    ChunkDrawing { archetype, grid: Grid::new(archetype.block_bytes) }.draw()
}

/// The drawing of one chunk.
struct ChunkDrawing<'a> {
    archetype: &'a ArchetypeExplanation,
    grid: Grid,
}

impl ChunkDrawing<'_> {
    fn draw(&self) -> String {
        let (archetype, grid) = (self.archetype, &self.grid);
        let listed = archetype.columns.len().min(LISTED_MAX);
        let more = usize::from(archetype.columns.len() > listed);
        // Without a block, the drawing is only the legend.
        let table = if grid.rows > 0 { TOP + grid.height() + 62.0 } else { TOP - 12.0 };
        let height = table + (listed + more) as f64 * ENTRY + 1.25 * MARGIN;
        let names = list(&archetype.components(), "no components");
        let title = format!("Archetype {}: {names}", archetype.archetype);
        let mut svg = Svg::new(height, &title);
        part_textures(&mut svg);
        let room = WIDTH - 2.0 * MARGIN;
        svg.label_in((MARGIN, 36.0), Font::new(18.0).bold(), &title, room);
        svg.label((MARGIN, 58.0), Font::new(13.0), self.size_in_words());
        svg.label((MARGIN, 78.0), Font::new(13.0), self.drawn_in_words());
        if grid.rows > 0 {
            self.draw_block(&mut svg);
            self.draw_parts(&mut svg, TOP + grid.height() + 20.0);
        }
        self.draw_legend(&mut svg, table);
        svg.finish()
    }

    fn size_in_words(&self) -> String {
        let archetype = self.archetype;
        format!(
            "{} of {} in {} with room for {} each, occupancy {}",
            count(archetype.rows, "row"),
            count(archetype.row_bytes(), "byte"),
            count(archetype.chunks, "chunk"),
            grouped(archetype.capacity),
            percent(archetype.occupancy()),
        )
    }

    fn drawn_in_words(&self) -> String {
        let archetype = self.archetype;
        let Some(last) = archetype.chunks.checked_sub(1) else {
            return match archetype.block_bytes {
                0 => "No chunk, and rows without bytes: there is no block to draw.".to_owned(),
                _ => {
                    "Drawn: how the first full-sized chunk will lie; there is none yet.".to_owned()
                }
            };
        };
        if archetype.block_bytes == 0 {
            return "Rows have no bytes: there is no block to draw.".to_owned();
        }
        let small = archetype.first_block.is_some_and(|first| first.in_use);
        format!(
            "Drawn: chunk {}, {}: {} of {} live; {} are {}",
            grouped(last),
            match archetype.chunks {
                _ if small => "the small first block".to_owned(),
                1 => "the only one".to_owned(),
                chunks => format!("the last of {}", grouped(chunks)),
            },
            grouped(archetype.chunk_rows(last)),
            count(archetype.capacity, "row"),
            count(archetype.block_bytes, "byte"),
            count(archetype.block_bytes.div_ceil(LINE_BYTES), "cache line"),
        )
    }

    fn draw_block(&self, svg: &mut Svg) {
        let grid = &self.grid;
        let caption = "Each cell is a cache line of 64 bytes; bytes run to the right, then down.";
        svg.label((LEFT, TOP - 12.0), SMALL, caption);
        svg.label((LEFT - 8.0, TOP - 12.0), SMALL.to_the_left(), "byte");
        let scale = grid.row_bytes as f64 / GRID;
        svg.open("g", &[("data-bytes-per-pixel", &scale)]);
        for segment in self.segments() {
            segment.draw(svg, grid);
        }
        svg.close();
        grid.draw(svg);
        for (number, column) in self.archetype.columns.iter().enumerate() {
            mark(svg, grid, number, column);
        }
    }

    /// The segments of the drawn chunk, in the order of bytes.
    fn segments(&self) -> Vec<Segment> {
        let archetype = self.archetype;
        let rows = archetype.chunk_rows(archetype.chunks.saturating_sub(1));
        let mut segments = Vec::new();
        let mut push = |part, column, bytes: Range<usize>| {
            if !bytes.is_empty() {
                segments.push(Segment { part, column, bytes });
            }
        };
        let mut end = 0;
        let columns = archetype.columns.iter().enumerate();
        let mut columns: Vec<_> = columns.filter(|(_, column)| column.bytes > 0).collect();
        // The numbers of exchanged columns are not in the order of their offsets.
        columns.sort_by_key(|(_, column)| column.offset);
        for (number, column) in columns {
            push(Part::End, None, end..column.offset);
            let live = column.offset + rows * column.row_bytes;
            end = column.offset + column.bytes;
            push(Part::Rows, Some(number), column.offset..live);
            push(Part::Room, Some(number), live..end);
        }
        push(Part::End, None, end..archetype.columns_end);
        push(Part::Rest, None, archetype.columns_end.max(end)..archetype.block_bytes);
        segments
    }

    /// Draws the legend of the textures, with the bytes of the drawn chunk that each covers.
    fn draw_parts(&self, svg: &mut Svg, y: f64) {
        let segments = self.segments();
        for (index, part) in Part::ALL.into_iter().enumerate() {
            let x = LEFT + index as f64 * GRID / 4.0;
            swatch(svg, (x, y), &part.fill(None));
            let bytes = segments.iter().filter(|s| s.part == part).map(|s| s.bytes.len()).sum();
            let text = format!("{}: {}", part.name(), count(bytes, "byte"));
            svg.label((x + 22.0, y + 12.0), PLAIN, text);
        }
    }

    /// Draws the table of columns.
    fn draw_legend(&self, svg: &mut Svg, top: f64) {
        let columns = &self.archetype.columns;
        if columns.is_empty() {
            return;
        }
        let head = ["bytes a row", "offset", "bytes", "rows a line"];
        svg.label((LEFT + 22.0, top), SMALL, "column");
        cells(svg, top, SMALL, head);
        for (number, column) in columns.iter().enumerate().take(LISTED_MAX) {
            let y = top + (number + 1) as f64 * ENTRY;
            if column.row_bytes > 0 {
                swatch(svg, (LEFT, y - 12.0), &Part::Rows.fill(Some(number)));
            }
            svg.label((LEFT - 8.0, y), SMALL.to_the_left(), number);
            let name = short(column.component);
            svg.open("g", &[]);
            svg.title(column.component);
            svg.label((LEFT + 22.0, y), PLAIN, PLAIN.fit(name, 440.0));
            svg.close();
            let texts = match column.rows_per_line() {
                None => ["0, a tag".to_owned(), "–".into(), "–".into(), "–".into()],
                Some(rows) => [
                    grouped(column.row_bytes),
                    grouped(column.offset),
                    grouped(column.bytes),
                    format!("{rows:.2}"),
                ],
            };
            cells(svg, y, PLAIN, texts.each_ref().map(String::as_str));
        }
        if let Some(more @ 1..) = columns.len().checked_sub(LISTED_MAX) {
            let bytes = columns.iter().skip(LISTED_MAX).map(|column| column.bytes).sum();
            let text = format!(
                "… and {} of {} in all, drawn but not listed",
                count(more, "more column"),
                count(bytes, "byte"),
            );
            svg.label((LEFT + 22.0, top + (LISTED_MAX + 1) as f64 * ENTRY), PLAIN, text);
        }
    }
}

/// Writes the right-aligned numbers of a line of the legend.
fn cells(svg: &mut Svg, y: f64, font: Font, texts: [&str; 4]) {
    for (index, text) in texts.into_iter().enumerate() {
        let x = LEFT + GRID - (3 - index) as f64 * 96.0;
        svg.label((x, y), font.to_the_left(), text);
    }
}

/// Writes the number and name of a column at the first place in it where they fit, or its number
/// alone if they fit nowhere.
fn mark(svg: &mut Svg, grid: &Grid, number: usize, column: &ColumnExplanation) {
    let font = PLAIN.bold();
    let texts = [format!("{number} {}", short(column.component)), number.to_string()];
    let place = |text: String| {
        let needed = font.width(&text) + 14.0;
        let mut rects = grid.rects(column.offset..column.offset + column.bytes);
        rects.find(|&[_, _, width, _]| needed <= width).map(|rect| (text, rect))
    };
    let Some((text, [x, y, _, height])) = texts.into_iter().find_map(place) else { return };
    let middle = y + height / 2.0;
    svg.open("g", &[("fill", &"#ffffff"), ("fill-opacity", &0.85)]);
    svg.rect([x + 3.0, middle - 8.0, font.width(&text) + 8.0, 16.0]);
    svg.close();
    svg.label((x + 7.0, middle + 4.5), font, text);
}

/// A run of bytes of one part.
struct Segment {
    part: Part,
    column: Option<usize>,
    bytes: Range<usize>,
}

impl Segment {
    fn draw(self, svg: &mut Svg, grid: &Grid) {
        let (key, fill) = (self.part.key(), self.part.fill(self.column));
        match self.column {
            None => svg.open("g", &[("data-part", &key), ("fill", &fill)]),
            Some(column) => {
                svg.open("g", &[("data-part", &key), ("data-column", &column), ("fill", &fill)]);
            }
        }
        grid.rects(self.bytes).for_each(|rect| svg.rect(rect));
        svg.close();
    }
}

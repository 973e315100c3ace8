//! One chunk of an archetype, drawn to scale.
//!
//! A block's bytes run from left to right and then down, so that a row of the drawing is a run of
//! cache lines. Columns have their colours, and what becomes of the bytes has its textures: rows
//! that live are filled, room for rows is hatched, the ends of columns are crossed, the rest is
//! dotted. All of it is read from the fields of an [`ArchetypeExplanation`].

use core::ops::Range;

use crate::line::LINE_BYTES;

use super::super::archetype::{ArchetypeExplanation, ColumnExplanation};
use super::super::text::{count, grouped, list, percent, short};
use super::grid::{GRID, Grid, LEFT, TOP};
use super::page::{Font, MARGIN, PLAIN, SMALL, Svg, WIDTH};
use super::texture::{Part, part_textures, swatch};

/// Columns that the legend lists.
const LISTED_MAX: usize = 48;
const ENTRY: f64 = 22.0;

impl ArchetypeExplanation {
    /// One chunk as an SVG drawing to scale: the last one, or how the first one will lie if there
    /// is none yet. Each cell is a cache line; columns have colours, and rows that live, room for
    /// rows, column ends and the rest of the block have textures, with their bytes beside them.
    /// The legend lists the first 48 columns, and says how many there are more. O(lines of the
    /// block + columns).
    ///
    /// Within the drawing, elements `g` with an attribute `data-part` (`rows`, `room`, `end` or
    /// `rest`), and `data-column` where the bytes are a column's, hold the rectangles of those
    /// bytes; `data-bytes-per-pixel` of the drawing's `g` is the scale along a row of lines.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # component!(Health as "Health <of a hero>");
    /// # let mut world = World::new();
    /// world.spawn_batch((0..5000).map(|_| Health(1.0)));
    /// let svg = world.explain().archetypes[0].to_svg();
    /// assert!(svg.starts_with("<svg ") && svg.contains("Health &lt;of a hero&gt;"));
    /// assert!(svg.contains("chunk 1, the last of 2: 904 of 4,096 rows live"), "{svg}");
    /// ```
    #[must_use]
    pub fn to_svg(&self) -> String {
        let grid = Grid::new(self.block_bytes);
        let listed = self.columns.len().min(LISTED_MAX);
        let more = usize::from(self.columns.len() > listed);
        // Without a block there is nothing but the legend.
        let table = if grid.rows > 0 { TOP + grid.height() + 62.0 } else { TOP - 12.0 };
        let height = table + (listed + more) as f64 * ENTRY + 1.25 * MARGIN;
        let names = list(&self.components(), "no components");
        let title = format!("Archetype {}: {names}", self.archetype);
        let mut svg = Svg::new(height, &title);
        part_textures(&mut svg);
        let room = WIDTH - 2.0 * MARGIN;
        svg.label_in((MARGIN, 36.0), Font::new(18.0).bold(), &title, room);
        svg.label((MARGIN, 58.0), Font::new(13.0), self.size_in_words());
        svg.label((MARGIN, 78.0), Font::new(13.0), self.drawn_in_words());
        if grid.rows > 0 {
            self.draw_block(&mut svg, &grid);
            self.draw_parts(&mut svg, TOP + grid.height() + 20.0);
        }
        self.draw_legend(&mut svg, table);
        svg.finish()
    }

    fn size_in_words(&self) -> String {
        format!(
            "{} of {} in {} with room for {} each, occupancy {}",
            count(self.rows, "row"),
            count(self.row_bytes(), "byte"),
            count(self.chunks, "chunk"),
            grouped(self.capacity),
            percent(self.occupancy(), 1.0),
        )
    }

    fn drawn_in_words(&self) -> String {
        let Some(last) = self.chunks.checked_sub(1) else {
            return match self.block_bytes {
                0 => "No chunk, and rows without bytes: there is no block to draw.".to_owned(),
                _ => {
                    "Drawn: how the first full-sized chunk will lie; there is none yet.".to_owned()
                }
            };
        };
        if self.block_bytes == 0 {
            return "Rows have no bytes: there is no block to draw.".to_owned();
        }
        let small = self.first_block.is_some_and(|first| first.in_use);
        format!(
            "Drawn: chunk {}, {}: {} of {} live; {} are {}",
            grouped(last),
            match self.chunks {
                _ if small => "the small first block".to_owned(),
                1 => "the only one".to_owned(),
                chunks => format!("the last of {}", grouped(chunks)),
            },
            grouped(self.chunk_rows(last)),
            count(self.capacity, "row"),
            count(self.block_bytes, "byte"),
            count(self.block_bytes.div_ceil(LINE_BYTES), "cache line"),
        )
    }

    fn draw_block(&self, svg: &mut Svg, grid: &Grid) {
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
        for (number, column) in self.columns.iter().enumerate() {
            mark(svg, grid, number, column);
        }
    }

    /// The bytes of the drawn chunk in order.
    fn segments(&self) -> Vec<Segment> {
        let rows = self.chunk_rows(self.chunks.saturating_sub(1));
        let mut segments = Vec::new();
        let mut push = |part, column, bytes: Range<usize>| {
            if !bytes.is_empty() {
                segments.push(Segment { part, column, bytes });
            }
        };
        let mut end = 0;
        for (number, column) in self.columns.iter().enumerate() {
            if column.bytes == 0 {
                continue;
            }
            push(Part::End, None, end..column.offset);
            let live = column.offset + rows * column.row_bytes;
            end = column.offset + column.bytes;
            push(Part::Rows, Some(number), column.offset..live);
            push(Part::Room, Some(number), live..end);
        }
        push(Part::End, None, end..self.columns_end);
        push(Part::Rest, None, self.columns_end.max(end)..self.block_bytes);
        segments
    }

    /// What the textures mean, and how many bytes of the drawn chunk they cover.
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

    fn draw_legend(&self, svg: &mut Svg, top: f64) {
        if self.columns.is_empty() {
            return;
        }
        let head = ["bytes a row", "offset", "bytes", "rows a line"];
        svg.label((LEFT + 22.0, top), SMALL, "column");
        cells(svg, top, SMALL, head);
        for (number, column) in self.columns.iter().enumerate().take(LISTED_MAX) {
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
        if let Some(more @ 1..) = self.columns.len().checked_sub(LISTED_MAX) {
            let bytes = self.columns.iter().skip(LISTED_MAX).map(|column| column.bytes).sum();
            let text = format!(
                "… and {} of {} in all, drawn but not listed",
                count(more, "more column"),
                count(bytes, "byte"),
            );
            svg.label((LEFT + 22.0, top + (LISTED_MAX + 1) as f64 * ENTRY), PLAIN, text);
        }
    }
}

/// Numbers of the legend, to the right.
fn cells(svg: &mut Svg, y: f64, font: Font, texts: [&str; 4]) {
    for (index, text) in texts.into_iter().enumerate() {
        let x = LEFT + GRID - (3 - index) as f64 * 96.0;
        svg.label((x, y), font.to_the_left(), text);
    }
}

/// A column's number and name, where they first fit in it; its number alone if they do not.
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

/// A run of bytes of one kind.
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

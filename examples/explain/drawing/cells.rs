//! The chunks of one archetype as cells of the map.

use core::ops::Range;

use phalanx::Version;
use phalanx::explain::ArchetypeExplanation;

use super::age::{Age, UNWRITTEN, ago, last_written};
use super::svg::{FRAME, MARGIN, PLAIN, Px, SMALL, Svg, WIDTH};
use super::text::{count, grouped, list, percent, short};

/// The most stripes of a cell.
const STRIPES_MAX: usize = 16;
/// The most characters of a name in the title of a cell. A drawing has many such titles.
const NAME_MAX: usize = 14;
/// The most characters of the title of an archetype.
const NAMES_MAX: usize = 400;

/// The left edge of the cells. Labels are to the left of it.
const LEFT: f64 = 344.0;
/// Height inside the frame, which is one pixel wide.
const CELL_HEIGHT: f64 = 20.0;
const LINE: f64 = 26.0;
const CELL_GAP: f64 = 4.0;
/// The least height of a stripe with rows, so that its colour is visible.
const STRIPE_MIN: f64 = 3.0;
const LABEL_LINE: f64 = 16.0;
const BLOCK_GAP: f64 = 12.0;

/// The cells of one archetype.
pub(super) struct Cells<'a> {
    pub(super) archetype: &'a ArchetypeExplanation,
    /// Chunks per cell.
    pub(super) cell_chunks: usize,
    /// Columns per stripe.
    pub(super) stripe_columns: usize,
    stripe_width: u32,
    /// Distance between the left edges of neighbouring cells.
    pitch: f64,
    per_line: usize,
}

/// A stripe of a cell: its columns, and their last write.
type Stripe = (Range<usize>, Option<Version>);

impl<'a> Cells<'a> {
    pub(super) fn new(archetype: &'a ArchetypeExplanation, lines_max: usize) -> Self {
        let columns = archetype.columns.len();
        let stripe_columns = columns.div_ceil(STRIPES_MAX).max(1);
        let stripes = columns.div_ceil(stripe_columns);
        // Whole pixels give sharp edges. With few columns, all cells are about equally wide.
        let stripe_width = [16, 16, 8, 5].get(stripes).copied().unwrap_or(4);
        let pitch = f64::from(stripe_width) * stripes.max(1) as f64 + 2.0 + CELL_GAP;
        let room = WIDTH - MARGIN - LEFT + CELL_GAP;
        let per_line = (1..).take_while(|&cells| f64::from(cells) * pitch <= room).count();
        let cell_chunks = archetype.chunks.div_ceil(lines_max * per_line).max(1);
        Self { archetype, cell_chunks, stripe_columns, stripe_width, pitch, per_line }
    }

    /// The number of lines of cells.
    pub(super) fn lines(&self) -> usize {
        self.archetype.chunks.div_ceil(self.cell_chunks).div_ceil(self.per_line)
    }

    pub(super) fn height(&self) -> f64 {
        let label = if self.merged_in_words().is_some() { 3.0 } else { 2.0 } * LABEL_LINE;
        label.max(self.lines() as f64 * LINE) + BLOCK_GAP
    }

    pub(super) fn draw(&self, svg: &mut Svg, top: f64, now: Version) {
        self.draw_label(svg, top + 13.0);
        let chunks = self.archetype.chunks;
        for (index, chunk) in (0..chunks).step_by(self.cell_chunks).enumerate() {
            let x = LEFT + (index % self.per_line) as f64 * self.pitch;
            let y = top + (index / self.per_line) as f64 * LINE;
            self.draw_cell(svg, (x, y), chunk..chunks.min(chunk + self.cell_chunks), now);
        }
    }

    fn draw_label(&self, svg: &mut Svg, y: f64) {
        let archetype = self.archetype;
        let names = list(&archetype.components(), "no components");
        let label = format!("{}: {names}", archetype.archetype);
        let room = LEFT - MARGIN - 8.0;
        svg.open("g", &[]);
        svg.title(format_args!("archetype {}", clipped(&label, NAMES_MAX)));
        let font = PLAIN.bold();
        svg.label((MARGIN, y), font, font.fit(&label, room));
        svg.close();
        let size = format!(
            "{}, {}, {} full",
            count(archetype.rows, "row"),
            count(archetype.chunks, "chunk"),
            percent(archetype.occupancy())
        );
        svg.label_in((MARGIN, y + LABEL_LINE), SMALL, &size, room);
        if let Some(text) = self.merged_in_words() {
            svg.label((MARGIN, y + 2.0 * LABEL_LINE), SMALL, text);
        }
    }

    fn merged_in_words(&self) -> Option<String> {
        let cell = (self.cell_chunks > 1)
            .then(|| format!("a cell is up to {}", count(self.cell_chunks, "chunk")));
        let stripe = (self.stripe_columns > 1)
            .then(|| format!("a stripe is up to {}", count(self.stripe_columns, "column")));
        let texts: Vec<_> = cell.into_iter().chain(stripe).collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    }

    fn draw_cell(&self, svg: &mut Svg, (x, y): (f64, f64), chunks: Range<usize>, now: Version) {
        let stripes = self.stripes(&chunks);
        svg.open(
            "g",
            &[
                ("data-archetype", &self.archetype.archetype),
                ("data-chunk", &chunks.start),
                ("data-chunks", &chunks.len()),
            ],
        );
        svg.title(self.cell_in_words(&chunks, &stripes, now));
        svg.open("g", &[("fill", &"#ffffff"), ("stroke", &FRAME)]);
        svg.rect([x + 0.5, y + 0.5, self.pitch - CELL_GAP - 1.0, CELL_HEIGHT + 1.0]);
        svg.close();
        let high = match self.rows(&chunks) {
            0 => 0.0,
            rows => (CELL_HEIGHT * rows as f64 / self.room(&chunks) as f64).max(STRIPE_MIN),
        };
        let high = (high * 100.0).round() / 100.0;
        let colour = |written: Option<Version>| {
            written.map_or(UNWRITTEN, |version| Age::new(version, now).colour())
        };
        let mut fills: Vec<_> = stripes.iter().map(|&(_, written)| colour(written)).collect();
        // An archetype without columns can still have rows.
        if fills.is_empty() {
            fills.push(FRAME);
        }
        for (index, fill) in fills.into_iter().enumerate() {
            let x = x + 1.0 + index as f64 * f64::from(self.stripe_width);
            svg.leaf(
                "rect",
                &[
                    ("x", &Px(x)),
                    ("y", &Px(y + 1.0 + CELL_HEIGHT - high)),
                    ("width", &self.stripe_width),
                    ("height", &Px(high)),
                    ("fill", &fill),
                ],
            );
        }
        svg.close();
    }

    /// Rows in these chunks.
    fn rows(&self, chunks: &Range<usize>) -> usize {
        chunks.clone().map(|chunk| self.archetype.chunk_rows(chunk)).sum()
    }

    /// Rows that fit in these chunks.
    fn room(&self, chunks: &Range<usize>) -> usize {
        chunks.len() * self.archetype.capacity
    }

    fn stripes(&self, chunks: &Range<usize>) -> Vec<Stripe> {
        let columns = self.archetype.columns.len();
        let starts = (0..columns).step_by(self.stripe_columns);
        let ranges = starts.map(|start| start..columns.min(start + self.stripe_columns));
        ranges.map(|r| (r.clone(), last_written(self.archetype, r, chunks.clone()))).collect()
    }

    fn cell_in_words(&self, chunks: &Range<usize>, stripes: &[Stripe], now: Version) -> String {
        let which = match chunks.len() {
            1 => format!("chunk {}", chunks.start),
            _ => format!("chunks {} to {}", chunks.start, chunks.end - 1),
        };
        let rows = grouped(self.rows(chunks));
        let mut words = format!("{which}: {rows} of {}", count(self.room(chunks), "row"));
        for (columns, written) in stripes {
            let name = short(self.archetype.columns[columns.start].component);
            words.push('\n');
            words.extend(name.chars().take(NAME_MAX));
            words.push_str(if name.chars().nth(NAME_MAX).is_some() { "…" } else { "" });
            if columns.len() > 1 {
                words.push_str(&format!(" and {} more", columns.len() - 1));
            }
            let when = written.map(|version| ago(version, now));
            words.push_str(&format!(": {}", when.as_deref().unwrap_or("unwritten")));
        }
        words
    }
}

/// The text, or its beginning and the number of characters left out.
fn clipped(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some((end, _)) => {
            let more = count(text[end..].chars().count(), "more character");
            format!("{}… and {more}", &text[..end])
        }
    }
}

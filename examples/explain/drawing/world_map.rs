//! A world as a map of its chunks: a cell per chunk, a stripe per column.
//!
//! The drawing is bounded for every world: [`WorldMap`] divides at most [`LINES_MAX`] lines of
//! cells among at most [`ARCHETYPES_MAX`] archetypes. If chunks do not fit, a cell stands for
//! several of them, and archetypes beyond the limit are summed up. The drawing says both in words.

use core::cmp::Reverse;
use core::fmt::Display;

use phalanx::explain::{ArchetypeExplanation, WorldExplanation};

use super::age::{Age, UNWRITTEN, UNWRITTEN_ID, ago, last_written};
use super::cells::Cells;
use super::part::{pattern, swatch};
use super::svg::{Font, MARGIN, PLAIN, QUIET, Svg, WIDTH};
use super::text::{count, grouped, percent};

/// The most archetypes that have cells of their own.
const ARCHETYPES_MAX: usize = 64;
/// The most lines of cells in all.
const LINES_MAX: usize = 64;
const _: () = assert!(ARCHETYPES_MAX <= LINES_MAX, "every drawn archetype has a line");

/// Height above the archetypes, without the notes.
const HEAD: f64 = 140.0;
const TEXT_LINE: f64 = 18.0;

/// Draws the occupancy of a world as SVG: a cell per chunk, grouped by archetype, with a stripe per
/// column, in the order of columns.
///
/// The height of a stripe is the occupancy of the chunk. Its colour is the number of ticks of the
/// world's clock since the column was last written in the chunk; it is hatched if the column was
/// not written since rows last arrived in the chunk.
///
/// The drawing is smaller than 2 MB, with names of any length. It has cells for the 64 archetypes
/// with the most chunks and sums up the others. Where chunks do not fit, a cell stands for several
/// chunks, with their newest version and mean occupancy; in archetypes of more than 16 columns a
/// stripe stands for several columns. Archetypes without chunks are counted. O(chunks × columns).
///
/// In the drawing, an element `g` with the attributes `data-archetype` and `data-chunk` is a cell
/// that begins with that chunk. `data-chunks` is the number of its chunks.
pub(crate) fn world_svg(world: &WorldExplanation) -> String {
    WorldMap::new(world).draw()
}

/// A world divided into archetypes that are drawn and archetypes that are summed up.
struct WorldMap<'a> {
    world: &'a WorldExplanation,
    drawn: Vec<Cells<'a>>,
    rest: Vec<&'a ArchetypeExplanation>,
    /// The number of archetypes without chunks.
    empty: usize,
}

impl<'a> WorldMap<'a> {
    fn new(world: &'a WorldExplanation) -> Self {
        let with_chunks = |a: &&ArchetypeExplanation| a.chunks > 0;
        let mut largest: Vec<_> = world.archetypes.iter().filter(with_chunks).collect();
        let empty = world.archetypes.len() - largest.len();
        // The sort is stable: among archetypes of one size, the oldest are drawn.
        largest.sort_by_key(|a| Reverse((a.chunks, a.rows)));
        let rest = largest.split_off(largest.len().min(ARCHETYPES_MAX));
        let mut lines = LINES_MAX;
        let mut drawn = Vec::new();
        // From the smallest to the largest: unused lines are left for the larger archetypes.
        for (index, archetype) in largest.iter().enumerate().rev() {
            let cells = Cells::new(archetype, lines / (index + 1));
            lines -= cells.lines();
            drawn.push(cells);
        }
        drawn.sort_by_key(|cells| cells.archetype.archetype);
        Self { world, drawn, rest, empty }
    }

    fn draw(&self) -> String {
        let now = self.world.version;
        let (notes, summary) = (self.notes(), self.summary());
        let top = HEAD + notes.len() as f64 * TEXT_LINE;
        let end = top + self.drawn.iter().map(Cells::height).sum::<f64>();
        let title = self.title_in_words();
        let mut svg = Svg::new(end + summary.len() as f64 * TEXT_LINE + 14.0, &title);
        textures(&mut svg);
        svg.label((MARGIN, 36.0), Font::new(18.0).bold(), title);
        write_lines(&mut svg, 58.0, &notes);
        self.draw_scale(&mut svg, top - 56.0);
        let mut y = top;
        for cells in &self.drawn {
            cells.draw(&mut svg, y, now);
            y += cells.height();
        }
        write_lines(&mut svg, end + 13.0, &summary);
        svg.finish()
    }

    fn title_in_words(&self) -> String {
        format!(
            "World: {} in {} and {}",
            count(self.world.rows(), "row"),
            count(self.world.archetypes.len(), "archetype"),
            count(self.world.chunks(), "chunk"),
        )
    }

    /// Draws the legend of the colours.
    fn draw_scale(&self, svg: &mut Svg, y: f64) {
        let clock = format!(
            "Colour: ticks of the clock since the column was last written; the clock is at {}.",
            self.world.version
        );
        svg.label((MARGIN, y), PLAIN, clock);
        let mut x = MARGIN;
        let ages = Age::all().map(|age| (age.colour(), age.in_words()));
        let never = (UNWRITTEN, "not since its rows arrived".to_owned());
        for (fill, text) in ages.chain([never]) {
            swatch(svg, (x, y + 10.0), &fill);
            svg.label((x + 22.0, y + 22.0), PLAIN, &text);
            x += 22.0 + PLAIN.width(&text) + 16.0;
        }
        let line = format!("M{MARGIN} {}h{}", y + 40.0, WIDTH - 2.0 * MARGIN);
        svg.leaf("path", &[("d", &line), ("stroke", &QUIET), ("stroke-opacity", &0.3)]);
    }

    /// Notes on reading the drawing, and on merged chunks, columns and archetypes.
    fn notes(&self) -> Vec<String> {
        let reading = "A cell is a chunk, filled as high as it is full (3 px at least); a stripe \
            in it is a column, in the order of the names.";
        let mut notes = vec![reading.to_owned()];
        if !self.rest.is_empty() {
            let drawn = count(self.drawn.len(), "archetype");
            let more = grouped(self.rest.len());
            notes.push(format!(
                "Drawn: the {drawn} with the most chunks; {more} more are summed up at the end."
            ));
        }
        let cells = self.drawn.iter().any(|cells| cells.cell_chunks > 1);
        let stripes = self.drawn.iter().any(|cells| cells.stripe_columns > 1);
        let what = match (cells, stripes) {
            (false, false) => return notes,
            (true, false) => "a cell stands for several chunks",
            (false, true) => "a stripe stands for several columns",
            (true, true) => "a cell stands for several chunks or a stripe for several columns",
        };
        notes.push(format!(
            "Where a label says so, {what}, with their newest version and mean occupancy."
        ));
        notes
    }

    /// The archetypes without cells.
    fn summary(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(largest) = self.rest.first() {
            lines.push(format!(
                "… and {} of at most {} each:",
                count(self.rest.len(), "more archetype"),
                count(largest.chunks, "chunk"),
            ));
            lines.push(self.rest_in_words());
        }
        match (self.empty, lines.len() + self.drawn.len()) {
            (0, 0) => lines.push("The world has no archetypes.".to_owned()),
            (0, _) => (),
            (empty, _) => lines.push(format!("{} without chunks", count(empty, "archetype"))),
        }
        lines
    }

    fn rest_in_words(&self) -> String {
        let sum = |of: fn(&ArchetypeExplanation) -> usize| self.rest.iter().map(|a| of(a)).sum();
        let (rows, chunks): (usize, usize) = (sum(|a| a.rows), sum(|a| a.chunks));
        let room: usize = sum(|a| a.chunks * a.capacity);
        let written =
            self.rest.iter().filter_map(|a| last_written(a, 0..a.columns.len(), 0..a.chunks));
        let written = match written.max() {
            None => "none written since its rows arrived".to_owned(),
            Some(version) => format!("last written {}", ago(version, self.world.version)),
        };
        format!(
            "{} in {}, occupancy {}, {written}",
            count(rows, "row"),
            count(chunks, "chunk"),
            percent(rows as f64 / room as f64),
        )
    }
}

/// Writes lines of text from the baseline `y` down.
fn write_lines(svg: &mut Svg, y: f64, lines: &[String]) {
    for (index, line) in lines.iter().enumerate() {
        svg.label((MARGIN, y + index as f64 * TEXT_LINE), PLAIN, line);
    }
}

/// Defines the texture of unwritten columns.
fn textures(svg: &mut Svg) {
    let strokes = ("M0 0l8 8M-2 6l4 4M6 -2l4 4", &"#b6bec8" as &dyn Display, 1.0);
    svg.open("defs", &[]);
    pattern(svg, UNWRITTEN_ID, strokes, (&"#eef1f4", 1.0));
    svg.close();
}

//! A world as a map of its chunks: a cell a chunk, a stripe a column.
//!
//! The drawing is bounded, whatever the world: [`Plan`] shares at most [`LINES_MAX`] lines of cells
//! among at most [`ARCHETYPES_MAX`] archetypes. Where chunks do not fit, a cell stands for several
//! of them, and archetypes beyond the limit are summed up; the drawing says both in words.

use core::cmp::Reverse;
use core::fmt::Display;

use crate::version::Version;

use super::super::archetype::ArchetypeExplanation;
use super::super::text::{count, grouped, percent};
use super::super::world::WorldExplanation;
use super::age::{Age, UNWRITTEN, UNWRITTEN_ID, ago};
use super::cells::Cells;
use super::page::{Font, MARGIN, PLAIN, QUIET, Svg, WIDTH};
use super::texture::{pattern, swatch};

/// Archetypes that have cells of their own.
const ARCHETYPES_MAX: usize = 64;
/// Lines of cells in all.
const LINES_MAX: usize = 64;
const _: () = assert!(ARCHETYPES_MAX <= LINES_MAX, "a line for each archetype");

/// What is above the archetypes, but for the notes.
const HEAD: f64 = 140.0;
const TEXT_LINE: f64 = 18.0;

impl WorldExplanation {
    /// The occupancy of the world as an SVG drawing: a cell a chunk, grouped by archetype, with a
    /// stripe a column, in the order of columns. Stripes are as high as the chunk is full, and
    /// coloured by how many ticks of the world's clock ago the column was last written there;
    /// hatched if not since rows last came to the chunk.
    ///
    /// The drawing is bounded, to less than 2 MB with names of any length: it has cells for the 64
    /// archetypes with the most chunks and sums up the others; where chunks do not fit, a cell
    /// stands for several, with their newest version and mean occupancy, and so does a stripe in
    /// archetypes of more than 16 columns. Archetypes without chunks are counted. It says all that
    /// in words. O(chunks × columns).
    ///
    /// Within the drawing, an element `g` with the attributes `data-archetype` and `data-chunk` is
    /// a cell that begins with that chunk, and `data-chunks` the number of chunks it stands for.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # component!(Health);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..5000).map(|_| Health(1.0)));
    /// let svg = world.explain().to_svg();
    /// assert!(svg.starts_with("<svg ") && svg.contains("5,000 rows in 1 archetype and 2 chunks"));
    /// ```
    #[must_use]
    pub fn to_svg(&self) -> String {
        let plan = Plan::new(self);
        let (notes, summary) = (plan.notes(), plan.summary(self.version));
        let top = HEAD + notes.len() as f64 * TEXT_LINE;
        let end = top + plan.drawn.iter().map(Cells::height).sum::<f64>();
        let title = self.title_in_words();
        let mut svg = Svg::new(end + summary.len() as f64 * TEXT_LINE + 14.0, &title);
        textures(&mut svg);
        svg.label((MARGIN, 36.0), Font::new(18.0).bold(), title);
        write_lines(&mut svg, 58.0, &notes);
        self.draw_scale(&mut svg, top - 56.0);
        let mut y = top;
        for cells in &plan.drawn {
            cells.draw(&mut svg, y, self.version);
            y += cells.height();
        }
        write_lines(&mut svg, end + 13.0, &summary);
        svg.finish()
    }

    fn title_in_words(&self) -> String {
        format!(
            "World: {} in {} and {}",
            count(self.rows(), "row"),
            count(self.archetypes.len(), "archetype"),
            count(self.chunks(), "chunk"),
        )
    }

    /// What the colours mean.
    fn draw_scale(&self, svg: &mut Svg, y: f64) {
        let clock = format!(
            "Colour: ticks of the clock since the column was last written; the clock is at {}.",
            self.version
        );
        svg.label((MARGIN, y), PLAIN, clock);
        let mut x = MARGIN;
        let ages = Age::all().map(|age| (age.colour(), age.in_words()));
        let never = (UNWRITTEN, "not since its rows came".to_owned());
        for (fill, text) in ages.chain([never]) {
            swatch(svg, (x, y + 10.0), &fill);
            svg.label((x + 22.0, y + 22.0), PLAIN, &text);
            x += 22.0 + PLAIN.width(&text) + 16.0;
        }
        let line = format!("M{MARGIN} {}h{}", y + 40.0, WIDTH - 2.0 * MARGIN);
        svg.leaf("path", &[("d", &line), ("stroke", &QUIET), ("stroke-opacity", &0.3)]);
    }
}

/// Lines of text from a first base line down.
fn write_lines(svg: &mut Svg, y: f64, lines: &[String]) {
    for (index, line) in lines.iter().enumerate() {
        svg.label((MARGIN, y + index as f64 * TEXT_LINE), PLAIN, line);
    }
}

fn textures(svg: &mut Svg) {
    let strokes = ("M0 0l8 8M-2 6l4 4M6 -2l4 4", &"#b6bec8" as &dyn Display, 1.0);
    svg.open("defs", &[]);
    pattern(svg, UNWRITTEN_ID, strokes, (&"#eef1f4", 1.0));
    svg.close();
}

/// What is drawn of a world, and what is only summed up.
struct Plan<'a> {
    drawn: Vec<Cells<'a>>,
    rest: Vec<&'a ArchetypeExplanation>,
    /// Archetypes without chunks.
    empty: usize,
}

impl<'a> Plan<'a> {
    fn new(world: &'a WorldExplanation) -> Self {
        let with_chunks = |a: &&ArchetypeExplanation| a.chunks > 0;
        let mut largest: Vec<_> = world.archetypes.iter().filter(with_chunks).collect();
        let empty = world.archetypes.len() - largest.len();
        // A stable sort: of archetypes of one size, the older ones are drawn.
        largest.sort_by_key(|a| Reverse((a.chunks, a.rows)));
        let rest = largest.split_off(largest.len().min(ARCHETYPES_MAX));
        let mut lines = LINES_MAX;
        let mut drawn = Vec::new();
        // From the smallest up: what it does not need of its share is left for the larger ones.
        for (index, archetype) in largest.iter().enumerate().rev() {
            let cells = Cells::new(archetype, lines / (index + 1));
            lines -= cells.lines();
            drawn.push(cells);
        }
        drawn.sort_by_key(|cells| cells.archetype.archetype);
        Self { drawn, rest, empty }
    }

    /// How to read the drawing, and what it does not show one by one.
    fn notes(&self) -> Vec<String> {
        let reading = "A cell is a chunk, filled as high as it is full (3 px at least); a stripe in \
            it is a column, in the order of the names.";
        let mut notes = vec![reading.to_owned()];
        if !self.rest.is_empty() {
            let drawn = count(self.drawn.len(), "archetype");
            let more = grouped(self.rest.len());
            notes.push(format!(
                "Drawn are the {drawn} with the most chunks; {more} more are summed up at the end."
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
            "Where a label says so, {what}: with their newest version and mean occupancy."
        ));
        notes
    }

    /// The archetypes without cells.
    fn summary(&self, now: Version) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(largest) = self.rest.first() {
            lines.push(format!(
                "… and {} of at most {} each:",
                count(self.rest.len(), "more archetype"),
                count(largest.chunks, "chunk"),
            ));
            lines.push(self.rest_in_words(now));
        }
        match (self.empty, lines.len() + self.drawn.len()) {
            (0, 0) => lines.push("The world has no archetypes.".to_owned()),
            (0, _) => (),
            (empty, _) => lines.push(format!("{} without chunks", count(empty, "archetype"))),
        }
        lines
    }

    fn rest_in_words(&self, now: Version) -> String {
        let sum = |of: fn(&ArchetypeExplanation) -> usize| self.rest.iter().map(|a| of(a)).sum();
        let (rows, chunks): (usize, usize) = (sum(|a| a.rows), sum(|a| a.chunks));
        let room: usize = sum(|a| a.chunks * a.capacity);
        let written =
            self.rest.iter().filter_map(|a| a.last_written(0..a.columns.len(), 0..a.chunks));
        let written = match written.max() {
            None => "none written since its rows came".to_owned(),
            Some(version) => format!("last written {}", ago(version, now)),
        };
        format!(
            "{} in {}, occupancy {}, {written}",
            count(rows, "row"),
            count(chunks, "chunk"),
            percent(rows as f64, room as f64),
        )
    }
}

//! A world as a map of its chunks: a cell a chunk, a stripe a column.
//!
//! The drawing is bounded, whatever the world: [`Plan`] shares at most [`LINES_MAX`] lines of cells
//! among at most [`ARCHETYPES_MAX`] archetypes. Where chunks do not fit, a cell stands for several
//! of them, and archetypes beyond the limit are summed up; the drawing says both in words.

use core::cmp::Reverse;

use crate::version::Version;

use super::super::archetype::ArchetypeExplanation;
use super::super::text::{count, grouped, percent};
use super::super::world::WorldExplanation;
use super::age::{Age, UNWRITTEN, ago};
use super::cells::Cells;
use super::page::{FRAME, Font, MARGIN, PLAIN, QUIET, Svg, WIDTH};
use super::texture::{pattern, swatch};

/// Archetypes that have cells of their own.
const ARCHETYPES_MAX: usize = 64;
/// Lines of cells in all.
const LINES_MAX: usize = 64;
const _: () = assert!(ARCHETYPES_MAX <= LINES_MAX, "a line for each archetype");

/// Where the first archetype is.
const TOP: f64 = 164.0;
/// Below the archetypes.
const FOOT: f64 = 32.0;

impl WorldExplanation {
    /// The occupancy of the world as an SVG drawing: a cell a chunk, grouped by archetype, with a
    /// stripe a column, in the order of columns. Stripes are as high as the chunk is full, and
    /// coloured by how many ticks of the world's clock ago the column was last written there;
    /// hatched if not since rows last came to the chunk.
    ///
    /// The drawing is bounded, to less than 2 MB with names of any length: it has cells for the 64
    /// archetypes with the most chunks and sums up the others; where chunks do not fit, a cell
    /// stands for several, with their newest version and mean occupancy, and so does a stripe in
    /// archetypes of more than 16 columns. It says all that in words. O(chunks × columns).
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
        let mut svg = Svg::new(TOP + plan.height(), "A world as a map of its chunks");
        self.draw_head(&mut svg, &plan);
        let mut y = TOP;
        for cells in &plan.drawn {
            cells.draw(&mut svg, y, self.version);
            y += cells.height();
        }
        if self.archetypes.is_empty() {
            svg.label((MARGIN, y + 13.0), PLAIN, "The world has no archetype.");
        }
        if let Some(text) = plan.rest_in_words(self.version) {
            svg.label((MARGIN, y + 13.0), PLAIN, text);
        }
        svg.finish()
    }

    fn draw_head(&self, svg: &mut Svg, plan: &Plan<'_>) {
        let title = format!(
            "World: {} in {} and {}",
            count(self.rows(), "row"),
            count(self.archetypes.len(), "archetype"),
            count(self.chunks(), "chunk"),
        );
        svg.label((MARGIN, 36.0), Font::new(18.0).bold(), title);
        let reading = "A cell is a chunk, filled as high as it is full (3 px at least); a stripe in \
            it is a column, in the order of the names.";
        svg.label((MARGIN, 58.0), PLAIN, reading);
        svg.label((MARGIN, 76.0), PLAIN, plan.merged_in_words());
        let clock = format!(
            "Colour: ticks of the clock since the column was last written; the clock is at {}.",
            self.version
        );
        svg.label((MARGIN, 106.0), PLAIN, clock);
        svg.open("defs", &[]);
        pattern(
            svg,
            "phalanx-unwritten",
            ("M0 0l8 8M-2 6l4 4M6 -2l4 4", &FRAME, 1.5),
            (&"#f6f8fa", 1.0),
        );
        svg.close();
        let mut x = MARGIN;
        let ages = Age::all().map(|age| (age.colour(), age.in_words()));
        let never = (UNWRITTEN, "not since its rows came".to_owned());
        for (fill, text) in ages.chain([never]) {
            swatch(svg, (x, 116.0), &fill);
            svg.label((x + 22.0, 128.0), PLAIN, &text);
            x += 22.0 + PLAIN.width(&text) + 14.0;
        }
        svg.leaf(
            "path",
            &[
                ("d", &format_args!("M{MARGIN} 146h{}", WIDTH - 2.0 * MARGIN)),
                ("stroke", &QUIET),
                ("stroke-opacity", &0.3),
            ],
        );
    }
}

/// What is drawn of a world, and what is only summed up.
struct Plan<'a> {
    drawn: Vec<Cells<'a>>,
    rest: Vec<&'a ArchetypeExplanation>,
}

impl<'a> Plan<'a> {
    fn new(world: &'a WorldExplanation) -> Self {
        let mut largest: Vec<_> = world.archetypes.iter().collect();
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
        Self { drawn, rest }
    }

    fn height(&self) -> f64 {
        let below = if self.rest.is_empty() && !self.drawn.is_empty() { 0.0 } else { FOOT };
        self.drawn.iter().map(Cells::height).sum::<f64>() + below
    }

    /// What cells and stripes stand for more than one chunk or column.
    fn merged_in_words(&self) -> String {
        let cells = self.drawn.iter().filter(|cells| cells.cell_chunks > 1).count();
        let stripes = self.drawn.iter().filter(|cells| cells.stripe_columns > 1).count();
        let mut texts = Vec::new();
        if !self.rest.is_empty() {
            texts.push(format!(
                "Drawn are the {} with the most chunks; {} at the end.",
                count(self.drawn.len(), "archetype"),
                match self.rest.len() {
                    1 => "1 more is summed up".to_owned(),
                    more => format!("{} more are summed up", grouped(more)),
                },
            ));
        }
        if cells + stripes > 0 {
            let what = match (cells, stripes) {
                (_, 0) => "cells stand for several chunks",
                (0, _) => "stripes stand for several columns",
                _ => "cells or stripes stand for several chunks or columns",
            };
            texts.push(format!("Where it says so, {what}: newest version, mean occupancy."));
        }
        if texts.is_empty() {
            texts.push("All chunks and columns are drawn.".to_owned());
        }
        texts.join(" ")
    }

    /// The archetypes without cells.
    fn rest_in_words(&self, now: Version) -> Option<String> {
        let sum = |of: fn(&ArchetypeExplanation) -> usize| self.rest.iter().map(|a| of(a)).sum();
        let (rows, chunks): (usize, usize) = (sum(|a| a.rows), sum(|a| a.chunks));
        let room: usize = sum(|a| a.chunks * a.capacity);
        let written =
            self.rest.iter().filter_map(|a| a.last_written(0..a.columns.len(), 0..a.chunks));
        let written = match written.max() {
            None => "none written since its rows came".to_owned(),
            Some(version) => format!("last written {}", ago(version, now)),
        };
        (!self.rest.is_empty()).then(|| {
            format!(
                "… and {} of at most {} each: {} in {}, occupancy {}, {written}",
                count(self.rest.len(), "more archetype"),
                count(self.rest[0].chunks, "chunk"),
                count(rows, "row"),
                count(chunks, "chunk"),
                percent(rows as f64, room as f64),
            )
        })
    }
}

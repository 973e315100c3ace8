//! The table as a picture: a panel for each workload and size, a bar for each library.
//!
//! Bars are on a logarithmic scale: phalanx by its obvious variant and by a faster one, the others
//! by their fastest. The limit is a line through the panel. The picture has a background of its
//! own, so that it can be read on any page.

use crate::libs::{LIMIT, OURS};
use crate::report::{Group, Report};
use phalanx_figures::picture::{self, Area, FAINT, FIRST, GRID, INK, SECOND, bold, font};
use phalanx_figures::{significant, thousands};
use plotters::coord::combinators::LogCoord;
use plotters::coord::types::RangedCoordi32;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;

type Bars<'a> = DrawingArea<SVGBackend<'a>, Cartesian2d<LogCoord<f64>, RangedCoordi32>>;

const COLUMNS: usize = 3;
const PANEL_WIDTH: u32 = 320;
const BAR_HEIGHT: i32 = 15;
const TITLE_HEIGHT: i32 = 42;
const FOOT_HEIGHT: i32 = 30;
const HEAD_HEIGHT: u32 = 64;
const NAME_WIDTH: i32 = 92;
const VALUE_WIDTH: i32 = 46;
const MARGIN: i32 = 12;
/// With more powers of ten, every second one has a line.
const DECADES_MAX: f64 = 4.0;
/// Between a bar and its number.
const GAP: i32 = 4;

const PEER: RGBColor = RGBColor(0xa9, 0xb7, 0xc6);
const OUR_SPECIAL: RGBColor = RGBColor(0xf2, 0xa0, 0x6b);

/// A bar. It has no value if the library cannot do the task.
struct Bar {
    name: String,
    colour: RGBColor,
    value: Option<f64>,
}

/// The panels of a page among text: three rows, covering all work of a frame.
const BRIEF: [(&str, usize); 9] = [
    ("simple_iter", 10_000),
    ("pos_vel", 100_000),
    ("pos_vel", 8_000_000),
    ("fragmented_iter", 520),
    ("simple_insert/batch", 10_000),
    ("random_get", 100_000),
    ("add_remove/one", 10_000),
    ("add_remove/query", 10_000),
    ("changed_filter/frame", 1_000_000),
];

/// The chart of all rows as the text of an SVG file.
pub(crate) fn render(report: &Report) -> Result<String, String> {
    render_groups(&report.groups.iter().collect::<Vec<_>>())
}

/// The chart of the measured rows of [`BRIEF`].
pub(crate) fn render_brief(report: &Report) -> Result<String, String> {
    let find = |&(name, size): &(&str, usize)| {
        report.groups.iter().find(|group| group.workload.name == name && group.size == size)
    };
    render_groups(&BRIEF.iter().filter_map(find).collect::<Vec<_>>())
}

fn render_groups(groups: &[&Group]) -> Result<String, String> {
    let panels: Vec<_> = groups.iter().map(|&group| (group, bars(group))).collect();
    let rows: Vec<_> = panels.chunks(COLUMNS).collect();
    let heights: Vec<u32> = rows.iter().map(|row| row_height(row)).collect();
    let width = PANEL_WIDTH * COLUMNS as u32;
    let height = HEAD_HEIGHT + heights.iter().sum::<u32>() + MARGIN as u32;

    let draw = |root: &Area| {
        head(root)?;
        let mut top = HEAD_HEIGHT;
        for (row, height) in rows.iter().zip(&heights) {
            for (column, (group, bars)) in row.iter().enumerate() {
                let left = PANEL_WIDTH * column as u32;
                let area = root.clone().shrink((left, top), (PANEL_WIDTH, *height));
                panel(&area, group, bars)?;
            }
            top += height;
        }
        Ok(())
    };
    picture::svg((width, height), draw)
        .map_err(|error| format!("the chart cannot be drawn: {error}"))
}

fn row_height(row: &[(&Group, Vec<Bar>)]) -> u32 {
    let bars = row.iter().map(|(_, bars)| bars.len()).max().unwrap_or(0);
    (TITLE_HEIGHT + bars as i32 * BAR_HEIGHT + FOOT_HEIGHT).unsigned_abs()
}

/// This library first, with an extra bar if a call is faster than the obvious one; after it the
/// peers.
fn bars(group: &Group) -> Vec<Bar> {
    let mut names: Vec<&str> = group.lines.iter().map(|line| line.row.library).collect();
    names.dedup();
    names.sort_by_key(|&name| name != OURS);
    let mut bars = Vec::new();
    for name in names.into_iter().filter(|&name| name != LIMIT) {
        let colour = if name == OURS { FIRST } else { PEER };
        let value = group.shown_of(name).map(|(_, figures)| figures.per_unit);
        bars.push(Bar { name: name.to_owned(), colour, value });
        if let Some((line, figures)) = group.special_of(OURS).filter(|_| name == OURS) {
            let name = format!("… {}", line.row.variant);
            bars.push(Bar { name, colour: OUR_SPECIAL, value: Some(figures.per_unit) });
        }
    }
    bars
}

fn head(root: &Area) -> Result<(), Box<dyn Error>> {
    let text = "phalanx and its peers: time per unit of work, shorter is better";
    root.draw(&Text::new(text, (MARGIN, 14), bold(20, INK)))?;
    let legend = "nanoseconds, median, logarithmic; each peer by its fastest variant";
    root.draw(&Text::new(legend, (MARGIN, 42), font(12, FAINT)))?;
    let right = (PANEL_WIDTH * COLUMNS as u32) as i32 - MARGIN;
    root.draw(&PathElement::new([(right - 230, 48), (right - 206, 48)], SECOND.stroke_width(2)))?;
    let limit = "the limit: the same over plain Vecs";
    root.draw(&Text::new(limit, (right - 200, 42), font(12, FAINT)))?;
    let swatches = [(FIRST, "phalanx", 472), (PEER, "a peer", 386)];
    for (colour, name, from_right) in swatches {
        let x = right - from_right;
        root.draw(&Rectangle::new([(x, 43), (x + 16, 53)], colour.filled()))?;
        root.draw(&Text::new(name, (x + 22, 42), font(12, FAINT)))?;
    }
    Ok(())
}

fn panel(area: &Area, group: &Group, bars: &[Bar]) -> Result<(), Box<dyn Error>> {
    area.draw(&Text::new(group.workload.name, (MARGIN, 4), bold(13, INK)))?;
    let detail = format!("{} {}, {}", thousands(group.size), group.workload.size, group.build);
    area.draw(&Text::new(detail, (MARGIN, 21), font(11, FAINT)))?;
    let unit = format!("ns a {}", group.workload.unit).replace("a entity", "an entity");
    let right = font(11, FAINT).pos(Pos::new(HPos::Right, VPos::Top));
    area.draw(&Text::new(unit, (PANEL_WIDTH as i32 - MARGIN, 21), right))?;

    let limit = group.best_of(LIMIT).map(|(_, figures)| figures.per_unit);
    let values = bars.iter().filter_map(|bar| bar.value).chain(limit);
    let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(l, h), v| (l.min(v), h.max(v)));
    if high <= 0.0 {
        return Ok(());
    }
    // Bars begin well below the least value, and a decade is never narrower than it looks.
    let range = (low / 2.0)..high.max(low * 4.0);
    let count = bars.len() as i32;
    let x = NAME_WIDTH + MARGIN..PANEL_WIDTH as i32 - VALUE_WIDTH - MARGIN;
    let y = TITLE_HEIGHT..TITLE_HEIGHT + count * BAR_HEIGHT;
    let (px, py) = area.get_base_pixel();
    let shift = |range: std::ops::Range<i32>, by: i32| range.start + by..range.end + by;
    let place = (shift(x, px), shift(y, py));
    let area = area.apply_coord_spec(Cartesian2d::new(range.clone().log_scale(), 0..count, place));

    grid(&area, &range, count)?;
    for (row, bar) in bars.iter().enumerate() {
        let Some(value) = bar.value else { continue };
        let corners = [(range.start, row as i32), (value, row as i32 + 1)];
        let mut rectangle = Rectangle::new(corners, bar.colour.filled());
        rectangle.set_margin(2, 2, 0, 0);
        area.draw(&rectangle)?;
    }
    // Drawn over the bars, under the numbers.
    if let Some(limit) = limit {
        let line = [(limit, 0), (limit, count)];
        area.draw(&PathElement::new(line, SECOND.stroke_width(2)))?;
    }
    let limit = limit.map(|limit| area.map_coordinate(&(limit, 0)).0);
    for (row, bar) in bars.iter().enumerate() {
        label(&area, range.start, row as i32, bar, limit)?;
    }
    Ok(())
}

/// A line at each power of ten, and its number below.
fn grid(area: &Bars, range: &std::ops::Range<f64>, count: i32) -> Result<(), Box<dyn Error>> {
    let decades = (range.end / range.start).log10();
    for power in -3..8 {
        let value = 10_f64.powi(power);
        let is_sparse = decades < DECADES_MAX || power % 2 == 0;
        if !range.contains(&value) || !is_sparse {
            continue;
        }
        area.draw(&PathElement::new([(value, 0), (value, count)], GRID.stroke_width(1)))?;
        let below = font(10, FAINT).pos(Pos::new(HPos::Center, VPos::Top));
        let label = if power < 0 { value.to_string() } else { thousands(value as usize) };
        area.draw(&(EmptyElement::at((value, count)) + Text::new(label, (0, 2), below)))?;
    }
    Ok(())
}

/// The name of a bar, and its number, placed clear of the limit's line.
fn label(
    area: &Bars,
    start: f64,
    row: i32,
    bar: &Bar,
    limit: Option<i32>,
) -> Result<(), Box<dyn Error>> {
    let clear_of_limit = |value: f64, text: &str| {
        let begin = area.map_coordinate(&(value, 0)).0;
        let width = 6 * text.len() as i32 + GAP;
        let over = limit.filter(|limit| (begin..begin + width).contains(limit));
        over.map_or(0, |limit| limit - begin) + GAP
    };
    let ours = bar.colour != PEER;
    let style = |size| if ours { bold(size, INK) } else { font(size, FAINT) };
    let middle = BAR_HEIGHT / 2;
    let name = style(11).pos(Pos::new(HPos::Right, VPos::Center));
    let name = Text::new(bar.name.clone(), (-6, middle), name);
    area.draw(&(EmptyElement::at((start, row)) + name))?;
    let Some(value) = bar.value else {
        let none = font(10, FAINT).pos(Pos::new(HPos::Left, VPos::Center));
        let none = Text::new("n/a", (clear_of_limit(start, "n/a"), middle), none);
        area.draw(&(EmptyElement::at((start, row)) + none))?;
        return Ok(());
    };
    let number = style(10).pos(Pos::new(HPos::Left, VPos::Center));
    let text = significant(value);
    let offset = clear_of_limit(value, &text);
    let number = Text::new(text, (offset, middle), number);
    area.draw(&(EmptyElement::at((value, row)) + number))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libs::LIBRARIES;
    use crate::report::tests::sample_report;
    use crate::workloads::{WORKLOADS, Workload};
    use phalanx_figures::picture::PAPER;

    fn hex(colour: RGBColor) -> String {
        format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2)
    }

    #[test]
    fn the_chart_is_well_formed_and_holds_a_bar_a_library() {
        let report = sample_report();
        let svg = render(&report).expect("a chart");
        let document = roxmltree::Document::parse(&svg).expect("well-formed");
        let filled = |colour: RGBColor| {
            let bars = document.descendants().filter(|node| node.has_tag_name("rect"));
            bars.filter(|node| node.attribute("fill") == Some(&hex(colour))).count()
        };
        assert_eq!(report.groups.len(), 4);
        assert_eq!((filled(FIRST), filled(PEER)), (1 + 4, 1 + 4), "the legend, and four panels");
        assert_eq!(filled(OUR_SPECIAL), 4, "256 KiB, in four panels");
        assert_eq!(filled(PAPER), 1, "a background of its own");
        let text = document.descendants().filter(|node| node.has_tag_name("text"));
        let texts: Vec<_> = text.filter_map(|node| node.text()).map(str::trim).collect();
        for name in [
            "pos_vel",
            "8,000,000 entities, release",
            "phalanx",
            "hecs",
            "bevy_ecs",
            "n/a",
            "1.50",
            "… 256 KiB",
        ] {
            assert!(texts.contains(&name), "{name} is not in the chart");
        }
        assert_eq!(texts.iter().filter(|text| **text == "n/a").count(), 4, "bevy_ecs has no bar");
    }

    #[test]
    fn the_brief_chart_holds_rows_that_there_are_and_fits_a_page() {
        for (name, size) in BRIEF {
            let workload = Workload::find(name);
            assert!(workload.is_some_and(|w| w.sizes.contains(&size)), "{name} at {size}");
        }
        let workloads: Vec<_> = WORKLOADS.iter().collect();
        let report = Report::new(
            &workloads,
            &LIBRARIES.iter().collect::<Vec<_>>(),
            &["release"],
            Vec::new(),
        );
        let svg = render_brief(&report).expect("a chart");
        let document = roxmltree::Document::parse(&svg).expect("well-formed");
        let side = |name| document.root_element().attribute(name)?.parse::<u32>().ok();
        assert_eq!(side("width"), Some(960));
        assert!(side("height").is_some_and(|height| (600..=900).contains(&height)));
        let text = document.descendants().filter(|node| node.has_tag_name("text"));
        let texts = text.filter_map(|node| node.text()).map(str::trim);
        assert_eq!(texts.filter(|&text| text == "pos_vel").count(), 2, "of its four sizes");
    }

    #[test]
    fn a_report_without_figures_is_drawn_too() {
        let svg = render(&Report { groups: Vec::new() }).expect("a chart");
        assert!(roxmltree::Document::parse(&svg).is_ok());
    }
}

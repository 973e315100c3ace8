//! Curves as a picture: medians as lines, the middle half of the samples as bars through them.
//!
//! Both axes are logarithmic. The picture has a background of its own, so that it can be read on
//! any page.

use std::error::Error;

use phalanx_figures::picture::{self, Area, FAINT, FIRST, GRID, INK, PAPER, SECOND, font};
use phalanx_figures::significant;
use plotters::coord::combinators::LogCoord;
use plotters::prelude::*;

use crate::curves::{Curves, Series};

const SIZE: (u32, u32) = (860, 440);
/// Colours that most colour-blind people can tell apart.
const LINES: [RGBColor; 6] = [
    FIRST,
    SECOND,
    RGBColor(0x2c, 0x9c, 0x6a),
    RGBColor(0x8a, 0x5a, 0xb8),
    FAINT,
    RGBColor(0xc9, 0x9a, 0x1c),
];

type Chart<'a, 'b, C> = ChartContext<'a, SVGBackend<'b>, C>;
type Log = LogCoord<f64>;

/// The text of an SVG file.
pub(crate) fn draw(curves: &Curves) -> String {
    picture::svg(SIZE, |root| draw_on(root, curves))
        .unwrap_or_else(|error| panic!("{} cannot be drawn: {error}", curves.title))
}

fn draw_on(root: &Area, curves: &Curves) -> Result<(), Box<dyn Error>> {
    let all = || curves.series.iter().flat_map(|series| &series.points);
    let x = around(all().map(|point| point.0), 1.1);
    let values = all().flat_map(|(_, s)| [s.quartiles[0], s.quartiles[1], s.median]);
    let y = around(values.filter(|value| *value > 0.0), 1.4);
    let mut chart = ChartBuilder::on(root)
        .caption(&curves.title, font(18, INK))
        .margin(14)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(x.clone().log_scale().base(curves.x.base), y.clone().log_scale())?;
    chart
        .configure_mesh()
        .x_labels(12)
        .x_desc(curves.x.label)
        .y_desc(&curves.y)
        .x_label_formatter(&|x| (curves.x.format)(*x))
        .y_label_formatter(&|y| significant(*y))
        .label_style(font(12, FAINT))
        .axis_desc_style(font(13, INK))
        .bold_line_style(GRID)
        .light_line_style(PAPER)
        .draw()?;
    for (at, name) in curves.marks.iter().filter(|(at, _)| x.contains(at)) {
        chart.draw_series([PathElement::new([(*at, y.start), (*at, y.end)], FAINT)])?;
        chart.draw_series([Text::new(name.clone(), (*at, y.end), font(12, FAINT))])?;
    }
    for (series, colour) in curves.series.iter().zip(LINES.iter().cycle()) {
        line(&mut chart, series, *colour)?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .margin(24)
        .background_style(PAPER.mix(0.9))
        .border_style(GRID)
        .label_font(font(13, INK))
        .draw()?;
    Ok(())
}

fn line(
    chart: &mut Chart<Cartesian2d<Log, Log>>,
    series: &Series,
    colour: RGBColor,
) -> Result<(), Box<dyn Error>> {
    let medians = series.points.iter().map(|(x, summary)| (*x, summary.median));
    chart
        .draw_series(LineSeries::new(medians.clone(), colour.stroke_width(2)))?
        .label(&series.name)
        .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
    chart.draw_series(medians.map(|point| Circle::new(point, 3, colour.filled())))?;
    chart.draw_series(series.points.iter().map(|(x, summary)| {
        let [first, third] = summary.quartiles;
        PathElement::new([(*x, first), (*x, third)], colour.stroke_width(1))
    }))?;
    Ok(())
}

/// From a little below the least to a little above the greatest.
fn around(values: impl Iterator<Item = f64>, factor: f64) -> std::ops::Range<f64> {
    let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(l, h), v| (l.min(v), h.max(v)));
    low / factor..high * factor
}

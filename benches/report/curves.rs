//! Curves: figures over sizes, as a table and as a chart.

use phalanx_figures::{Summary, significant, table};

/// The quantity along the bottom.
pub(crate) struct Axis {
    pub(crate) label: &'static str,
    pub(crate) format: fn(f64) -> String,
    /// The distance of the lines, as a factor: sizes double, numbers grow tenfold.
    pub(crate) base: f64,
}

/// One line: its points in the order of `x`.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, Summary)>,
}

impl Series {
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), points: Vec::new() }
    }

    /// Adds the samples measured at `x`.
    pub(crate) fn push(&mut self, x: f64, samples: &[f64]) {
        self.points.push((x, Summary::of(samples).expect("each point has samples")));
    }

    /// The median at `x`, where the series has a point.
    pub(crate) fn median(&self, x: f64) -> Option<f64> {
        self.points.iter().find(|point| point.0 == x).map(|point| point.1.median)
    }

    /// The median at `x`, a measured point.
    pub(crate) fn at(&self, x: f64) -> f64 {
        self.median(x).expect("all sizes are measured")
    }

    /// The first and the last point, as `x` and median.
    pub(crate) fn ends(&self) -> [(f64, f64); 2] {
        let end = |point: Option<&(f64, Summary)>| {
            let (x, summary) = point.expect("a series has points");
            (*x, summary.median)
        };
        [end(self.points.first()), end(self.points.last())]
    }
}

/// Several series over one axis.
pub(crate) struct Curves {
    pub(crate) title: String,
    pub(crate) x: Axis,
    /// The measured quantity, with its unit.
    pub(crate) y: String,
    pub(crate) series: Vec<Series>,
    /// Lines across the chart, for instance the sizes of caches.
    pub(crate) marks: Vec<(f64, String)>,
}

impl Curves {
    /// A row for each `x`, a column for each series.
    pub(crate) fn table(&self) -> String {
        let names = self.series.iter().map(|series| series.name.clone());
        let mut table = table::markdown([self.x.label.to_owned()].into_iter().chain(names), 0);
        let mut xs: Vec<f64> =
            self.series.iter().flat_map(|series| &series.points).map(|point| point.0).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        for x in xs {
            let cell = |series: &Series| {
                let point = series.points.iter().find(|point| point.0 == x);
                point.map_or_else(String::new, |(_, summary)| with_quartiles(summary))
            };
            let cells = self.series.iter().map(cell);
            table.add_row([(self.x.format)(x)].into_iter().chain(cells));
        }
        format!("{}:\n\n{table}", self.y)
    }
}

/// The median, with the quartiles where there are several samples.
pub(crate) fn with_quartiles(summary: &Summary) -> String {
    let median = significant(summary.median);
    if summary.min == summary.max {
        return median;
    }
    let [first, third] = summary.quartiles.map(significant);
    format!("{median} ({first} to {third})")
}

//! From samples to rows of the table: medians, and ratios to the limit and to the best peer.

use crate::harness::Row;
use crate::libs::{LIMIT, Library, OURS};
use crate::workloads::Workload;
use phalanx_figures::Summary;

/// All samples of a row, from all runs.
pub(crate) struct Timing {
    pub(crate) build: String,
    pub(crate) row: Row,
    /// Nanoseconds of one iteration each.
    pub(crate) samples: Vec<f64>,
}

/// A workload at a size in a build: the rows of all libraries.
pub(crate) struct Group {
    pub(crate) build: String,
    pub(crate) workload: &'static Workload,
    pub(crate) size: usize,
    pub(crate) lines: Vec<Line>,
}

/// One row of the table.
pub(crate) struct Line {
    pub(crate) row: Row,
    /// None if the library cannot do it.
    pub(crate) figures: Option<Figures>,
}

/// Nanoseconds of one iteration, and ratios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Figures {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) interquartile: f64,
    /// The median of one unit.
    pub(crate) per_unit: f64,
    /// To the fastest row of all libraries but this project's own and the limit.
    pub(crate) ratio_best_peer: Option<f64>,
    /// To the fastest row without a library.
    pub(crate) ratio_limit: Option<f64>,
}

/// The whole report.
pub(crate) struct Report {
    pub(crate) groups: Vec<Group>,
}

impl Report {
    pub(crate) fn new(
        workloads: &[&'static Workload],
        libraries: &[&'static Library],
        builds: &[&str],
        timings: Vec<Timing>,
    ) -> Self {
        let mut groups = Vec::new();
        for &workload in workloads {
            for &size in workload.sizes {
                let of_group = |t: &&Timing| t.row.workload == workload.name && t.row.size == size;
                for &build in builds {
                    let of_build = timings.iter().filter(|t| t.build == build).filter(of_group);
                    let timings: Vec<_> = of_build.collect();
                    groups.push(Group::new(build, workload, size, libraries, &timings));
                }
            }
        }
        Self { groups }
    }
}

impl Group {
    fn new(
        build: &str,
        workload: &'static Workload,
        size: usize,
        libraries: &[&'static Library],
        timings: &[&Timing],
    ) -> Self {
        let fastest = |is_meant: fn(&str) -> bool| {
            let meant = timings.iter().filter(|timing| is_meant(timing.row.library));
            let medians = meant.filter_map(|timing| Summary::of(&timing.samples));
            medians.map(|summary| summary.median).min_by(f64::total_cmp)
        };
        let limit = fastest(|library| library == LIMIT);
        let best_peer = fastest(|library| library != LIMIT && library != OURS);
        let units = (workload.units)(size) as f64;

        let mut lines = Vec::new();
        for library in libraries {
            let of_library = timings.iter().filter(|t| t.row.library == library.name);
            let before = lines.len();
            lines.extend(of_library.map(|timing| {
                let figures = Summary::of(&timing.samples).map(|summary| Figures {
                    median: summary.median,
                    min: summary.min,
                    interquartile: summary.interquartile(),
                    per_unit: summary.median / units,
                    ratio_best_peer: best_peer.map(|best| summary.median / best),
                    ratio_limit: limit.map(|limit| summary.median / limit),
                });
                Line { row: timing.row.clone(), figures }
            }));
            if lines.len() == before {
                let (workload, library) = (workload.name, library.name);
                let row = Row { workload, size, library, variant: String::new() };
                lines.push(Line { row, figures: None });
            }
        }
        Self { build: build.to_owned(), workload, size, lines }
    }

    /// The row of the call that a library's documentation shows first: the first that it runs.
    pub(crate) fn obvious_of(&self, library: &str) -> Option<(&Line, Figures)> {
        let of_library = self.lines.iter().filter(|line| line.row.library == library);
        of_library.filter_map(|line| Some((line, line.figures?))).next()
    }

    /// The fastest row of a library, if another call than the obvious one is faster.
    pub(crate) fn special_of(&self, library: &str) -> Option<(&Line, Figures)> {
        let (_, obvious) = self.obvious_of(library)?;
        self.best_of(library).filter(|(_, figures)| figures.median < obvious.median)
    }

    /// The row shown for a library in a chart or a page: for this project the obvious row, for the
    /// others the fastest.
    pub(crate) fn shown_of(&self, library: &str) -> Option<(&Line, Figures)> {
        if library == OURS { self.obvious_of(library) } else { self.best_of(library) }
    }

    /// The fastest row of a library.
    pub(crate) fn best_of(&self, library: &str) -> Option<(&Line, Figures)> {
        let of_library = self.lines.iter().filter(|line| line.row.library == library);
        let measured = of_library.filter_map(|line| Some((line, line.figures?)));
        measured.min_by(|(_, a), (_, b)| a.median.total_cmp(&b.median))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::libs::LIBRARIES;

    /// A report over one workload, in which the limit takes 1 ns a unit, phalanx 1.5 or 1.25,
    /// hecs 4 or 2.
    pub(crate) fn sample_report() -> Report {
        let workload = Workload::find("pos_vel").expect("there is one");
        let mut timings = Vec::new();
        for &size in workload.sizes {
            for (library, variant, ns) in [
                ("raw", "avx2", 1.0),
                ("raw", "", 3.0),
                (OURS, "", 1.5),
                (OURS, "256 KiB", 1.25),
                ("hecs", "", 4.0),
                ("hecs", "columns", 2.0),
            ] {
                let row =
                    Row { workload: workload.name, size, library, variant: variant.to_owned() };
                let samples = [0.9, 1.0, 1.0, 1.2].map(|noise| noise * ns * size as f64).to_vec();
                timings.push(Timing { build: "release".to_owned(), row, samples });
            }
        }
        let libraries: Vec<_> = LIBRARIES.iter().take(4).collect();
        Report::new(&[workload], &libraries, &["release"], timings)
    }

    #[test]
    fn ratios_are_to_the_fastest_variant() {
        let report = sample_report();
        let group = &report.groups[0];
        let figures = |label: &str| {
            let line = group.lines.iter().find(|line| line.row.label() == label);
            line.expect("a row").figures.expect("measured")
        };
        let ours = figures("phalanx");
        assert_eq!(
            (ours.per_unit, ours.ratio_best_peer, ours.ratio_limit),
            (1.5, Some(0.75), Some(1.5))
        );
        assert_eq!(figures("hecs[columns]").ratio_best_peer, Some(1.0));
        assert_eq!(figures("hecs").ratio_best_peer, Some(2.0));
        assert_eq!(figures("raw").ratio_limit, Some(3.0));
        assert_eq!(ours.min, 0.9 * 1.5 * 10_000.0);
    }

    #[test]
    fn this_project_is_shown_by_its_obvious_row_and_peers_by_their_fastest() {
        let report = sample_report();
        let group = &report.groups[0];
        let label = |found: Option<(&Line, Figures)>| found.map(|(line, _)| line.row.label());
        assert_eq!(label(group.shown_of(OURS)).as_deref(), Some("phalanx"));
        assert_eq!(label(group.special_of(OURS)).as_deref(), Some("phalanx[256 KiB]"));
        assert_eq!(label(group.shown_of("hecs")).as_deref(), Some("hecs[columns]"));
        assert_eq!(label(group.obvious_of("hecs")).as_deref(), Some("hecs"));
        assert_eq!(label(group.shown_of("bevy_ecs")), None);
    }

    #[test]
    fn a_library_that_cannot_do_it_has_a_row_all_the_same() {
        let report = sample_report();
        let bevy = report.groups[0].lines.iter().find(|line| line.row.library == "bevy_ecs");
        assert_eq!(bevy.expect("a row").figures, None);
        assert!(report.groups[0].best_of("bevy_ecs").is_none());
        let (line, _) = report.groups[0].best_of("hecs").expect("measured");
        assert_eq!(line.row.label(), "hecs[columns]");
    }
}

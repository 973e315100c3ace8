//! The table as tab-separated values.

use crate::report::Report;
use std::fmt::Write;

/// Nanoseconds of one iteration and of one unit, and ratios. A missing figure is `n/a`.
const HEADER: &str =
    "workload\tlibrary\tsize\tmedian_ns\tmin_ns\tper_unit_ns\tratio_best_peer\tratio_limit\tbuild";

/// A header, and a line a row.
pub(crate) fn render(report: &Report) -> String {
    let mut text = format!("{HEADER}\n");
    for (group, line) in report.groups.iter().flat_map(|g| g.lines.iter().map(move |l| (g, l))) {
        let figures = line.figures;
        let fields = [
            number(figures.map(|f| f.median), 1),
            number(figures.map(|f| f.min), 1),
            number(figures.map(|f| f.per_unit), 4),
            number(figures.and_then(|f| f.ratio_best_peer), 3),
            number(figures.and_then(|f| f.ratio_limit), 3),
        ];
        let (workload, size) = (line.row.workload, line.row.size);
        writeln!(
            text,
            "{workload}\t{}\t{size}\t{}\t{}",
            line.row.label(),
            fields.join("\t"),
            group.build
        )
        .expect("a string takes everything");
    }
    text
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "n/a".to_owned(), |value| format!("{value:.digits$}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::sample_report;

    #[test]
    fn every_line_has_nine_fields() {
        let text = render(&sample_report());
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
        assert!(lines.iter().all(|fields| fields.len() == 9), "{text}");
        assert_eq!(
            lines[0].join(" "),
            "workload library size median_ns min_ns per_unit_ns ratio_best_peer ratio_limit build"
        );
        assert_eq!(
            lines[1],
            [
                "pos_vel",
                "raw[avx2]",
                "10000",
                "10000.0",
                "9000.0",
                "1.0000",
                "0.500",
                "1.000",
                "release"
            ]
        );
        assert!(
            text.contains("pos_vel\tbevy_ecs\t10000\tn/a\tn/a\tn/a\tn/a\tn/a\trelease\n"),
            "{text}"
        );
    }
}

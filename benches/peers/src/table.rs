//! The table as people read it.

use crate::libs::{LIBRARIES, OURS};
use crate::report::{Figures, Report};
use crate::workloads::WORKLOADS;
use comfy_table::{Attribute, Cell};
use phalanx_figures::{significant, table, thousands};

/// A block for each workload and size, a line for each way to use each library.
pub(crate) fn render(report: &Report) -> String {
    let header = ["workload", "build", "library", "median", "spread", "best peer", "limit"];
    let mut table = table::plain(header, 3);
    for group in &report.groups {
        let name = format!("{} {}", group.workload.name, thousands(group.size));
        for (i, line) in group.lines.iter().enumerate() {
            let first = |text: &str| if i == 0 { text.to_owned() } else { String::new() };
            let mut cells = vec![first(&name), first(&group.build), line.row.label()];
            cells.extend(fields(line.figures));
            let ours = line.row.library == OURS;
            table.add_row(cells.into_iter().enumerate().map(|(column, text)| {
                let cell = Cell::new(text);
                if ours && column > 1 { cell.add_attribute(Attribute::Bold) } else { cell }
            }));
        }
    }
    let legend = "median: ns a unit. spread: the interquartile range of all samples of all runs, in \
                  percent of the median.\nbest peer, limit: the median divided by that of the fastest \
                  peer, and of the fastest loop over plain `Vec`s.";
    format!("{table}\n{legend}")
}

fn fields(figures: Option<Figures>) -> [String; 4] {
    let Some(figures) = figures else {
        return ["n/a", "", "", ""].map(str::to_owned);
    };
    let ratio = |ratio: Option<f64>| ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}"));
    [
        significant(figures.per_unit),
        format!("{:.1} %", figures.interquartile / figures.median * 100.0),
        ratio(figures.ratio_best_peer),
        ratio(figures.ratio_limit),
    ]
}

/// Prints the available workloads and libraries.
pub(crate) fn print_list() {
    let mut list = table::plain(["workload", "what", "unit", "sizes"], 3);
    for w in WORKLOADS {
        let sizes: Vec<_> = w.sizes.iter().map(|&size| thousands(size)).collect();
        list.add_row([w.name, w.what, w.unit, &format!("{} {}", sizes.join(", "), w.size)]);
    }
    let names: Vec<_> = LIBRARIES.iter().map(|library| library.name).collect();
    println!("{list}\nlibraries: {}", names.join(", "));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::sample_report;

    #[test]
    fn the_table_has_a_line_a_row() {
        let text = render(&sample_report());
        let line = text.lines().find(|line| line.contains("phalanx")).expect("a line");
        for part in ["1.50", "0.75", "%"] {
            assert!(line.contains(part), "{part} is not in {line}");
        }
        assert!(text.contains("pos_vel 8,000,000") && text.contains("n/a"), "{text}");
    }
}

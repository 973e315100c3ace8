//! The report: properties of machines that the layout of phalanx relies on, and the results of
//! phalanx on them.
//!
//!     cargo bench --bench report
//!     cargo bench --bench report -- ladder index
//!     cargo bench --bench report -- --quick
//!
//! A module of `report` is a part: it measures one thing, checks its results, and describes the
//! figures in words. All parts make one page with charts, in the folder `report` of cargo's target
//! folder; the last printed line is its path.

#[path = "common/column.rs"]
#[allow(dead_code, reason = "columns are written by the limits only")]
mod column;
#[path = "programs/mod.rs"]
mod programs;

#[path = "report/chart.rs"]
mod chart;
#[path = "report/curves.rs"]
mod curves;
#[path = "report/effort.rs"]
mod effort;
#[path = "report/footprint.rs"]
mod footprint;
#[path = "report/index.rs"]
mod index;
#[path = "report/ladder.rs"]
mod ladder;
#[path = "report/line_pairs.rs"]
mod line_pairs;
#[path = "report/machine.rs"]
mod machine;
#[path = "report/moves.rs"]
mod moves;
#[path = "report/objects.rs"]
mod objects;
#[path = "report/options.rs"]
mod options;
#[path = "report/page.rs"]
mod page;
#[path = "report/paper.rs"]
mod paper;
#[path = "report/paper_life.rs"]
mod paper_life;
#[path = "report/sparse_set.rs"]
mod sparse_set;

use effort::Effort;
use machine::Machine;
use options::Options;
use page::{Page, Part};

/// The parts: the name on the command line, and the function that makes it.
const PARTS: [(&str, MakePart); 7] = [
    ("ladder", ladder::part),
    ("objects", objects::part),
    ("moves", moves::part),
    ("footprint", footprint::part),
    ("index", index::part),
    ("line_pairs", line_pairs::part),
    ("paper", paper::part),
];

/// Measures a part.
type MakePart = fn(&Effort, &Machine) -> Part;

fn main() {
    let names = PARTS.map(|(name, _)| name);
    let Some(options) = Options::of_this_run(&names) else { return };
    let effort = if options.quick { Effort::quick() } else { Effort::full() };
    sparse_set::prove();
    let machine = Machine::of_this_run();
    let mut page = Page::new(&machine, &effort);
    for (name, part) in PARTS.into_iter().filter(|(name, _)| options.wants(name)) {
        eprintln!("report: {name}");
        page.add(name, part(&effort, &machine));
    }
    match page.write() {
        Ok(path) => println!("report: {}", path.display()),
        Err(error) => {
            eprintln!("report: the page cannot be written: {error}");
            std::process::exit(1);
        }
    }
}

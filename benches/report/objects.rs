//! Objects behind pointers against columns.

use phalanx::ChunkSize;
use phalanx_figures::significant;

use crate::curves::{Axis, Curves, Series};
use crate::effort::Effort;
use crate::machine::{Machine, count};
use crate::page::{Figure, Part};
use crate::programs::Program;
use crate::programs::objects::{Columns, KINDS_MAX, Objects, Order};

/// The part.
pub(crate) fn part(effort: &Effort, _: &Machine) -> Part {
    let len = effort.pick(100_000, 2_000);
    let mut shuffled = Series::new("objects, shuffled");
    let mut by_kind = Series::new("objects, kind by kind");
    let mut columns = Series::new("columns, kind by kind");
    for kinds in std::iter::successors(Some(1), |kinds| Some(kinds * 2)) {
        if kinds > KINDS_MAX {
            break;
        }
        let mut sides = (
            Counted::new(Objects::new(len, kinds, Order::Shuffled)),
            Counted::new(Objects::new(len, kinds, Order::ByKind)),
            Counted::new(Columns::new(ChunkSize::KIB_16, len, kinds)),
        );
        let samples = effort.time(
            len,
            &mut [&mut || sides.0.pass(), &mut || sides.1.pass(), &mut || sides.2.pass()],
        );
        sides.0.check();
        sides.1.check();
        sides.2.check();
        for (series, samples) in
            [&mut shuffled, &mut by_kind, &mut columns].into_iter().zip(samples)
        {
            series.push(kinds as f64, &samples);
        }
    }
    let sees = sees(&shuffled, &by_kind, &columns);
    let curves = Curves {
        title: "A turn of an entity, by the number of kinds".to_owned(),
        x: Axis { label: "kinds", format: count, base: 2.0 },
        y: "ns an entity".to_owned(),
        series: vec![shuffled, by_kind, columns],
        marks: Vec::new(),
    };
    Part {
        title: "Objects behind pointers, and columns",
        about: format!(
            "{} entities of 32 bytes, and the same turn of 128 steps for each, with constants of its \
             kind: some 1,600 bytes of code a kind. Objects are a `Vec<Box<dyn Update>>`, a virtual \
             call each; columns are an archetype and a `#[kernel]` for each kind. `cachegrind/run \
             objects` counts what misses the caches of instructions and of data.",
            count(len as f64)
        ),
        figures: vec![Figure::Curves(curves)],
        sees,
    }
}

fn sees(shuffled: &Series, by_kind: &Series, columns: &Series) -> Vec<String> {
    let [(few, _), (many, _)] = columns.ends();
    let grown = |series: &Series| significant(series.at(many) / series.at(few));
    vec![
        format!(
            "From {few} to {many} kinds, the time of an entity becomes {} times as long among \
             shuffled objects, {} times among objects kind by kind, and {} times in columns.",
            grown(shuffled),
            grown(by_kind),
            grown(columns)
        ),
        format!(
            "With {many} kinds a shuffled object takes {} times as long as a row of a column. The \
             order of kinds and addresses is {} of that, and what is left, {}, is the virtual call \
             and the width of the instructions.",
            significant(shuffled.at(many) / columns.at(many)),
            significant(shuffled.at(many) / by_kind.at(many)),
            significant(by_kind.at(many) / columns.at(many))
        ),
    ]
}

/// A program with a count of its passes.
pub(crate) struct Counted<P> {
    program: P,
    passes: u64,
}

impl<P: Program> Counted<P> {
    pub(crate) fn new(program: P) -> Self {
        Self { program, passes: 0 }
    }

    pub(crate) fn pass(&mut self) {
        self.program.pass();
        self.passes += 1;
    }

    /// Panics if the passes have not done their work.
    pub(crate) fn check(&self) {
        if let Err(wrong) = self.program.check(self.passes) {
            panic!("{wrong}");
        }
    }
}

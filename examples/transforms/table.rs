//! The times of the forms, frame by frame, and their ratios to the first form.

use crate::SYSTEMS;
use std::fmt::{self, Display};

/// Nanoseconds a row of each system.
type Times = [f64; SYSTEMS.len()];

/// The times of all frames.
pub(crate) struct Table<const FORMS: usize> {
    names: [&'static str; FORMS],
    frames: Vec<[Times; FORMS]>,
}

impl<const FORMS: usize> Table<FORMS> {
    pub(crate) const fn new(names: [&'static str; FORMS]) -> Self {
        Self { names, frames: Vec::new() }
    }

    /// Adds the times of a frame.
    pub(crate) fn add(&mut self, frame: [Times; FORMS]) {
        self.frames.push(frame);
    }
}

impl<const FORMS: usize> Display for Table<FORMS> {
    /// Medians of all frames: nanoseconds, and the ratio to the first form in the same frame. A
    /// load of the machine that lasts longer than a frame is in both.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<20}", "ns a row (ratio)")?;
        SYSTEMS.iter().try_for_each(|system| write!(f, "{system:>17}"))?;
        for (form, name) in self.names.iter().enumerate() {
            write!(f, "\n{name:<20}")?;
            for system in 0..SYSTEMS.len() {
                let time = median(self.frames.iter().map(|frame| frame[form][system]));
                let ratio = |frame: &[Times; FORMS]| frame[form][system] / frame[0][system];
                let ratio = median(self.frames.iter().map(ratio));
                write!(f, "{time:9.3} ({ratio:5.2})")?;
            }
        }
        writeln!(f)
    }
}

/// The median, the upper one of two.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

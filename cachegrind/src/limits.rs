//! The limits of a row, and the counts above them.

use crate::cachegrind::{Counts, Event};
use crate::work::Work;

/// The limits of a row; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Limits {
    /// D1 misses for each line of the least.
    pub(crate) ratio: Option<f64>,
    /// D1 misses a unit.
    pub(crate) misses: Option<f64>,
    /// Instructions a unit.
    pub(crate) instructions: Option<f64>,
    /// I1 misses a unit.
    pub(crate) code_misses: Option<f64>,
}

/// A count above its limit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Excess {
    /// The counted event.
    pub(crate) event: Event,
    /// The sentence about it, without the name of the row.
    pub(crate) text: String,
}

impl Limits {
    /// Each limit with the name of the method that sets it.
    fn all(&self) -> [(&'static str, Option<f64>); 4] {
        [
            ("ratio_max", self.ratio),
            ("misses_max", self.misses),
            ("instructions_max", self.instructions),
            ("code_misses_max", self.code_misses),
        ]
    }

    /// Returns the mistake in the limits, if any.
    pub(crate) fn mistake(&self) -> Option<String> {
        let is_bad = |limit: &f64| !limit.is_finite() || *limit < 0.0;
        self.all().into_iter().find_map(|(name, limit)| {
            let limit = limit.filter(is_bad)?;
            Some(format!("{name}({limit}) is no limit: give a number like 1.02"))
        })
    }

    /// The limits as the table prints them.
    pub(crate) fn text(&self) -> String {
        let names = ["x least", "misses", "instr.", "I1 misses"];
        let with_name = self.all().into_iter().zip(names);
        let texts: Vec<String> =
            with_name.filter_map(|((_, limit), name)| Some(format!("{} {name}", limit?))).collect();
        if texts.is_empty() { "-".into() } else { texts.join(", ") }
    }

    /// The counts above their limits, in units of `unit`, over `passes` passes.
    pub(crate) fn excesses(
        &self,
        counts: &Counts,
        passes: u64,
        work: Work,
        unit: &str,
    ) -> Vec<Excess> {
        let units = (passes * work.units) as f64;
        let least = work.lines / work.units as f64;
        let limits = [
            (Event::D1Misses, self.ratio.map(|ratio| ratio * least)),
            (Event::D1Misses, self.misses),
            (Event::Instructions, self.instructions),
            (Event::I1Misses, self.code_misses),
        ];
        let excess = |(event, limit): (Event, Option<f64>)| {
            let (limit, count) = (limit?, counts.of(event) as f64 / units);
            (count > limit).then(|| {
                let share = if limit > 0.0 {
                    format!(", {:.1} %", (count / limit - 1.0) * 100.0)
                } else {
                    String::new()
                };
                let (what, more) = (event.name(), count - limit);
                let text = format!(
                    "{count:.4} {what} per {unit}, limit {limit:.4}: {more:.4} too many{share}"
                );
                Excess { event, text }
            })
        };
        limits.into_iter().filter_map(excess).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excesses(limits: Limits) -> Vec<String> {
        let counts = Counts { d1_read_misses: 400, d1_write_misses: 105, ..Counts::default() };
        let counts = Counts { instructions: 2_000, i1_misses: 3, ..counts };
        let all = limits.excesses(&counts, 10, Work::of_units(100, 50.0), "entity");
        all.into_iter().map(|excess| excess.text).collect()
    }

    #[test]
    fn only_what_is_above_its_limit_is_named() {
        let within = Limits {
            ratio: Some(1.01),
            misses: Some(0.505),
            instructions: Some(2.0),
            code_misses: Some(0.003),
        };
        assert_eq!(excesses(within), [""; 0]);
        assert_eq!(excesses(Limits::default()), [""; 0]);
        let above = Limits { misses: Some(0.404), ..within };
        let wanted = "0.5050 D1 misses per entity, limit 0.4040: 0.1010 too many, 25.0 %";
        assert_eq!(excesses(above), [wanted]);
        let none = Limits { code_misses: Some(0.0), instructions: Some(1.0), ..within };
        assert_eq!(excesses(none).len(), 2);
        assert_eq!(excesses(Limits { ratio: Some(1.0), ..within }).len(), 1);
    }

    #[test]
    fn limits_are_written_out() {
        assert_eq!(Limits::default().text(), "-");
        let two = Limits { ratio: Some(1.02), instructions: Some(3.5), ..Limits::default() };
        assert_eq!(two.text(), "1.02 x least, 3.5 instr.");
    }
}

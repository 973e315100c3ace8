//! The time of each system, summed over all frames.

use phalanx::schedule::Timings;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

/// Time by the name of a system, without its path.
#[derive(Debug, Default)]
pub(crate) struct Times(BTreeMap<String, Duration>);

impl Times {
    /// Adds the times of a frame.
    pub(crate) fn add(&mut self, timings: &Timings) {
        for system in timings.systems.iter().filter(|system| system.ran) {
            let name = system.name.rsplit("::").next().unwrap_or(&system.name);
            *self.0.entry(name.to_owned()).or_default() += system.total;
        }
    }

    /// Microseconds of a system in a frame. None if it never ran.
    fn of(&self, name: &str, frames: u32) -> Option<f64> {
        self.0.get(name).map(|time| time.as_secs_f64() * 1e6 / f64::from(frames))
    }

    fn all(&self, frames: u32) -> f64 {
        self.0.values().sum::<Duration>().as_secs_f64() * 1e6 / f64::from(frames)
    }
}

/// The times of the systems with and without bits and values of chunks, side by side.
pub(crate) fn table(times: &Times, plain: &Times, frames: u32) -> String {
    let mut text = String::from("system    µs a frame   without\n");
    let cell = |time: Option<f64>| time.map_or("-".to_owned(), |time| format!("{time:.1}"));
    for name in ["doze", "stroll", "bound", "choose", "pose", "draw"] {
        let [with, without] = [times, plain].map(|times| cell(times.of(name, frames)));
        writeln!(text, "{name:<8} {with:>11} {without:>9}").expect("a string grows");
    }
    let [with, without] = [times, plain].map(|times| cell(Some(times.all(frames))));
    writeln!(text, "{:<8} {with:>11} {without:>9}", "all").expect("a string grows");
    text
}

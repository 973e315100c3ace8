//! The progress of a run.

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

/// Counts to `len`, and draws a bar of `unit`s on stderr meanwhile if that is a terminal.
///
/// # Panics
///
/// If the unit contains a brace.
pub fn steps(len: u64, unit: &str) -> impl Iterator<Item = u64> {
    let template = format!("{{bar:40}} {unit} {{pos}} of {{len}}, {{eta}} left");
    let style = ProgressStyle::with_template(&template).expect("the template is malformed");
    let bar = ProgressBar::new(len).with_style(style).with_finish(ProgressFinish::AndClear);
    bar.wrap_iter(0..len)
}

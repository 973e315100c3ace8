//! From samples to figures, for the report of the benchmarks and for the comparison with peers.
//!
//! - [`Summary`], [`MannWhitney`] and [`Spearman`] are the statistics of samples;
//! - [`significant`], [`thousands`] and [`probability`] are numbers as text;
//! - [`table`] makes tables, for people or as Markdown;
//! - [`picture`] makes SVG files of one look: a font, and colours on a background of their own.

mod numbers;
pub mod picture;
mod rank;
mod stats;
pub mod table;

pub use numbers::{probability, significant, thousands};
pub use rank::{MannWhitney, Spearman};
pub use stats::Summary;

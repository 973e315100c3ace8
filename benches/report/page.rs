//! The page: the text of all parts, as Markdown, with their charts beside it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::chart;
use crate::curves::Curves;
use crate::effort::Effort;
use crate::machine::Machine;

/// The content of one part.
pub(crate) struct Part {
    pub(crate) title: &'static str,
    /// The measured quantity, the method, and the units.
    pub(crate) about: String,
    pub(crate) figures: Vec<Figure>,
    /// Conclusions, made of the figures of this run.
    pub(crate) sees: Vec<String>,
}

/// Curves or a table.
pub(crate) enum Figure {
    /// A chart and the table of its points.
    Curves(Curves),
    /// A table, as Markdown.
    Table(String),
}

/// The text so far, and the charts it shows.
pub(crate) struct Page {
    text: String,
    charts: Vec<(String, String)>,
}

impl Page {
    pub(crate) fn new(machine: &Machine, effort: &Effort) -> Self {
        let mut text = format!("# Report\n\nMachine: {}.\n", machine.describe());
        let rounds = effort.rounds;
        let _ = write!(
            text,
            "\nTimes are medians of {rounds} samples, with the first and the third quartile in \
             parentheses, unless a part says otherwise. They are times of the processor, so those of \
             other programs that had it meanwhile are left out; what these did to the caches is not. \
             What is compared runs in turn, and ratios mean more than times.\n"
        );
        if effort.is_quick {
            text.push_str("\n**A quick run: sizes are small, and the figures mean little.**\n");
        }
        Self { text, charts: Vec::new() }
    }

    /// Adds a part, and prints it.
    pub(crate) fn add(&mut self, name: &str, part: Part) {
        let mut text = format!("\n## {}\n\n{}\n", part.title, part.about);
        for (i, figure) in part.figures.iter().enumerate() {
            let table = match figure {
                Figure::Table(table) => table.clone(),
                Figure::Curves(curves) => {
                    let file = format!("{name}-{}.svg", i + 1);
                    let _ = write!(text, "\n![{}]({file})\n", curves.title);
                    self.charts.push((file, chart::draw(curves)));
                    curves.table()
                }
            };
            let _ = write!(text, "\n{table}\n");
        }
        for sentence in &part.sees {
            let _ = write!(text, "\n* {sentence}");
        }
        text.push('\n');
        println!("{text}");
        self.text.push_str(&text);
    }

    /// Writes the page and its charts, and returns where the page is.
    pub(crate) fn write(&self) -> io::Result<PathBuf> {
        // Cargo's folder for temporary files is in the target folder.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a folder in another");
        let folder = target.join("report");
        fs::create_dir_all(&folder)?;
        for (name, chart) in &self.charts {
            fs::write(folder.join(name), chart)?;
        }
        let page = folder.join("report.md");
        fs::write(&page, &self.text)?;
        Ok(page)
    }
}

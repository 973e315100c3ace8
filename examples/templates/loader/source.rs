//! The text of a file, and places in it.

use super::fault::At;
use std::sync::Arc;

/// The text of a file, with the beginnings of its lines.
#[derive(Debug)]
pub(crate) struct Source<'t> {
    file: Arc<str>,
    text: &'t str,
    lines: Vec<usize>,
}

impl<'t> Source<'t> {
    pub(crate) fn new(file: &str, text: &'t str) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { file: file.into(), text, lines: std::iter::once(0).chain(breaks).collect() }
    }

    pub(crate) const fn text(&self) -> &'t str {
        self.text
    }

    /// The place of a byte.
    pub(crate) fn at(&self, byte: usize) -> At {
        let line = self.lines.partition_point(|&start| start <= byte);
        let before = self.text.get(self.lines[line - 1]..byte).unwrap_or_default();
        At { file: self.file.clone(), line, column: before.chars().count() + 1 }
    }
}

//! The text of a file, and places in it.

use super::fault::At;
use std::sync::Arc;

/// The text of a file, with the beginnings of its lines.
#[derive(Debug)]
pub(crate) struct Source<'t> {
    file: Arc<str>,
    text: &'t str,
    lines: Vec<usize>,
    is_ascii: bool,
}

impl<'t> Source<'t> {
    pub(crate) fn new(file: &str, text: &'t str) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(breaks).collect();
        Self { file: file.into(), text, lines, is_ascii: text.is_ascii() }
    }

    pub(crate) const fn text(&self) -> &'t str {
        self.text
    }

    /// The place of a byte.
    pub(crate) fn at(&self, byte: usize) -> At {
        let line = self.lines.partition_point(|&start| start <= byte);
        let start = self.lines[line - 1];
        // A file may be one long line: columns of ASCII need no pass over it.
        let column = match self.is_ascii {
            true => byte - start,
            false => self.text.get(start..byte).unwrap_or_default().chars().count(),
        };
        At { file: self.file.clone(), line, column: column + 1 }
    }
}

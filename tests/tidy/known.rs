//! Violations that are older than the rules. The lists only shrink: a file that is better than its
//! entry is an error as well, until the entry is corrected.

use crate::cycles::Circle;
use crate::files::Wide;
use crate::words::Wordy;

/// Files of `src` that import each other in a cycle.
pub(crate) const CIRCLES: &[Circle] = &[];

/// Files with comments that are too wide, and how many lines of them, by folder.
pub(crate) const WIDE_COMMENTS: &[(&str, &[Wide])] = &[];

/// Folders with more inverted words than a folder may have.
pub(crate) const WORDY: &[Wordy] = &[];

/// Names of files in several folders: a public module, and the file of the type that it is about.
pub(crate) const FILE_NAMES: &[&str] = &["rows", "terms"];

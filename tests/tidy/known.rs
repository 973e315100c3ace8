//! What broke the rules when they were made. The lists only shrink: what is better than its entry
//! says is an error as well, until the entry is corrected.

use crate::cycles::Circle;
use crate::files::Wide;

/// Files of `src` that import each other in a circle.
pub(crate) const CIRCLES: &[Circle] = &[];

/// Files with comments that are too wide, and how many lines of them, by folder.
pub(crate) const WIDE_COMMENTS: &[(&str, &[Wide])] = &[];

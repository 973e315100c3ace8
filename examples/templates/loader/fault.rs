//! A fault in a file of types.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::sync::Arc;

/// A place in a file. Lines and columns count from one, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct At {
    pub(crate) file: Arc<str>,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// A fault: its place, and a text that says how to correct it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fault {
    pub(crate) at: At,
    pub(crate) text: String,
}

/// Names longer than this, in characters, are not compared with others. Where a name is repeated
/// in many faults, it loses the rest.
const NAME_MAX: usize = 64;

/// The most names in a list.
const LIST_MAX: usize = 16;

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", Visible(&self.file), self.line, self.column)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, Visible(&self.text))
    }
}

/// A text of a file, or its name, for a terminal: one line, without characters that control it.
pub(crate) struct Visible<'t>(pub(crate) &'t str);

impl fmt::Display for Visible<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| match letter {
            // The ends of lines of Unicode, and the marks that turn the direction of a text.
            '\u{2028}'..='\u{202E}'
            | '\u{2066}'..='\u{2069}'
            | '\u{200E}'
            | '\u{200F}'
            | '\u{061C}' => {
                write!(f, "{}", letter.escape_unicode())
            }
            _ if letter.is_control() => write!(f, "{}", letter.escape_default()),
            _ => f.write_char(letter),
        })
    }
}

/// The name among `known` that the writer may have meant, as the end of a sentence.
pub(crate) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    let len = name.chars().count();
    if len > NAME_MAX {
        return String::new();
    }
    let steps_max = 2.min(len / 2);
    // The distance takes microseconds, and is at least the difference of the lengths.
    let known = known.filter(|known| {
        let other = known.chars().count();
        other <= NAME_MAX && other.abs_diff(len) <= steps_max
    });
    let near = known.map(|known| (strsim::damerau_levenshtein(name, known), known));
    let near = near.filter(|(steps, _)| *steps <= steps_max).min();
    near.map_or_else(String::new, |(_, known)| format!("; did you mean `{known}`?"))
}

/// Names in one line: the first ones, and the number of the others.
pub(crate) fn list<'n>(mut names: impl Iterator<Item = &'n str>) -> String {
    let first = names.by_ref().take(LIST_MAX).map(|name| format!("`{}`", short(name)));
    let mut first: Vec<_> = first.collect();
    let others = names.count();
    if others > 0 {
        first.push(format!("{others} more"));
    }
    first.join(", ")
}

/// A name, of which a long one loses its end.
pub(crate) fn short(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(NAME_MAX) {
        Some((end, _)) => Cow::Owned(format!("{}…", &name[..end])),
        None => Cow::Borrowed(name),
    }
}

//! The counts of each line of source, and the functions that lines are in.
//!
//! Cachegrind names the file and line of each instruction, as inlining left them, and the function
//! of the symbol that it was inlined into. So the symbol names the function that ran, and the
//! source, if it is readable, the function in which the line was written.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::cachegrind::{Columns, Counts, Event};

/// A line of source in a function of the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The file; `???` without debug information.
    pub(crate) file: String,
    /// The line; 0 if it is not known.
    pub(crate) line: u32,
    /// The function of the symbol.
    pub(crate) function: String,
}

/// The counts of each place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(pub(crate) HashMap<Place, Counts>);

impl Places {
    /// Reads a file that cachegrind wrote.
    pub(crate) fn read(file: &Path) -> Result<Self, String> {
        let named = |wrong: String| format!("{}: {wrong}", file.display());
        let text = fs::read_to_string(file).map_err(|error| named(error.to_string()))?;
        Self::parse(&text).map_err(named)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let (mut places, mut columns) = (HashMap::<Place, Counts>::new(), None);
        let (mut file, mut function) = (String::new(), String::new());
        for line in text.lines() {
            if let Some(names) = line.strip_prefix("events:") {
                columns = Some(Columns::parse(names)?);
            } else if let Some(name) = line.strip_prefix("fl=") {
                file = plain_path(name);
            } else if let Some(name) = line.strip_prefix("fn=") {
                function = plain_name(name).to_owned();
            } else if line.starts_with(|c: char| c.is_ascii_digit()) {
                let columns = columns.as_ref().ok_or("no line 'events:'")?;
                let (number, counts) = line.split_once(' ').ok_or("a line without counts")?;
                let line = number.parse().map_err(|_| format!("{number:?} is no line"))?;
                let place = Place { file: file.clone(), line, function: function.clone() };
                places.entry(place).or_default().add(&columns.read(counts)?);
            }
        }
        Ok(Self(places))
    }

    /// The counts of `many` minus the counts of `few`.
    pub(crate) fn difference(few: &Self, mut many: Self) -> Self {
        for (place, counts) in &mut many.0 {
            *counts = *counts - few.0.get(place).copied().unwrap_or_default();
        }
        many.0.retain(|_, counts| *counts != Counts::default());
        many
    }

    /// The places with the most of an event, at most `len` of them and none without.
    pub(crate) fn top(&self, event: Event, len: usize) -> Vec<(&Place, u64)> {
        let mut top: Vec<_> = self.0.iter().map(|(place, c)| (place, c.of(event))).collect();
        top.retain(|&(_, count)| count > 0);
        top.sort_unstable_by(|(a, a_count), (b, b_count)| b_count.cmp(a_count).then(a.cmp(b)));
        top.truncate(len);
        top
    }

    /// Whether most instructions are in unknown files.
    pub(crate) fn lack_lines(&self) -> bool {
        let sum = |known: bool| -> u64 {
            let places = self.0.iter().filter(|(place, _)| (place.file != "???") == known);
            places.map(|(_, counts)| counts.instructions).sum()
        };
        sum(false) > sum(true)
    }
}

/// The path without `.` and `..`.
fn plain_path(path: &str) -> String {
    let mut plain = PathBuf::new();
    for component in Path::new(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain.display().to_string()
}

/// The name without the hash that Rust appends.
fn plain_name(name: &str) -> &str {
    match name.rsplit_once("::h") {
        Some((rest, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
            rest
        }
        _ => name,
    }
}

/// Sources, read when they are first asked for.
#[derive(Debug, Default)]
pub(crate) struct Sources(HashMap<String, Vec<String>>);

impl Sources {
    fn lines(&mut self, file: &str) -> &[String] {
        self.0.entry(file.to_owned()).or_insert_with(|| {
            let text = fs::read_to_string(file).unwrap_or_default();
            text.lines().map(str::to_owned).collect()
        })
    }

    /// The text of a line, if its file is readable.
    pub(crate) fn text(&mut self, place: &Place) -> Option<&str> {
        let index = usize::try_from(place.line).ok()?.checked_sub(1)?;
        self.lines(&place.file).get(index).map(|line| line.trim())
    }

    /// The function in which a line was written, if its file is readable: the nearest line above
    /// that begins a function and has less indentation.
    pub(crate) fn function(&mut self, place: &Place) -> Option<String> {
        let index = usize::try_from(place.line).ok()?.checked_sub(1)?;
        let lines = self.lines(&place.file);
        let mut indent = usize::MAX;
        for line in lines.get(..=index)?.iter().rev().filter(|line| !line.trim().is_empty()) {
            let own = line.len() - line.trim_start().len();
            if own < indent {
                if let Some(name) = function_name(line) {
                    return Some(name.to_owned());
                }
                // A parameter list of several lines ends at the indentation of its function.
                indent = if line.trim_start().starts_with([')', '}']) { own + 1 } else { own };
            }
        }
        None
    }
}

/// The name in a line that begins a function.
fn function_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    if line.starts_with("//") {
        return None;
    }
    let (before, after) = line.split_once("fn ")?;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if before.ends_with(is_word) {
        return None;
    }
    let name = &after[..after.find(|c| !is_word(c)).unwrap_or(after.len())];
    (!name.is_empty()).then_some(name)
}

/// A path as messages have it: from the working directory, from the folder of a crate of the
/// registry, or from `library` in the sources of Rust.
pub(crate) fn short_path(path: &str) -> String {
    if let Some(at) = path.find("/library/").filter(|_| path.starts_with("/rustc/")) {
        return path[at + 1..].to_owned();
    }
    if let Some((_, rest)) = path.split_once("/registry/src/") {
        return rest.split_once('/').map_or(rest, |(_, rest)| rest).to_owned();
    }
    let here = std::env::current_dir().unwrap_or_default();
    Path::new(path).strip_prefix(here).map_or(path.to_owned(), |rest| rest.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw\n\
        fl=/a/b/../step.rs\nfn=game::step::h0123456789abcdef\n4 10 0 0 5 2 0 0 0 0\n4 1\n\
        fl=???\nfn=free\n0 3 0 0 0 0 0 0 0 0\nsummary: 14\n";

    #[test]
    fn counts_are_summed_by_place() {
        let places = Places::parse(TEXT).expect("complete");
        let step = Place { file: "/a/step.rs".into(), line: 4, function: "game::step".into() };
        assert_eq!(places.0[&step].instructions, 11, "two lines of one place");
        assert_eq!(places.top(Event::D1Misses, 9), [(&step, 2)]);
        assert_eq!(places.top(Event::Instructions, 1), [(&step, 11)]);
        assert!(!places.lack_lines());
        assert!(Places::parse(&TEXT.replace("/a/b/../step.rs", "???")).expect("read").lack_lines());
        assert!(Places::difference(&places, places.clone()).0.is_empty());
        assert!(Places::parse("1 2 3\n").is_err(), "no events");
    }

    #[test]
    fn the_function_of_a_line_is_the_one_around_it() {
        let text = "impl A {\n    fn first(&self) {\n        work();\n    }\n\n    pub fn second(\n        \
                    &self,\n    ) {\n        self.each(|x| {\n            x.go();\n        });\n    }\n}\n\
                    // fn no(\nstatic X: u8 = 1;\n";
        let mut sources = Sources::default();
        sources.0.insert("a.rs".into(), text.lines().map(str::to_owned).collect());
        let mut function = |line| {
            let place = Place { file: "a.rs".into(), line, function: String::new() };
            sources.function(&place)
        };
        assert_eq!(function(3).as_deref(), Some("first"));
        assert_eq!(function(4).as_deref(), Some("first"));
        assert_eq!(function(10).as_deref(), Some("second"));
        assert_eq!(function(6).as_deref(), Some("second"));
        assert_eq!(function(0), None);
        assert_eq!(function(99), None);
        assert_eq!(function(15), None, "no function is around it");
    }

    #[test]
    fn names_of_functions_are_read() {
        assert_eq!(function_name("    pub(crate) fn step<'a>(x: u8) {"), Some("step"));
        assert_eq!(function_name("    /// calls fn step("), None);
        assert_eq!(function_name("let f: fn (u8) = g;"), None);
    }

    #[test]
    fn paths_are_shortened() {
        assert_eq!(short_path("/rustc/5980/library/core/src/iter.rs"), "library/core/src/iter.rs");
        assert_eq!(short_path("/x/registry/src/index-1/wide-1.0/src/a.rs"), "wide-1.0/src/a.rs");
        let here = std::env::current_dir().expect("a working directory").join("src/a.rs");
        assert_eq!(short_path(&here.display().to_string()), "src/a.rs");
        assert_eq!(plain_path("/a/./b/../../c.rs"), "/c.rs");
    }
}

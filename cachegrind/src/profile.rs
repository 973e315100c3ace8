//! A profile by function: the share of instructions and misses of each function, and of the code
//! inlined into it.

use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use comfy_table::{CellAlignment, Table, presets};

use crate::cachegrind::{self, Counts, Event};
use crate::places::{Place, Places, Sources, short_path};
use crate::report::NO_LINES;

/// The events of the table, in the order of its columns.
const EVENTS: [Event; 4] = [Event::Instructions, Event::D1Misses, Event::I1Misses, Event::LlMisses];

/// Functions inlined into another that are shown below it.
const INLINED: usize = 3;

/// Functions with less than a thousandth of an event are not shown.
const PARTS: u64 = 1_000;

/// The most characters of a name: names of generic functions have any length.
const NAME_MAX: usize = 100;

/// The profiled program, and the size of the result.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The event by which functions are sorted.
    pub by: Event,
    /// The most functions that are shown.
    pub functions: usize,
    /// The path at which to keep cachegrind's file, for `cg_annotate`; `None` removes it.
    pub out: Option<PathBuf>,
}

impl Profile {
    /// Runs the program under cachegrind and returns the table of its functions. The output of the
    /// program goes to the output of this process.
    ///
    /// # Errors
    ///
    /// A line of advice: valgrind or the program is missing, or the program failed.
    pub fn run(&self) -> Result<String, String> {
        cachegrind::check_version()?;
        let program = self.program.display();
        if !self.program.is_file() {
            return Err(format!("there is no program {program}: build it, then give its path"));
        }
        let kept = self.out.clone();
        let temporary = || env::temp_dir().join(format!("phalanx-profile.{}.out", process::id()));
        let out = kept.clone().unwrap_or_else(temporary);
        fs::write(&out, "").map_err(|error| {
            format!("cannot write {} ({error}): give another --out", out.display())
        })?;
        let status = cachegrind::command(&self.program, &out).args(&self.arguments).status();
        let status = status.map_err(|error| format!("valgrind does not start: {error}"))?;
        if !status.success() {
            return Err(format!(
                "{program} ended with {status}: give it the arguments it needs, after `--`; with \
                 SIGILL, build it without -C target-cpu=native"
            ));
        }
        let text = self.table(&out);
        if kept.is_none() {
            // A file that cannot be removed stays in the folder for temporary files.
            drop(fs::remove_file(&out));
        }
        text
    }

    fn table(&self, out: &Path) -> Result<String, String> {
        let (places, total) = (Places::read(out)?, Counts::read(out)?);
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        table.set_header(EVENTS.map(Event::name).into_iter().chain(["function"]));
        for column in table.column_iter_mut().take(EVENTS.len()) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let all = EVENTS.map(|event| total.of(event).to_string());
        table.add_row(all.into_iter().chain(["the whole program".to_owned()]));
        let functions = functions(&places, self.by);
        let is_shown = |f: &&Function| f.counts.of(self.by) * PARTS >= total.of(self.by);
        for function in functions.iter().filter(is_shown).take(self.functions) {
            table.add_row(cells(&function.counts, &total, &function.name));
            for (counts, name) in function.inlined.iter().take(INLINED) {
                table.add_row(cells(counts, &total, &format!("  inlined: {name}")));
            }
        }
        let warning = if places.lack_lines() { format!("\n{NO_LINES}") } else { String::new() };
        Ok(format!("{table}{warning}"))
    }
}

/// Shares of the whole program, and a name.
fn cells(counts: &Counts, total: &Counts, name: &str) -> Vec<String> {
    let share = |event| {
        let whole = total.of(event).max(1) as f64;
        format!("{:.1} %", counts.of(event) as f64 * 100.0 / whole)
    };
    let cut = name.chars().count() > NAME_MAX;
    let name = name.chars().take(NAME_MAX).chain(cut.then_some('…')).collect();
    EVENTS.map(share).into_iter().chain([name]).collect()
}

/// A function of the program.
struct Function {
    name: String,
    counts: Counts,
    /// The code inlined into it, a part of its counts, the largest first.
    inlined: Vec<(Counts, String)>,
}

/// All functions, sorted by an event, the largest first.
fn functions(places: &Places, by: Event) -> Vec<Function> {
    let mut sources = Sources::default();
    let mut found: HashMap<&str, (Counts, HashMap<String, Counts>)> = HashMap::new();
    for (place, counts) in &places.0 {
        let (sum, inlined) = found.entry(&place.function).or_default();
        sum.add(counts);
        if let Some(name) = inlined_name(place, &mut sources) {
            inlined.entry(name).or_default().add(counts);
        }
    }
    let mut functions: Vec<Function> = found
        .into_iter()
        .map(|(name, (counts, inlined))| {
            let mut inlined: Vec<_> = inlined.into_iter().map(|(name, c)| (c, name)).collect();
            // Less than a tenth of the function, and its name is no help.
            inlined.retain(|(c, _)| c.of(by) * 10 >= counts.of(by).max(1));
            inlined.sort_unstable_by(|a, b| b.0.of(by).cmp(&a.0.of(by)).then(a.1.cmp(&b.1)));
            Function { name: name.to_owned(), counts, inlined }
        })
        .collect();
    functions
        .sort_unstable_by(|a, b| b.counts.of(by).cmp(&a.counts.of(by)).then(a.name.cmp(&b.name)));
    functions.retain(|function| function.counts.of(by) > 0);
    functions
}

/// The function in which a line was written, if it is not the function of the symbol; its file, if
/// the source is not readable.
fn inlined_name(place: &Place, sources: &mut Sources) -> Option<String> {
    if place.file == "???" || place.line == 0 {
        return None;
    }
    let file = short_path(&place.file);
    match sources.function(place) {
        Some(name) => {
            let is_own = |part: &str| part.split('<').next() == Some(&name);
            let own = place.function.split("::").any(is_own);
            (!own).then(|| format!("{name} ({file})"))
        }
        None => {
            let (krate, _) = file.strip_prefix("library/")?.split_once('/')?;
            (!place.function.starts_with(&format!("{krate}::"))).then_some(file)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: &str, line: u32, function: &str) -> Place {
        Place { file: file.into(), line, function: function.into() }
    }

    #[test]
    fn what_is_inlined_is_part_of_the_function() {
        let counts = |instructions| Counts { instructions, ..Counts::default() };
        let places = Places(HashMap::from([
            (place("/a.rs", 0, "game::step"), counts(60)),
            (place("/rustc/1/library/core/src/iter.rs", 7, "game::step"), counts(40)),
            (place("/rustc/1/library/core/src/cmp.rs", 7, "game::step"), counts(1)),
            (place("/a.rs", 0, "game::main"), counts(10)),
        ]));
        let functions = functions(&places, Event::Instructions);
        let names: Vec<_> = functions.iter().map(|f| (f.name.as_str(), f.counts)).collect();
        assert_eq!(names, [("game::step", counts(101)), ("game::main", counts(10))]);
        let inlined = [(counts(40), "library/core/src/iter.rs".to_owned())];
        assert_eq!(functions[0].inlined, inlined, "one per cent is left out");
        assert!(super::functions(&places, Event::D1Misses).is_empty(), "no misses");
    }

    #[test]
    fn a_line_of_the_function_itself_is_not_inlined() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/profile.rs");
        let line = line!();
        let name = "a_line_of_the_function_itself_is_not_inlined";
        let mut sources = Sources::default();
        let own = place(file, line, &format!("profile::tests::{name}"));
        assert_eq!(inlined_name(&own, &mut sources), None);
        let inlined = inlined_name(&place(file, line, "main"), &mut sources);
        assert!(inlined.expect("of another function").starts_with(name));
    }

    #[test]
    fn a_function_of_the_standard_library_is_not_inlined_into_itself() {
        let name = |function| {
            inlined_name(
                &place("/rustc/1/library/core/src/a.rs", 7, function),
                &mut Sources::default(),
            )
        };
        assert_eq!(name("core::a::f"), None);
        assert_eq!(name("game::step").as_deref(), Some("library/core/src/a.rs"));
    }

    #[test]
    fn a_long_name_is_cut() {
        let cells = cells(&Counts::default(), &Counts::default(), &"é".repeat(200));
        assert_eq!(cells.last().map(|name| name.chars().count()), Some(NAME_MAX + 1));
    }

    #[test]
    fn a_missing_program_is_named() {
        let program = PathBuf::from("/no/such/program");
        let profile = Profile {
            program,
            arguments: vec![],
            by: Event::Instructions,
            functions: 9,
            out: None,
        };
        let wrong = profile.run().expect_err("there is none");
        assert!(wrong.contains("/no/such/program") || wrong.contains("valgrind"), "{wrong}");
    }
}

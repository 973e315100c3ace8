//! Programs under cachegrind, with the caches given, and the resulting counts.

use std::fs;
use std::ops::Sub;
use std::path::Path;
use std::process::Command;

/// The simulated caches. Without them cachegrind simulates the machine's, and counts differ from
/// machine to machine. [`D1_BYTES`](crate::D1_BYTES) repeats the size of the second one.
pub const GEOMETRY: [&str; 4] =
    ["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=33554432,16,64"];

/// The oldest supported version: its counts were compared.
const OLDEST: (u32, u32) = (3, 18);

/// The advice if valgrind is missing.
const INSTALL: &str = "install valgrind 3.18 or later, with `apt-get install valgrind` or the like";

/// An event that cachegrind counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Event {
    /// Instructions executed.
    Instructions,
    /// Data reads and writes; a vector counts as one.
    References,
    /// Reads and writes that missed the first-level data cache.
    D1Misses,
    /// Instructions that missed the first-level instruction cache.
    I1Misses,
    /// Reads, writes and instructions that missed the last-level cache.
    LlMisses,
}

impl Event {
    /// The name in tables and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::References => "data refs",
            Self::D1Misses => "D1 misses",
            Self::I1Misses => "I1 misses",
            Self::LlMisses => "LL misses",
        }
    }
}

/// Counts of a run, of the difference of two, or of a line of source.
///
/// ```
/// use phalanx_cachegrind::cachegrind::{Counts, Event};
///
/// let text = "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw\nsummary: 90 5 4 30 2 1 10 7 3\n";
/// let counts = Counts::parse(text)?;
/// assert_eq!((counts.of(Event::Instructions), counts.of(Event::D1Misses)), (90, 9));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions.
    pub instructions: u64,
    /// Instructions that missed the first-level cache.
    pub i1_misses: u64,
    /// Data reads and writes.
    pub references: u64,
    /// Reads that missed the first-level cache.
    pub d1_read_misses: u64,
    /// Writes that missed the first-level cache.
    pub d1_write_misses: u64,
    /// Reads, writes and instructions that missed the last-level cache.
    pub ll_misses: u64,
}

impl Counts {
    /// Parses the totals of a file that cachegrind wrote.
    ///
    /// # Errors
    ///
    /// A line that names the missing part of the file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let line = |prefix: &str| {
            let found = text.lines().find_map(|line| line.strip_prefix(prefix));
            found.ok_or_else(|| format!("no line '{prefix}': was the run cut short?"))
        };
        Columns::parse(line("events:")?)?.read(line("summary:")?)
    }

    /// Reads the totals of a file that cachegrind wrote.
    ///
    /// # Errors
    ///
    /// A line that names the file, and the missing part of it.
    pub fn read(file: &Path) -> Result<Self, String> {
        let named = |wrong: String| format!("{}: {wrong}", file.display());
        let text = fs::read_to_string(file).map_err(|error| named(error.to_string()))?;
        Self::parse(&text).map_err(named)
    }

    /// One of the counts.
    #[must_use]
    pub const fn of(&self, event: Event) -> u64 {
        match event {
            Event::Instructions => self.instructions,
            Event::References => self.references,
            Event::D1Misses => self.d1_read_misses + self.d1_write_misses,
            Event::I1Misses => self.i1_misses,
            Event::LlMisses => self.ll_misses,
        }
    }

    /// Adds other counts to these.
    pub(crate) fn add(&mut self, other: &Self) {
        self.instructions += other.instructions;
        self.i1_misses += other.i1_misses;
        self.references += other.references;
        self.d1_read_misses += other.d1_read_misses;
        self.d1_write_misses += other.d1_write_misses;
        self.ll_misses += other.ll_misses;
    }
}

/// The difference of all counts; negative differences are zero.
impl Sub for Counts {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            instructions: self.instructions.saturating_sub(other.instructions),
            i1_misses: self.i1_misses.saturating_sub(other.i1_misses),
            references: self.references.saturating_sub(other.references),
            d1_read_misses: self.d1_read_misses.saturating_sub(other.d1_read_misses),
            d1_write_misses: self.d1_write_misses.saturating_sub(other.d1_write_misses),
            ll_misses: self.ll_misses.saturating_sub(other.ll_misses),
        }
    }
}

/// The places of the events in a line of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    len: usize,
    at: [usize; 9],
}

impl Columns {
    /// Parses the rest of the line `events:`.
    pub(crate) fn parse(names: &str) -> Result<Self, String> {
        const NAMES: [&str; 9] = ["Ir", "I1mr", "Dr", "Dw", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw"];
        let names: Vec<&str> = names.split_whitespace().collect();
        let mut at = [0; 9];
        for (at, name) in at.iter_mut().zip(NAMES) {
            let found = names.iter().position(|known| *known == name);
            *at = found.ok_or_else(|| format!("no event {name}: run with --cache-sim=yes"))?;
        }
        Ok(Self { len: names.len(), at })
    }

    /// Reads a line of numbers. Newer versions leave out zeros at its end.
    pub(crate) fn read(&self, line: &str) -> Result<Counts, String> {
        let mut numbers = Vec::with_capacity(self.len);
        for word in line.split_whitespace() {
            let number = word.parse::<u64>().map_err(|_| format!("{word:?} is no number"))?;
            numbers.push(number);
        }
        if numbers.len() > self.len || numbers.is_empty() {
            return Err(format!("{} events and {} counts", self.len, numbers.len()));
        }
        let [ir, i1, reads, writes, d1r, d1w, il, dlr, dlw] =
            self.at.map(|at| numbers.get(at).copied().unwrap_or(0));
        Ok(Counts {
            instructions: ir,
            i1_misses: i1,
            references: reads + writes,
            d1_read_misses: d1r,
            d1_write_misses: d1w,
            ll_misses: il + dlr + dlw,
        })
    }
}

/// Checks that valgrind is installed and new enough.
///
/// # Errors
///
/// A line of advice.
pub fn check_version() -> Result<(), String> {
    let output = Command::new("valgrind").arg("--version").output();
    let output = output.map_err(|_| format!("valgrind is not installed: {INSTALL}"))?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let version = parse_version(&said)
        .ok_or_else(|| format!("'valgrind --version' printed {said:?}, no version: {INSTALL}"))?;
    if version < OLDEST {
        return Err(format!("{said} is too old: {INSTALL}"));
    }
    Ok(())
}

fn parse_version(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.strip_prefix("valgrind-")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Creates the folder for the files of cachegrind and checks that it is writable.
///
/// # Errors
///
/// A line of advice.
pub(crate) fn check_folder(folder: &Path) -> Result<(), String> {
    let probe = folder.join("probe");
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&probe, "").and_then(|()| fs::remove_file(&probe)))
        .map_err(|error| {
            format!("cannot write to {} ({error}): give another --out", folder.display())
        })
}

/// The instruction-set level of counted programs: AVX2, the widest that valgrind supports. A named
/// level is the same on every machine that supports it. `None` without AVX2: the program uses the
/// machine's own level, and counts differ from other machines.
#[must_use]
pub fn level() -> Option<phalanx::Level> {
    Some(phalanx::Level::Avx2).filter(|level| level.is_supported())
}

/// A program, run at the [`level`] of counted programs.
#[must_use]
pub fn native_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    set_level(&mut command);
    command
}

/// A program under cachegrind with the [`GEOMETRY`], at the [`level`] of counted programs. Its
/// arguments are still to be added. The counts are written to `out`.
#[must_use]
pub fn command(program: &Path, out: &Path) -> Command {
    let mut command = Command::new("valgrind");
    command.args(["-q", "--tool=cachegrind", "--log-file=/dev/null"]).args(GEOMETRY);
    command.arg(format!("--cachegrind-out-file={}", escaped(out))).arg(program);
    set_level(&mut command);
    command
}

/// In the name of an output file, valgrind replaces `%p` and the like.
fn escaped(out: &Path) -> String {
    out.display().to_string().replace('%', "%%")
}

fn set_level(command: &mut Command) {
    match level() {
        Some(level) => command.env("PHALANX_LEVEL", level.to_string()),
        None => command.env_remove("PHALANX_LEVEL"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "desc: D1 cache: 32768 B, 64 B, 8-way associative\ncmd: profile simple_iter\n\
        events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw\nfn=main\n3 9 0 0 4 1 1 2 2 0\n\
        summary: 1000 5 4 300 20 10 100 7 3\n";

    #[test]
    fn totals_are_found_by_the_names_of_the_events() {
        let counts = Counts::parse(TEXT).expect("complete");
        let all = [
            (Event::Instructions, 1000),
            (Event::References, 400),
            (Event::D1Misses, 27),
            (Event::I1Misses, 5),
            (Event::LlMisses, 17),
        ];
        assert_eq!(all.map(|(event, _)| (event, counts.of(event))), all);
        assert_eq!(counts - counts, Counts::default());
        let short = TEXT.replace("100 7 3", "100");
        let wanted = Counts { d1_write_misses: 0, ll_misses: 14, ..counts };
        assert_eq!(Counts::parse(&short), Ok(wanted), "zeros may be left out");
    }

    #[test]
    fn what_is_missing_is_named() {
        for (from, to, wanted) in [
            ("summary:", "sum:", "no line 'summary:'"),
            ("D1mw DLmw", "", "no event D1mw"),
            ("D1mr", "D2mr", "no event D1mr"),
            ("1000", "many", "\"many\" is no number"),
            ("1000", "1 2", "9 events and 10 counts"),
        ] {
            let wrong = Counts::parse(&TEXT.replace(from, to)).expect_err(from);
            assert!(wrong.starts_with(wanted), "{wrong}");
        }
    }

    #[test]
    fn the_oldest_version_is_the_same_in_every_text() {
        let (major, minor) = OLDEST;
        let text = format!("valgrind {major}.{minor} or later");
        // A line may end between any two words.
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        for source in [INSTALL, include_str!("../README.md"), include_str!("../install")] {
            let source = words(source);
            assert!(source.contains(&text), "{source}");
            assert_eq!(source.matches("or later").count(), source.matches(&text).count());
        }
    }

    #[test]
    fn versions_are_read() {
        assert_eq!(parse_version("valgrind-3.19.0"), Some((3, 19)));
        assert_eq!(parse_version("valgrind-3.9.0.GIT"), Some((3, 9)));
        assert_eq!(parse_version("valgrind"), None);
        assert!((3, 9) < OLDEST, "compared as numbers");
    }

    #[test]
    fn a_file_is_no_folder() {
        let file = std::env::current_exe().expect("this test has a file");
        let wrong = check_folder(&file.join("out")).expect_err("it is a file");
        assert!(wrong.ends_with("give another --out"), "{wrong}");
    }

    #[test]
    fn valgrind_replaces_nothing_in_the_name_of_a_file() {
        assert_eq!(escaped(Path::new("/tmp/100%p")), "/tmp/100%%p");
    }
}

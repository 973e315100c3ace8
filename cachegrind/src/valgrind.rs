//! Runs valgrind on the program `profile`, which also prints the least.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::output::Counts;
use crate::rows::Row;

/// The simulated caches. [`crate::rows::D1`] repeats the size of the first one.
const GEOMETRY: [&str; 3] = ["--cache-sim=yes", "--D1=32768,8,64", "--LL=33554432,16,64"];

/// The oldest supported version: its counts were compared.
const OLDEST: (u32, u32) = (3, 18);

/// The counts of a row.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The difference of the two runs.
    pub difference: Counts,
    /// The number of passes in the difference.
    pub passes: u64,
    /// The counts of the second run.
    pub whole: Counts,
    /// Units per pass.
    pub units: u64,
    /// The least lines per pass.
    pub least: f64,
    /// Runs of memory that a pass walks, over all columns; zero for what is no walk.
    pub streams: u64,
    /// The files that cachegrind wrote for the two runs.
    pub files: [PathBuf; 2],
}

impl Measured {
    /// A count of the difference per unit and pass.
    #[must_use]
    pub fn per_unit(&self, count: u64) -> f64 {
        count as f64 / (self.passes * self.units) as f64
    }

    /// The least lines per unit.
    #[must_use]
    pub fn least_per_unit(&self) -> f64 {
        self.least / self.units as f64
    }
}

/// Checks that valgrind is installed and new enough.
///
/// # Errors
///
/// A line that says what to do.
pub fn check_version() -> Result<(), String> {
    let install = "run cachegrind/install";
    let output = Command::new("valgrind").arg("--version").output();
    let output = output.map_err(|_| format!("valgrind is not installed: {install}"))?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let version = parse_version(&said).ok_or_else(|| {
        format!("'valgrind --version' printed {said:?}, not a version: {install}")
    })?;
    if version < OLDEST {
        let (major, minor) = OLDEST;
        return Err(format!("{said} is older than {major}.{minor}: {install}"));
    }
    Ok(())
}

fn parse_version(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.strip_prefix("valgrind-")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Creates the directory for the files of cachegrind and checks that it is writable.
///
/// # Errors
///
/// A line that says what to do.
pub fn check_directory(directory: &Path) -> Result<(), String> {
    let probe = directory.join("probe");
    fs::create_dir_all(directory)
        .and_then(|()| fs::write(&probe, "").and_then(|()| fs::remove_file(&probe)))
        .map_err(|error| {
            format!("cannot write to {} ({error}): give another --out", directory.display())
        })
}

/// The instruction-set level of the programs: valgrind supports none wider than AVX2, and a named
/// level is the same on every machine that supports it.
#[must_use]
pub fn level() -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        return Some("avx2");
    }
    None
}

/// Counts a row.
///
/// # Errors
///
/// A line about the failed run.
pub fn measure(profile: &Path, row: &Row, directory: &Path) -> Result<Measured, String> {
    let (units, least, streams) = least(profile, row)?;
    let (few, few_file) = count(profile, row, row.passes.0, directory)?;
    let (whole, whole_file) = count(profile, row, row.passes.1, directory)?;
    let passes = row.passes.1 - row.passes.0;
    let files = [few_file, whole_file];
    Ok(Measured { difference: whole - few, passes, whole, units, least, streams, files })
}

fn least(profile: &Path, row: &Row) -> Result<(u64, f64, u64), String> {
    let said = run(Command::new(profile).args([row.name, "--least"]), row)?;
    let parse = |said: &str| {
        let mut numbers = said.split_whitespace();
        let (units, least) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
        Some((units, least, numbers.next()?.parse().ok()?))
    };
    parse(&said).ok_or_else(|| format!("{}: profile printed {said:?} for --least", row.name))
}

fn count(
    profile: &Path,
    row: &Row,
    passes: u64,
    directory: &Path,
) -> Result<(Counts, PathBuf), String> {
    let file = directory.join(format!("{}.{passes}.out", row.name));
    let mut command = Command::new("valgrind");
    command.args(["-q", "--tool=cachegrind", "--log-file=/dev/null"]).args(GEOMETRY);
    command.arg(format!("--cachegrind-out-file={}", file.display())).arg(profile);
    command.args([row.name, "--passes", &passes.to_string()]);
    run(&mut command, row)?;
    let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let counts = Counts::parse(&text).map_err(|wrong| format!("{}: {wrong}", file.display()))?;
    Ok((counts, file))
}

/// Runs a command at the [`level`] and returns its output.
fn run(command: &mut Command, row: &Row) -> Result<String, String> {
    if let Some(level) = level() {
        command.env("PHALANX_LEVEL", level);
    }
    let output = command.output().map_err(|error| format!("{}: {error}", row.name))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let said = text.lines().last().unwrap_or("no message").to_owned();
        return Err(format!("{} ended with {}: {said}", row.name, output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The functions with the most misses in the passes: `cg_annotate` of the `cg_diff` of both runs.
///
/// # Errors
///
/// A line about the failed program. Both are part of valgrind.
pub fn annotate([few, whole]: &[PathBuf; 2]) -> Result<String, String> {
    const FUNCTIONS: usize = 5;
    let difference = whole.with_extension("passes.out");
    // Folders above the sources of a crate only make lines longer.
    let short = "--mod-filename=s#^.*/(src|library|sysdeps)/#$1/#";
    let text = text_of(Command::new("cg_diff").arg(short).args([few, whole]))?;
    fs::write(&difference, text).map_err(|error| format!("{}: {error}", difference.display()))?;
    let mut tops = Vec::new();
    for (event, what) in [("D1mr", "reads"), ("D1mw", "writes")] {
        let (show, sort) = (format!("--show={event}"), format!("--sort={event}"));
        let mut annotate = Command::new("cg_annotate");
        let text = text_of(annotate.args(["--auto=no", &show, &sort]).arg(&difference))?;
        let all = text.lines().skip_while(|line| !line.contains("file:function")).skip(2);
        let top: Vec<&str> = all.take_while(|line| !line.is_empty()).take(FUNCTIONS).collect();
        tops.push(format!("  {what} that missed:\n    {}", top.join("\n    ")));
    }
    Ok(tops.join("\n"))
}

/// The output of a program of valgrind.
fn text_of(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output =
        command.output().map_err(|_| format!("{name} is not installed: run cachegrind/install"))?;
    if !output.status.success() {
        return Err(format!("{name} ended with {}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(parse_version("valgrind-3.19.0"), Some((3, 19)));
        assert_eq!(parse_version("valgrind-3.9.0.GIT"), Some((3, 9)));
        assert_eq!(parse_version("valgrind"), None);
        assert!((3, 9) < OLDEST, "compared as numbers");
    }

    #[test]
    fn a_file_is_no_directory() {
        let file = std::env::current_exe().expect("this test has no file");
        let wrong = check_directory(&file.join("out")).expect_err("it is a file");
        assert!(wrong.ends_with("give another --out"), "{wrong}");
    }
}

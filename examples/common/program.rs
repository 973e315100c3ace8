//! How an example starts, and how it refuses: one line on stderr, and exit code 2.

use clap::Parser;
use std::error::Error;
use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Reads the command line and runs the example with it.
///
/// What is wrong with the command line, or in the run, is said in one line.
pub(crate) fn start<O: Parser>(run: impl FnOnce(&O) -> Result<(), Box<dyn Error>>) -> ExitCode {
    let refusal = match O::try_parse() {
        Ok(options) => match run(&options) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error) => error.to_string(),
        },
        Err(help) if !help.use_stderr() => help.exit(),
        Err(error) => format!("{}; --help explains the options", what_is_wrong(&error)),
    };
    let name = O::command();
    eprintln!("{}: {}", name.get_name(), one_line(&refusal));
    ExitCode::from(2)
}

/// The first paragraph of the error; the others repeat where help is.
fn what_is_wrong(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines = text.trim_start_matches("error: ").lines().map(str::trim);
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The message with its control characters escaped: arguments and paths may hold any.
fn one_line(message: &str) -> String {
    let mut line = String::with_capacity(message.len());
    for c in message.chars() {
        if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}

/// A file for a picture, which replaces what was there.
///
/// # Errors
///
/// What to tell the user when the file cannot be written.
pub(crate) fn create(path: &Path) -> Result<io::BufWriter<fs::File>, String> {
    let advice = "choose a file that can be written, in a folder that exists";
    let file = fs::File::create(path);
    file.map(io::BufWriter::new)
        .map_err(|error| format!("{}; {advice}", cannot("write", path, error)))
}

/// "cannot read x.rle: no such file".
pub(crate) fn cannot(what: &str, path: &Path, error: impl std::fmt::Display) -> String {
    format!("cannot {what} {}: {error}", path.display())
}

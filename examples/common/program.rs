//! Starts an example. An error is one line on stderr and exit code 2.

use clap::Parser;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

/// Parses the command line and runs the example with it.
///
/// An error in the command line or in the run is printed as one line.
pub fn start<O: Parser>(run: impl FnOnce(&O) -> Result<(), Box<dyn Error>>) -> ExitCode {
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

/// The first paragraph of the error. The others only point to the help.
fn what_is_wrong(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines = text.trim_start_matches("error: ").lines().map(str::trim);
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The message with control characters escaped: arguments and paths may contain them.
fn one_line(message: &str) -> String {
    let mut line = String::with_capacity(message.len());
    for c in message.chars() {
        if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}

/// Formats an error: "cannot read x.rle: no such file".
#[must_use]
pub fn cannot(what: &str, path: &Path, error: impl std::fmt::Display) -> String {
    format!("cannot {what} {}: {error}", path.display())
}

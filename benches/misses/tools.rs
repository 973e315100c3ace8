//! The tools of counting besides this program: valgrind, and the runner of iai-callgrind.

use std::process::{Command, Stdio};

/// Returns the name of a missing tool, if any.
pub(crate) fn missing() -> Option<String> {
    missing_valgrind().or_else(missing_runner)
}

/// Returns the fault of valgrind, if any.
fn missing_valgrind() -> Option<String> {
    let found = Command::new("valgrind").arg("--version").output();
    let works = found.as_ref().is_ok_and(|output| output.status.success());
    (!works).then(|| "there is no valgrind".to_owned())
}

/// Returns the fault of the runner, if any: it must have the version of the library.
///
/// It takes its first argument for the version of the library, and complains with its own.
fn missing_runner() -> Option<String> {
    const NAME: &str = "iai-callgrind-runner";
    let wanted = locked_version("iai-callgrind");
    let Ok(output) = Command::new(NAME).arg("--version").stdin(Stdio::null()).output() else {
        return Some(format!("there is no {NAME} {wanted}"));
    };
    let said = String::from_utf8_lossy(&output.stderr);
    let version = said.split_once(&format!("{NAME} (")).and_then(|(_, rest)| rest.split_once(')'));
    match version {
        Some((version, _)) if version == wanted => None,
        Some((version, _)) => Some(format!("{NAME} is {version}, and must be {wanted}")),
        None => Some(format!("{NAME} does not say its version, and must be {wanted}")),
    }
}

/// The version of a package in the lock file.
fn locked_version(package: &str) -> &'static str {
    let lock = include_str!("../../Cargo.lock");
    let (_, rest) =
        lock.split_once(&format!("name = \"{package}\"\nversion = \"")).expect("locked");
    rest.split('"').next().expect("a version")
}

//! Skips tests if a tool is missing.

use std::fmt::Display;
use std::io::Write as _;

/// Reports a skipped test, past the capture of the test harness.
///
/// # Panics
///
/// If `CI` is `true`: there all tools are installed first, and a test that checks nothing fails.
pub(crate) fn skip(test: &str, missing: impl Display) {
    let is_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(!is_ci, "{test} can check nothing, and CI is `true`: {missing}");
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {missing}");
}

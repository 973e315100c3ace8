//! A process of its own: the program, started by itself.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Starts a build of the program with these arguments and returns its output. Its messages go to
/// the standard error of this process. An error names the reason.
pub(crate) fn output<S: AsRef<OsStr>>(
    program: &Path,
    arguments: impl IntoIterator<Item = S>,
) -> Result<String, String> {
    let started = Command::new(program).args(arguments).stderr(Stdio::inherit()).output();
    match started {
        Ok(output) => text(output),
        Err(error) => Err(format!("its process cannot be started: {error}")),
    }
}

fn text(output: Output) -> Result<String, String> {
    if !output.status.success() {
        return Err(format!("its process ended early, with {}", output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| "its process printed what is no text".to_owned())
}

/// Frees one large block, which raises glibc's thresholds for giving memory back: every child has a
/// heap that keeps its pages, as in a long-running program.
pub(crate) fn keep_freed_pages() {
    drop(std::hint::black_box(vec![1_u8; 31 << 20]));
}

/// Numbers with tabs between them, which [`numbers`] reads. Rust prints a number so that the same
/// number is read again.
pub(crate) fn line(numbers: &[f64]) -> String {
    numbers.iter().map(f64::to_string).collect::<Vec<_>>().join("\t")
}

/// The numbers of a line; none if something else is among them.
pub(crate) fn numbers(line: &str) -> Option<Vec<f64>> {
    line.trim_end().split('\t').map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_printed() {
        let values = [1.0 / 3.0, 0.0, 1e300, f64::INFINITY];
        assert_eq!(numbers(&line(&values)).as_deref(), Some(&values[..]));
        assert_eq!([numbers(""), numbers("1\tx")], [None, None]);
    }

    #[test]
    #[cfg(unix)]
    fn a_process_that_ends_early_is_an_error_that_says_how() {
        use std::os::unix::process::ExitStatusExt;
        use std::process::ExitStatus;
        let output = |status, stdout: &[u8]| Output {
            status: ExitStatus::from_raw(status),
            stdout: stdout.to_vec(),
            stderr: Vec::new(),
        };
        assert_eq!(text(output(0, b"1\n")).as_deref(), Ok("1\n"));
        for (output, part) in [
            (output(11, b"1\n"), "signal: 11"),
            (output(101 << 8, b"1\n"), "exit status: 101"),
            (output(0, b"\xff"), "no text"),
        ] {
            let reason = text(output).expect_err("an error");
            assert!(reason.contains(part), "{part} is not in {reason}");
        }
    }
}

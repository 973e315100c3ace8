//! An example as a program that tests run.

use phalanx::Level;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// An example of this package.
pub(crate) struct Example {
    name: &'static str,
    program: OnceLock<PathBuf>,
}

impl Example {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, program: OnceLock::new() }
    }

    /// A command that runs the example as its sources are now: the first call builds it.
    ///
    /// # Panics
    ///
    /// If it cannot be built.
    pub(crate) fn command(&self) -> Command {
        Command::new(self.program.get_or_init(|| build(self.name)))
    }

    /// What the example prints with these arguments and its kernels at this level, or the best.
    ///
    /// # Panics
    ///
    /// If it fails, or writes to stderr.
    pub(crate) fn printed(&self, arguments: &[&str], level: Option<Level>) -> String {
        let mut command = self.command();
        command.args(arguments).envs(level.map(|level| ("PHALANX_LEVEL", level.to_string())));
        let output = command.output().expect("the program starts");
        assert!(output.status.success() && output.stderr.is_empty(), "{command:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }
}

/// Builds the example as the test that runs was built, which takes no time where `cargo test` has
/// just done so, and returns where its program is.
///
/// Cargo holds the lock of the target directory while it builds, and not while tests run, so a test
/// may build; what several processes ask for at once is built once.
fn build(name: &str) -> PathBuf {
    // TARGET/tmp, and TARGET/[TRIPLE/]PROFILE/deps/TEST.
    let target = ancestor(Path::new(env!("CARGO_TARGET_TMPDIR")), 1);
    let path = ancestor(&std::env::current_exe().expect("a test has a path"), 2);
    let path = path.strip_prefix(&target).unwrap_or_else(|error| {
        panic!("{} is not in {}: {error}", path.display(), target.display());
    });
    let mut parts = path.iter().rev();
    let profile = parts.next().expect("a profile has a directory");
    // The profile of `cargo test` has no directory of its own.
    let profile = if profile == "debug" { "test".as_ref() } else { profile };

    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from(env!("CARGO")));
    let mut command = Command::new(cargo);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    // What this test was built from is on this machine; no test asks the network.
    command.args(["build", "--offline", "--quiet", "--message-format", "json-render-diagnostics"]);
    command.args(["--example", name, "--profile"]).arg(profile);
    command.arg("--target-dir").arg(&target);
    if let Some(triple) = parts.next() {
        command.arg("--target").arg(triple);
    }
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the example `{name}` cannot be built: {command:?}\n{stderr}");
    let stdout = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    executable(&stdout).unwrap_or_else(|| panic!("{command:?} names no program\n{stdout}"))
}

/// The directory that is so far above a path, with links followed.
fn ancestor(path: &Path, levels: usize) -> PathBuf {
    let path = fs::canonicalize(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    path.ancestors().nth(levels).expect("a path inside of the target directory").to_owned()
}

/// The program that the messages of Cargo name last: `"executable":"…"`, or `null` for libraries.
fn executable(messages: &str) -> Option<PathBuf> {
    let (_, path) = messages.rsplit_once(r#""executable":""#)?;
    let (path, _) = path.split_once('"')?;
    Some(path.replace(r"\\", r"\").into())
}

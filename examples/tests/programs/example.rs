//! An example as a program that tests run.

use phalanx::Level;
use std::process::Command;

/// A program of this package, as Cargo has built it for the tests.
pub(crate) struct Example {
    program: &'static str,
}

/// The program of this name: an unknown name does not compile.
macro_rules! example {
    ($name:literal) => {
        $crate::example::Example::at(env!(concat!("CARGO_BIN_EXE_", $name)))
    };
}
pub(crate) use example;

impl Example {
    pub(crate) const fn at(program: &'static str) -> Self {
        Self { program }
    }

    /// A command that runs the program.
    pub(crate) fn command(&self) -> Command {
        Command::new(self.program)
    }

    /// The output of the example with these arguments and its kernels at this level, or the best.
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

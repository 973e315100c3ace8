//! The command line of the report.

use clap::Parser;
use clap::builder::PossibleValuesParser;

/// Measures all parts, and leaves a page with charts in the target folder.
#[derive(Parser)]
#[command(name = "report")]
pub(crate) struct Options {
    /// Only these parts.
    parts: Vec<String>,
    /// Small sizes and few samples: every part runs and is checked, and its figures mean little.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Given by `cargo bench`; `cargo test` leaves it out, and means `--quick`.
    #[arg(long, hide = true)]
    bench: bool,
}

impl Options {
    /// The options of this run; none if the arguments are for another benchmark.
    ///
    /// `cargo bench -- ^pos_vel/` and `cargo bench -- --limits` pass their arguments to every
    /// benchmark, so an argument that is unknown here may belong to another one, and is not an
    /// error.
    pub(crate) fn of_this_run(parts: &[&'static str]) -> Option<Self> {
        use clap::{CommandFactory, FromArgMatches};
        let command = Self::command()
            .mut_arg("parts", |arg| arg.value_parser(PossibleValuesParser::new(parts)));
        match command.try_get_matches().and_then(|found| Self::from_arg_matches(&found)) {
            Ok(mut options) => {
                options.quick |= !options.bench;
                Some(options)
            }
            Err(error) if error.use_stderr() => {
                eprintln!("report: nothing to do, since these arguments are not its own:\n{error}");
                None
            }
            Err(help) => {
                print!("{help}");
                None
            }
        }
    }

    /// Whether this part is asked for.
    pub(crate) fn wants(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|wanted| wanted == part)
    }
}

//! The command line.

use crate::harness::Phase;
use crate::libs::{LIBRARIES, Library};
use crate::turn::{self, Turn};
use crate::workloads::{WORKLOADS, Workload};
use clap::{Args, Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Runs phalanx and its peers on the same workloads, in turn, each in a process of its own.
#[derive(Parser, Debug)]
#[command(name = "peers", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) compare: Compare,
}

/// A table that another text about entity-component-systems has published, and single turns.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Create, iterate, create and destroy, with 32 to 512 component types and 16 to 64 systems
    Vagabond(Vagabond),
    /// One library at one workload, for the process that started this one
    #[command(name = turn::COMMAND, hide = true)]
    Turn(TurnOptions),
    /// One library at one row of `vagabond`
    #[command(hide = true)]
    VagabondTurn(VagabondTurn),
}

#[derive(Args, Debug)]
pub(crate) struct Compare {
    /// Only this workload, or group of workloads; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Vec<String>,
    /// Only this library; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) library: Vec<String>,
    /// The number of turns of every library
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) runs: u32,
    /// The time for which a row is sampled in a turn, in milliseconds
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    pub(crate) budget_ms: u64,
    /// Compare in both builds: `release`, which users get, and `lto`, that of phalanx's benchmarks
    #[arg(long)]
    pub(crate) both_builds: bool,
    /// The file of the table
    #[arg(long, value_name = "FILE", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/results/peers.tsv"))]
    pub(crate) tsv: PathBuf,
    /// The file of the chart
    #[arg(long, value_name = "FILE", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/results/peers.svg"))]
    pub(crate) svg: PathBuf,
    /// The file of a chart of nine rows, small enough for a page among text
    #[arg(long, value_name = "FILE")]
    pub(crate) brief_svg: Option<PathBuf>,
    /// The file of the table as Markdown, with a column for each library
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Print the workloads and the libraries, and end
    #[arg(long)]
    pub(crate) list: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Vagabond {
    /// The time for which a row is sampled, in milliseconds
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    pub(crate) budget_ms: u64,
}

#[derive(Args, Debug)]
pub(crate) struct TurnOptions {
    library: String,
    workload: String,
    size: usize,
    /// The time for which every row is sampled; without it a few steps are made
    #[arg(long, value_name = "N")]
    budget_ms: Option<u64>,
}

#[derive(Args, Debug)]
pub(crate) struct VagabondTurn {
    pub(crate) library: String,
    pub(crate) task: String,
    pub(crate) entities: usize,
    pub(crate) each: usize,
    pub(crate) budget_ms: u64,
}

impl TurnOptions {
    pub(crate) fn turn(&self) -> Result<Turn, String> {
        let library = Library::find(&self.library);
        let library = library.ok_or_else(|| format!("no library `{}`", self.library))?;
        let workload = Workload::find(&self.workload);
        let workload = workload.ok_or_else(|| format!("no workload `{}`", self.workload))?;
        let time = |budget| Phase::Time(Duration::from_millis(budget));
        let phase = self.budget_ms.map_or(Phase::Agree, time);
        Ok(Turn { library, workload, size: self.size, phase })
    }
}

impl Compare {
    /// The workloads that were asked for, in the order of the table.
    pub(crate) fn workloads(&self) -> Result<Vec<&'static Workload>, String> {
        let unknown = |filter: &&String| !WORKLOADS.iter().any(|w| w.is_named(filter));
        if let Some(name) = self.workload.iter().find(unknown) {
            let names: Vec<_> = WORKLOADS.iter().map(|workload| workload.name).collect();
            return Err(format!("no workload `{name}`; there are: {}", names.join(", ")));
        }
        let wanted = |workload: &&Workload| {
            self.workload.is_empty() || self.workload.iter().any(|name| workload.is_named(name))
        };
        Ok(WORKLOADS.iter().filter(wanted).collect())
    }

    /// The libraries that were asked for, in the order of their turns.
    pub(crate) fn libraries(&self) -> Result<Vec<&'static Library>, String> {
        if let Some(name) = self.library.iter().find(|name| Library::find(name).is_none()) {
            let names: Vec<_> = LIBRARIES.iter().map(|library| library.name).collect();
            return Err(format!("no library `{name}`; there are: {}", names.join(", ")));
        }
        let wanted = |library: &&Library| {
            self.library.is_empty() || self.library.iter().any(|name| name == library.name)
        };
        Ok(LIBRARIES.iter().filter(wanted).collect())
    }

    /// All that is saved, in the order in which it is.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let asked_for = self.brief_svg.iter().chain(&self.markdown);
        [&self.tsv, &self.svg].into_iter().chain(asked_for).map(PathBuf::as_path)
    }

    pub(crate) fn budget(&self) -> Duration {
        Duration::from_millis(self.budget_ms)
    }
}

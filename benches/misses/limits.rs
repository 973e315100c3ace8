//! Limits of the growth of counts, and the advice if one is exceeded.

use std::env;
use std::process::Command;

use iai_callgrind::{Callgrind, EventKind, LibraryBenchmarkConfig};

/// The counts of a pass.
#[derive(Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) instructions: u64,
    pub(crate) read_misses: u64,
    pub(crate) write_misses: u64,
}

/// The compiler that the counts are from.
const COUNTED_WITH: &str = "rustc 1.95.0";

/// Misses that vary with the addresses of stack and heap.
const MISSES_MOVED: u64 = 90;

/// The simulated caches; without them callgrind takes the machine's.
const GEOMETRY: [&str; 4] =
    ["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=33554432,16,64"];

/// Holds a benchmark to its counts: instructions to one and a half per cent above, misses to two
/// per cent and [`MISSES_MOVED`].
///
/// Measured variation without a change: three runs of a build count the same. Started by hand and
/// not by cargo, which moves the stack, instructions stay and misses vary by up to 8. A build in
/// another directory, with one more function in the library, had the same instructions except for
/// 0.07 % in `spawn_batch`, and at most 26 misses more or fewer, which is 0.01 % of them. The path
/// of the program moves the stack as well: over eleven paths of one build `changed` had 387 to 436
/// read misses. On another machine the system's library copies with other instructions: limits of
/// half a per cent failed on one while they held on two others.
pub(crate) fn limited_to(counts: Counts) -> LibraryBenchmarkConfig {
    let mut callgrind = Callgrind::with_args(GEOMETRY);
    callgrind.format([EventKind::Ir, EventKind::D1mr, EventKind::D1mw]);
    callgrind.hard_limits([
        (EventKind::Ir, counts.instructions * 1_015 / 1_000),
        (EventKind::D1mr, counts.read_misses * 102 / 100 + MISSES_MOVED),
        (EventKind::D1mw, counts.write_misses * 102 / 100 + MISSES_MOVED),
    ]);
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(callgrind);
    config
}

/// Set for the process that counts.
const ADVISED: &str = "PHALANX_MISSES_ADVISED";

/// Whether another process waits for this one, to give advice if counting fails.
pub(crate) fn is_advised() -> bool {
    env::var_os(ADVISED).is_some()
}

/// The exit code of the runner if a count is above its limit.
const REGRESSED: i32 = 3;

/// Counts in a process of its own, because iai-callgrind ends its process. Returns the exit code.
pub(crate) fn run_with_advice() -> i32 {
    let program = env::current_exe().expect("a running program has a path");
    let status = Command::new(program).args(env::args_os().skip(1)).env(ADVISED, "1").status();
    let code = status.expect("this program starts").code().unwrap_or(1);
    if code == REGRESSED {
        eprintln!("{}", advice());
    }
    code
}

/// Advice, which says whether the compiler may be the reason.
fn advice() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output();
    let said = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let now = said.unwrap_or_default();
    let compiler = if now.starts_with(&format!("{COUNTED_WITH} ")) {
        format!("The limits were counted with this compiler, {COUNTED_WITH}: it is the change.")
    } else {
        format!(
            "The limits were counted with {COUNTED_WITH}, and this is {now:?}: run the commit before \
             as well, and if it fails too it is the compiler."
        )
    };
    format!(
        "misses: a count is above its limit. {compiler} To accept new counts, copy those printed \
         above into the table of benches/misses.rs, and say in the commit why they grew."
    )
}

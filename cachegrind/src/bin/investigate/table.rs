//! The table of counted misses and measured times: the program starts itself under cachegrind.

use std::path::Path;
use std::process::Command;
use std::{env, fs, process};

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, Table};

use crate::cases::{Case, WARM_PASSES, Way};
use crate::nanoseconds;

/// The simulated caches, the same on every machine.
const GEOMETRY: [&str; 4] =
    ["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=33554432,16,64"];

/// The counts of a run.
#[derive(Clone, Copy)]
struct Counts {
    instructions: u64,
    references: u64,
    d1_misses: u64,
    ll_misses: u64,
}

/// Creates the table, with a row for each way of each case.
///
/// # Errors
///
/// One line that says what to do if valgrind is missing or fails, or its file cannot be written.
pub(crate) fn table() -> Result<Table, String> {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header([
        "case",
        "side",
        "instructions",
        "references",
        "D1 misses",
        "LL misses",
        "ns",
    ]);
    for case in Case::ALL {
        for way in [Way::Slow, Way::Fast] {
            let few = counts(case, way, WARM_PASSES)?;
            let many = counts(case, way, WARM_PASSES + case.counted_passes())?;
            let elements = case.counted_passes() * case.elements() as u64;
            let each = |of: fn(&Counts) -> u64| {
                // The start of a program varies by a few misses.
                format!("{:.3}", of(&many).saturating_sub(of(&few)) as f64 / elements as f64)
            };
            table.add_row([
                case.name().to_owned(),
                way.name().to_owned(),
                each(|counts| counts.instructions),
                each(|counts| counts.references),
                each(|counts| counts.d1_misses),
                each(|counts| counts.ll_misses),
                format!("{:.3}", nanoseconds(case, way, case.default_passes())),
            ]);
        }
    }
    table.column_iter_mut().skip(2).for_each(|c| c.set_cell_alignment(CellAlignment::Right));
    Ok(table)
}

/// Runs the passes under cachegrind and reads its output.
fn counts(case: Case, way: Way, passes: u64) -> Result<Counts, String> {
    let program = env::current_exe()
        .map_err(|error| format!("cannot find the path of this program: {error}"))?;
    let path = env::temp_dir().join(format!("investigate.{}.cachegrind", process::id()));
    fs::write(&path, "").map_err(|error| {
        format!("cannot write {} ({error}): set TMPDIR to a writable folder", path.display())
    })?;
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind"])
        .args(GEOMETRY)
        .arg(format!("--cachegrind-out-file={}", path.display()))
        .arg(program)
        .args([case.name(), "--side", way.name(), "--passes", &passes.to_string()])
        .output()
        .map_err(|error| format!("cannot start valgrind ({error}): run cachegrind/install"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or("no message");
        return Err(format!("valgrind failed on {}: {last}", case.name()));
    }
    let counts = read(&path);
    // A file that cannot be removed stays in the folder for temporary files.
    drop(fs::remove_file(&path));
    counts
}

/// Parses the totals of a file of cachegrind: `summary:`, in the order of `events:`.
fn read(path: &Path) -> Result<Counts, String> {
    let text = fs::read_to_string(path)
        .map_err(|error| format!("cannot read {} ({error}): try again", path.display()))?;
    let words = |start: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(start));
        line.map(|line| line.split_whitespace().collect::<Vec<_>>()).unwrap_or_default()
    };
    let (events, sums) = (words("events:"), words("summary:"));
    let sum = |event: &str| {
        let i = events.iter().position(|&name| name == event);
        i.and_then(|i| sums.get(i)).and_then(|sum| sum.parse::<u64>().ok()).ok_or_else(|| {
            format!("{} has no {event}: valgrind 3.19 or later writes it", path.display())
        })
    };
    Ok(Counts {
        instructions: sum("Ir")?,
        references: sum("Dr")? + sum("Dw")?,
        d1_misses: sum("D1mr")? + sum("D1mw")?,
        ll_misses: sum("DLmr")? + sum("DLmw")?,
    })
}

//! The table of counted misses and measured times: the program starts itself under cachegrind.

use std::{env, fs, process};

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, Table};
use phalanx_cachegrind::cachegrind::{self, Counts, Event};

use crate::cases::{Case, WARM_PASSES, Way};

/// Creates the table, with a row for each way of each case.
///
/// # Errors
///
/// One line of advice if valgrind is missing or fails, or its file cannot be written.
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
            let difference = many - few;
            let each = |event| format!("{:.3}", difference.of(event) as f64 / elements as f64);
            table.add_row([
                case.name().to_owned(),
                way.name().to_owned(),
                each(Event::Instructions),
                each(Event::References),
                each(Event::D1Misses),
                each(Event::LlMisses),
                format!("{:.3}", case.nanoseconds(way, case.default_passes())),
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
    let output = cachegrind::command(&program, &path)
        .args([case.name(), "--side", way.name(), "--passes", &passes.to_string()])
        .output()
        .map_err(|error| format!("cannot start valgrind ({error}): run cachegrind/install"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or("no message");
        return Err(format!("valgrind failed on {}: {last}", case.name()));
    }
    let counts = Counts::read(&path);
    // A file that cannot be removed stays in the folder for temporary files.
    drop(fs::remove_file(&path));
    counts
}

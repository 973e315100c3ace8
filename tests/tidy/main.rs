//! The house rules, checked on the text of the sources: import direction, no cycles of files,
//! length of files and width of comments, places and number of `unsafe`, closed traits, CPU
//! features of kernels, contents of `mod.rs`, essays of folders and their drawings, plain words,
//! no stubs, an up-to-date README and changelog, and the origin of figures.
//!
//! Each rule is a function from text to violations. The tests beside the rules pass it a bad
//! snippet, so that a rule that no longer detects anything fails itself.
#![cfg(not(miri))] // Text is read here and nothing else: Miri has nothing to find, and is slow.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

mod cycles;
mod drawings;
mod essays;
mod features;
mod figures;
mod files;
mod imports;
mod known;
mod names;
mod soundness;
mod source;
mod words;

use cycles::cycle_violations;
use drawings::drawing_violations;
use essays::essay_violations;
use features::feature_violations;
use figures::figure_violations;
use files::{
    changelog_violations, error_violations, front_page_violations, length_violations,
    mod_file_violations, stub_violations, width_violations,
};
use imports::{import_violations, stale_floors};
use known::{CIRCLES, FILE_NAMES, WIDE_COMMENTS, WORDY};
use names::{file_name_violations, method_violations, name_violations, type_name_violations};
use soundness::{Allowance, stale_allowances, trait_violations, unsafe_violations};
use source::Source;
use words::word_violations;

/// The floors: imports go down. Modules of one floor may use each other, but not in a cycle.
const FLOORS: [(usize, &[&str]); 8] = [
    (
        0,
        &[
            "cold",
            "effort",
            "line",
            "message",
            "nearest",
            "payload",
            "prefetch",
            "simd",
            "spare",
            "stopwatch",
            "total_order",
            "tuples",
            "unique",
            "version",
        ],
    ),
    (1, &["entity", "component"]),
    (2, &["storage"]),
    (3, &["archetype"]),
    (4, &["store"]),
    (5, &["query"]),
    (6, &["world"]),
    (7, &["command", "schedule", "explain", "logs", "snapshot", "testing"]),
];

/// The modules above all floors: they re-export, and no module imports them.
const FRONT_PAGE: [&str; 12] = [
    "lib",
    "prelude",
    "error",
    "contracts",
    "chunks",
    "lines",
    "memory",
    "reflect",
    "rows",
    "shared",
    "sparse",
    "terms",
];

/// The files that earned `unsafe` with a measurement.
const UNSAFE_FILES: [Allowance; 29] = [
    Allowance {
        path: "archetype/in_place.rs",
        budget: 1,
        reason: "rows written by kept addresses: 58 instructions a row instead of 323",
    },
    Allowance {
        path: "component/define/expansion.rs",
        budget: 7,
        reason: "components without derives: the user needs no dependency on `bytemuck`",
    },
    Allowance {
        path: "component/define/generic.rs",
        budget: 2,
        reason: "components without derives: the user needs no dependency on `bytemuck`",
    },
    Allowance {
        path: "component/define/split_struct.rs",
        budget: 1,
        reason: "a promise for functions that the macro writes: they take a struct apart",
    },
    Allowance {
        path: "component/per_chunk.rs",
        budget: 2,
        reason: "a generic type without bytes, for which the derive of `bytemuck` asks too much",
    },
    Allowance {
        path: "component/split_component.rs",
        budget: 3,
        reason: "a generic type of one field, for which the derive of `bytemuck` asks too much",
    },
    Allowance {
        path: "prefetch.rs",
        budget: 2,
        reason: "the instruction is a function of the processor's module",
    },
    Allowance {
        path: "store/sparse/boxed_set.rs",
        budget: 2,
        reason: "a cast to a type that was asked for once: a fourth of the time of insert and remove",
    },
    Allowance {
        path: "store/sparse/each_mut.rs",
        budget: 1,
        reason: "values of a set borrowed in any order: a list of all of them costs a pass its length",
    },
    Allowance {
        path: "store/sparse/set_lock.rs",
        budget: 1,
        reason: "a set lent to a query that is `Copy`, for which no guard lives long enough",
    },
    Allowance {
        path: "store/pass.rs",
        budget: 2,
        reason: "writes through kept addresses: each archetype is cut once",
    },
    Allowance {
        path: "store/granted_plan.rs",
        budget: 3,
        reason: "writes through access that was granted: each archetype is cut once",
    },
    Allowance {
        path: "store/granted_rows.rs",
        budget: 1,
        reason: "bytes of the columns that a query of names writes while other systems run",
    },
    Allowance {
        path: "store/resolved_plan.rs",
        budget: 7,
        reason: "addresses kept from one query to the next: 200 instructions an archetype less",
    },
    Allowance {
        path: "simd/kernel.rs",
        budget: 2,
        reason: "the call of a function with target features: a quarter of the time at AVX2",
    },
    Allowance {
        path: "simd/overwrite.rs",
        budget: 2,
        reason: "streaming stores: 1.2 times as fast where columns exceed the caches",
    },
    Allowance {
        path: "storage/written_rows.rs",
        budget: 2,
        reason: "the proofs that cells are initialised, made where they are written",
    },
    Allowance {
        path: "storage/chunk_list/blocks.rs",
        budget: 6,
        reason: "rows of columns without a type, by memcpy",
    },
    Allowance {
        path: "storage/block.rs",
        budget: 13,
        reason: "the addresses of cells in raw memory, memory that moves between threads, advice to \
                 the system about it",
    },
    Allowance {
        path: "storage/access/writer.rs",
        budget: 4,
        reason: "cells that hold no values yet: to zero them first costs a pass over the memory",
    },
    Allowance {
        path: "storage/access/written_bytes.rs",
        budget: 9,
        reason: "the same cells without a type, by memcpy",
    },
    Allowance {
        path: "storage/access/cell.rs",
        budget: 11,
        reason: "cells of one row: a checked cast of whole columns costs their length",
    },
    Allowance {
        path: "storage/access/chunk_iter.rs",
        budget: 4,
        reason: "disjoint slices of one block: the safe form costs 4 to 12 % in the first level",
    },
    Allowance {
        path: "storage/access/chunk_cache.rs",
        budget: 17,
        reason: "chunks cut ahead of time: 20 instructions a turn instead of 200",
    },
    Allowance {
        path: "storage/access/rows_move.rs",
        budget: 12,
        reason: "many rows moved column by column: 650 instructions a pair of commands, not 1,641",
    },
    Allowance {
        path: "storage/access/row_move.rs",
        budget: 14,
        reason: "one row moved by a table of offsets: 858 instructions a pair of moves, not 1,199",
    },
    Allowance {
        path: "storage/access/cell_finder.rs",
        budget: 2,
        reason: "a random read waits for three loads instead of six",
    },
    Allowance {
        path: "storage/access/row_cells.rs",
        budget: 7,
        reason: "rows by kept addresses: 40 instructions a row instead of 118",
    },
    Allowance {
        path: "storage/access/column_views.rs",
        budget: 10,
        reason: "the cells that a view finds are read and written through addresses",
    },
];

/// A file has fewer lines than this.
const LINES_MAX: usize = 500;

/// A line of comments has no more columns than this.
const COMMENT_COLUMNS_MAX: usize = 100;

/// Folders with sources of Rust.
const FOLDERS: [&str; 6] = ["src", "tests", "benches", "examples", "cachegrind", "crates"];

/// Folders with the modules of a program, or of several.
const PROGRAMS: [&str; 9] = [
    "benches/common",
    "benches/figures/src",
    "benches/misses",
    "benches/peers/src",
    "benches/programs",
    "benches/report",
    "cachegrind/benches/budgets",
    "cachegrind/examples/investigate",
    "cachegrind/src",
];

/// Pages of public names, and how many each has: the numbers only fall.
const PAGES: [(&str, usize); 2] = [("src/lib.rs", 66), ("src/error.rs", 16)];

/// The types with the longest pages, and how many public methods each has: the numbers only fall.
/// `$Query` are the methods of queries that a macro implements for another type as well.
const METHODS: [(&str, usize); 3] = [("World", 70), ("Query", 23), ("$Query", 7)];

/// Macros of unfinished work.
const STUBS: [&str; 3] = ["todo", "unimplemented", "dbg"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All Rust files below a folder of the repository, in order; empty if the folder does not exist.
fn sources(folder: &str) -> Vec<Source> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let base = root().join(folder);
    let mut found = Vec::new();
    collect(&base, &mut found);
    found.sort();
    let relative = |path: &Path| {
        let path = path.strip_prefix(&base).expect("found below the base");
        path.components().map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
    };
    found.iter().map(|path| Source::new(&relative(path), &read(path))).collect()
}

#[track_caller]
fn assert_none(violations: &[String]) {
    let list = violations.iter().fold(String::new(), |mut list, violation| {
        let _ = writeln!(list, "  {violation}");
        list
    });
    assert!(violations.is_empty(), "the house rules are broken:\n{list}");
}

#[test]
fn imports_go_down() {
    let sources = sources("src");
    let mut violations = stale_floors(&sources, &FLOORS);
    violations.extend(import_violations(&sources));
    assert_none(&violations);
}

#[test]
fn no_file_imports_itself_by_way_of_others() {
    let mut violations = cycle_violations(&sources("src"), CIRCLES);
    for root in PROGRAMS {
        let sources = sources(root);
        assert!(!sources.is_empty(), "{root} has no sources");
        let found = cycle_violations(&sources, &[]);
        violations.extend(found.iter().map(|violation| format!("{root}: {violation}")));
    }
    assert_none(&violations);
}

#[test]
fn files_are_short() {
    let violations =
        |folder| sources(folder).iter().flat_map(length_violations).collect::<Vec<_>>();
    assert_none(&FOLDERS.into_iter().flat_map(violations).collect::<Vec<_>>());
}

#[test]
fn comments_are_as_narrow_as_code() {
    let mut violations = Vec::new();
    for folder in FOLDERS {
        let known = WIDE_COMMENTS.iter().find(|known| known.0 == folder).map_or(&[][..], |k| k.1);
        let sources = sources(folder);
        violations.extend(sources.iter().flat_map(|source| width_violations(source, known)));
        let is_gone = |path| !sources.iter().any(|source| source.path == path);
        let gone = known.iter().filter(|(path, _)| is_gone(*path));
        violations.extend(gone.map(|(path, _)| format!("{folder}/{path}: listed, and is gone")));
    }
    assert_none(&violations);
}

#[test]
fn sentences_start_with_their_noun() {
    let violations = |folder: &&str| word_violations(folder, &sources(folder), WORDY);
    assert_none(&FOLDERS.iter().flat_map(violations).collect::<Vec<_>>());
}

#[test]
fn mod_files_hold_no_code() {
    assert_none(&sources("src").iter().flat_map(mod_file_violations).collect::<Vec<_>>());
}

#[test]
fn essays_of_folders_name_their_files() {
    assert_none(&essay_violations(&sources("src")));
}

#[test]
fn drawings_of_calls_are_those_of_the_code() {
    assert_none(&drawing_violations(&sources("src")));
}

#[test]
fn unsafe_stands_where_it_was_earned() {
    let sources = sources("src");
    let mut violations = stale_allowances(&sources, &UNSAFE_FILES);
    violations.extend(sources.iter().flat_map(|source| unsafe_violations(source, &UNSAFE_FILES)));
    // The compiler accepts `unsafe` that a macro writes in a crate that forbids it.
    let macros = self::sources("crates/macros");
    assert!(!macros.is_empty(), "the package of the macros has no sources");
    violations.extend(macros.iter().flat_map(|source| unsafe_violations(source, &[])));
    assert_none(&violations);
}

#[test]
fn errors_say_their_text_when_they_are_unwrapped() {
    let list = read("src/error.rs");
    assert_none(
        &sources("src").iter().flat_map(|s| error_violations(s, &list)).collect::<Vec<_>>(),
    );
}

#[test]
fn traits_are_open_or_closed_on_purpose() {
    assert_none(&trait_violations(&sources("src"), &read("src/contracts.rs")));
}

#[test]
fn kernels_run_where_their_features_are() {
    let (kernel, level) = (read("src/simd/kernel.rs"), read("src/simd/level.rs"));
    assert_none(&feature_violations(&kernel, &level));
}

#[test]
fn nothing_is_left_undone() {
    let violations: Vec<_> = FOLDERS
        .iter()
        .flat_map(|folder| sources(folder))
        .flat_map(|s| stub_violations(&s))
        .collect();
    assert_none(&violations);
}

#[test]
fn the_front_page_and_the_readme_are_two_texts() {
    assert_none(&front_page_violations(&read("src/lib.rs"), &read("README.md")));
}

#[test]
fn pages_of_names_are_short() {
    let violations =
        PAGES.iter().flat_map(|(path, limit)| name_violations(path, &read(path), *limit));
    assert_none(&violations.collect::<Vec<_>>());
}

#[test]
fn pages_of_methods_are_short() {
    let sources = sources("src");
    let violations =
        METHODS.iter().flat_map(|(name, limit)| method_violations(&sources, name, *limit));
    assert_none(&violations.collect::<Vec<_>>());
}

#[test]
fn files_and_types_have_names_of_their_own() {
    let sources = sources("src");
    let mut violations = file_name_violations(&sources, FILE_NAMES);
    violations.extend(type_name_violations(&sources, &[]));
    assert_none(&violations);
}

#[test]
fn figures_have_an_origin() {
    fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                pages(&path, found);
            } else if name.ends_with(".md") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    pages(root(), &mut found);
    assert!(found.len() > 5, "the pages of all packages");
    let violations = |path: &PathBuf| {
        let name = path.strip_prefix(root()).expect("found below the root");
        figure_violations(&name.display().to_string(), &read(path))
    };
    assert_none(&found.iter().flat_map(violations).collect::<Vec<_>>());
}

#[test]
fn the_workload_that_a_page_shows_is_one_that_runs() {
    let source = read("benches/common/one_row.rs");
    let (_, code) = source.split_once("\n\n").expect("an essay, and the code");
    let block = format!("```rust,ignore\n{code}```\n");
    assert!(read("benches/README.md").contains(&block), "benches/README.md shows another one");
}

#[test]
fn the_changelog_is_open() {
    assert_none(&changelog_violations(&read("CHANGELOG.md")));
}

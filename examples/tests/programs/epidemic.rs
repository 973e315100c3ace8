//! The epidemic: the same on any number of threads and in any chunks, and no agent is lost.

use crate::example::{Example, example};

static EPIDEMIC: Example = example!("epidemic");

/// Several chunks, and enough steps that most of the agents were infected.
const TOWN: [&str; 4] = ["--agents", "20000", "--steps", "120"];

fn epidemic(more: &[&str]) -> String {
    EPIDEMIC.printed(&[&TOWN, more].concat(), None)
}

/// The table, and the hash of all agents. The text after them depends on the size of chunks.
fn table(text: &str) -> &str {
    text.split_once("chunks counted").expect("a line about chunks").0
}

#[test]
fn the_epidemic_does_not_depend_on_threads_and_chunks() {
    let one = epidemic(&["--threads", "1"]);
    assert_eq!(epidemic(&["--threads", "2"]), one);
    for size in ["4", "64"] {
        let other = epidemic(&["--threads", "2", "--chunk-size", size]);
        assert_eq!(table(&other), table(&one), "{size} KiB");
        assert_ne!(other, one);
    }
    assert_ne!(table(&epidemic(&["--seed", "2"])), table(&one));
}

#[test]
fn nobody_is_lost_and_nobody_goes_back() {
    let text = epidemic(&["--every", "10", "--outbreaks", "1"]);
    let rows: Vec<[u32; 4]> = table(&text).lines().skip(1).filter_map(row).collect();
    assert_eq!(rows.len(), 13, "the start and each tenth step: {text}");
    assert_eq!(rows[0], [0, 19_990, 10, 0]);
    assert!(rows.iter().all(|[_, s, i, r]| s + i + r == 20_000), "{text}");
    let is_forward = |pair: &[[u32; 4]]| pair[1][1] <= pair[0][1] && pair[1][3] >= pair[0][3];
    assert!(rows.windows(2).all(is_forward), "{text}");
    assert!(rows[12][3] > 1000, "the disease spreads: {text}");
    let (_, skipped) = text.split_once("skipped ").expect("a line about chunks");
    let skipped: u32 = skipped.lines().next().expect("a number").parse().expect("a number");
    assert!(skipped > 0, "at first most chunks have no ill agents: {text}");
}

/// The four numbers of a row of the table; no other line has four.
fn row(line: &str) -> Option<[u32; 4]> {
    let numbers: Result<Vec<_>, _> = line.split_whitespace().map(str::parse).collect();
    numbers.ok()?.try_into().ok()
}

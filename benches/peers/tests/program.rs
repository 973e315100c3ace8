//! The program from outside: refused arguments, and the output of a small run.

use std::path::PathBuf;
use std::process::{Command, Output};

fn peers(arguments: &[&str]) -> Output {
    let program = Command::new(env!("CARGO_BIN_EXE_peers")).args(arguments).output();
    program.expect("the program starts")
}

fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("phalanx-peers-{}-{name}", std::process::id()))
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

#[test]
fn unknown_names_are_refused_in_one_line_that_says_what_there_is() {
    let refusals = [
        (["--workload", "pos_val"], "no workload `pos_val`; there are: ", "pos_vel"),
        (["--library", "hecz"], "no library `hecz`; there are: ", "hecs, bevy_ecs"),
    ];
    for (arguments, message, known) in refusals {
        let output = peers(&arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let stderr = text(&output.stderr);
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(stderr.contains(message) && stderr.contains(known), "{stderr}");
    }
}

#[test]
fn bad_numbers_and_unknown_options_end_with_2() {
    for arguments in [&["--runs", "0"][..], &["--budget-ms", "x"], &["--nonsense"]] {
        assert_eq!(peers(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn a_place_that_cannot_be_written_is_noticed_before_anything_is_measured() {
    let nowhere = scratch("nowhere").join("table.tsv");
    let nowhere = nowhere.to_str().expect("a plain path");
    let fine = ["fine.tsv", "fine.svg"].map(scratch);
    let [tsv, svg] = fine.each_ref().map(|path| path.to_str().expect("a plain path"));
    for option in ["--tsv", "--svg", "--brief-svg", "--markdown"] {
        let mut arguments = vec![option, nowhere];
        let others = [("--tsv", tsv), ("--svg", svg)];
        for (other, path) in others.into_iter().filter(|(other, _)| *other != option) {
            arguments.extend([other, path]);
        }
        let output = peers(&arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let stderr = text(&output.stderr);
        assert_eq!(stderr.lines().count(), 1, "nothing was begun: {stderr}");
        assert!(stderr.contains(nowhere) && stderr.contains("cannot be written"), "{stderr}");
    }
    for file in fine {
        std::fs::remove_file(file).expect("it was opened");
    }
}

#[test]
fn the_list_names_workloads_and_libraries() {
    let output = peers(&["--list"]);
    assert!(output.status.success(), "{output:?}");
    for name in ["pos_vel", "many_archetypes", "8,000,000", "phalanx", "evenio"] {
        assert!(text(&output.stdout).contains(name), "{name} is missing");
    }
}

#[test]
fn a_small_run_prints_saves_and_draws() {
    let (tsv, svg) = (scratch("table.tsv"), scratch("chart.svg"));
    let (brief, markdown) = (scratch("brief.svg"), scratch("table.md"));
    let mut arguments = vec!["--workload", "fragmented_iter", "--runs", "2", "--budget-ms", "1"];
    for library in ["raw", "phalanx", "hecs", "evenio"] {
        arguments.extend(["--library", library]);
    }
    let files =
        [("--tsv", &tsv), ("--svg", &svg), ("--brief-svg", &brief), ("--markdown", &markdown)];
    for (option, file) in files {
        arguments.extend([option, file.to_str().expect("a path")]);
    }
    let output = peers(&arguments);
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output.stdout).contains("phalanx[plain loop]"), "{output:?}");

    let table = std::fs::read_to_string(&tsv).expect("a table");
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert!(lines.len() > 6 && lines.iter().all(|fields| fields.len() == 9), "{table}");
    for fields in &lines[1..] {
        assert_eq!((fields[0], fields[2]), ("fragmented_iter", "520"), "{table}");
        let figures: Vec<f64> = fields[3..8].iter().flat_map(|field| field.parse()).collect();
        let [median, least, per_unit, to_peer, to_limit] = figures[..] else { panic!("{table}") };
        assert!(least <= median && to_peer > 0.0 && to_limit > 0.0, "{table}");
        assert!((per_unit * 520.0 / median - 1.0).abs() < 0.01, "{table}");
    }
    let best = |column: usize, is: fn(&str) -> bool| {
        let rows = lines[1..].iter().filter(|fields| is(fields[1]));
        let ratios = rows.map(|fields| fields[column].parse::<f64>().expect("a number"));
        ratios.min_by(f64::total_cmp)
    };
    assert_eq!(
        best(6, |library| !library.starts_with("raw") && !library.starts_with("phalanx")),
        Some(1.0)
    );
    assert_eq!(best(7, |library| library.starts_with("raw")), Some(1.0));

    for chart in [&svg, &brief] {
        let chart = std::fs::read_to_string(chart).expect("a chart");
        let chart = roxmltree::Document::parse(&chart).expect("well-formed");
        let text = chart.descendants().filter(|node| node.has_tag_name("text"));
        let texts: Vec<_> = text.filter_map(|node| node.text()).map(str::trim).collect();
        for (library, count) in [("phalanx", 2), ("hecs", 1), ("evenio", 1)] {
            let found = texts.iter().filter(|text| **text == library).count();
            assert_eq!(found, count, "{library}: one bar, and the legend names phalanx");
        }
    }
    let page = std::fs::read_to_string(&markdown).expect("a table");
    let header = page.lines().next().expect("a header");
    let columns: Vec<_> = header.trim_matches('|').split('|').map(str::trim).collect();
    assert_eq!(
        columns[1..],
        ["unit", "phalanx", "… otherwise", "hecs", "evenio", "limit"],
        "{page}"
    );
    let row = page.lines().find(|line| line.contains("`fragmented_iter`, 520 entities"));
    assert!(row.is_some_and(|row| row.matches("**").count() >= 2), "the best is bold: {page}");
    for file in [tsv, svg, brief, markdown] {
        std::fs::remove_file(file).expect("it was there");
    }
}

/// Each library runs in a child process. A child that dies must not pass for a library without
/// rows.
#[test]
#[cfg(target_os = "linux")]
fn a_child_that_crashes_ends_the_program_with_1_and_its_name() {
    let files = ["crash.tsv", "crash.svg"].map(scratch);
    let [tsv, svg] = files.each_ref().map(|path| path.to_str().expect("a plain path"));
    // Too little memory for 8,000,000 rows, which only the child has.
    let script = "ulimit -v 190000; exec \"$0\" \"$@\"";
    let arguments = ["--workload", "sum_column", "--library", "raw", "--tsv", tsv, "--svg", svg];
    let mut shell = Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_peers")]).args(arguments);
    let output = shell.output().expect("the shell starts");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let stderr = text(&output.stderr);
    let last = stderr.lines().last().expect("a message");
    for part in ["peers: sum_column at 8000000 entities: raw: its process ended early", "signal"] {
        assert!(last.contains(part), "{part:?} is not in {stderr:?}");
    }
    for file in files {
        std::fs::remove_file(file).expect("it was opened");
    }
}

#[test]
fn a_turn_prints_a_line_for_each_finding() {
    let output = peers(&["turn", "hecs", "fragmented_iter", "520", "--budget-ms", "1"]);
    assert!(output.status.success(), "{output:?}");
    let stdout = text(&output.stdout);
    let lines: Vec<Vec<&str>> = stdout.lines().map(|line| line.split('\t').collect()).collect();
    assert!(lines.iter().any(|fields| fields[0] == "columns"), "{stdout}");
    for fields in lines {
        assert!(fields[1].starts_with("sum ") && fields.len() >= 3 + 9, "{stdout}");
    }
    assert_eq!(peers(&["turn", "hecz", "fragmented_iter", "520"]).status.code(), Some(2));
}

#[test]
fn a_turn_of_vagabond_prints_a_line_of_numbers() {
    let output = peers(&["vagabond-turn", "hecs", "iterate", "100", "3", "1"]);
    assert!(output.status.success(), "{output:?}");
    let numbers = text(&output.stdout).trim_end().split('\t').map(str::parse::<f64>);
    let numbers: Vec<_> = numbers.collect::<Result<_, _>>().expect("numbers");
    assert!(numbers.len() == 3 && numbers.iter().all(|&ns| ns > 0.0), "{numbers:?}");
    assert_eq!(peers(&["vagabond-turn", "hecs", "sleep", "1", "1", "1"]).status.code(), Some(2));
}

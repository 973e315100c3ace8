//! All questions of a small herd, and the messages about wrong input.

use crate::answer::{Answer, Value};
use crate::questions::QUESTIONS;
use crate::run::{Failure, Options, compare, run};
use clap::Parser;
use std::path::PathBuf;

fn options(arguments: &[&str]) -> Options {
    Options::parse_from(["analyse"].iter().chain(arguments))
}

fn folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("phalanx-analyse-{name}-{}", std::process::id()))
}

#[tokio::test]
async fn sql_on_memory_and_on_files_has_the_answers_of_loops() {
    let report = run(&options(&["--entities", "20000", "--rows", "3000", "--runs", "1"])).await;
    let report = report.expect("all answers agree");
    for question in QUESTIONS {
        assert!(report.contains(&format!("\n{}: ", question.name)), "{report}");
    }
    // One of 50 is a wolf, one of ten rests.
    assert!(report.contains("Wolf 400") && report.contains("true 2000 "), "{report}");
}

#[tokio::test]
async fn files_are_kept_where_a_folder_is_given() {
    let folder = folder("kept");
    let name = folder.to_str().expect("a name in text");
    let arguments = ["--entities", "1000", "--steps", "1", "--runs", "1", "--folder", name];
    run(&options(&arguments)).await.expect("all answers agree");
    assert!(folder.join("part-00000.arrow").exists());
    std::fs::remove_dir_all(folder).expect("it was written");
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_named() {
    let file = folder("file");
    std::fs::write(&file, "no folder").expect("the temporary folder can be written");
    let name = file.to_str().expect("a name in text");
    let failure = run(&options(&["--entities", "1000", "--folder", name])).await;
    let text = failure.expect_err("a file is no folder").to_string();
    assert!(text.contains(name) && !text.contains('\n'), "{text}");
    std::fs::remove_file(file).expect("it was written");
}

#[test]
fn an_answer_that_differs_is_reported_with_both() {
    let rows = |count, mean| Answer(vec![vec![Value::Whole(count), Value::Number(mean)]]);
    let differs = |one, other| compare("how many", "in memory", one, &other);
    assert!(differs(rows(7, 0.1), rows(7, 0.1 + 1e-12)).is_ok(), "it is rounded in another way");
    for wrong in [rows(8, 0.1), rows(7, 0.100_001), rows(7, f64::NAN), Answer(Vec::new())] {
        let failure = differs(wrong, rows(7, 0.1)).expect_err("it is another");
        assert!(matches!(failure, Failure::Differs { .. }), "{failure}");
        let text = failure.to_string();
        assert!(text.starts_with("how many: the answer in memory is "), "{text}");
        assert!(text.ends_with("a loop over the world has 7 0.100"), "{text}");
    }
}

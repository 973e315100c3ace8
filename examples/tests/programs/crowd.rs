//! The crowd: the results are the same with and without enable bits and values of chunks, on any
//! number of threads and in any chunks, and most chunks are skipped.

use std::fs;

use crate::example::{Example, example};

static CROWD: Example = example!("crowd");

/// Several chunks, and enough frames that other agents wake up.
const MARKET: [&str; 4] = ["--agents", "20000", "--frames", "70"];

fn crowd(more: &[&str]) -> String {
    CROWD.printed(&[&MARKET, more].concat(), None)
}

/// The text after the table of times.
fn end(text: &str) -> &str {
    text.split_once("the last frame: ").expect("a line about the last frame").1
}

#[test]
fn the_crowd_does_not_depend_on_threads() {
    let one = crowd(&["--threads", "1"]);
    assert!(one.contains("both worlds have the same agents"), "{one}");
    assert_eq!(end(&crowd(&["--threads", "2"])), end(&one));
    let small = crowd(&["--chunk-size", "4"]);
    assert_ne!(end(&small), end(&one), "there are more chunks");
}

#[test]
fn most_agents_doze_and_most_chunks_are_far() {
    let text = crowd(&[]);
    let numbers: Vec<u32> =
        end(&text).split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [awake, skipped, chunks, drawn @ ..] = &numbers[..] else { panic!("three: {text}") };
    let (awake, skipped, chunks) = (*awake, *skipped, *chunks);
    assert!(!drawn.is_empty() && text.contains("drawn: "), "{text}");
    assert!((500..4_000).contains(&awake), "{text}");
    assert!(chunks > 10 && skipped > chunks / 2, "{text}");
    for system in ["doze", "stroll", "bound", "choose", "pose", "draw", "all"] {
        assert!(text.lines().any(|line| line.starts_with(system)), "no time of {system}: {text}");
    }
}

#[test]
fn the_picture_shows_agents_in_the_colours_of_all_levels() {
    let path = std::env::temp_dir().join(format!("phalanx-crowd-{}.png", std::process::id()));
    crowd(&["--png", path.to_str().expect("a plain path")]);
    let bytes = fs::read(&path).expect("a picture");
    fs::remove_file(&path).expect("it was there");
    let decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    let mut reader = decoder.read_info().expect("a header");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a small picture")];
    let frame = reader.next_frame(&mut pixels).expect("pixels");
    assert_eq!((frame.width, frame.height), (900, 900), "its size");
    for colour in [[52, 62, 98], [255, 224, 130], [232, 128, 60], [96, 108, 140]] {
        let count = pixels.chunks(3).filter(|pixel| **pixel == colour).count();
        assert!(count > 20, "{count} pixels of {colour:?}");
    }
}

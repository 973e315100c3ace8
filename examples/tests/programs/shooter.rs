//! The shooter: the same game on any number of threads, in any chunks, at any rate of frames.

use crate::example::{Example, example};
use phalanx::Level;

static SHOOTER: Example = example!("shooter");

/// Long enough for enemies to arrive, to be shot and to bite, and for players to die.
const GAME: [&str; 6] = ["--players", "3", "--enemies", "600", "--seconds", "25"];

fn game(more: &[&str]) -> String {
    SHOOTER.printed(&[&GAME, more].concat(), None)
}

/// All lines but the last, the hash of the world, which depends on the size of chunks.
fn without_world(text: &str) -> &str {
    text.rsplit_once("world ").expect("a hash of the world").0
}

/// The number before a word.
fn number(text: &str, word: &str) -> u64 {
    let (before, _) = text.split_once(word).unwrap_or_else(|| panic!("no `{word}` in {text}"));
    let digits = before.trim_end().rsplit([' ', '\n']).next().expect("a word");
    digits.parse().unwrap_or_else(|error| panic!("{digits}: {error}: {text}"))
}

#[test]
fn the_game_does_not_depend_on_threads_levels_and_frames() {
    let one = game(&["--threads", "1"]);
    assert_eq!(game(&["--threads", "2"]), one);
    assert_eq!(game(&["--threads", "2", "--frame-rate", "24"]), one);
    assert_eq!(game(&["--threads", "1", "--frame-rate", "1000"]), one);
    for level in Level::available() {
        assert_eq!(SHOOTER.printed(&GAME, Some(level)), one, "{level}");
    }
    assert_ne!(game(&["--seed", "2"]), one);
}

#[test]
fn only_the_hash_of_the_world_depends_on_the_size_of_chunks() {
    let [small, large] = ["4", "64"].map(|size| game(&["--chunk-size", size]));
    assert_eq!(without_world(&small), without_world(&large));
    assert_ne!(small, large);
}

#[test]
fn the_counts_of_a_game_agree() {
    let text = game(&[]);
    let [steps, shots, hits, kills, bites] =
        ["steps", "shots", "hits", "kills", "bites"].map(|word| number(&text, word));
    assert!(steps <= 25 * 50, "50 steps a second: {text}");
    assert!(kills > 50 && bites > 50, "both sides do something: {text}");
    assert!(kills <= hits && hits <= shots, "{text}");
    assert!(number(&text, "enemies") <= 600 && number(&text, "players") < 3, "{text}");
}

#[test]
fn a_size_that_no_chunk_has_is_refused() {
    let output = SHOOTER.command().args(["--chunk-size", "5"]).output().expect("it starts");
    let line = String::from_utf8(output.stderr).expect("text");
    assert!(line.contains("4, 8, 16, 32, 64, 128 or 256"), "{line}");
}

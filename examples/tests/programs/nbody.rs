//! The bodies: both forms of gravity have the same bits, and the energy stays.

use crate::example::{Example, example};
use phalanx::Level;

static NBODY: Example = example!("nbody");

/// More than a chunk of 4 KiB, and not a whole number of vectors.
const BODIES: [&str; 4] = ["--bodies", "221", "--steps", "20"];

/// The lines that are not about times: the program itself compares the two forms.
fn result(more: &[&str], level: Option<Level>) -> Vec<String> {
    let text = NBODY.printed(&[&BODIES, more].concat(), level);
    assert!(text.contains("both have the same bits\n"), "{text}");
    text.lines().skip(3).map(str::to_owned).collect()
}

#[test]
fn the_bodies_do_not_depend_on_threads_levels_and_chunks() {
    let one = result(&[], None);
    assert_eq!(result(&["--threads", "2"], None), one);
    for size in ["4", "256"] {
        assert_eq!(result(&["--chunk-size", size, "--threads", "2"], None), one, "{size} KiB");
    }
    for level in Level::available() {
        assert_eq!(result(&[], Some(level)), one, "{level}");
        assert_eq!(result(&["--level", &level.to_string()], None), one, "{level}");
    }
    assert_ne!(result(&["--seed", "2"], None), one);
}

#[test]
fn the_energy_stays() {
    let lines = result(&[], None);
    let (_, drift) = lines[1].rsplit_once(' ').expect("a line about the energy");
    let drift: f64 = drift.parse().expect("a number");
    assert!(drift != 0.0 && drift.abs() < 1e-4, "{lines:?}");
}

//! The examples of one file each: they assert their results themselves, and print them.

use crate::example::{Example, example};

/// The last line that each prints, or the beginning of it.
const PRINTED: [(Example, &str); 8] = [
    (example!("changes"), "2 entities have lost their shield"),
    (example!("commands"), "day 5: 4999 are ill, 5001 graves"),
    (example!("enable_bits"), "9999 fell asleep, 0 are awake"),
    (example!("kernel"), "5956 calls of the kernel at level "),
    (example!("lookup"), "the guns are at [14.0, 16.0]"),
    (example!("merge"), "100002 entities came, the world has 100003"),
    (example!("snapshot"), "2001888 bytes of a state, 308 of a difference"),
    (example!("systems"), "after a second: 95.05 m, 100 steps old"),
];

#[test]
fn each_prints_its_result() {
    for (example, line) in &PRINTED {
        let text = example.printed(&[], None);
        let last = text.lines().last().unwrap_or_default();
        assert!(last.starts_with(line), "{last:?} is not {line:?}");
    }
}

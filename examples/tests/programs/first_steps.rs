//! The examples of one file each: they assert their results themselves, and print them. They take
//! no options, so the tests of command lines leave them out.

use crate::example::{Example, example};

/// Each example, and the last line that it prints or the beginning of that line.
pub(crate) static PRINTED: [(&str, Example, &str); 13] = [
    ("changes", example!("changes"), "2 entities have lost their shield"),
    ("commands", example!("commands"), "day 5: 4999 are ill, 5001 graves"),
    ("enable_bits", example!("enable_bits"), "9999 fell asleep, 0 are awake"),
    ("inventory", example!("inventory"), "2 gems are left, and 0 items"),
    ("kernel", example!("kernel"), "5956 calls of the kernel at level "),
    ("lookup", example!("lookup"), "the guns are at [14.0, 16.0]"),
    ("merge", example!("merge"), "100002 entities came, the world has 100003"),
    ("order", example!("order"), "501 are near, in 1 slices"),
    ("pairs", example!("pairs"), "1 pair is left"),
    ("relations", example!("relations"), "1 entity is left, with 0 ships"),
    ("snapshot", example!("snapshot"), "2002156 bytes of a state, 460 of a difference"),
    ("sparse", example!("sparse"), "the grave of Ada of 10001 entities"),
    ("systems", example!("systems"), "after a second: 95.05 m, 100 steps old"),
];

#[test]
fn each_prints_its_result() {
    for (_, example, line) in &PRINTED {
        let text = example.printed(&[], None);
        let last = text.lines().last().unwrap_or_default();
        assert!(last.starts_with(line), "{last:?} is not {line:?}");
    }
}

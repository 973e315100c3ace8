//! The level that is merged: all of it arrives, and its references lead to the same entities.

use crate::example::{Example, example};

static STREAMING: Example = example!("streaming");

#[test]
fn the_merged_entities_are_counted_and_all_but_the_leader_refer_to_it() {
    let arguments = ["--entities", "5000", "--present", "700", "--frames", "2", "--rate", "500"];
    let text = STREAMING.printed(&arguments, None);
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with("700 entities, and a level of 5000; kernels at "), "{text}");
    assert_eq!(lines.len(), 7, "{text}");
    assert_eq!(lines[6], "5700 entities, of which 4999 follow the leader");
}

//! The nearest known name to a misspelt one, for messages.

/// The nearest of the known names: a name that ends in `name` after `::`, or one that differs from
/// `name` in at most a third of its characters; two neighbours that are swapped are one. Of two
/// that are as near, the first by the alphabet.
///
/// O(known), and O(length²) for each known name of about the same length.
pub(crate) fn nearest<'n>(name: &str, known: &[&'n str]) -> Option<&'n str> {
    let ends = |one: &&'n str| one.strip_suffix(name).is_some_and(|path| path.ends_with("::"));
    if let Some(one) = known.iter().copied().filter(ends).min() {
        return Some(one);
    }
    let len = name.chars().count();
    let changes_max = len.max(3) / 3;
    let is_as_long = |one: &&'n str| one.chars().count().abs_diff(len) <= changes_max;
    let near = known.iter().copied().filter(is_as_long);
    let near = near.map(|one| (strsim::osa_distance(name, one), one)).min()?;
    (near.0 <= changes_max).then_some(near.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_finds_the_nearest() {
        let known = ["spawn_wave", "move", "draw", "game::Player"];
        assert_eq!(nearest("spawn_waves", &known), Some("spawn_wave"));
        assert_eq!(nearest("drwa", &known), Some("draw"), "swapped letters");
        assert_eq!(nearest("foru", &["five", "four"]), Some("four"));
        assert_eq!(nearest("wrad", &known), None, "two of four letters");
        assert_eq!(nearest("drow", &known), Some("draw"));
        assert_eq!(nearest("physics", &known), None);
        assert_eq!(nearest("Player", &known), Some("game::Player"), "the end of a path");
        assert_eq!(nearest("layer", &known), None, "a part of a segment");
        assert_eq!(nearest("x", &[]), None);
        assert_eq!(nearest("mode", &["mole", "code", "modern"]), Some("code"), "as near as `mole`");
        let long = "a".repeat(100_000);
        assert_eq!(nearest(&long, &known), None);
        assert_eq!(nearest("move", &[&long]), None);
    }
}

//! The nearest known name to a misspelt one, for messages.

/// The nearest of the known names: a name that ends in `name` after `::`, or one that differs from
/// `name` in at most a third of its characters.
pub(crate) fn nearest<'n>(name: &str, known: &[&'n str]) -> Option<&'n str> {
    let ends = |one: &&&str| one.strip_suffix(name).is_some_and(|path| path.ends_with("::"));
    if let Some(one) = known.iter().find(ends) {
        return Some(one);
    }
    let near = known.iter().map(|one| (strsim::levenshtein(name, one), one));
    let (changes, one) = near.min_by_key(|&(changes, _)| changes)?;
    (3 * changes <= name.chars().count().max(3)).then_some(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_finds_the_nearest() {
        let known = ["spawn_wave", "move", "draw", "game::Player"];
        assert_eq!(nearest("spawn_waves", &known), Some("spawn_wave"));
        assert_eq!(nearest("drwa", &known), None, "two of four letters");
        assert_eq!(nearest("drow", &known), Some("draw"));
        assert_eq!(nearest("physics", &known), None);
        assert_eq!(nearest("Player", &known), Some("game::Player"), "the end of a path");
        assert_eq!(nearest("layer", &known), None, "a part of a segment");
        assert_eq!(nearest("x", &[]), None);
    }
}

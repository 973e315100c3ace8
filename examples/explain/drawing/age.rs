//! The age of a write, in classes with colours.

use core::ops::Range;

use phalanx::Version;
use phalanx::explain::ArchetypeExplanation;

use super::text::grouped;

/// The fill of a column that was not written since rows last arrived: a texture, which differs
/// from every colour.
pub(super) const UNWRITTEN: &str = "url(#phalanx-unwritten)";
/// The id of that texture.
pub(super) const UNWRITTEN_ID: &str = "phalanx-unwritten";

/// Viridis at eight points, from new to old. Its lightness changes evenly, and columns that are
/// written in every frame are the brightest. It is readable with colour-blindness.
const COLOURS: [&str; Age::CLASSES] =
    ["#fde725", "#a0da39", "#4ac16d", "#1fa187", "#277f8e", "#365c8d", "#46327e", "#440154"];

/// Ticks of the clock since a write, by powers of four: the same colours in every drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Age(usize);

impl Age {
    /// The number of classes.
    pub(super) const CLASSES: usize = 8;

    /// The age of a version at the time `now`.
    pub(super) fn new(written: Version, now: Version) -> Self {
        match now.to_bits().saturating_sub(written.to_bits()) {
            0 => Self(0),
            ticks => Self((1 + ticks.ilog2() as usize / 2).min(Self::CLASSES - 1)),
        }
    }

    /// All classes, the newest first.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..Self::CLASSES).map(Self)
    }

    /// The colour of the class.
    pub(super) const fn colour(self) -> &'static str {
        COLOURS[self.0]
    }

    /// The ticks of the class, in words.
    pub(super) fn in_words(self) -> String {
        let start = |class: usize| 1_u64 << (2 * (class - 1));
        match self.0 {
            0 => "0".to_owned(),
            class if class + 1 == Self::CLASSES => format!("{} and more", grouped(start(class))),
            class => format!("{}–{}", grouped(start(class)), grouped(start(class + 1) - 1)),
        }
    }
}

/// The number of ticks from a version to `now`, in words.
pub(super) fn ago(version: Version, now: Version) -> String {
    let ticks = now.to_bits().saturating_sub(version.to_bits());
    format!("{} {} ago", grouped(ticks), if ticks == 1 { "tick" } else { "ticks" })
}

/// The last write to any of these columns in any of these chunks since rows last arrived there.
pub(super) fn last_written(
    archetype: &ArchetypeExplanation,
    columns: Range<usize>,
    chunks: Range<usize>,
) -> Option<Version> {
    columns.flat_map(|c| chunks.clone().filter_map(move |k| archetype.written(c, k))).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_match_their_words() {
        let class = |ticks: u64| Age::new(Version::from_bits(5), Version::from_bits(5 + ticks));
        let cases = [(0, "0"), (1, "1–3"), (3, "1–3"), (4, "4–15"), (15, "4–15"), (16, "16–63")];
        for (ticks, words) in cases {
            assert_eq!(class(ticks).in_words(), words, "{ticks} ticks");
        }
        for (ticks, words) in
            [(4095, "1,024–4,095"), (4096, "4,096 and more"), (1 << 60, "4,096 and more")]
        {
            assert_eq!(class(ticks).in_words(), words, "{ticks} ticks");
        }
        assert!(class(3) < class(4), "newer classes come first");
    }
}

//! How long ago something was written, in classes that have colours.

use core::ops::Range;

use crate::version::Version;

use super::super::archetype::ArchetypeExplanation;
use super::super::text::grouped;

/// What fills a column that was not written since rows last came: a texture, so that it is no
/// matter of colour.
pub(super) const UNWRITTEN: &str = "url(#phalanx-unwritten)";
/// The name of that texture.
pub(super) const UNWRITTEN_ID: &str = "phalanx-unwritten";

/// Viridis at eight places, a ramp whose lightness rises evenly: from old to new, so that what is
/// written in every frame glows. People who see two of the three primaries read it as well.
const COLOURS: [&str; Age::CLASSES] =
    ["#fde725", "#a0da39", "#4ac16d", "#1fa187", "#277f8e", "#365c8d", "#46327e", "#440154"];

/// Ticks of the clock since a write, by powers of four: the same colours in every drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Age(usize);

impl Age {
    /// How many classes there are.
    pub(super) const CLASSES: usize = 8;

    /// The age of a version by a clock.
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

/// How many ticks before a moment a version is, in words.
pub(super) fn ago(version: Version, now: Version) -> String {
    let ticks = now.to_bits().saturating_sub(version.to_bits());
    format!("{} {} ago", grouped(ticks), if ticks == 1 { "tick" } else { "ticks" })
}

impl ArchetypeExplanation {
    /// When any of some columns was last written in any of some chunks, after the rows came.
    pub(super) fn last_written(
        &self,
        columns: Range<usize>,
        chunks: Range<usize>,
    ) -> Option<Version> {
        columns.flat_map(|c| chunks.clone().filter_map(move |k| self.written(c, k))).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_that_their_words_say() {
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

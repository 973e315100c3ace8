//! The properties of a component that exists at run time only.

/// The properties that a layout may have, by their words in
/// [`#[component(…)]`](crate::component).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LayoutProperties {
    pub(super) hidden: bool,
    pub(super) cleanup: bool,
    pub(super) enableable: bool,
}

impl LayoutProperties {
    pub(super) const WORDS: [&'static str; 3] = ["hidden", "cleanup", "enableable"];

    /// Words for types of the program only.
    const OTHER_WORDS: [&'static str; 4] = ["sparse", "split", "lines", "plain"];

    /// Whether a type may have a property that a layout cannot have.
    pub(super) fn is_for_types(word: &str) -> bool {
        Self::OTHER_WORDS.contains(&word)
    }

    /// Adds the property of a word. Returns `false` if it is none.
    pub(super) fn add(&mut self, word: &str) -> bool {
        match word {
            "hidden" => self.hidden = true,
            "cleanup" => self.cleanup = true,
            "enableable" => self.enableable = true,
            _ => return false,
        }
        true
    }

    /// Its words.
    pub(super) fn words(self) -> impl Iterator<Item = &'static str> {
        let has = [self.hidden, self.cleanup, self.enableable];
        Self::WORDS.into_iter().zip(has).filter_map(|(word, has)| has.then_some(word))
    }
}

//! What a term does to a component, and whether two terms can stand side by side.

use crate::component::same_name;

/// A component that a term names, and whether it writes it.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The component's name; none for `Entity`.
    name: Option<&'static str>,
    write: bool,
    /// Whether the query also matches what lacks the component.
    optional: bool,
}

impl Access {
    pub(crate) const NONE: Self = Self { name: None, write: false, optional: false };

    pub(crate) const fn new(name: &'static str, write: bool) -> Self {
        Self { name: Some(name), write, optional: false }
    }

    pub(crate) const fn optional(name: &'static str, write: bool) -> Self {
        Self { name: Some(name), write, optional: true }
    }

    /// Whether this term gives every match a cell of the component, to be written if so asked.
    const fn gives(&self, name: &str, write: bool) -> bool {
        match self.name {
            Some(own) => !self.optional && (self.write || !write) && same_name(own, name),
            None => false,
        }
    }

    pub(crate) const fn name(&self) -> Option<&'static str> {
        self.name
    }

    pub(crate) const fn writes(&self) -> bool {
        self.write
    }

    /// Two mentions of one component go together if both only read it.
    const fn conflicts(&self, other: &Self) -> bool {
        match (self.name, other.name) {
            (Some(a), Some(b)) => (self.write || other.write) && same_name(a, b),
            _ => false,
        }
    }
}

/// Whether any two of the terms conflict.
pub(crate) const fn any_conflict(terms: &[Access]) -> bool {
    let mut i = 0;
    while i < terms.len() {
        let mut j = i + 1;
        while j < terms.len() {
            if terms[i].conflicts(&terms[j]) {
                return true;
            }
            j += 1;
        }
        i += 1;
    }
    false
}

/// Whether one of the terms gives every match a cell of the component, to be written if so asked.
pub(crate) const fn any_gives(terms: &[Access], name: &str, write: bool) -> bool {
    let mut i = 0;
    while i < terms.len() {
        if terms[i].gives(name, write) {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether any of the terms writes.
pub(crate) const fn any_write(terms: &[Access]) -> bool {
    let mut i = 0;
    while i < terms.len() {
        if terms[i].write {
            return true;
        }
        i += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_term_that_every_match_has_gives_a_component() {
        let (read, write) = (Access::new("a", false), Access::new("a", true));
        let maybe = Access::optional("a", true);
        assert!(any_gives(&[Access::NONE, read], "a", false), "a read, to be read");
        assert!(any_gives(&[write], "a", false) && any_gives(&[write], "a", true), "a write");
        assert!(!any_gives(&[read], "a", true), "a read, to be written");
        assert!(!any_gives(&[maybe, Access::NONE], "a", false), "some lack it");
        assert!(!any_gives(&[read, write], "b", false), "another component");
    }

    #[test]
    fn a_write_conflicts_with_every_mention_of_its_component() {
        let [read, write, other, none] =
            [Access::new("a", false), Access::new("a", true), Access::new("b", true), Access::NONE];
        assert!(!any_conflict(&[read, read]), "two reads");
        assert!(any_conflict(&[read, write]), "read and write");
        assert!(any_conflict(&[write, read]), "write and read");
        assert!(any_conflict(&[write, write]), "two writes");
        assert!(any_conflict(&[other, none, read, write]), "far apart");
        assert!(!any_conflict(&[write, other, none, none]), "different components");
    }
}

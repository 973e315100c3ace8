//! How a term accesses a component, and whether two terms conflict.

use core::any::TypeId;

use crate::component::{Component, same_name};

/// A component that a term names, and whether it writes it.
///
/// Constants compare components by name, since they cannot compare types. Code that runs compares
/// types.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The component; none for `Entity`.
    component: Option<(&'static str, TypeId)>,
    write: bool,
    /// Whether the query also matches archetypes that lack the component.
    optional: bool,
}

impl Access {
    pub(crate) const NONE: Self = Self { component: None, write: false, optional: false };

    pub(crate) const fn new<C: Component>(write: bool) -> Self {
        Self { component: Some((C::NAME, TypeId::of::<C>())), write, optional: false }
    }

    pub(crate) const fn optional<C: Component>(write: bool) -> Self {
        Self { component: Some((C::NAME, TypeId::of::<C>())), write, optional: true }
    }

    /// Whether every match has a cell of the component through this term, writable if `write`.
    const fn gives(&self, name: &str, write: bool) -> bool {
        match self.name() {
            Some(own) => !self.optional && (self.write || !write) && same_name(own, name),
            None => false,
        }
    }

    pub(crate) const fn name(&self) -> Option<&'static str> {
        match self.component {
            Some((name, _)) => Some(name),
            None => None,
        }
    }

    /// Whether this is a term of `C`, and not of another type of the same name.
    pub(crate) fn is_of<C: Component>(&self) -> bool {
        self.component.is_some_and(|(_, id)| id == TypeId::of::<C>())
    }

    pub(crate) const fn writes(&self) -> bool {
        self.write
    }

    /// Two terms of one component conflict unless both only read it.
    const fn conflicts(&self, other: &Self) -> bool {
        match (self.name(), other.name()) {
            (Some(a), Some(b)) => (self.write || other.write) && same_name(a, b),
            _ => false,
        }
    }
}

/// The name of a component in which two of the terms conflict.
pub(crate) const fn conflict(terms: &[Access]) -> Option<&'static str> {
    let mut i = 0;
    while i < terms.len() {
        let mut j = i + 1;
        while j < terms.len() {
            if terms[i].conflicts(&terms[j]) {
                return terms[i].name();
            }
            j += 1;
        }
        i += 1;
    }
    None
}

/// Whether every match has a cell of the component through one of the terms, writable if `write`.
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
    use bytemuck::{Pod, Zeroable};

    use super::*;

    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct A(u32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct B(u32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct OtherA(u32);
    crate::component!(A as "a", B as "b", OtherA as "a");

    const READ: Access = Access::new::<A>(false);
    const WRITE: Access = Access::new::<A>(true);

    #[test]
    fn only_a_term_that_every_match_has_gives_a_component() {
        let maybe = Access::optional::<A>(true);
        assert!(any_gives(&[Access::NONE, READ], "a", false), "a read, to be read");
        assert!(any_gives(&[WRITE], "a", false) && any_gives(&[WRITE], "a", true), "a write");
        assert!(!any_gives(&[READ], "a", true), "a read, to be written");
        assert!(!any_gives(&[maybe, Access::NONE], "a", false), "some lack it");
        assert!(!any_gives(&[READ, WRITE], "b", false), "another component");
    }

    #[test]
    fn a_write_conflicts_with_every_mention_of_its_component() {
        let [other, none] = [Access::new::<B>(true), Access::NONE];
        assert_eq!(conflict(&[READ, READ]), None, "two reads");
        assert_eq!(conflict(&[READ, WRITE]), Some("a"), "read and write");
        assert_eq!(conflict(&[WRITE, READ]), Some("a"), "write and read");
        assert_eq!(conflict(&[WRITE, WRITE]), Some("a"), "two writes");
        assert_eq!(conflict(&[other, none, READ, WRITE]), Some("a"), "far apart");
        assert_eq!(conflict(&[WRITE, other, none, none]), None, "different components");
    }

    #[test]
    fn a_term_is_of_its_type_and_not_of_another_of_the_same_name() {
        assert!(READ.is_of::<A>() && !READ.is_of::<OtherA>() && !READ.is_of::<B>());
        assert!(!Access::NONE.is_of::<A>(), "an `Entity` is of none");
    }
}

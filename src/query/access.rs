//! The accesses of a term to a component, and conflicts between two terms.

use core::any::TypeId;

use crate::component::{Component, same_name};

/// A component that a term names, and whether it writes it.
///
/// Constants compare components by name, since they cannot compare types. Code that runs compares
/// types.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The component; none for `Entity` and `Shared`.
    component: Option<(&'static str, TypeId)>,
    write: bool,
    /// Whether the query also matches archetypes that lack the component.
    optional: bool,
    /// Whether the component is enableable.
    enableable: bool,
    /// Whether the term takes data beside the column, and not the column itself.
    beside: bool,
    /// Whether it hands out one value for all rows of a chunk, to be written.
    writes_chunk: bool,
    /// Whether the term stamps the lines that it writes.
    by_lines: bool,
    /// Whether the component tracks lines.
    tracks_lines: bool,
    /// Whether the row is `None` if the component is disabled in it.
    enabled_rows: bool,
}

impl Access {
    pub(crate) const NONE: Self = Self {
        component: None,
        write: false,
        optional: false,
        enableable: false,
        beside: false,
        writes_chunk: false,
        by_lines: false,
        tracks_lines: false,
        enabled_rows: false,
    };

    pub(crate) const fn new<C: Component>(write: bool) -> Self {
        let component = Some((C::NAME, TypeId::of::<C>()));
        let (enableable, tracks_lines) = (C::ENABLEABLE, C::TRACKS_LINES);
        Self { component, write, enableable, tracks_lines, ..Self::NONE }
    }

    pub(crate) const fn optional<C: Component>(write: bool) -> Self {
        Self { optional: true, ..Self::new::<C>(write) }
    }

    /// This optional access, restricted to enabled rows.
    pub(super) const fn of_enabled_rows(self) -> Self {
        Self { enabled_rows: true, ..self }
    }

    /// An access to the enable bits of `C`.
    pub(crate) const fn bits<C: Component>(write: bool) -> Self {
        Self { beside: true, ..Self::new::<C>(write) }
    }

    /// An access to the values of chunks whose component is `C`.
    pub(crate) const fn per_chunk<C: Component>(write: bool) -> Self {
        Self { beside: true, writes_chunk: write, ..Self::new::<C>(write) }
    }

    /// An access to the values of `C`, written line by line.
    pub(crate) const fn by_lines<C: Component>() -> Self {
        Self { by_lines: true, ..Self::new::<C>(true) }
    }

    /// An access to a value that entities share, which no query writes.
    pub(crate) const SHARED: Self = Self { beside: true, ..Self::NONE };

    /// Whether the term is of the ids of entities.
    pub(crate) const fn is_entities(&self) -> bool {
        self.component.is_none() && !self.beside
    }

    /// Whether rows are seen only where the component is enabled.
    const fn chooses_rows(&self) -> bool {
        self.enableable && !self.optional && !self.beside
    }

    /// Whether every match has a cell of the component through this term, writable if `write`.
    const fn gives(&self, name: &str, write: bool) -> bool {
        match self.name() {
            Some(own) => {
                !self.optional && !self.beside && (self.write || !write) && same_name(own, name)
            }
            None => false,
        }
    }

    pub(crate) const fn name(&self) -> Option<&'static str> {
        match self.component {
            Some((name, _)) => Some(name),
            None => None,
        }
    }

    /// Whether this is a term of the values of `C`, and not of another type of the same name.
    pub(crate) fn is_of<C: Component>(&self) -> bool {
        !self.beside && self.component.is_some_and(|(_, id)| id == TypeId::of::<C>())
    }

    /// Whether both are of one component type.
    pub(crate) fn is_of_same(&self, other: &Self) -> bool {
        match (self.component, other.component) {
            (Some((_, a)), Some((_, b))) => a == b,
            _ => false,
        }
    }

    pub(crate) const fn writes(&self) -> bool {
        self.write
    }

    /// Two terms of one component conflict unless both only read it, or one accesses its values and
    /// the other the data beside them.
    const fn conflicts(&self, other: &Self) -> bool {
        match (self.name(), other.name()) {
            (Some(a), Some(b)) => {
                (self.write || other.write) && self.beside == other.beside && same_name(a, b)
            }
            _ => false,
        }
    }
}

/// Access number `n` of the terms. Each term is a list of accesses.
const fn nth(terms: &[&[Access]], mut n: usize) -> Option<Access> {
    let mut i = 0;
    while i < terms.len() {
        if n < terms[i].len() {
            return Some(terms[i][n]);
        }
        n -= terms[i].len();
        i += 1;
    }
    None
}

/// The name of a component with conflicting accesses, in one term or in two.
pub(crate) const fn conflict(terms: &[&[Access]]) -> Option<&'static str> {
    let mut i = 0;
    while let Some(one) = nth(terms, i) {
        let mut j = i + 1;
        while let Some(other) = nth(terms, j) {
            if one.conflicts(&other) {
                return one.name();
            }
            j += 1;
        }
        i += 1;
    }
    None
}

/// Whether every match has a cell of the component through one of the terms, writable if `write`.
pub(crate) const fn any_gives(terms: &[&[Access]], name: &str, write: bool) -> bool {
    let mut i = 0;
    while let Some(access) = nth(terms, i) {
        if access.gives(name, write) {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether any of the terms writes.
pub(crate) const fn any_write(terms: &[&[Access]]) -> bool {
    let mut i = 0;
    while let Some(access) = nth(terms, i) {
        if access.write {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether any of the terms chooses rows by enable bits.
pub(crate) const fn any_chooses_rows(terms: &[&[Access]]) -> bool {
    let mut i = 0;
    while let Some(access) = nth(terms, i) {
        if access.chooses_rows() {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether any of the terms takes data beside its column.
pub(crate) const fn any_beside(terms: &[&[Access]]) -> bool {
    let mut i = 0;
    while let Some(access) = nth(terms, i) {
        if access.beside || access.by_lines || access.enabled_rows {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether any of the terms writes a component that tracks lines.
pub(crate) const fn any_tracks_lines(terms: &[&[Access]]) -> bool {
    let mut i = 0;
    while let Some(access) = nth(terms, i) {
        if access.write && access.tracks_lines {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether any of the terms switches enable bits.
pub(crate) const fn any_switches(terms: &[&[Access]]) -> bool {
    let mut i = 0;
    while let Some(access) = nth(terms, i) {
        if access.write && access.enableable && access.beside {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether any of the terms hands out one value for all rows of a chunk, to be written.
pub(crate) const fn any_writes_chunks(terms: &[&[Access]]) -> bool {
    let mut i = 0;
    while let Some(access) = nth(terms, i) {
        if access.writes_chunk {
            return true;
        }
        i += 1;
    }
    false
}

/// The number of columns of the terms.
pub(crate) const fn columns(terms: &[&[Access]]) -> usize {
    let (mut columns, mut i) = (0, 0);
    while let Some(access) = nth(terms, i) {
        columns += access.component.is_some() as usize;
        i += 1;
    }
    columns
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
    crate::impl_component!(A as "a", B as "b", OtherA as "a");

    const READ: Access = Access::new::<A>(false);
    const WRITE: Access = Access::new::<A>(true);

    #[test]
    fn only_a_term_that_every_match_has_gives_a_component() {
        let maybe = Access::optional::<A>(true);
        assert!(any_gives(&[&[Access::NONE], &[READ]], "a", false), "a read, to be read");
        assert!(any_gives(&[&[WRITE]], "a", false) && any_gives(&[&[WRITE]], "a", true), "a write");
        assert!(!any_gives(&[&[READ]], "a", true), "a read, to be written");
        assert!(!any_gives(&[&[maybe], &[Access::NONE]], "a", false), "some lack it");
        assert!(!any_gives(&[&[READ], &[WRITE]], "b", false), "another component");
    }

    #[test]
    fn a_write_conflicts_with_every_mention_of_its_component() {
        let [other, none] = [Access::new::<B>(true), Access::NONE];
        assert_eq!(conflict(&[&[READ], &[READ]]), None, "two reads");
        assert_eq!(conflict(&[&[READ], &[WRITE]]), Some("a"), "read and write");
        assert_eq!(conflict(&[&[WRITE], &[READ]]), Some("a"), "write and read");
        assert_eq!(conflict(&[&[WRITE], &[WRITE]]), Some("a"), "two writes");
        assert_eq!(conflict(&[&[other], &[none], &[READ], &[WRITE]]), Some("a"), "far apart");
        assert_eq!(conflict(&[&[WRITE], &[other], &[none], &[none]]), None, "different components");
        assert_eq!(conflict(&[&[other, READ], &[none, WRITE]]), Some("a"), "terms of two columns");
        assert_eq!(conflict(&[&[READ, WRITE]]), Some("a"), "one term, twice");
    }

    #[test]
    fn a_term_is_of_its_type_and_not_of_another_of_the_same_name() {
        assert!(READ.is_of::<A>() && !READ.is_of::<OtherA>() && !READ.is_of::<B>());
        assert!(!Access::NONE.is_of::<A>(), "an `Entity` is of none");
    }
}

//! The accesses of a term to a component, and conflicts between two terms.

use core::any::TypeId;

use crate::component::{Component, SparseComponent, same_name};

/// The use that a term makes of a component, as a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AccessFlags(u16);

impl AccessFlags {
    pub(crate) const READ: Self = Self(0);
    pub(crate) const WRITE: Self = Self(1);
    /// The query also matches archetypes that lack the component.
    pub(crate) const OPTIONAL: Self = Self(1 << 1);
    /// The term takes data beside the column, and not the column itself.
    pub(crate) const BESIDE: Self = Self(1 << 2);
    /// It hands out one value for all rows of a chunk, to be written.
    pub(crate) const WRITES_CHUNKS: Self = Self(1 << 3);
    /// It stamps the lines that it writes.
    pub(crate) const BY_LINES: Self = Self(1 << 4);
    /// The row is `None` if the component is disabled in it.
    pub(crate) const ENABLED_ROWS: Self = Self(1 << 5);
    /// It shows only rows in which its component is enabled.
    pub(crate) const CHOOSES_ROWS: Self = Self(1 << 6);
    /// It writes a component that tracks lines.
    pub(crate) const STAMPS_LINES: Self = Self(1 << 7);
    /// It switches enable bits.
    pub(crate) const SWITCHES: Self = Self(1 << 8);
    /// Its component is sparse, and in no column.
    const SPARSE: Self = Self(1 << 9);
    /// It shows only rows that have its sparse component.
    pub(crate) const CHOOSES_MEMBERS: Self = Self(1 << 10);
    /// It reads which rows have its sparse component.
    pub(crate) const READS_MEMBERS: Self = Self(1 << 11);

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// A component that a term names, and the use that it makes of it.
///
/// Constants compare components by name, since they cannot compare types. Code that runs compares
/// types.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The component; none for `Entity` and `Shared`.
    component: Option<(&'static str, TypeId)>,
    flags: AccessFlags,
}

impl Access {
    /// An access to the ids of entities.
    pub(crate) const NONE: Self = Self { component: None, flags: AccessFlags::READ };

    /// An access to a value that entities share, which no query writes.
    pub(crate) const SHARED: Self = Self { component: None, flags: AccessFlags::BESIDE };

    /// An access to `C`. The flags that follow from the component are added.
    pub(crate) const fn new<C: Component>(mut flags: AccessFlags) -> Self {
        let is_whole = !flags.has_any(AccessFlags::OPTIONAL.and(AccessFlags::BESIDE));
        if C::ENABLEABLE && is_whole {
            flags = flags.and(AccessFlags::CHOOSES_ROWS);
        }
        if C::ENABLEABLE && flags.has_any(AccessFlags::WRITE) && flags.has_any(AccessFlags::BESIDE)
        {
            flags = flags.and(AccessFlags::SWITCHES);
        }
        if C::TRACKS_LINES && flags.has_any(AccessFlags::WRITE) {
            flags = flags.and(AccessFlags::STAMPS_LINES);
        }
        Self { component: Some((C::NAME, TypeId::of::<C>())), flags }
    }

    /// An access to the set of a sparse component.
    pub(super) const fn sparse<S: SparseComponent>(mut flags: AccessFlags) -> Self {
        flags = flags.and(AccessFlags::SPARSE).and(AccessFlags::READS_MEMBERS);
        if !flags.has_any(AccessFlags::OPTIONAL) {
            flags = flags.and(AccessFlags::CHOOSES_MEMBERS);
        }
        Self { component: Some((S::NAME, TypeId::of::<S>())), flags }
    }

    /// This optional access, restricted to enabled rows.
    pub(super) const fn of_enabled_rows(self) -> Self {
        Self { flags: self.flags.and(AccessFlags::ENABLED_ROWS), ..self }
    }

    const fn is_beside(&self) -> bool {
        self.flags.has_any(AccessFlags::BESIDE)
    }

    /// Whether the term is of the ids of entities.
    pub(crate) const fn is_entities(&self) -> bool {
        self.component.is_none() && !self.is_beside()
    }

    /// Whether every match has a cell of the component through this term, writable if `needed` is
    /// to write.
    const fn gives(&self, name: &str, needed: AccessFlags) -> bool {
        let others = AccessFlags::OPTIONAL.and(AccessFlags::BESIDE).and(AccessFlags::SPARSE);
        let is_whole = !self.flags.has_any(others);
        match self.name() {
            Some(own) => {
                is_whole
                    && (self.writes() || !needed.has_any(AccessFlags::WRITE))
                    && same_name(own, name)
            }
            None => false,
        }
    }

    /// Whether the term takes a column for this access.
    pub(super) const fn is_of_column(&self) -> bool {
        self.component.is_some() && !self.flags.has_any(AccessFlags::SPARSE)
    }

    pub(crate) const fn name(&self) -> Option<&'static str> {
        match self.component {
            Some((name, _)) => Some(name),
            None => None,
        }
    }

    /// Whether this is a term of the values of `C`, and not of another type of the same name.
    pub(crate) fn is_of<C: Component>(&self) -> bool {
        !self.is_beside() && self.component.is_some_and(|(_, id)| id == TypeId::of::<C>())
    }

    /// Whether both are of one component type.
    pub(crate) fn is_of_same(&self, other: &Self) -> bool {
        match (self.component, other.component) {
            (Some((_, a)), Some((_, b))) => a == b,
            _ => false,
        }
    }

    pub(crate) const fn writes(&self) -> bool {
        self.flags.has_any(AccessFlags::WRITE)
    }

    /// Two terms of one component conflict unless both only read it, or one accesses its values and
    /// the other the data beside them.
    const fn conflicts(&self, other: &Self) -> bool {
        match (self.name(), other.name()) {
            (Some(a), Some(b)) => {
                (self.writes() || other.writes())
                    && self.is_beside() == other.is_beside()
                    && same_name(a, b)
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

/// Whether every match has a cell of the component through one of the terms, writable if `needed`
/// is to write.
pub(crate) const fn any_gives(terms: &[&[Access]], name: &str, needed: AccessFlags) -> bool {
    let mut i = 0;
    while let Some(access) = nth(terms, i) {
        if access.gives(name, needed) {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether any of the terms has one of the flags.
pub(crate) const fn any(terms: &[&[Access]], flags: AccessFlags) -> bool {
    let mut i = 0;
    while let Some(access) = nth(terms, i) {
        if access.flags.has_any(flags) {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether any of the terms takes data of a chunk that differ between chunks which follow each
/// other in memory.
pub(crate) const fn is_of_chunk(terms: &[&[Access]]) -> bool {
    let mut i = 0;
    while let Some(access) = nth(terms, i) {
        let beside = AccessFlags::BESIDE.and(AccessFlags::BY_LINES).and(AccessFlags::ENABLED_ROWS);
        // Values of a set are found by entity, but the bits of a chunk tell which rows have any.
        let is_sparse = access.flags.has_any(AccessFlags::SPARSE);
        let asks = is_sparse && access.flags.has_any(AccessFlags::OPTIONAL);
        if asks || access.flags.has_any(beside) {
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
        columns += access.is_of_column() as usize;
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

    const READS: AccessFlags = AccessFlags::READ;
    const WRITES: AccessFlags = AccessFlags::WRITE;
    const READ: Access = Access::new::<A>(READS);
    const WRITE: Access = Access::new::<A>(WRITES);

    #[test]
    fn only_a_term_that_every_match_has_gives_a_component() {
        let maybe = Access::new::<A>(WRITES.and(AccessFlags::OPTIONAL));
        assert!(any_gives(&[&[Access::NONE], &[READ]], "a", READS), "a read, to be read");
        assert!(
            any_gives(&[&[WRITE]], "a", READS) && any_gives(&[&[WRITE]], "a", WRITES),
            "a write"
        );
        assert!(!any_gives(&[&[READ]], "a", WRITES), "a read, to be written");
        assert!(!any_gives(&[&[maybe], &[Access::NONE]], "a", READS), "some lack it");
        assert!(!any_gives(&[&[READ], &[WRITE]], "b", READS), "another component");
    }

    #[test]
    fn a_write_conflicts_with_every_mention_of_its_component() {
        let [other, none] = [Access::new::<B>(WRITES), Access::NONE];
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

//! A sparse set without its type, for reading.

use core::any::TypeId;
use core::fmt;

use crate::entity::Entity;

use super::erased_set::ErasedSet;
use super::saved_set::SavedSet;
use super::set_arrays::SetArrays;
use super::set_shape::SetShape;

/// A sparse set of any type.
#[derive(Clone, Copy)]
pub(crate) struct SetView<'a> {
    set: &'a dyn ErasedSet,
    /// The type, and its number in the world.
    of: (TypeId, u16),
}

impl<'a> SetView<'a> {
    pub(super) const fn new(set: &'a dyn ErasedSet, of: (TypeId, u16)) -> Self {
        Self { set, of }
    }

    /// The name of the component.
    pub(crate) fn name(self) -> &'static str {
        self.set.name()
    }

    /// A key that no other set of a world has, and a version that the set had at no other time
    /// with other values.
    pub(crate) fn identity(self) -> (u64, u64) {
        (self.set.key(), self.set.version())
    }

    /// Whether both have the same contents: one is an unchanged copy of the other, or both are
    /// unchanged copies of a third set.
    pub(crate) fn is_same(self, other: Self) -> bool {
        self.of.0 == other.of.0 && self.set.version() == other.set.version()
    }

    /// Whether values outlive the despawn of their entities.
    pub(crate) fn is_cleanup(self) -> bool {
        self.set.is_cleanup()
    }

    /// Whether it is the set of a relation.
    pub(crate) fn is_relation(self) -> bool {
        self.set.on_delete().is_some()
    }

    /// The targets of a source, if it is the set of a relation.
    pub(crate) fn targets(self, source: Entity) -> Vec<Entity> {
        let mut targets = Vec::new();
        self.set.extend_targets(source, &mut targets);
        targets
    }

    /// The sources of a target, if it is the set of a relation.
    pub(crate) fn sources(self, target: Entity) -> Vec<Entity> {
        let mut sources = Vec::new();
        self.set.extend_sources(target, &mut sources);
        sources
    }

    /// Whether it is the set of an ordered relation.
    pub(crate) fn is_ordered(self) -> bool {
        self.set.is_ordered()
    }

    /// The form of its values as bytes, if they have one.
    pub(crate) fn shape(self) -> Option<SetShape> {
        self.set.shape()
    }

    /// The lengths of the arrays: values, pairs (0 unless it is a relation to many), targets (0
    /// unless it is a relation).
    pub(crate) fn lens(self) -> [usize; 3] {
        self.set.lens()
    }

    /// Passes the arrays of the set to a function.
    pub(crate) fn with_arrays<R>(self, read: impl FnOnce(SetArrays<'_>) -> R) -> R {
        let (mut read, mut found) = (Some(read), None);
        self.set.pass_arrays(&mut |arrays| found = read.take().map(|read| read(arrays)));
        found.expect("the arrays are passed once")
    }

    /// A set of this type with these arrays. All its entities may have values.
    ///
    /// # Errors
    ///
    /// The defect, if no set has such arrays.
    pub(crate) fn read(self, arrays: SetArrays<'_>) -> Result<SavedSet, &'static str> {
        Ok(SavedSet { of: self.of, set: Some(self.set.of_arrays(arrays)?) })
    }

    /// The same set as in the older state.
    pub(crate) fn unchanged(self) -> SavedSet {
        SavedSet { of: self.of, set: None }
    }
}

impl fmt::Debug for SetView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SetView").field(&self.set.info()).finish()
    }
}

//! The names of the sparse components of a world, and their numbers.
//!
//! A sparse component is in no column, so it has no id of those of columns. Its name is unique
//! among all components of the world like any other. Its number, in the order of the names, is the
//! key of the bits by which queries choose rows.

use core::any::TypeId;

use rustc_hash::FxHashMap;

use super::component_info::ComponentInfo;

/// The name of a sparse component type.
#[derive(Clone, Copy, Debug)]
pub(super) struct SparseName {
    pub(super) type_id: TypeId,
    pub(super) path: &'static str,
    pub(super) number: u16,
    pub(super) is_cleanup: bool,
    /// The value of a pair, if it is a relation.
    pub(super) pair: Option<ComponentInfo>,
}

/// The names of the sparse component types of a world.
#[derive(Debug, Default)]
pub(super) struct SparseNames(pub(super) FxHashMap<&'static str, SparseName>);

impl SparseNames {
    /// Adds the name of a type, with the next number in place of its own, unless the name has one.
    ///
    /// # Panics
    ///
    /// If there are 65,536 names.
    pub(super) fn add(&mut self, name: &'static str, one: SparseName) {
        let next = self.0.len();
        self.0.entry(name).or_insert_with(|| {
            let number = u16::try_from(next);
            let number = number.expect("a world has at most 65,536 types of sparse components");
            SparseName { number, ..one }
        });
    }
}

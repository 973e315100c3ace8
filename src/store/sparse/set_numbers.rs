//! The positions of the sparse sets by the types of their values.

use core::any::TypeId;

use rustc_hash::FxHashMap;

use crate::component::SparseComponent;

/// The positions of the sparse sets.
#[derive(Debug, Default)]
pub(in crate::store) struct SetNumbers {
    /// The type of each set, and its number in the world, by which the members are known.
    pub(in crate::store) types: Vec<(TypeId, u16)>,
    pub(super) by_type: FxHashMap<TypeId, usize>,
}

impl SetNumbers {
    /// The position of the set of `T`: the hint, if it is valid here.
    #[inline]
    pub(super) fn position<T: SparseComponent>(&self) -> Option<usize> {
        if let Some(hint) = T::hint() {
            let hinted = hint.get() as usize;
            if self.types.get(hinted).is_some_and(|of| of.0 == TypeId::of::<T>()) {
                return Some(hinted);
            }
        }
        self.find::<T>()
    }

    /// The position of the set of `T`, by hashing. Sets the hint.
    #[inline(never)]
    pub(super) fn find<T: SparseComponent>(&self) -> Option<usize> {
        let position = *self.by_type.get(&TypeId::of::<T>())?;
        if let (Some(hint), Ok(known)) = (T::hint(), u32::try_from(position)) {
            hint.set(known);
        }
        Some(position)
    }

    /// Adds the type of the next set.
    pub(super) fn push(&mut self, of: (TypeId, u16)) {
        self.by_type.insert(of.0, self.types.len());
        self.types.push(of);
    }
}

//! The sparse sets of a store that is borrowed exclusively, taken one by one.

use core::any::Any;
use core::fmt;

use crate::component::SparseComponent;
use crate::storage::SetBlocks;

use super::boxed_set::BoxedSet;
use super::set_numbers::SetNumbers;
use super::sparse_set::SparseSet;

/// The greatest number of sets of a query: twelve of terms, and one of a filter by change.
const SETS_MAX: usize = 12 + 1;

/// The sets of a store, which the terms of a query take: one term a set to write it, or any number
/// of terms to read it.
pub struct SetsMut<'w> {
    numbers: &'w SetNumbers,
    /// Runs of sets that no term has taken, with the position of the first set of each.
    free: [(usize, &'w mut [BoxedSet]); SETS_MAX + 1],
    free_len: usize,
    /// The sets that terms read, with their positions.
    read: [Option<(usize, &'w dyn Any)>; SETS_MAX],
}

impl<'w> SetsMut<'w> {
    pub(super) fn new(numbers: &'w SetNumbers, sets: &'w mut [BoxedSet]) -> Self {
        let mut free = core::array::from_fn(|_| (0, Default::default()));
        free[0] = (0, sets);
        Self { numbers, free, free_len: 1, read: [None; SETS_MAX] }
    }

    /// The set of `T` with its number in the world, to be written, if it exists.
    ///
    /// # Panics
    ///
    /// If a term has taken it.
    pub(super) fn take<T: SparseComponent>(&mut self) -> Option<(&'w mut SparseSet<T>, u16)> {
        let at = self.numbers.position::<T>()?;
        Some((self.take_at(at).get_mut().get_mut(), self.numbers.types[at].1))
    }

    /// The set of `T` with its number in the world, to be read, if it exists.
    ///
    /// # Panics
    ///
    /// If a term has taken it to write it.
    pub(super) fn share<T: SparseComponent>(&mut self) -> Option<(&'w SparseSet<T>, u16)> {
        let at = self.numbers.position::<T>()?;
        let known = self.read.iter().flatten().find(|&&(one, _)| one == at);
        let set = match known {
            Some(&(_, set)) => set,
            None => {
                let set: &'w dyn Any = self.take_at(at).as_values();
                let place = self.read.iter_mut().find(|place| place.is_none());
                *place.expect("a query has more sets than it may have") = Some((at, set));
                set
            }
        };
        let set = set.downcast_ref().expect("a sparse set is filed under another type");
        Some((set, self.numbers.types[at].1))
    }

    /// The versions of the set of `T`, if it exists.
    ///
    /// # Panics
    ///
    /// If a term has taken it to write it.
    pub(crate) fn share_blocks<T: SparseComponent>(&mut self) -> Option<&'w SetBlocks> {
        self.share::<T>().map(|(set, _)| set.blocks())
    }

    fn take_at(&mut self, at: usize) -> &'w mut BoxedSet {
        let mut free = self.free[..self.free_len].iter_mut();
        let run = free.find(|(start, sets)| *start <= at && at - *start < sets.len());
        let (start, sets) = run.expect("two terms take one sparse set, and one writes it");
        let (before, rest) = core::mem::take(sets).split_at_mut(at - *start);
        let (set, after) = rest.split_first_mut().expect("the run has the set");
        *sets = before;
        self.free[self.free_len] = (at + 1, after);
        self.free_len += 1;
        set
    }
}

impl fmt::Debug for SetsMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetsMut").field("taken", &(self.free_len - 1)).finish_non_exhaustive()
    }
}

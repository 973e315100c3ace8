//! The values of a sparse set for writing, each handed out once.
//!
//! A pass over rows meets the values of a set in any order, and its items live as long as the
//! borrow of the set. So each value may be borrowed once, which the rows of a pass ensure. This
//! file does not rely on it: each value has a *mark*, the number of the pass that has taken it.
//!
//! ```text
//!  values   a    b    c    d
//!  marks    3    0    3    2      pass 3 has taken `a` and `c`
//! ```
//!
//! A new pass has a greater number, so that no mark is reset. Marks are read and written by one
//! thread: an [`EachMut`] is not `Send`.

#![expect(unsafe_code, reason = "references to several values of one set, in any order")]

use core::cell::Cell;
use core::fmt;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::entity::Entity;
use crate::prefetch::prefetch;
use crate::storage::SetBlocks;
use crate::version::Version;

/// The marks of the values of a set. Without passes that write there are none.
#[derive(Debug, Default)]
pub(in crate::store) struct Marks {
    marks: Vec<AtomicU32>,
    /// The number of the last pass.
    pass: u32,
}

impl Marks {
    /// Begins a pass over `len` values. Amortised O(1) for each value that was added since.
    fn begin(&mut self, len: usize) {
        if self.marks.len() < len {
            self.marks.resize_with(len, AtomicU32::default);
        }
        self.pass = self.pass.checked_add(1).unwrap_or_else(|| {
            self.marks.iter_mut().for_each(|mark| *mark.get_mut() = 0);
            1
        });
    }

    /// The allocated memory.
    pub(super) const fn bytes(&self) -> usize {
        self.marks.capacity() * size_of::<AtomicU32>()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// The values of a set for one pass, to be written. All copies hand out each value once together.
pub(crate) struct EachMut<'w, T> {
    blocks: &'w SetBlocks,
    /// The entities of the values.
    entities: &'w [Entity],
    values: &'w [Cell<T>],
    marks: &'w [AtomicU32],
    pass: u32,
    /// The version of written values.
    now: Version,
}

impl<T> Clone for EachMut<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for EachMut<'_, T> {}

impl<'w, T> EachMut<'w, T> {
    pub(super) fn new(
        (blocks, now): (&'w SetBlocks, Version),
        entities: &'w [Entity],
        values: &'w mut [T],
        marks: &'w mut Marks,
    ) -> Self {
        marks.begin(values.len());
        let Marks { marks, pass } = marks;
        let values = Cell::from_mut(values).as_slice_of_cells();
        Self { blocks, entities, values, marks, pass: *pass, now }
    }

    /// The entities of the values.
    pub(super) const fn entities(self) -> &'w [Entity] {
        self.entities
    }

    /// The versions of the values' blocks.
    pub(super) const fn blocks(self) -> &'w SetBlocks {
        self.blocks
    }

    /// Asks for the memory of the value at a position, and of its mark.
    #[inline(always)]
    pub(super) fn prefetch(self, position: u32) {
        prefetch(self.values.as_ptr().wrapping_add(position as usize));
        prefetch(self.marks.as_ptr().wrapping_add(position as usize));
    }

    /// The value at a position, if there is one. Its block gets the version of the pass.
    ///
    /// # Panics
    ///
    /// If the pass has handed it out.
    #[inline]
    pub(super) fn at(self, position: u32) -> Option<&'w mut T> {
        let position = position as usize;
        let (value, mark) = (self.values.get(position)?, &self.marks[position]);
        assert!(mark.load(Ordering::Relaxed) != self.pass, "a pass meets an entity twice");
        mark.store(self.pass, Ordering::Relaxed);
        self.blocks.touch::<T>(position, self.now);
        // SAFETY: the cells are made of an exclusive borrow of the values for `'w`, and only copies
        // of this struct have them, which stay on one thread because `&Cell` is not `Send`. Each
        // marks a value before it hands it out, and marks have the number of this pass only if one
        // did, because `Marks::begin` gives a number that no mark has: this is the only reference
        // to the value.
        Some(unsafe { &mut *value.as_ptr() })
    }
}

impl<T> fmt::Debug for EachMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EachMut").field("values", &self.values.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sparse_set::SparseSet;
    use super::*;

    const NOW: Version = Version::from_bits(1);

    #[derive(Debug, PartialEq)]
    struct Number(u32);

    impl crate::component::SparseComponent for Number {
        const NAME: &'static str = "number";
        type Logged = ();
        fn logged(&self) {}
    }

    fn set() -> SparseSet<Number> {
        let mut set = SparseSet::default();
        for index in 0..5 {
            set.insert(Entity::new(10 * index, 1), Number(index), NOW);
        }
        set
    }

    #[test]
    fn all_values_are_borrowed_at_once() {
        let mut set = set();
        for pass in 1..3 {
            let each = set.each_mut(NOW);
            let values = [3, 0, 4, 1, 2].map(|position| each.at(position).expect("a value"));
            values.into_iter().for_each(|value| value.0 += 100);
            assert!(set.iter().all(|(entity, value)| value.0 == entity.index() / 10 + 100 * pass));
        }
        let each = set.each_mut(NOW);
        assert!(each.at(5).is_none() && each.at(u32::MAX).is_none());
    }

    #[test]
    #[should_panic(expected = "a pass meets an entity twice")]
    fn no_value_is_borrowed_twice() {
        let mut set = set();
        let each = set.each_mut(NOW);
        let (first, second) = (each.at(1), each.at(1));
        assert_eq!(first, second);
    }

    #[test]
    fn marks_are_reset_when_numbers_of_passes_run_out() {
        let mut marks = Marks { marks: Vec::new(), pass: u32::MAX - 1 };
        let mut blocks = SetBlocks::new::<i32>();
        blocks.add::<i32>(0, NOW);
        let mut values = [7];
        for pass in [u32::MAX, 1, 2] {
            let each = EachMut::new((&blocks, NOW), &[], &mut values, &mut marks);
            *each.at(0).expect("a value") += 1;
            assert_eq!(marks.pass, pass);
        }
        assert_eq!(values, [10]);
    }
}

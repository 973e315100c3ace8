//! The free stack of indices to use again, with stamps that tell which pages an image has.
//!
//! An image of the directory copies the stack, and an update of the image copies only changes. So
//! the stack is divided into pages, and each page has a *stamp*:
//!
//! ```text
//!   page          0           1           2
//!   entries   12 4 9 … │ 31 7 2 … │ 40 18          │
//!   stamp         3           8           9        ▲
//!                                               settled
//! ```
//!
//! Two pages with the same number and the same stamp have the same ids, in the stack and in any
//! image of it: a stamp is never used twice, not even after a restore. Changed pages are stamped
//! when the next image is taken ([`FreeStack::settle`]), so a change itself costs little: a push
//! costs nothing, and a pop compares the new height with `settled`, below which no entry was
//! removed since. The generation of a free index cannot change while it stays in its position.
//!
//! All changes are methods of this file, so that none is missed.

use core::ops::Range;
use std::collections::TryReserveError;

use super::Entity;
use super::far_slots::reserve_lean;
use super::slot::index_u32;
use crate::spare::shrink_unused;

/// Entries of a page: 1 KiB.
const PAGE: usize = 256;

/// The stamp of a page that no image has.
const NO_STAMP: u64 = 0;

/// The indices that are used again before fresh ones, the next one last.
#[derive(Clone, Debug, Default)]
pub(super) struct FreeStack {
    indices: Vec<u32>,
    /// Entries below this position were not removed since the last [`FreeStack::settle`], except in
    /// pages without a stamp.
    settled: usize,
    /// Stamps of the full pages below `settled`, and of the page around it if it ends at `settled`.
    stamps: Vec<u64>,
    /// The last stamp that was given.
    last_stamp: u64,
}

impl FreeStack {
    #[inline]
    pub(super) const fn as_slice(&self) -> &[u32] {
        self.indices.as_slice()
    }

    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.indices.len()
    }

    pub(super) const fn capacity_bytes(&self) -> usize {
        self.indices.capacity() * size_of::<u32>() + self.stamps.capacity() * size_of::<u64>()
    }

    #[inline]
    pub(super) fn reserve(&mut self, additional: usize) {
        self.indices.reserve(additional);
    }

    /// [`reserve_lean`].
    pub(super) fn reserve_lean(&mut self, additional: usize) {
        reserve_lean(&mut self.indices, additional);
    }

    pub(super) fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        self.indices.try_reserve(additional)
    }

    pub(super) fn shrink(&mut self) {
        shrink_unused(&mut self.indices);
        self.stamps.shrink_to_fit();
    }

    #[inline]
    pub(super) fn push(&mut self, index: u32) {
        self.indices.push(index);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<u32> {
        let index = self.indices.pop()?;
        if self.indices.len() < self.settled {
            self.unsettle(self.indices.len());
        }
        Some(index)
    }

    /// Takes the first `n` entries, the next one first.
    pub(super) fn take(&mut self, n: usize) -> impl Iterator<Item = u32> {
        let left = self.indices.len() - n;
        if left < self.settled {
            self.unsettle(left);
        }
        self.indices.drain(left..).rev()
    }

    /// Removes the entry at a position, and moves the top entry to it. Returns the moved entry.
    pub(super) fn swap_remove(&mut self, position: usize) -> Option<u32> {
        if let Some(stamp) = self.stamps.get_mut(position / PAGE) {
            *stamp = NO_STAMP;
        }
        self.indices.swap_remove(position);
        if self.indices.len() < self.settled {
            self.unsettle(self.indices.len());
        }
        self.indices.get(position).copied()
    }

    /// Removes the `n` entries that would be used last. The others get lower positions.
    pub(super) fn remove_last(&mut self, n: usize) {
        self.indices.drain(..n);
        self.forget_stamps();
    }

    pub(super) fn clear(&mut self) {
        self.indices.clear();
        self.forget_stamps();
    }

    /// Forgets all stamps, so that no page equals a page of an image.
    fn forget_stamps(&mut self) {
        self.settled = 0;
        self.stamps.clear();
    }

    /// Records a change of the page of the entry at `position`, and of all above it.
    #[cold]
    fn unsettle(&mut self, position: usize) {
        self.settled = position / PAGE * PAGE;
    }

    /// Stamps the pages that have changed since the last call. O(changed + pages).
    pub(super) fn settle(&mut self) {
        let len = self.indices.len();
        if len != self.settled {
            self.stamps.truncate(self.settled / PAGE);
        }
        self.stamps.resize(len.div_ceil(PAGE), NO_STAMP);
        let stamp = self.last_stamp + 1;
        for new in self.stamps.iter_mut().filter(|stamp| **stamp == NO_STAMP) {
            (*new, self.last_stamp) = (stamp, stamp);
        }
        self.settled = len;
    }

    /// Whether all pages have stamps.
    const fn is_settled(&self) -> bool {
        self.settled == self.indices.len() && self.stamps.len() == self.settled.div_ceil(PAGE)
    }

    /// Returns `true` if the pages below `settled` have stamps, and all stamps were given before.
    pub(super) fn is_sound(&self) -> bool {
        let are_given = self.stamps.iter().all(|&stamp| stamp <= self.last_stamp);
        are_given && self.settled <= self.len() && self.settled.div_ceil(PAGE) <= self.stamps.len()
    }

    /// Makes it the stack of an image, and passes to `place` each id that may have come to another
    /// position. The stack must be settled. O(changed + pages).
    pub(super) fn restore(&mut self, image: &FreeImage, mut place: impl FnMut(u32, Entity)) {
        debug_assert!(self.is_settled(), "pages have no stamps");
        for page in changed_pages(image.ids.len(), &image.stamps, &self.stamps) {
            for position in page {
                let id = image.ids[position];
                match self.indices.get_mut(position) {
                    Some(index) => *index = id.index(),
                    None => self.indices.push(id.index()),
                }
                place(index_u32(position), id);
            }
        }
        self.indices.truncate(image.ids.len());
        self.stamps.clone_from(&image.stamps);
        self.settled = self.indices.len();
    }
}

impl From<Vec<u32>> for FreeStack {
    fn from(indices: Vec<u32>) -> Self {
        Self { indices, ..Self::default() }
    }
}

/// The positions of pages, in a stack of this height, whose stamps differ from another stack or
/// image.
fn changed_pages<'s>(
    len: usize,
    stamps: &'s [u64],
    others: &'s [u64],
) -> impl Iterator<Item = Range<usize>> + 's {
    let pages = stamps.iter().enumerate();
    let changed =
        pages.filter(|&(page, &stamp)| stamp == NO_STAMP || others.get(page) != Some(&stamp));
    changed.map(move |(page, _)| page * PAGE..((page + 1) * PAGE).min(len))
}

/// The free stack in an image of a directory.
#[derive(Clone, Debug, Default)]
pub(super) struct FreeImage {
    ids: Vec<Entity>,
    /// By page.
    stamps: Vec<u64>,
}

impl FreeImage {
    /// The ids, the next one last.
    pub(super) fn ids(&self) -> &[Entity] {
        &self.ids
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.ids[..]) + size_of_val(&self.stamps[..])
    }

    /// Makes this the image of a stack that is settled. `id` is the id of a free index.
    /// O(changed + pages).
    pub(super) fn follow(&mut self, stack: &FreeStack, id: impl Fn(u32) -> Entity) {
        debug_assert!(stack.is_settled(), "pages have no stamps");
        // Exact: an image that grew twice as large as the stack would take twice the memory.
        self.ids.reserve_exact(stack.len().saturating_sub(self.ids.len()));
        for page in changed_pages(stack.len(), &stack.stamps, &self.stamps) {
            let known = page.end.min(self.ids.len());
            let (old, new) = stack.indices[page.clone()].split_at(known - page.start);
            let own = self.ids[page.start..known].iter_mut();
            own.zip(old).for_each(|(own, &index)| *own = id(index));
            self.ids.extend(new.iter().map(|&index| id(index)));
        }
        self.ids.truncate(stack.len());
        self.stamps.clone_from(&stack.stamps);
    }

    /// The positions at which a stack that is settled may have other ids. O(pages).
    pub(super) fn changed<'s>(
        &'s self,
        stack: &'s FreeStack,
    ) -> impl Iterator<Item = Range<usize>> + 's {
        debug_assert!(stack.is_settled(), "pages have no stamps");
        changed_pages(stack.len(), &stack.stamps, &self.stamps)
    }

    /// Makes it an image without a page in common with any stack, because its ids are from another
    /// world.
    pub(super) fn forget_stamps(&mut self) {
        self.stamps.fill(NO_STAMP);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Operation {
        Push(usize),
        Pop(usize),
        Take(usize),
        SwapRemove(usize),
        RemoveLast(usize),
        Clear,
        Save(usize),
        Restore(usize),
    }

    const IMAGES: usize = 3;

    fn operation() -> impl Strategy<Value = Operation> {
        use Operation::*;
        let n = || prop_oneof![3 => 1usize..4, 2 => 1..2 * PAGE, 1 => Just(PAGE)];
        prop_oneof![
            6 => n().prop_map(Push),
            4 => n().prop_map(Pop),
            1 => n().prop_map(Take),
            3 => any::<usize>().prop_map(SwapRemove),
            1 => (0usize..5).prop_map(RemoveLast),
            1 => Just(Clear),
            6 => (0..IMAGES).prop_map(Save),
            4 => (0..IMAGES).prop_map(Restore),
        ]
    }

    /// A stack, the naive form of it, and the slots of the indices that are in it.
    #[derive(Default)]
    struct Tested {
        stack: FreeStack,
        naive: Vec<Entity>,
        /// The position and the generation of each free index.
        slots: BTreeMap<u32, (u32, u32)>,
        /// The indices that are not free, with generations that no index had.
        others: Vec<Entity>,
        images: [(FreeImage, Vec<Entity>); IMAGES],
        indices: u32,
        generations: u32,
    }

    impl Tested {
        fn push(&mut self) {
            let id = self.others.pop().unwrap_or(Entity::new(self.indices, 1));
            self.indices = self.indices.max(id.index() + 1);
            self.slots.insert(id.index(), (index_u32(self.naive.len()), id.generation()));
            self.naive.push(id);
            self.stack.push(id.index());
        }

        /// An index is used, and will be free with another generation.
        fn took(&mut self, index: Option<u32>, id: Entity) {
            assert_eq!(index, Some(id.index()));
            self.slots.remove(&id.index());
            self.use_index(id.index());
        }

        fn use_index(&mut self, index: u32) {
            self.generations += 1;
            self.others.push(Entity::new(index, 1 + self.generations));
        }

        fn pop(&mut self) {
            let index = self.stack.pop();
            match self.naive.pop() {
                Some(id) => self.took(index, id),
                None => assert_eq!(index, None),
            }
        }

        fn apply(&mut self, operation: &Operation) {
            let len = self.naive.len();
            match *operation {
                Operation::Push(n) => (0..n).for_each(|_| self.push()),
                Operation::Pop(n) => (0..n).for_each(|_| self.pop()),
                Operation::Take(n) => {
                    let taken: Vec<_> = self.stack.take(n.min(len)).collect();
                    for index in taken {
                        let id = self.naive.pop().expect("the stack is not lower");
                        self.took(Some(index), id);
                    }
                }
                Operation::SwapRemove(_) if len == 0 => {}
                Operation::SwapRemove(at) => {
                    let (at, id) = (at % len, self.naive.swap_remove(at % len));
                    let index = self.stack.as_slice()[at];
                    let moved = self.stack.swap_remove(at);
                    self.took(Some(index), id);
                    assert_eq!(moved, self.naive.get(at).map(|id| id.index()));
                    self.place(at);
                }
                Operation::RemoveLast(n) => {
                    self.stack.remove_last(n.min(len));
                    let removed: Vec<_> = self.naive.drain(..n.min(len)).collect();
                    removed.into_iter().for_each(|id| self.took(Some(id.index()), id));
                    (0..self.naive.len()).for_each(|at| self.place(at));
                }
                Operation::Clear => {
                    self.stack.clear();
                    let all: Vec<_> = self.naive.drain(..).collect();
                    all.into_iter().for_each(|id| self.took(Some(id.index()), id));
                }
                Operation::Save(image) => self.save(image),
                Operation::Restore(image) => self.restore(image),
            }
        }

        fn place(&mut self, at: usize) {
            if let Some(id) = self.naive.get(at) {
                self.slots.insert(id.index(), (index_u32(at), id.generation()));
            }
        }

        fn save(&mut self, image: usize) {
            self.stack.settle();
            let (image, ids) = &mut self.images[image];
            let slots = &self.slots;
            image.follow(&self.stack, |index| Entity::new(index, slots[&index].1));
            assert_eq!(image.ids(), self.naive, "an id is missing in the image");
            assert_eq!(image.changed(&self.stack).count(), 0, "the image has this state");
            ids.clone_from(&self.naive);
        }

        fn restore(&mut self, image: usize) {
            self.stack.settle();
            let (image, ids) = &self.images[image];
            // All other indices are in use; their slots follow from rows.
            let free: BTreeMap<_, _> = ids.iter().map(|id| (id.index(), ())).collect();
            self.slots.retain(|index, _| free.contains_key(index));
            let slots = &mut self.slots;
            self.stack.restore(image, |position, id| {
                slots.insert(id.index(), (position, id.generation()));
            });
            self.naive.clone_from(ids);
            self.others.clear();
            let used = (0..self.indices).filter(|index| !free.contains_key(index));
            used.for_each(|index| self.use_index(index));
        }

        fn check(&self) {
            let indices = self.naive.iter().map(|id| id.index());
            assert!(self.stack.as_slice().iter().copied().eq(indices));
            let slots = (0..).zip(&self.naive).map(|(at, id)| (id.index(), (at, id.generation())));
            assert_eq!(self.slots, slots.collect(), "a slot has another place");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 512 }, failure_persistence: None, ..Default::default() })]

        #[test]
        fn images_of_any_states_are_those_states(
            operations in prop::collection::vec(operation(), 0..if cfg!(miri) { 10 } else { 80 }),
        ) {
            let mut tested = Tested::default();
            for operation in &operations {
                tested.apply(operation);
                tested.check();
            }
        }
    }

    /// A stack of this height, and an image of it.
    fn tall(len: u32) -> (FreeStack, FreeImage) {
        let mut stack: FreeStack = (0..len).collect::<Vec<_>>().into();
        let mut image = FreeImage::default();
        stack.settle();
        image.follow(&stack, |index| Entity::new(index, 1));
        (stack, image)
    }

    /// How many ids are copied to an image, and back.
    fn copied(change: impl Fn(&mut FreeStack)) -> (usize, usize) {
        let (mut stack, image) = tall(100_000);
        change(&mut stack);
        stack.settle();
        let (mut to, mut back) = (image.clone(), 0);
        let saved = core::cell::Cell::new(0);
        to.follow(&stack, |index| {
            saved.set(saved.get() + 1);
            Entity::new(index, 1)
        });
        stack.restore(&image, |_, _| back += 1);
        assert_eq!(stack.as_slice(), (0..100_000).collect::<Vec<_>>());
        (saved.get(), back)
    }

    #[test]
    fn only_pages_that_changed_are_copied() {
        let top = 100_000 % PAGE;
        assert_eq!(copied(|_| ()), (0, 0));
        assert_eq!(copied(|stack| _ = stack.pop()), (top - 1, top));
        assert_eq!(copied(|stack| stack.push(100_000)), (top + 1, top));
        let replace_top = |stack: &mut FreeStack| {
            let index = stack.pop().expect("it is tall");
            stack.push(index);
        };
        assert_eq!(copied(replace_top), (top, top));
        // The page of the hole, and the page of the entry that fills it.
        assert_eq!(copied(|stack| _ = stack.swap_remove(777)), (PAGE + top - 1, PAGE + top));
        assert_eq!(copied(|stack| _ = stack.take(10 * PAGE).count()).0, top);
    }

    #[test]
    fn a_page_of_a_past_that_was_discarded_is_not_taken_for_a_later_one() {
        let (mut stack, first) = tall(300);
        stack.pop();
        stack.push(1_000);
        stack.settle();
        let mut second = first.clone();
        second.follow(&stack, |index| Entity::new(index, 1));
        stack.restore(&first, |_, _| ());
        stack.pop();
        stack.push(2_000);
        stack.settle();
        assert!(second.changed(&stack).eq(core::iter::once(256..300)));
        stack.restore(&second, |_, _| ());
        assert_eq!(stack.as_slice().last(), Some(&1_000));
    }

    #[test]
    fn pages_of_another_world_are_those_of_no_image() {
        let (mut stack, mut image) = tall(1_000);
        image.forget_stamps();
        let (mut placed, mut again) = (0, 0);
        stack.restore(&image, |_, _| placed += 1);
        stack.settle();
        stack.restore(&image, |_, _| again += 1);
        assert_eq!((placed, again), (1_000, 1_000));
        stack.settle();
        image.follow(&stack, |index| Entity::new(index, 1));
        assert_eq!(image.changed(&stack).count(), 0);
    }
}

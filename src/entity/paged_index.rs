//! A paged index: a number for some entities, found by the index of their ids.
//!
//! ```text
//!  index of an id   bits 31..18   bits 17..10   bits 9..0
//!                       │             │             │
//!                     root ──────► branch ──────► page ────► number
//!                  up to 16,384      256          1,024 numbers, 4 KiB
//! ```
//!
//! A look-up is three loads without a hash, and the first two of them are hot. A page is made when
//! an index in it gets a number. A page that has lost its numbers stays in its place: where numbers
//! come and go, each turn would make and free the same pages. It goes to the place of the next page
//! that is made, and is freed when the index shrinks. So memory is that of the most pages with
//! numbers at a time: one index costs a page of 4 KiB and a branch of 2.8 KiB, and one near
//! 4,294,967,295 a root of 128 KiB as well.
//!
//! Generations are not compared: the owner of the numbers has the ids as well.

use std::collections::HashSet;

use super::index_place::{IndexPlace, NONE};

/// Bits of an index that choose a number in its page.
pub(super) const PAGE_BITS: u32 = 10;
/// Bits of an index that choose a page in its branch.
const BRANCH_BITS: u32 = 8;
/// Numbers of a page.
const PAGE_LEN: usize = 1 << PAGE_BITS;
/// Pages of a branch.
const BRANCH_LEN: usize = 1 << BRANCH_BITS;

pub(super) type Page = [u32; PAGE_LEN];

/// Adjacent pages.
#[derive(Debug)]
struct Branch {
    pages: [Option<Box<Page>>; BRANCH_LEN],
    /// The number of indices with a number, of each page.
    used: [u16; BRANCH_LEN],
    /// Whether a page is among the [`PagedIndex::spare`] ones.
    is_spare: [bool; BRANCH_LEN],
    /// The number of pages.
    len: usize,
}

impl Branch {
    fn new() -> Box<Self> {
        Box::new(Self {
            pages: [const { None }; BRANCH_LEN],
            used: [0; BRANCH_LEN],
            is_spare: [false; BRANCH_LEN],
            len: 0,
        })
    }
}

impl Clone for Branch {
    fn clone(&self) -> Self {
        Self { pages: self.pages.clone(), ..*self }
    }

    /// Uses the pages that it has.
    fn clone_from(&mut self, source: &Self) {
        self.pages.clone_from(&source.pages);
        (self.used, self.is_spare, self.len) = (source.used, source.is_spare, source.len);
    }
}

/// The parts of an index: the places of its branch, of its page and of its number.
#[inline]
const fn split(index: u32) -> (usize, usize, usize) {
    let (branch, page) = split_page(index >> PAGE_BITS);
    (branch, page, index as usize & (PAGE_LEN - 1))
}

/// The places of the branch of a page, and of the page in it.
#[inline]
const fn split_page(page: u32) -> (usize, usize) {
    let page = page as usize;
    (page >> BRANCH_BITS, page & (BRANCH_LEN - 1))
}

/// A number for some indices. Each number is less than `u32::MAX`.
#[derive(Debug, Default)]
pub(crate) struct PagedIndex {
    /// Not shorter before it shrinks: a lone number far away would pay for the root at each turn.
    root: Vec<Option<Box<Branch>>>,
    /// All pages without numbers, and pages that have numbers again since they were listed.
    spare: Vec<u32>,
}

impl Clone for PagedIndex {
    fn clone(&self) -> Self {
        let mut copy = Self { root: self.root.clone(), spare: self.spare.clone() };
        copy.free_spare();
        copy
    }

    /// Uses the pages and branches that it has: snapshots of a set are taken again and again.
    fn clone_from(&mut self, source: &Self) {
        self.root.clone_from(&source.root);
        self.spare.clone_from(&source.spare);
    }
}

impl PagedIndex {
    /// The bytes of an index that has numbers for these: its pages and branches. O(indices).
    pub(crate) fn bytes_for(indices: impl Iterator<Item = u32>) -> u64 {
        let (mut pages, mut last) = (HashSet::new(), None);
        for page in indices.map(|index| index >> PAGE_BITS) {
            // Neighbours are mostly in one page.
            if last.replace(page) != Some(page) {
                pages.insert(page);
            }
        }
        let branches: HashSet<_> = pages.iter().map(|page| page >> BRANCH_BITS).collect();
        (pages.len() * size_of::<Page>() + branches.len() * size_of::<Branch>()) as u64
    }

    /// The number of an index.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<u32> {
        let (branch, page, place) = split(index);
        let page = self.root.get(branch)?.as_ref()?.pages[page].as_deref()?;
        let number = page[place];
        (number != NONE).then_some(number)
    }

    /// The place of an index, if its page exists.
    #[inline(always)]
    pub(crate) fn place_mut(&mut self, index: u32) -> Option<IndexPlace<'_>> {
        let (branch, page, place) = split(index);
        let Branch { pages, used, .. } = &mut **self.root.get_mut(branch)?.as_mut()?;
        let number = &mut pages[page].as_deref_mut()?[place];
        Some(IndexPlace { number, used: &mut used[page] })
    }

    /// The page of an index, if it exists, and the count of its numbers.
    #[inline]
    pub(super) fn page_mut(&mut self, index: u32) -> Option<(&mut Page, &mut u16)> {
        let (branch, page, _) = split(index);
        let Branch { pages, used, .. } = &mut **self.root.get_mut(branch)?.as_mut()?;
        Some((pages[page].as_deref_mut()?, &mut used[page]))
    }

    /// Makes the page of an index, which does not exist.
    #[cold]
    pub(super) fn add_page(&mut self, index: u32) {
        let (at, page, _) = split(index);
        let (freed, freed_branch) = self.take_spare().unzip();
        if self.root.len() <= at {
            self.root.resize_with(at + 1, || None);
        }
        let branch =
            self.root[at].get_or_insert_with(|| freed_branch.flatten().unwrap_or_else(Branch::new));
        branch.pages[page] = Some(freed.unwrap_or_else(|| Box::new([NONE; PAGE_LEN])));
        branch.len += 1;
    }

    /// Takes a page without numbers out of its place, if there is one, and its branch if it was the
    /// last one there.
    fn take_spare(&mut self) -> Option<(Box<Page>, Option<Box<Branch>>)> {
        while let Some((at, page)) = self.spare.pop().map(split_page) {
            let branch = self.root[at].as_mut().expect("the page has a branch");
            branch.is_spare[page] = false;
            if branch.used[page] == 0 {
                let freed = branch.pages[page].take();
                branch.len -= 1;
                let freed = freed.expect("a page that is spare exists");
                return Some((freed, if branch.len == 0 { self.root[at].take() } else { None }));
            }
        }
        None
    }

    /// Frees all pages without numbers.
    fn free_spare(&mut self) {
        while self.take_spare().is_some() {}
        self.spare = Vec::new();
    }

    /// Gives an index a number, unless it has one. Returns that.
    ///
    /// # Panics
    ///
    /// If the number is `u32::MAX`.
    #[inline]
    pub(crate) fn add(&mut self, index: u32, number: u32) -> Option<u32> {
        assert!(number != NONE, "there are 2^32 numbers or more");
        loop {
            if let Some(place) = self.place_mut(index) {
                if !place.is_vacant() {
                    return Some(place.number());
                }
                place.fill(number);
                return None;
            }
            self.add_page(index);
        }
    }

    /// Gives an index that has a number another one.
    ///
    /// # Panics
    ///
    /// If it has none.
    #[inline(always)]
    pub(crate) fn replace(&mut self, index: u32, number: u32) {
        assert!(self.replace_known(index, number), "the index has no number");
    }

    /// [`PagedIndex::replace`] unless the index has no number. Returns whether it has one.
    #[inline(always)]
    pub(crate) fn replace_known(&mut self, index: u32, number: u32) -> bool {
        let known = self.place_mut(index).filter(|place| !place.is_vacant());
        known.map(|place| *place.number = number).is_some()
    }

    /// Takes the number of an index. If it was the last one in its page, the page is spare.
    #[inline]
    pub(crate) fn take(&mut self, index: u32) -> Option<u32> {
        let place = self.place_mut(index).filter(|place| !place.is_vacant())?;
        let (number, is_last) = (place.number(), place.is_last());
        place.empty();
        if is_last {
            self.list_spare(index >> PAGE_BITS);
        }
        Some(number)
    }

    /// Lists a page that has lost its numbers as spare, unless it still is.
    #[inline(never)]
    fn list_spare(&mut self, page: u32) {
        let (at, place) = split_page(page);
        let branch = self.root[at].as_mut().expect("the page has a branch");
        if !core::mem::replace(&mut branch.is_spare[place], true) {
            self.spare.push(page);
        }
    }

    /// Takes all numbers.
    pub(crate) fn clear(&mut self) {
        self.root.clear();
        self.spare.clear();
    }

    /// Frees memory of pages and branches that left.
    pub(crate) fn shrink(&mut self) {
        self.free_spare();
        let last = self.root.iter().rposition(Option::is_some);
        self.root.truncate(last.map_or(0, |last| last + 1));
        self.root.shrink_to_fit();
    }

    /// The allocated memory.
    pub(crate) fn bytes(&self) -> usize {
        let pages: usize = self.root.iter().flatten().map(|branch| branch.len).sum();
        let branches = self.root.iter().flatten().count();
        self.root.capacity() * size_of::<Option<Box<Branch>>>()
            + self.spare.capacity() * size_of::<u32>()
            + branches * size_of::<Branch>()
            + pages * size_of::<Page>()
    }

    /// How many indices have a number. O(pages).
    pub(crate) fn len(&self) -> usize {
        let used =
            |branch: &Branch| branch.used.iter().map(|&used| usize::from(used)).sum::<usize>();
        self.root.iter().flatten().map(|branch| used(branch)).sum()
    }

    /// Whether the counts of numbers and pages are right, and the pages without numbers are spare.
    pub(crate) fn is_consistent(&self) -> bool {
        let page_is_counted = |branch: &Branch, at: usize| match &branch.pages[at] {
            Some(page) => {
                let numbers = page.iter().filter(|&&number| number != NONE).count();
                numbers == usize::from(branch.used[at]) && (numbers > 0 || branch.is_spare[at])
            }
            None => branch.used[at] == 0 && !branch.is_spare[at],
        };
        let branch_is_counted = |branch: &Branch| {
            branch.len > 0
                && branch.pages.iter().flatten().count() == branch.len
                && (0..BRANCH_LEN).all(|at| page_is_counted(branch, at))
        };
        let branches = || self.root.iter().flatten();
        let spare = branches().flat_map(|branch| branch.is_spare).filter(|&is_spare| is_spare);
        let is_spare = |&page: &u32| {
            let (at, place) = split_page(page);
            self.root.get(at).and_then(Option::as_ref).is_some_and(|branch| branch.is_spare[place])
        };
        branches().all(|branch| branch_is_counted(branch))
            && self.spare.iter().all(is_spare)
            && self.spare.len() == spare.count()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// The memory beside the list of spare pages.
    fn without_list(index: &PagedIndex) -> usize {
        index.bytes() - index.spare.capacity() * size_of::<u32>()
    }

    #[test]
    fn an_index_near_the_end_costs_a_page() {
        let mut index = PagedIndex::default();
        assert_eq!((index.bytes(), index.get(u32::MAX)), (0, None));
        assert_eq!(index.add(u32::MAX, 7), None);
        assert_eq!(
            (index.get(u32::MAX), index.get(u32::MAX - 1), index.get(0)),
            (Some(7), None, None)
        );
        assert!(index.bytes() < 160 * 1024, "{} bytes", index.bytes());
        assert_eq!(index.take(u32::MAX), Some(7));
        assert_eq!(index.take(u32::MAX), None);
        assert!(index.is_consistent());
        index.shrink();
        assert!(index.root.is_empty() && index.is_consistent());
    }

    #[test]
    fn a_lone_far_number_makes_no_root_again() {
        let mut index = PagedIndex::default();
        index.add(u32::MAX, 1);
        let root = index.root.len();
        for number in 0..3 {
            assert!(index.take(u32::MAX).is_some() && index.is_consistent());
            assert_eq!((index.root.len(), index.len()), (root, 0));
            assert_eq!(index.add(u32::MAX, number), None);
        }
        // A near number keeps the root as long as its own branch.
        index.add(5, 5);
        index.take(u32::MAX);
        index.shrink();
        assert_eq!((index.root.len(), index.get(5)), (1, Some(5)));
    }

    #[test]
    fn pages_are_given_back() {
        let mut index = PagedIndex::default();
        for i in 0..5000 {
            index.add(i, i);
        }
        index.shrink();
        let full = index.bytes();
        (0..4096).for_each(|i| assert_eq!(index.take(i), Some(i)));
        assert!(index.is_consistent() && index.bytes() >= full);
        index.shrink();
        assert_eq!(index.bytes(), full - 4 * size_of::<Page>());
        assert!(index.is_consistent());
    }

    #[test]
    fn numbers_that_come_and_go_use_the_same_pages() {
        let mut index = PagedIndex::default();
        let places = || (0..100_000).step_by(100);
        places().for_each(|i| _ = index.add(i, i));
        let pages = |index: &PagedIndex| {
            let branches = index.root.iter().flatten();
            branches
                .flat_map(|one| one.pages.each_ref())
                .flatten()
                .map(|page| page.as_ptr())
                .collect::<Vec<_>>()
        };
        let first = pages(&index);
        for number in 0..3 {
            places().for_each(|i| assert!(index.take(i).is_some()));
            assert_eq!((index.len(), pages(&index) == first), (0, true));
            places().for_each(|i| assert_eq!(index.add(i, number), None));
        }
        assert!(index.is_consistent());
        // Elsewhere they are used as well.
        places().for_each(|i| assert!(index.take(i).is_some()));
        let bytes = index.bytes();
        places().for_each(|i| assert_eq!(index.add(i + (1 << 17), i), None));
        assert_eq!((index.bytes(), index.len()), (bytes, 1000));
        assert!(index.is_consistent() && pages(&index).len() == first.len());
    }

    #[test]
    fn a_lone_number_uses_one_page_again() {
        let mut index = PagedIndex::default();
        index.add(70, 0);
        let page_of = |index: &PagedIndex| {
            index.root[0].as_ref().and_then(|b| b.pages[0].as_deref()).map(|page| page.as_ptr())
        };
        let (first, bytes) = (page_of(&index), without_list(&index));
        for number in 0..10 {
            assert!(index.take(70).is_some() && index.is_consistent());
            assert_eq!((without_list(&index), index.len()), (bytes, 0));
            assert_eq!(index.add(70, number), None);
        }
        assert!(first.is_some() && page_of(&index) == first);
        // A copy has no spare pages, and no number is left in one.
        assert_eq!(index.take(70), Some(9));
        assert_eq!(index.clone().bytes(), size_of::<Option<Box<Branch>>>(), "the root alone");
        let mut copy = PagedIndex::default();
        copy.clone_from(&index);
        assert!(copy.is_consistent() && copy.len() == 0);
        copy.shrink();
        assert_eq!(copy.bytes(), 0);
        assert_eq!((index.add(600, 1), index.get(70), index.get(600)), (None, None, Some(1)));
        index.take(600);
        index.shrink();
        assert_eq!(index.bytes(), 0);
    }

    #[test]
    fn the_page_that_is_kept_goes_to_the_next_place() {
        let mut index = PagedIndex::default();
        index.add(70, 0);
        index.take(70);
        let bytes = index.bytes();
        // In the same branch, and in another one, which takes the place of the first.
        for at in [5_000, (1 << 18) - 1, 70] {
            assert_eq!(index.add(at, 3), None);
            let found = (index.get(at), index.get(70 ^ at));
            assert_eq!((index.bytes(), found), (bytes, (Some(3), None)));
            assert_eq!(index.take(at), Some(3));
            assert!(index.is_consistent());
        }
        index.add(1 << 18, 1);
        let root = index.root.capacity() * size_of::<Option<Box<Branch>>>();
        assert_eq!(without_list(&index) - root, size_of::<Branch>() + size_of::<Page>());
        // A page that has numbers again is not taken.
        index.take(1 << 18);
        index.add((1 << 18) + 1, 2);
        index.add(0, 4);
        assert_eq!((index.get((1 << 18) + 1), index.get(0)), (Some(2), Some(4)));
        // Two pages lose their numbers: both are spare until it shrinks.
        index.take(0);
        index.take((1 << 18) + 1);
        assert!(index.is_consistent() && index.spare.len() == 2);
        index.shrink();
        assert_eq!(index.bytes(), 0);
    }

    #[test]
    fn a_later_copy_uses_the_pages_of_the_earlier() {
        let page_of = |index: &PagedIndex, page: usize| {
            let pages = &index.root[0].as_ref().expect("it has a branch").pages;
            pages[page].as_deref().map(|page| page.as_ptr())
        };
        let mut index = PagedIndex::default();
        (0..2000).for_each(|i| _ = index.add(i, i));
        let mut copy = index.clone();
        let pages = [0, 1].map(|page| page_of(&copy, page));
        index.take(7);
        index.add(5000, 1);
        index.add(1 << 20, 2);
        copy.clone_from(&index);
        assert_eq!([0, 1].map(|page| page_of(&copy, page)), pages);
        let numbers = |index: &PagedIndex| [6, 7, 1999, 5000, 1 << 20].map(|at| index.get(at));
        assert_eq!(numbers(&copy), [Some(6), None, Some(1999), Some(1), Some(2)]);
        (1024..2000).for_each(|i| _ = index.take(i));
        copy.clone_from(&index);
        assert!(page_of(&copy, 1).is_some() && copy.is_consistent(), "the page that is kept");
        copy.shrink();
        assert_eq!((page_of(&copy, 1), copy.len()), (None, 1025));
        assert!(copy.is_consistent() && index.is_consistent());
    }

    proptest! {
        #[test]
        fn it_is_a_map(steps in prop::collection::vec((any::<u32>(), 0..4u32, any::<bool>()), 0..200)) {
            let (mut index, mut map) = (PagedIndex::default(), BTreeMap::new());
            for (number, (bits, region, is_set)) in (0..).zip(steps) {
                // Few indices, in several pages and branches.
                let at = (bits & 0x3) | region << (9 * region) | (bits & 0x8000_0000);
                if is_set && map.contains_key(&at) {
                    prop_assert_eq!(index.add(at, number), map.insert(at, number));
                    index.replace(at, number);
                } else if is_set {
                    prop_assert_eq!(index.add(at, number), map.insert(at, number));
                } else {
                    prop_assert_eq!(index.take(at), map.remove(&at));
                }
                prop_assert_eq!(index.get(at), map.get(&at).copied());
            }
            prop_assert!(index.is_consistent());
            prop_assert!(map.iter().all(|(&at, &number)| index.get(at) == Some(number)));
        }
    }
}

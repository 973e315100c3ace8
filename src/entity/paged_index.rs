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
//! an index in it gets a number, and given back when the last one loses it, all but one, so memory
//! follows the indices in use: one index costs a page of 4 KiB and a branch of 2.5 KiB, and one
//! near 4,294,967,295 a root of 128 KiB as well. The root and one page without numbers, with its
//! branch, are kept until the index shrinks: where a lone number comes and goes, each pair would
//! make and free them. The page stays in its place, so that the next number there finds it as any
//! other, and goes to the place of the next page that is made, or is freed when another one loses
//! its numbers.
//!
//! Generations are not compared: the owner of the numbers has the ids as well.

use std::collections::HashSet;

/// Bits of an index that choose a number in its page.
const PAGE_BITS: u32 = 10;
/// Bits of an index that choose a page in its branch.
const BRANCH_BITS: u32 = 8;
/// Numbers of a page.
const PAGE_LEN: usize = 1 << PAGE_BITS;
/// Pages of a branch.
const BRANCH_LEN: usize = 1 << BRANCH_BITS;

/// The mark of an index without a number.
const NONE: u32 = u32::MAX;

type Page = [u32; PAGE_LEN];

/// Adjacent pages.
#[derive(Debug)]
struct Branch {
    pages: [Option<Box<Page>>; BRANCH_LEN],
    /// The number of indices with a number, of each page.
    used: [u16; BRANCH_LEN],
    /// The number of pages.
    len: usize,
}

impl Branch {
    fn new() -> Box<Self> {
        Box::new(Self { pages: [const { None }; BRANCH_LEN], used: [0; BRANCH_LEN], len: 0 })
    }
}

impl Clone for Branch {
    fn clone(&self) -> Self {
        Self { pages: self.pages.clone(), ..*self }
    }

    /// Uses the pages that it has.
    fn clone_from(&mut self, source: &Self) {
        self.pages.clone_from(&source.pages);
        (self.used, self.len) = (source.used, source.len);
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
    /// The page that was the last to lose its last number, unless it was freed. It may have numbers
    /// again. All other pages have numbers.
    emptied: Option<u32>,
}

impl Clone for PagedIndex {
    fn clone(&self) -> Self {
        let mut copy = Self { root: self.root.clone(), emptied: self.emptied };
        copy.take_empty_page();
        copy
    }

    /// Uses the pages and branches that it has: snapshots of a set are taken again and again.
    fn clone_from(&mut self, source: &Self) {
        self.root.clone_from(&source.root);
        self.emptied = source.emptied;
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

    /// The place of an index, if its page exists, and the number of numbers in the page.
    #[inline]
    fn place_mut(&mut self, index: u32) -> Option<(&mut u32, &mut u16)> {
        let (branch, page, place) = split(index);
        let Branch { pages, used, .. } = &mut **self.root.get_mut(branch)?.as_mut()?;
        Some((&mut pages[page].as_deref_mut()?[place], &mut used[page]))
    }

    /// Makes the page of an index, which does not exist.
    #[cold]
    fn add_page(&mut self, index: u32) {
        let (at, page, _) = split(index);
        let (freed, freed_branch) = self.take_empty_page();
        if self.root.len() <= at {
            self.root.resize_with(at + 1, || None);
        }
        let branch = self.root[at].get_or_insert_with(|| freed_branch.unwrap_or_else(Branch::new));
        branch.pages[page] = Some(freed.unwrap_or_else(|| Box::new([NONE; PAGE_LEN])));
        branch.len += 1;
    }

    /// Takes the page without numbers out of its place, if there is one, and its branch if it was
    /// the last one there.
    fn take_empty_page(&mut self) -> (Option<Box<Page>>, Option<Box<Branch>>) {
        let Some((at, page)) = self.emptied.take().map(split_page) else { return (None, None) };
        let branch = self.root[at].as_mut().expect("the page has a branch");
        if branch.used[page] > 0 {
            return (None, None);
        }
        let freed = branch.pages[page].take();
        branch.len -= 1;
        (freed, if branch.len == 0 { self.root[at].take() } else { None })
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
            if let Some((at, used)) = self.place_mut(index) {
                if *at != NONE {
                    return Some(*at);
                }
                *at = number;
                *used += 1;
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
    #[inline]
    pub(crate) fn replace(&mut self, index: u32, number: u32) {
        assert!(self.replace_known(index, number), "the index has no number");
    }

    /// [`PagedIndex::replace`] unless the index has no number. Returns whether it has one.
    #[inline]
    pub(crate) fn replace_known(&mut self, index: u32, number: u32) -> bool {
        let at = self.place_mut(index).map(|(at, _)| at).filter(|at| **at != NONE);
        at.map(|at| *at = number).is_some()
    }

    /// Takes the number of an index. If it was the last one in its page, the page that was empty
    /// before it is given back.
    #[inline]
    pub(crate) fn take(&mut self, index: u32) -> Option<u32> {
        self.take_if(index, |_| true)
    }

    /// [`PagedIndex::take`] of a number for which `is_own` is true.
    #[inline]
    pub(crate) fn take_if(&mut self, index: u32, is_own: impl FnOnce(u32) -> bool) -> Option<u32> {
        let (at, used) = self.place_mut(index)?;
        let number = *at;
        if number == NONE || !is_own(number) {
            return None;
        }
        *at = NONE;
        *used -= 1;
        let page = index >> PAGE_BITS;
        if *used == 0 && self.emptied != Some(page) {
            self.keep_empty_page(page);
        }
        Some(number)
    }

    /// Keeps a page, which has lost its numbers, and frees the one that was kept.
    #[cold]
    fn keep_empty_page(&mut self, page: u32) {
        self.take_empty_page();
        self.emptied = Some(page);
    }

    /// Takes all numbers.
    pub(crate) fn clear(&mut self) {
        self.root.clear();
        self.emptied = None;
    }

    /// Frees memory of pages and branches that left.
    pub(crate) fn shrink(&mut self) {
        self.take_empty_page();
        let last = self.root.iter().rposition(Option::is_some);
        self.root.truncate(last.map_or(0, |last| last + 1));
        self.root.shrink_to_fit();
    }

    /// The allocated memory.
    pub(crate) fn bytes(&self) -> usize {
        let pages: usize = self.root.iter().flatten().map(|branch| branch.len).sum();
        let branches = self.root.iter().flatten().count();
        self.root.capacity() * size_of::<Option<Box<Branch>>>()
            + branches * size_of::<Branch>()
            + pages * size_of::<Page>()
    }

    /// How many indices have a number. O(pages).
    pub(crate) fn len(&self) -> usize {
        let used =
            |branch: &Branch| branch.used.iter().map(|&used| usize::from(used)).sum::<usize>();
        self.root.iter().flatten().map(|branch| used(branch)).sum()
    }

    /// Whether the counts of numbers and pages are right, and each page but one has numbers.
    pub(crate) fn is_consistent(&self) -> bool {
        let page_is_counted = |(page, &used): (&Option<Box<Page>>, &u16)| match page {
            Some(page) => {
                let numbers = page.iter().filter(|&&number| number != NONE).count();
                numbers == usize::from(used)
            }
            None => used == 0,
        };
        let branch_is_counted = |branch: &Branch| {
            branch.len > 0
                && branch.pages.iter().flatten().count() == branch.len
                && branch.pages.iter().zip(branch.used.iter()).all(page_is_counted)
        };
        let branches = || self.root.iter().flatten();
        let emptied = self.emptied.map(split_page).map(|(at, page)| {
            let branch = self.root.get(at).and_then(Option::as_ref);
            branch.map(|branch| (branch.pages[page].is_some(), branch.used[page] == 0))
        });
        let with_numbers = branches().flat_map(|branch| &branch.used).filter(|&&used| used > 0);
        let pages = with_numbers.count() + usize::from(emptied == Some(Some((true, true))));
        branches().all(|branch| branch_is_counted(branch))
            && emptied.is_none_or(|page| page.is_some_and(|(exists, _)| exists))
            && branches().map(|branch| branch.len).sum::<usize>() == pages
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

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
        assert_eq!(index.bytes(), full - 3 * size_of::<Page>(), "one is spare");
        assert!(index.is_consistent());
        index.shrink();
        assert_eq!(index.bytes(), full - 4 * size_of::<Page>());
    }

    #[test]
    fn a_lone_number_uses_one_page_again() {
        let mut index = PagedIndex::default();
        index.add(70, 0);
        let page_of = |index: &PagedIndex| {
            index.root[0].as_ref().and_then(|b| b.pages[0].as_deref()).map(|page| page.as_ptr())
        };
        let (first, bytes) = (page_of(&index), index.bytes());
        for number in 0..10 {
            assert!(index.take(70).is_some() && index.is_consistent());
            assert_eq!((index.bytes(), index.len()), (bytes, 0));
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
            assert_eq!((index.bytes(), index.get(at), index.get(70 ^ at)), (bytes, Some(3), None));
            assert_eq!(index.take(at), Some(3));
            assert!(index.is_consistent());
        }
        index.add(1 << 18, 1);
        let root = index.root.capacity() * size_of::<Option<Box<Branch>>>();
        assert_eq!(index.bytes() - root, size_of::<Branch>() + size_of::<Page>());
        // A page that has numbers again is not taken.
        index.take(1 << 18);
        index.add((1 << 18) + 1, 2);
        index.add(0, 4);
        assert_eq!((index.get((1 << 18) + 1), index.get(0)), (Some(2), Some(4)));
        // Two pages lose their numbers: one is kept.
        index.take(0);
        index.take((1 << 18) + 1);
        assert_eq!(index.bytes() - root, size_of::<Branch>() + size_of::<Page>());
        assert!(index.is_consistent());
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

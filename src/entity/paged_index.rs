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
//! an index in it gets a number, and given back when the last one loses it, so memory follows the
//! indices in use: one index costs a page of 4 KiB and a branch of 2.5 KiB, and one near
//! 4,294,967,295 a root of 128 KiB as well.
//!
//! Generations are not compared: the owner of the numbers has the ids as well.

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
#[derive(Clone, Debug)]
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

/// The parts of an index.
#[inline]
const fn split(index: u32) -> (usize, usize, usize) {
    let index = index as usize;
    let page = index >> PAGE_BITS;
    (page >> BRANCH_BITS, page & (BRANCH_LEN - 1), index & (PAGE_LEN - 1))
}

/// A number for some indices. Each number is less than `u32::MAX`.
#[derive(Clone, Debug, Default)]
pub(crate) struct PagedIndex {
    /// Ends with a branch.
    root: Vec<Option<Box<Branch>>>,
}

impl PagedIndex {
    /// The number of an index.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<u32> {
        let (branch, page, place) = split(index);
        let page = self.root.get(branch)?.as_ref()?.pages[page].as_deref()?;
        let number = page[place];
        (number != NONE).then_some(number)
    }

    /// The page of an index, which is made if it does not exist, and the number of its numbers.
    fn page_mut(&mut self, index: u32) -> (&mut Page, &mut u16) {
        let (branch, page, _) = split(index);
        if self.root.len() <= branch {
            self.root.resize_with(branch + 1, || None);
        }
        let branch = self.root[branch].get_or_insert_with(Branch::new);
        let Branch { pages, used, len } = &mut **branch;
        let numbers = pages[page].get_or_insert_with(|| {
            *len += 1;
            Box::new([NONE; PAGE_LEN])
        });
        (numbers, &mut used[page])
    }

    /// Gives an index a number. Returns the former one.
    ///
    /// # Panics
    ///
    /// If the number is `u32::MAX`.
    #[inline]
    pub(crate) fn set(&mut self, index: u32, number: u32) -> Option<u32> {
        assert!(number != NONE, "there are 2^32 numbers or more");
        let (_, _, place) = split(index);
        let (page, used) = self.page_mut(index);
        let former = core::mem::replace(&mut page[place], number);
        if former != NONE {
            return Some(former);
        }
        *used += 1;
        None
    }

    /// Takes the number of an index. Gives its page back if it was the last one there.
    #[inline]
    pub(crate) fn take(&mut self, index: u32) -> Option<u32> {
        let (at, page, place) = split(index);
        let branch = self.root.get_mut(at)?.as_mut()?;
        let numbers = branch.pages[page].as_deref_mut()?;
        let number = core::mem::replace(&mut numbers[place], NONE);
        if number == NONE {
            return None;
        }
        branch.used[page] -= 1;
        if branch.used[page] == 0 {
            self.free_page(at, page);
        }
        Some(number)
    }

    #[cold]
    fn free_page(&mut self, at: usize, page: usize) {
        let branch = self.root[at].as_mut().expect("the page has a branch");
        branch.pages[page] = None;
        branch.len -= 1;
        if branch.len == 0 {
            self.root[at] = None;
            let ends_with_branch = self.root.iter().rposition(Option::is_some);
            self.root.truncate(ends_with_branch.map_or(0, |last| last + 1));
        }
    }

    /// Takes all numbers.
    pub(crate) fn clear(&mut self) {
        self.root.clear();
    }

    /// Frees memory of branches that left.
    pub(crate) fn shrink(&mut self) {
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

    /// Whether the counts of numbers and pages are right.
    pub(crate) fn is_consistent(&self) -> bool {
        let page_is_counted = |(page, &used): (&Option<Box<Page>>, &u16)| match page {
            Some(page) => {
                let numbers = page.iter().filter(|&&number| number != NONE).count();
                numbers > 0 && numbers == usize::from(used)
            }
            None => used == 0,
        };
        let branch_is_counted = |branch: &Branch| {
            branch.len > 0
                && branch.pages.iter().flatten().count() == branch.len
                && branch.pages.iter().zip(branch.used.iter()).all(page_is_counted)
        };
        self.root.last().is_none_or(Option::is_some)
            && self.root.iter().flatten().all(|branch| branch_is_counted(branch))
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
        assert_eq!(index.set(u32::MAX, 7), None);
        assert_eq!(
            (index.get(u32::MAX), index.get(u32::MAX - 1), index.get(0)),
            (Some(7), None, None)
        );
        assert!(index.bytes() < 160 * 1024, "{} bytes", index.bytes());
        assert_eq!(index.take(u32::MAX), Some(7));
        assert_eq!(index.take(u32::MAX), None);
        assert!(index.root.is_empty() && index.is_consistent());
    }

    #[test]
    fn pages_are_given_back() {
        let mut index = PagedIndex::default();
        for i in 0..5000 {
            index.set(i, i);
        }
        let full = index.bytes();
        (0..4096).for_each(|i| assert_eq!(index.take(i), Some(i)));
        assert_eq!(index.bytes(), full - 4 * size_of::<Page>());
        assert!(index.is_consistent());
    }

    proptest! {
        #[test]
        fn it_is_a_map(steps in prop::collection::vec((any::<u32>(), 0..4u32, any::<bool>()), 0..200)) {
            let (mut index, mut map) = (PagedIndex::default(), BTreeMap::new());
            for (number, (bits, region, is_set)) in (0..).zip(steps) {
                // Few indices, in several pages and branches.
                let at = (bits & 0x3) | region << (9 * region) | (bits & 0x8000_0000);
                if is_set {
                    prop_assert_eq!(index.set(at, number), map.insert(at, number));
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

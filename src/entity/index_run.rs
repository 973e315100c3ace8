//! Ascending numbers for a run of entities in a paged index.
//!
//! New entities mostly have neighbouring indices, so a page is looked up once for all of them that
//! are in it.

use super::id::Entity;
use super::index_place::NONE;
use super::paged_index::{PAGE_BITS, PagedIndex};

impl PagedIndex {
    /// Gives the indices of entities ascending numbers from `first` on, up to an index that has a
    /// number. Returns how many it gives.
    ///
    /// # Panics
    ///
    /// If a number would be `u32::MAX`. None is given.
    pub(crate) fn add_run(&mut self, entities: &[Entity], first: u32) -> usize {
        let len = u32::try_from(entities.len()).ok();
        let end = len.and_then(|len| first.checked_add(len));
        assert!(end.is_some(), "there are 2^32 numbers or more");
        let mut number = first;
        let mut rest = entities;
        while let Some(next) = rest.first() {
            let page = next.index() >> PAGE_BITS << PAGE_BITS;
            let Some((places, used)) = self.page_mut(next.index()) else {
                self.add_page(next.index());
                continue;
            };
            let (before, mut is_vacant) = (number, true);
            for one in rest {
                let Some(place) = places.get_mut(one.index().wrapping_sub(page) as usize) else {
                    break;
                };
                is_vacant = *place == NONE;
                if !is_vacant {
                    break;
                }
                *place = number;
                number += 1;
            }
            let given = number - before;
            *used += u16::try_from(given).expect("a page has 1,024 numbers");
            rest = &rest[given as usize..];
            if !is_vacant {
                break;
            }
        }
        (number - first) as usize
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn ids(indices: &[u32]) -> Vec<Entity> {
        indices.iter().map(|&index| Entity::new(index, 1)).collect()
    }

    #[test]
    fn a_run_ends_before_an_index_that_has_a_number() {
        let mut index = PagedIndex::default();
        assert_eq!(index.add_run(&ids(&[3, 2, 5000, 1 << 20, u32::MAX, 4]), 7), 6);
        let found = [3, 2, 5000, 1 << 20, u32::MAX, 4, 0].map(|at| index.get(at));
        let given = [Some(7), Some(8), Some(9), Some(10), Some(11), Some(12), None];
        assert_eq!((found, index.len()), (given, 6));
        assert_eq!(index.add_run(&ids(&[6, 5, 2, 0]), 20), 2, "2 has a number");
        assert_eq!([6, 5, 2, 0].map(|at| index.get(at)), [Some(20), Some(21), Some(8), None]);
        assert_eq!(index.add_run(&ids(&[1, 9, 1]), 30), 2, "twice");
        assert_eq!((index.add_run(&ids(&[1]), 0), index.add_run(&[], 0)), (0, 0));
        assert_eq!((index.get(1), index.len()), (Some(30), 10));
        assert!(index.is_consistent());
    }

    #[test]
    fn a_run_uses_a_page_that_has_lost_its_numbers() {
        let mut index = PagedIndex::default();
        assert_eq!(index.add_run(&ids(&[1, 2]), 0), 2);
        assert!(index.take(1).is_some() && index.take(2).is_some());
        assert_eq!(index.add_run(&ids(&[2, 9000]), 0), 2);
        assert!(index.is_consistent() && index.len() == 2);
    }

    #[test]
    #[should_panic(expected = "2^32 numbers")]
    fn a_number_is_less_than_the_greatest() {
        PagedIndex::default().add_run(&ids(&[1, 2]), u32::MAX - 1);
    }

    proptest! {
        #[test]
        fn a_run_equals_its_numbers_one_by_one(
            indices in prop::collection::vec((0..40u32, 0..3u32), 0..200),
            known in prop::collection::vec((0..40u32, 0..3u32), 0..5),
        ) {
            // Few indices, on both sides of the ends of pages.
            let at = |&(low, page): &(u32, u32)| 1004 + low + page * 1024;
            let (mut index, mut map) = (PagedIndex::default(), BTreeMap::new());
            for one in known.iter().map(at) {
                index.add(one, 1000 + one);
                map.insert(one, 1000 + one);
            }
            let indices: Vec<_> = indices.iter().map(at).collect();
            let given = index.add_run(&ids(&indices), 5);
            let mut expected = 0;
            for (&one, number) in indices.iter().zip(5..) {
                if map.contains_key(&one) {
                    break;
                }
                map.insert(one, number);
                expected += 1;
            }
            prop_assert_eq!(given, expected);
            prop_assert!(index.is_consistent() && index.len() == map.len());
            prop_assert!(map.iter().all(|(&one, &number)| index.get(one) == Some(number)));
        }
    }
}

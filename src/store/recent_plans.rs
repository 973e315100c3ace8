//! The plans that were found last, so that the start of a pass takes no lock and reads no map.
//!
//! A world that is borrowed shared finds plans from several threads. Its map of plans has a lock,
//! which costs two atomic changes of one cache line for each pass, beside the search. Most passes
//! are of queries that ran before, and find their plan here with one load.
//!
//! # Why queries are not prepared
//!
//! A prepared query would be a value with the index of its plan. It saves the hash and the
//! comparison of two keys: 4 of the 297 instructions of a query of two archetypes of 20 rows, and
//! 17.3 ns instead of 18.5 (Zen 4, a build without LTO; the loop over the rows is in both). The
//! address of the plan in place of an index would save 27 instructions, and take 17.2 ns. Finding
//! the plan in place, without a call, saves 37 and takes 16.6 ns for every query, so that is done
//! ([`Store::query_parts`]). The rest is the iterator: its fields take 60 instructions to fill, an
//! archetype 30, and 20 rows 55.
//!
//! [`Store::query_parts`]: super::store::Store::query_parts

use core::any::TypeId;
use core::hash::{Hash, Hasher};
use core::sync::atomic::{AtomicU32, Ordering};

use rustc_hash::FxHasher;

use super::plan::Plan;

/// The number of entries, four KiB. Queries that share an entry replace each other, and each start
/// of their passes takes a hundred instructions more. (Of fifty types of query in turn one of six
/// did with 256 entries, and one of twenty does. A table that grows with the plans took five
/// instructions more for each start.)
const ENTRIES: usize = 1024;

/// The index of a plan for each value of a hash: a hint, which the caller compares with the plan.
///
/// An index is stored after its plan was added to the list, but nothing orders the two for another
/// thread: the list itself tells whether it has the plan.
pub(super) struct RecentPlans([AtomicU32; ENTRIES]);

impl Default for RecentPlans {
    fn default() -> Self {
        Self([const { AtomicU32::new(u32::MAX) }; ENTRIES])
    }
}

impl RecentPlans {
    #[inline]
    fn entry(&self, key: TypeId) -> &AtomicU32 {
        let mut hasher = FxHasher::default();
        key.hash(&mut hasher);
        // The hasher moves its best bits to the low end.
        #[expect(clippy::cast_possible_truncation, reason = "the low bits choose the entry")]
        let hash = hasher.finish() as usize;
        &self.0[hash % ENTRIES]
    }

    /// The plan of a query in the list, if it was found lately.
    #[inline]
    pub(super) fn find<'p>(&self, key: TypeId, list: &'p boxcar::Vec<Plan>) -> Option<&'p Plan> {
        list.get(self.get(key)).filter(|plan| plan.key == key)
    }

    /// The index that may be the plan's of a query.
    #[inline]
    pub(super) fn get(&self, key: TypeId) -> usize {
        self.entry(key).load(Ordering::Relaxed) as usize
    }

    /// Sets the index of a query's plan.
    pub(super) fn set(&self, key: TypeId, index: usize) {
        if let Ok(index) = u32::try_from(index) {
            self.entry(key).store(index, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_have_different_entries() {
        let recent = RecentPlans::default();
        let keys = [
            TypeId::of::<u8>(),
            TypeId::of::<u16>(),
            TypeId::of::<u32>(),
            TypeId::of::<u64>(),
            TypeId::of::<u128>(),
            TypeId::of::<(u8, u8)>(),
            TypeId::of::<(u8, u16)>(),
            TypeId::of::<(u16, u8)>(),
        ];
        (0..).zip(keys).for_each(|(index, key)| recent.set(key, index));
        let kept = (0..).zip(keys).filter(|&(index, key)| recent.get(key) == index).count();
        assert!(kept > 1, "all queries share one entry");
    }

    #[test]
    fn an_index_is_found_until_another_query_takes_its_entry() {
        let recent = RecentPlans::default();
        let (a, b) = (TypeId::of::<u8>(), TypeId::of::<u16>());
        assert_eq!(recent.get(a), u32::MAX as usize);
        recent.set(a, 7);
        assert_eq!(recent.get(a), 7);
        recent.set(b, 9);
        assert_eq!(recent.get(b), 9);
        assert!([7, 9].contains(&recent.get(a)));
        recent.set(b, 8);
        assert_eq!(recent.get(b), 8, "the last index is kept");
    }
}

//! The order of sorted keys, found in less time the fewer keys are out of place.
//!
//! ```text
//!  keys       10  20  95  30  40  50   5  60       most of them ascend
//!  in place   10  20      30  40  50      60       ascend, and are not compared again
//!  others             95           5               sorted on their own: 5 95
//!  merged      5  10  20  30  40  50  60  95
//! ```
//!
//! Rows that were sorted before have few keys out of place, so their order costs two passes over
//! the keys. If the keys have more than an eighth out of place, all are sorted.

use core::cmp::Ordering;

/// All keys are sorted if one in so many is out of place.
const OTHERS_MAX: usize = 8;
/// A run of so many keys that are less than the last one in place leads to a second look.
const RUN_MAX: usize = 8;
/// All keys are sorted if each is looked at so many times on average, which only takes time.
const LOOKS_MAX: usize = 4;

/// The order in which the keys ascend: numbers of keys. Equal keys keep their order. `None` if the
/// keys ascend already.
pub(crate) fn sort_order<K: Ord>(keys: Vec<K>) -> Option<Vec<u32>> {
    // By `Ord` alone, as in all comparisons here: `PartialOrd` may contradict it.
    if keys.is_sorted_by(|a, b| a.cmp(b).is_le()) {
        return None;
    }
    let Some((in_place, mut others)) = split(&keys) else {
        // The number makes all keys different, so that the sort is stable.
        let mut keys: Vec<(K, u32)> = keys.into_iter().zip(0..).collect();
        keys.sort_unstable();
        return Some(keys.into_iter().map(|(_, number)| number).collect());
    };
    let compare = |a: u32, b: u32| (&keys[a as usize], a).cmp(&(&keys[b as usize], b));
    others.sort_unstable_by(|&a, &b| compare(a, b));
    Some(merge(&in_place, &others, compare))
}

/// The numbers of keys that ascend, and the numbers of all others. `None` if these are too many.
///
/// A key that is less than the last one that ascends is among the others. If a run of keys is less,
/// the last ones that ascend may be the ones out of place: if they are no more than the run, they
/// are given up, and the run is looked at again.
fn split<K: Ord>(keys: &[K]) -> Option<(Vec<u32>, Vec<u32>)> {
    let (mut in_place, mut others) = (Vec::with_capacity(keys.len()), Vec::new());
    let (mut next, mut run, mut run_max) = (0, 0, RUN_MAX);
    for _ in 0..keys.len() * LOOKS_MAX {
        let Some(key) = keys.get(next) else { return Some((in_place, others)) };
        if others.len() > keys.len() / OTHERS_MAX {
            return None;
        }
        let number = u32::try_from(next).expect("there are 2^32 keys or more");
        next += 1;
        if in_place.last().is_none_or(|&last: &u32| keys[last as usize].cmp(key).is_le()) {
            in_place.push(number);
            (run, run_max) = (0, RUN_MAX);
            continue;
        }
        others.push(number);
        run += 1;
        if run < run_max {
            continue;
        }
        let greatest = keys[next - run..next].iter().max();
        let is_greater = |&&number: &&u32| Some(&keys[number as usize]).cmp(&greatest).is_gt();
        let given_up = in_place.iter().rev().take(run + 1).take_while(is_greater).count().max(1);
        if given_up > run {
            run_max *= 2;
            continue;
        }
        next -= run;
        others.truncate(others.len() - run);
        others.extend(in_place.drain(in_place.len() - given_up..));
        (run, run_max) = (0, RUN_MAX);
    }
    None
}

/// Merges two ascending lists.
fn merge(a: &[u32], b: &[u32], compare: impl Fn(u32, u32) -> Ordering) -> Vec<u32> {
    let mut merged = Vec::with_capacity(a.len() + b.len());
    let mut rest = a;
    for &other in b {
        // The lists are all keys, so the number of equal keys decides.
        let before = count_from_start(rest, |&one| compare(one, other).is_lt());
        merged.extend_from_slice(&rest[..before]);
        merged.push(other);
        rest = &rest[before..];
    }
    merged.extend_from_slice(rest);
    merged
}

/// The number of items at the start for which `is_before` is true; it is false for all that follow.
/// O(log of this number).
fn count_from_start<T>(items: &[T], is_before: impl Fn(&T) -> bool) -> usize {
    let mut end = 1;
    while items.get(end - 1).is_some_and(&is_before) {
        end *= 2;
    }
    let start = end / 2;
    start + items[start..items.len().min(end)].partition_point(is_before)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The order by a stable sort.
    fn expected(keys: &[u8]) -> Vec<u32> {
        let mut order: Vec<u32> = (0..).take(keys.len()).collect();
        order.sort_by_key(|&number| keys[number as usize]);
        order
    }

    #[test]
    fn keys_that_ascend_have_no_new_order() {
        for keys in [&[][..], &[7], &[1, 1, 2, 2, 3]] {
            assert_eq!(sort_order(keys.to_vec()), None);
        }
    }

    #[test]
    fn few_keys_out_of_place_are_sorted_on_their_own() {
        let mut keys: Vec<u8> = (0..100).collect();
        keys[20] = 90;
        keys[70] = 3;
        let mut others = split(&keys).expect("few keys are out of place").1;
        others.sort_unstable();
        assert_eq!(others, [20, 70]);
        assert_eq!(sort_order(keys.clone()), Some(expected(&keys)));
    }

    #[test]
    fn an_order_that_contradicts_itself_still_has_each_key_once() {
        /// A key that is less than all others, and greater.
        #[derive(PartialEq, Eq)]
        struct Contradiction;

        impl PartialOrd for Contradiction {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for Contradiction {
            fn cmp(&self, _: &Self) -> Ordering {
                Ordering::Greater
            }
        }

        let keys = core::iter::repeat_with(|| Contradiction).take(1000).collect();
        // The standard library may refuse such an order by a panic.
        if let Ok(order) = std::panic::catch_unwind(|| sort_order::<Contradiction>(keys)) {
            let mut order = order.expect("no key is in its place");
            order.sort_unstable();
            assert!(order.into_iter().eq(0..1000));
        }
    }

    #[test]
    fn a_batch_of_any_keys_after_sorted_ones_is_sorted_on_its_own() {
        for batch in [vec![0; 20], (0..20).rev().collect(), vec![900, 3, 500, 7, 7, 1]] {
            let mut keys: Vec<u32> = (0..1000).collect();
            keys.extend(&batch);
            let others = split(&keys).expect("few keys are out of place").1;
            assert!(others.len() <= batch.len() + RUN_MAX, "{} of {batch:?}", others.len());
        }
        let mut keys: Vec<u32> = (0..1000).collect();
        keys[300..310].copy_from_slice(&(5000..5010).collect::<Vec<_>>());
        assert_eq!(split(&keys).expect("few keys are out of place").1.len(), 10);
    }

    #[test]
    fn keys_that_no_order_has_end() {
        /// Ordered by `Ord`, and not by `PartialOrd`.
        #[derive(Clone, Debug, PartialEq)]
        struct Unordered(u32);

        impl Eq for Unordered {}

        #[expect(clippy::non_canonical_partial_ord_impl, reason = "the test is about such a type")]
        impl PartialOrd for Unordered {
            fn partial_cmp(&self, _: &Self) -> Option<Ordering> {
                None
            }
        }

        impl Ord for Unordered {
            fn cmp(&self, other: &Self) -> Ordering {
                self.0.cmp(&other.0)
            }
        }

        let mut keys: Vec<_> = (0..200).map(Unordered).collect();
        keys[0] = Unordered(1000);
        let order = sort_order(keys).expect("a key is out of place");
        assert!(order.into_iter().eq((1..200).chain([0])));
        assert_eq!(sort_order((0..200).map(Unordered).collect()), None);
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_a_stable_sort(
            mut keys in prop::collection::vec(any::<u8>(), 0..300),
            moved in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
            is_sorted_before in any::<bool>(),
        ) {
            if is_sorted_before {
                keys.sort_unstable();
                for (at, key) in moved {
                    if !keys.is_empty() {
                        *at.get_mut(&mut keys) = key;
                    }
                }
            }
            let wanted = expected(&keys);
            let order = sort_order(keys.clone());
            prop_assert_eq!(order.is_none(), keys.is_sorted());
            prop_assert_eq!(order.unwrap_or_else(|| (0..).take(keys.len()).collect()), wanted);
        }
    }
}

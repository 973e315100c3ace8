//! The order of sorted keys, found in less time the fewer keys are out of place.
//!
//! ```text
//!  keys       10  20  95  30  40  50   5  60       most of them ascend
//!  in place   10  20      30  40  50      60       ascend, and are not compared again
//!  others             95           5               sorted on their own: 5 95
//!  merged      5  10  20  30  40  50  60  95
//! ```
//!
//! Rows that were sorted before have few keys out of place, so their order costs a pass over the
//! keys. Keys that are known to ascend are not read, but for the first and the last one, and where
//! others come between them. If the keys have more than an eighth out of place, all are sorted.

use core::ops::Range;

use crate::storage::{ChunkRow, RowRun};

/// All keys are sorted if one in so many is out of place.
const OTHERS_MAX: usize = 8;
/// A run of so many keys that are less than the last one in place leads to a second look.
const RUN_MAX: usize = 8;
/// All keys are sorted if each is looked at so many times on average, which only takes time.
const LOOKS_MAX: usize = 4;

/// The keys of rows, or the values of which the keys are made: a slice, or one for each column.
pub(crate) trait KeyCells: Copy {
    type Cell;
    fn len(self) -> usize;
    fn cell(self, row: usize) -> Self::Cell;
}

impl<'a, T> KeyCells for &'a [T] {
    type Cell = &'a T;

    #[inline]
    fn len(self) -> usize {
        <[T]>::len(self)
    }

    #[inline]
    fn cell(self, row: usize) -> &'a T {
        &self[row]
    }
}

/// Rows of one chunk that follow each other, with their [`KeyCells`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeySlice<C> {
    /// The first row.
    pub(crate) at: ChunkRow,
    pub(crate) cells: C,
    /// Whether the keys are known to ascend.
    pub(crate) ascends: bool,
}

/// Rows that follow each other before they are sorted, and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SortedRun {
    /// Where they lie before.
    pub(crate) rows: RowRun,
    /// Whether they are out of place. All others keep their order.
    pub(crate) jumps: bool,
}

impl SortedRun {
    /// Adds rows: to the last of these runs if they follow it, otherwise as a new run.
    fn add(runs: &mut Vec<Self>, Self { rows, jumps }: Self) {
        match runs.last_mut() {
            Some(last) if last.jumps == jumps && last.rows.end() == rows.at => {
                last.rows.len += rows.len;
            }
            _ => runs.push(Self { rows, jumps }),
        }
    }
}

/// The order in which the keys ascend, if few are out of place: no run if none is, `None` if too
/// many are. Equal keys keep their order.
pub(crate) fn sort_few<C: KeyCells, K: Ord + Copy>(
    slices: &[KeySlice<C>],
    key: impl Fn(C::Cell) -> K,
) -> Option<Vec<SortedRun>> {
    let mut split =
        SplitKeys { slices, key, in_place: Vec::with_capacity(slices.len()), others: Vec::new() };
    if !split.run() {
        return None;
    }
    if split.others.is_empty() {
        return Some(Vec::new());
    }
    // By `Ord` alone, as in all comparisons here: `PartialOrd` may contradict it.
    split.others.sort_unstable_by(Ord::cmp);
    Some(split.merge())
}

/// The rows in the order of their keys. Rows with equal keys ascend.
pub(crate) fn sort_all<K: Ord, R: Ord>(mut keys: Vec<(K, R)>) -> Vec<R> {
    // The row makes all keys different.
    keys.sort_unstable_by(Ord::cmp);
    let mut rows: Vec<_> = keys.into_iter().map(|(_, row)| row).collect();
    // They may lie in the memory of the pairs.
    rows.shrink_to_fit();
    rows
}

/// The place of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct KeyPlace {
    slice: u32,
    row: u32,
}

/// The places of keys that ascend.
#[derive(Clone, Debug)]
struct KeysInPlace {
    slice: u32,
    rows: Range<u32>,
}

impl KeysInPlace {
    const fn last(&self) -> KeyPlace {
        KeyPlace { slice: self.slice, row: self.rows.end - 1 }
    }
}

/// The keys in place, and all others.
struct SplitKeys<'s, C, K, F> {
    slices: &'s [KeySlice<C>],
    key: F,
    in_place: Vec<KeysInPlace>,
    others: Vec<(K, KeyPlace)>,
}

impl<C: KeyCells, K: Ord + Copy, F: Fn(C::Cell) -> K> SplitKeys<'_, C, K, F> {
    /// Finds the keys that ascend. Returns `false` if the others are too many.
    ///
    /// A key that is less than the last one that ascends is among the others. If a run of keys is
    /// less, the last ones that ascend may be the ones out of place: if they are no more than the
    /// run, they are given up, and the run is looked at again.
    fn run(&mut self) -> bool {
        let total: usize = self.slices.iter().map(|slice| slice.cells.len()).sum();
        let (mut looks, mut last) = (total * LOOKS_MAX, None::<K>);
        let (mut next, mut run, mut run_max) = (KeyPlace { slice: 0, row: 0 }, 0, RUN_MAX);
        while let Some(slice) = self.slices.get(next.slice as usize) {
            if next.row as usize == slice.cells.len() {
                next = KeyPlace { slice: next.slice + 1, row: 0 };
                continue;
            }
            if self.others.len() > total / OTHERS_MAX || looks == 0 {
                return false;
            }
            let first = self.key_of(next);
            if last.is_none_or(|last| last.cmp(&first).is_le()) {
                let (end, greatest) = self.ascending(slice, next.row, first);
                let rows = next.row..end;
                looks = looks.saturating_sub(rows.len());
                next.row = end;
                self.in_place.push(KeysInPlace { slice: next.slice, rows });
                last = Some(greatest);
                (run, run_max) = (0, RUN_MAX);
                continue;
            }
            self.others.push((first, next));
            (run, next.row, looks) = (run + 1, next.row + 1, looks - 1);
            if run < run_max {
                continue;
            }
            let start = self.others.len() - run;
            let greatest = self.others[start..].iter().map(|&(key, _)| key).max();
            let given_up = greatest.map_or(0, |greatest| self.count_greater(greatest, run + 1));
            if given_up > run {
                run_max *= 2;
                continue;
            }
            next = self.others[start].1;
            self.others.truncate(start);
            last = self.give_up(given_up.max(1));
            (run, run_max) = (0, RUN_MAX);
        }
        true
    }

    /// The end of the keys that ascend from a row with the key `first` on, and the last of them.
    fn ascending(&self, slice: &KeySlice<C>, start: u32, first: K) -> (u32, K) {
        let KeySlice { cells, ascends, .. } = *slice;
        let narrow = |row| u32::try_from(row).expect("a chunk has 2^32 rows or more");
        if ascends {
            return (narrow(cells.len()), (self.key)(cells.cell(cells.len() - 1)));
        }
        let mut last = first;
        for row in start as usize + 1..cells.len() {
            let key = (self.key)(cells.cell(row));
            if last.cmp(&key).is_gt() {
                return (narrow(row), last);
            }
            last = key;
        }
        (narrow(cells.len()), last)
    }

    /// The number of keys at the end of those in place that are greater than a key: at most `max`.
    fn count_greater(&self, least: K, max: usize) -> usize {
        let rows = self.in_place.iter().rev().flat_map(|part| {
            part.rows.clone().rev().map(|row| KeyPlace { slice: part.slice, row })
        });
        rows.take(max).take_while(|&place| self.key_of(place).cmp(&least).is_gt()).count()
    }

    /// Moves the last keys in place to the others. Returns the last key that stays in place.
    fn give_up(&mut self, keys: usize) -> Option<K> {
        for _ in 0..keys {
            let Some(part) = self.in_place.last_mut() else { break };
            let place = part.last();
            part.rows.end -= 1;
            if part.rows.is_empty() {
                self.in_place.pop();
            }
            self.others.push((self.key_of(place), place));
        }
        self.in_place.last().map(|part| self.key_of(part.last()))
    }

    fn key_of(&self, KeyPlace { slice, row }: KeyPlace) -> K {
        (self.key)(self.slices[slice as usize].cells.cell(row as usize))
    }

    /// Merges the keys in place with the others, which are sorted.
    fn merge(self) -> Vec<SortedRun> {
        let mut merged = Vec::with_capacity(self.in_place.len() + 2 * self.others.len());
        let mut add = |KeyPlace { slice, row }: KeyPlace, len, jumps| {
            let at = self.slices[slice as usize].at;
            let rows = RowRun { at: ChunkRow { row: at.row + row, ..at }, len };
            SortedRun::add(&mut merged, SortedRun { rows, jumps });
        };
        let mut parts = self.in_place.iter().cloned();
        let mut rest = parts.next();
        for &(key, place) in &self.others {
            // Equal keys keep their order.
            let is_before =
                |one: KeyPlace| self.key_of(one).cmp(&key).then(one.cmp(&place)).is_lt();
            while let Some(part) = &mut rest {
                let start = KeyPlace { slice: part.slice, row: part.rows.start };
                if is_before(part.last()) {
                    add(start, part.rows.end - start.row, false);
                    rest = parts.next();
                    continue;
                }
                let before = count_before(&part.rows, |row| is_before(KeyPlace { row, ..start }));
                if before > 0 {
                    add(start, before, false);
                    part.rows.start += before;
                }
                break;
            }
            add(place, 1, true);
        }
        for KeysInPlace { slice, rows } in rest.into_iter().chain(parts) {
            add(KeyPlace { slice, row: rows.start }, rows.end - rows.start, false);
        }
        merged
    }
}

/// The number of rows at the start for which `is_before` is true; it is false for all that follow.
/// O(log of this number).
fn count_before(rows: &Range<u32>, is_before: impl Fn(u32) -> bool) -> u32 {
    let (mut known, mut step) = (rows.start, 1);
    while step <= rows.end - known && is_before(known + step - 1) {
        known += step;
        step *= 2;
    }
    let mut end = rows.end.min(known + step - 1);
    while known < end {
        let middle = known.midpoint(end);
        if is_before(middle) {
            known = middle + 1;
        } else {
            end = middle;
        }
    }
    known - rows.start
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Keys as the rows of one chunk.
    fn slice<T>(cells: &[T]) -> [KeySlice<&[T]>; 1] {
        [KeySlice { at: ChunkRow { chunk: 0, row: 0 }, cells, ascends: false }]
    }

    /// The order by this module, as numbers. `None` if the keys ascend.
    fn sort_order<K: Ord + Clone>(keys: &[K]) -> Option<Vec<u32>> {
        match sort_few(&slice(keys), |key| key) {
            Some(order) => numbers(&order),
            None => Some(sort_all(keys.iter().cloned().zip(0..).collect())),
        }
    }

    fn numbers(order: &[SortedRun]) -> Option<Vec<u32>> {
        let rows = order.iter().flat_map(|run| run.rows.at.row..run.rows.end().row);
        (!order.is_empty()).then(|| rows.collect())
    }

    /// The keys out of place, sorted.
    fn jumping<K: Ord>(keys: &[K]) -> Vec<u32> {
        let order = sort_few(&slice(keys), |key| key).expect("few keys are out of place");
        let jumping: Vec<_> = order.into_iter().filter(|run| run.jumps).collect();
        let mut numbers = numbers(&jumping).unwrap_or_default();
        numbers.sort_unstable();
        numbers
    }

    /// The order by a stable sort.
    fn expected(keys: &[u8]) -> Vec<u32> {
        let mut order: Vec<u32> = (0..).take(keys.len()).collect();
        order.sort_by_key(|&number| keys[number as usize]);
        order
    }

    #[test]
    fn keys_that_ascend_have_no_new_order() {
        for keys in [&[][..], &[7], &[1, 1, 2, 2, 3]] {
            assert_eq!(sort_order(keys), None);
        }
    }

    #[test]
    fn few_keys_out_of_place_are_sorted_on_their_own() {
        let mut keys: Vec<u8> = (0..100).collect();
        keys[20] = 90;
        keys[70] = 3;
        assert_eq!(jumping(&keys), [20, 70]);
        assert_eq!(sort_order(&keys), Some(expected(&keys)));
    }

    #[test]
    fn keys_that_are_known_to_ascend_are_not_read() {
        let cells: Vec<u32> = (0..1000).collect();
        let slices = cells.chunks(100).zip(0..).map(|(cells, chunk)| KeySlice {
            at: ChunkRow { chunk, row: 0 },
            cells,
            ascends: true,
        });
        let read = core::cell::Cell::new(0);
        let key = |&key: &u32| {
            read.set(read.get() + 1);
            key
        };
        assert_eq!(sort_few(&slices.collect::<Vec<_>>(), key), Some(Vec::new()));
        assert_eq!(read.get(), 20, "the first and the last of each slice");
    }

    #[test]
    fn an_order_that_contradicts_itself_still_has_each_key_once() {
        /// A key that is less than all others, and greater.
        #[derive(Clone, PartialEq, Eq)]
        struct Contradiction;

        impl PartialOrd for Contradiction {
            fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for Contradiction {
            fn cmp(&self, _: &Self) -> core::cmp::Ordering {
                core::cmp::Ordering::Greater
            }
        }

        let keys: Vec<_> = core::iter::repeat_with(|| Contradiction).take(1000).collect();
        // The standard library may refuse such an order by a panic.
        if let Ok(order) = std::panic::catch_unwind(|| sort_order(&keys)) {
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
            let others = jumping(&keys).len();
            assert!(others <= batch.len() + RUN_MAX, "{others} of {batch:?}");
        }
        let mut keys: Vec<u32> = (0..1000).collect();
        keys[300..310].copy_from_slice(&(5000..5010).collect::<Vec<_>>());
        assert_eq!(jumping(&keys).len(), 10);
    }

    #[test]
    fn keys_that_no_order_has_end() {
        /// Ordered by `Ord`, and not by `PartialOrd`.
        #[derive(Clone, Debug, PartialEq)]
        struct Unordered(u32);

        impl Eq for Unordered {}

        #[expect(clippy::non_canonical_partial_ord_impl, reason = "the test is about such a type")]
        impl PartialOrd for Unordered {
            fn partial_cmp(&self, _: &Self) -> Option<core::cmp::Ordering> {
                None
            }
        }

        impl Ord for Unordered {
            fn cmp(&self, other: &Self) -> core::cmp::Ordering {
                self.0.cmp(&other.0)
            }
        }

        let mut keys: Vec<_> = (0..200).map(Unordered).collect();
        keys[0] = Unordered(1000);
        let order = sort_order(&keys).expect("a key is out of place");
        assert!(order.into_iter().eq((1..200).chain([0])));
        assert_eq!(sort_order(&(0..200).map(Unordered).collect::<Vec<_>>()), None);
        // Few keys that ascend are sorted in another way.
        let order = sort_all((0..100).rev().map(Unordered).zip(0..).collect());
        assert!(order.into_iter().eq((0..100).rev()));
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_a_stable_sort(
            mut keys in prop::collection::vec(any::<u8>(), 0..300),
            moved in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
            is_sorted_before in any::<bool>(),
            cut in 1usize..50,
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
            let order = sort_order(&keys);
            prop_assert_eq!(order.is_none(), keys.is_sorted());
            prop_assert_eq!(order.unwrap_or_else(|| (0..).take(keys.len()).collect()), wanted.clone());
            // In slices, some of them known to ascend.
            let slices = keys.chunks(cut).zip((0u32..).step_by(cut)).map(|(cells, row)| KeySlice {
                at: ChunkRow { chunk: 0, row },
                cells,
                ascends: cells.is_sorted(),
            });
            if let Some(order) = sort_few(&slices.collect::<Vec<_>>(), |&key| key) {
                prop_assert_eq!(order.is_empty(), keys.is_sorted());
                prop_assert_eq!(numbers(&order).unwrap_or_else(|| wanted.clone()), wanted);
            }
        }
    }
}

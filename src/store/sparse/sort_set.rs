//! Sorts the values of a sparse set by a key.

use crate::component::SparseComponent;
use crate::entity::Entity;
use crate::version::Version;

use super::sparse_set::SparseSet;

impl<T: SparseComponent> SparseSet<T> {
    /// Sorts the values by a key, and returns the number of values with another position. Values
    /// with equal keys keep their order. The set must be no relation. If `key`, a comparison or the
    /// destructor of a key panics, the set is unchanged. O(values × log values).
    pub(crate) fn sort_by_key<K: Ord>(
        &mut self,
        mut key: impl FnMut(Entity, &T) -> K,
        now: Version,
    ) -> usize {
        let keys: Vec<K> = self.iter().map(|(entity, value)| key(entity, value)).collect();
        // By `Ord` alone: `PartialOrd` may contradict it.
        if keys.is_sorted_by(|a, b| a.cmp(b).is_le()) {
            return 0;
        }
        let len = u32::try_from(self.len()).expect("there are more values than entities");
        let mut order: Vec<u32> = (0..len).collect();
        order.sort_by(|&a, &b| keys[a as usize].cmp(&keys[b as usize]));
        drop(keys);
        self.renew_version();
        self.permute(&mut order, now)
    }

    /// Moves the value at `order[at]` to each position `at`, in place, and returns the number of
    /// those that move. Leaves the order of positions that stay.
    fn permute(&mut self, order: &mut [u32], now: Version) -> usize {
        let mut moved = 0;
        for first in 0..order.len() {
            // A cycle: each position takes the value of the next one, and the last one that of the
            // first, which the swaps carry along.
            let mut at = first;
            while order[at] as usize != at {
                let from = order[at] as usize;
                order[at] = u32::try_from(at).expect("there are more values than entities");
                if order[from] as usize != from {
                    self.entities.swap(at, from);
                    self.values.swap(at, from);
                }
                self.blocks.positions.replace(self.entities[at].index(), order[at]);
                self.blocks.touch::<T>(at, now);
                moved += 1;
                at = from;
            }
        }
        moved
    }
}

//! The order of the values of a sparse component.

use crate::component::{SparseComponent, assert_writable};
use crate::entity::Entity;

use super::sparse_views::SparseMut;

impl<S: SparseComponent> SparseMut<'_, S> {
    /// Sorts the values by a key, and returns the number of values that have another place now.
    /// Values with equal keys keep their order.
    ///
    /// [`iter`](Self::iter) and [blocks](Self::blocks) follow this order, for example to draw
    /// few sprites from back to front. Insertions and removals do not keep it sorted. Rows do not
    /// move, so queries keep their order. Blocks of values with new places count as
    /// [changed](crate::Changed).
    ///
    /// `key` is called once for each value, in the former order. For floats use
    /// [`total_order`](crate::rows::total_order). If it or a comparison panics, no value has moved.
    /// O(values) if the keys ascend already, and otherwise O(values × log values).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// use phalanx::rows::total_order;
    /// #[component(sparse, plain)]
    /// struct Sprite { depth: f32 }
    ///
    /// let mut world = World::new();
    /// world.spawn_batch([3.0, 1.0, 2.0].map(|depth| Sprite { depth }));
    /// let mut sprites = world.sparse_mut::<Sprite>();
    /// assert_eq!(sprites.sort_by_key(|_, sprite| total_order(sprite.depth)), 3);
    /// assert!(sprites.iter().map(|(_, sprite)| sprite.depth).eq([1.0, 2.0, 3.0]));
    /// ```
    pub fn sort_by_key<K: Ord>(&mut self, key: impl FnMut(Entity, &S) -> K) -> usize {
        const { assert_writable::<S>() };
        self.set.sort_by_key(key, self.now)
    }
}

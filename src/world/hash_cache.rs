//! The hash of a world that is asked for again and again.

use core::fmt;

use super::digests::Known;
use super::hash::hash_with;
use super::world::World;

/// The hash of a world that is asked for again and again: what [`World::hash`] returns, of which
/// only the columns of chunks that changed are computed anew.
///
/// For simulations that compare themselves with others after each step. A column of a chunk has the
/// digest that it had before if its versions and those of its rows are the same. So a body that
/// writes and returns [`Modified::No`](crate::Modified::No) is not seen. One cache may serve
/// several worlds, and forgets what the last one did not have.
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::HashCache;
///
/// # component! { struct Health(f32); }
/// # let mut world = World::new();
/// let all = world.spawn_batch((0..100_000).map(|i| Health(i as f32))).to_vec();
/// let mut cache = HashCache::new();
/// for step in 0..3 {
///     world.get_mut::<Health>(all[step])?.0 += 1.0;
///     assert_eq!(cache.hash(&world), world.hash());
/// }
/// # Ok::<(), phalanx::EntityError>(())
/// ```
#[derive(Clone, Default)]
pub struct HashCache(Known);

impl HashCache {
    /// A cache that knows nothing: the first hash costs what [`World::hash`] does.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// [`World::hash`]. O(chunks × columns + bytes of columns that changed since the last call +
    /// indices + shared values).
    #[must_use]
    pub fn hash(&mut self, world: &World) -> u64 {
        self.0.begin();
        let hash = hash_with(world, &mut self.0);
        self.0.end();
        hash
    }

    /// Columns of chunks whose bytes the last call read, entities among them.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::HashCache;
    /// # component! { struct Health(f32); }
    /// # let mut world = World::new();
    /// let all = world.spawn_batch([Health(1.0); 100_000]).to_vec();
    /// let mut cache = HashCache::new();
    /// let _ = cache.hash(&world);
    /// assert_eq!(cache.columns_read(), 2 * 25, "25 chunks");
    /// world.get_mut::<Health>(all[5000])?.0 = 2.0;
    /// let _ = cache.hash(&world);
    /// assert_eq!(cache.columns_read(), 1);
    /// # Ok::<(), phalanx::EntityError>(())
    /// ```
    #[must_use]
    pub const fn columns_read(&self) -> usize {
        self.0.computed
    }
}

impl fmt::Debug for HashCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let read = self.0.computed;
        f.debug_struct("HashCache").field("columns_read", &read).finish_non_exhaustive()
    }
}

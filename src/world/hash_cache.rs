//! A cache for the hash of a world that is asked for repeatedly.

use core::fmt;

use super::digests::Cached;
use super::hash::hash_with;
use super::world::World;

/// Computes [`World::hash`] repeatedly; only columns of chunks that changed are read again.
///
/// For simulations that compare themselves with others after each step. A column of a chunk keeps
/// its digest while its versions and the versions of its rows are the same. So a write by a body
/// that returns [`Modified::No`](crate::Modified::No) is missed. One cache may serve several
/// worlds; it forgets chunks that the last world did not have.
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::HashCache;
///
/// # #[component] struct Health(f32);
/// # let mut world = World::new();
/// let all = world.spawn_batch((0..100_000).map(|i| Health(i as f32))).to_vec();
/// let mut cache = HashCache::new();
/// for step in 0..3 {
///     world.get_mut::<Health>(all[step])?.0 += 1.0;
///     assert_eq!(cache.hash(&world), world.hash());
/// }
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
#[derive(Clone, Default)]
pub struct HashCache(Cached);

impl HashCache {
    /// An empty cache: the first hash costs as much as [`World::hash`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::HashCache;
    /// let world = World::new();
    /// assert_eq!(HashCache::new().hash(&world), world.hash());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// [`World::hash`]. O(chunks × columns + bytes of columns that changed since the last call +
    /// indices + shared values + values of sparse components with a change).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::HashCache;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// let mut cache = HashCache::new();
    /// let before = cache.hash(&world);
    /// world.get_mut::<Health>(entity)?.0 = 2.0;
    /// assert_ne!(cache.hash(&world), before);
    /// assert_eq!(cache.hash(&world), world.hash());
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[must_use]
    pub fn hash(&mut self, world: &World) -> u64 {
        self.0.begin();
        let hash = hash_with(world, &mut self.0);
        self.0.end();
        hash
    }

    /// The number of columns of chunks that the last call read, including the entities of chunks;
    /// a sparse component counts as one.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::HashCache;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// let all = world.spawn_batch([Health(1.0); 100_000]).to_vec();
    /// let mut cache = HashCache::new();
    /// let _ = cache.hash(&world);
    /// assert_eq!(cache.columns_read(), 2 * 25, "25 chunks");
    /// world.get_mut::<Health>(all[5000])?.0 = 2.0;
    /// let _ = cache.hash(&world);
    /// assert_eq!(cache.columns_read(), 1);
    /// # Ok::<(), phalanx::error::EntityError>(())
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

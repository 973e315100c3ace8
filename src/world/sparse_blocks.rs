//! The values of a sparse component as slices, for reading.

use core::fmt;
use core::iter::FusedIterator;

use crate::component::SparseComponent;
use crate::entity::Entity;
use crate::query::share;
use crate::version::Version;

use super::block_cut::BlockCut;
use super::sparse_views::{Sparse, SparseMut};
use super::value_part::ValuePart;

/// The values of a [sparse component](crate::component#sparse-components) block by block, each as a
/// slice beside the slice of their entities: the form for kernels. Made by [`Sparse::blocks`].
///
/// A set has its values without gaps. A *block* is a power of two of neighbours in at most 16 KiB,
/// or one value that is larger; the last block has the rest. The first one begins at a cache line,
/// and so do all blocks of 64 values or more. Each block has a version, which
/// [`Changed`](crate::Changed) compares. The values are in the order of [`Sparse::iter`].
///
/// Values of hidden entities, for example [`Disabled`](crate::Disabled) ones and
/// [prototypes](crate::Prototype), are left out, as by a query of `&S`: [`Sparse::iter`] has them.
/// If an entity with a value is hidden, each entity is looked up, and a block is handed out in the
/// slices between those that are hidden. If none is, this costs a test at the start:
/// O(rows / 64) of the archetypes of hidden entities.
///
/// The items can be collected: `into_par_iter` of a `Vec` of them visits whole blocks, for results
/// that are reduced in order.
///
/// ```
/// # use phalanx::prelude::*;
/// #[component(sparse, plain)]
/// struct Burning { heat: f32 }
///
/// #[kernel]
/// fn hottest(fires: &[Burning]) -> f32 {
///     fires.iter().fold(0.0, |most, fire| most.max(fire.heat))
/// }
///
/// let mut world = World::new();
/// world.spawn_batch((0..10_000).map(|i| Burning { heat: i as f32 }));
/// let fires = world.sparse::<Burning>();
/// let most = fires.blocks().map(|(_, fires)| hottest(fires)).fold(0.0, f32::max);
/// assert_eq!((most, fires.blocks().count()), (9_999.0, 3)); // 4,096 values of 4 bytes
/// ```
#[must_use = "iterators are lazy"]
pub struct SparseBlocks<'s, S> {
    cut: BlockCut<'s, &'s [S]>,
    last_run: Version,
}

impl<S: SparseComponent> Sparse<'_, S> {
    /// The values block by block, as slices; see [`SparseBlocks`]. O(1) for each block.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Name(String);
    /// let mut world = World::new();
    /// let entity = world.spawn(Name("Ada".to_owned()));
    /// for (entities, names) in world.sparse::<Name>().blocks() {
    ///     assert_eq!((entities, names[0].0.as_str()), (&[entity][..], "Ada"));
    /// }
    /// ```
    pub fn blocks(&self) -> SparseBlocks<'_, S> {
        let cut = match self.set.as_deref() {
            None => BlockCut::new(None, ValuePart::default(), None),
            Some(set) => {
                let (blocks, entities, values) = set.slices();
                let part = ValuePart { entities, values, position: 0 };
                BlockCut::new(Some(blocks), part, self.rows.hidden(set))
            }
        };
        SparseBlocks { cut, last_run: self.last_run }
    }
}

impl<S: SparseComponent> SparseMut<'_, S> {
    /// The values block by block, for reading, as [`Sparse::blocks`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Name(String);
    /// # let mut world = World::new();
    /// assert_eq!(world.sparse_mut::<Name>().blocks().count(), 0);
    /// ```
    pub fn blocks(&self) -> SparseBlocks<'_, S> {
        let (blocks, entities, values) = self.set.slices();
        let part = ValuePart { entities, values, position: 0 };
        let cut = BlockCut::new(Some(blocks), part, self.rows.hidden((&*self.set, self.number)));
        SparseBlocks { cut, last_run: self.last_run }
    }
}

impl<'s, S: SparseComponent> SparseBlocks<'s, S> {
    /// Only blocks in which, since a version of the world, a value was written or inserted, or the
    /// last value took the place of a removed one. A set that became shorter may report no block:
    /// cut a copy to [`len`](Sparse::len) values. O(1) for each block that is left out.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse, plain)] struct Burning { heat: f32 }
    /// let mut world = World::new();
    /// let fires = world.spawn_batch((0..10_000).map(|i| Burning { heat: i as f32 })).to_vec();
    /// let before = world.version();
    /// world.sparse_mut::<Burning>().get_mut(fires[5_000]).unwrap().heat = 0.0;
    /// let burning = world.sparse::<Burning>();
    /// let changed: Vec<_> = burning.blocks().changed_since(before).collect();
    /// assert_eq!((changed.len(), changed[0].0), (1, &fires[4_096..8_192]));
    /// ```
    pub fn changed_since(mut self, version: Version) -> Self {
        self.cut.leave_out_until(version);
        self
    }

    /// Only blocks that have changed since the last run of the system; its own changes do not
    /// count. All outside of systems, and in the first run.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse, plain)] struct Burning { heat: f32 }
    /// fn watch(burning: Sparse<Burning>, mut seen: Local<Vec<usize>>) {
    ///     seen.push(burning.blocks().changed().count());
    ///     assert!(seen[..] == [1] || seen[..] == [1, 0]);
    /// }
    ///
    /// let mut world = World::new();
    /// world.spawn(Burning { heat: 50.0 });
    /// let mut schedule = Schedule::new();
    /// schedule.add(watch);
    /// schedule.run(&mut world)?;
    /// schedule.run(&mut world)?;
    /// # Ok::<(), ScheduleError>(())
    /// ```
    pub fn changed(self) -> Self {
        let last_run = self.last_run;
        self.changed_since(last_run)
    }

    /// Calls `body` with the slices of each block, or of parts of it, on several threads, by the
    /// rules of [`par().for_each_chunk`](crate::chunks::ParChunks::for_each_chunk): little work
    /// stays on the calling thread, and the body must treat each value by itself.
    ///
    /// # Panics
    ///
    /// If the body does, when the other threads have finished.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse, plain)] struct Burning { heat: f32 }
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let mut world = World::new();
    /// world.spawn_batch((0..10_000).map(|i| Burning { heat: i as f32 }));
    /// let hot = AtomicUsize::new(0);
    /// world.sparse::<Burning>().blocks().par_for_each(|(_, fires)| {
    ///     let here = fires.iter().filter(|fire| fire.heat >= 5_000.0).count();
    ///     hot.fetch_add(here, Ordering::Relaxed);
    /// });
    /// assert_eq!(hot.into_inner(), 5_000);
    /// ```
    pub fn par_for_each(self, body: impl Fn((&'s [Entity], &'s [S])) + Send + Sync) {
        share(self.cut.collect(), |part: ValuePart<'s, &'s [S]>| {
            body((part.entities, part.values))
        });
    }
}

impl<'s, S: SparseComponent> Iterator for SparseBlocks<'s, S> {
    type Item = (&'s [Entity], &'s [S]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.cut.next().map(|block| (block.entities, block.values))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.cut.size_hint()
    }
}

impl<S: SparseComponent> FusedIterator for SparseBlocks<'_, S> {}

impl<S> fmt::Debug for SparseBlocks<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SparseBlocks").finish_non_exhaustive()
    }
}

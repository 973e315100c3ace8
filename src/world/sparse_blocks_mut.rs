//! The values of a sparse component as slices, for writing.

use core::fmt;
use core::iter::FusedIterator;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::component::SparseComponent;
use crate::entity::Entity;
use crate::query::{Modified, share};
use crate::store::SetWrites;
use crate::version::Version;

use super::block_cut::BlockCut;
use super::sparse_views::SparseMut;
use super::value_part::ValuePart;

/// The values of a [sparse component](crate::component#sparse-components) block by block, each as a
/// slice for writing beside the slice of their entities: the form for kernels. Made by
/// [`SparseMut::blocks_mut`]; [`SparseBlocks`](crate::sparse::SparseBlocks) says what a block is,
/// and which values are left out.
///
/// A block is marked as changed when it is handed out, or passed over by `skip`, `nth`, `last` or
/// `count`, and no other is: [`Changed`](crate::Changed) reports its values. Only
/// [`par_for_each`](SparseBlocksMut::par_for_each) has a body that may say that it modified
/// nothing. After a pass that hands out none, a [`Snapshot`](crate::snapshot::Snapshot) needs no
/// new copy of the values.
///
/// ```
/// # use phalanx::prelude::*;
/// #[component(sparse, plain)]
/// struct Burning { heat: f32 }
///
/// #[kernel]
/// fn cool(fires: &mut [Burning], factor: f32) {
///     fires.iter_mut().for_each(|fire| fire.heat *= factor);
/// }
///
/// let mut world = World::new();
/// let fires = world.spawn_batch((0..10_000).map(|i| Burning { heat: i as f32 })).to_vec();
/// for (_, fires) in world.sparse_mut::<Burning>().blocks_mut() {
///     cool(fires, 0.5);
/// }
/// assert_eq!(world.sparse::<Burning>().get(fires[9_000]).unwrap().heat, 4_500.0);
/// ```
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// # #[relation] struct Target;
/// # let mut world = World::new();
/// for (_, aims) in world.sparse_mut::<Target>().blocks_mut() {} // a relation is not written
/// ```
#[must_use = "iterators are lazy"]
pub struct SparseBlocksMut<'s, S> {
    cut: BlockCut<'s, &'s mut [S]>,
    writes: SetWrites<'s>,
    last_run: Version,
}

impl<S: SparseComponent> SparseMut<'_, S> {
    /// The values block by block, as slices for writing; see [`SparseBlocksMut`]. O(1) for each
    /// block.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Name(String);
    /// # let mut world = World::new();
    /// for (_, names) in world.sparse_mut::<Name>().blocks_mut() {
    ///     names.iter_mut().for_each(|name| name.0.make_ascii_uppercase());
    /// }
    /// ```
    pub fn blocks_mut(&mut self) -> SparseBlocksMut<'_, S> {
        let hidden = self.rows.hidden((&*self.set, self.number));
        let (writes, entities, values) = self.set.slices_mut(self.now);
        let part = ValuePart { entities, values, position: 0 };
        let cut = BlockCut::new(Some(writes.blocks()), part, hidden);
        SparseBlocksMut { cut, writes, last_run: self.last_run }
    }
}

impl<'s, S: SparseComponent> SparseBlocksMut<'s, S> {
    /// Only blocks that have changed since a version of the world, as
    /// [`SparseBlocks::changed_since`](crate::sparse::SparseBlocks::changed_since).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Name(String);
    /// # let mut world = World::new();
    /// world.spawn(Name("Ada".to_owned()));
    /// let now = world.version();
    /// assert_eq!(world.sparse_mut::<Name>().blocks_mut().changed_since(now).count(), 0);
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
    /// # #[component(sparse)] struct Name(String);
    /// # let mut world = World::new();
    /// world.spawn(Name("Ada".to_owned()));
    /// assert_eq!(world.sparse_mut::<Name>().blocks_mut().changed().count(), 1);
    /// ```
    pub fn changed(self) -> Self {
        let last_run = self.last_run;
        self.changed_since(last_run)
    }

    /// Calls `body` with the slices of each block, or of parts of it, on several threads, by the
    /// rules of [`par().for_each_chunk`](crate::chunks::ParChunks::for_each_chunk): little work
    /// stays on the calling thread, and the body must treat each value by itself. Parts of values
    /// of up to 1 KiB begin at multiples of 16 values: at a cache line, if a value has a multiple
    /// of four bytes, and no value is left out.
    ///
    /// The body may return [`Modified::No`]: a block keeps its version if no part of it was
    /// modified.
    ///
    /// # Panics
    ///
    /// If the body does, when the other threads have finished. Its block counts as modified; the
    /// blocks that were visited before depend on the threads.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse, plain)] struct Burning { heat: f32 }
    /// let mut world = World::new();
    /// world.spawn_batch((0..10_000).map(|_| Burning { heat: 8.0 }));
    /// world.sparse_mut::<Burning>().blocks_mut().par_for_each(|(_, fires)| {
    ///     fires.iter_mut().for_each(|fire| fire.heat *= 0.5);
    /// });
    /// assert!(world.sparse::<Burning>().iter().all(|(_, fire)| fire.heat == 4.0));
    /// ```
    pub fn par_for_each<R: Into<Modified>>(
        self,
        body: impl Fn((&'s [Entity], &'s mut [S])) -> R + Send + Sync,
    ) {
        let blocks = self.cut.collect();
        let pass = ChangeOnDrop { writes: self.writes, is_modified: AtomicBool::new(false) };
        share(blocks, |part: ValuePart<'s, &'s mut [S]>| {
            let ValuePart { entities, values, position } = part;
            let mark = || {
                pass.writes.touch::<S>(position);
                pass.is_modified.store(true, Ordering::Relaxed);
            };
            let mut mark = BlockMark { mark, modified: Modified::Yes };
            mark.modified = body((entities, values)).into();
        });
    }
}

/// Gives the set a new version when it is dropped, so also when a body panics.
struct ChangeOnDrop<'s> {
    writes: SetWrites<'s>,
    /// Whether a block was marked.
    is_modified: AtomicBool,
}

impl Drop for ChangeOnDrop<'_> {
    fn drop(&mut self) {
        if *self.is_modified.get_mut() {
            self.writes.change();
        }
    }
}

/// Marks a block when it is dropped, also if the body panics: it may have written half of it.
struct BlockMark<M: Fn()> {
    mark: M,
    modified: Modified,
}

impl<M: Fn()> Drop for BlockMark<M> {
    fn drop(&mut self) {
        if self.modified == Modified::Yes {
            (self.mark)();
        }
    }
}

impl<'s, S: SparseComponent> Iterator for SparseBlocksMut<'s, S> {
    type Item = (&'s [Entity], &'s mut [S]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let ValuePart { entities, values, position } = self.cut.next()?;
        self.writes.touch::<S>(position);
        self.writes.change();
        Some((entities, values))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.cut.size_hint()
    }
}

impl<S: SparseComponent> FusedIterator for SparseBlocksMut<'_, S> {}

impl<S> fmt::Debug for SparseBlocksMut<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SparseBlocksMut").finish_non_exhaustive()
    }
}

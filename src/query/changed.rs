//! The filter by changes of a component: of its chunks, or of the blocks of its sparse set.

use core::fmt;
use core::marker::PhantomData;

use crate::archetype::ChunkMeta;
use crate::component::{AnyComponent, ColumnarShape, InSet, SparseComponent};
use crate::entity::Entity;
use crate::storage::{ColumnRef, NewerRows, StampKind};
use crate::store::{RequirementsBuilder, WatchedBlocks, WatchedSets, Watching};
use crate::tuples::for_tuples;
use crate::version::Version;

use super::filter::{Filter, StampAt, sealed};
use super::named_components::Named;
use super::store_borrow::ReadBorrow;
use super::term::Term;

/// Chunks whose column `C` was yielded as `&mut` after a version, or in which rows were spawned
/// with a `C` or given one.
///
/// The unit is the chunk: a change of one row reports all rows of its chunk, and no other rows.
///
/// The values of a [sparse component](crate::component#sparse-components) are in no chunk. They
/// have versions by block: neighbours in the order of
/// [`Sparse::iter`](crate::sparse::Sparse::iter), in number the largest power of two that fits 16
/// KiB, and at least one. A block has 4,096 values of four bytes, 1,024 of a `[u32; 3]`, 128 lists
/// [`Targets`](crate::sparse::Targets), and 16,384 of a tag. The filter shows the rows with a value
/// in a block that changed. A block changes when a value of it is inserted, overwritten, or handed
/// out as `&mut`, and when one is removed: then the last value takes its place, and both blocks
/// have changed. A pass over [`rows`](crate::Query::rows) of `&mut C` marks the block of each row
/// that it passes; [`SparseMut::iter_mut`](crate::sparse::SparseMut::iter_mut) marks all blocks at
/// once, even if no value is taken. So a change of one value reports all values of its block, and a
/// query that chooses rows reads the places of all of them, O(values). A new target of a
/// [relation](crate::sparse::relation) is a change. A [restore](crate::World::restore) changes all
/// values of a component of which it changes any.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// # #[component(sparse)] struct Burning { heat: f32 }
/// fn show(burning: Query<(&Health, &Burning), Changed<Burning>>) { /* draw the flames again */ }
///
/// # let mut world = World::new();
/// let all = world.spawn_batch((0..10_000).map(|_| (Health(9.0), Burning { heat: 1.0 }))).to_vec();
/// let before = world.version();
/// world.get_mut::<Burning>(all[5_000])?.heat = 2.0;
/// let changed = world.query::<(Entity, &Health)>().changed_since::<Burning>(before);
/// assert_eq!(changed.count_rows(), 4_096, "a block of values of four bytes");
/// assert!(changed.contains(all[5_000]) && !changed.contains(all[0]));
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
///
/// A query has one filter of this kind for a sparse component, or one of
/// [lines](crate::lines::ChangedLines), and any others:
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// # #[component(sparse)] struct Burning(f32);
/// # #[component(sparse)] struct Wet(f32);
/// # let (world, since) = (World::new(), Version::NEVER);
/// let burning = world.query::<Entity>().filter_since::<Changed<Burning>>(since);
/// burning.filter_since::<Changed<Wet>>(since).count_rows(); // make it two queries
/// ```
pub struct Changed<C> {
    since: Version,
    component: PhantomData<fn(C) -> C>,
}

impl<C> Clone for Changed<C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C> Copy for Changed<C> {}

impl<C> Changed<C> {
    pub(crate) const fn since(since: Version) -> Self {
        Self { since, component: PhantomData }
    }
}

impl<C> fmt::Debug for Changed<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", core::any::type_name::<Self>(), self.since)
    }
}

/// The versions of a component, as filters compare them.
pub trait WatchShape: 'static {
    /// The sparse set with the versions.
    type Sets: WatchedSets;
    /// Whether the versions are those of values in a set, and not of chunks.
    const IN_SET: bool;
    fn describe(builder: &mut RequirementsBuilder<'_>);
    fn assert_watchable(view: ReadBorrow<'_>);
    /// See [`Filter::passes`].
    fn passes(
        since: Version,
        beside: ChunkMeta<'_>,
        watched: &mut &[ColumnRef],
        at: StampAt,
    ) -> bool;
    /// See [`Filter::newer_rows`].
    fn newer_rows<'w>(
        since: Version,
        watched: &mut &[ColumnRef],
        entities: &'w [Entity],
        blocks: <Self::Sets as WatchedSets>::Blocks<'w>,
    ) -> NewerRows<'w>;
}

impl<T: ColumnarShape> WatchShape for T {
    type Sets = ();
    const IN_SET: bool = false;

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        T::visit(&mut Named::Watched(builder));
    }

    #[inline]
    fn assert_watchable(view: ReadBorrow<'_>) {
        view.assert_names::<T>();
    }

    #[inline]
    fn passes(
        since: Version,
        beside: ChunkMeta<'_>,
        watched: &mut &[ColumnRef],
        at: StampAt,
    ) -> bool {
        let own = watched.split_off(..T::COLUMNS);
        own.expect("a filter has no watched column left").iter().any(|own| {
            let column = own.column().expect("a matched archetype lacks a watched column");
            at.of(beside.stamps, StampKind::column(column)) > since
        })
    }

    #[inline]
    fn newer_rows<'w>(
        _: Version,
        watched: &mut &[ColumnRef],
        _: &'w [Entity],
        (): (),
    ) -> NewerRows<'w> {
        watched.split_off(..T::COLUMNS).expect("a filter has no watched column left");
        NewerRows::ALL
    }
}

impl<S: SparseComponent> WatchShape for InSet<S> {
    type Sets = Watching<S>;
    const IN_SET: bool = true;

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        builder.watch_sparse::<S>();
    }

    // A query of a system finds the set when it begins, or says so.
    fn assert_watchable(_: ReadBorrow<'_>) {}

    #[inline]
    fn passes(_: Version, _: ChunkMeta<'_>, _: &mut &[ColumnRef], _: StampAt) -> bool {
        true
    }

    #[inline]
    fn newer_rows<'w>(
        since: Version,
        _: &mut &[ColumnRef],
        entities: &'w [Entity],
        blocks: WatchedBlocks<'w>,
    ) -> NewerRows<'w> {
        match blocks {
            WatchedBlocks::Known(blocks) => NewerRows::in_set(blocks, entities, since),
            // No row has the component.
            WatchedBlocks::NoSet => NewerRows::ALL,
            WatchedBlocks::Unknown => unreachable!("a filter compares the versions of no set"),
        }
    }
}

impl<C: AnyComponent<Shape: WatchShape>> sealed::Sealed for Changed<C> {}
impl<C: AnyComponent<Shape: WatchShape>> Filter for Changed<C> {
    const BY_CHUNK: bool = !C::Shape::IN_SET;
    const BY_MEMBERS: bool = C::Shape::IN_SET;
    const BY_LINES: usize = C::Shape::IN_SET as usize;
    const BY_VERSION: bool = true;
    type Sets = <C::Shape as WatchShape>::Sets;

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        C::Shape::describe(builder);
    }

    #[inline]
    fn assert_watchable(view: ReadBorrow<'_>) {
        C::Shape::assert_watchable(view);
    }

    fn newer_than(since: Version) -> Self {
        Self::since(since)
    }

    #[inline]
    fn passes(&self, beside: ChunkMeta<'_>, watched: &mut &[ColumnRef], at: StampAt) -> bool {
        C::Shape::passes(self.since, beside, watched, at)
    }

    #[inline]
    fn newer_rows<'w>(
        &self,
        _: ChunkMeta<'w>,
        watched: &mut &[ColumnRef],
        (_, entities): (u32, &'w [Entity]),
        blocks: <Self::Sets as WatchedSets>::Blocks<'w>,
    ) -> NewerRows<'w> {
        C::Shape::newer_rows(self.since, watched, entities, blocks)
    }
}

/// The component that `changed_since` watches in a query of terms `Q`.
///
/// In a query of a single component it is that component, which need not be named:
/// `query::<&Position>().changed_since(v)`. A query of several terms must name it:
/// `query::<(&Position, &Velocity)>().changed_since::<Velocity>(v)`. It need not be one of them.
#[diagnostic::on_unimplemented(
    message = "a query of the single term `{Self}` watches its own component",
    note = "to watch another one write the term as a tuple, `({Self},)`, and name the component: `.changed_since::<{C}>(version)`"
)]
pub trait Watch<C: AnyComponent>: sealed::Watching<C> {}

/// Implements [`Watch`] for single terms, which watch their own component.
macro_rules! watched_terms {
    ($($term:ty)*) => {$(
        impl<C: AnyComponent> sealed::Watching<C> for $term {}
        impl<C: AnyComponent> Watch<C> for $term {}
    )*};
}

watched_terms! { &C &mut C Option<&C> Option<&mut C> Entity }

/// Implements [`Watch`] for tuples of terms, which can watch any component.
macro_rules! watched_tuples {
    ($(($($T:ident $t:ident $i:tt),*))*) => {$(
        impl<X: AnyComponent, $($T: Term),*> sealed::Watching<X> for ($($T,)*) {}
        impl<X: AnyComponent, $($T: Term),*> Watch<X> for ($($T,)*) {}
    )*};
}

for_tuples!(watched_tuples, 1..=12);

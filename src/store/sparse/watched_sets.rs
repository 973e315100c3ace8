//! The sparse sets of which a filter reads the versions: [`Changed`](crate::Changed) of a sparse
//! component.
//!
//! Filters of other kinds have `()`, which costs nothing. The versions are in the set of a term of
//! the same query, in the lock that a run of a system holds, or in the store.

use core::fmt;
use core::marker::PhantomData;

use std::sync::RwLockReadGuard;

use crate::component::SparseComponent;
use crate::storage::SetBlocks;
use crate::tuples::for_tuples;

use super::sparse_set::SparseSet;
use super::sparse_sets::SparseSets;

/// The sparse sets that filters watch.
pub trait WatchedSets: 'static {
    /// Whether there are any.
    const ANY: bool;
    /// The locks that a run of a system holds.
    type Guards<'r>;
    /// The versions of the sets, as far as they are known.
    type Blocks<'w>: Copy + Default + fmt::Debug;

    /// The locks, for a run of a system.
    fn lock(sets: &SparseSets) -> Self::Guards<'_>;
    /// The versions of the sets of a query of a system.
    fn granted<'a>(guards: &'a Self::Guards<'_>) -> Self::Blocks<'a>;
    /// The same versions for a shorter time.
    fn shorten<'l: 's, 's>(blocks: Self::Blocks<'l>) -> Self::Blocks<'s>;
    /// Finds the versions that are not known yet.
    fn find<'w>(blocks: Self::Blocks<'w>, source: &mut impl BlockSource<'w>) -> Self::Blocks<'w>;
}

/// The versions of a set that a filter watches.
#[derive(Clone, Copy, Debug, Default)]
pub enum WatchedBlocks<'w> {
    /// Not found yet.
    #[default]
    Unknown,
    /// The world has no such set.
    NoSet,
    /// The versions of the set.
    Known(&'w SetBlocks),
}

/// Finds the versions of sets.
pub trait BlockSource<'w> {
    /// The versions of the set of `S`, if this source knows them.
    fn blocks<S: SparseComponent>(&mut self) -> WatchedBlocks<'w>;
}

/// Filters by no versions of sets.
impl WatchedSets for () {
    const ANY: bool = false;
    type Guards<'r> = ();
    type Blocks<'w> = ();

    #[inline(always)]
    fn lock(_: &SparseSets) -> Self::Guards<'_> {}

    #[inline(always)]
    fn granted<'a>((): &'a Self::Guards<'_>) -> Self::Blocks<'a> {}

    #[inline(always)]
    fn shorten<'l: 's, 's>((): Self::Blocks<'l>) -> Self::Blocks<'s> {}

    #[inline(always)]
    fn find<'w>((): Self::Blocks<'w>, _: &mut impl BlockSource<'w>) -> Self::Blocks<'w> {}
}

/// The set of a filter.
#[derive(Debug)]
pub struct Watching<S>(PhantomData<fn(S) -> S>);

/// The lock of a watched set.
#[derive(Debug)]
pub enum WatchGuard<'r, S> {
    /// The world has no such set.
    NoSet,
    /// A term of the same query holds the lock.
    OfTerm,
    /// The filter holds it.
    Own(RwLockReadGuard<'r, SparseSet<S>>),
}

impl<S: SparseComponent> WatchedSets for Watching<S> {
    const ANY: bool = true;
    type Guards<'r> = WatchGuard<'r, S>;
    type Blocks<'w> = WatchedBlocks<'w>;

    fn lock(sets: &SparseSets) -> Self::Guards<'_> {
        match sets.try_read() {
            None => WatchGuard::NoSet,
            Some(None) => WatchGuard::OfTerm,
            Some(Some(guard)) => WatchGuard::Own(guard),
        }
    }

    fn granted<'a>(guards: &'a Self::Guards<'_>) -> Self::Blocks<'a> {
        match guards {
            WatchGuard::NoSet => WatchedBlocks::NoSet,
            WatchGuard::OfTerm => WatchedBlocks::Unknown,
            WatchGuard::Own(set) => WatchedBlocks::Known(set.blocks()),
        }
    }

    #[inline]
    fn shorten<'l: 's, 's>(blocks: Self::Blocks<'l>) -> Self::Blocks<'s> {
        blocks
    }

    fn find<'w>(blocks: Self::Blocks<'w>, source: &mut impl BlockSource<'w>) -> Self::Blocks<'w> {
        match blocks {
            WatchedBlocks::Unknown => source.blocks::<S>(),
            known => known,
        }
    }
}

macro_rules! tuples {
    ($(($($T:ident $t:ident $i:tt),*))*) => {$(
        impl<$($T: WatchedSets),*> WatchedSets for ($($T,)*) {
            const ANY: bool = false $(|| $T::ANY)*;
            type Guards<'r> = ($($T::Guards<'r>,)*);
            type Blocks<'w> = ($($T::Blocks<'w>,)*);

            #[inline(always)]
            fn lock(sets: &SparseSets) -> Self::Guards<'_> {
                ($($T::lock(sets),)*)
            }

            #[inline(always)]
            fn granted<'a>(guards: &'a Self::Guards<'_>) -> Self::Blocks<'a> {
                ($($T::granted(&guards.$i),)*)
            }

            #[inline(always)]
            fn shorten<'l: 's, 's>(blocks: Self::Blocks<'l>) -> Self::Blocks<'s> {
                ($($T::shorten(blocks.$i),)*)
            }

            #[inline(always)]
            fn find<'w>(
                blocks: Self::Blocks<'w>,
                source: &mut impl BlockSource<'w>,
            ) -> Self::Blocks<'w> {
                ($($T::find(blocks.$i, source),)*)
            }
        }
    )*};
}

for_tuples!(tuples, 1..=8);

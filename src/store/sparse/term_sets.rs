//! The sparse sets from which the terms of a query take values.
//!
//! The terms of a query have one [`TermSets`] together, a tuple. Terms of columns have `()`, which
//! costs nothing. The sets on their way from the world to a pass:
//!
//! ```text
//!  the world, borrowed shared ──────── shared ──► Open: references, which are `Copy`
//!  the world, borrowed exclusively ─ in_store ──► Held ── resolve ──► Held ── open ──► Open
//!  a system ── lock ──► Guards, for a run ─ granted ──► Held ─────────────── open ──► Open
//! ```

use core::any::TypeId;
use core::fmt;
use core::marker::PhantomData;

use std::sync::{RwLockReadGuard, RwLockWriteGuard};

use crate::component::SparseComponent;
use crate::entity::Entity;
use crate::prefetch::prefetch;
use crate::storage::SetBlocks;
use crate::tuples::for_tuples;
use crate::version::Version;

use super::super::store::Store;
use super::each_mut::EachMut;
use super::sets_mut::SetsMut;
use super::sparse_set::SparseSet;
use super::sparse_sets::SparseSets;

/// The sparse sets of terms.
pub trait TermSets: 'static {
    /// Whether there are any.
    const ANY: bool;
    /// The locks that a run of a system holds.
    type Guards<'r>;
    /// The sets of a query that writes.
    type Held<'w>;
    /// The sets of a pass, and of a query that only reads.
    type Open<'w>: Copy;

    /// The locks, for a run of a system.
    ///
    /// # Panics
    ///
    /// If another system accesses a set.
    fn lock(sets: &SparseSets) -> Self::Guards<'_>;
    /// The sets of a query of a system.
    fn granted<'a>(guards: &'a mut Self::Guards<'_>) -> Self::Held<'a>;
    /// The sets of a query that borrows the store exclusively: they are in the store until a pass.
    fn in_store<'w>() -> Self::Held<'w>;
    /// The same sets for a shorter time.
    fn reborrow<'s>(held: &'s mut Self::Held<'_>) -> Self::Held<'s>;
    /// Takes the sets that are in the store.
    fn resolve<'w>(held: Self::Held<'w>, store: &mut SetsMut<'w>) -> Self::Held<'w>;
    /// Opens the sets for a pass, which writes with the version `now`.
    fn open(held: Self::Held<'_>, now: Version) -> Self::Open<'_>;
    /// The versions of the set of `T`, if it is among those of a pass.
    fn open_blocks<'w, T: SparseComponent>(open: &Self::Open<'w>) -> Option<&'w SetBlocks>;
    /// The versions of the set of `T`, if it is among those of a query that writes.
    fn held_blocks<'s, T: SparseComponent>(held: &'s Self::Held<'_>) -> Option<&'s SetBlocks>;
    /// The members of the set of one term, in a pass.
    #[inline(always)]
    fn members<'w>(_: &Self::Open<'w>) -> Option<SetMembers<'w>> {
        None
    }
    /// The sets of a query that borrows the store shared.
    fn shared(store: &Store) -> Self::Open<'_>;
    /// The same sets for a shorter time.
    fn shorten<'s>(open: &'s Self::Open<'_>) -> Self::Open<'s>;
}

/// The entities of a set, in the order of their values.
#[derive(Clone, Copy, Debug)]
pub struct SetMembers<'w> {
    /// The number of the set in the world.
    pub(crate) number: u16,
    pub(crate) entities: &'w [Entity],
}

impl<'w> SetMembers<'w> {
    /// The set of two that has fewer members.
    pub(crate) fn fewer(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        one.into_iter().chain(other).min_by_key(|set| set.entities.len())
    }
}

/// The sparse set of a term in a pass.
pub(crate) type OpenSet<'w, S> = <S as TermSets>::Open<'w>;

/// A set of a query that writes.
#[derive(Debug)]
pub enum HeldSet<R> {
    /// In the store, which the query borrows exclusively.
    InStore,
    /// Here; none if the world has no such set.
    Here(Option<R>),
}

impl<R> HeldSet<R> {
    fn or_take(self, take: impl FnOnce() -> Option<R>) -> Self {
        match self {
            Self::InStore => Self::Here(take()),
            Self::Here(_) => self,
        }
    }

    /// The set, if it is here.
    const fn known(&self) -> Option<&R> {
        match self {
            Self::Here(Some(set)) => Some(set),
            Self::InStore | Self::Here(None) => None,
        }
    }

    fn get(self) -> Option<R> {
        match self {
            Self::InStore => unreachable!("a pass begins without the sets of its query"),
            Self::Here(set) => set,
        }
    }
}

/// A set to be read, and its number in the world.
#[derive(Debug)]
pub struct ReadSet<'w, S> {
    set: &'w SparseSet<S>,
    number: u16,
}

impl<S> Clone for ReadSet<'_, S> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for ReadSet<'_, S> {}

impl<'w, S> ReadSet<'w, S> {
    const fn new((set, number): (&'w SparseSet<S>, u16)) -> Self {
        Self { set, number }
    }
}

/// The values of a set, by entity.
pub trait SetValues: Copy {
    /// A reference to a value.
    type Value;
    /// The number of the set in the world.
    fn number(self) -> u16;
    /// The position of the value of an entity. The row of the entity has the bit of a value: the
    /// id at the position is not compared.
    fn position(self, entity: Entity) -> Option<u32>;
    /// Asks for the memory of the value at a position.
    fn prefetch(self, position: u32);
    /// The value at a position.
    fn at(self, position: u32) -> Option<Self::Value>;
}

impl<'w, S: SparseComponent> SetValues for ReadSet<'w, S> {
    type Value = &'w S;

    #[inline(always)]
    fn number(self) -> u16 {
        self.number
    }

    #[inline(always)]
    fn position(self, entity: Entity) -> Option<u32> {
        self.set.blocks.positions.get(entity.index())
    }

    #[inline(always)]
    fn prefetch(self, position: u32) {
        prefetch(self.set.values().as_ptr().wrapping_add(position as usize));
    }

    #[inline(always)]
    fn at(self, position: u32) -> Option<&'w S> {
        self.set.values().get(position as usize)
    }
}

impl<'w, S> SetValues for EachOfSet<'w, S> {
    type Value = &'w mut S;

    #[inline(always)]
    fn number(self) -> u16 {
        self.number
    }

    #[inline(always)]
    fn position(self, entity: Entity) -> Option<u32> {
        self.each.blocks().positions.get(entity.index())
    }

    #[inline(always)]
    fn prefetch(self, position: u32) {
        self.each.prefetch(position);
    }

    #[inline(always)]
    fn at(self, position: u32) -> Option<&'w mut S> {
        self.each.at(position)
    }
}

/// A set to be written, and its number in the world.
#[derive(Debug)]
pub struct WrittenSet<'w, S> {
    set: &'w mut SparseSet<S>,
    number: u16,
}

/// A set that a pass writes, and its number in the world.
pub struct EachOfSet<'w, S> {
    each: EachMut<'w, S>,
    number: u16,
}

impl<S> Clone for EachOfSet<'_, S> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for EachOfSet<'_, S> {}

impl<S> fmt::Debug for EachOfSet<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.each.fmt(f)
    }
}

/// Whether two sparse components are the same.
fn is_same<S: SparseComponent, T: SparseComponent>() -> bool {
    TypeId::of::<S>() == TypeId::of::<T>()
}

/// The lock of a set for a run of a system, and the number of the set in the world.
#[derive(Debug)]
pub struct SetGuard<G> {
    guard: G,
    number: u16,
}

fn with_number<S: SparseComponent, G>(sets: &SparseSets, guard: Option<G>) -> Option<SetGuard<G>> {
    guard.zip(sets.member_number::<S>()).map(|(guard, number)| SetGuard { guard, number })
}

/// The set of a term that reads.
#[derive(Debug)]
pub struct Reading<S>(PhantomData<fn(S) -> S>);

impl<S: SparseComponent> TermSets for Reading<S> {
    const ANY: bool = true;
    type Guards<'r> = Option<SetGuard<RwLockReadGuard<'r, SparseSet<S>>>>;
    type Held<'w> = HeldSet<ReadSet<'w, S>>;
    type Open<'w> = Option<ReadSet<'w, S>>;

    fn lock(sets: &SparseSets) -> Self::Guards<'_> {
        with_number::<S, _>(sets, sets.read())
    }

    fn granted<'a>(guards: &'a mut Self::Guards<'_>) -> Self::Held<'a> {
        HeldSet::Here(guards.as_ref().map(|held| ReadSet { set: &held.guard, number: held.number }))
    }

    fn in_store<'w>() -> Self::Held<'w> {
        HeldSet::InStore
    }

    fn reborrow<'s>(held: &'s mut Self::Held<'_>) -> Self::Held<'s> {
        match held {
            HeldSet::InStore => HeldSet::InStore,
            HeldSet::Here(set) => HeldSet::Here(*set),
        }
    }

    fn resolve<'w>(held: Self::Held<'w>, store: &mut SetsMut<'w>) -> Self::Held<'w> {
        held.or_take(|| store.share().map(ReadSet::new))
    }

    #[inline]
    fn open(held: Self::Held<'_>, _: Version) -> Self::Open<'_> {
        held.get()
    }

    fn open_blocks<'w, T: SparseComponent>(open: &Self::Open<'w>) -> Option<&'w SetBlocks> {
        open.filter(|_| is_same::<S, T>()).map(|open| open.set.blocks())
    }

    fn members<'w>(open: &Self::Open<'w>) -> Option<SetMembers<'w>> {
        open.map(|one| SetMembers { number: one.number, entities: one.set.entities() })
    }

    fn held_blocks<'s, T: SparseComponent>(held: &'s Self::Held<'_>) -> Option<&'s SetBlocks> {
        held.known().filter(|_| is_same::<S, T>()).map(|held| held.set.blocks())
    }

    fn shared(store: &Store) -> Self::Open<'_> {
        store.lend_sparse().map(ReadSet::new)
    }

    #[inline]
    fn shorten<'s>(open: &'s Self::Open<'_>) -> Self::Open<'s> {
        *open
    }
}

/// The set of a term that writes.
#[derive(Debug)]
pub struct Writing<S>(PhantomData<fn(S) -> S>);

impl<S: SparseComponent> TermSets for Writing<S> {
    const ANY: bool = true;
    type Guards<'r> = Option<SetGuard<RwLockWriteGuard<'r, SparseSet<S>>>>;
    type Held<'w> = HeldSet<WrittenSet<'w, S>>;
    type Open<'w> = Option<EachOfSet<'w, S>>;

    fn lock(sets: &SparseSets) -> Self::Guards<'_> {
        with_number::<S, _>(sets, sets.write())
    }

    fn granted<'a>(guards: &'a mut Self::Guards<'_>) -> Self::Held<'a> {
        let set = guards.as_mut();
        HeldSet::Here(set.map(|one| WrittenSet { set: &mut one.guard, number: one.number }))
    }

    fn in_store<'w>() -> Self::Held<'w> {
        HeldSet::InStore
    }

    fn reborrow<'s>(held: &'s mut Self::Held<'_>) -> Self::Held<'s> {
        match held {
            HeldSet::InStore => HeldSet::InStore,
            HeldSet::Here(set) => {
                let set = set.as_mut();
                HeldSet::Here(set.map(|one| WrittenSet { set: one.set, number: one.number }))
            }
        }
    }

    fn resolve<'w>(held: Self::Held<'w>, store: &mut SetsMut<'w>) -> Self::Held<'w> {
        held.or_take(|| store.take().map(|(set, number)| WrittenSet { set, number }))
    }

    #[inline]
    fn open(held: Self::Held<'_>, now: Version) -> Self::Open<'_> {
        let WrittenSet { set, number } = held.get()?;
        Some(EachOfSet { each: set.each_mut(now), number })
    }

    fn open_blocks<'w, T: SparseComponent>(open: &Self::Open<'w>) -> Option<&'w SetBlocks> {
        open.filter(|_| is_same::<S, T>()).map(|open| open.each.blocks())
    }

    fn members<'w>(open: &Self::Open<'w>) -> Option<SetMembers<'w>> {
        open.map(|one| SetMembers { number: one.number, entities: one.each.entities() })
    }

    fn held_blocks<'s, T: SparseComponent>(held: &'s Self::Held<'_>) -> Option<&'s SetBlocks> {
        held.known().filter(|_| is_same::<S, T>()).map(|held| held.set.blocks())
    }

    fn shared(_: &Store) -> Self::Open<'_> {
        unreachable!("a query that writes a sparse component borrows the store shared")
    }

    #[inline]
    fn shorten<'s>(open: &'s Self::Open<'_>) -> Self::Open<'s> {
        *open
    }
}

impl TermSets for () {
    const ANY: bool = false;
    type Guards<'r> = ();
    type Held<'w> = ();
    type Open<'w> = ();

    #[inline(always)]
    fn lock(_: &SparseSets) -> Self::Guards<'_> {}

    #[inline(always)]
    fn granted<'a>((): &'a mut Self::Guards<'_>) -> Self::Held<'a> {}

    #[inline(always)]
    fn in_store<'w>() -> Self::Held<'w> {}

    #[inline(always)]
    fn reborrow<'s>((): &'s mut Self::Held<'_>) -> Self::Held<'s> {}

    #[inline(always)]
    fn resolve<'w>((): Self::Held<'w>, _: &mut SetsMut<'w>) -> Self::Held<'w> {}

    #[inline(always)]
    fn open((): Self::Held<'_>, _: Version) -> Self::Open<'_> {}

    #[inline(always)]
    fn open_blocks<'w, T: SparseComponent>((): &Self::Open<'w>) -> Option<&'w SetBlocks> {
        None
    }

    #[inline(always)]
    fn held_blocks<'s, T: SparseComponent>((): &'s Self::Held<'_>) -> Option<&'s SetBlocks> {
        None
    }

    #[inline(always)]
    fn shared(_: &Store) -> Self::Open<'_> {}

    #[inline(always)]
    fn shorten<'s>((): &'s Self::Open<'_>) -> Self::Open<'s> {}
}

macro_rules! tuples {
    ($(($($T:ident $t:ident $i:tt),*))*) => {$(
        impl<$($T: TermSets),*> TermSets for ($($T,)*) {
            const ANY: bool = false $(|| $T::ANY)*;
            type Guards<'r> = ($($T::Guards<'r>,)*);
            type Held<'w> = ($($T::Held<'w>,)*);
            type Open<'w> = ($($T::Open<'w>,)*);

            #[inline(always)]
            fn lock(sets: &SparseSets) -> Self::Guards<'_> {
                ($($T::lock(sets),)*)
            }

            #[inline(always)]
            fn granted<'a>(guards: &'a mut Self::Guards<'_>) -> Self::Held<'a> {
                ($($T::granted(&mut guards.$i),)*)
            }

            #[inline(always)]
            fn in_store<'w>() -> Self::Held<'w> {
                ($($T::in_store(),)*)
            }

            #[inline(always)]
            fn reborrow<'s>(held: &'s mut Self::Held<'_>) -> Self::Held<'s> {
                ($($T::reborrow(&mut held.$i),)*)
            }

            #[inline(always)]
            fn resolve<'w>(held: Self::Held<'w>, store: &mut SetsMut<'w>) -> Self::Held<'w> {
                ($($T::resolve(held.$i, store),)*)
            }

            #[inline(always)]
            fn open(held: Self::Held<'_>, now: Version) -> Self::Open<'_> {
                ($($T::open(held.$i, now),)*)
            }

            fn open_blocks<'w, Set: SparseComponent>(
                open: &Self::Open<'w>,
            ) -> Option<&'w SetBlocks> {
                None $(.or_else(|| $T::open_blocks::<Set>(&open.$i)))*
            }

            fn held_blocks<'s, Set: SparseComponent>(
                held: &'s Self::Held<'_>,
            ) -> Option<&'s SetBlocks> {
                None $(.or_else(|| $T::held_blocks::<Set>(&held.$i)))*
            }

            #[inline(always)]
            fn shared(store: &Store) -> Self::Open<'_> {
                ($($T::shared(store),)*)
            }

            #[inline(always)]
            fn shorten<'s>(open: &'s Self::Open<'_>) -> Self::Open<'s> {
                ($($T::shorten(&open.$i),)*)
            }
        }
    )*};
}

for_tuples!(tuples, 1..=12);

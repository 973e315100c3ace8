//! Filters: which archetypes a query visits, and which of their chunks.

use core::fmt;
use core::marker::PhantomData;

use crate::component::Component;
use crate::entity::Entity;
use crate::storage::{ColumnRef, StampKind, Stamps};
use crate::store::RequirementsBuilder;
use crate::tuples::for_tuples;
use crate::version::Version;

use super::term::Term;

/// Narrows a query: a filter type, or a tuple of up to eight, all of which must pass.
///
/// The methods of [`Query`](super::Query) add these one by one; as types they name a query that is
/// stored. [`With`], [`Without`] and [`AnyOf`] choose archetypes and cost nothing in the loop;
/// [`Changed`] and [`Arrived`] choose chunks, by one comparison for an archetype and then a scan of
/// a dense array. The trait is sealed.
pub trait Filter: Copy + sealed::Sealed + 'static {
    /// Whether chunks are tested one by one.
    #[doc(hidden)]
    const BY_CHUNK: bool;
    #[doc(hidden)]
    fn describe(spec: &mut RequirementsBuilder<'_>);
    /// The filter of a system that last began at `since`.
    #[doc(hidden)]
    fn newer_than(since: Version) -> Self;
    /// Whether something the filter watches is newer than its version. `watched` are the columns
    /// that `describe` asked to watch, and each filter takes its own off the front.
    #[doc(hidden)]
    fn passes(&self, stamps: &Stamps, watched: &mut &[ColumnRef], at: StampAt) -> bool;
}

mod sealed {
    pub trait Sealed {}
    pub trait Components {}
    pub trait Watch<C> {}
}

/// Which stamps are looked at: the newest of an archetype, or a chunk's.
#[derive(Clone, Copy, Debug)]
pub enum StampAt {
    /// The archetype's summary.
    Newest,
    /// One chunk.
    Chunk(usize),
}

impl StampAt {
    #[inline]
    fn of(self, stamps: &Stamps, run: StampKind) -> Version {
        match self {
            Self::Newest => stamps.newest(run),
            Self::Chunk(chunk) => stamps.get(run, chunk),
        }
    }
}

macro_rules! archetype_filter {
    ($(#[$meta:meta])* $name:ident<$T:ident: $bound:ident>, $describe:expr) => {
        $(#[$meta])*
        pub struct $name<$T>(PhantomData<fn($T) -> $T>);

        impl<$T> $name<$T> {
            pub(crate) const NEW: Self = Self(PhantomData);
        }

        impl<$T> Clone for $name<$T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<$T> Copy for $name<$T> {}

        impl<$T> fmt::Debug for $name<$T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(core::any::type_name::<Self>())
            }
        }

        impl<$T: $bound + 'static> sealed::Sealed for $name<$T> {}

        impl<$T: $bound + 'static> Filter for $name<$T> {
            const BY_CHUNK: bool = false;

            fn describe(spec: &mut RequirementsBuilder<'_>) {
                let describe: fn(&mut RequirementsBuilder<'_>) = $describe;
                describe(spec);
            }

            fn newer_than(_: Version) -> Self {
                Self::NEW
            }

            #[inline]
            fn passes(&self, _: &Stamps, _: &mut &[ColumnRef], _: StampAt) -> bool {
                true
            }
        }
    };
}

archetype_filter! {
    /// Entities that have `C`, without asking for its column.
    With<C: Component>, |spec| spec.with::<C>()
}

archetype_filter! {
    /// Entities that lack `C`.
    Without<C: Component>, |spec| spec.without::<C>()
}

archetype_filter! {
    /// Entities that have at least one component of the tuple.
    AnyOf<T: ComponentTuple>, |spec| {
        spec.open_any();
        T::name_all(spec);
    }
}

/// A tuple of one to eight components, for [`AnyOf`].
pub trait ComponentTuple: sealed::Components {
    #[doc(hidden)]
    fn name_all(spec: &mut RequirementsBuilder<'_>);
}

/// Chunks in which column `C` was handed out as `&mut`, or rows were spawned or given a `C`, after
/// a version.
///
/// The unit is the chunk: one changed row reports all rows of its chunk, never the others.
#[derive(Clone, Copy)]
pub struct Changed<C> {
    since: Version,
    component: PhantomData<fn(C) -> C>,
}

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

impl<C: Component> sealed::Sealed for Changed<C> {}
impl<C: Component> Filter for Changed<C> {
    const BY_CHUNK: bool = true;

    fn describe(spec: &mut RequirementsBuilder<'_>) {
        spec.watch::<C>();
    }

    fn newer_than(since: Version) -> Self {
        Self::since(since)
    }

    #[inline]
    fn passes(&self, stamps: &Stamps, watched: &mut &[ColumnRef], at: StampAt) -> bool {
        let (first, rest) = watched.split_first().expect("a watched column for every filter");
        *watched = rest;
        let column = first.column().expect("a watched column is required");
        at.of(stamps, StampKind::column(column)) > self.since
    }
}

/// Chunks in which rows arrived after a version: were spawned, or came from another archetype.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    since: Version,
}

impl Arrived {
    pub(crate) const fn since(since: Version) -> Self {
        Self { since }
    }
}

impl sealed::Sealed for Arrived {}
impl Filter for Arrived {
    const BY_CHUNK: bool = true;

    fn describe(spec: &mut RequirementsBuilder<'_>) {
        spec.watch_arrivals();
    }

    fn newer_than(since: Version) -> Self {
        Self::since(since)
    }

    #[inline]
    fn passes(&self, stamps: &Stamps, _: &mut &[ColumnRef], at: StampAt) -> bool {
        at.of(stamps, StampKind::ARRIVAL) > self.since
    }
}

/// Which component `changed_since` watches in a query of terms `Q`.
///
/// In a query of a single component it is that one and need not be named:
/// `query::<&Position>().changed_since(v)`. A query of several terms says which:
/// `query::<(&Position, &Velocity)>().changed_since::<Velocity>(v)`; it need not be one of them.
#[diagnostic::on_unimplemented(
    message = "a query of the single term `{Self}` watches its own component",
    note = "to watch another one write the term as a tuple, `({Self},)`, and name the component: `.changed_since::<{C}>(version)`"
)]
pub trait Watch<C: Component>: sealed::Watch<C> {}

/// The components that queries of single terms watch.
macro_rules! watched {
    ($($term:ty)*) => {$(
        impl<C: Component> sealed::Watch<C> for $term {}
        impl<C: Component> Watch<C> for $term {}
    )*};
}

watched! { &C &mut C Option<&C> Option<&mut C> Entity }

macro_rules! filters {
    ($(($($T:ident $t:ident $i:tt),*))*) => {$(
        impl<$($T: Filter),*> sealed::Sealed for ($($T,)*) {}

        #[expect(clippy::allow_attributes, reason = "only the empty tuple needs it")]
        #[allow(unused_variables, clippy::unused_unit, reason = "the empty tuple uses no parameter")]
        impl<$($T: Filter),*> Filter for ($($T,)*) {
            const BY_CHUNK: bool = false $(|| $T::BY_CHUNK)*;

            fn describe(spec: &mut RequirementsBuilder<'_>) {
                $($T::describe(spec);)*
            }

            fn newer_than(since: Version) -> Self {
                ($($T::newer_than(since),)*)
            }

            #[inline]
            fn passes(&self, stamps: &Stamps, watched: &mut &[ColumnRef], at: StampAt) -> bool {
                // `&` and not `&&`: every filter must remove its columns.
                true $(& self.$i.passes(stamps, watched, at))*
            }
        }
    )*};
}

filters! { () }
for_tuples!(filters, 1..=8);

/// Implements [`ComponentTuple`] for tuples.
macro_rules! component_tuples {
    ($(($($T:ident $t:ident $i:tt),*))*) => {$(
        impl<$($T: Component),*> sealed::Components for ($($T,)*) {}
        impl<$($T: Component),*> ComponentTuple for ($($T,)*) {
            fn name_all(spec: &mut RequirementsBuilder<'_>) {
                $(spec.any::<$T>();)*
            }
        }
    )*};
}

for_tuples!(component_tuples, 1..=8);

/// Implements [`Watch`] for tuples of terms, which can watch any component.
macro_rules! watched_tuples {
    ($(($($T:ident $t:ident $i:tt),*))*) => {$(
        impl<X: Component, $($T: Term),*> sealed::Watch<X> for ($($T,)*) {}
        impl<X: Component, $($T: Term),*> Watch<X> for ($($T,)*) {}
    )*};
}

for_tuples!(watched_tuples, 1..=12);

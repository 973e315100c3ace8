//! The terms of a query: one term, or a tuple of up to twelve.

use core::iter::{RepeatN, repeat_n};

use crate::component::{
    AnyComponent, ChunkValue, Component, ConstText, ONE_NAME, PerChunk, Shared, SharedValue,
};
use crate::entity::Entity;
use crate::storage::Columns;
use crate::store::{RequirementsBuilder, SetMembers, TermSets};
use crate::tuples::for_tuples;
use crate::version::Version;

use super::access::{Access, AccessFlags, any, columns, conflict, is_of_chunk};
use super::chunk_rows::ChunkRows;
use super::enabled_terms::Enabled;
use super::in_step::InStep;
use super::run_stamps::RunStamps;
use super::some_rows::PickRow;
use super::store_borrow::{Mode, Reads};
use super::term::Term;
use super::term_shape::TermShape;

/// The terms of a query: one [`Term`], or a tuple of up to twelve. `()` has none: such a query
/// counts entities, or tells whether one passes its filters.
///
/// A query that names a component twice, at least once with `&mut`, does not compile (`cargo build`
/// reports its name; `cargo check` does not detect it):
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// # #[component] struct Position(f32);
/// let mut world = World::new();
/// for (a, b) in world.query_mut::<(&mut Position, &Position)>() {} // names Position twice
/// ```
///
/// Nor does a structural change during a pass, because the query borrows the world:
///
/// ```compile_fail,E0499
/// # use phalanx::prelude::*;
/// # #[component] struct Position(f32);
/// let mut world = World::new();
/// for position in world.query_mut::<&mut Position>() {
///     world.spawn(Position(0.0));
/// }
/// ```
///
/// Collect during the pass, change afterwards:
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// # let mut world = World::new();
/// # world.spawn_batch([Health(1.0), Health(0.0)]);
/// let rows = world.query::<(Entity, &Health)>().rows();
/// let dead: Vec<Entity> = rows.filter(|(_, health)| health.0 <= 0.0).map(|(e, _)| e).collect();
/// for entity in dead {
///     world.despawn(entity)?;
/// }
/// # assert_eq!(world.len(), 1);
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a query",
    note = "a query is a term (`&C`, `&mut C`, `Option<&C>`, `Option<&mut C>`, `Entity`, `Enabled<C>`, `EnabledMut<C>`, `LinesMut<C>`, `PerChunk<V>`, `PerChunkMut<V>`, `Shared<T>` without `&`, where `T` is `Eq + Hash + Send + Sync`) or a tuple of up to twelve terms; each `C` must have `#[component]` or be named in `impl_component!`"
)]
pub trait Terms: sealed::Sealed {
    /// The item of a chunk: a slice, or a tuple of slices.
    type Slices<'w>;
    /// The item of an entity: a reference, or a tuple of references.
    type Row<'w>;
    #[doc(hidden)]
    type Rows<'w>: PickRow<Item = Self::Row<'w>>;
    /// The terms in a pass over rows.
    #[doc(hidden)]
    type ByRow: for<'w> Terms<Row<'w> = Self::Row<'w>, Mode = Self::Mode, Sets = Self::Sets>;
    #[doc(hidden)]
    type Key: 'static;
    /// Whether all terms only read: it decides how a query borrows the store.
    #[doc(hidden)]
    type Mode: Mode;
    /// The sparse sets from which the terms take values.
    #[doc(hidden)]
    type Sets: TermSets;
    #[doc(hidden)]
    const ACCESSES: &'static [&'static [Access]];
    /// The number of columns that the terms take from a chunk.
    #[doc(hidden)]
    const COLUMNS: usize = columns(Self::ACCESSES);
    /// Whether any term writes, so that a pass needs exclusive access to the rows it visits.
    #[doc(hidden)]
    const WRITES: bool = {
        let writes = <Self::Mode as Mode>::WRITES;
        assert!(
            writes == any(Self::ACCESSES, AccessFlags::WRITE),
            "the mode of terms contradicts their accesses"
        );
        writes
    };
    /// Whether a term shows only rows in which its component is enabled.
    #[doc(hidden)]
    const BY_ROW: bool = any(Self::ACCESSES, AccessFlags::CHOOSES_ROWS);
    /// Whether a term shows only rows that have its sparse component.
    #[doc(hidden)]
    const BY_MEMBERS: bool = any(Self::ACCESSES, AccessFlags::CHOOSES_MEMBERS);
    /// Whether a term takes data beside its column.
    #[doc(hidden)]
    const BESIDE: bool = any(
        Self::ACCESSES,
        AccessFlags::BESIDE
            .and(AccessFlags::BY_LINES)
            .and(AccessFlags::ENABLED_ROWS)
            .and(AccessFlags::READS_MEMBERS),
    );
    /// Whether a term takes data of a chunk that differ between chunks which follow each other in
    /// memory.
    #[doc(hidden)]
    const OF_CHUNK: bool = is_of_chunk(Self::ACCESSES);
    /// Whether a term writes a component that tracks lines.
    #[doc(hidden)]
    const TRACKS_LINES: bool = any(Self::ACCESSES, AccessFlags::STAMPS_LINES);
    /// Whether a term switches enable bits.
    #[doc(hidden)]
    const SWITCHES: bool = any(Self::ACCESSES, AccessFlags::SWITCHES);
    /// Whether a term hands out one value for all rows of a chunk, to be written.
    #[doc(hidden)]
    const WRITES_CHUNKS: bool = any(Self::ACCESSES, AccessFlags::WRITES_CHUNKS);
    #[doc(hidden)]
    fn describe(builder: &mut RequirementsBuilder<'_>);
    #[doc(hidden)]
    fn cut<'w>(
        columns: &mut impl Columns<'w>,
        rows: ChunkRows<'w>,
        sets: OpenOf<'w, Self>,
    ) -> Self::Slices<'w>;
    #[doc(hidden)]
    fn rows<'w>(slices: Self::Slices<'w>, len: usize) -> Self::Rows<'w>;
    #[doc(hidden)]
    fn bare_row<'w>(entity: Entity) -> Option<Self::Row<'w>>;
    /// The members of the smallest set of a pass that a term requires.
    #[doc(hidden)]
    fn fewest<'w>(sets: &OpenOf<'w, Self>) -> Option<SetMembers<'w>>;
    #[doc(hidden)]
    type Stamps<'w>: Default;
    #[doc(hidden)]
    fn empty<'w>() -> Self::Slices<'w>;
    #[doc(hidden)]
    fn split_off<'w>(slices: &mut Self::Slices<'w>, rows: usize) -> Self::Slices<'w>;
    #[doc(hidden)]
    fn stamps<'w>(run: &mut RunStamps<'w, '_>) -> Self::Stamps<'w>;
    #[doc(hidden)]
    fn touch_next(stamps: &mut Self::Stamps<'_>, now: Version);
}

mod sealed {
    use super::{Reads, Terms};

    pub trait Sealed {}
    pub trait ReadOnly: Terms<Mode = Reads> {}
}

/// The terms of a query that only reads, which needs only a shared borrow of the world.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a query that only reads",
    note = "ask for `&C`, `Option<&C>`, `Entity`, `Enabled<C>` or `PerChunk<V>` of components, which have `#[component]` or are named in `impl_component!`; to write, call `query_mut`, which borrows the world exclusively, and for rows by entity `get_mut` or `lookup_mut`"
)]
pub trait ReadTerms: Terms + sealed::ReadOnly {}

/// The borrow of the store by a query of these terms.
pub(super) type BorrowOf<'w, Q> = <<Q as Terms>::Mode as Mode>::Borrow<'w>;

/// The sparse sets of a query of these terms.
pub(super) type HeldOf<'w, Q> = <<Q as Terms>::Mode as Mode>::Held<'w, <Q as Terms>::Sets>;

/// The sparse sets of a pass of these terms.
pub(super) type OpenOf<'w, Q> = <<Q as Terms>::Sets as TermSets>::Open<'w>;

/// A compile error if the terms would slice one column twice, at least once for writing.
///
/// Evaluated in a constant of each public function, so that the error names the caller's line.
pub(crate) const fn assert_unaliased<Q: Terms>() {
    if let Some(name) = conflict(Q::ACCESSES) {
        let mentions = "` twice and writes it: drop one of the two mentions";
        let text = ["this query names the component `", name, mentions, ONE_NAME];
        panic!("{}", ConstText::of(&text).as_str());
    }
}

impl<T: Term> sealed::Sealed for T {}
impl<T: Term> Terms for T {
    type Slices<'w> = T::Slice<'w>;
    type Row<'w> = <T as Term>::Row<'w>;
    type Rows<'w> = <T as Term>::Rows<'w>;
    type ByRow = <T as Term>::ByRow;
    type Key = <T as Term>::Key;
    type Mode = <T as Term>::Mode;
    type Sets = <T as Term>::Sets;
    const ACCESSES: &'static [&'static [Access]] = &[T::ACCESSES];

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        <T as Term>::describe(builder);
    }

    #[inline(always)]
    fn cut<'w>(
        columns: &mut impl Columns<'w>,
        rows: ChunkRows<'w>,
        sets: OpenOf<'w, Self>,
    ) -> Self::Slices<'w> {
        <T as Term>::cut(columns, rows, sets)
    }

    #[inline]
    fn rows<'w>(slices: Self::Slices<'w>, len: usize) -> Self::Rows<'w> {
        <T as Term>::rows(slices, len)
    }

    fn bare_row<'w>(entity: Entity) -> Option<Self::Row<'w>> {
        <T as Term>::bare_row(entity)
    }

    fn fewest<'w>(sets: &OpenOf<'w, Self>) -> Option<SetMembers<'w>> {
        if Self::BY_MEMBERS { T::Sets::members(sets) } else { None }
    }

    type Stamps<'w> = <T as Term>::Stamps<'w>;

    #[inline(always)]
    fn empty<'w>() -> Self::Slices<'w> {
        <T as Term>::empty()
    }

    #[inline(always)]
    fn split_off<'w>(slices: &mut Self::Slices<'w>, rows: usize) -> Self::Slices<'w> {
        <T as Term>::split_off(slices, rows)
    }

    #[inline(always)]
    fn stamps<'w>(run: &mut RunStamps<'w, '_>) -> Self::Stamps<'w> {
        <T as Term>::stamps(run)
    }

    #[inline(always)]
    fn touch_next(stamps: &mut Self::Stamps<'_>, now: Version) {
        <T as Term>::touch_next(stamps, now);
    }
}

impl<C: AnyComponent<Shape: TermShape>> sealed::ReadOnly for &C {}
impl<C: AnyComponent<Shape: TermShape>> ReadTerms for &C {}
impl<C: AnyComponent<Shape: TermShape>> sealed::ReadOnly for Option<&C> {}
impl<C: AnyComponent<Shape: TermShape>> ReadTerms for Option<&C> {}
impl sealed::ReadOnly for Entity {}
impl ReadTerms for Entity {}
impl<C: Component> sealed::ReadOnly for Enabled<C> {}
impl<C: Component> ReadTerms for Enabled<C> {}
impl<V: ChunkValue> sealed::ReadOnly for PerChunk<V> {}
impl<V: ChunkValue> ReadTerms for PerChunk<V> {}
impl<T: SharedValue> sealed::ReadOnly for Shared<T> {}
impl<T: SharedValue> ReadTerms for Shared<T> {}
impl<T: SharedValue> sealed::ReadOnly for Option<Shared<T>> {}
impl<T: SharedValue> ReadTerms for Option<Shared<T>> {}

/// The mode of a tuple of terms.
macro_rules! mode_of {
    ($T:ident) => { <$T as Terms>::Mode };
    ($T:ident $($Others:ident)+) => { <<$T as Terms>::Mode as Mode>::With<mode_of!($($Others)+)> };
}

macro_rules! tuples {
    ($(($($T:ident $t:ident $i:tt),*))*) => {$(
        impl<$($T: Term),*> sealed::Sealed for ($($T,)*) {}
        impl<$($T: Term),*> Terms for ($($T,)*) {
            type Slices<'w> = ($($T::Slice<'w>,)*);
            type Row<'w> = ($(<$T as Term>::Row<'w>,)*);
            type Rows<'w> = InStep<($(<$T as Term>::Rows<'w>,)*)>;
            type ByRow = ($(<$T as Term>::ByRow,)*);
            type Key = ($(<$T as Term>::Key,)*);
            type Mode = mode_of!($($T)*);
            type Sets = ($(<$T as Term>::Sets,)*);
            const ACCESSES: &'static [&'static [Access]] = &[$($T::ACCESSES),*];

            fn describe(builder: &mut RequirementsBuilder<'_>) {
                $(<$T as Term>::describe(builder);)*
            }

            #[inline(always)]
            fn cut<'w>(
                columns: &mut impl Columns<'w>,
                rows: ChunkRows<'w>,
                sets: OpenOf<'w, Self>,
            ) -> Self::Slices<'w> {
                ($(<$T as Term>::cut(columns, rows, sets.$i),)*)
            }

            #[inline]
            fn rows<'w>(slices: Self::Slices<'w>, len: usize) -> Self::Rows<'w> {
                InStep(($(<$T as Term>::rows(slices.$i, len),)*))
            }

            fn bare_row<'w>(entity: Entity) -> Option<Self::Row<'w>> {
                Some(($(<$T as Term>::bare_row(entity)?,)*))
            }

            fn fewest<'w>(sets: &OpenOf<'w, Self>) -> Option<SetMembers<'w>> {
                let mut fewest = None;
                $(fewest = SetMembers::fewer(fewest, <$T as Terms>::fewest(&sets.$i));)*
                fewest
            }

            type Stamps<'w> = ($(<$T as Term>::Stamps<'w>,)*);

            #[inline(always)]
            fn empty<'w>() -> Self::Slices<'w> {
                ($(<$T as Term>::empty(),)*)
            }

            #[inline(always)]
            fn split_off<'w>(slices: &mut Self::Slices<'w>, rows: usize) -> Self::Slices<'w> {
                ($(<$T as Term>::split_off(&mut slices.$i, rows),)*)
            }

            #[inline(always)]
            fn stamps<'w>(run: &mut RunStamps<'w, '_>) -> Self::Stamps<'w> {
                ($(<$T as Term>::stamps(run),)*)
            }

            #[inline(always)]
            fn touch_next(stamps: &mut Self::Stamps<'_>, now: Version) {
                $(<$T as Term>::touch_next(&mut stamps.$i, now);)*
            }
        }

        impl<$($T: Term + ReadTerms),*> sealed::ReadOnly for ($($T,)*) {}
        impl<$($T: Term + ReadTerms),*> ReadTerms for ($($T,)*) {}
    )*};
}

for_tuples!(tuples, 1..=12);

/// No terms: the entities that the filters let pass, to be counted, or asked for by id.
impl sealed::Sealed for () {}
impl Terms for () {
    type Slices<'w> = ();
    type Row<'w> = ();
    type Rows<'w> = RepeatN<()>;
    type ByRow = ();
    type Key = ();
    type Mode = Reads;
    type Sets = ();
    const ACCESSES: &'static [&'static [Access]] = &[];

    fn describe(_: &mut RequirementsBuilder<'_>) {}

    fn cut<'w>(_: &mut impl Columns<'w>, _: ChunkRows<'w>, (): ()) {}

    fn rows<'w>((): Self::Slices<'w>, len: usize) -> Self::Rows<'w> {
        repeat_n((), len)
    }

    fn bare_row<'w>(_: Entity) -> Option<Self::Row<'w>> {
        Some(())
    }

    fn fewest<'w>((): &()) -> Option<SetMembers<'w>> {
        None
    }

    type Stamps<'w> = ();

    fn empty<'w>() -> Self::Slices<'w> {}

    fn split_off<'w>((): &mut Self::Slices<'w>, _: usize) -> Self::Slices<'w> {}

    fn stamps<'w>(_: &mut RunStamps<'w, '_>) {}

    fn touch_next((): &mut (), _: Version) {}
}

impl sealed::ReadOnly for () {}
impl ReadTerms for () {}

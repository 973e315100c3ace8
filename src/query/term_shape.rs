//! The way in which terms take components from chunks: a slice of one column, or a struct of
//! slices. `sparse_shape` has the one of sparse components.

use core::fmt;
use core::slice;

use crate::component::{Component, Parts, Shape, Split, SplitComponent, SplitMut, Whole};
use crate::storage::{Columns, StampRun};
use crate::store::{OpenSet, TermSets};
use crate::tuples::for_tuples;
use crate::version::Version;

use super::access::{Access, AccessFlags};
use super::chunk_rows::ChunkRows;
use super::in_step::InStep;
use super::run_stamps::RunStamps;
use super::some_rows::PickRow;

/// The columns of a component, as terms use them.
#[diagnostic::on_unimplemented(
    message = "a term of a query is a component in columns, and this one is not known to be",
    label = "not known to be in columns",
    note = "in generic code, the bound `Component` says that it is a column",
    note = "a sparse component that generic code knows by the bound `SparseComponent` is read by the parameters `Sparse<Component>` and `SparseMut<Component>` of a system, by `world.sparse::<Component>()` and `world.sparse_mut::<Component>()`"
)]
pub trait TermShape: Shape {
    /// The item of `&C` for a chunk.
    type Slice<'w>;
    /// The item of `&mut C` for a chunk.
    type SliceMut<'w>;
    /// The item of `&C` for an entity.
    type Row<'w>;
    /// The item of `&mut C` for an entity.
    type RowMut<'w>;
    /// The rows of a slice.
    type Rows<'w>: PickRow<Item = Self::Row<'w>>;
    /// The rows of a writable slice.
    type RowsMut<'w>: PickRow<Item = Self::RowMut<'w>>;
    /// The stamps of the chunks that are written.
    type Stamps<'w>: Default;
    /// The sparse set of `&C`.
    type Sets: TermSets;
    /// The sparse set of `&mut C`.
    type SetsMut: TermSets;
    /// The access to each column of `&C`.
    const READ: &'static [Access];
    /// The access to each column of `&mut C`.
    const WRITE: &'static [Access];
    /// The access to each column of `Option<&C>`.
    const READ_OPTIONAL: &'static [Access];
    /// The access to each column of `Option<&mut C>`.
    const WRITE_OPTIONAL: &'static [Access];
    /// Takes the next columns; `None` if the archetype lacks one.
    fn cut<'w>(
        columns: &mut impl Columns<'w>,
        rows: ChunkRows<'w>,
        set: OpenSet<'w, Self::Sets>,
    ) -> Option<Self::Slice<'w>>;
    /// Takes the next columns for writing; `None` if the archetype lacks one.
    fn cut_mut<'w>(
        columns: &mut impl Columns<'w>,
        rows: ChunkRows<'w>,
        set: OpenSet<'w, Self::SetsMut>,
    ) -> Option<Self::SliceMut<'w>>;
    /// The rows of a slice.
    fn rows(slice: Self::Slice<'_>) -> Self::Rows<'_>;
    /// The rows of a writable slice.
    fn rows_mut(slice: Self::SliceMut<'_>) -> Self::RowsMut<'_>;
    /// The slice of no rows.
    fn empty<'w>() -> Self::Slice<'w>;
    /// The writable slice of no rows.
    fn empty_mut<'w>() -> Self::SliceMut<'w>;
    /// Cuts the first rows off.
    fn split_off<'w>(slice: &mut Self::Slice<'w>, rows: usize) -> Self::Slice<'w>;
    /// Cuts the first rows of a writable slice off.
    fn split_off_mut<'w>(slice: &mut Self::SliceMut<'w>, rows: usize) -> Self::SliceMut<'w>;
    /// Skips the stamps of columns that are not written.
    fn skip_stamps(run: &mut RunStamps<'_, '_>);
    /// Takes the stamps of the next columns.
    fn stamps<'w>(run: &mut RunStamps<'w, '_>) -> Self::Stamps<'w>;
    /// Stamps the next chunk.
    fn touch_next(stamps: &mut Self::Stamps<'_>, now: Version);
}

impl<C: Component> TermShape for Whole<C> {
    type Slice<'w> = &'w [C];
    type SliceMut<'w> = &'w mut [C];
    type Row<'w> = &'w C;
    type RowMut<'w> = &'w mut C;
    type Rows<'w> = slice::Iter<'w, C>;
    type RowsMut<'w> = slice::IterMut<'w, C>;
    type Stamps<'w> = StampRun<'w>;
    type Sets = ();
    type SetsMut = ();
    const READ: &'static [Access] = &[Access::new::<C>(AccessFlags::READ)];
    const WRITE: &'static [Access] = &[Access::new::<C>(AccessFlags::WRITE)];
    const READ_OPTIONAL: &'static [Access] = &[Access::new::<C>(AccessFlags::OPTIONAL)];
    const WRITE_OPTIONAL: &'static [Access] =
        &[Access::new::<C>(AccessFlags::WRITE.and(AccessFlags::OPTIONAL))];

    #[inline(always)]
    fn cut<'w>(columns: &mut impl Columns<'w>, _: ChunkRows<'w>, (): ()) -> Option<&'w [C]> {
        columns.column::<C>()
    }

    #[inline(always)]
    fn cut_mut<'w>(
        columns: &mut impl Columns<'w>,
        _: ChunkRows<'w>,
        (): (),
    ) -> Option<&'w mut [C]> {
        columns.column_mut::<C>()
    }

    #[inline]
    fn rows(slice: Self::Slice<'_>) -> Self::Rows<'_> {
        slice.iter()
    }

    #[inline]
    fn rows_mut(slice: Self::SliceMut<'_>) -> Self::RowsMut<'_> {
        slice.iter_mut()
    }

    #[inline(always)]
    fn empty<'w>() -> &'w [C] {
        &[]
    }

    #[inline(always)]
    fn empty_mut<'w>() -> &'w mut [C] {
        &mut []
    }

    #[inline(always)]
    fn split_off<'w>(slice: &mut Self::Slice<'w>, rows: usize) -> Self::Slice<'w> {
        let (first, rest) = slice.split_at(rows);
        *slice = rest;
        first
    }

    #[inline(always)]
    fn split_off_mut<'w>(slice: &mut Self::SliceMut<'w>, rows: usize) -> Self::SliceMut<'w> {
        // Asserted first: after a panic the slice must not be stored as empty.
        assert!(rows <= slice.len(), "a run has fewer rows than its chunks");
        let (first, rest) = core::mem::take(slice).split_at_mut(rows);
        *slice = rest;
        first
    }

    #[inline(always)]
    fn skip_stamps(run: &mut RunStamps<'_, '_>) {
        run.skip_column();
    }

    #[inline(always)]
    fn stamps<'w>(run: &mut RunStamps<'w, '_>) -> StampRun<'w> {
        run.next_column::<C>()
    }

    #[inline(always)]
    fn touch_next(stamps: &mut StampRun<'_>, now: Version) {
        stamps.touch_next(now);
    }
}

/// The fields of a split component, as terms use them: a tuple.
pub trait TermParts: Parts {
    /// The rows of a tuple of slices.
    type Rows<'w>: PickRow<Item = Self::Cells<'w>>;
    /// The rows of a tuple of writable slices.
    type RowsMut<'w>: PickRow<Item = Self::CellsMut<'w>>;
    /// See [`TermShape::Stamps`].
    type Stamps<'w>: Default;
    /// See [`TermShape::READ`].
    const READ: &'static [Access];
    /// See [`TermShape::WRITE`].
    const WRITE: &'static [Access];
    /// See [`TermShape::READ_OPTIONAL`].
    const READ_OPTIONAL: &'static [Access];
    /// See [`TermShape::WRITE_OPTIONAL`].
    const WRITE_OPTIONAL: &'static [Access];
    /// See [`TermShape::cut`].
    fn cut<'w>(columns: &mut impl Columns<'w>) -> Option<Self::Slices<'w>>;
    /// See [`TermShape::cut_mut`].
    fn cut_mut<'w>(columns: &mut impl Columns<'w>) -> Option<Self::SlicesMut<'w>>;
    /// See [`TermShape::rows`].
    fn rows(slices: Self::Slices<'_>) -> Self::Rows<'_>;
    /// See [`TermShape::rows_mut`].
    fn rows_mut(slices: Self::SlicesMut<'_>) -> Self::RowsMut<'_>;
    /// See [`TermShape::empty`].
    fn empty<'w>() -> Self::Slices<'w>;
    /// See [`TermShape::empty_mut`].
    fn empty_mut<'w>() -> Self::SlicesMut<'w>;
    /// See [`TermShape::split_off`].
    fn split_off<'w>(slices: &mut Self::Slices<'w>, rows: usize) -> Self::Slices<'w>;
    /// See [`TermShape::split_off_mut`].
    fn split_off_mut<'w>(slices: &mut Self::SlicesMut<'w>, rows: usize) -> Self::SlicesMut<'w>;
    /// See [`TermShape::skip_stamps`].
    fn skip_stamps(run: &mut RunStamps<'_, '_>);
    /// See [`TermShape::stamps`].
    fn stamps<'w>(run: &mut RunStamps<'w, '_>) -> Self::Stamps<'w>;
    /// See [`TermShape::touch_next`].
    fn touch_next(stamps: &mut Self::Stamps<'_>, now: Version);
}

macro_rules! tuples {
    ($(($($T:ident $t:ident $i:tt),*))*) => {$(
        impl<$($T: Component),*> TermParts for ($($T,)*) {
            type Rows<'w> = InStep<($(slice::Iter<'w, $T>,)*)>;
            type RowsMut<'w> = InStep<($(slice::IterMut<'w, $T>,)*)>;
            type Stamps<'w> = ($(<Whole<$T> as TermShape>::Stamps<'w>,)*);
            const READ: &'static [Access] = &[$(Access::new::<$T>(AccessFlags::READ)),*];
            const WRITE: &'static [Access] = &[$(Access::new::<$T>(AccessFlags::WRITE)),*];
            const READ_OPTIONAL: &'static [Access] = &[$(Access::new::<$T>(AccessFlags::OPTIONAL)),*];
            const WRITE_OPTIONAL: &'static [Access] = &[$(Access::new::<$T>(AccessFlags::WRITE.and(AccessFlags::OPTIONAL))),*];

            // Each column is taken, even if one is absent: the next term takes the columns that
            // follow.
            #[inline(always)]
            fn cut<'w>(columns: &mut impl Columns<'w>) -> Option<Self::Slices<'w>> {
                $(let $t = columns.column::<$T>();)*
                Some(($($t?,)*))
            }

            #[inline(always)]
            fn cut_mut<'w>(columns: &mut impl Columns<'w>) -> Option<Self::SlicesMut<'w>> {
                $(let $t = columns.column_mut::<$T>();)*
                Some(($($t?,)*))
            }

            #[inline]
            fn rows(slices: Self::Slices<'_>) -> Self::Rows<'_> {
                InStep(($(slices.$i.iter(),)*))
            }

            #[inline]
            fn rows_mut(slices: Self::SlicesMut<'_>) -> Self::RowsMut<'_> {
                InStep(($(slices.$i.iter_mut(),)*))
            }

            #[inline(always)]
            fn empty<'w>() -> Self::Slices<'w> {
                ($(Whole::<$T>::empty(),)*)
            }

            #[inline(always)]
            fn empty_mut<'w>() -> Self::SlicesMut<'w> {
                ($(Whole::<$T>::empty_mut(),)*)
            }

            #[inline(always)]
            fn split_off<'w>(slices: &mut Self::Slices<'w>, rows: usize) -> Self::Slices<'w> {
                ($(Whole::<$T>::split_off(&mut slices.$i, rows),)*)
            }

            #[inline(always)]
            fn split_off_mut<'w>(slices: &mut Self::SlicesMut<'w>, rows: usize) -> Self::SlicesMut<'w> {
                ($(Whole::<$T>::split_off_mut(&mut slices.$i, rows),)*)
            }

            #[inline(always)]
            fn skip_stamps(run: &mut RunStamps<'_, '_>) {
                $(Whole::<$T>::skip_stamps(run);)*
            }

            #[inline(always)]
            fn stamps<'w>(run: &mut RunStamps<'w, '_>) -> Self::Stamps<'w> {
                ($(Whole::<$T>::stamps(run),)*)
            }

            #[inline(always)]
            fn touch_next(stamps: &mut Self::Stamps<'_>, now: Version) {
                $(Whole::<$T>::touch_next(&mut stamps.$i, now);)*
            }
        }
    )*};
}

for_tuples!(tuples, 1..=12);

impl<S: SplitComponent<Parts: TermParts>> TermShape for Split<S> {
    type Slice<'w> = S::Slices<'w>;
    type SliceMut<'w> = S::SlicesMut<'w>;
    type Row<'w> = S;
    type RowMut<'w> = SplitMut<'w, S>;
    type Rows<'w> = SplitRows<'w, S>;
    type RowsMut<'w> = SplitRowsMut<'w, S>;
    type Stamps<'w> = <S::Parts as TermParts>::Stamps<'w>;
    type Sets = ();
    type SetsMut = ();
    const READ: &'static [Access] = <S::Parts as TermParts>::READ;
    const WRITE: &'static [Access] = <S::Parts as TermParts>::WRITE;
    const READ_OPTIONAL: &'static [Access] = <S::Parts as TermParts>::READ_OPTIONAL;
    const WRITE_OPTIONAL: &'static [Access] = <S::Parts as TermParts>::WRITE_OPTIONAL;

    #[inline(always)]
    fn cut<'w>(columns: &mut impl Columns<'w>, _: ChunkRows<'w>, (): ()) -> Option<S::Slices<'w>> {
        S::Parts::cut(columns).map(S::slices)
    }

    #[inline(always)]
    fn cut_mut<'w>(
        columns: &mut impl Columns<'w>,
        _: ChunkRows<'w>,
        (): (),
    ) -> Option<S::SlicesMut<'w>> {
        S::Parts::cut_mut(columns).map(S::slices_mut)
    }

    #[inline]
    fn rows(slices: S::Slices<'_>) -> Self::Rows<'_> {
        SplitRows(S::Parts::rows(S::parts_of(slices)))
    }

    #[inline]
    fn rows_mut(slices: S::SlicesMut<'_>) -> Self::RowsMut<'_> {
        SplitRowsMut(S::Parts::rows_mut(S::parts_of_mut(slices)))
    }

    #[inline(always)]
    fn empty<'w>() -> S::Slices<'w> {
        S::slices(S::Parts::empty())
    }

    #[inline(always)]
    fn empty_mut<'w>() -> S::SlicesMut<'w> {
        S::slices_mut(S::Parts::empty_mut())
    }

    #[inline(always)]
    fn split_off<'w>(slices: &mut S::Slices<'w>, rows: usize) -> S::Slices<'w> {
        let mut parts = S::parts_of(*slices);
        let first = S::Parts::split_off(&mut parts, rows);
        *slices = S::slices(parts);
        S::slices(first)
    }

    #[inline(always)]
    fn split_off_mut<'w>(slices: &mut S::SlicesMut<'w>, rows: usize) -> S::SlicesMut<'w> {
        let mut parts = S::parts_of_mut(core::mem::replace(slices, Self::empty_mut()));
        let first = S::Parts::split_off_mut(&mut parts, rows);
        *slices = S::slices_mut(parts);
        S::slices_mut(first)
    }

    #[inline(always)]
    fn skip_stamps(run: &mut RunStamps<'_, '_>) {
        S::Parts::skip_stamps(run);
    }

    #[inline(always)]
    fn stamps<'w>(run: &mut RunStamps<'w, '_>) -> Self::Stamps<'w> {
        S::Parts::stamps(run)
    }

    #[inline(always)]
    fn touch_next(stamps: &mut Self::Stamps<'_>, now: Version) {
        S::Parts::touch_next(stamps, now);
    }
}

/// The rows of a split component.
pub struct SplitRows<'w, S: SplitComponent<Parts: TermParts>>(<S::Parts as TermParts>::Rows<'w>);

/// The rows of a split component, for writing.
pub struct SplitRowsMut<'w, S: SplitComponent<Parts: TermParts>>(
    <S::Parts as TermParts>::RowsMut<'w>,
);

impl<S: SplitComponent<Parts: TermParts>> PickRow for SplitRows<'_, S> {
    type Whole = Self;

    #[inline(always)]
    fn whole(self) -> Self {
        self
    }

    #[inline(always)]
    fn pick(&mut self, row: usize, skip: usize) -> Option<S> {
        self.0.pick(row, skip).map(|cells| S::from_parts(S::Parts::read(cells)))
    }

    #[inline(always)]
    fn after(&mut self, skip: usize) -> Option<S> {
        self.0.after(skip).map(|cells| S::from_parts(S::Parts::read(cells)))
    }
}

impl<'w, S: SplitComponent<Parts: TermParts>> PickRow for SplitRowsMut<'w, S> {
    type Whole = Self;

    #[inline(always)]
    fn whole(self) -> Self {
        self
    }

    #[inline(always)]
    fn pick(&mut self, row: usize, skip: usize) -> Option<SplitMut<'w, S>> {
        self.0.pick(row, skip).map(SplitMut::new)
    }

    #[inline(always)]
    fn after(&mut self, skip: usize) -> Option<SplitMut<'w, S>> {
        self.0.after(skip).map(SplitMut::new)
    }
}

impl<S: SplitComponent<Parts: TermParts>> Iterator for SplitRows<'_, S> {
    type Item = S;

    #[inline]
    fn next(&mut self) -> Option<S> {
        self.0.next().map(|cells| S::from_parts(S::Parts::read(cells)))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<'w, S: SplitComponent<Parts: TermParts>> Iterator for SplitRowsMut<'w, S> {
    type Item = SplitMut<'w, S>;

    #[inline]
    fn next(&mut self) -> Option<SplitMut<'w, S>> {
        self.0.next().map(SplitMut::new)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<S: SplitComponent<Parts: TermParts>> fmt::Debug for SplitRows<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SplitRows").finish_non_exhaustive()
    }
}

impl<S: SplitComponent<Parts: TermParts>> fmt::Debug for SplitRowsMut<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SplitRowsMut").finish_non_exhaustive()
    }
}

//! The traits [`ColumnBundle`] and [`ColumnSlices`], and the writing of bundles to new rows.

use bytemuck::bytes_of;
use bytemuck::checked::pod_read_unaligned;

use crate::component::{
    Columnar, Component, ComponentId, NameTaken, Names, Registry, Split, SplitComponent, Whole,
};
use crate::storage::{LiveColumns, NewCells, RowReader, Tally, Writer};
use crate::tuples::for_tuples;

/// A [`Bundle`](crate::Bundle) of components that are columns of chunks: no
/// [sparse](crate::component#sparse-components) one is in it.
///
/// The bound of the calls that make room for rows, or write rows from slices.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// # #[component] struct Frozen;
/// fn make_room<B: phalanx::chunks::ColumnBundle>(world: &mut World) {
///     world.reserve::<(Health, B)>(1_000).unwrap();
/// }
/// make_room::<Frozen>(&mut World::new());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a bundle of columns",
    note = "a bundle of columns is a component that is not sparse, or a tuple of up to twelve such bundles: each type in it must have `#[component]` or be named in `impl_component!`",
    note = "this call is for rows of chunks, and a sparse component or a relation is in none: leave it out"
)]
pub trait ColumnBundle: Copy + Send + Sync + 'static + sealed::Sealed {
    #[doc(hidden)]
    const NAMES: Names;
    /// New cells of every column, in the bundle's order.
    #[doc(hidden)]
    type Cells<'a>;
    #[doc(hidden)]
    fn register(registry: &mut Registry, ids: &mut Vec<ComponentId>) -> Result<(), NameTaken>;
    #[doc(hidden)]
    fn cells<'a>(writer: &mut Writer<'a>) -> Self::Cells<'a>;
    /// Writes the cell of the next row in every column.
    #[doc(hidden)]
    fn push(self, cells: &mut Self::Cells<'_>, tally: &mut Tally<'_>);
    /// Writes all remaining cells of every column.
    #[doc(hidden)]
    fn fill(self, cells: &mut Self::Cells<'_>, tally: &mut Tally<'_>);
    /// Overwrites every live row.
    #[doc(hidden)]
    fn overwrite(self, columns: &mut LiveColumns<'_>);
    /// Reads every component from the cells of a row, in the bundle's order.
    #[doc(hidden)]
    fn fetch(row: &mut RowReader<'_>) -> Self;
    /// Passes the bytes of every component to `sink`, in the bundle's order.
    #[doc(hidden)]
    fn store(&self, sink: &mut impl FnMut(&[u8]));
    /// Reads a bundle from the front of `bytes`, as `store` wrote it, and advances `bytes`.
    #[doc(hidden)]
    fn load(bytes: &mut &[u8]) -> Self;
}

/// New rows of a chunk, to be written as bundles.
pub(crate) struct NewRows<'a, B: ColumnBundle> {
    cells: B::Cells<'a>,
    tally: Tally<'a>,
}

impl<'a, B: ColumnBundle> NewRows<'a, B> {
    /// Calls `write` with new rows of a chunk, and counts the rows written.
    #[inline(always)]
    pub(crate) fn write(mut writer: Writer<'a>, write: impl FnOnce(&mut Self)) -> Tally<'a> {
        let cells = B::cells(&mut writer);
        let mut rows = Self { cells, tally: writer.tally() };
        write(&mut rows);
        rows.tally
    }

    /// Writes the next row.
    #[inline(always)]
    pub(crate) fn push(&mut self, bundle: B) {
        let mut row = self.tally.next_row();
        bundle.push(&mut self.cells, &mut row);
        self.tally.end_row(&row);
    }

    /// Writes all remaining rows.
    #[inline]
    pub(crate) fn fill(&mut self, bundle: B) {
        bundle.fill(&mut self.cells, &mut self.tally);
        self.tally.end_run();
    }

    /// Writes all remaining rows, from row `start` of the slices on.
    #[inline]
    pub(crate) fn copy<S: ColumnSlices<Bundle = B>>(&mut self, slices: S, start: usize) {
        slices.copy(start, &mut self.cells, &mut self.tally);
        self.tally.end_run();
    }
}

mod sealed {
    /// Seals `ColumnBundle`. Components of other crates implement it too, so no other code relies
    /// on it.
    pub trait Sealed {}
    /// Seals `ColumnSlices`.
    pub trait Slices {}
}

#[diagnostic::do_not_recommend]
impl<C: Columnar<Shape: ColumnBundleShape<C>> + Copy> sealed::Sealed for C {}

#[diagnostic::do_not_recommend]
impl<C: Columnar<Shape: ColumnBundleShape<C>> + Copy> ColumnBundle for C {
    const NAMES: Names = C::Shape::NAMES;
    type Cells<'a> = <C::Shape as ColumnBundleShape<C>>::Cells<'a>;

    fn register(registry: &mut Registry, ids: &mut Vec<ComponentId>) -> Result<(), NameTaken> {
        C::Shape::register(registry, ids)
    }

    #[inline(always)]
    fn cells<'a>(writer: &mut Writer<'a>) -> Self::Cells<'a> {
        C::Shape::cells(writer)
    }

    #[inline(always)]
    fn push(self, cells: &mut Self::Cells<'_>, tally: &mut Tally<'_>) {
        C::Shape::push(self, cells, tally);
    }

    #[inline]
    fn fill(self, cells: &mut Self::Cells<'_>, tally: &mut Tally<'_>) {
        C::Shape::fill(self, cells, tally);
    }

    #[inline]
    fn overwrite(self, columns: &mut LiveColumns<'_>) {
        C::Shape::overwrite(self, columns);
    }

    #[inline(always)]
    fn fetch(row: &mut RowReader<'_>) -> Self {
        C::Shape::fetch(row)
    }

    #[inline(always)]
    fn store(&self, sink: &mut impl FnMut(&[u8])) {
        C::Shape::store(self, sink);
    }

    #[inline]
    fn load(bytes: &mut &[u8]) -> Self {
        C::Shape::load(bytes)
    }
}

/// The way a component is a bundle: as itself or, if it is split, as its fields. See
/// [`ColumnBundle`].
#[doc(hidden)]
pub trait ColumnBundleShape<C> {
    const NAMES: Names;
    type Cells<'a>;
    fn register(registry: &mut Registry, ids: &mut Vec<ComponentId>) -> Result<(), NameTaken>;
    fn cells<'a>(writer: &mut Writer<'a>) -> Self::Cells<'a>;
    fn push(value: C, cells: &mut Self::Cells<'_>, tally: &mut Tally<'_>);
    fn fill(value: C, cells: &mut Self::Cells<'_>, tally: &mut Tally<'_>);
    fn overwrite(value: C, columns: &mut LiveColumns<'_>);
    fn fetch(row: &mut RowReader<'_>) -> C;
    fn store(value: &C, sink: &mut impl FnMut(&[u8]));
    fn load(bytes: &mut &[u8]) -> C;
}

impl<C: Component> ColumnBundleShape<C> for Whole<C> {
    const NAMES: Names = Names::of_one(C::NAME);
    type Cells<'a> = NewCells<'a, C>;

    fn register(registry: &mut Registry, ids: &mut Vec<ComponentId>) -> Result<(), NameTaken> {
        ids.push(registry.register::<C>()?);
        Ok(())
    }

    #[inline(always)]
    fn cells<'a>(writer: &mut Writer<'a>) -> Self::Cells<'a> {
        writer.column::<C>()
    }

    #[inline(always)]
    fn push(value: C, cells: &mut Self::Cells<'_>, tally: &mut Tally<'_>) {
        cells.push(value, tally);
    }

    #[inline]
    fn fill(value: C, cells: &mut Self::Cells<'_>, tally: &mut Tally<'_>) {
        cells.fill(value, tally);
    }

    #[inline]
    fn overwrite(value: C, columns: &mut LiveColumns<'_>) {
        columns.column::<C>().fill(value);
    }

    #[inline(always)]
    fn fetch(row: &mut RowReader<'_>) -> C {
        row.take()
    }

    #[inline(always)]
    fn store(value: &C, sink: &mut impl FnMut(&[u8])) {
        sink(bytes_of(value));
    }

    #[inline]
    fn load(bytes: &mut &[u8]) -> C {
        let (value, rest) = bytes.split_at(size_of::<C>());
        *bytes = rest;
        pod_read_unaligned(value)
    }
}

impl<S: SplitComponent<Parts: ColumnBundle>> ColumnBundleShape<S> for Split<S> {
    const NAMES: Names = <S::Parts as ColumnBundle>::NAMES;
    type Cells<'a> = <S::Parts as ColumnBundle>::Cells<'a>;

    fn register(registry: &mut Registry, ids: &mut Vec<ComponentId>) -> Result<(), NameTaken> {
        S::Parts::register(registry, ids)
    }

    #[inline(always)]
    fn cells<'a>(writer: &mut Writer<'a>) -> Self::Cells<'a> {
        S::Parts::cells(writer)
    }

    #[inline(always)]
    fn push(value: S, cells: &mut Self::Cells<'_>, tally: &mut Tally<'_>) {
        value.into_parts().push(cells, tally);
    }

    #[inline]
    fn fill(value: S, cells: &mut Self::Cells<'_>, tally: &mut Tally<'_>) {
        value.into_parts().fill(cells, tally);
    }

    #[inline]
    fn overwrite(value: S, columns: &mut LiveColumns<'_>) {
        value.into_parts().overwrite(columns);
    }

    #[inline(always)]
    fn fetch(row: &mut RowReader<'_>) -> S {
        S::from_parts(S::Parts::fetch(row))
    }

    #[inline(always)]
    fn store(value: &S, sink: &mut impl FnMut(&[u8])) {
        value.into_parts().store(sink);
    }

    #[inline]
    fn load(bytes: &mut &[u8]) -> S {
        S::from_parts(S::Parts::load(bytes))
    }
}

/// Slices of equal length, one for each column, that are spawned by copying: `(&[A], &[B])`.
///
/// See [`World::spawn_columns`](crate::World::spawn_columns).
pub trait ColumnSlices: Copy + sealed::Slices {
    /// The bundle of one row of the slices.
    type Bundle: ColumnBundle;
    /// Calls `f` with the length of every slice.
    #[doc(hidden)]
    fn lens(self, f: &mut dyn FnMut(usize));
    /// Fills the cells with the rows from `start` on.
    #[doc(hidden)]
    fn copy(
        self,
        start: usize,
        cells: &mut <Self::Bundle as ColumnBundle>::Cells<'_>,
        tally: &mut Tally<'_>,
    );
}

impl<C: Component> sealed::Slices for &[C] {}

impl<C: Component> ColumnSlices for &[C] {
    type Bundle = C;

    fn lens(self, f: &mut dyn FnMut(usize)) {
        f(self.len());
    }

    #[inline]
    fn copy(self, start: usize, cells: &mut NewCells<'_, C>, tally: &mut Tally<'_>) {
        cells.copy(&self[start..], tally);
    }
}

macro_rules! tuples {
    ($(($($T:ident $t:ident $i:tt),*))*) => {$(
        impl<$($T: sealed::Sealed),*> sealed::Sealed for ($($T,)*) {}
        impl<$($T: sealed::Slices),*> sealed::Slices for ($($T,)*) {}

        #[expect(clippy::allow_attributes, reason = "the empty tuple uses none of its parameters")]
        #[allow(unused_variables, clippy::unused_unit, reason = "the empty tuple has no parts")]
        impl<$($T: ColumnBundle),*> ColumnBundle for ($($T,)*) {
            const NAMES: Names = Names::of_all(&[$($T::NAMES),*]);
            type Cells<'a> = ($($T::Cells<'a>,)*);

            fn register(
                registry: &mut Registry,
                ids: &mut Vec<ComponentId>,
            ) -> Result<(), NameTaken> {
                $($T::register(registry, ids)?;)*
                Ok(())
            }

            #[inline(always)]
            fn cells<'a>(writer: &mut Writer<'a>) -> Self::Cells<'a> {
                ($($T::cells(writer),)*)
            }

            #[inline(always)]
            fn push(self, cells: &mut Self::Cells<'_>, tally: &mut Tally<'_>) {
                $(self.$i.push(&mut cells.$i, tally);)*
            }

            #[inline]
            fn fill(self, cells: &mut Self::Cells<'_>, tally: &mut Tally<'_>) {
                $(self.$i.fill(&mut cells.$i, tally);)*
            }

            #[inline]
            fn overwrite(self, columns: &mut LiveColumns<'_>) {
                $(self.$i.overwrite(columns);)*
            }

            #[inline(always)]
            fn fetch(row: &mut RowReader<'_>) -> Self {
                ($($T::fetch(row),)*)
            }

            #[inline(always)]
            fn store(&self, sink: &mut impl FnMut(&[u8])) {
                $(self.$i.store(sink);)*
            }

            #[inline]
            fn load(bytes: &mut &[u8]) -> Self {
                ($($T::load(bytes),)*)
            }
        }

        #[expect(clippy::allow_attributes, reason = "the empty tuple uses none of its parameters")]
        #[allow(unused_variables, reason = "the empty tuple has no parts")]
        impl<$($T: ColumnSlices),*> ColumnSlices for ($($T,)*) {
            type Bundle = ($($T::Bundle,)*);

            fn lens(self, f: &mut dyn FnMut(usize)) {
                $(self.$i.lens(f);)*
            }

            #[inline]
            fn copy(
                self,
                start: usize,
                cells: &mut <Self::Bundle as ColumnBundle>::Cells<'_>,
                tally: &mut Tally<'_>,
            ) {
                $(self.$i.copy(start, &mut cells.$i, tally);)*
            }
        }
    )*};
}

for_tuples!(tuples, 0..=12);

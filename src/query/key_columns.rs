//! The columns of a key: one, or several that are read row by row.
//!
//! ```text
//!  layers   1  1  2        a key of (layer, depth) is made of the cells of one row
//!  depths   5  9  3
//!  keys     (1,5) (1,9) (2,3)
//! ```
//!
//! A sort and the caches that keep keys ask for the numbers of the columns in an archetype, for the
//! versions of a chunk, and for its slices.

use core::ops::Range;

use crate::archetype::Archetype;
use crate::component::{Component, ComponentId, Registry};
use crate::store::KeyCells;
use crate::tuples::for_tuples;

mod sealed {
    pub trait Sealed {}
}

/// The columns of a [`SortKey`](crate::rows::SortKey): a component, or a tuple of up to eight.
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::rows::KeyColumns;
/// #[component] #[derive(Debug, PartialEq)] struct Layer(u32);
/// #[component] #[derive(Debug, PartialEq)] struct Depth(f32);
/// type Row<'a> = <(Layer, Depth) as KeyColumns>::Row<'a>;
/// let row: Row = (&Layer(1), &Depth(0.5));
/// assert_eq!(row.0, &Layer(1));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the columns of a key",
    label = "neither a component of a column nor a tuple of these",
    note = "name components without a reference: `type Columns = Depth;` or `type Columns = (Layer, Depth);`; a sparse component has no column: `sort_by_key` takes it as a term"
)]
pub trait KeyColumns: sealed::Sealed + 'static {
    /// The values of one row: `&C`, or a tuple of references.
    type Row<'a>: Copy;
    /// The values of some rows of a chunk, or of none.
    #[doc(hidden)]
    type Slices<'a>: Copy + Default;
    #[doc(hidden)]
    type Ids: Copy;
    /// The numbers of the columns in an archetype.
    #[doc(hidden)]
    type Numbers: Copy + IntoIterator<Item = u16>;
    #[doc(hidden)]
    const NAMES: &'static [&'static str];
    #[doc(hidden)]
    fn ids(registry: &Registry) -> Self::Ids;
    #[doc(hidden)]
    fn numbers(archetype: &Archetype, ids: Self::Ids) -> Self::Numbers;
    #[doc(hidden)]
    fn slices(archetype: &Archetype, numbers: Self::Numbers, chunk: u32) -> Self::Slices<'_>;
    #[doc(hidden)]
    fn part(slices: Self::Slices<'_>, rows: Range<usize>) -> Self::Slices<'_>;
    #[doc(hidden)]
    fn len(slices: Self::Slices<'_>) -> usize;
    #[doc(hidden)]
    fn row(slices: Self::Slices<'_>, row: usize) -> Self::Row<'_>;
}

/// The slices of the columns of a key.
pub(crate) struct KeySlices<'a, C: KeyColumns>(pub(crate) C::Slices<'a>);

impl<C: KeyColumns> Clone for KeySlices<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: KeyColumns> Copy for KeySlices<'_, C> {}

impl<'a, C: KeyColumns> KeyCells for KeySlices<'a, C> {
    type Cell = C::Row<'a>;

    #[inline]
    fn len(self) -> usize {
        C::len(self.0)
    }

    #[inline]
    fn cell(self, row: usize) -> C::Row<'a> {
        C::row(self.0, row)
    }
}

impl<'a, C: KeyColumns> KeySlices<'a, C> {
    pub(crate) fn part(self, rows: Range<usize>) -> Self {
        Self(C::part(self.0, rows))
    }

    pub(crate) fn rows(self) -> impl Iterator<Item = C::Row<'a>> {
        (0..self.len()).map(move |row| self.cell(row))
    }
}

impl<C: Component> sealed::Sealed for C {}

impl<C: Component> KeyColumns for C {
    type Row<'a> = &'a C;
    type Slices<'a> = &'a [C];
    type Ids = ComponentId;
    type Numbers = [u16; 1];
    const NAMES: &'static [&'static str] = &[C::NAME];

    fn ids(registry: &Registry) -> ComponentId {
        registry.id::<C>()
    }

    fn numbers(archetype: &Archetype, id: ComponentId) -> [u16; 1] {
        [archetype.column(id).expect("a matched archetype lacks the term's column")]
    }

    fn slices(archetype: &Archetype, [column]: [u16; 1], chunk: u32) -> &[C] {
        archetype.list().cells(column, chunk)
    }

    fn part(slice: Self::Slices<'_>, rows: Range<usize>) -> Self::Slices<'_> {
        &slice[rows]
    }

    #[inline]
    fn len(slice: &[C]) -> usize {
        slice.len()
    }

    #[inline]
    fn row(slice: Self::Slices<'_>, row: usize) -> Self::Row<'_> {
        &slice[row]
    }
}

macro_rules! columns {
    ($(($($C:ident $c:ident $i:tt),+))*) => { $(
        impl<$($C: Component),+> sealed::Sealed for ($($C,)+) {}

        impl<$($C: Component),+> KeyColumns for ($($C,)+) {
            type Row<'a> = ($(&'a $C,)+);
            type Slices<'a> = ($(&'a [$C],)+);
            type Ids = [ComponentId; [$($i),+].len()];
            type Numbers = [u16; [$($i),+].len()];
            const NAMES: &'static [&'static str] = &[$($C::NAME),+];

            fn ids(registry: &Registry) -> Self::Ids {
                [$(registry.id::<$C>()),+]
            }

            fn numbers(archetype: &Archetype, ids: Self::Ids) -> Self::Numbers {
                ids.map(|id| {
                    archetype.column(id).expect("a matched archetype lacks the term's column")
                })
            }

            fn slices(
                archetype: &Archetype,
                numbers: Self::Numbers,
                chunk: u32,
            ) -> Self::Slices<'_> {
                ($(archetype.list().cells::<$C>(numbers[$i], chunk),)+)
            }

            fn part(slices: Self::Slices<'_>, rows: Range<usize>) -> Self::Slices<'_> {
                ($(&slices.$i[rows.clone()],)+)
            }

            #[inline]
            fn len(slices: Self::Slices<'_>) -> usize {
                slices.0.len()
            }

            #[inline]
            fn row(slices: Self::Slices<'_>, row: usize) -> Self::Row<'_> {
                ($(&slices.$i[row],)+)
            }
        }
    )* };
}

for_tuples!(columns, 1..=8);

//! Optional terms: slices where a component is present, and rows where it is enabled as well.
//!
//! A slice of `Option<&C>` has the rows of a whole chunk, whatever their enable bits. A row is
//! handed out by itself, so there the term can tell which rows have no `C` for a query. For that it
//! needs the bits of the chunk, which [`OptionByRow`] takes beside the slice. Where `C` is always
//! enabled, a constant leaves all of it out.

use core::iter::{RepeatN, repeat_n};
use core::marker::PhantomData;

use crate::component::{AnyComponent, Shape};
use crate::entity::Entity;
use crate::storage::{AccessKind, ChunkBits, Columns};
use crate::store::{OpenSet, RequirementsBuilder};
use crate::version::Version;

use super::access::Access;
use super::chunk_rows::ChunkRows;
use super::run_stamps::RunStamps;
use super::some_rows::PickRow;
use super::store_borrow::{Reads, Writes};
use super::term::{Described, Term, sealed};
use super::term_shape::TermShape;

/// The enabled rows of a chunk, from one row on. Without bits all rows are enabled.
///
/// The type has no niche, so that iterators with an unused one are laid out, and compiled, as if
/// they had none.
#[derive(Clone, Copy, Debug)]
struct RowBits<'w> {
    bits: Option<ChunkBits<'w>>,
    next: u32,
}

impl RowBits<'_> {
    const NONE: Self = Self { bits: None, next: 0 };

    /// Whether the next row is enabled.
    #[inline]
    fn take(&mut self) -> bool {
        let row = self.next;
        self.next += 1;
        self.bits.is_none_or(|bits| bits.is_enabled(row))
    }

    /// Cuts the first rows off.
    #[inline]
    fn split_off(&mut self, rows: usize) -> Self {
        let first = *self;
        self.next += u32::try_from(rows).expect("a chunk has 2^32 rows or more");
        first
    }
}

/// The rows of an optional component of shape `S`: `Some` where an entity has it and it is enabled.
#[derive(Clone, Debug)]
pub struct OptionRows<'w, S, I> {
    cells: PresentRows<I>,
    bits: RowBits<'w>,
    shape: PhantomData<fn() -> S>,
}

#[derive(Clone, Debug)]
enum PresentRows<I> {
    /// The archetype has the component.
    Present(I),
    /// The archetype lacks the component. Counts the remaining rows.
    Absent(RepeatN<()>),
}

impl<'w, S, I> OptionRows<'w, S, I> {
    /// All rows of a slice, whatever their bits.
    #[inline]
    pub(super) fn all(rows: Option<I>, len: usize) -> Self {
        Self::new(rows, len, RowBits::NONE)
    }

    #[inline]
    fn new(rows: Option<I>, len: usize, bits: RowBits<'w>) -> Self {
        let absent = || PresentRows::Absent(repeat_n((), len));
        let cells = rows.map_or_else(absent, PresentRows::Present);
        Self { cells, bits, shape: PhantomData }
    }
}

impl<S: Shape, I: PickRow> Iterator for OptionRows<'_, S, I> {
    type Item = Option<I::Item>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.cells {
            PresentRows::Present(rows) => {
                let row = rows.next_if_any()?;
                Some(row.filter(|_| !S::ENABLEABLE || self.bits.take()))
            }
            PresentRows::Absent(remaining) => remaining.next().map(|()| None),
        }
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        match &mut self.cells {
            PresentRows::Present(rows) => {
                let row = rows.nth_if_any(n)?;
                if S::ENABLEABLE {
                    self.bits.split_off(n);
                }
                Some(row.filter(|_| !S::ENABLEABLE || self.bits.take()))
            }
            PresentRows::Absent(remaining) => remaining.nth(n).map(|()| None),
        }
    }
}

impl<S: Shape, I: PickRow> PickRow for OptionRows<'_, S, I> {
    type Whole = Self;

    #[inline(always)]
    fn whole(self) -> Self {
        self
    }
}

impl<C: AnyComponent<Shape: TermShape>> sealed::Sealed for Option<&C> {}
impl<C: AnyComponent<Shape: TermShape>> Term for Option<&C> {
    type Slice<'w> = Option<<C::Shape as TermShape>::Slice<'w>>;
    type Row<'w> = Option<<C::Shape as TermShape>::Row<'w>>;
    type Rows<'w> = OptionRows<'w, C::Shape, <C::Shape as TermShape>::Rows<'w>>;
    type ByRow = OptionByRow<Self::Key>;
    type Key = Option<&'static C>;
    type Mode = Reads;
    type Sets = <C::Shape as TermShape>::Sets;
    const ACCESSES: &'static [Access] = <C::Shape as TermShape>::READ_OPTIONAL;

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        C::Shape::visit_all(&mut Described { builder, access: AccessKind::Read, optional: true });
    }

    #[inline]
    fn cut<'w>(
        columns: &mut impl Columns<'w>,
        rows: ChunkRows<'w>,
        set: OpenSet<'w, Self::Sets>,
    ) -> Self::Slice<'w> {
        C::Shape::cut(columns, rows, set)
    }

    #[inline]
    fn rows<'w>(slice: Self::Slice<'w>, len: usize) -> Self::Rows<'w> {
        OptionRows::all(slice.map(C::Shape::rows), len)
    }

    #[inline(always)]
    fn empty<'w>() -> Self::Slice<'w> {
        None
    }

    #[inline(always)]
    fn split_off<'w>(slice: &mut Self::Slice<'w>, rows: usize) -> Self::Slice<'w> {
        slice.as_mut().map(|slice| C::Shape::split_off(slice, rows))
    }

    type Stamps<'w> = ();

    #[inline]
    fn stamps<'w>(run: &mut RunStamps<'w, '_>) {
        C::Shape::skip_stamps(run);
    }

    #[inline(always)]
    fn touch_next((): &mut (), _: Version) {}
}

impl<C: AnyComponent<Shape: TermShape>> sealed::Sealed for Option<&mut C> {}
impl<C: AnyComponent<Shape: TermShape>> Term for Option<&mut C> {
    type Slice<'w> = Option<<C::Shape as TermShape>::SliceMut<'w>>;
    type Row<'w> = Option<<C::Shape as TermShape>::RowMut<'w>>;
    type Rows<'w> = OptionRows<'w, C::Shape, <C::Shape as TermShape>::RowsMut<'w>>;
    type ByRow = OptionByRow<Self::Key>;
    type Key = Option<&'static mut C>;
    type Mode = Writes;
    type Sets = <C::Shape as TermShape>::SetsMut;
    const ACCESSES: &'static [Access] = <C::Shape as TermShape>::WRITE_OPTIONAL;

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        C::Shape::visit_all(&mut Described { builder, access: AccessKind::Write, optional: true });
    }

    #[inline]
    fn cut<'w>(
        columns: &mut impl Columns<'w>,
        rows: ChunkRows<'w>,
        set: OpenSet<'w, Self::Sets>,
    ) -> Self::Slice<'w> {
        C::Shape::cut_mut(columns, rows, set)
    }

    #[inline]
    fn rows<'w>(slice: Self::Slice<'w>, len: usize) -> Self::Rows<'w> {
        OptionRows::all(slice.map(C::Shape::rows_mut), len)
    }

    #[inline(always)]
    fn empty<'w>() -> Self::Slice<'w> {
        None
    }

    #[inline(always)]
    fn split_off<'w>(slice: &mut Self::Slice<'w>, rows: usize) -> Self::Slice<'w> {
        slice.as_mut().map(|slice| C::Shape::split_off_mut(slice, rows))
    }

    type Stamps<'w> = <C::Shape as TermShape>::Stamps<'w>;

    #[inline]
    fn stamps<'w>(run: &mut RunStamps<'w, '_>) -> Self::Stamps<'w> {
        C::Shape::stamps(run)
    }

    #[inline(always)]
    fn touch_next(stamps: &mut Self::Stamps<'_>, now: Version) {
        C::Shape::touch_next(stamps, now);
    }
}

/// The optional term `T` in a pass over rows.
#[derive(Debug)]
pub struct OptionByRow<T>(PhantomData<fn(T) -> T>);

/// The slice of an optional component, and the enable bits of its rows.
#[derive(Debug)]
pub struct OptionCells<'w, S> {
    slice: Option<S>,
    bits: RowBits<'w>,
}

impl<'w, S> OptionCells<'w, S> {
    /// The slice that `cut` takes from a chunk, and the bits of the chunk's next column.
    #[inline]
    fn cut<C: AnyComponent, K: Columns<'w>>(
        columns: &mut K,
        rows: ChunkRows<'w>,
        cut: impl FnOnce(&mut K) -> Option<S>,
    ) -> Self {
        if !C::Shape::ENABLEABLE {
            return Self { slice: cut(columns), bits: RowBits::NONE };
        }
        let bits = columns.next_number().and_then(|column| rows.switched(column));
        Self { slice: cut(columns), bits: RowBits { bits, next: rows.first() } }
    }

    #[inline(always)]
    fn split_off<C: AnyComponent>(
        &mut self,
        rows: usize,
        split_off: impl FnOnce(&mut S, usize) -> S,
    ) -> Self {
        let slice = self.slice.as_mut().map(|slice| split_off(slice, rows));
        let bits = if C::Shape::ENABLEABLE { self.bits.split_off(rows) } else { RowBits::NONE };
        Self { slice, bits }
    }
}

/// The accesses of an optional term, which reads enable bits if the component has any.
const fn by_row<S: Shape>(optional: &'static [Access]) -> Option<Access> {
    match optional {
        [column] if S::ENABLEABLE => Some(column.of_enabled_rows()),
        _ => None,
    }
}

macro_rules! by_row {
    (
        $term:ty: $Slice:ident, $Row:ident, $Rows:ident, $ACCESSES:ident,
        $cut:ident, $rows:ident, $split_off:ident
    ) => {
        impl<C: AnyComponent<Shape: TermShape>> sealed::Sealed for OptionByRow<Option<$term>> {}
        impl<C: AnyComponent<Shape: TermShape>> Term for OptionByRow<Option<$term>> {
            type Slice<'w> = OptionCells<'w, <C::Shape as TermShape>::$Slice<'w>>;
            type Row<'w> = Option<<C::Shape as TermShape>::$Row<'w>>;
            type Rows<'w> = OptionRows<'w, C::Shape, <C::Shape as TermShape>::$Rows<'w>>;
            type ByRow = Self;
            type Key = <Option<$term> as Term>::Key;
            type Mode = <Option<$term> as Term>::Mode;
            type Sets = <Option<$term> as Term>::Sets;
            const ACCESSES: &'static [Access] =
                match by_row::<C::Shape>(<C::Shape as TermShape>::$ACCESSES) {
                    Some(access) => &[access],
                    None => <C::Shape as TermShape>::$ACCESSES,
                };

            fn describe(builder: &mut RequirementsBuilder<'_>) {
                <Option<$term> as Term>::describe(builder);
            }

            #[inline]
            fn cut<'w>(
                columns: &mut impl Columns<'w>,
                rows: ChunkRows<'w>,
                set: OpenSet<'w, Self::Sets>,
            ) -> Self::Slice<'w> {
                OptionCells::cut::<C, _>(columns, rows, |columns| {
                    C::Shape::$cut(columns, rows, set)
                })
            }

            #[inline]
            fn rows<'w>(slice: Self::Slice<'w>, len: usize) -> Self::Rows<'w> {
                OptionRows::new(slice.slice.map(C::Shape::$rows), len, slice.bits)
            }

            fn bare_row<'w>(_: Entity) -> Option<Self::Row<'w>> {
                Some(None)
            }

            #[inline(always)]
            fn empty<'w>() -> Self::Slice<'w> {
                OptionCells { slice: None, bits: RowBits::NONE }
            }

            #[inline(always)]
            fn split_off<'w>(slice: &mut Self::Slice<'w>, rows: usize) -> Self::Slice<'w> {
                slice.split_off::<C>(rows, C::Shape::$split_off)
            }

            type Stamps<'w> = <Option<$term> as Term>::Stamps<'w>;

            #[inline]
            fn stamps<'w>(run: &mut RunStamps<'w, '_>) -> Self::Stamps<'w> {
                if C::Shape::ENABLEABLE && run.hands_out_none() {
                    C::Shape::skip_stamps(run);
                    return Self::Stamps::default();
                }
                run.enabled_only = C::Shape::ENABLEABLE;
                let stamps = <Option<$term> as Term>::stamps(run);
                run.enabled_only = false;
                stamps
            }

            #[inline(always)]
            fn touch_next(stamps: &mut Self::Stamps<'_>, now: Version) {
                <Option<$term> as Term>::touch_next(stamps, now);
            }
        }
    };
}

by_row!(&'static C: Slice, Row, Rows, READ_OPTIONAL, cut, rows, split_off);
by_row!(&'static mut C: SliceMut, RowMut, RowsMut, WRITE_OPTIONAL, cut_mut, rows_mut, split_off_mut);

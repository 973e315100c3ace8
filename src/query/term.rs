//! Terms: what a query takes from each chunk, and the slices that it yields.

use core::iter::{Copied, RepeatN, repeat_n};
use core::slice;

use crate::component::Component;
use crate::entity::Entity;
use crate::storage::{Columns, StampRun};
use crate::store::RequirementsBuilder;
use crate::version::Version;

use super::access::Access;
use super::entity_run::EntityRun;
use super::run_stamps::RunStamps;

/// One term of a query.
///
/// | term | slice | archetypes that match |
/// | --- | --- | --- |
/// | `&C` | `&[C]` | those with `C` |
/// | `&mut C` | `&mut [C]` | those with `C`; its version is stamped |
/// | `Option<&C>` | `Option<&[C]>` | all |
/// | `Option<&mut C>` | `Option<&mut [C]>` | all; stamped where present |
/// | `Entity` | `&[Entity]` | all |
///
/// The trait is sealed: these are all the terms.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a query term",
    note = "a term is `&C`, `&mut C`, `Option<&C>` or `Option<&mut C>` of a component `C`, or `Entity`"
)]
pub trait Term: sealed::Sealed {
    /// What a chunk yields: a slice, or `None` where an optional component is absent.
    type Slice<'w>;
    /// What an entity yields.
    type Row<'w>;
    /// The rows of a slice.
    #[doc(hidden)]
    type Rows<'w>: Iterator<Item = Self::Row<'w>>;
    /// The term without its lifetime: plans are cached by it.
    #[doc(hidden)]
    type Key: 'static;
    #[doc(hidden)]
    const ACCESS: Access;
    /// The number of columns that the term takes from a chunk.
    #[doc(hidden)]
    const COLUMNS: usize;
    #[doc(hidden)]
    fn describe(builder: &mut RequirementsBuilder<'_>);
    #[doc(hidden)]
    fn cut<'w>(columns: &mut impl Columns<'w>, entities: EntityRun<'w>) -> Self::Slice<'w>;
    #[doc(hidden)]
    fn rows<'w>(slice: Self::Slice<'w>, len: usize) -> Self::Rows<'w>;
    /// The slice of no rows.
    #[doc(hidden)]
    fn empty<'w>() -> Self::Slice<'w>;
    /// Cuts the first `rows` rows off.
    #[doc(hidden)]
    fn split_off<'w>(slice: &mut Self::Slice<'w>, rows: usize) -> Self::Slice<'w>;
    /// The stamps of the chunks that the term writes; of no type that has any if it only reads.
    #[doc(hidden)]
    type Stamps<'w>: Default;
    #[doc(hidden)]
    fn stamps<'w>(run: &mut RunStamps<'w, '_>) -> Self::Stamps<'w>;
    /// Stamps the next chunk.
    #[doc(hidden)]
    fn touch_next(stamps: &mut Self::Stamps<'_>, now: Version);
}

mod sealed {
    pub trait Sealed {}
}

const REQUIRED: &str = "a matched archetype lacks a required column";

impl<C: Component> sealed::Sealed for &C {}
impl<C: Component> Term for &C {
    type Slice<'w> = &'w [C];
    type Row<'w> = &'w C;
    type Rows<'w> = slice::Iter<'w, C>;
    type Key = &'static C;
    const ACCESS: Access = Access::new::<C>(false);
    const COLUMNS: usize = 1;

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        builder.column::<C>(false, false);
    }

    #[inline]
    fn cut<'w>(columns: &mut impl Columns<'w>, _: EntityRun<'w>) -> &'w [C] {
        columns.column::<C>().expect(REQUIRED)
    }

    #[inline]
    fn rows<'w>(slice: Self::Slice<'w>, _: usize) -> Self::Rows<'w> {
        slice.iter()
    }

    #[inline(always)]
    fn empty<'w>() -> Self::Slice<'w> {
        &[]
    }

    #[inline(always)]
    fn split_off<'w>(slice: &mut Self::Slice<'w>, rows: usize) -> Self::Slice<'w> {
        let (first, rest) = slice.split_at(rows);
        *slice = rest;
        first
    }

    type Stamps<'w> = ();

    #[inline]
    fn stamps<'w>(run: &mut RunStamps<'w, '_>) {
        run.skip_column();
    }

    #[inline(always)]
    fn touch_next((): &mut (), _: Version) {}
}

impl<C: Component> sealed::Sealed for &mut C {}
impl<C: Component> Term for &mut C {
    type Slice<'w> = &'w mut [C];
    type Row<'w> = &'w mut C;
    type Rows<'w> = slice::IterMut<'w, C>;
    type Key = &'static mut C;
    const ACCESS: Access = Access::new::<C>(true);
    const COLUMNS: usize = 1;

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        builder.column::<C>(true, false);
    }

    #[inline]
    fn cut<'w>(columns: &mut impl Columns<'w>, _: EntityRun<'w>) -> &'w mut [C] {
        columns.column_mut::<C>().expect(REQUIRED)
    }

    #[inline]
    fn rows<'w>(slice: Self::Slice<'w>, _: usize) -> Self::Rows<'w> {
        slice.iter_mut()
    }

    #[inline(always)]
    fn empty<'w>() -> Self::Slice<'w> {
        &mut []
    }

    #[inline(always)]
    fn split_off<'w>(slice: &mut Self::Slice<'w>, rows: usize) -> Self::Slice<'w> {
        // Asserted first, so that the slice is not stored as empty for the case of a panic.
        assert!(rows <= slice.len(), "a run has fewer rows than its chunks");
        let (first, rest) = core::mem::take(slice).split_at_mut(rows);
        *slice = rest;
        first
    }

    type Stamps<'w> = StampRun<'w>;

    #[inline]
    fn stamps<'w>(run: &mut RunStamps<'w, '_>) -> StampRun<'w> {
        run.next_column()
    }

    #[inline(always)]
    fn touch_next(stamps: &mut StampRun<'_>, now: Version) {
        stamps.touch_next(now);
    }
}

/// The rows of an optional column: `Some` for each row, or `None` for each.
#[derive(Clone, Debug)]
pub enum OptionRows<I> {
    /// The archetype has the component.
    Present(I),
    /// The archetype lacks the component. Counts the remaining rows.
    Absent(RepeatN<()>),
}

impl<I> OptionRows<I> {
    #[inline]
    fn new(rows: Option<I>, len: usize) -> Self {
        rows.map_or_else(|| Self::Absent(repeat_n((), len)), Self::Present)
    }
}

impl<I: Iterator> Iterator for OptionRows<I> {
    type Item = Option<I::Item>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Present(rows) => rows.next().map(Some),
            Self::Absent(remaining) => remaining.next().map(|()| None),
        }
    }
}

impl<C: Component> sealed::Sealed for Option<&C> {}
impl<C: Component> Term for Option<&C> {
    type Slice<'w> = Option<&'w [C]>;
    type Row<'w> = Option<&'w C>;
    type Rows<'w> = OptionRows<slice::Iter<'w, C>>;
    type Key = Option<&'static C>;
    const ACCESS: Access = Access::optional::<C>(false);
    const COLUMNS: usize = 1;

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        builder.column::<C>(false, true);
    }

    #[inline]
    fn cut<'w>(columns: &mut impl Columns<'w>, _: EntityRun<'w>) -> Option<&'w [C]> {
        columns.column::<C>()
    }

    #[inline]
    fn rows<'w>(slice: Self::Slice<'w>, len: usize) -> Self::Rows<'w> {
        OptionRows::new(slice.map(|s| s.iter()), len)
    }

    #[inline(always)]
    fn empty<'w>() -> Self::Slice<'w> {
        None
    }

    #[inline(always)]
    fn split_off<'w>(slice: &mut Self::Slice<'w>, rows: usize) -> Self::Slice<'w> {
        slice.as_mut().map(|slice| <&C as Term>::split_off(slice, rows))
    }

    type Stamps<'w> = ();

    #[inline]
    fn stamps<'w>(run: &mut RunStamps<'w, '_>) {
        run.skip_column();
    }

    #[inline(always)]
    fn touch_next((): &mut (), _: Version) {}
}

impl<C: Component> sealed::Sealed for Option<&mut C> {}
impl<C: Component> Term for Option<&mut C> {
    type Slice<'w> = Option<&'w mut [C]>;
    type Row<'w> = Option<&'w mut C>;
    type Rows<'w> = OptionRows<slice::IterMut<'w, C>>;
    type Key = Option<&'static mut C>;
    const ACCESS: Access = Access::optional::<C>(true);
    const COLUMNS: usize = 1;

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        builder.column::<C>(true, true);
    }

    #[inline]
    fn cut<'w>(columns: &mut impl Columns<'w>, _: EntityRun<'w>) -> Option<&'w mut [C]> {
        columns.column_mut::<C>()
    }

    #[inline]
    fn rows<'w>(slice: Self::Slice<'w>, len: usize) -> Self::Rows<'w> {
        OptionRows::new(slice.map(|s| s.iter_mut()), len)
    }

    #[inline(always)]
    fn empty<'w>() -> Self::Slice<'w> {
        None
    }

    #[inline(always)]
    fn split_off<'w>(slice: &mut Self::Slice<'w>, rows: usize) -> Self::Slice<'w> {
        slice.as_mut().map(|slice| <&mut C as Term>::split_off(slice, rows))
    }

    type Stamps<'w> = StampRun<'w>;

    #[inline]
    fn stamps<'w>(run: &mut RunStamps<'w, '_>) -> StampRun<'w> {
        run.next_column()
    }

    #[inline(always)]
    fn touch_next(stamps: &mut StampRun<'_>, now: Version) {
        stamps.touch_next(now);
    }
}

impl sealed::Sealed for Entity {}
impl Term for Entity {
    type Slice<'w> = &'w [Self];
    type Row<'w> = Self;
    type Rows<'w> = Copied<slice::Iter<'w, Self>>;
    type Key = Self;
    const ACCESS: Access = Access::NONE;
    const COLUMNS: usize = 0;

    fn describe(_: &mut RequirementsBuilder<'_>) {}

    #[inline]
    fn cut<'w>(_: &mut impl Columns<'w>, entities: EntityRun<'w>) -> &'w [Self] {
        entities.slice()
    }

    #[inline]
    fn rows<'w>(slice: Self::Slice<'w>, _: usize) -> Self::Rows<'w> {
        slice.iter().copied()
    }

    #[inline(always)]
    fn empty<'w>() -> Self::Slice<'w> {
        &[]
    }

    #[inline(always)]
    fn split_off<'w>(slice: &mut Self::Slice<'w>, rows: usize) -> Self::Slice<'w> {
        // Padding has no entities.
        let (first, rest) = slice.split_at(rows.min(slice.len()));
        *slice = rest;
        first
    }

    type Stamps<'w> = ();

    #[inline]
    fn stamps<'w>(_: &mut RunStamps<'w, '_>) {}

    #[inline(always)]
    fn touch_next((): &mut (), _: Version) {}
}

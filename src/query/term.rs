//! Terms: the columns that a query takes from each chunk, and the slices that it yields.

use core::iter::Copied;
use core::slice;

use crate::component::{
    AnyComponent, ColumnVisitor, Component, Shape as _, SparseComponent, SparseVisitor,
};
use crate::entity::Entity;
use crate::storage::{AccessKind, Columns};
use crate::store::{OpenSet, RequirementsBuilder, TermSets};
use crate::version::Version;

use super::access::Access;
use super::chunk_rows::ChunkRows;
use super::run_stamps::RunStamps;
use super::some_rows::PickRow;
use super::store_borrow::{Mode, Reads, Writes};
use super::term_shape::TermShape;

/// One term of a query.
///
/// | term | slice | archetypes that match |
/// | --- | --- | --- |
/// | `&C` | `&[C]` | archetypes with `C` |
/// | `&mut C` | `&mut [C]` | archetypes with `C`; its version is stamped |
/// | `Option<&C>` | `Option<&[C]>` | all |
/// | `Option<&mut C>` | `Option<&mut [C]>` | all; stamped where present |
/// | `Entity` | `&[Entity]` | all |
/// | [`Enabled<C>`](crate::Enabled) | [`EnabledRows`](crate::rows::EnabledRows) | archetypes with `C`, [disabled](crate::World::set_enabled) or not |
/// | [`EnabledMut<C>`](crate::EnabledMut) | [`EnabledRowsMut`](crate::rows::EnabledRowsMut) | the same; the version of `C` is stamped |
/// | [`LinesMut<C>`](crate::lines::LinesMut) | [`LineSlice<C>`](crate::lines::LineSlice) | archetypes with `C`; the versions of written lines are stamped |
/// | [`PerChunk<V>`](crate::chunks::PerChunk) | `V`, the value of the chunk | archetypes with that tag |
/// | [`PerChunkMut<V>`](crate::chunks::PerChunkMut) | [`ChunkValueMut<V>`](crate::chunks::ChunkValueMut) | the same; the version of the tag is stamped |
/// | [`Shared<T>`](crate::shared::Shared) | [`SharedRef<T>`](crate::shared::SharedRef), like `&T`: the value of all rows | archetypes that have a value |
/// | [`Option<Shared<T>>`](crate::shared::Shared) | `Option<&T>` | all |
/// | `&S`, `&mut S` of a [sparse component](crate::component#sparse-components) | [`SparseSlice`](crate::sparse::SparseSlice): rows with their values | archetypes that can have `S`; chooses the rows that have it |
/// | `Option<&S>`, `Option<&mut S>` | `Option` of it | all |
///
/// By chunk an `Option` is one for all rows: do not `zip` it with a slice, which would take the
/// whole slice as its first item. By [`rows`](crate::Query::rows) it is one for each row.
///
/// The slice of a [split component](crate::component#split-components) is a struct of slices, one
/// for each field.
///
/// Where `C` can be [disabled](crate::World::set_enabled), the slice of an `Option` has all rows of
/// the chunk, including rows in which `C` is disabled: it is `None` only where the archetype lacks
/// `C`. To tell the rows apart, add the term [`Enabled<C>`](crate::Enabled). Methods that yield
/// single rows ([`rows`](crate::Query::rows), [`get`](crate::Query::get) and the like) give `None`
/// for rows in which `C` is disabled, unless the query has the filter
/// [`IgnoreEnabled`](crate::IgnoreEnabled).
///
/// The trait is sealed: these are all the terms.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a query term",
    note = "a term is `&C`, `&mut C`, `Option<&C>` or `Option<&mut C>` of a component `C`, sparse or not, `Enabled<C>` or `EnabledMut<C>` of one that is `#[component(enableable)]`, `LinesMut<C>` of one that is `#[component(lines)]`, `PerChunk<V>`, `PerChunkMut<V>`, `Shared<T>` (without `&`; `T` is `Eq + Hash + Send + Sync`), or `Entity`"
)]
pub trait Term: sealed::Sealed {
    /// The item of a chunk: a slice, or `None` where an optional component is absent.
    type Slice<'w>;
    /// The item of an entity.
    type Row<'w>;
    /// The rows of a slice.
    #[doc(hidden)]
    type Rows<'w>: PickRow<Item = Self::Row<'w>>;
    /// The term in a pass over rows, which may take more of a chunk than the slice.
    #[doc(hidden)]
    type ByRow: for<'w> Term<Row<'w> = Self::Row<'w>, Mode = Self::Mode, Sets = Self::Sets>;
    /// The term without its lifetime: plans are cached by it.
    #[doc(hidden)]
    type Key: 'static;
    /// Whether the term only reads.
    #[doc(hidden)]
    type Mode: Mode;
    /// The sparse set from which the term takes values.
    #[doc(hidden)]
    type Sets: TermSets;
    /// The access to each column that the term takes from a chunk.
    #[doc(hidden)]
    const ACCESSES: &'static [Access];
    #[doc(hidden)]
    fn describe(builder: &mut RequirementsBuilder<'_>);
    #[doc(hidden)]
    fn cut<'w>(
        columns: &mut impl Columns<'w>,
        rows: ChunkRows<'w>,
        set: OpenSet<'w, Self::Sets>,
    ) -> Self::Slice<'w>;
    #[doc(hidden)]
    fn rows<'w>(slice: Self::Slice<'w>, len: usize) -> Self::Rows<'w>;
    /// The row of an entity without components, whose id is reserved, if it matches.
    #[doc(hidden)]
    fn bare_row<'w>(_: Entity) -> Option<Self::Row<'w>> {
        None
    }
    /// The slice of no rows.
    #[doc(hidden)]
    fn empty<'w>() -> Self::Slice<'w>;
    /// Cuts the first `rows` rows off.
    #[doc(hidden)]
    fn split_off<'w>(slice: &mut Self::Slice<'w>, rows: usize) -> Self::Slice<'w>;
    /// The stamps of the chunks that the term writes, or a type without stamps if it only reads.
    #[doc(hidden)]
    type Stamps<'w>: Default;
    #[doc(hidden)]
    fn stamps<'w>(run: &mut RunStamps<'w, '_>) -> Self::Stamps<'w>;
    /// Stamps the next chunk.
    #[doc(hidden)]
    fn touch_next(stamps: &mut Self::Stamps<'_>, now: Version);
}

pub(super) mod sealed {
    pub trait Sealed {}
}

const REQUIRED: &str = "a matched archetype lacks a required column";

/// Adds the columns of a component to the requirements of a query.
pub(super) struct Described<'a, 'r> {
    pub(super) builder: &'a mut RequirementsBuilder<'r>,
    pub(super) access: AccessKind,
    pub(super) optional: bool,
}

impl SparseVisitor for Described<'_, '_> {
    fn visit_sparse<S: SparseComponent>(&mut self) {
        self.builder.sparse_term::<S>(self.access, self.optional);
    }
}

impl ColumnVisitor for Described<'_, '_> {
    fn visit<C: Component>(&mut self) {
        match self.optional {
            true => drop(self.builder.optional_column::<C>(self.access)),
            false => self.builder.column::<C>(self.access),
        }
    }
}

impl<C: AnyComponent<Shape: TermShape>> sealed::Sealed for &C {}
impl<C: AnyComponent<Shape: TermShape>> Term for &C {
    type Slice<'w> = <C::Shape as TermShape>::Slice<'w>;
    type Row<'w> = <C::Shape as TermShape>::Row<'w>;
    type Rows<'w> = <C::Shape as TermShape>::Rows<'w>;
    type ByRow = Self;
    type Key = &'static C;
    type Mode = Reads;
    type Sets = <C::Shape as TermShape>::Sets;
    const ACCESSES: &'static [Access] = <C::Shape as TermShape>::READ;

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        C::Shape::visit_all(&mut Described { builder, access: AccessKind::Read, optional: false });
    }

    #[inline(always)]
    fn cut<'w>(
        columns: &mut impl Columns<'w>,
        rows: ChunkRows<'w>,
        set: OpenSet<'w, Self::Sets>,
    ) -> Self::Slice<'w> {
        C::Shape::cut(columns, rows, set).expect(REQUIRED)
    }

    #[inline]
    fn rows<'w>(slice: Self::Slice<'w>, _: usize) -> Self::Rows<'w> {
        C::Shape::rows(slice)
    }

    #[inline(always)]
    fn empty<'w>() -> Self::Slice<'w> {
        C::Shape::empty()
    }

    #[inline(always)]
    fn split_off<'w>(slice: &mut Self::Slice<'w>, rows: usize) -> Self::Slice<'w> {
        C::Shape::split_off(slice, rows)
    }

    type Stamps<'w> = ();

    #[inline(always)]
    fn stamps<'w>(run: &mut RunStamps<'w, '_>) {
        C::Shape::skip_stamps(run);
    }

    #[inline(always)]
    fn touch_next((): &mut (), _: Version) {}
}

impl<C: AnyComponent<Shape: TermShape>> sealed::Sealed for &mut C {}
impl<C: AnyComponent<Shape: TermShape>> Term for &mut C {
    type Slice<'w> = <C::Shape as TermShape>::SliceMut<'w>;
    type Row<'w> = <C::Shape as TermShape>::RowMut<'w>;
    type Rows<'w> = <C::Shape as TermShape>::RowsMut<'w>;
    type ByRow = Self;
    type Key = &'static mut C;
    type Mode = Writes;
    type Sets = <C::Shape as TermShape>::SetsMut;
    const ACCESSES: &'static [Access] = <C::Shape as TermShape>::WRITE;

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        C::Shape::visit_all(&mut Described { builder, access: AccessKind::Write, optional: false });
    }

    #[inline(always)]
    fn cut<'w>(
        columns: &mut impl Columns<'w>,
        rows: ChunkRows<'w>,
        set: OpenSet<'w, Self::Sets>,
    ) -> Self::Slice<'w> {
        C::Shape::cut_mut(columns, rows, set).expect(REQUIRED)
    }

    #[inline]
    fn rows<'w>(slice: Self::Slice<'w>, _: usize) -> Self::Rows<'w> {
        C::Shape::rows_mut(slice)
    }

    #[inline(always)]
    fn empty<'w>() -> Self::Slice<'w> {
        C::Shape::empty_mut()
    }

    #[inline(always)]
    fn split_off<'w>(slice: &mut Self::Slice<'w>, rows: usize) -> Self::Slice<'w> {
        C::Shape::split_off_mut(slice, rows)
    }

    type Stamps<'w> = <C::Shape as TermShape>::Stamps<'w>;

    #[inline(always)]
    fn stamps<'w>(run: &mut RunStamps<'w, '_>) -> Self::Stamps<'w> {
        C::Shape::stamps(run)
    }

    #[inline(always)]
    fn touch_next(stamps: &mut Self::Stamps<'_>, now: Version) {
        C::Shape::touch_next(stamps, now);
    }
}

impl sealed::Sealed for Entity {}
impl Term for Entity {
    type Slice<'w> = &'w [Self];
    type Row<'w> = Self;
    type Rows<'w> = Copied<slice::Iter<'w, Self>>;
    type ByRow = Self;
    type Key = Self;
    type Mode = Reads;
    type Sets = ();
    const ACCESSES: &'static [Access] = &[Access::NONE];

    fn describe(_: &mut RequirementsBuilder<'_>) {}

    #[inline(always)]
    fn cut<'w>(_: &mut impl Columns<'w>, rows: ChunkRows<'w>, (): ()) -> &'w [Self] {
        rows.entities()
    }

    #[inline]
    fn rows<'w>(slice: Self::Slice<'w>, _: usize) -> Self::Rows<'w> {
        slice.iter().copied()
    }

    fn bare_row<'w>(entity: Entity) -> Option<Self::Row<'w>> {
        Some(entity)
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

    #[inline(always)]
    fn stamps<'w>(_: &mut RunStamps<'w, '_>) {}

    #[inline(always)]
    fn touch_next((): &mut (), _: Version) {}
}

//! The term that writes a component line by line, and stamps the rows that it writes.

use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut, Range};
use core::slice;

use crate::component::{Component, ConstText};
use crate::line::VECTOR_ROWS;
use crate::storage::{AccessKind, ChunkLines, Columns};
use crate::store::RequirementsBuilder;
use crate::version::Version;

use super::access::{Access, AccessFlags};
use super::chunk_rows::ChunkRows;
use super::run_stamps::RunStamps;
use super::some_rows::PickRow;
use super::store_borrow::Writes;
use super::term::{Term, sealed};

/// Refuses components without line stamps.
pub(super) const fn assert_tracks_lines<C: Component>() {
    if !C::TRACKS_LINES {
        let text = [
            "the component `",
            C::NAME,
            "` has one version a chunk: write `#[component(lines)]` above its definition",
        ];
        panic!("{}", ConstText::of(&text).as_str());
    }
}

/// A term: component `C`, written line by line, as [`LineSlice`]. For a `C` that tracks lines
/// (`#[component(lines)]` in [`#[component]`](crate::component#components-that-track-lines)).
///
/// Like `&mut C`, but a pass by itself stamps no chunk. Reading the slice stamps no row; taking
/// rows from it for writing stamps these rows, also if the body of
/// [`for_each_chunk`](crate::Query::for_each_chunk) returns [`Modified::No`](crate::Modified::No).
/// So the filter [`ChangedLines`](crate::lines::ChangedLines) finds the written rows, and not
/// every row that the pass could have written. A chunk keeps its versions if none of its rows is
/// written. `Option<LinesMut<C>>` is not a term: make two queries.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component(lines)] struct Health(f32);
/// # #[component] struct Poison(f32);
/// # let mut world = World::new();
/// world.spawn_batch((0..1000).map(|i| (Health(9.0), Poison(if i == 100 { 1.0 } else { 0.0 }))));
/// let before = world.version();
/// for (mut health, poison) in world.query_mut::<(LinesMut<Health>, &Poison)>() {
///     for row in (0..health.len()).filter(|&row| poison[row].0 > 0.0) {
///         health.row_mut(row).0 -= poison[row].0;
///     }
/// }
/// let changed = world.query::<&Health>().filter_since::<ChangedLines<Health>>(before);
/// assert_eq!(changed.count_rows(), 1, "one row of the chunk");
/// ```
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// # let mut world = World::new();
/// for health in world.query_mut::<LinesMut<Health>>() {} // `Health` does not track lines
/// ```
pub struct LinesMut<C>(PhantomData<fn(C) -> C>);

impl<C> fmt::Debug for LinesMut<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(core::any::type_name::<Self>())
    }
}

/// The rows of a component in a chunk, or in a part of it: the item of [`LinesMut`]. It is read
/// like a slice, and written through methods that stamp the rows they hand out. A
/// kernel of slices gets them by [`all_mut`](LineSlice::all_mut); a kernel that writes some lines
/// takes a `&mut LineSlice<C>`.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component(lines)] struct Heat(f32);
/// # let mut world = World::new();
/// world.spawn_batch((0..1000).map(|i| Heat(i as f32)));
/// for mut heat in world.query_mut::<LinesMut<Heat>>() {
///     assert_eq!(heat.len(), 1000);
///     for mut line in heat.lines_mut() {
///         if line.iter().any(|heat| heat.0 > 990.0) {
///             line.all_mut().iter_mut().for_each(|heat| heat.0 *= 0.5); // a whole vector
///         }
///     }
/// }
/// ```
pub struct LineSlice<'w, C> {
    cells: &'w mut [C],
    lines: Option<LinesAt<'w>>,
}

/// The lines of a chunk, from a row on.
#[derive(Clone, Copy)]
struct LinesAt<'w> {
    lines: ChunkLines<'w>,
    /// The row of the chunk at which the slice begins.
    first: u32,
    now: Version,
}

impl LinesAt<'_> {
    /// Stamps some rows of the slice, at least one.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a row of a chunk")]
    fn touch(self, rows: Range<usize>) {
        let rows = self.first + rows.start as u32..self.first + rows.end as u32;
        self.lines.touch_part(rows, self.now);
    }

    /// The same lines, from some rows later on.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a row of a chunk")]
    const fn after(self, rows: usize) -> Self {
        Self { first: self.first + rows as u32, ..self }
    }
}

impl<C> Deref for LineSlice<'_, C> {
    type Target = [C];

    #[inline]
    fn deref(&self) -> &[C] {
        self.cells
    }
}

impl<'w, C> LineSlice<'w, C> {
    /// A row, for writing. Stamps it.
    ///
    /// # Panics
    ///
    /// If the row is out of range.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(lines)] struct Heat(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch([Heat(0.0); 100]);
    /// let before = world.version();
    /// for mut heat in world.query_mut::<LinesMut<Heat>>() {
    ///     heat.row_mut(40).0 = 1.0;
    /// }
    /// for heat in world.query::<&Heat>().filter_since::<ChangedLines<Heat>>(before).rows() {
    ///     assert_eq!(heat.0, 1.0);
    /// }
    /// ```
    #[inline]
    pub fn row_mut(&mut self, row: usize) -> &mut C {
        &mut self.rows_mut(row..row + 1)[0]
    }

    /// Neighbours, for writing. Stamps them.
    ///
    /// # Panics
    ///
    /// If the rows are out of range.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(lines)] struct Heat(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch([Heat(0.0); 100]);
    /// let before = world.version();
    /// for mut heat in world.query_mut::<LinesMut<Heat>>() {
    ///     heat.rows_mut(15..17).fill(Heat(1.0));
    /// }
    /// let changed = world.query::<&Heat>().filter_since::<ChangedLines<Heat>>(before);
    /// assert_eq!(changed.count_rows(), 2);
    /// ```
    #[inline]
    pub fn rows_mut(&mut self, rows: Range<usize>) -> &mut [C] {
        let cells = &mut self.cells[rows.clone()];
        if let Some(lines) = self.lines.filter(|_| !cells.is_empty()) {
            lines.touch(rows);
        }
        cells
    }

    /// All rows, for writing. Stamps them.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(lines)] struct Heat(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch([Heat(0.0); 100]);
    /// let before = world.version();
    /// for mut heat in world.query_mut::<LinesMut<Heat>>() {
    ///     heat.all_mut().fill(Heat(1.0));
    /// }
    /// let changed = world.query::<&Heat>().filter_since::<ChangedLines<Heat>>(before);
    /// assert_eq!(changed.count_rows(), 100);
    /// ```
    #[inline]
    pub fn all_mut(&mut self) -> &mut [C] {
        self.rows_mut(0..self.cells.len())
    }

    /// Line by line: slices of sixteen rows, or fewer at an end. Each is one cache line of a
    /// component of 4 bytes.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(lines)] struct Heat(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch([Heat(0.0); 100]);
    /// for mut heat in world.query_mut::<LinesMut<Heat>>() {
    ///     let lines: Vec<usize> = heat.lines_mut().map(|line| line.len()).collect();
    ///     assert_eq!(lines, [16, 16, 16, 16, 16, 16, 4]);
    /// }
    /// ```
    #[inline]
    pub fn lines_mut(&mut self) -> impl Iterator<Item = LineSlice<'_, C>> {
        let mut rest = LineSlice { cells: &mut *self.cells, lines: self.lines };
        core::iter::from_fn(move || {
            let start = rest.lines.map_or(0, |lines| lines.first as usize);
            let rows = (VECTOR_ROWS - start % VECTOR_ROWS).min(rest.len());
            (rows > 0).then(|| rest.split_off(rows))
        })
    }

    /// Cuts the first rows off.
    #[inline]
    fn split_off(&mut self, rows: usize) -> Self {
        let (first, rest) = core::mem::take(&mut self.cells).split_at_mut(rows);
        self.cells = rest;
        let lines = self.lines;
        self.lines = lines.map(|lines| lines.after(rows));
        Self { cells: first, lines }
    }
}

impl<C: Component> LineSlice<'_, C> {
    /// Writes a row, and stamps it, unless it has this value already. Values are compared as
    /// bytes. Returns whether it was written.
    ///
    /// # Panics
    ///
    /// If the row is out of range.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(lines)] struct Heat(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch([Heat(0.0); 100]);
    /// let before = world.version();
    /// for mut heat in world.query_mut::<LinesMut<Heat>>() {
    ///     assert!(heat.set(3, Heat(1.0)) && !heat.set(60, Heat(0.0)));
    /// }
    /// let changed = world.query::<&Heat>().filter_since::<ChangedLines<Heat>>(before);
    /// assert_eq!(changed.count_rows(), 1);
    /// ```
    #[inline]
    pub fn set(&mut self, row: usize, value: C) -> bool {
        let differs = bytemuck::bytes_of(&self.cells[row]) != bytemuck::bytes_of(&value);
        if differs {
            *self.row_mut(row) = value;
        }
        differs
    }
}

impl<'w, C> IntoIterator for LineSlice<'w, C> {
    type Item = LineRow<'w, C>;
    type IntoIter = LineRows<'w, C>;

    #[inline]
    fn into_iter(self) -> LineRows<'w, C> {
        LineRows { cells: self.cells.iter_mut(), lines: self.lines }
    }
}

impl<'a, C> IntoIterator for &'a mut LineSlice<'_, C> {
    type Item = LineRow<'a, C>;
    type IntoIter = LineRows<'a, C>;

    #[inline]
    fn into_iter(self) -> LineRows<'a, C> {
        LineRows { cells: self.cells.iter_mut(), lines: self.lines }
    }
}

impl<C> fmt::Debug for LineSlice<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LineSlice").field("rows", &self.len()).finish_non_exhaustive()
    }
}

/// A row that is stamped when it is borrowed for writing: the item of a query of [`LinesMut`]
/// for an entity.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component(lines)] struct Heat(f32);
/// # let mut world = World::new();
/// world.spawn_batch((0..100).map(|i| Heat(i as f32)));
/// let before = world.version();
/// for mut heat in world.query_mut::<LinesMut<Heat>>().rows() {
///     if heat.0 > 95.0 {
///         heat.0 = 0.0;
///     }
/// }
/// let changed = world.query::<&Heat>().filter_since::<ChangedLines<Heat>>(before);
/// assert_eq!(changed.count_rows(), 4);
/// ```
pub struct LineRow<'w, C> {
    cell: &'w mut C,
    line: Option<LinesAt<'w>>,
}

impl<C> Deref for LineRow<'_, C> {
    type Target = C;

    #[inline]
    fn deref(&self) -> &C {
        self.cell
    }
}

impl<C> DerefMut for LineRow<'_, C> {
    #[inline]
    fn deref_mut(&mut self) -> &mut C {
        if let Some(line) = self.line {
            line.touch(0..1);
        }
        self.cell
    }
}

impl<C: fmt::Debug> fmt::Debug for LineRow<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LineRow").field(&self.cell).finish()
    }
}

/// The rows of a [`LineSlice`].
#[must_use = "iterators are lazy"]
pub struct LineRows<'w, C> {
    cells: slice::IterMut<'w, C>,
    lines: Option<LinesAt<'w>>,
}

impl<'w, C> Iterator for LineRows<'w, C> {
    type Item = LineRow<'w, C>;

    #[inline]
    fn next(&mut self) -> Option<LineRow<'w, C>> {
        let cell = self.cells.next()?;
        let line = self.lines;
        self.lines = line.map(|line| line.after(1));
        Some(LineRow { cell, line })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.cells.size_hint()
    }
}

impl<C> PickRow for LineRows<'_, C> {
    type Whole = Self;

    #[inline(always)]
    fn whole(self) -> Self {
        self
    }
}
impl<C> ExactSizeIterator for LineRows<'_, C> {}

impl<C> fmt::Debug for LineRows<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LineRows").field("rows", &self.len()).finish_non_exhaustive()
    }
}

impl<C: Component> sealed::Sealed for LinesMut<C> {}
impl<C: Component> Term for LinesMut<C> {
    type Slice<'w> = LineSlice<'w, C>;
    type Row<'w> = LineRow<'w, C>;
    type Rows<'w> = LineRows<'w, C>;
    type ByRow = Self;
    type Key = Self;
    type Mode = Writes;
    type Sets = ();
    const ACCESSES: &'static [Access] = {
        assert_tracks_lines::<C>();
        &[Access::new::<C>(AccessFlags::WRITE.and(AccessFlags::BY_LINES))]
    };

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        builder.column::<C>(AccessKind::Write);
    }

    #[inline]
    fn cut<'w>(columns: &mut impl Columns<'w>, rows: ChunkRows<'w>, (): ()) -> Self::Slice<'w> {
        let number = columns.next_number();
        let cells = number.and_then(|number| Some((number, columns.column_mut::<C>()?)));
        let (number, cells) = cells.expect("a matched archetype lacks a required column");
        let (lines, first, now) = (rows.lines(number), rows.first(), rows.now());
        LineSlice { cells, lines: Some(LinesAt { lines, first, now }) }
    }

    #[inline]
    fn rows<'w>(slice: Self::Slice<'w>, _: usize) -> Self::Rows<'w> {
        slice.into_iter()
    }

    #[inline(always)]
    fn empty<'w>() -> Self::Slice<'w> {
        LineSlice { cells: &mut [], lines: None }
    }

    #[inline(always)]
    fn split_off<'w>(slice: &mut Self::Slice<'w>, rows: usize) -> Self::Slice<'w> {
        slice.split_off(rows)
    }

    type Stamps<'w> = ();

    #[inline]
    fn stamps<'w>(run: &mut RunStamps<'w, '_>) {
        run.skip_column();
    }

    #[inline(always)]
    fn touch_next((): &mut (), _: Version) {}
}

//! One component of every match as one dense array: copied to a `Vec`, and back from a slice.

use core::fmt;

use crate::component::{Component, ConstText};
use crate::entity::Entity;
use crate::storage::{Columns, SliceRows};

use super::access::{Access, AccessFlags, any_gives};
use super::changed::Watch;
use super::filter::Filter;
use super::per_chunk_terms::refuse_other_answers;
use super::query::Query;
use super::query_type::{is_by_row, query_type};
use super::terms::Terms;

/// The number of values to scatter differs from the number of rows of the query.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ScatterError {
    /// Number of rows that the query matches.
    pub rows: usize,
    /// Number of values.
    pub values: usize,
}

impl fmt::Display for ScatterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, values } = self;
        write!(f, "{values} values cannot be scattered to {rows} rows: give one per row")
    }
}

impl core::error::Error for ScatterError {}

/// A compile error unless every match has a cell of `C`. Evaluated in a constant of each public
/// function, so that the error names the caller's line.
pub(super) const fn assert_given<Q: Terms, C: Component>() {
    if !any_gives(Q::ACCESSES, C::NAME, AccessFlags::READ) {
        let text = ["to gather the component `", C::NAME, "` name it as a term: `&C`"];
        panic!("{}", ConstText::of(&text).as_str());
    }
}

/// [`assert_given`] for a cell that is written.
const fn assert_given_mut<Q: Terms, C: Component>() {
    if !any_gives(Q::ACCESSES, C::NAME, AccessFlags::WRITE) {
        let text = ["to scatter the component `", C::NAME, "` name it as a term: `&mut C`"];
        panic!("{}", ConstText::of(&text).as_str());
    }
}

/// # Copies
impl<'w, Q: Terms, F: Filter> Query<'w, Q, F> {
    /// Reads one component of all matches, or their ids, as a dense array,
    /// [some of them](crate::chunks::Copies::sample) at random, or their numbers
    /// [by archetype](crate::chunks::Copies::groups). Borrows the query, also
    /// if it writes, so that it can be used again: a `let` that keeps the copies needs a query that
    /// is kept in a variable.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] #[derive(PartialEq, Debug)] struct Mass(f32);
    /// let mut world = World::new();
    /// world.spawn_batch((0..1000).map(|i| Mass(i as f32)));
    /// let mut query = world.query_mut::<&mut Mass>();
    /// let mut masses = query.copies().gather();
    /// masses[999].0 = 7.0;
    /// query.scatter(&masses)?;
    /// assert_eq!(query.copies().gather()[999], Mass(7.0));
    /// # Ok::<(), phalanx::error::ScatterError>(())
    /// ```
    #[inline]
    pub const fn copies(&self) -> Copies<'_, 'w, Q, F> {
        Copies { query: self }
    }

    /// Overwrites component `C` of every match, in the order of the query, by `memcpy`: the inverse
    /// of [`gather`](crate::chunks::Copies::gather). Stamps the column in every chunk. O(bytes of
    /// `C`).
    ///
    /// `&mut C` must be a term. In a query of one component, `C` need not be named.
    ///
    /// # Errors
    ///
    /// If the number of values is not the number of rows. No value is written and no chunk stamped.
    ///
    /// # Panics
    ///
    /// If a test of [`where_chunk`](Query::where_chunk) chooses other rows for writing than for
    /// counting. The rows before the difference have their new values.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] #[derive(PartialEq, Debug)] struct Mass(f32);
    /// let mut world = World::new();
    /// let entities = world.spawn_batch((0..1000).map(|i| Mass(i as f32))).to_vec();
    /// let mut masses = world.query::<&Mass>().copies().gather();
    /// masses.reverse();
    /// world.query_mut::<&mut Mass>().scatter(&masses)?;
    /// assert_eq!(world.get::<Mass>(entities[0]), Ok(&Mass(999.0)));
    /// assert!(world.query_mut::<&mut Mass>().scatter(&masses[1..]).is_err());
    /// # Ok::<(), phalanx::error::ScatterError>(())
    /// ```
    pub fn scatter<C: Component>(&mut self, values: &[C]) -> Result<(), ScatterError>
    where
        Q: Watch<C>,
    {
        const { assert_given_mut::<Q, C>() };
        let view = self.view();
        view.plan(query_type::<Q, F>());
        // Panics if the world has another type of this name.
        view.store().registry().id::<C>();
        let rows = self.count_rows();
        if rows != values.len() {
            return Err(ScatterError { rows, values: values.len() });
        }
        let accesses = Q::ACCESSES.iter().copied().flatten();
        let mut terms = accesses.filter(|access| access.is_of_column());
        let Some(before) = terms.position(Access::is_of::<C>) else {
            // The term is of another type of this name, and the world knows neither.
            return Ok(());
        };
        let mut iter = self.iter_mut();
        let (cursor, filter, ..) = iter.parts();
        let mut rest = values;
        while let Some(mut cut) = cursor.cut_next::<Q, F>(filter, SliceRows::Live) {
            cut.columns.skip(before);
            let cells =
                cut.columns.column_mut::<C>().expect("a matched archetype lacks the term's column");
            let rows = if is_by_row::<Q, F>() { cut.seen.count() } else { cells.len() };
            if rows > rest.len() {
                refuse_other_answers("scatter");
            }
            let mut write = |cells: &mut [C]| {
                let (values, remaining) = rest.split_at(cells.len());
                cells.copy_from_slice(values);
                rest = remaining;
            };
            match is_by_row::<Q, F>() {
                true => cut.seen.runs().for_each(|run| write(&mut cells[run])),
                false => write(cells),
            }
            cursor.stamp_column::<C>(before, cut.chunk, cut.some_rows::<Q, F>());
        }
        match rest.is_empty() {
            true => Ok(()),
            false => refuse_other_answers("scatter"),
        }
    }
}

/// The matches of a query as a set: one component of all of them as a dense array, their ids, some
/// of them at random, and their numbers by archetype; made by [`Query::copies`].
/// [`Query::scatter`] writes an array back.
#[must_use = "its methods copy"]
pub struct Copies<'q, 'w, Q: Terms, F: Filter = ()> {
    query: &'q Query<'w, Q, F>,
}

impl<Q: Terms, F: Filter> fmt::Debug for Copies<'_, '_, Q, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Copies").finish_non_exhaustive()
    }
}

impl<'q, 'w, Q: Terms, F: Filter> Copies<'q, 'w, Q, F> {
    #[inline]
    pub(super) const fn query(&self) -> &'q Query<'w, Q, F> {
        self.query
    }

    /// Component `C` of every match, in the order of the query: one `memcpy` per chunk. Stamps no
    /// chunk, even if `&mut C` is a term. O(bytes of `C`).
    ///
    /// `&C` or `&mut C` must be a term. In a query of one component, `C` need not be named.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] #[derive(PartialEq, Debug)] struct Mass(f32);
    /// # #[component] struct Fixed;
    /// let mut world = World::new();
    /// world.spawn_batch((0..1000).map(|i| Mass(i as f32)));
    /// let masses = world.query::<&Mass>().copies().gather();
    /// assert_eq!(masses[999], Mass(999.0));
    /// ```
    ///
    /// ```compile_fail,E0080
    /// # use phalanx::prelude::*;
    /// # #[component] struct Mass(f32);
    /// # #[component] struct Fixed(u8);
    /// let world = World::new();
    /// world.query::<(&Mass, Option<&Fixed>)>().copies().gather::<Fixed>(); // some lack it
    /// ```
    #[must_use]
    pub fn gather<C: Component>(&self) -> Vec<C>
    where
        Q: Watch<C>,
    {
        const { assert_given::<Q, C>() };
        let mut values = Vec::new();
        self.append_column(&mut values);
        values
    }

    /// [`gather`](Copies::gather), appended to `values`, so that a buffer can be
    /// reused: `clear` it first.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Mass(f32);
    /// # let mut world = World::new();
    /// # world.spawn_batch((0..1000).map(|i| Mass(i as f32)));
    /// let mut masses = Vec::new();
    /// for frame in 0..3 {
    ///     masses.clear();
    ///     world.query::<&Mass>().copies().gather_into(&mut masses);
    /// }
    /// assert_eq!(masses.len(), 1000);
    /// ```
    pub fn gather_into<C: Component>(&self, values: &mut Vec<C>)
    where
        Q: Watch<C>,
    {
        const { assert_given::<Q, C>() };
        self.append_column(values);
    }

    fn append_column<C: Component>(&self, values: &mut Vec<C>) {
        values.reserve(self.query.count_rows());
        self.query.for_each_run(|store, archetype, chunk, run| {
            let column = archetype.column(store.registry().id::<C>());
            let column = column.expect("a matched archetype lacks the term's column");
            let cells = archetype.list().cells::<C>(column, chunk);
            values.extend_from_slice(&cells[run.start as usize..run.end as usize]);
        });
    }

    /// The entities of every match, in the order of the query:
    /// [`gather`](Copies::gather) for entity ids. O(entities).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Mass(f32);
    /// let mut world = World::new();
    /// let spawned = world.spawn_batch((0..1000).map(|i| Mass(i as f32))).to_vec();
    /// assert_eq!(world.query::<&Mass>().copies().entities(), spawned);
    /// ```
    #[must_use]
    pub fn entities(&self) -> Vec<Entity> {
        let mut entities = Vec::new();
        self.query.for_each_run(|_, archetype, chunk, run| {
            let in_chunk = archetype.entities_of_chunk(chunk);
            entities.extend_from_slice(&in_chunk[run.start as usize..run.end as usize]);
        });
        entities
    }

    /// The index of the first row of each item of a loop over the query, if all rows that match are
    /// numbered in its order, followed by the number of rows: an item is a chunk, or, if the query
    /// chooses rows, a run of them. A kernel with dense output needs the indices in advance. Stamps
    /// no chunk. Padding is not counted. O(chunks), and O(rows / 64 + runs) if it chooses rows.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Mass(f32);
    /// let mut world = World::new();
    /// world.spawn_batch((0..10_000).map(|i| Mass(i as f32)));
    /// let query = world.query::<&Mass>();
    /// let offsets = query.copies().offsets();
    /// let mut doubled = vec![0.0; 10_000];
    /// for (mass, rows) in query.iter().zip(offsets.windows(2)) {
    ///     let out = &mut doubled[rows[0]..rows[1]];
    ///     out.iter_mut().zip(mass).for_each(|(out, mass)| *out = 2.0 * mass.0);
    /// }
    /// assert_eq!(doubled[9_999], 19_998.0);
    /// ```
    #[must_use]
    pub fn offsets(&self) -> Vec<usize> {
        let (mut offsets, mut rows) = (vec![0], 0);
        self.query.for_each_run(|_, _, _, run| {
            rows += run.len();
            offsets.push(rows);
        });
        offsets
    }
}

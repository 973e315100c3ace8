//! The filter by the versions of rows: the changed rows of a chunk.

use core::fmt;

use crate::archetype::ChunkMeta;
use crate::component::{Component, Whole};
use crate::entity::Entity;
use crate::storage::{ColumnRef, NewerRows};
use crate::store::RequirementsBuilder;
use crate::version::Version;

use super::changed::{Changed, Watch};
use super::filter::{Filter, StampAt, sealed};
use super::lines_mut::{LinesMut, assert_tracks_lines};
use super::store_borrow::ReadBorrow;

/// Filter: rows in which `C` changed after a version, of a component that [tracks
/// lines](crate::component#components-that-track-lines): `#[component(lines)]`.
///
/// Where at most one version of some 64 rows is new to the reader, it finds exactly the rows that
/// changed; where several are, all of these 64 rows. Writes with one version are one change: those
/// of a system, of a pass, or of a view ([`lookup_mut`](crate::World::lookup_mut)). So the changes
/// of two systems between two runs of the reader are found exactly unless both wrote in the same 64
/// rows. Outside of systems each [`World::get_mut`](crate::World::get_mut), each
/// [`Query::get_mut`](crate::Query::get_mut) and each [`World::insert`](crate::World::insert) has a
/// version of its own.
///
/// Versions of the time that a [restore](crate::World::restore) has undone are void: a reader from
/// there finds all rows, once.
///
/// Of 1,000,000 rows of 12 bytes, every hundredth was written by its entity and then visited: 26 ns
/// a written row for the write, and 11 for the visit of exactly these rows. specs, which records
/// events, took 22 and 14 in the same run (Zen 4, other programs beside, medians). Rows at random
/// took 22 for the visit, and 18 to 22 in specs. [`rows`](crate::Query::rows) is the fastest way
/// where few rows change.
///
/// A row changes when it is written ([`World::get_mut`](crate::World::get_mut),
/// [`World::lookup_mut`](crate::World::lookup_mut), a query's
/// [`get_mut`](crate::Query::get_mut)), is taken from a [`LinesMut`](crate::lines::LinesMut), is
/// among the rows that another query saw as `&mut` because it [chooses
/// rows](crate::World::set_enabled), is spawned, or is inserted. A query that takes whole slices as
/// `&mut` changes all rows of their chunks, and so does [`rows`](crate::Query::rows) of `&mut C`. A
/// row that moves to another archetype, or to the place of a removed row, keeps its version. If
/// that is not known exactly, or the chunk was written as a whole, the row counts as newer, and
/// never as older: if a pass that writes `C` chooses rows by this filter, and sees only some of
/// them because of enable bits or sparse components, all rows of the same 64 that were new to it
/// count. A row that becomes visible in another way, for example by a tag that is inserted
/// or enabled, has not changed: [`Arrived`](crate::Arrived) and
/// [`Inserted`](crate::logs::Inserted) report it.
///
/// In a system the version is the version of its last run: see [`Schedule`](crate::Schedule);
/// elsewhere it is given to [`filter_since`](crate::Query::filter_since). The filter skips chunks
/// that did not change, as [`Changed`](crate::Changed) does. In the other chunks it reads 24 bytes
/// for each 64 rows. The slices of all terms are the same runs of changed rows. A query has
/// one filter of this kind (`cargo build` refuses another; `cargo check` does not), and any others.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component(lines)] struct Position(f32, f32);
/// # let mut world = World::new();
/// let all = world.spawn_batch((0..1000).map(|i| Position(i as f32, 0.0))).to_vec();
/// let before = world.version();
/// let mut written = world.lookup_mut::<Position>();
/// for i in [5, 6, 40, 500] {
///     written.get_mut(all[i])?.1 = 1.0;
/// }
/// let positions = world.query::<(Entity, &Position)>();
/// let mut sent = Vec::new();
/// for (entities, positions) in positions.filter_since::<ChangedLines<Position>>(before) {
///     sent.push((entities[0], positions.len()));
/// }
/// assert_eq!(sent, [(all[5], 2), (all[40], 1), (all[500], 1)]);
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component(lines)] struct Health(f32);
/// fn show(wounded: Query<(Entity, &Health), ChangedLines<Health>>) {
///     for (entities, health) in wounded.iter() { /* a run of a chunk */ }
/// }
/// ```
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// # #[component(lines)] struct Health(f32);
/// # #[component(lines)] struct Mana(f32);
/// # let (world, since) = (World::new(), Version::NEVER);
/// let both = world.query::<(&Health, &Mana)>().filter_since::<ChangedLines<Health>>(since);
/// both.filter_since::<ChangedLines<Mana>>(since).count_rows(); // two filters of lines
/// ```
#[derive(Clone, Copy)]
pub struct ChangedLines<C> {
    chunks: Changed<C>,
    since: Version,
}

impl<C> ChangedLines<C> {
    pub(crate) const fn since(since: Version) -> Self {
        Self { chunks: Changed::since(since), since }
    }
}

impl<C> fmt::Debug for ChangedLines<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", core::any::type_name::<Self>(), self.since)
    }
}

impl<C: Component> sealed::Sealed for ChangedLines<C> {}
impl<C: Component> Filter for ChangedLines<C> {
    const BY_CHUNK: bool = true;
    const BY_VERSION: bool = true;
    const BY_LINES: usize = {
        assert_tracks_lines::<C>();
        1
    };
    type Sets = ();

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        <Changed<C> as Filter>::describe(builder);
    }

    fn newer_than(since: Version) -> Self {
        Self::since(since)
    }

    #[inline]
    fn assert_watchable(view: ReadBorrow<'_>) {
        view.assert_names::<Whole<C>>();
    }

    #[inline]
    fn passes(&self, beside: ChunkMeta<'_>, watched: &mut &[ColumnRef], at: StampAt) -> bool {
        self.chunks.passes(beside, watched, at)
    }

    #[inline]
    fn newer_rows<'w>(
        &self,
        beside: ChunkMeta<'w>,
        watched: &mut &[ColumnRef],
        (chunk, _): (u32, &'w [Entity]),
        (): (),
    ) -> NewerRows<'w> {
        let own = watched.split_off_first().expect("a filter has no watched column left");
        let column = own.column().expect("a matched archetype lacks a watched column");
        let lines = beside.chunk_lines(column, chunk);
        lines.expect("a component that tracks lines has none").newer_than(self.since)
    }
}

impl<C: Component> sealed::Watching<C> for LinesMut<C> {}
impl<C: Component> Watch<C> for LinesMut<C> {}

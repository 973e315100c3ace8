//! The chunks of a query with their entities, indices and versions.

use core::fmt;
use core::ops::Range;

use crate::component::Columnar;
use crate::entity::Entity;
use crate::storage::StampKind;
use crate::version::Version;

use super::access::Access;
use super::cursor::ChunkCursor;
use super::cut_chunk::ChunkParts;
use super::filter::Filter;
use super::query_iter::QueryIter;
use super::term_shape::TermShape;
use super::terms::Terms;

/// The maximal number of terms of a query.
const TERMS_MAX: usize = 12;

/// One chunk of a query: its slices, entities, indices and versions.
///
/// The versions are from before this pass yielded the chunk.
pub struct Chunk<'w, Q: Terms> {
    slices: Q::Slices<'w>,
    entities: &'w [Entity],
    rows: Range<usize>,
    archetype: usize,
    index: usize,
    first_row: usize,
    order: Version,
    arrival: Version,
    versions: [Version; TERMS_MAX],
}

impl<'w, Q: Terms> Chunk<'w, Q> {
    /// The slices, as [`Query::iter`](crate::Query::iter) yields them.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch([Health(1.0); 100]);
    /// for chunk in world.query_mut::<&mut Health>().chunks() {
    ///     let number = chunk.index() as f32;
    ///     chunk.slices().iter_mut().for_each(|health| health.0 += number);
    /// }
    /// assert!(world.query::<&Health>().rows().all(|health| health.0 == 1.0), "of chunk 0");
    /// ```
    #[inline]
    pub fn slices(self) -> Q::Slices<'w> {
        self.slices
    }

    /// The entities of the chunk's live rows.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// let all = world.spawn_batch([Health(1.0); 100]).to_vec();
    /// let chunk = world.query::<&Health>().chunks().next().unwrap();
    /// assert_eq!(chunk.entities(), all);
    /// ```
    #[inline]
    #[must_use]
    pub fn entities(&self) -> &'w [Entity] {
        self.entities
    }

    /// The numbers of the rows in the chunk. If some rows are [disabled](crate::World::set_enabled)
    /// or did not change, the chunk is yielded once for each run of visible rows, and
    /// this is that run.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(lines)] struct Health(f32);
    /// # let mut world = World::new();
    /// let all = world.spawn_batch([Health(1.0); 100]).to_vec();
    /// let before = world.version();
    /// world.get_mut::<Health>(all[40])?.0 = 2.0;
    /// let changed = world.query::<&Health>().filter_since::<ChangedLines<Health>>(before);
    /// assert_eq!(changed.chunks().map(|chunk| chunk.rows()).collect::<Vec<_>>(), [40..41]);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// The number of live rows.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch([Health(1.0); 5000]);
    /// let lens: Vec<_> = world.query::<&Health>().chunks().map(|chunk| chunk.len()).collect();
    /// assert_eq!(lens, [4096, 904]);
    /// ```
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.entities().len()
    }

    /// Whether the chunk has no rows. A query yields no such chunk.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn(Health(1.0));
    /// assert!(world.query::<&Health>().chunks().all(|chunk| !chunk.is_empty()));
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of the chunk's archetype: its index in
    /// [`Reflect::archetypes`](crate::reflect::Reflect::archetypes).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Frozen;
    /// # let mut world = World::new();
    /// world.spawn((Health(1.0), Frozen));
    /// let chunk = world.query::<&Health>().chunks().next().unwrap();
    /// let archetype = world.reflect().archetypes().nth(chunk.archetype()).unwrap();
    /// assert_eq!(archetype.components().count(), 2);
    /// ```
    #[must_use]
    pub const fn archetype(&self) -> usize {
        self.archetype
    }

    /// The chunk's number in its archetype. Chunks that filters skip are counted.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// let all = world.spawn_batch([Health(1.0); 5000]).to_vec();
    /// let before = world.version();
    /// world.get_mut::<Health>(all[4999])?.0 = 2.0;
    /// let changed = world.query::<&Health>().changed_since(before);
    /// assert_eq!(changed.chunks().map(|chunk| chunk.index()).collect::<Vec<_>>(), [1]);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[must_use]
    pub const fn index(&self) -> usize {
        self.index
    }

    /// The number of rows that the pass yielded before these: their start in a dense output.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..5000).map(|i| Health(i as f32)));
    /// let mut dense = vec![0.0; world.len()];
    /// for chunk in world.query::<&Health>().chunks() {
    ///     let out = &mut dense[chunk.first_row()..][..chunk.len()];
    ///     out.copy_from_slice(scalars::<f32>(chunk.slices()));
    /// }
    /// assert_eq!(dense[4999], 4999.0);
    /// ```
    #[must_use]
    pub const fn first_row(&self) -> usize {
        self.first_row
    }

    /// The version at which column `C` of this chunk was last yielded as `&mut`, spawned or
    /// inserted. `None` if `C` is not a term of the query or the archetype lacks it.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Armour(f32);
    /// # let mut world = World::new();
    /// let entity = world.spawn((Health(1.0), Armour(1.0)));
    /// let before = world.version();
    /// world.get_mut::<Health>(entity)?.0 = 2.0;
    /// let chunk = world.query::<(&Health, &Armour)>().chunks().next().unwrap();
    /// assert!(chunk.version::<Health>() > Some(before));
    /// assert_eq!(chunk.version::<Armour>(), Some(before));
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[must_use]
    pub fn version<C: Columnar<Shape: TermShape>>(&self) -> Option<Version> {
        let first = C::Shape::READ.first()?;
        let is_of = |term: &&[Access]| term.first().is_some_and(|access| access.is_of_same(first));
        let named = Q::ACCESSES.iter().position(is_of)?;
        Some(self.versions[named]).filter(|&version| version != Version::NEVER)
    }

    /// The version at which rows last arrived in this chunk or left it.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// let [first, _] = [1.0, 2.0].map(|health| world.spawn(Health(health)));
    /// let before = world.version();
    /// world.despawn(first)?;
    /// let chunk = world.query::<&Health>().chunks().next().unwrap();
    /// assert!(chunk.order_version() > before && chunk.arrival_version() <= before);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[must_use]
    pub const fn order_version(&self) -> Version {
        self.order
    }

    /// The version at which rows last arrived in this chunk.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn(Health(1.0));
    /// let before = world.version();
    /// world.spawn(Health(2.0));
    /// assert!(world.query::<&Health>().chunks().all(|chunk| chunk.arrival_version() > before));
    /// ```
    #[must_use]
    pub const fn arrival_version(&self) -> Version {
        self.arrival
    }
}

impl<Q: Terms> fmt::Debug for Chunk<'_, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunk")
            .field("archetype", &self.archetype)
            .field("index", &self.index)
            .field("len", &self.len())
            .field("order_version", &self.order)
            .finish_non_exhaustive()
    }
}

/// One pass over the chunks of a query, with their entities, indices and versions. See
/// [`Query::chunks`](crate::Query::chunks).
pub struct Chunks<'w, Q: Terms, F: Filter = ()> {
    iter: QueryIter<'w, Q, F>,
    rows: usize,
    /// The chunk that was taken last, until all its runs are yielded.
    open: Option<OpenChunk<'w, Q>>,
}

/// A chunk that is yielded run by run.
struct OpenChunk<'w, Q: Terms> {
    parts: ChunkParts<'w, Q>,
    entities: &'w [Entity],
    archetype: usize,
    index: usize,
    order: Version,
    arrival: Version,
    versions: [Version; TERMS_MAX],
}

impl<'w, Q: Terms> OpenChunk<'w, Q> {
    /// The next run.
    fn next<F: Filter>(&mut self, first_row: usize) -> Option<Chunk<'w, Q>> {
        let part = self.parts.next::<F>()?;
        // Padding has no entities.
        let rows = part.rows.start..part.rows.end.min(self.entities.len());
        let &mut Self { archetype, index, order, arrival, versions, .. } = self;
        let (slices, entities) = (part.slices, &self.entities[rows.clone()]);
        Some(Chunk {
            slices,
            entities,
            rows,
            archetype,
            index,
            first_row,
            order,
            arrival,
            versions,
        })
    }
}

impl<'w, Q: Terms, F: Filter> Chunks<'w, Q, F> {
    pub(super) const fn new(iter: QueryIter<'w, Q, F>) -> Self {
        Self { iter, rows: 0, open: None }
    }
}

impl<'w, Q: Terms, F: Filter> Iterator for Chunks<'w, Q, F> {
    type Item = Chunk<'w, Q>;

    fn next(&mut self) -> Option<Chunk<'w, Q>> {
        loop {
            if let Some(chunk) = self.open.as_mut().and_then(|open| open.next::<F>(self.rows)) {
                self.rows += chunk.len();
                return Some(chunk);
            }
            self.open = Some(self.open_next()?);
        }
    }
}

impl<'w, Q: Terms, F: Filter> Chunks<'w, Q, F> {
    /// Takes and stamps the next chunk.
    fn open_next(&mut self) -> Option<OpenChunk<'w, Q>> {
        let (cursor, filter, slice_rows, sets) = self.iter.parts();
        let mut cut = cursor.cut_next::<Q, F>(filter, slice_rows)?;
        let index = cut.chunk;
        let [order, arrival] =
            [StampKind::ORDER, StampKind::ARRIVAL].map(|kind| version(cursor, kind, index));
        let open = OpenChunk {
            parts: cut.parts::<Q, F>(sets),
            entities: cut.rows.entities(),
            archetype: cursor.current.as_ref().map_or(0, |current| current.archetype),
            index,
            order,
            arrival,
            versions: versions::<Q>(cursor, index),
        };
        cursor.stamp::<Q>(index, cut.some_rows::<Q, F>());
        Some(open)
    }
}

fn version(cursor: &ChunkCursor<'_>, kind: StampKind, chunk: usize) -> Version {
    cursor.current.as_ref().map_or(Version::NEVER, |current| current.beside.stamps.get(kind, chunk))
}

/// The versions of the terms, in their order: the newest of their columns. An `Entity` has none.
fn versions<Q: Terms>(cursor: &ChunkCursor<'_>, chunk: usize) -> [Version; TERMS_MAX] {
    let mut versions = [Version::NEVER; TERMS_MAX];
    let Some(current) = &cursor.current else {
        return versions;
    };
    let mut columns = current.chunks.columns().columns().iter();
    for (newest, accesses) in versions.iter_mut().zip(Q::ACCESSES) {
        for _ in accesses.iter().filter(|access| access.is_of_column()) {
            let column = columns.next().expect("a component term has no column").column();
            if let Some(column) = column {
                *newest = (*newest).max(version(cursor, StampKind::column(column), chunk));
            }
        }
    }
    versions
}

impl<Q: Terms, F: Filter> fmt::Debug for Chunks<'_, Q, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunks").field("rows", &self.rows).finish_non_exhaustive()
    }
}

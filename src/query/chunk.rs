//! The chunks of a query with their entities, indices and versions.

use core::fmt;
use core::ops::Range;

use crate::component::Columnar;
use crate::entity::Entity;
use crate::storage::StampKind;
use crate::version::Version;

use super::access::Access;
use super::cursor::{ChunkCursor, ChunkParts};
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
    #[inline]
    pub fn slices(self) -> Q::Slices<'w> {
        self.slices
    }

    /// The entities of the chunk's live rows.
    #[inline]
    #[must_use]
    pub fn entities(&self) -> &'w [Entity] {
        self.entities
    }

    /// The numbers of the rows in the chunk. If some rows are [disabled](crate::World::set_enabled)
    /// or in lines that did not change, the chunk is yielded once for each run of visible rows, and
    /// this is that run.
    #[inline]
    #[must_use]
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// The number of live rows.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.entities().len()
    }

    /// Whether the chunk has no rows. A query yields no such chunk.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of the chunk's archetype: its index in
    /// [`Reflect::archetypes`](crate::reflect::Reflect::archetypes).
    #[must_use]
    pub const fn archetype(&self) -> usize {
        self.archetype
    }

    /// The chunk's number in its archetype. Chunks that filters skip are counted.
    #[must_use]
    pub const fn index(&self) -> usize {
        self.index
    }

    /// The number of rows that the pass yielded before these: their start in a dense output.
    #[must_use]
    pub const fn first_row(&self) -> usize {
        self.first_row
    }

    /// The version at which column `C` of this chunk was last yielded as `&mut`, spawned or
    /// inserted. `None` if `C` is not a term of the query or the archetype lacks it.
    #[must_use]
    pub fn version<C: Columnar<Shape: TermShape>>(&self) -> Option<Version> {
        let first = C::Shape::READ.first()?;
        let is_of = |term: &&[Access]| term.first().is_some_and(|access| access.is_of_same(first));
        let named = Q::ACCESSES.iter().position(is_of)?;
        Some(self.versions[named]).filter(|&version| version != Version::NEVER)
    }

    /// The version at which rows last arrived in this chunk or left it.
    #[must_use]
    pub const fn order_version(&self) -> Version {
        self.order
    }

    /// The version at which rows last arrived in this chunk.
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
        let (cursor, filter, padded) = self.iter.parts();
        let mut cut = cursor.cut_next::<Q, F>(filter, padded)?;
        let index = cut.chunk;
        let [order, arrival] =
            [StampKind::ORDER, StampKind::ARRIVAL].map(|kind| version(cursor, kind, index));
        let open = OpenChunk {
            parts: cut.parts::<Q, F>(),
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
        for _ in accesses.iter().filter(|access| access.name().is_some()) {
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

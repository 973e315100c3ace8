//! The chunks of a query with their entities, indices and versions.

use core::fmt;

use crate::component::Component;
use crate::entity::Entity;
use crate::storage::StampKind;
use crate::version::Version;

use super::access::Access;
use super::cursor::ChunkCursor;
use super::entity_run::EntityRun;
use super::filter::Filter;
use super::query_iter::QueryIter;
use super::terms::Terms;

/// The maximal number of terms of a query.
const TERMS_MAX: usize = 12;

/// One chunk of a query: its slices, entities, indices and versions.
///
/// The versions are those from before this pass yielded the chunk.
pub struct Chunk<'w, Q: Terms> {
    slices: Q::Slices<'w>,
    entities: EntityRun<'w>,
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
        self.entities.slice()
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
    /// [`World::archetypes`](crate::World::archetypes).
    #[must_use]
    pub const fn archetype(&self) -> usize {
        self.archetype
    }

    /// The chunk's number in its archetype. Chunks that filters skip are counted.
    #[must_use]
    pub const fn index(&self) -> usize {
        self.index
    }

    /// The number of rows that the pass yielded before this chunk: where its rows start in a dense
    /// output.
    #[must_use]
    pub const fn first_row(&self) -> usize {
        self.first_row
    }

    /// The version at which column `C` of this chunk was last yielded as `&mut`, spawned or
    /// inserted. `None` if `C` is not a term of the query or the archetype lacks it.
    #[must_use]
    pub fn version<C: Component>(&self) -> Option<Version> {
        let named = Q::ACCESSES.iter().position(Access::is_of::<C>)?;
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
#[derive(Debug)]
pub struct Chunks<'w, Q: Terms, F: Filter = ()> {
    iter: QueryIter<'w, Q, F>,
    rows: usize,
}

impl<'w, Q: Terms, F: Filter> Chunks<'w, Q, F> {
    pub(super) const fn new(iter: QueryIter<'w, Q, F>) -> Self {
        Self { iter, rows: 0 }
    }
}

impl<'w, Q: Terms, F: Filter> Iterator for Chunks<'w, Q, F> {
    type Item = Chunk<'w, Q>;

    fn next(&mut self) -> Option<Chunk<'w, Q>> {
        let (cursor, filter, padded) = self.iter.parts();
        let mut cut = cursor.cut_next::<Q, F>(filter, padded)?;
        let (entities, index) = (cut.entities, cut.chunk);
        let slices = Q::cut(&mut cut.columns, entities);
        let [order, arrival] =
            [StampKind::ORDER, StampKind::ARRIVAL].map(|kind| version(cursor, kind, index));
        let chunk = Chunk {
            slices,
            entities,
            archetype: cursor.current.as_ref().map_or(0, |current| current.archetype),
            index,
            first_row: self.rows,
            order,
            arrival,
            versions: versions::<Q>(cursor, index),
        };
        cursor.stamp::<Q>(index);
        self.rows += chunk.len();
        Some(chunk)
    }
}

fn version(cursor: &ChunkCursor<'_>, kind: StampKind, chunk: usize) -> Version {
    cursor.current.as_ref().map_or(Version::NEVER, |current| current.stamps.get(kind, chunk))
}

/// The versions of the terms' columns, in the order of the terms. An `Entity` has none.
fn versions<Q: Terms>(cursor: &ChunkCursor<'_>, chunk: usize) -> [Version; TERMS_MAX] {
    let mut versions = [Version::NEVER; TERMS_MAX];
    let Some(current) = &cursor.current else {
        return versions;
    };
    let mut columns = current.chunks.columns().columns().iter();
    for (slot, access) in versions.iter_mut().zip(Q::ACCESSES) {
        if access.name().is_none() {
            continue;
        }
        let column = columns.next().expect("a component term has no column").column();
        *slot = column.map_or(Version::NEVER, |c| version(cursor, StampKind::column(c), chunk));
    }
    versions
}

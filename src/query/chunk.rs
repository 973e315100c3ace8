//! The low-level door: a query's chunks with all that is known of them.

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

/// Terms of a query, at most.
const TERMS_MAX: usize = 12;

/// One chunk of a query: its slices, its entities, its place and its versions.
///
/// The versions are those from before this query handed the chunk out.
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
    /// The slices, as the query's own iteration gives them.
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

    /// Live rows.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.entities().len()
    }

    /// Whether the chunk has no rows; never, of a chunk that a query hands out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of the chunk's archetype, as [`World::archetypes`](crate::World::archetypes)
    /// counts them.
    #[must_use]
    pub const fn archetype(&self) -> usize {
        self.archetype
    }

    /// The chunk's number in its archetype, whatever filters passed over.
    #[must_use]
    pub const fn index(&self) -> usize {
        self.index
    }

    /// Rows that the query handed out before this chunk: where its rows belong in a dense output.
    #[must_use]
    pub const fn first_row(&self) -> usize {
        self.first_row
    }

    /// When column `C` of this chunk was last handed out as `&mut`, spawned or inserted. `None` if
    /// `C` is not a term of the query or the archetype lacks it.
    #[must_use]
    pub fn version<C: Component>(&self) -> Option<Version> {
        let named = Q::ACCESSES.iter().position(Access::is_of::<C>)?;
        Some(self.versions[named]).filter(|&version| version != Version::NEVER)
    }

    /// When rows last came to this chunk or went.
    #[must_use]
    pub const fn order_version(&self) -> Version {
        self.order
    }

    /// When rows last came to this chunk.
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

/// One pass over the chunks of a query, with what is known of each. See [`Query::chunks`](crate::Query::chunks).
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
        let mut turn = cursor.turn::<Q, F>(filter, padded)?;
        let (entities, index) = (turn.entities, turn.chunk);
        let slices = Q::cut(&mut turn.cutter, entities);
        let [order, arrival] =
            [StampKind::ORDER, StampKind::ARRIVAL].map(|run| stamp(cursor, run, index));
        let chunk = Chunk {
            slices,
            entities,
            archetype: cursor.place.as_ref().map_or(0, |place| place.archetype),
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

fn stamp(cursor: &ChunkCursor<'_>, run: StampKind, chunk: usize) -> Version {
    cursor.place.as_ref().map_or(Version::NEVER, |place| place.stamps.get(run, chunk))
}

/// The versions of the terms' columns, in the order of the terms; an `Entity` has none.
fn versions<Q: Terms>(cursor: &ChunkCursor<'_>, chunk: usize) -> [Version; TERMS_MAX] {
    let mut versions = [Version::NEVER; TERMS_MAX];
    let Some(place) = &cursor.place else {
        return versions;
    };
    let mut columns = place.chunks.columns().columns().iter();
    for (version, access) in versions.iter_mut().zip(Q::ACCESSES) {
        if access.name().is_none() {
            continue;
        }
        let column = columns.next().expect("a column for every component term").column();
        *version = column.map_or(Version::NEVER, |c| stamp(cursor, StampKind::column(c), chunk));
    }
    versions
}

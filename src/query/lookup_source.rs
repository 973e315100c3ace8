//! The source of rows for lookups: one archetype at a time, in any order.

#![expect(unsafe_code, reason = "writes a row through granted access")]

use crate::archetype::{Archetype, ArchetypesInPlace};
use crate::entity::{ArchetypeId, DirectoryView};
use crate::storage::ChunkIter;
use crate::store::{ColumnAccess, Plan, QueryParts, QueryType};
use crate::version::Version;

use super::remaining::EnteredArchetype;
use super::store_borrow::{StoreBorrow, WriteBorrow, WriteSource};
use super::terms::Terms;

/// The archetypes of a lookup. Like a borrow it is shared, or reborrowed for a shorter time, and
/// [`LookupSource::enter`] consumes it, so that one row at a time is handed out if rows are
/// writable.
#[derive(Debug)]
pub(super) enum LookupSource<'w> {
    /// For a query that only reads.
    Shared(&'w [Archetype]),
    /// For a query that writes: it sets the clock to `now`.
    Exclusive { archetypes: ArchetypesInPlace<'w>, clock: &'w mut Version, now: Version },
    /// For a query that writes columns of a split world.
    Granted(ColumnAccess<'w>),
}

impl<'w> LookupSource<'w> {
    /// The source of a query, the data that locates its entities, and the query's plan.
    ///
    /// # Panics
    ///
    /// If the query asks for more than its access allows.
    pub(super) fn new(
        borrow: StoreBorrow<'w>,
        query: &QueryType,
    ) -> (DirectoryView<'w>, &'w Plan, Self) {
        match borrow {
            StoreBorrow::Write(WriteBorrow(WriteSource::Exclusive(store))) => {
                let QueryParts { plan, archetypes, entities, clock } = store.query_parts(query);
                let now = clock.next();
                (entities.view(), plan, Self::Exclusive { archetypes, clock, now })
            }
            StoreBorrow::Write(WriteBorrow(WriteSource::Granted(access))) => {
                access.assert_allows(query);
                let store = access.store();
                (store.entities().view(), store.plan(query), Self::Granted(access))
            }
            StoreBorrow::Read(borrow) => {
                let source = Self::Shared(borrow.store().archetypes().as_slice());
                (borrow.store().entities().view(), borrow.plan(query), source)
            }
        }
    }

    /// All archetypes of the world.
    #[inline]
    pub(super) fn as_slice(&self) -> &[Archetype] {
        match self {
            Self::Shared(all) => all,
            Self::Exclusive { archetypes, .. } => archetypes.as_slice(),
            Self::Granted(access) => access.store().archetypes().as_slice(),
        }
    }

    /// The same source for a shorter time.
    #[inline]
    pub(super) fn reborrow(&mut self) -> LookupSource<'_> {
        match self {
            Self::Shared(all) => LookupSource::Shared(all),
            Self::Exclusive { archetypes, clock, now } => {
                LookupSource::Exclusive { archetypes: archetypes.reborrow(), clock, now: *now }
            }
            Self::Granted(access) => LookupSource::Granted(access.reborrow()),
        }
    }

    /// The archetype of an entry of the plan, and the version for stamps of written columns.
    ///
    /// # Panics
    ///
    /// If the plan has no such entry, or the source is one for writing and the terms only read, or
    /// the other way round.
    #[inline]
    pub(super) fn enter<Q: Terms>(
        self,
        plan: &'w Plan,
        entry: usize,
    ) -> (EnteredArchetype<'w>, Version) {
        let (number, columns) = plan.column_map().get(entry).expect("the plan has no such entry");
        let archetype = number as usize;
        let ((chunks, beside), now) = match self {
            Self::Shared(all) if !Q::WRITES => {
                let archetype = &all[archetype];
                let chunks = ChunkIter::shared(archetype.list(), columns);
                ((chunks, archetype.beside()), Version::NEVER)
            }
            Self::Exclusive { archetypes, clock, now } if Q::WRITES => {
                *clock = now;
                (archetypes.into_archetype(ArchetypeId(number)).chunks(columns), now)
            }
            Self::Granted(access) if Q::WRITES => {
                let archetype = access.archetype(archetype);
                // SAFETY: `LookupSource::new` checked that the access allows the plan: no other
                // guard writes its columns or, if this one writes, reads them. The access borrows
                // its guard exclusively for `'w`, is not a `ReadAccess`, and is consumed here, so
                // the guard has no other pass or row for as long.
                let chunks = unsafe { ChunkIter::exclusive_unchecked(archetype.list(), columns) };
                ((chunks, archetype.beside()), access.now())
            }
            _ => unreachable!("the borrow of the archetypes contradicts the terms"),
        };
        (EnteredArchetype { chunks, beside, archetype, entry }, now)
    }
}

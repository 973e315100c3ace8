//! The source of rows for lookups: one archetype at a time, in any order.

use crate::archetype::{Archetype, ArchetypesInPlace, ChangeLog, RowPlaces, places_of};
use crate::entity::{ArchetypeId, DirectoryView, Entity, RowIndex};
use crate::storage::{ChunkIter, RowCells};
use crate::store::{EnteredArchetype, GrantedPlan, Plan, QueryParts, QueryType, SparseSets, Store};
use crate::version::Version;

use super::store_borrow::{StoreBorrow, WriteBorrow, WriteSource};
use super::terms::Terms;

/// The archetypes of a lookup. Like a borrow it is shared, or reborrowed for a shorter time, and
/// [`LookupSource::enter`] consumes it, so that one row at a time is handed out if rows are
/// writable.
#[derive(Debug)]
pub(super) enum LookupSource<'w> {
    /// For a query that only reads.
    Shared(SharedArchetypes<'w>),
    /// For a query that writes: it sets the clock to `now`.
    Exclusive { archetypes: ArchetypesInPlace<'w>, clock: &'w mut Version, now: Version },
    /// For a query that writes columns of a split world.
    Granted(GrantedPlan<'w>),
}

/// The archetypes of a query that only reads, as a slice: a look-up that finds them by the list of
/// all archetypes loads its address and length twice.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedArchetypes<'w> {
    all: &'w [Archetype],
    log: &'w ChangeLog,
}

impl<'w> SharedArchetypes<'w> {
    /// All archetypes of a store.
    #[inline]
    pub(super) fn new(store: &'w Store) -> Self {
        let archetypes = store.archetypes();
        Self { all: archetypes.as_slice(), log: archetypes.change_log() }
    }

    /// The cells of a plan's columns.
    pub(super) fn cells(self, directory: DirectoryView<'w>, plan: &Plan) -> RowCells<'w> {
        RowCells::new(directory, plan.column_map(), |number| self.all[number as usize].list())
    }

    /// The entity of a row, alone. Without a row there is none, so that a caller who does not read
    /// it computes nothing.
    #[inline(always)]
    pub(super) fn entity_at(self, archetype: u32, row: RowIndex) -> &'w [Entity] {
        let Some(archetype) = self.all.get(archetype as usize) else { return &[] };
        let list = archetype.list();
        let index = list.index_of(list.split(row));
        archetype.entities().get(index..=index).unwrap_or_default()
    }
}

impl<'w> LookupSource<'w> {
    /// The source of a query, the data that locates its entities, the query's plan, and the sets of
    /// an exclusive store.
    ///
    /// # Panics
    ///
    /// If the query asks for more than its access allows.
    #[inline]
    pub(super) fn new(
        borrow: StoreBorrow<'w>,
        query: &QueryType,
    ) -> (DirectoryView<'w>, &'w Plan, Self, Option<&'w mut SparseSets>) {
        match borrow {
            StoreBorrow::Write(WriteBorrow(WriteSource::Exclusive(store))) => {
                let parts = store.query_parts(query);
                let QueryParts { plan, archetypes, entities, clock, sparse } = parts;
                let now = clock.next();
                let source = Self::Exclusive { archetypes, clock, now };
                (entities.view(), plan, source, Some(sparse))
            }
            StoreBorrow::Write(WriteBorrow(WriteSource::Granted(access))) => {
                let directory = access.store().entities().view();
                let granted = GrantedPlan::new(access, query);
                (directory, granted.plan(), Self::Granted(granted), None)
            }
            StoreBorrow::Read(borrow) => {
                let source = Self::Shared(SharedArchetypes::new(borrow.store()));
                (borrow.store().entities().view(), borrow.plan(query), source, None)
            }
        }
    }

    /// All archetypes of the world.
    #[inline]
    pub(super) fn all(&self) -> &[Archetype] {
        match self {
            Self::Shared(shared) => shared.all,
            Self::Exclusive { archetypes, .. } => archetypes.as_slice(),
            Self::Granted(granted) => granted.archetypes().as_slice(),
        }
    }

    /// The places of all rows. O(archetypes) once after each change.
    #[inline]
    pub(super) fn places(&self) -> &RowPlaces {
        match self {
            Self::Shared(SharedArchetypes { all, log }) => places_of(all, log),
            Self::Exclusive { archetypes, .. } => archetypes.places(),
            Self::Granted(granted) => granted.archetypes().places(),
        }
    }

    /// All archetypes of the world, for as long as the source of a query that only reads lasts.
    ///
    /// # Panics
    ///
    /// If the query writes.
    #[inline]
    pub(super) fn shared(&self) -> SharedArchetypes<'w> {
        match self {
            Self::Shared(shared) => *shared,
            _ => unreachable!("a query that only reads borrows the archetypes shared"),
        }
    }

    /// The same source for a shorter time.
    #[inline]
    pub(super) fn reborrow(&mut self) -> LookupSource<'_> {
        match self {
            Self::Shared(shared) => LookupSource::Shared(*shared),
            Self::Exclusive { archetypes, clock, now } => {
                LookupSource::Exclusive { archetypes: archetypes.reborrow(), clock, now: *now }
            }
            Self::Granted(granted) => LookupSource::Granted(granted.reborrow()),
        }
    }

    /// The archetype of an entry of the plan with a number, and the version for stamps of written
    /// columns.
    ///
    /// # Panics
    ///
    /// If the plan has no such entry, or the source is one for writing and the terms only read, or
    /// the other way round.
    // Inlined, it uses the archetype that the caller has looked up already.
    #[inline(always)]
    pub(super) fn enter<Q: Terms>(
        self,
        plan: &'w Plan,
        (entry, number): (usize, u32),
    ) -> (EnteredArchetype<'w>, Version) {
        let (label, columns) = plan.column_map().get(entry).expect("the plan has no such entry");
        debug_assert_eq!(label, number, "the entry is of another archetype");
        let archetype = number as usize;
        let ((chunks, beside), now) = match self {
            Self::Shared(shared) if !Q::WRITES => {
                let archetype = &shared.all[archetype];
                let chunks = ChunkIter::shared(archetype.list(), columns);
                ((chunks, archetype.beside()), Version::NEVER)
            }
            Self::Exclusive { archetypes, clock, now } if Q::WRITES => {
                *clock = now;
                (archetypes.into_archetype(ArchetypeId(number)).chunks(columns), now)
            }
            Self::Granted(granted) if Q::WRITES => {
                let now = granted.now();
                return (granted.enter(entry).expect("a row is in an empty archetype"), now);
            }
            _ => unreachable!("the borrow of the archetypes contradicts the terms"),
        };
        (EnteredArchetype { chunks, beside, archetype, entry }, now)
    }
}

//! The source of rows for lookups: one archetype at a time, in any order.

use crate::archetype::{Archetype, Archetypes, ArchetypesInPlace, ChangeLog, RowPlaces, places_of};
use crate::entity::{ArchetypeId, DirectoryView, Entity, RowIndex};
use crate::storage::{ChunkIter, RowCells, RowCellsMut};
use crate::store::{EnteredArchetype, GrantedPlan, Plan, QueryParts, QueryType, SparseSets};
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
    /// For a query that writes by kept cells alone. An exclusive one sets the clock to `now`.
    ByCells { archetypes: SharedArchetypes<'w>, clock: Option<&'w mut Version>, now: Version },
}

/// The archetypes of a query that only reads, as a slice: a look-up that finds them by the list of
/// all archetypes loads its address and length twice.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedArchetypes<'w> {
    all: &'w [Archetype],
    log: &'w ChangeLog,
}

impl<'w> SharedArchetypes<'w> {
    #[inline]
    pub(super) fn new(archetypes: &'w Archetypes) -> Self {
        Self { all: archetypes.as_slice(), log: archetypes.change_log() }
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
                let source = Self::Shared(SharedArchetypes::new(borrow.store().archetypes()));
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
            Self::ByCells { archetypes, .. } => archetypes.all,
        }
    }

    /// The places of all rows. O(archetypes) once after each change.
    #[inline]
    pub(super) fn places(&self) -> &RowPlaces {
        match self {
            Self::Shared(shared) | Self::ByCells { archetypes: shared, .. } => {
                places_of(shared.all, shared.log)
            }
            Self::Exclusive { archetypes, .. } => archetypes.places(),
            Self::Granted(granted) => granted.archetypes().places(),
        }
    }

    /// All archetypes of the world, for as long as the source lasts.
    ///
    /// # Panics
    ///
    /// If the query writes, unless it does so by cells.
    #[inline]
    pub(super) fn shared(&self) -> SharedArchetypes<'w> {
        match self {
            Self::Shared(shared) | Self::ByCells { archetypes: shared, .. } => *shared,
            _ => unreachable!("a query that only reads borrows the archetypes shared"),
        }
    }

    /// The cells of a plan's columns, for reading. O(archetypes + chunks).
    ///
    /// # Panics
    ///
    /// If the query writes.
    pub(super) fn cells(&self, directory: DirectoryView<'w>, plan: &Plan) -> RowCells<'w> {
        let Self::Shared(shared) = *self else {
            unreachable!("a query that writes lends no cells")
        };
        RowCells::new(directory, plan.column_map(), |number| shared.all[number as usize].list())
    }

    /// The cells of a plan's columns, which alone write from now on. O(archetypes + chunks).
    ///
    /// # Panics
    ///
    /// If the query only reads, or takes more than columns.
    pub(super) fn into_cells(
        self,
        directory: DirectoryView<'w>,
        plan: &Plan,
    ) -> (RowCellsMut<'w>, Self) {
        let (clock, now, (cells, archetypes)) = match self {
            Self::Exclusive { archetypes, clock, now } => {
                (Some(clock), now, archetypes.into_cells(directory, plan.column_map()))
            }
            Self::Granted(granted) => (None, granted.now(), granted.into_cells(directory)),
            _ => unreachable!("a query that only reads writes no cells"),
        };
        let archetypes = SharedArchetypes::new(archetypes);
        (cells, Self::ByCells { archetypes, clock, now })
    }

    /// An archetype with a cell to be written, and the version for its stamps.
    ///
    /// # Panics
    ///
    /// Unless the query writes by cells.
    pub(super) fn begin_cell(&mut self, number: u32) -> (&Archetype, Version) {
        let Self::ByCells { archetypes, clock, now } = self else {
            unreachable!("a query without cells writes none")
        };
        if let Some(clock) = clock {
            **clock = *now;
        }
        (&archetypes.all[number as usize], *now)
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
            Self::ByCells { archetypes, clock, now } => {
                let clock = clock.as_deref_mut();
                LookupSource::ByCells { archetypes: *archetypes, clock, now: *now }
            }
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

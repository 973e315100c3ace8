//! Plans: what a query type means in this world, worked out once.

use core::any::TypeId;

use std::sync::{PoisonError, RwLock};

use rustc_hash::FxHashMap;

use crate::archetype::{Archetype, Catalog};
use crate::component::{ComponentId, NameTaken, Registry};
use crate::storage::{ColumnUse, CutColumn, CutTable};

use super::demand::{Demand, Types};
use super::filter::Filter;
use super::rule::Rule;
use super::settle::Settled;
use super::tuple::Terms;

/// The archetypes that match a query, and the columns it cuts from each.
#[derive(Debug)]
pub(super) struct Plan {
    demand: Demand,
    /// Works the conditions out again, once types are known that were not.
    describe: fn(Types<'_>) -> Demand,
    /// The types that the world had when they were worked out last.
    types: usize,
    /// Archetypes tested so far: all with a lesser number.
    tested: usize,
    /// A row for every archetype that matches, under its number, and resolved to addresses.
    settled: Settled,
    /// A watched column may be one that a term writes, so it stands in a table of its own, which has
    /// no rows if nothing is watched.
    watched: CutTable,
}

impl Plan {
    fn new<Q: Terms, F: Filter>(demand: Demand, registry: &Registry, catalog: &Catalog) -> Self {
        let watched = demand.columns().len() - Q::COLUMNS;
        let mut plan = Self {
            demand,
            describe: Demand::describe::<Q, F>,
            types: registry.len(),
            tested: 0,
            settled: Settled::new(Q::COLUMNS, catalog),
            watched: CutTable::new(watched),
        };
        plan.test_new(catalog);
        plan
    }

    /// Tests the archetypes that are new since the last time.
    fn extend(&mut self, registry: &Registry, catalog: &Catalog) {
        if self.demand.is_unknown() {
            self.demand = (self.describe)(Types::Known(registry));
            self.types = registry.len();
        }
        self.test_new(catalog);
    }

    /// A type that it names and the world refuses by now, since it has another of that name. Until
    /// a query starts again, such a plan matches what it would if the name were free.
    #[cold]
    fn taken(&self, registry: &Registry) -> Option<NameTaken> {
        match self.demand.is_unknown() && self.types != registry.len() {
            true => (self.describe)(Types::Known(registry)).taken(),
            false => self.demand.taken(),
        }
    }

    fn test_new(&mut self, catalog: &Catalog) {
        for (number, archetype) in (0u32..).zip(catalog.as_slice()).skip(self.tested) {
            if self.demand.matches(archetype.set()) {
                let uses: Vec<_> =
                    self.demand.columns().map(|want| column_use(archetype, want)).collect();
                let (terms, watched) = uses.split_at(self.table().width());
                self.settled.push(number, archetype.list(), terms);
                if !watched.is_empty() {
                    self.watched.push(number, archetype.list(), watched);
                }
            }
        }
        self.tested = catalog.len();
    }

    /// The rules that keep an archetype out; none of one that matches.
    pub(super) fn broken(&self, archetype: &Archetype) -> impl Iterator<Item = &Rule> {
        self.demand.broken(archetype.set())
    }

    #[inline]
    pub(super) const fn table(&self) -> &CutTable {
        self.settled.plan()
    }

    #[inline]
    pub(super) const fn settled(&self) -> &Settled {
        &self.settled
    }

    /// The columns that filters watch in the archetype of a row of the table.
    #[inline]
    pub(super) fn watched(&self, entry: usize) -> &[CutColumn] {
        if self.watched.width() == 0 {
            return &[];
        }
        self.watched.row(entry).expect("a row in both tables").1.columns()
    }
}

fn column_use(archetype: &Archetype, (id, write): (ComponentId, bool)) -> ColumnUse {
    ColumnUse { column: archetype.column(id), write }
}

/// The plans of a world, by the type of their query and filters.
///
/// Plans are only ever added while the world is shared, and always up to date: whoever makes an
/// archetype, which takes an exclusive world, calls [`Plans::extend`]. So a plan can be borrowed
/// for as long as the world is, and a query of an exclusive world takes no lock to find it.
#[derive(Default)]
pub(crate) struct Plans {
    /// Indices of the list; of a plan with a type that the world has not met, [`OPEN`] added.
    by_type: RwLock<FxHashMap<TypeId, usize>>,
    list: boxcar::Vec<Plan>,
}

/// No list is as long. A query that finds this added to the index of its plan looks whether the
/// world refuses one of its types by now.
const OPEN: usize = 1 << (usize::BITS - 2);

impl Plans {
    pub(super) const fn key<Q: Terms, F: Filter>() -> TypeId {
        TypeId::of::<(Q::Key, F)>()
    }

    /// The plan, made now if the query is new.
    ///
    /// # Panics
    ///
    /// If the world has another type of the name of a type that the query names.
    #[inline]
    pub(super) fn get_mut<Q: Terms, F: Filter>(
        &mut self,
        registry: &mut Registry,
        catalog: &Catalog,
    ) -> &Plan {
        let by_type = self.by_type.get_mut().unwrap_or_else(PoisonError::into_inner);
        let index = match by_type.get(&Self::key::<Q, F>()) {
            Some(&index) if index < OPEN => index,
            _ => match self.prepare::<Q, F>(registry, catalog) {
                Ok(index) => index,
                Err(taken) => taken.refuse(),
            },
        };
        &self.list[index]
    }

    /// The index of the plan, made now if the query is new.
    ///
    /// # Errors
    ///
    /// If the world has another type of the name of a type that the query names.
    #[cold]
    pub(super) fn prepare<Q: Terms, F: Filter>(
        &mut self,
        registry: &mut Registry,
        catalog: &Catalog,
    ) -> Result<usize, NameTaken> {
        let by_type = self.by_type.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(&index) = by_type.get(&Self::key::<Q, F>()) {
            return self.closed(index, registry);
        }
        let demand = Demand::describe::<Q, F>(Types::Learned(registry));
        if let Some(taken) = demand.taken() {
            return Err(taken);
        }
        let index = self.list.push(Plan::new::<Q, F>(demand, registry, catalog));
        by_type.insert(Self::key::<Q, F>(), index);
        Ok(index)
    }

    /// The plan for a world that is only looked at.
    ///
    /// # Panics
    ///
    /// As [`Plans::get_mut`].
    #[inline]
    pub(super) fn get<Q: Terms, F: Filter>(&self, registry: &Registry, catalog: &Catalog) -> &Plan {
        let key = Self::key::<Q, F>();
        let known = self.by_type.read().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        let index = match known {
            Some(index) if index < OPEN => index,
            _ => self.find_shared::<Q, F>(known, registry, catalog),
        };
        &self.list[index]
    }

    #[cold]
    fn find_shared<Q: Terms, F: Filter>(
        &self,
        known: Option<usize>,
        registry: &Registry,
        catalog: &Catalog,
    ) -> usize {
        let index = known.unwrap_or_else(|| self.add_shared::<Q, F>(registry, catalog));
        match self.closed(index, registry) {
            Ok(index) => index,
            Err(taken) => taken.refuse(),
        }
    }

    fn add_shared<Q: Terms, F: Filter>(&self, registry: &Registry, catalog: &Catalog) -> usize {
        let mut by_type = self.by_type.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been first.
        let plan = || {
            let demand = Demand::describe::<Q, F>(Types::Known(registry));
            let open = if demand.is_unknown() { OPEN } else { 0 };
            self.list.push(Plan::new::<Q, F>(demand, registry, catalog)) | open
        };
        *by_type.entry(Self::key::<Q, F>()).or_insert_with(plan)
    }

    /// The index without [`OPEN`], if the world refuses none of the plan's types.
    fn closed(&self, index: usize, registry: &Registry) -> Result<usize, NameTaken> {
        let index = index & !OPEN;
        self.list[index].taken(registry).map_or(Ok(index), Err)
    }

    /// Bytes of all tables.
    pub(super) fn bytes(&self) -> usize {
        self.list.iter().map(|(_, plan)| plan.settled.bytes() + plan.watched.bytes()).sum()
    }

    /// Whether the addresses that plans keep are right.
    pub(crate) fn is_consistent(&self, catalog: &Catalog) -> bool {
        self.list.iter().all(|(_, plan)| plan.settled.is_consistent(catalog))
    }

    /// Tests an archetype that has just been made against every plan.
    pub(crate) fn extend(&mut self, registry: &Registry, catalog: &Catalog) {
        for index in 0..self.list.count() {
            let plan = self.list.get_mut(index).expect("no plan is ever taken away");
            let was_open = plan.demand.is_unknown();
            plan.extend(registry, catalog);
            if was_open && !plan.demand.is_unknown() {
                let by_type = self.by_type.get_mut().unwrap_or_else(PoisonError::into_inner);
                by_type.values_mut().filter(|open| **open == index | OPEN).for_each(|i| *i = index);
            }
        }
    }
}

impl core::fmt::Debug for Plans {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.list.iter().map(|(_, plan)| plan)).finish()
    }
}

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
    /// Works the demand out again, once types are known that were not.
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
        plan.extend(catalog);
        plan
    }

    /// Works the demand out again, if a type may be known by now that was not. Archetypes that were
    /// tested do not have it.
    fn learn(&mut self, registry: &Registry) {
        if self.demand.is_unknown() && self.types != registry.len() {
            self.demand = (self.describe)(Types::Known(registry));
            self.types = registry.len();
        }
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

    /// Tests the archetypes that were not: mostly one, in a world that may have thousands.
    fn extend(&mut self, catalog: &Catalog) {
        let first = u32::try_from(self.tested).expect("archetypes have numbers of 32 bits");
        for (number, archetype) in (first..).zip(&catalog.as_slice()[self.tested..]) {
            if self.demand.matches(archetype.set()) {
                self.add(number, archetype);
            }
        }
        self.tested = catalog.len();
    }

    /// Adds the rows of an archetype that matches.
    fn add(&mut self, number: u32, archetype: &Archetype) {
        let (list, width) = (archetype.list(), self.table().width());
        let uses = || self.demand.columns().map(|want| column_use(archetype, want));
        self.settled.push(number, list, uses().take(width));
        if self.watched.width() > 0 {
            self.watched.push(number, list, uses().skip(width));
        }
    }

    /// Whether the rows are those of the archetypes that match, tested rule by rule, and resolved to
    /// addresses that are right.
    fn is_consistent(&self, registry: &Registry, catalog: &Catalog) -> bool {
        let demand = (self.describe)(Types::Known(registry));
        let all = (0u32..).zip(catalog.as_slice());
        let matching = all.filter(|(_, archetype)| demand.broken(archetype.set()).next().is_none());
        let watches = self.watched.width() > 0;
        self.tested == catalog.len()
            && self.table().labels().eq(matching.map(|(number, _)| number))
            && (!watches || self.watched.labels().eq(self.table().labels()))
            && self.settled.is_consistent(catalog)
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
/// archetype, which takes an exclusive world, calls [`Plans::learn`] before and [`Plans::extend`]
/// afterwards. So a plan can be borrowed for as long as the world is, and a query of an exclusive
/// world takes no lock to find it.
///
/// A demand is described by code of components: `Component::hint` may panic, or ask the same world
/// something. So nothing is half done and no lock is held meanwhile.
#[derive(Default)]
pub(crate) struct Plans {
    /// Indices of the list; of a plan with a type that the world has not met, [`OPEN`] added.
    by_type: RwLock<FxHashMap<TypeId, usize>>,
    list: boxcar::Vec<Plan>,
    /// Types that the world knew when all plans learnt last. A plan that was made since then knows
    /// as many or more.
    learnt: usize,
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
        // Before the lock is taken: see `Plans`.
        let demand = Demand::describe::<Q, F>(Types::Known(registry));
        let open = if demand.is_unknown() { OPEN } else { 0 };
        let plan = || self.list.push(Plan::new::<Q, F>(demand, registry, catalog)) | open;
        let mut by_type = self.by_type.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been first.
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

    /// Whether each plan has the archetypes that match it, and addresses that are right.
    pub(crate) fn is_consistent(&self, registry: &Registry, catalog: &Catalog) -> bool {
        self.list.iter().all(|(_, plan)| plan.is_consistent(registry, catalog))
    }

    /// Works out again what types that the world has learnt mean to plans that named them before.
    /// An archetype that may have them is about to be made.
    pub(super) fn learn(&mut self, registry: &Registry) {
        if self.learnt == registry.len() {
            return;
        }
        for index in 0..self.list.count() {
            let plan = self.list.get_mut(index).expect("no plan is ever taken away");
            let was_open = plan.demand.is_unknown();
            plan.learn(registry);
            if was_open && !plan.demand.is_unknown() {
                let by_type = self.by_type.get_mut().unwrap_or_else(PoisonError::into_inner);
                by_type.values_mut().filter(|open| **open == index | OPEN).for_each(|i| *i = index);
            }
        }
        self.learnt = registry.len();
    }

    /// Tests an archetype that has just been made against every plan.
    pub(super) fn extend(&mut self, catalog: &Catalog) {
        for index in 0..self.list.count() {
            self.list.get_mut(index).expect("no plan is ever taken away").extend(catalog);
        }
    }
}

impl core::fmt::Debug for Plans {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.list.iter().map(|(_, plan)| plan)).finish()
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicUsize, Ordering};

    use bytemuck::{Pod, Zeroable};

    use super::*;
    use crate::component;
    use crate::component::ComponentSet;

    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct A(f32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct B(f32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Unseen(f32);
    component!(A as "A", B as "B", Unseen as "Unseen");

    fn make(catalog: &mut Catalog, registry: &Registry, ids: &[ComponentId]) {
        let set: ComponentSet = ids.iter().copied().collect();
        catalog.add(&set, registry).expect("floats fit a chunk");
    }

    #[test]
    fn unknown_types_are_looked_up_again_only_after_the_world_has_learnt_one() {
        static DESCRIBED: AtomicUsize = AtomicUsize::new(0);
        fn counted(types: Types<'_>) -> Demand {
            DESCRIBED.fetch_add(1, Ordering::Relaxed);
            Demand::describe::<&Unseen, ()>(types)
        }
        let (mut registry, mut catalog) = (Registry::default(), Catalog::default());
        let number = |id: Result<ComponentId, NameTaken>| id.expect("the names differ");
        let (a, b) = (number(registry.register::<A>()), number(registry.register::<B>()));
        let demand = Demand::describe::<&Unseen, ()>(Types::Known(&registry));
        let plan = Plan::new::<&Unseen, ()>(demand, &registry, &catalog);
        let mut plan = Plan { describe: counted, ..plan };
        for ids in [&[][..], &[a], &[b], &[a, b]] {
            plan.learn(&registry);
            make(&mut catalog, &registry, ids);
            plan.extend(&catalog);
        }
        assert_eq!(DESCRIBED.load(Ordering::Relaxed), 0, "A and B were known before");
        let unseen = number(registry.register::<Unseen>());
        for ids in [&[unseen][..], &[a, unseen]] {
            plan.learn(&registry);
            make(&mut catalog, &registry, ids);
            plan.extend(&catalog);
        }
        assert_eq!(DESCRIBED.load(Ordering::Relaxed), 1, "once, when all types are known");
        assert!(plan.table().labels().eq([4, 5]), "the archetypes that have it");
    }

    #[test]
    fn a_plan_that_lacks_an_archetype_is_inconsistent() {
        let (mut registry, mut catalog) = (Registry::default(), Catalog::default());
        let mut plans = Plans::default();
        plans.get_mut::<&A, ()>(&mut registry, &catalog);
        assert!(plans.is_consistent(&registry, &catalog), "no archetypes, no rows");
        let a = registry.register::<A>().expect("the first of its name");
        make(&mut catalog, &registry, &[a]);
        assert!(!plans.is_consistent(&registry, &catalog), "it was not tested");
        plans.extend(&catalog);
        assert!(plans.is_consistent(&registry, &catalog), "it was tested");
        plans.list.get_mut(0).expect("the plan").settled = Settled::new(1, &catalog);
        assert!(!plans.is_consistent(&registry, &catalog), "its row is gone");
    }
}

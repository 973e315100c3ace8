//! Plans: what a query type means in this world, worked out once.

use core::any::TypeId;

use std::sync::{PoisonError, RwLock};

use rustc_hash::FxHashMap;

use crate::archetype::{Archetype, Catalog};
use crate::component::{ComponentId, Registry};
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
    /// Types that the world knew when an archetype last asked for that.
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
    fn new<Q: Terms, F: Filter>(types: Types<'_>, catalog: &Catalog) -> Self {
        let demand = Demand::describe::<Q, F>(types);
        let watched = demand.columns().len() - Q::COLUMNS;
        let mut plan = Self {
            demand,
            describe: Demand::describe::<Q, F>,
            types: 0,
            tested: 0,
            settled: Settled::new(Q::COLUMNS, catalog),
            watched: CutTable::new(watched),
        };
        plan.test_new(catalog);
        plan
    }

    /// Tests the archetypes that are new since the last time.
    fn extend(&mut self, registry: &Registry, catalog: &Catalog) {
        if self.demand.is_unknown() && self.types != registry.len() {
            self.types = registry.len();
            self.demand = (self.describe)(Types::Known(registry));
        }
        self.test_new(catalog);
    }

    /// Tests the archetypes that were not: mostly one, in a world that may have thousands.
    fn test_new(&mut self, catalog: &Catalog) {
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
        let (list, width) = (&archetype.list, self.table().width());
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
/// archetype, which takes an exclusive world, calls [`Plans::extend`]. So a plan can be borrowed
/// for as long as the world is, and a query of an exclusive world takes no lock to find it.
#[derive(Default)]
pub(crate) struct Plans {
    by_type: RwLock<FxHashMap<TypeId, usize>>,
    list: boxcar::Vec<Plan>,
}

impl Plans {
    pub(super) const fn key<Q: Terms, F: Filter>() -> TypeId {
        TypeId::of::<(Q::Key, F)>()
    }

    /// The plan, made now if the query is new.
    #[inline]
    pub(super) fn get_mut<Q: Terms, F: Filter>(
        &mut self,
        registry: &mut Registry,
        catalog: &Catalog,
    ) -> &Plan {
        let by_type = self.by_type.get_mut().unwrap_or_else(PoisonError::into_inner);
        let index = match by_type.get(&Self::key::<Q, F>()) {
            Some(&index) => index,
            None => self.add::<Q, F>(registry, catalog),
        };
        &self.list[index]
    }

    #[cold]
    fn add<Q: Terms, F: Filter>(&mut self, registry: &mut Registry, catalog: &Catalog) -> usize {
        let index = self.list.push(Plan::new::<Q, F>(Types::Learned(registry), catalog));
        let by_type = self.by_type.get_mut().unwrap_or_else(PoisonError::into_inner);
        by_type.insert(Self::key::<Q, F>(), index);
        index
    }

    /// The plan for a world that is only looked at.
    #[inline]
    pub(super) fn get<Q: Terms, F: Filter>(&self, registry: &Registry, catalog: &Catalog) -> &Plan {
        let key = Self::key::<Q, F>();
        let known = self.by_type.read().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        let index = known.unwrap_or_else(|| self.add_shared::<Q, F>(registry, catalog));
        &self.list[index]
    }

    #[cold]
    fn add_shared<Q: Terms, F: Filter>(&self, registry: &Registry, catalog: &Catalog) -> usize {
        let mut by_type = self.by_type.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been first.
        let plan = || self.list.push(Plan::new::<Q, F>(Types::Known(registry), catalog));
        *by_type.entry(Self::key::<Q, F>()).or_insert_with(plan)
    }

    /// Bytes of all tables.
    pub(super) fn bytes(&self) -> usize {
        self.list.iter().map(|(_, plan)| plan.settled.bytes() + plan.watched.bytes()).sum()
    }

    /// Whether each plan has the archetypes that match it, and addresses that are right.
    pub(crate) fn is_consistent(&self, registry: &Registry, catalog: &Catalog) -> bool {
        self.list.iter().all(|(_, plan)| plan.is_consistent(registry, catalog))
    }

    /// Tests an archetype that has just been made against every plan.
    pub(crate) fn extend(&mut self, registry: &Registry, catalog: &Catalog) {
        for index in 0..self.list.count() {
            let plan = self.list.get_mut(index).expect("no plan is ever taken away");
            plan.extend(registry, catalog);
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
        catalog.find_or_add(&set, registry).expect("floats fit a chunk");
    }

    #[test]
    fn unknown_types_are_looked_up_again_only_after_the_world_has_learnt_one() {
        static DESCRIBED: AtomicUsize = AtomicUsize::new(0);
        fn counted(types: Types<'_>) -> Demand {
            DESCRIBED.fetch_add(1, Ordering::Relaxed);
            Demand::describe::<&Unseen, ()>(types)
        }
        let (mut registry, mut catalog) = (Registry::default(), Catalog::default());
        let (a, b) = (registry.register::<A>(), registry.register::<B>());
        let plan = Plan::new::<&Unseen, ()>(Types::Known(&registry), &catalog);
        let mut plan = Plan { describe: counted, ..plan };
        for ids in [&[][..], &[a], &[b], &[a, b]] {
            make(&mut catalog, &registry, ids);
            plan.extend(&registry, &catalog);
        }
        assert_eq!(DESCRIBED.load(Ordering::Relaxed), 1, "once, for A and B");
        let unseen = registry.register::<Unseen>();
        for ids in [&[unseen][..], &[a, unseen]] {
            make(&mut catalog, &registry, ids);
            plan.extend(&registry, &catalog);
        }
        assert_eq!(DESCRIBED.load(Ordering::Relaxed), 2, "and once when all types are known");
        assert!(plan.table().labels().eq([4, 5]), "the archetypes that have it");
    }

    #[test]
    fn a_plan_that_lacks_an_archetype_is_inconsistent() {
        let (mut registry, mut catalog) = (Registry::default(), Catalog::default());
        let mut plans = Plans::default();
        plans.get_mut::<&A, ()>(&mut registry, &catalog);
        assert!(plans.is_consistent(&registry, &catalog), "no archetypes, no rows");
        let a = registry.register::<A>();
        make(&mut catalog, &registry, &[a]);
        assert!(!plans.is_consistent(&registry, &catalog), "it was not tested");
        plans.extend(&registry, &catalog);
        assert!(plans.is_consistent(&registry, &catalog), "it was tested");
        plans.list.get_mut(0).expect("the plan").settled = Settled::new(1, &catalog);
        assert!(!plans.is_consistent(&registry, &catalog), "its row is gone");
    }
}

//! Plans: what a query type means in this world, worked out once.

use core::any::TypeId;

use std::sync::{PoisonError, RwLock};

use rustc_hash::FxHashMap;

use crate::archetype::{Archetype, Archetypes};
use crate::component::{ComponentId, NameTaken, Registry};
use crate::storage::{ColumnMap, ColumnRef, ColumnUse};

use super::query_type::QueryType;
use super::requirements::{ComponentIds, Requirements};
use super::resolved_plan::ResolvedPlan;
use super::rule::Rule;

/// The archetypes that match a query, and the columns it cuts from each.
#[derive(Debug)]
pub(crate) struct Plan {
    requirements: Requirements,
    /// Works the demand out again, once types are known that were not.
    describe: fn(ComponentIds<'_>) -> Requirements,
    /// The types that the world had when they were worked out last.
    types: usize,
    /// ArchetypeSource tested so far: all with a lesser number.
    tested: usize,
    /// A row for every archetype that matches, under its number, and resolved to addresses.
    resolved: ResolvedPlan,
    /// A watched column may be one that a term writes, so it stands in a table of its own, which has
    /// no rows if nothing is watched.
    watched: ColumnMap,
}

impl Plan {
    fn new(
        query: &QueryType,
        requirements: Requirements,
        registry: &Registry,
        archetypes: &Archetypes,
    ) -> Self {
        let watched = requirements.columns().len() - query.columns;
        let mut plan = Self {
            requirements,
            describe: query.describe,
            types: registry.len(),
            tested: 0,
            resolved: ResolvedPlan::new(query.columns, archetypes),
            watched: ColumnMap::new(watched),
        };
        plan.extend(archetypes);
        plan
    }

    /// Works the demand out again, if a type may be known by now that was not. ArchetypeSource that were
    /// tested do not have it.
    fn learn(&mut self, registry: &Registry) {
        if self.requirements.is_unknown() && self.types != registry.len() {
            self.requirements = (self.describe)(ComponentIds::Known(registry));
            self.types = registry.len();
        }
    }

    /// A type that it names and the world refuses by now, since it has another of that name. Until
    /// a query starts again, such a plan matches what it would if the name were free.
    #[cold]
    fn taken(&self, registry: &Registry) -> Option<NameTaken> {
        match self.requirements.is_unknown() && self.types != registry.len() {
            true => (self.describe)(ComponentIds::Known(registry)).taken(),
            false => self.requirements.taken(),
        }
    }

    /// Tests the archetypes that were not: mostly one, in a world that may have thousands.
    fn extend(&mut self, archetypes: &Archetypes) {
        let first = u32::try_from(self.tested).expect("archetypes have numbers of 32 bits");
        for (number, archetype) in (first..).zip(&archetypes.as_slice()[self.tested..]) {
            if self.requirements.matches(archetype.set()) {
                self.add(number, archetype);
            }
        }
        self.tested = archetypes.len();
    }

    /// Adds the rows of an archetype that matches.
    fn add(&mut self, number: u32, archetype: &Archetype) {
        let (list, width) = (archetype.list(), self.table().width());
        let uses = || self.requirements.columns().map(|want| column_use(archetype, want));
        self.resolved.push(number, list, uses().take(width));
        if self.watched.width() > 0 {
            self.watched.push(number, list, uses().skip(width));
        }
    }

    /// Whether the rows are those of the archetypes that match, tested rule by rule, and resolved to
    /// addresses that are right.
    fn is_consistent(&self, registry: &Registry, archetypes: &Archetypes) -> bool {
        let requirements = (self.describe)(ComponentIds::Known(registry));
        let all = (0u32..).zip(archetypes.as_slice());
        let matching =
            all.filter(|(_, archetype)| requirements.broken(archetype.set()).next().is_none());
        let watches = self.watched.width() > 0;
        self.tested == archetypes.len()
            && self.table().labels().eq(matching.map(|(number, _)| number))
            && (!watches || self.watched.labels().eq(self.table().labels()))
            && self.resolved.is_consistent(archetypes)
    }

    /// The rules that keep an archetype out; none of one that matches.
    pub(crate) fn broken(&self, archetype: &Archetype) -> impl Iterator<Item = &Rule> {
        self.requirements.broken(archetype.set())
    }

    #[inline]
    pub(crate) const fn table(&self) -> &ColumnMap {
        self.resolved.plan()
    }

    #[inline]
    pub(crate) const fn resolved(&self) -> &ResolvedPlan {
        &self.resolved
    }

    /// The columns that filters watch in the archetype of a row of the table.
    #[inline]
    pub(crate) fn watched(&self, entry: usize) -> &[ColumnRef] {
        if self.watched.width() == 0 {
            return &[];
        }
        self.watched.get(entry).expect("a row in both tables").1.columns()
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
    /// The plan, made now if the query is new.
    ///
    /// # Panics
    ///
    /// If the world has another type of the name of a type that the query names.
    #[inline]
    pub(crate) fn get_mut(
        &mut self,
        query: &QueryType,
        registry: &mut Registry,
        archetypes: &Archetypes,
    ) -> &Plan {
        let by_type = self.by_type.get_mut().unwrap_or_else(PoisonError::into_inner);
        let index = match by_type.get(&query.key) {
            Some(&index) if index < OPEN => index,
            _ => match self.prepare(query, registry, archetypes) {
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
    pub(crate) fn prepare(
        &mut self,
        query: &QueryType,
        registry: &mut Registry,
        archetypes: &Archetypes,
    ) -> Result<usize, NameTaken> {
        let by_type = self.by_type.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(&index) = by_type.get(&query.key) {
            return self.closed(index, registry);
        }
        let requirements = (query.describe)(ComponentIds::Learned(registry));
        if let Some(taken) = requirements.taken() {
            return Err(taken);
        }
        let index = self.list.push(Plan::new(query, requirements, registry, archetypes));
        by_type.insert(query.key, index);
        Ok(index)
    }

    /// The plan for a world that is only looked at.
    ///
    /// # Panics
    ///
    /// As [`Plans::get_mut`].
    #[inline]
    pub(crate) fn get(
        &self,
        query: &QueryType,
        registry: &Registry,
        archetypes: &Archetypes,
    ) -> &Plan {
        let key = query.key;
        let known = self.by_type.read().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        let index = match known {
            Some(index) if index < OPEN => index,
            _ => self.find_shared(query, known, registry, archetypes),
        };
        &self.list[index]
    }

    #[cold]
    fn find_shared(
        &self,
        query: &QueryType,
        known: Option<usize>,
        registry: &Registry,
        archetypes: &Archetypes,
    ) -> usize {
        let index = known.unwrap_or_else(|| self.add_shared(query, registry, archetypes));
        match self.closed(index, registry) {
            Ok(index) => index,
            Err(taken) => taken.refuse(),
        }
    }

    fn add_shared(&self, query: &QueryType, registry: &Registry, archetypes: &Archetypes) -> usize {
        // Before the lock is taken: see `Plans`.
        let requirements = (query.describe)(ComponentIds::Known(registry));
        let open = if requirements.is_unknown() { OPEN } else { 0 };
        let plan = || self.list.push(Plan::new(query, requirements, registry, archetypes)) | open;
        let mut by_type = self.by_type.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been first.
        *by_type.entry(query.key).or_insert_with(plan)
    }

    /// The index without [`OPEN`], if the world refuses none of the plan's types.
    fn closed(&self, index: usize, registry: &Registry) -> Result<usize, NameTaken> {
        let index = index & !OPEN;
        self.list[index].taken(registry).map_or(Ok(index), Err)
    }

    /// Bytes of all tables.
    pub(crate) fn bytes(&self) -> usize {
        self.list.iter().map(|(_, plan)| plan.resolved.bytes() + plan.watched.bytes()).sum()
    }

    /// Whether each plan has the archetypes that match it, and addresses that are right.
    pub(crate) fn is_consistent(&self, registry: &Registry, archetypes: &Archetypes) -> bool {
        self.list.iter().all(|(_, plan)| plan.is_consistent(registry, archetypes))
    }

    /// Works out again what types that the world has learnt mean to plans that named them before.
    /// An archetype that may have them is about to be made.
    pub(crate) fn learn(&mut self, registry: &Registry) {
        if self.learnt == registry.len() {
            return;
        }
        for index in 0..self.list.count() {
            let plan = self.list.get_mut(index).expect("no plan is ever taken away");
            let was_open = plan.requirements.is_unknown();
            plan.learn(registry);
            if was_open && !plan.requirements.is_unknown() {
                let by_type = self.by_type.get_mut().unwrap_or_else(PoisonError::into_inner);
                by_type.values_mut().filter(|open| **open == index | OPEN).for_each(|i| *i = index);
            }
        }
        self.learnt = registry.len();
    }

    /// Tests an archetype that has just been made against every plan.
    pub(crate) fn extend(&mut self, archetypes: &Archetypes) {
        for index in 0..self.list.count() {
            self.list.get_mut(index).expect("no plan is ever taken away").extend(archetypes);
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
    use crate::component::{Component, ComponentSet};
    use crate::store::RequirementsBuilder;

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

    /// A query of one column.
    fn reading<C: Component>() -> QueryType {
        fn describe<C: Component>(types: ComponentIds<'_>) -> Requirements {
            let mut builder = RequirementsBuilder::new(types);
            builder.column::<C>(false, false);
            builder.end_terms();
            builder.build()
        }
        let (key, name) = (TypeId::of::<C>(), core::any::type_name::<C>);
        QueryType { key, name, columns: 1, writes: false, describe: describe::<C> }
    }

    fn make(archetypes: &mut Archetypes, registry: &Registry, ids: &[ComponentId]) {
        let set: ComponentSet = ids.iter().copied().collect();
        archetypes.add(&set, registry).expect("floats fit a chunk");
    }

    #[test]
    fn unknown_types_are_looked_up_again_only_after_the_world_has_learnt_one() {
        static DESCRIBED: AtomicUsize = AtomicUsize::new(0);
        fn counted(types: ComponentIds<'_>) -> Requirements {
            DESCRIBED.fetch_add(1, Ordering::Relaxed);
            (reading::<Unseen>().describe)(types)
        }
        let (mut registry, mut archetypes) = (Registry::default(), Archetypes::default());
        let number = |id: Result<ComponentId, NameTaken>| id.expect("the names differ");
        let (a, b) = (number(registry.register::<A>()), number(registry.register::<B>()));
        let requirements = (reading::<Unseen>().describe)(ComponentIds::Known(&registry));
        let plan = Plan::new(&reading::<Unseen>(), requirements, &registry, &archetypes);
        let mut plan = Plan { describe: counted, ..plan };
        for ids in [&[][..], &[a], &[b], &[a, b]] {
            plan.learn(&registry);
            make(&mut archetypes, &registry, ids);
            plan.extend(&archetypes);
        }
        assert_eq!(DESCRIBED.load(Ordering::Relaxed), 0, "A and B were known before");
        let unseen = number(registry.register::<Unseen>());
        for ids in [&[unseen][..], &[a, unseen]] {
            plan.learn(&registry);
            make(&mut archetypes, &registry, ids);
            plan.extend(&archetypes);
        }
        assert_eq!(DESCRIBED.load(Ordering::Relaxed), 1, "once, when all types are known");
        assert!(plan.table().labels().eq([4, 5]), "the archetypes that have it");
    }

    #[test]
    fn a_plan_that_lacks_an_archetype_is_inconsistent() {
        let (mut registry, mut archetypes) = (Registry::default(), Archetypes::default());
        let mut plans = Plans::default();
        plans.get_mut(&reading::<A>(), &mut registry, &archetypes);
        assert!(plans.is_consistent(&registry, &archetypes), "no archetypes, no rows");
        let a = registry.register::<A>().expect("the first of its name");
        make(&mut archetypes, &registry, &[a]);
        assert!(!plans.is_consistent(&registry, &archetypes), "it was not tested");
        plans.extend(&archetypes);
        assert!(plans.is_consistent(&registry, &archetypes), "it was tested");
        plans.list.get_mut(0).expect("the plan").resolved = ResolvedPlan::new(1, &archetypes);
        assert!(!plans.is_consistent(&registry, &archetypes), "its row is gone");
    }
}

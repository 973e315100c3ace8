//! The plans of a world, found by the type of their query.

use core::any::TypeId;

use std::sync::{OnceLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;

use crate::archetype::Archetypes;
use crate::component::{NameTaken, Registry};
use crate::entity::ArchetypeId;

use super::plan::Plan;
use super::recent_plans::RecentPlans;
use super::requirements::ComponentIds;
use super::requirements::QueryType;
use super::rule::FirstWords;

/// The plans of a world, by the type of their query and filters.
///
/// While the world is shared, plans are only added. They list all archetypes at all times: adding
/// an archetype, which needs an exclusive world, calls [`Plans::update_types`] before it and
/// [`Plans::extend`] after it. So a plan can be borrowed like the world, and a query of an
/// exclusive world takes no lock to find it.
///
/// Describing requirements runs user code: `Component::hint` may panic, or query the same world. So
/// during it no lock is held and every change is complete.
#[derive(Default)]
pub(crate) struct Plans {
    /// Allocated for the first query: it is half of a world's bytes, and a third of the
    /// instructions that an empty world takes.
    known: OnceLock<Box<KnownPlans>>,
    /// The number of types that the world knew at the last [`Plans::update_types`]. Newer plans
    /// know at least this number.
    types_len: usize,
}

/// The plans that were made so far.
#[derive(Default)]
struct KnownPlans {
    index: RwLock<PlanIndex>,
    list: boxcar::Vec<Plan>,
    /// Indices of plans without unknown types.
    recent: RecentPlans,
}

/// The index that finds plans.
#[derive(Default)]
struct PlanIndex {
    /// Indices of the list, plus [`HAS_UNKNOWN`] if a type of the plan was unknown.
    by_type: FxHashMap<TypeId, usize>,
    /// The first words of each plan in the list, side by side: a new archetype in a world with a
    /// hundred plans is tested by the few plans that these admit, and the others are not loaded.
    first_words: Vec<FirstWords>,
}

/// Marks the index of a plan with an unknown type: a query that finds it checks whether the world
/// now refuses one of its types. Lists are always shorter.
const HAS_UNKNOWN: usize = 1 << (usize::BITS - 2);

impl Plans {
    /// The plan, which is made if the query is new.
    ///
    /// # Panics
    ///
    /// If a type of the query has the name of another type of the world.
    #[inline(always)]
    pub(crate) fn get_mut(
        &mut self,
        query: &QueryType,
        registry: &mut Registry,
        archetypes: &Archetypes,
    ) -> &Plan {
        let KnownPlans { index, list, recent } = self.known_mut();
        match recent.find(query.key, list) {
            Some(plan) => plan,
            None => find_or_add(index, (list, recent), query, registry, archetypes),
        }
    }

    /// The plans, for adding some.
    #[inline]
    fn known_mut(&mut self) -> &mut KnownPlans {
        self.known.get_or_init(Box::default);
        self.known.get_mut().expect("it was initialised")
    }

    /// Each plan.
    fn iter(&self) -> impl Iterator<Item = &Plan> {
        self.known.get().into_iter().flat_map(|known| known.list.iter()).map(|(_, plan)| plan)
    }

    /// Calls `change` with each plan.
    #[inline]
    fn for_each_mut(&mut self, mut change: impl FnMut(&mut Plan)) {
        let Some(known) = self.known.get_mut() else { return };
        for index in 0..known.list.count() {
            change(known.list.get_mut(index).expect("a plan was removed"));
        }
    }

    /// Makes the plan if the query is new.
    ///
    /// # Errors
    ///
    /// If a type of the query has the name of another type of the world.
    pub(crate) fn prepare(
        &mut self,
        query: &QueryType,
        registry: &mut Registry,
        archetypes: &Archetypes,
    ) -> Result<(), NameTaken> {
        let KnownPlans { index, list, recent } = self.known_mut();
        prepare(index, (list, recent), query, registry, archetypes).map(drop)
    }

    /// The plan for a world that is borrowed shared, made if the query is new.
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
        let known = self.known.get_or_init(Box::default);
        match known.recent.find(query.key, &known.list) {
            Some(plan) => plan,
            None => known.find_shared(query, registry, archetypes),
        }
    }

    /// Bytes of all plans.
    pub(crate) fn bytes(&self) -> usize {
        self.iter().map(Plan::bytes).sum()
    }

    /// Whether each plan lists the archetypes that match, its first words lie in its place, and its
    /// cached addresses are correct.
    pub(crate) fn is_consistent(&self, registry: &Registry, archetypes: &Archetypes) -> bool {
        let Some(known) = self.known.get() else { return true };
        let index = known.index.read().unwrap_or_else(PoisonError::into_inner);
        let first_words = index.first_words.iter().copied();
        self.iter().map(|plan| plan.requirements.rule_sets.first_words()).eq(first_words)
            && self.iter().all(|plan| plan.is_consistent(registry, archetypes))
    }

    /// Updates the plans with unknown types that may be known now. Must be called before an
    /// archetype with such types is added.
    pub(crate) fn update_types(&mut self, registry: &Registry) {
        if self.types_len == registry.names_len() {
            return;
        }
        if let Some(known) = self.known.get_mut() {
            known.update_types(registry);
        }
        self.types_len = registry.names_len();
    }

    /// Runs the hints that [`Plans::update_types`] would run after a type became known. They may
    /// panic. O(plans).
    pub(crate) fn ask_hints(&mut self, registry: &Registry) {
        self.for_each_mut(|plan| plan.ask_hints(registry));
    }

    /// Lists the archetypes in every plan again, after some were freed.
    pub(crate) fn remake(&mut self, archetypes: &Archetypes) {
        self.for_each_mut(|plan| plan.remake(archetypes));
    }

    /// Lists an archetype again in every plan that names a sparse component, after it got members
    /// of one.
    pub(crate) fn add_members(&mut self, id: ArchetypeId, archetypes: &Archetypes) {
        self.for_each_mut(|plan| {
            if plan.requirements.has_sparse_row_rule() {
                plan.relist(id.0, archetypes);
            }
        });
    }

    /// Lists an archetype and those after it again in every plan that names a sparse component,
    /// after some have no members of one any more.
    pub(crate) fn renew_members(&mut self, id: ArchetypeId, archetypes: &Archetypes) {
        self.for_each_mut(|plan| {
            if plan.requirements.has_sparse_row_rule() {
                plan.remake_from(id.0, archetypes);
            }
        });
    }

    /// Computes the entries of archetypes again in every plan, after columns were exchanged.
    pub(crate) fn renew(&mut self, archetypes: &Archetypes, swapped: &[ArchetypeId]) {
        self.for_each_mut(|plan| {
            swapped.iter().for_each(|&id| plan.renew(id.0, archetypes.get(id)));
        });
    }

    /// Lists an archetype that was just added in every plan that it matches.
    pub(crate) fn extend(&mut self, archetypes: &Archetypes) {
        if let Some(known) = self.known.get_mut() {
            known.extend(archetypes);
        }
    }
}

impl KnownPlans {
    #[cold]
    #[inline(never)]
    fn find_shared(
        &self,
        query: &QueryType,
        registry: &Registry,
        archetypes: &Archetypes,
    ) -> &Plan {
        let key = query.key;
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        let known = index.by_type.get(&key).copied();
        drop(index);
        let index = known.unwrap_or_else(|| self.add_shared(query, registry, archetypes));
        if index < HAS_UNKNOWN {
            self.recent.set(key, index);
        }
        match checked(&self.list, index, registry) {
            Ok(index) => &self.list[index],
            Err(name_taken) => name_taken.refuse(),
        }
    }

    fn add_shared(&self, query: &QueryType, registry: &Registry, archetypes: &Archetypes) -> usize {
        // Before the lock is taken: see `Plans`.
        let requirements = (query.describe)(ComponentIds::Known(registry));
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have added the plan first.
        match index.by_type.get(&query.key) {
            Some(&known) => known,
            None => index.add(&self.list, Plan::new(query, requirements, registry, archetypes)),
        }
    }

    /// [`Plans::update_types`].
    fn update_types(&mut self, registry: &Registry) {
        let PlanIndex { by_type, first_words } =
            self.index.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (index, words) in first_words.iter_mut().enumerate() {
            let plan = self.list.get_mut(index).expect("a plan was removed");
            let was_unknown = plan.requirements.is_unknown();
            plan.update_types(registry);
            *words = plan.requirements.rule_sets.first_words();
            if was_unknown && !plan.requirements.is_unknown() {
                let marked = by_type.values_mut().filter(|value| **value == index | HAS_UNKNOWN);
                marked.for_each(|value| *value = index);
            }
        }
    }

    /// [`Plans::extend`].
    fn extend(&mut self, archetypes: &Archetypes) {
        let Some(new) = archetypes.as_slice().last() else { return };
        let index = self.index.get_mut().unwrap_or_else(PoisonError::into_inner);
        let first = new.set().first_word();
        for (index, words) in index.first_words.iter().enumerate() {
            if words.admit(first) {
                self.list.get_mut(index).expect("a plan was removed").test_last(archetypes);
            }
        }
    }
}

impl PlanIndex {
    /// Adds a plan to the list. Returns its index there, with [`HAS_UNKNOWN`] if it has unknown
    /// types.
    fn add(&mut self, list: &boxcar::Vec<Plan>, plan: Plan) -> usize {
        let (key, first_words) = (plan.key, plan.requirements.rule_sets.first_words());
        let mark = if plan.requirements.is_unknown() { HAS_UNKNOWN } else { 0 };
        let index = list.push(plan);
        self.first_words.push(first_words);
        self.by_type.insert(key, index | mark);
        index | mark
    }
}

/// The plan of a query, which is made if the query is new.
///
/// # Panics
///
/// If a type of the query has the name of another type of the world.
#[cold]
#[inline(never)]
fn find_or_add<'p>(
    index: &mut RwLock<PlanIndex>,
    (list, recent): (&'p boxcar::Vec<Plan>, &RecentPlans),
    query: &QueryType,
    registry: &mut Registry,
    archetypes: &Archetypes,
) -> &'p Plan {
    match prepare(index, (list, recent), query, registry, archetypes) {
        Ok(index) => &list[index],
        Err(name_taken) => name_taken.refuse(),
    }
}

/// The index of a query's plan, which is made if the query is new. Borrows the list shared, so that
/// a plan of it may be returned instead.
///
/// # Errors
///
/// If a type of the query has the name of another type of the world.
fn prepare(
    index: &mut RwLock<PlanIndex>,
    (list, recent): (&boxcar::Vec<Plan>, &RecentPlans),
    query: &QueryType,
    registry: &mut Registry,
    archetypes: &Archetypes,
) -> Result<usize, NameTaken> {
    let plans = index.get_mut().unwrap_or_else(PoisonError::into_inner);
    if let Some(&index) = plans.by_type.get(&query.key) {
        if index < HAS_UNKNOWN {
            recent.set(query.key, index);
        }
        return checked(list, index, registry);
    }
    let requirements = (query.describe)(ComponentIds::Register(registry));
    if let Some(name_taken) = requirements.name_taken() {
        return Err(name_taken);
    }
    let index = plans.add(list, Plan::new(query, requirements, registry, archetypes));
    recent.set(query.key, index);
    Ok(index)
}

/// The index without [`HAS_UNKNOWN`].
///
/// # Errors
///
/// If the world refuses one of the plan's types.
fn checked(
    list: &boxcar::Vec<Plan>,
    index: usize,
    registry: &Registry,
) -> Result<usize, NameTaken> {
    let index = index & !HAS_UNKNOWN;
    list[index].name_taken(registry).map_or(Ok(index), Err)
}

impl core::fmt::Debug for Plans {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicUsize, Ordering};

    use bytemuck::{Pod, Zeroable};

    use super::*;
    use crate::component::{Component, ComponentId, ComponentSet};
    use crate::impl_component;
    use crate::storage::AccessKind;
    use crate::store::resolved_plan::ResolvedPlan;
    use crate::store::{Requirements, RequirementsBuilder};

    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct A(f32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct B(f32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Unseen(f32);
    impl_component!(A as "A", B as "B", Unseen as "Unseen");

    /// A query of one column.
    fn reading<C: Component>() -> QueryType {
        fn describe<C: Component>(ids: ComponentIds<'_>) -> Requirements {
            let mut builder = RequirementsBuilder::new(ids);
            builder.column::<C>(AccessKind::Read);
            builder.end_terms();
            builder.build()
        }
        let (key, name) = (TypeId::of::<C>(), core::any::type_name::<C>);
        QueryType { key, name, columns: 1, describe: describe::<C> }
    }

    fn make(archetypes: &mut Archetypes, registry: &Registry, ids: &[ComponentId]) {
        let set: ComponentSet = ids.iter().copied().collect();
        archetypes.add(&set, registry).expect("a row of floats does not fit a chunk");
    }

    #[test]
    fn unknown_types_are_looked_up_again_only_after_one_was_registered() {
        static DESCRIBED: AtomicUsize = AtomicUsize::new(0);
        fn counted(ids: ComponentIds<'_>) -> Requirements {
            DESCRIBED.fetch_add(1, Ordering::Relaxed);
            (reading::<Unseen>().describe)(ids)
        }
        let (mut registry, mut archetypes) = (Registry::default(), Archetypes::default());
        let number = |id: Result<ComponentId, NameTaken>| id.expect("the name is taken");
        let (a, b) = (number(registry.register::<A>()), number(registry.register::<B>()));
        let requirements = (reading::<Unseen>().describe)(ComponentIds::Known(&registry));
        let query = QueryType { describe: counted, ..reading::<Unseen>() };
        let mut plan = Plan::new(&query, requirements, &registry, &archetypes);
        for ids in [&[][..], &[a], &[b], &[a, b]] {
            plan.update_types(&registry);
            make(&mut archetypes, &registry, ids);
            plan.extend(&archetypes);
        }
        assert_eq!(DESCRIBED.load(Ordering::Relaxed), 0, "A and B were known before");
        let unseen = number(registry.register::<Unseen>());
        for ids in [&[unseen][..], &[a, unseen]] {
            plan.update_types(&registry);
            make(&mut archetypes, &registry, ids);
            plan.extend(&archetypes);
        }
        assert_eq!(DESCRIBED.load(Ordering::Relaxed), 1, "once, when all types are known");
        assert!(plan.column_map().labels().eq([4, 5]), "the archetypes that have it");
    }

    #[test]
    fn a_recent_index_of_another_query_is_not_taken_for_ones_own() {
        let (mut registry, archetypes) = (Registry::default(), Archetypes::default());
        let mut plans = Plans::default();
        let (a, b) = (reading::<A>(), reading::<B>());
        plans.get_mut(&a, &mut registry, &archetypes);
        plans.get_mut(&b, &mut registry, &archetypes);
        for (query, others) in [(&a, 1), (&b, 0)] {
            plans.known_mut().recent.set(query.key, others);
            assert!(plans.get(query, &registry, &archetypes).key == query.key, "shared");
            plans.known_mut().recent.set(query.key, others);
            assert!(plans.get_mut(query, &mut registry, &archetypes).key == query.key, "exclusive");
            assert!(plans.known_mut().recent.get(query.key) != others, "the right index is kept");
        }
    }

    #[test]
    fn plans_that_refused_archetypes_list_later_ones() {
        let (mut registry, mut archetypes) = (Registry::default(), Archetypes::default());
        let mut plans = Plans::default();
        let [a, b] = [registry.register::<A>(), registry.register::<B>()];
        let (a, b) = (a.expect("the name is free"), b.expect("the name is free"));
        plans.get_mut(&reading::<A>(), &mut registry, &archetypes);
        plans.get(&reading::<Unseen>(), &registry, &archetypes);
        let mut add = |plans: &mut Plans, registry: &Registry, ids: &[ComponentId]| {
            plans.update_types(registry);
            make(&mut archetypes, registry, ids);
            plans.extend(&archetypes);
            assert!(plans.is_consistent(registry, &archetypes), "{ids:?}");
        };
        [&[b][..], &[], &[a], &[a, b]].iter().for_each(|ids| add(&mut plans, &registry, ids));
        let unseen = registry.register::<Unseen>().expect("the name is free");
        [&[b, unseen][..], &[unseen], &[a, unseen]]
            .iter()
            .for_each(|ids| add(&mut plans, &registry, ids));
        let labels = |query: &QueryType| -> Vec<_> {
            plans.get(query, &registry, &archetypes).column_map().labels().collect()
        };
        assert_eq!(labels(&reading::<A>()), [2, 3, 6]);
        assert_eq!(labels(&reading::<Unseen>()), [4, 5, 6]);
    }

    #[test]
    fn first_words_of_another_plan_are_inconsistent() {
        let (mut registry, archetypes) = (Registry::default(), Archetypes::default());
        let mut plans = Plans::default();
        plans.get_mut(&reading::<A>(), &mut registry, &archetypes);
        plans.get_mut(&reading::<B>(), &mut registry, &archetypes);
        assert!(plans.is_consistent(&registry, &archetypes));
        let index = plans.known_mut().index.get_mut().expect("no thread has panicked");
        index.first_words.swap(0, 1);
        assert!(!plans.is_consistent(&registry, &archetypes));
    }

    #[test]
    fn a_plan_that_lacks_an_archetype_is_inconsistent() {
        let (mut registry, mut archetypes) = (Registry::default(), Archetypes::default());
        let mut plans = Plans::default();
        plans.get_mut(&reading::<A>(), &mut registry, &archetypes);
        assert!(plans.is_consistent(&registry, &archetypes), "no archetypes, no entries");
        let a = registry.register::<A>().expect("the name is taken");
        make(&mut archetypes, &registry, &[a]);
        assert!(!plans.is_consistent(&registry, &archetypes), "it was not tested");
        plans.extend(&archetypes);
        assert!(plans.is_consistent(&registry, &archetypes), "it was tested");
        plans.for_each_mut(|plan| plan.resolved = ResolvedPlan::new(1, &archetypes));
        assert!(!plans.is_consistent(&registry, &archetypes), "its entry is gone");
    }
}

//! Plans: the archetypes that match a query and the columns it takes from each, computed once.

use core::any::TypeId;

use std::sync::{PoisonError, RwLock};

use rustc_hash::FxHashMap;

use crate::archetype::{Archetype, Archetypes};
use crate::component::{ComponentId, NameTaken, Registry};
use crate::entity::ArchetypeId;
use crate::storage::{ChunkRow, ColumnMap, ColumnRef, ColumnUse, EnableRules, RowMask};

use super::query_type::QueryType;
use super::requirements::{ComponentIds, NeededColumn, Obstacle, Requirements};
use super::resolved_plan::ResolvedPlan;
use super::row_rule::RowRule;
use super::tagged_entries::TaggedEntries;

/// The archetypes that match a query, and the columns it takes from each.
#[derive(Debug)]
pub(crate) struct Plan {
    requirements: Requirements,
    /// Describes the requirements again, when an unknown type may have become known.
    describe: fn(ComponentIds<'_>) -> Requirements,
    /// The number of types that the world knew when the requirements were last described.
    types_len: usize,
    /// The number of archetypes that were tested, from the first on.
    tested_len: usize,
    /// The columns of the terms: an entry per archetype that matches, labelled with its number.
    resolved: ResolvedPlan,
    /// The columns that filters watch: an entry per archetype that matches, or empty without such
    /// filters. A separate map, because a watched column may be one that a term writes.
    watched: ColumnMap,
    /// The conditions on enable bits of rows: a list per archetype that matches, or empty without
    /// conditions.
    rows: Vec<Box<EnableRules>>,
    /// The entries by the tags of their archetypes: empty if no filter chooses by tags.
    tagged: TaggedEntries,
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
            types_len: registry.len(),
            tested_len: 0,
            resolved: ResolvedPlan::new(query.columns, archetypes),
            watched: ColumnMap::new(watched),
            rows: Vec::new(),
            tagged: TaggedEntries::default(),
        };
        plan.extend(archetypes);
        plan
    }

    /// Describes the requirements again if a type may have become known. The archetypes tested so
    /// far do not have it.
    fn update_types(&mut self, registry: &Registry) {
        if self.requirements.is_unknown() && self.types_len != registry.len() {
            self.requirements = (self.describe)(ComponentIds::Known(registry));
            self.types_len = registry.len();
        }
    }

    /// The first type of the query that the world refuses now, because another type has its name.
    /// Until the next pass, such a plan matches as if the name were free.
    #[cold]
    fn name_taken(&self, registry: &Registry) -> Option<NameTaken> {
        match self.requirements.is_unknown() && self.types_len != registry.len() {
            true => (self.describe)(ComponentIds::Known(registry)).name_taken(),
            false => self.requirements.name_taken(),
        }
    }

    /// Tests the new archetypes: usually one, in a world that may have thousands.
    fn extend(&mut self, archetypes: &Archetypes) {
        let first = u32::try_from(self.tested_len).expect("a world has 2^32 archetypes or more");
        for (number, archetype) in (first..).zip(&archetypes.as_slice()[self.tested_len..]) {
            if self.requirements.matches(archetype) {
                self.add(number, archetype);
            }
        }
        self.tested_len = archetypes.len();
    }

    /// Lists all archetypes again, because numbers of some have changed.
    fn remake(&mut self, archetypes: &Archetypes) {
        self.resolved = ResolvedPlan::new(self.column_map().width(), archetypes);
        self.watched = ColumnMap::new(self.watched.width());
        self.rows.clear();
        self.tagged = TaggedEntries::default();
        self.tested_len = 0;
        self.extend(archetypes);
    }

    /// Computes the entries of an archetype again, after its columns were exchanged.
    fn renew(&mut self, number: u32, archetype: &Archetype) {
        self.resolved.renew(number, archetype.list());
        self.watched.renew(number, archetype.list());
    }

    /// Adds the entries of a matching archetype.
    fn add(&mut self, number: u32, archetype: &Archetype) {
        let (list, width) = (archetype.list(), self.column_map().width());
        let uses = || self.requirements.columns().map(|column| column_use(archetype, column));
        if self.requirements.choose_tags() {
            self.tagged.push(self.column_map().len(), archetype);
        }
        self.resolved.push(number, list, uses().take(width));
        if self.watched.width() > 0 {
            self.watched.push(number, list, uses().skip(width));
        }
        if !self.requirements.row_rules().is_empty() {
            self.rows.push(self.enable_rules(archetype));
        }
    }

    /// The conditions on the enable bits of an archetype's rows.
    fn enable_rules(&self, archetype: &Archetype) -> Box<EnableRules> {
        let rules = self.requirements.row_rules().iter();
        rules.filter_map(|rule| rule.resolve(archetype)).collect()
    }

    /// Bytes of the entries.
    fn bytes(&self) -> usize {
        self.resolved.bytes() + self.watched.bytes() + self.tagged.bytes()
    }

    /// Whether the entries are exactly the archetypes that match, tested rule by rule, and the
    /// cached addresses are correct.
    fn is_consistent(&self, registry: &Registry, archetypes: &Archetypes) -> bool {
        let requirements = (self.describe)(ComponentIds::Known(registry));
        let all = (0u32..).zip(archetypes.as_slice());
        let matching =
            all.filter(|(_, archetype)| requirements.obstacles(archetype).next().is_none());
        let watches = self.watched.width() > 0;
        self.tested_len == archetypes.len()
            && self.column_map().labels().eq(matching.map(|(number, _)| number))
            && (!watches || self.watched.labels().eq(self.column_map().labels()))
            && (requirements.row_rules().is_empty() || self.rows.len() == self.column_map().len())
            && self.tagged == self.tagged_anew(archetypes)
            && self.resolved.is_consistent(archetypes)
    }

    /// The entries by tags, computed again.
    fn tagged_anew(&self, archetypes: &Archetypes) -> TaggedEntries {
        let mut tagged = TaggedEntries::default();
        let labels = self.column_map().labels().filter(|_| self.requirements.choose_tags());
        for (entry, number) in labels.enumerate() {
            tagged.push(entry, &archetypes.as_slice()[number as usize]);
        }
        tagged
    }

    /// All reasons that exclude an archetype. Empty if it matches.
    pub(crate) fn obstacles<'p>(
        &'p self,
        archetype: &'p Archetype,
    ) -> impl Iterator<Item = Obstacle<'p>> {
        self.requirements.obstacles(archetype)
    }

    /// The reason that excludes an entity without components, if there is one.
    pub(crate) fn obstacle_of_bare(&self) -> Option<Obstacle<'_>> {
        self.requirements.excludes_bare().map(Obstacle::Rule)
    }

    /// The first rule that excludes a row of a matching archetype.
    #[cold]
    pub(crate) fn broken_row_rule(&self, archetype: &Archetype, at: ChunkRow) -> Option<&RowRule> {
        let rows = archetype.list().rows(at.chunk);
        self.requirements.row_rules().iter().find(|rule| {
            let rules: Vec<_> = rule.resolve(archetype).into_iter().collect();
            !RowMask::new(&rules, archetype.attachments(), at.chunk, rows).contains(at.row)
        })
    }

    /// The columns of the terms: an entry per archetype that matches, labelled with its number.
    #[inline]
    pub(crate) const fn column_map(&self) -> &ColumnMap {
        self.resolved.column_map()
    }

    #[inline]
    pub(crate) const fn resolved(&self) -> &ResolvedPlan {
        &self.resolved
    }

    /// The columns that filters watch in the archetype of an entry.
    #[inline]
    pub(crate) fn watched(&self, entry: usize) -> &[ColumnRef] {
        if self.watched.width() == 0 {
            return &[];
        }
        self.watched
            .get(entry)
            .expect("the two maps of the plan differ in their entries")
            .1
            .columns()
    }

    /// The entries of the archetypes with the tag of a shared value, if a filter chooses by tags.
    #[inline]
    pub(crate) fn tagged(&self, tag: ComponentId) -> &[u32] {
        self.tagged.of(tag)
    }

    /// The conditions on the enable bits of rows in an entry's archetype.
    #[inline]
    pub(crate) fn rows(&self, entry: usize) -> &EnableRules {
        if self.rows.is_empty() { &[] } else { &self.rows[entry] }
    }
}

fn column_use(archetype: &Archetype, needed: NeededColumn) -> ColumnUse {
    let NeededColumn { component, write, beside } = needed;
    ColumnUse { column: archetype.column(component.id), write, beside }
}

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
    /// Indices of `list`, plus [`HAS_UNKNOWN`] if a type of the plan was unknown.
    by_type: RwLock<FxHashMap<TypeId, usize>>,
    list: boxcar::Vec<Plan>,
    /// The number of types that the world knew at the last [`Plans::update_types`]. Newer plans
    /// know at least this number.
    types_len: usize,
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
    #[inline]
    pub(crate) fn get_mut(
        &mut self,
        query: &QueryType,
        registry: &mut Registry,
        archetypes: &Archetypes,
    ) -> &Plan {
        let by_type = self.by_type.get_mut().unwrap_or_else(PoisonError::into_inner);
        let index = match by_type.get(&query.key) {
            Some(&index) if index < HAS_UNKNOWN => index,
            _ => match self.prepare(query, registry, archetypes) {
                Ok(index) => index,
                Err(name_taken) => name_taken.refuse(),
            },
        };
        &self.list[index]
    }

    /// The index of the plan, which is made if the query is new.
    ///
    /// # Errors
    ///
    /// If a type of the query has the name of another type of the world.
    #[cold]
    pub(crate) fn prepare(
        &mut self,
        query: &QueryType,
        registry: &mut Registry,
        archetypes: &Archetypes,
    ) -> Result<usize, NameTaken> {
        let by_type = self.by_type.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(&index) = by_type.get(&query.key) {
            return self.checked(index, registry);
        }
        let requirements = (query.describe)(ComponentIds::Register(registry));
        if let Some(name_taken) = requirements.name_taken() {
            return Err(name_taken);
        }
        let index = self.list.push(Plan::new(query, requirements, registry, archetypes));
        by_type.insert(query.key, index);
        Ok(index)
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
        let key = query.key;
        let known = self.by_type.read().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        let index = match known {
            Some(index) if index < HAS_UNKNOWN => index,
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
        match self.checked(index, registry) {
            Ok(index) => index,
            Err(name_taken) => name_taken.refuse(),
        }
    }

    fn add_shared(&self, query: &QueryType, registry: &Registry, archetypes: &Archetypes) -> usize {
        // Before the lock is taken: see `Plans`.
        let requirements = (query.describe)(ComponentIds::Known(registry));
        let mark = if requirements.is_unknown() { HAS_UNKNOWN } else { 0 };
        let plan = || self.list.push(Plan::new(query, requirements, registry, archetypes)) | mark;
        let mut by_type = self.by_type.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have added the plan first.
        *by_type.entry(query.key).or_insert_with(plan)
    }

    /// The index without [`HAS_UNKNOWN`].
    ///
    /// # Errors
    ///
    /// If the world refuses one of the plan's types.
    fn checked(&self, index: usize, registry: &Registry) -> Result<usize, NameTaken> {
        let index = index & !HAS_UNKNOWN;
        self.list[index].name_taken(registry).map_or(Ok(index), Err)
    }

    /// Bytes of all plans.
    pub(crate) fn bytes(&self) -> usize {
        self.list.iter().map(|(_, plan)| plan.bytes()).sum()
    }

    /// Whether each plan lists the archetypes that match, and its cached addresses are correct.
    pub(crate) fn is_consistent(&self, registry: &Registry, archetypes: &Archetypes) -> bool {
        self.list.iter().all(|(_, plan)| plan.is_consistent(registry, archetypes))
    }

    /// Updates the plans with unknown types that may be known now. Must be called before an
    /// archetype with such types is added.
    pub(crate) fn update_types(&mut self, registry: &Registry) {
        if self.types_len == registry.len() {
            return;
        }
        for index in 0..self.list.count() {
            let plan = self.list.get_mut(index).expect("a plan was removed");
            let was_unknown = plan.requirements.is_unknown();
            plan.update_types(registry);
            if was_unknown && !plan.requirements.is_unknown() {
                let by_type = self.by_type.get_mut().unwrap_or_else(PoisonError::into_inner);
                let marked = by_type.values_mut().filter(|value| **value == index | HAS_UNKNOWN);
                marked.for_each(|value| *value = index);
            }
        }
        self.types_len = registry.len();
    }

    /// Lists the archetypes in every plan again, after some were freed.
    pub(crate) fn remake(&mut self, archetypes: &Archetypes) {
        for index in 0..self.list.count() {
            self.list.get_mut(index).expect("a plan was removed").remake(archetypes);
        }
    }

    /// Computes the entries of archetypes again in every plan, after columns were exchanged.
    pub(crate) fn renew(&mut self, archetypes: &Archetypes, swapped: &[ArchetypeId]) {
        for index in 0..self.list.count() {
            let plan = self.list.get_mut(index).expect("a plan was removed");
            swapped.iter().for_each(|&id| plan.renew(id.0, archetypes.get(id)));
        }
    }

    /// Tests an archetype that was just added against every plan.
    pub(crate) fn extend(&mut self, archetypes: &Archetypes) {
        for index in 0..self.list.count() {
            self.list.get_mut(index).expect("a plan was removed").extend(archetypes);
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
    use crate::component::{Component, ComponentId, ComponentSet};
    use crate::impl_component;
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
    impl_component!(A as "A", B as "B", Unseen as "Unseen");

    /// A query of one column.
    fn reading<C: Component>() -> QueryType {
        fn describe<C: Component>(ids: ComponentIds<'_>) -> Requirements {
            let mut builder = RequirementsBuilder::new(ids);
            builder.column::<C>(false, false);
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
        let plan = Plan::new(&reading::<Unseen>(), requirements, &registry, &archetypes);
        let mut plan = Plan { describe: counted, ..plan };
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
        plans.list.get_mut(0).expect("the plan is missing").resolved =
            ResolvedPlan::new(1, &archetypes);
        assert!(!plans.is_consistent(&registry, &archetypes), "its entry is gone");
    }
}

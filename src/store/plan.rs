//! A plan: the archetypes that match a query and the columns it takes from each, computed once.

use core::any::TypeId;

use crate::archetype::{Archetype, Archetypes};
use crate::component::{ComponentId, NameTaken, Registry};
use crate::entity::ArchetypeId;
use crate::storage::{ChunkRow, ColumnMap, ColumnRef, ColumnUse, EnableRules, RowMask};

use super::requirements::QueryType;
use super::requirements::{ComponentIds, NeededColumn, Obstacle, Requirements};
use super::resolved_plan::ResolvedPlan;
use super::row_rule::RowRule;
use super::tagged_entries::TaggedEntries;

/// The archetypes that match a query, and the columns it takes from each.
///
/// A start of a pass reads the key and the end of `resolved`. They lie at the end of the plan, side
/// by side, and a hundred plans in turn take a line of the cache less each.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Plan {
    pub(super) requirements: Requirements,
    /// Describes the requirements again, when an unknown type may have become known.
    describe: fn(ComponentIds<'_>) -> Requirements,
    /// The number of types that the world knew when the requirements were last described.
    types_len: usize,
    /// The number of archetypes that were tested, from the first on. The later ones were refused by
    /// the first words of the rules, if the plan is complete.
    tested_len: usize,
    /// Whether the plan lists all archetypes that match. Not after a panic in the middle.
    is_complete: bool,
    /// The columns that filters watch: an entry per archetype that matches, or empty without such
    /// filters. A separate map, because a watched column may be one that a term writes.
    watched: ColumnMap,
    /// The conditions on enable bits of rows: a list per archetype that matches, or empty without
    /// conditions.
    rows: Vec<Box<EnableRules>>,
    /// The entries by the tags of their archetypes: empty if no filter chooses by tags.
    tagged: TaggedEntries,
    /// The columns of the terms: an entry per archetype that matches, labelled with its number.
    pub(super) resolved: ResolvedPlan,
    /// The key of the query.
    pub(super) key: TypeId,
}

impl Plan {
    pub(super) fn new(
        query: &QueryType,
        requirements: Requirements,
        registry: &Registry,
        archetypes: &Archetypes,
    ) -> Self {
        let watched = requirements.columns().len() - query.columns;
        let mut plan = Self {
            key: query.key,
            requirements,
            describe: query.describe,
            types_len: registry.names_len(),
            tested_len: 0,
            is_complete: false,
            resolved: ResolvedPlan::new(query.columns, archetypes),
            watched: ColumnMap::new(watched),
            rows: Vec::new(),
            tagged: TaggedEntries::default(),
        };
        plan.extend(archetypes);
        plan
    }

    /// Describes the requirements again if a type may have become known. The archetypes so far do
    /// not have it.
    pub(super) fn update_types(&mut self, registry: &Registry) {
        if self.requirements.is_unknown() && self.types_len != registry.names_len() {
            self.requirements = (self.describe)(ComponentIds::Known(registry));
            self.types_len = registry.names_len();
        }
    }

    /// Runs the hints of types that may be unknown. They may panic.
    pub(super) fn ask_hints(&self, registry: &Registry) {
        if self.requirements.is_unknown() {
            drop((self.describe)(ComponentIds::Known(registry)));
        }
    }

    /// The first type of the query that the world refuses now, because another type has its name.
    /// Until the next pass, such a plan matches as if the name were free.
    #[cold]
    pub(super) fn name_taken(&self, registry: &Registry) -> Option<NameTaken> {
        match self.requirements.is_unknown() && self.types_len != registry.names_len() {
            true => (self.describe)(ComponentIds::Known(registry)).name_taken(),
            false => self.requirements.name_taken(),
        }
    }

    /// Tests the last archetype, which is new. Earlier ones were tested, or refused by the first
    /// words of the rules, which later types can only make stricter.
    pub(super) fn test_last(&mut self, archetypes: &Archetypes) {
        if self.is_complete {
            self.tested_len = archetypes.len().saturating_sub(1);
        }
        self.extend(archetypes);
    }

    /// Tests the archetypes that were not tested yet.
    pub(super) fn extend(&mut self, archetypes: &Archetypes) {
        self.is_complete = false;
        let first = u32::try_from(self.tested_len).expect("a world has 2^32 archetypes or more");
        for (number, archetype) in (first..).zip(&archetypes.as_slice()[self.tested_len..]) {
            if self.requirements.matches(archetype) {
                self.add(number, archetype);
            }
        }
        self.tested_len = archetypes.len();
        self.is_complete = true;
    }

    /// Lists all archetypes again, because numbers of some have changed.
    pub(super) fn remake(&mut self, archetypes: &Archetypes) {
        self.resolved = ResolvedPlan::new(self.column_map().width(), archetypes);
        self.watched = ColumnMap::new(self.watched.width());
        self.rows.clear();
        self.tagged = TaggedEntries::default();
        self.tested_len = 0;
        self.extend(archetypes);
    }

    /// Lists the archetypes from a number on again, because this one may match now. O(these).
    pub(super) fn remake_from(&mut self, number: u32, archetypes: &Archetypes) {
        self.resolved.truncate(number);
        self.watched.truncate(number);
        self.rows.truncate(self.column_map().len());
        self.tagged.truncate(self.column_map().len());
        self.tested_len = self.tested_len.min(number as usize);
        self.extend(archetypes);
    }

    /// Lists an archetype again that got members of a sparse component: it may match now, or its
    /// rows may have other conditions. The entries of later ones are put back as they are, which
    /// takes a sixth to a twelfth of the time of a test of each.
    pub(super) fn relist(&mut self, number: u32, archetypes: &Archetypes) {
        if !self.is_complete {
            return self.remake_from(number, archetypes);
        }
        let archetype = archetypes.get(ArchetypeId(number));
        match (self.column_map().find(number), self.requirements.matches(archetype)) {
            (None, false) => {}
            (Some(entry), true) if !self.rows.is_empty() => {
                self.rows[entry] = self.enable_rules(archetype);
            }
            // The lists of tags have the indices of entries.
            (None, true) if !self.requirements.choose_tags() => self.insert(number, archetype),
            _ => self.remake_from(number, archetypes),
        }
    }

    /// Adds the entries of a matching archetype among others.
    fn insert(&mut self, number: u32, archetype: &Archetype) {
        let (list, width) = (archetype.list(), self.column_map().width());
        // Should a step panic, the later archetypes are tested again.
        let before = self.tested_len.min(number as usize);
        let tested_len = core::mem::replace(&mut self.tested_len, before);
        self.is_complete = false;
        let uses = || self.requirements.columns().map(|column| column_use(archetype, column));
        self.resolved.insert(number, list, uses().take(width));
        if self.watched.width() > 0 {
            self.watched.insert(number, list, uses().skip(width));
        }
        if !self.requirements.row_rules().is_empty() {
            let entry = self.column_map().find(number).expect("the entry was added");
            self.rows.insert(entry, self.enable_rules(archetype));
        }
        self.tested_len = tested_len;
        self.is_complete = true;
    }

    /// Computes the entries of an archetype again, after its columns were exchanged.
    pub(super) fn renew(&mut self, number: u32, archetype: &Archetype) {
        self.resolved.renew(number, archetype.list());
        self.watched.renew(number, archetype.list());
    }

    /// Adds the entries of a matching archetype.
    #[inline(never)]
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
        rules.flat_map(|rule| rule.resolve(archetype)).collect()
    }

    /// Bytes of the entries.
    pub(super) fn bytes(&self) -> usize {
        self.resolved.bytes() + self.watched.bytes() + self.tagged.bytes()
    }

    /// Whether the entries are exactly the archetypes that match, tested rule by rule, each entry
    /// equals one of a plan that is made now, and the cached addresses are correct.
    pub(super) fn is_consistent(&self, registry: &Registry, archetypes: &Archetypes) -> bool {
        let requirements = (self.describe)(ComponentIds::Known(registry));
        let all = (0u32..).zip(archetypes.as_slice());
        let matching =
            all.filter(|(_, archetype)| requirements.obstacles(archetype).next().is_none());
        let matching = matching.map(|(number, _)| number);
        let mut filed = self.column_map().labels().enumerate();
        self.is_complete
            && filed.all(|(entry, label)| self.column_map().find(label) == Some(entry))
            && self.column_map().labels().eq(matching)
            && self.has_entries_of(&self.anew(registry, archetypes))
            && self.resolved.is_consistent(archetypes)
    }

    /// The same plan, made now.
    fn anew(&self, registry: &Registry, archetypes: &Archetypes) -> Self {
        let (key, describe, columns) = (self.key, self.describe, self.column_map().width());
        let query = QueryType { key, name: || "a plan made anew", columns, describe };
        Self::new(&query, describe(ComponentIds::Known(registry)), registry, archetypes)
    }

    fn has_entries_of(&self, other: &Self) -> bool {
        self.column_map().has_entries_of(other.column_map())
            && self.watched.has_entries_of(&other.watched)
            && self.rows == other.rows
            && self.tagged == other.tagged
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
            let rules = rule.resolve(archetype);
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

#[cfg(test)]
mod tests {
    use bytemuck::{Pod, Zeroable};

    use super::*;
    use crate::component::ComponentSet;
    use crate::impl_component;
    use crate::storage::AccessKind;
    use crate::store::RequirementsBuilder;

    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Read(f32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Watched(f32);
    impl_component!(Read as "Read", Watched as "Watched");

    fn describe(ids: ComponentIds<'_>) -> Requirements {
        let mut builder = RequirementsBuilder::new(ids);
        builder.column::<Read>(AccessKind::Read);
        builder.end_terms();
        builder.watch::<Watched>();
        builder.build()
    }

    #[test]
    fn a_plan_that_watches_another_column_is_inconsistent() {
        let (mut registry, mut archetypes) = (Registry::default(), Archetypes::default());
        let requirements = describe(ComponentIds::Register(&mut registry));
        let set: ComponentSet = requirements.columns().map(|needed| needed.component.id).collect();
        let id = archetypes.add(&set, &registry).expect("two floats fit a chunk");
        let key = TypeId::of::<Read>();
        let query = QueryType { key, name: || "a query", columns: 1, describe };
        let mut plan = Plan::new(&query, requirements, &registry, &archetypes);
        assert!(plan.is_consistent(&registry, &archetypes));
        let archetype = archetypes.get(id);
        let column = archetype.column(registry.id::<Read>());
        plan.watched = ColumnMap::new(1);
        plan.watched.push(
            id.0,
            archetype.list(),
            [ColumnUse { column, write: false, beside: false }],
        );
        assert!(!plan.is_consistent(&registry, &archetypes), "it watches what it reads");
    }
}

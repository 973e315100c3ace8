//! Plans: what a query type means in this world, worked out once.

use core::any::TypeId;

use std::sync::{PoisonError, RwLock};

use rustc_hash::FxHashMap;

use crate::archetype::{Archetype, Catalog};
use crate::component::{Component, ComponentId, ComponentSet, Registry};
use crate::storage::{ColumnUse, CutColumn, CutTable};

use super::filter::Filter;
use super::rule::{Named, Rule};
use super::settle::Settled;
use super::tuple::Terms;

/// Where component types get their numbers from: a world that may learn new ones, or one that is
/// only looked at.
#[derive(Debug)]
enum Types<'r> {
    Known(&'r Registry),
    Learned(&'r mut Registry),
}

/// What terms and filters say of themselves.
#[derive(Debug)]
pub struct Spec<'r> {
    types: Types<'r>,
    wants: Wants,
}

/// The conditions on an archetype, and the columns to cut from it.
#[derive(Clone, Debug, Default)]
struct Wants {
    /// Terms first, then watched columns.
    columns: Vec<(ComponentId, bool)>,
    rules: Vec<Rule>,
    /// A type has no number yet. No archetype that exists can have it.
    unknown: bool,
}

impl Spec<'_> {
    fn named<C: Component>(&mut self) -> Named {
        let id = match &mut self.types {
            Types::Known(registry) => registry.id::<C>(),
            Types::Learned(registry) => registry.register::<C>(),
        };
        self.wants.unknown |= id == ComponentId::UNKNOWN;
        Named { id, name: C::NAME }
    }

    /// Adds a rule, unless it is there: a term and a filter may ask for the same.
    fn rule(&mut self, rule: Rule) {
        if !self.wants.rules.contains(&rule) {
            self.wants.rules.push(rule);
        }
    }

    /// A term's column.
    pub(super) fn column<C: Component>(&mut self, write: bool, optional: bool) {
        let named = self.named::<C>();
        self.wants.columns.push((named.id, write));
        if !optional {
            self.rule(Rule::Has(named));
        }
    }

    /// A column whose stamps are looked at.
    pub(super) fn watch<C: Component>(&mut self) {
        let named = self.named::<C>();
        self.rule(Rule::Has(named));
        self.wants.columns.push((named.id, false));
    }

    pub(super) fn with<C: Component>(&mut self) {
        let named = self.named::<C>();
        self.rule(Rule::Has(named));
    }

    pub(super) fn without<C: Component>(&mut self) {
        let named = self.named::<C>();
        self.rule(Rule::Lacks(named));
    }

    /// Begins a set of alternatives.
    pub(super) fn open_any(&mut self) {
        self.wants.rules.push(Rule::HasAny(Vec::new()));
    }

    /// Adds an alternative to the set that was opened last.
    pub(super) fn any<C: Component>(&mut self) {
        let named = self.named::<C>();
        let Some(Rule::HasAny(set)) = self.wants.rules.last_mut() else {
            unreachable!("a set was opened")
        };
        set.push(named);
    }
}

impl Wants {
    /// The rules that keep an archetype out.
    fn broken(&self, set: &ComponentSet) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| !rule.admits(set))
    }

    fn matches(&self, set: &ComponentSet) -> bool {
        self.broken(set).next().is_none()
    }
}

/// The archetypes that match a query, and the columns it cuts from each.
#[derive(Debug)]
pub(super) struct Plan {
    wants: Wants,
    /// Works the conditions out again, once types are known that were not.
    describe: fn(Types<'_>) -> Wants,
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
        let wants = describe::<Q, F>(types);
        let watched = wants.columns.len() - Q::COLUMNS;
        let mut plan = Self {
            wants,
            describe: describe::<Q, F>,
            tested: 0,
            settled: Settled::new(Q::COLUMNS, catalog),
            watched: CutTable::new(watched),
        };
        plan.test_new(catalog);
        plan
    }

    /// Tests the archetypes that are new since the last time.
    fn extend(&mut self, registry: &Registry, catalog: &Catalog) {
        if self.wants.unknown {
            self.wants = (self.describe)(Types::Known(registry));
        }
        self.test_new(catalog);
    }

    fn test_new(&mut self, catalog: &Catalog) {
        for (number, archetype) in (0u32..).zip(catalog.as_slice()).skip(self.tested) {
            if self.wants.matches(archetype.set()) {
                let uses: Vec<_> =
                    self.wants.columns.iter().map(|&want| column_use(archetype, want)).collect();
                let (terms, watched) = uses.split_at(self.table().width());
                self.settled.push(number, &archetype.list, terms);
                if !watched.is_empty() {
                    self.watched.push(number, &archetype.list, watched);
                }
            }
        }
        self.tested = catalog.len();
    }

    /// The rules that keep an archetype out; none of one that matches.
    pub(super) fn broken(&self, archetype: &Archetype) -> impl Iterator<Item = &Rule> {
        self.wants.broken(archetype.set())
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

fn describe<Q: Terms, F: Filter>(types: Types<'_>) -> Wants {
    let mut spec = Spec { types, wants: Wants::default() };
    Q::describe(&mut spec);
    debug_assert_eq!(spec.wants.columns.len(), Q::COLUMNS, "a column a term");
    F::describe(&mut spec);
    spec.wants
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
    const fn key<Q: Terms, F: Filter>() -> TypeId {
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

    /// Whether the addresses that plans keep are right.
    pub(crate) fn is_consistent(&self, catalog: &Catalog) -> bool {
        self.list.iter().all(|(_, plan)| plan.settled.is_consistent(catalog))
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

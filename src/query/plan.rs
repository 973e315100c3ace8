//! Plans: what a query type means in this world, worked out once.

use core::any::TypeId;

use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;

use crate::archetype::{Archetype, Catalog};
use crate::component::{Component, ComponentId, ComponentSet, Registry};
use crate::storage::{ColumnUse, CutTable};

use super::filter::Filter;
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
    /// Whether a type has no number yet, so that the plan must not be kept.
    unknown: bool,
}

/// The conditions on an archetype, and the columns to cut from it.
#[derive(Clone, Debug, Default)]
struct Wants {
    /// Terms first, then watched columns.
    columns: Vec<(ComponentId, bool)>,
    required: ComponentSet,
    excluded: ComponentSet,
    /// At least one of each set.
    any: Vec<ComponentSet>,
    /// A required type has never been registered: nothing can match.
    impossible: bool,
}

impl Spec<'_> {
    fn id<C: Component>(&mut self) -> ComponentId {
        let id = match &mut self.types {
            Types::Known(registry) => registry.id::<C>(),
            Types::Learned(registry) => registry.register::<C>(),
        };
        self.unknown |= id == ComponentId::UNKNOWN;
        id
    }

    fn require(&mut self, id: ComponentId) {
        if id == ComponentId::UNKNOWN {
            self.wants.impossible = true;
        } else {
            self.wants.required.insert(id);
        }
    }

    /// A term's column.
    pub(super) fn column<C: Component>(&mut self, write: bool, optional: bool) {
        let id = self.id::<C>();
        self.wants.columns.push((id, write));
        if !optional {
            self.require(id);
        }
    }

    /// A column whose stamps are looked at.
    pub(super) fn watch<C: Component>(&mut self) {
        let id = self.id::<C>();
        self.require(id);
        self.wants.columns.push((id, false));
    }

    pub(super) fn with<C: Component>(&mut self) {
        let id = self.id::<C>();
        self.require(id);
    }

    pub(super) fn without<C: Component>(&mut self) {
        let id = self.id::<C>();
        if id != ComponentId::UNKNOWN {
            self.wants.excluded.insert(id);
        }
    }

    /// Begins a set of alternatives.
    pub(super) fn open_any(&mut self) {
        self.wants.any.push(ComponentSet::default());
    }

    /// Adds an alternative to the last set.
    pub(super) fn any<C: Component>(&mut self) {
        let id = self.id::<C>();
        let set = self.wants.any.last_mut().expect("a set was opened");
        if id != ComponentId::UNKNOWN {
            set.insert(id);
        }
    }
}

impl Wants {
    fn matches(&self, set: &ComponentSet) -> bool {
        !self.impossible
            && set.is_superset(&self.required)
            && !set.intersects(&self.excluded)
            && self.any.iter().all(|any| set.intersects(any))
    }
}

/// The archetypes that match a query, and the columns it cuts from each.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    wants: Wants,
    /// Archetypes tested so far: all with a lesser number.
    tested: usize,
    archetypes: Vec<u32>,
    table: CutTable,
    /// A watched column may be one that a term writes: it is looked up apart from the cuts.
    watched: CutTable,
}

impl Plan {
    fn new<Q: Terms, F: Filter>(types: Types<'_>) -> (Self, bool) {
        let mut spec = Spec { types, wants: Wants::default(), unknown: false };
        Q::describe(&mut spec);
        debug_assert_eq!(spec.wants.columns.len(), Q::COLUMNS, "a column a term");
        F::describe(&mut spec);
        let watched = spec.wants.columns.len() - Q::COLUMNS;
        let plan = Self {
            wants: spec.wants,
            tested: 0,
            archetypes: Vec::new(),
            table: CutTable::new(Q::COLUMNS),
            watched: CutTable::new(watched),
        };
        (plan, spec.unknown)
    }

    /// Tests the archetypes that are new since the last time.
    #[cold]
    fn extend(&mut self, catalog: &Catalog) {
        for (number, archetype) in (0u32..).zip(catalog.as_slice()).skip(self.tested) {
            if self.wants.matches(archetype.set()) {
                self.archetypes.push(number);
                let uses: Vec<_> =
                    self.wants.columns.iter().map(|&want| column_use(archetype, want)).collect();
                let (terms, watched) = uses.split_at(self.table.width());
                self.table.push(&archetype.list, terms);
                self.watched.push(&archetype.list, watched);
            }
        }
        self.tested = catalog.len();
    }

    /// Matched archetypes.
    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.archetypes.len()
    }

    #[inline]
    pub(super) fn archetype(&self, entry: usize) -> usize {
        self.archetypes[entry] as usize
    }

    #[inline]
    pub(super) const fn table(&self) -> &CutTable {
        &self.table
    }

    #[inline]
    pub(super) const fn watched(&self) -> &CutTable {
        &self.watched
    }
}

fn column_use(archetype: &Archetype, (id, write): (ComponentId, bool)) -> ColumnUse {
    ColumnUse { column: archetype.column(id), write }
}

/// The plans of a world, by the type of their query and filters.
///
/// A world that is borrowed exclusively finds a plan with one look-up and no lock; a shared one
/// takes a read lock and shares the plan.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    by_type: RwLock<FxHashMap<TypeId, Arc<Plan>>>,
}

impl Plans {
    const fn key<Q: Terms, F: Filter>() -> TypeId {
        TypeId::of::<(Q::Key, F)>()
    }

    /// The plan, made and brought up to date where necessary.
    #[inline]
    pub(super) fn get_mut<'p, Q: Terms, F: Filter>(
        &'p mut self,
        registry: &mut Registry,
        catalog: &Catalog,
    ) -> &'p Plan {
        let by_type = self.by_type.get_mut().unwrap_or_else(PoisonError::into_inner);
        let plan = by_type.entry(Self::key::<Q, F>()).or_insert_with(|| {
            let (plan, _) = Plan::new::<Q, F>(Types::Learned(registry));
            Arc::new(plan)
        });
        if plan.tested < catalog.len() {
            Arc::make_mut(plan).extend(catalog);
        }
        plan
    }

    /// The plan for a world that is only looked at. A plan that names a type this world has never
    /// seen is made for the occasion and not kept.
    pub(super) fn get<Q: Terms, F: Filter>(
        &self,
        registry: &Registry,
        catalog: &Catalog,
    ) -> Arc<Plan> {
        let key = Self::key::<Q, F>();
        let read = self.by_type.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = read.get(&key).filter(|plan| plan.tested == catalog.len()) {
            return Arc::clone(plan);
        }
        drop(read);
        let (mut plan, unknown) = Plan::new::<Q, F>(Types::Known(registry));
        plan.extend(catalog);
        let plan = Arc::new(plan);
        if !unknown {
            let mut write = self.by_type.write().unwrap_or_else(PoisonError::into_inner);
            write.insert(key, Arc::clone(&plan));
        }
        plan
    }
}

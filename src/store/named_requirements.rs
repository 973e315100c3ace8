//! The requirements of a query whose components are named at run time.

use crate::archetype::Archetype;
use crate::component::{ComponentId, Registry};
use crate::storage::{AccessKind, DistinctColumns, EnableRule};

use super::component_ref::ComponentRef;
use super::named_parts::NamedParts;
use super::requirements::{ComponentIds, NeededColumn, Requirements, RequirementsBuilder};
use super::row_rule::RowRule;
use super::rule::Rule;

/// The parts of an archetype that matches: the columns of the terms, and the conditions on rows.
#[derive(Debug)]
pub(crate) struct NamedColumns {
    /// The columns that the archetype has.
    pub(crate) columns: DistinctColumns,
    /// By term: whether the archetype has its column.
    pub(crate) present: Vec<bool>,
    pub(crate) rows: Vec<EnableRule>,
}

impl NamedColumns {
    /// By term: the next item of `each` if the archetype has its column.
    pub(crate) fn by_term<T>(
        &self,
        each: impl IntoIterator<Item = T>,
    ) -> impl Iterator<Item = Option<T>> {
        let mut each = each.into_iter();
        let mut next = move || each.next().expect("a column that is present has an item");
        self.present.iter().map(move |&is_present| is_present.then(&mut next))
    }
}

impl Requirements {
    /// The requirements of a query of components that the world knows: the same as of typed terms
    /// and filters.
    pub(crate) fn named(registry: &Registry, parts: &NamedParts<ComponentRef>) -> Self {
        let mut builder = RequirementsBuilder::new(ComponentIds::Known(registry));
        for &(component, term) in &parts.terms {
            builder.name(component);
            builder.push_column(component, term.access);
            if !term.is_optional {
                builder.require(component);
            }
        }
        builder.end_terms();
        for &one in &parts.with {
            builder.name(one);
            builder.require(one);
        }
        for &one in &parts.without {
            builder.name(one);
            builder.exclude(one);
        }
        for some in &parts.any_of {
            builder.begin_any();
            for &one in some {
                builder.name(one);
                builder.add_alternative(one);
            }
            builder.end_any();
        }
        builder.build()
    }

    /// The parts of an archetype that the query uses. `None` if it does not match.
    ///
    /// # Panics
    ///
    /// If two terms name one component.
    pub(crate) fn resolve(&self, archetype: &Archetype) -> Option<NamedColumns> {
        if !self.matches(archetype) {
            return None;
        }
        let by_term = || self.columns().map(|needed| archetype.column(needed.component.id));
        let columns = DistinctColumns::new(by_term().flatten().collect());
        let present = by_term().map(|column| column.is_some()).collect();
        let rows = self.row_rules().iter().flat_map(|rule| rule.resolve(archetype)).collect();
        Some(NamedColumns { columns, present, rows })
    }
}

impl ComponentRef {
    /// A component of chunks that the world knows.
    pub(crate) fn of_id(registry: &Registry, id: ComponentId) -> Self {
        let info = registry.info(id);
        let (is_hidden, is_by_row) = (info.is_hidden(), info.is_enableable());
        Self { id, name: info.name(), is_hidden, is_sparse: false, is_by_row }
    }

    /// The component that has a name, sparse or not. `None` if the world does not know it.
    pub(crate) fn of_name(registry: &Registry, name: &str) -> Option<Self> {
        let sparse =
            |(id, name)| Self { id, name, is_hidden: false, is_sparse: true, is_by_row: true };
        let own = registry.id_of_name(name).map(|id| Self::of_id(registry, id));
        own.or_else(|| registry.sparse_of_name(name).map(sparse))
    }
}

impl ComponentRef {
    /// [`ComponentRef::of_name`], or a component that the registry does not know.
    pub(crate) fn of_any_name(registry: &Registry, name: &str) -> Self {
        Self::of_name(registry, name).unwrap_or_else(|| Self::unresolved(name))
    }
}

impl RequirementsBuilder<'_> {
    /// Records that the query names a component: if it hides entities, the query sees them.
    pub(super) fn name(&mut self, component: ComponentRef) {
        self.requirements.sight.name(component);
    }

    /// Adds the column of a component.
    pub(super) fn push_column(&mut self, component: ComponentRef, access: AccessKind) {
        let write = access.is_write();
        self.requirements.columns.push(NeededColumn { component, write, beside: false });
    }

    /// Requires archetypes that lack a component, or rows in which it is disabled or absent.
    pub(super) fn exclude(&mut self, component: ComponentRef) {
        match component.is_by_row {
            true => self.add_row_rule(RowRule::Lacks(component)),
            false => self.add_rule(Rule::Lacks(component)),
        }
    }
}

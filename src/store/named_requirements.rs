//! The requirements of a query whose components are named at run time.

use crate::archetype::Archetype;
use crate::component::{ComponentId, Registry};
use crate::storage::{AccessKind, DistinctColumns, EnableRule};

use super::component_ref::ComponentRef;
use super::requirements::{ComponentIds, NeededColumn, Requirements, RequirementsBuilder};
use super::row_rule::RowRule;
use super::rule::Rule;

/// What a query takes from an archetype that matches: the columns of its terms, and the conditions
/// on rows.
#[derive(Debug)]
pub(crate) struct NamedColumns {
    pub(crate) columns: DistinctColumns,
    pub(crate) rows: Vec<EnableRule>,
}

impl Requirements {
    /// The requirements of a query of components that the world knows.
    pub(crate) fn named(
        registry: &Registry,
        terms: &[(ComponentRef, AccessKind)],
        with: &[ComponentRef],
        without: &[ComponentRef],
    ) -> Self {
        let mut builder = RequirementsBuilder::new(ComponentIds::Known(registry));
        for &(component, access) in terms {
            builder.name(component);
            builder.push_column(component, access);
            builder.require(component);
        }
        builder.end_terms();
        for one in with {
            builder.name(*one);
            builder.require(*one);
        }
        for one in without {
            builder.name(*one);
            builder.exclude(*one);
        }
        builder.build()
    }

    /// What the query takes from an archetype. `None` if it does not match.
    ///
    /// # Panics
    ///
    /// If two terms name one component.
    pub(crate) fn resolve(&self, archetype: &Archetype) -> Option<NamedColumns> {
        if !self.matches(archetype) {
            return None;
        }
        let column = |id| archetype.column(id).expect("a matched archetype has the component");
        let columns = self.columns().map(|needed| column(needed.component.id)).collect();
        let rows = self.row_rules().iter().flat_map(|rule| rule.resolve(archetype)).collect();
        Some(NamedColumns { columns: DistinctColumns::new(columns), rows })
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

//! The rules of queries that choose rows by sparse components.
//!
//! An archetype has place for the members of a sparse component, or none: then no row of it has the
//! component. The rule for archetypes that have place saves a pass the others; the rule for rows
//! tells who has it. Such rules make no two queries disjoint, because one archetype has rows of
//! both kinds.

use core::any::{TypeId, type_name};

use crate::component::{ComponentId, SparseComponent};

use super::component_ref::ComponentRef;
use super::requirements::{ComponentIds, RequirementsBuilder};
use super::row_rule::RowRule;
use super::rule::Rule;

impl RequirementsBuilder<'_> {
    /// Requires rows of entities with a sparse component.
    pub(crate) fn with_sparse<S: SparseComponent>(&mut self) {
        let component = self.sparse_ref::<S>();
        self.add_rule(Rule::Has(component));
        self.add_row_rule(RowRule::Enabled(component));
    }

    /// Requires rows of entities without a sparse component.
    pub(crate) fn without_sparse<S: SparseComponent>(&mut self) {
        let component = self.sparse_ref::<S>();
        self.add_row_rule(RowRule::Lacks(component));
    }

    /// Adds a sparse component as an alternative to the last set begun.
    pub(crate) fn or_sparse<S: SparseComponent>(&mut self) {
        let component = self.sparse_ref::<S>();
        self.add_alternative(component, true);
    }

    fn sparse_ref<S: SparseComponent>(&mut self) -> ComponentRef {
        let id = match &mut self.ids {
            ComponentIds::Known(registry) => registry.known_sparse::<S>(),
            ComponentIds::Register(registry) => {
                registry.register_sparse::<S>().and_then(|()| registry.known_sparse::<S>())
            }
        };
        let id = id.unwrap_or_else(|taken| {
            self.requirements.name_taken.get_or_insert(taken);
            ComponentId::UNKNOWN
        });
        if id == ComponentId::UNKNOWN {
            self.record_unknown((S::NAME, type_name::<S>(), TypeId::of::<S>()));
        }
        ComponentRef { id, name: S::NAME, is_hidden: false, is_sparse: true }
    }
}

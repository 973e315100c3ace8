//! The rules of queries that choose rows by sparse components.
//!
//! An archetype has an array of member bits for a sparse component, or its rows lack the component.
//! One rule skips archetypes without the array; a second rule reads the bits of rows. These rules
//! never make two queries disjoint: an archetype has rows with and without the bit.

use core::any::{TypeId, type_name};

use crate::component::{ComponentId, SparseComponent};

use super::super::component_ref::ComponentRef;
use super::super::requirements::{ComponentIds, Requirements, RequirementsBuilder};
use super::super::row_rule::RowRule;
use super::set_use::SetUse;
use crate::storage::AccessKind;

impl RequirementsBuilder<'_> {
    /// Requires rows of entities with a sparse component.
    pub(crate) fn with_sparse<S: SparseComponent>(&mut self) {
        let component = self.sparse_ref::<S>();
        self.require(component);
    }

    /// Requires rows of entities without a sparse component.
    pub(crate) fn without_sparse<S: SparseComponent>(&mut self) {
        let component = self.sparse_ref::<S>();
        self.exclude(component);
    }

    /// Adds a sparse component as an alternative to the last set begun.
    pub(crate) fn or_sparse<S: SparseComponent>(&mut self) {
        let component = self.sparse_ref::<S>();
        self.add_alternative(component);
    }

    /// Adds a term that takes values from the set of a sparse component.
    pub(crate) fn sparse_term<S: SparseComponent>(&mut self, access: AccessKind, optional: bool) {
        let component = self.sparse_ref::<S>();
        let set_use = if access.is_write() { SetUse::Writes } else { SetUse::Reads };
        self.requirements.sets.push((component, set_use));
        if !optional {
            self.with_sparse::<S>();
        }
    }

    /// Adds a filter that compares the versions of the set of a sparse component: its rows have the
    /// component.
    pub(crate) fn watch_sparse<S: SparseComponent>(&mut self) {
        let component = self.sparse_ref::<S>();
        self.requirements.sets.push((component, SetUse::Watches));
        self.with_sparse::<S>();
    }

    pub(in crate::store) fn sparse_ref<S: SparseComponent>(&mut self) -> ComponentRef {
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
        ComponentRef { id, name: S::NAME, is_hidden: false, is_sparse: true, is_by_row: true }
    }
}

impl Requirements {
    /// The sparse components from whose sets the terms take values, and whether they write them.
    pub(crate) fn sets(&self) -> impl Iterator<Item = (ComponentRef, bool)> {
        let of_terms = self.sets.iter().filter(|(_, set_use)| *set_use != SetUse::Watches);
        of_terms.map(|&(one, set_use)| (one, set_use == SetUse::Writes))
    }

    /// The sparse components whose versions filters compare.
    pub(crate) fn watched_sets(&self) -> impl Iterator<Item = ComponentRef> {
        let watched = self.sets.iter().filter(|(_, set_use)| *set_use == SetUse::Watches);
        watched.map(|&(one, _)| one)
    }

    /// Whether a term or a filter uses the set of a sparse component.
    pub(in crate::store) fn uses_set(&self, id: ComponentId) -> bool {
        self.sets.iter().any(|(one, _)| one.id == id)
    }

    /// Whether the terms use the same sets in the same way as those of others, and filters compare
    /// the versions of sets that the others use.
    pub(in crate::store) fn uses_sets_within(&self, other: &Self) -> bool {
        self.sets().eq(other.sets()) && self.watched_sets().all(|own| other.uses_set(own.id))
    }

    /// Whether rows are chosen by a sparse component.
    pub(crate) fn has_sparse_row_rule(&self) -> bool {
        self.row_rules().iter().flat_map(RowRule::components).any(|one| one.is_sparse)
    }

    /// Whether a term writes values of a sparse component.
    pub(crate) fn writes_set(&self, id: ComponentId) -> bool {
        self.sets().any(|(one, write)| write && one.id == id)
    }

    /// A sparse component whose set both requirements use, if one of them writes it. The chosen
    /// rows do not matter, because a set has one lock.
    pub(crate) fn conflicting_set(&self, other: &Self) -> Option<&'static str> {
        let clashes = |&&(mine, own): &&(ComponentRef, SetUse)| {
            let mut theirs = other.sets.iter().filter(|(theirs, _)| mine.id == theirs.id);
            theirs.any(|&(_, theirs)| own == SetUse::Writes || theirs == SetUse::Writes)
        };
        self.sets.iter().find(clashes).map(|(one, _)| one.name)
    }
}

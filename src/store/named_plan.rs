//! The plan of a query that is data: the archetypes that match.
//!
//! A typed query has its plan in the world, found by its type, and every new archetype is offered
//! to all plans. A program has as many types of queries as its source; a console or a script
//! makes new queries for as long as it runs. So the query itself keeps its plan, which ends with
//! it, and tests the archetypes that are new when it is used: each once, unless the query names
//! sparse components.

use std::sync::Arc;

use crate::archetype::{Archetypes, Census};
use crate::component::{Registry, RegistryId};

use super::requirements::Requirements;

/// The archetypes of one world that match a query of names.
#[derive(Clone, Debug)]
pub(crate) struct NamedPlan {
    requirements: Arc<Requirements>,
    /// The registry that numbered the components.
    registry: RegistryId,
    /// The archetypes that were tested.
    census: Census,
    /// The numbers of the archetypes that match, in ascending order.
    matching: Vec<u32>,
}

impl NamedPlan {
    /// A plan that knows no archetypes.
    pub(crate) fn new(requirements: Requirements, registry: &Registry) -> Self {
        Self {
            requirements: Arc::new(requirements),
            registry: registry.own_id(),
            census: Census::default(),
            matching: Vec::new(),
        }
    }

    /// Whether this registry numbered the components.
    pub(crate) fn is_of(&self, registry: &Registry) -> bool {
        self.registry == registry.own_id()
    }

    /// Whether these are its requirements: the same ones, not only equal ones.
    pub(super) fn has(&self, requirements: &Requirements) -> bool {
        core::ptr::eq(&raw const *self.requirements, requirements)
    }

    /// Whether all archetypes were tested.
    pub(crate) fn is_current(&self, archetypes: &Archetypes) -> bool {
        self.census == archetypes.census()
    }

    /// Tests the archetypes that are new; all, if some were freed, or the query names a sparse
    /// component and some got place for members. Returns the number of these.
    pub(crate) fn update(&mut self, archetypes: &Archetypes) -> usize {
        let tested = match self.requirements.has_sparse_row_rule() {
            true => archetypes.unchanged_with_members_since(self.census),
            false => archetypes.unchanged_since(self.census),
        };
        if tested == 0 {
            self.matching.clear();
        }
        let first = u32::try_from(tested).expect("a world has 2^32 archetypes or more");
        let new = (first..).zip(&archetypes.as_slice()[tested..]);
        let matching = new.filter(|(_, archetype)| self.requirements.matches(archetype));
        self.matching.extend(matching.map(|(number, _)| number));
        self.census = archetypes.census();
        archetypes.len() - tested
    }

    /// The requirements, shared with the requests of the query.
    pub(crate) const fn requirements(&self) -> &Arc<Requirements> {
        &self.requirements
    }

    /// The numbers of the archetypes that match, in ascending order.
    pub(crate) fn matching(&self) -> &[u32] {
        &self.matching
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::{Pod, Zeroable};

    use super::super::component_ref::ComponentRef;
    use super::super::named_parts::NamedParts;
    use super::*;
    use crate::archetype::Archetypes;
    use crate::component::{ComponentId, ComponentSet};
    use crate::entity::ArchetypeId;
    use crate::impl_component;
    use crate::storage::Pool;

    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct A(f32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct B(f32);
    impl_component!(A as "A", B as "B");

    fn plan(registry: &Registry, with: ComponentRef) -> NamedPlan {
        let parts = NamedParts { with: vec![with], ..NamedParts::default() };
        NamedPlan::new(Requirements::named(registry, &parts), registry)
    }

    #[test]
    fn each_archetype_is_tested_once_until_others_are_freed() {
        let (mut registry, mut archetypes) = (Registry::default(), Archetypes::default());
        let a = registry.register::<A>().expect("the name is free");
        let b = registry.register::<B>().expect("the name is free");
        let mut plan = plan(&registry, ComponentRef::of_id(&registry, a));
        let add = |archetypes: &mut Archetypes, ids: &[ComponentId]| {
            let set = ids.iter().copied().collect();
            archetypes.add(&set, &registry).expect("a row of floats fits a chunk")
        };
        assert!(plan.is_current(&archetypes), "it knows that there are none");
        for ids in [&[][..], &[a], &[b]] {
            add(&mut archetypes, ids);
        }
        assert!(!plan.is_current(&archetypes), "they are new");
        assert_eq!((plan.update(&archetypes), plan.matching()), (3, &[1][..]));
        assert_eq!((plan.update(&archetypes), plan.matching()), (0, &[1][..]));
        add(&mut archetypes, &[a, b]);
        assert_eq!((plan.update(&archetypes), plan.matching()), (1, &[1, 3][..]));
        assert!(plan.is_current(&archetypes), "it has tested all");
        archetypes.add_members(ArchetypeId(2), 0);
        assert!(!plan.is_current(&archetypes), "one has place for members");
        assert_eq!((plan.update(&archetypes), plan.matching()), (0, &[1, 3][..]), "no new one");
        assert!(plan.is_current(&archetypes), "it names no sparse component");
        assert!(archetypes.truncate(3, &mut Pool::default()), "one is freed");
        add(&mut archetypes, &[a, b]);
        assert!(!plan.is_current(&archetypes), "another one has its number");
        assert_eq!((plan.update(&archetypes), plan.matching()), (4, &[1, 3][..]));
        assert_eq!(archetypes.retire_empty(&mut Pool::default()).len(), 0);
        assert_eq!((plan.update(&archetypes), plan.matching()), (0, &[][..]));
    }

    #[test]
    fn a_plan_with_a_sparse_component_tests_all_again_after_one_got_members() {
        let (registry, mut archetypes) = (Registry::default(), Archetypes::default());
        let sparse = ComponentRef {
            id: ComponentId::of_sparse(0),
            name: "sparse",
            is_hidden: false,
            is_sparse: true,
            is_by_row: true,
        };
        let mut plan = plan(&registry, sparse);
        let empty = archetypes.add(&ComponentSet::default(), &registry).expect("a row of no bytes");
        assert_eq!((plan.update(&archetypes), plan.matching()), (1, &[][..]));
        archetypes.add_members(empty, 0);
        assert_eq!((plan.update(&archetypes), plan.matching()), (1, &[0][..]));
        archetypes.add_members(empty, 1);
        assert_eq!((plan.update(&archetypes), plan.matching()), (1, &[0][..]), "of another one");
    }

    #[test]
    fn a_plan_is_of_one_registry_and_of_its_own_requirements() {
        let (mut registry, other) = (Registry::default(), Registry::default());
        let a = registry.register::<A>().expect("the name is free");
        let a = ComponentRef::of_id(&registry, a);
        let (mut first, second) = (plan(&registry, a), plan(&registry, a));
        assert!(first.is_of(&registry) && !first.is_of(&other));
        assert!(first.has(first.requirements()) && !first.has(second.requirements()));
        let copy = first.clone();
        first.update(&Archetypes::default());
        assert!(copy.has(first.requirements()), "a copy has the same ones");
    }
}

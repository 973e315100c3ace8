//! The component types and shared values of another world, for a world that takes over its
//! entities.
//!
//! Ids of components are numbers in order of first use, so that each world has its own. Types are
//! the same if their [`identity`](super::identity) is, shared values if they are equal. Steps that
//! may fail or run code of the caller come first, in [`Registry::plan_adoption`]; the later steps
//! cannot fail.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::entity::Entity;

use super::component_id::ComponentId;
use super::component_set::ComponentSet;
use super::held_value::HeldValue;
use super::name_taken::NameTaken;
use super::registry::{Registry, push};
use super::shared_adoption::{SharedPlan, UnmappedIds};

/// The reason why component types of another world cannot be added to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AdoptionError {
    /// A type has the name of another one.
    Name(NameTaken),
    /// The types and shared values would be more than a world can have.
    Types,
    /// Values of the shared type of this name have ids, and neither world can replace them.
    SharedEntities(&'static str),
}

impl From<NameTaken> for AdoptionError {
    fn from(taken: NameTaken) -> Self {
        Self::Name(taken)
    }
}

impl From<UnmappedIds> for AdoptionError {
    fn from(of_type: UnmappedIds) -> Self {
        Self::SharedEntities(of_type.0)
    }
}

/// The plan that maps components of another world to components of this one.
#[derive(Debug)]
#[must_use = "nothing is added before `adopt`"]
pub(crate) struct AdoptionPlan {
    components: ComponentSet,
    /// The names of sparse components.
    sparse: Vec<&'static str>,
    /// Shared values, by their types and numbers in the other world.
    values: Vec<SharedPlan>,
}

impl AdoptionPlan {
    /// The id that a component of the other world has in this one already, if it has one.
    pub(crate) fn known(
        &self,
        ours: &Registry,
        other: &Registry,
        theirs: ComponentId,
    ) -> Option<ComponentId> {
        let info = other.info(theirs);
        let place = |value: &SharedPlan| other.info(value.theirs).shared_place();
        if let Ok(at) = self.values.binary_search_by_key(&info.shared_place(), place) {
            return self.values[at].ours;
        }
        if let Some(of_type) = other.shared_type_of(theirs) {
            return ours.shared.get(of_type.facts.type_id).map(|own| own.marker);
        }
        ours.by_identity.get(&info.identity()).copied()
    }
}

/// The ids that components of another world have in this one.
#[derive(Debug)]
pub(crate) struct Adopted {
    /// By the ids there.
    ids: Vec<ComponentId>,
    /// Keeps the values alive until archetypes own them.
    #[allow(dead_code, reason = "they are owned, and not read")]
    values: Vec<Arc<HeldValue>>,
}

impl Adopted {
    /// The id of a component that was adopted.
    pub(crate) fn id(&self, theirs: ComponentId) -> ComponentId {
        self.ids[theirs.index()]
    }
}

impl Registry {
    /// Checks that some components of another world, and the sparse ones of these names, can be
    /// added to this one. Calls `Eq` and `Hash`
    /// of shared values, and the function that replaces ids in them: `new_ids` makes a table of
    /// these, if values have any. O(components), and O(values with the same hash) for each value.
    ///
    /// # Errors
    ///
    /// If another type of this world has the name of one of them, if they would be too many, or if
    /// a shared value has ids and neither world can replace them.
    pub(crate) fn plan_adoption(
        &mut self,
        other: &Self,
        mut components: ComponentSet,
        sparse: Vec<&'static str>,
        new_ids: impl FnOnce() -> FxHashMap<Entity, Entity>,
    ) -> Result<AdoptionPlan, AdoptionError> {
        if sparse.iter().any(|name| other.sparse.0[name].is_cleanup) {
            components.insert(other.sparse_cleanup_tag.expect("it came with the first of them"));
        }
        if components.iter().any(|id| other.info(id).is_cleanup())
            && let Some(gone) = other.gone
        {
            // Despawns need it, though no entity is gone yet.
            components.insert(gone);
        }
        self.plan_sparse(other, &sparse)?;
        let mut new = 0;
        for id in components.iter() {
            let info = other.info(id);
            if other.shared_slot(id).is_some() {
                // Below: types come first.
            } else if let Some(of_type) = other.shared_type_of(id) {
                new += usize::from(self.shared.get(of_type.facts.type_id).is_none());
            } else if !self.by_identity.contains_key(&info.identity()) {
                if let Some(owner) = self.owner_of(info.name()) {
                    let refused = info.path();
                    return Err(NameTaken { name: info.name(), owner, refused }.into());
                }
                new += 1;
            }
        }
        let tags = components.iter().filter(|&id| other.shared_slot(id).is_some());
        let mut tags: Vec<_> = tags.collect();
        // New numbers are given in this order, and the hash of a world shows them. It does not show
        // the ids of tags.
        tags.sort_unstable_by_key(|&id| other.info(id).shared_place());
        let values = self.plan_values(other, tags.into_iter(), new_ids)?;
        new += self.missing_tags(other, &values);
        if !self.has_room_for(new) {
            return Err(AdoptionError::Types);
        }
        Ok(AdoptionPlan { components, sparse, values })
    }

    /// The number of tags that must be made for the new values of a plan. Values of types that are
    /// known take tags of values that have ended first.
    fn missing_tags(&mut self, other: &Self, plans: &[SharedPlan]) -> usize {
        let mut wanted: FxHashMap<u16, usize> = FxHashMap::default();
        for plan in plans.iter().filter(|plan| plan.is_new()) {
            let Some(theirs) = other.shared_type_of(plan.theirs) else { continue };
            *wanted.entry(theirs.number).or_default() += 1;
        }
        let missing = wanted.into_iter().map(|(theirs, wanted)| {
            let theirs = other.shared.numbered(theirs);
            let own = theirs.and_then(|theirs| self.shared.get_mut(theirs.facts.type_id));
            own.map_or(wanted, |own| own.table.missing(wanted))
        });
        missing.sum()
    }

    /// Adds the components of a plan. Runs no code of the caller, and cannot fail.
    pub(crate) fn adopt(&mut self, other: &Self, plan: AdoptionPlan) -> Adopted {
        self.adopt_sparse(other, &plan.sparse);
        let mut ids = vec![ComponentId::UNKNOWN; other.len()];
        for id in plan.components.iter() {
            let info = *other.info(id);
            if other.shared_slot(id).is_some() {
                // Below: its marker comes first.
                continue;
            }
            let Self { infos, shared, .. } = self;
            ids[id.index()] = match self.by_identity.get(&info.identity()) {
                Some(&known) => known,
                None => match other.shared_type_of(id) {
                    Some(theirs) => shared.add_type(theirs.facts, |info| push(infos, info)),
                    None => self.add(info),
                },
            };
        }
        let mut values = Vec::new();
        for mut coming in plan.values {
            let Self { infos, shared, .. } = self;
            let (theirs, hash) = (coming.theirs, coming.hash);
            let value = coming.value.take().expect("a value is taken already");
            let tag = match (coming.ours, coming.like) {
                (Some(tag), _) => {
                    values.push(self.own_shared(tag, (&value, hash)));
                    tag
                }
                (None, Some(like)) => ids[like.index()],
                (None, None) => {
                    let of_type = other.shared_type_of(theirs);
                    let own = of_type.and_then(|of_type| shared.get_mut(of_type.facts.type_id));
                    let own = own.expect("the type of a value is not known");
                    let (tag, held) = own.add_value(&value, hash, |info| push(infos, info));
                    values.push(held);
                    tag
                }
            };
            // Dropped by the plan, which catches a panic.
            coming.value = Some(value);
            ids[theirs.index()] = tag;
        }
        Adopted { ids, values }
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::{Pod, Zeroable};

    use super::*;
    use crate::component::Component;

    mod other {
        #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(C)]
        pub(super) struct Mass(f64);
        crate::impl_component!(Mass as "mass");
    }

    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Mass(f32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Age(u32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Tag;
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Handle(u32);
    crate::impl_component!(Mass as "mass", Age, Tag);

    impl Component for Handle {
        const NAME: &'static str = "handle";
        const CLEANUP: bool = true;
    }

    /// The values of these tests name no entities.
    fn no_ids() -> FxHashMap<Entity, Entity> {
        panic!("a value names an entity")
    }

    fn set<const N: usize>(ids: [ComponentId; N]) -> ComponentSet {
        ids.into_iter().collect()
    }

    #[test]
    fn types_keep_their_ids_and_new_ones_get_some() {
        let (mut ours, mut theirs) = (Registry::default(), Registry::default());
        let age = ours.register::<Age>().unwrap();
        let [tag, handle, their_age] = [
            theirs.register::<Tag>().unwrap(),
            theirs.register::<Handle>().unwrap(),
            theirs.register::<Age>().unwrap(),
        ];
        let plan =
            ours.plan_adoption(&theirs, set([handle, their_age]), Vec::new(), no_ids).unwrap();
        let adopted = ours.adopt(&theirs, plan);
        assert_eq!(adopted.id(their_age), age);
        assert_eq!(ours.known::<Handle>(), Ok(adopted.id(handle)));
        assert_eq!(ours.known::<Tag>(), Ok(ComponentId::UNKNOWN), "it is not used");
        assert_eq!(adopted.id(tag), ComponentId::UNKNOWN);
        assert!(ours.gone().is_some() && ours.known::<super::super::Gone>().is_ok());
    }

    #[test]
    fn a_name_that_is_taken_is_an_error_and_nothing_is_added() {
        let (mut ours, mut theirs) = (Registry::default(), Registry::default());
        ours.register::<Mass>().unwrap();
        let age = theirs.register::<Age>().unwrap();
        let mass = theirs.register::<other::Mass>().unwrap();
        let error = ours.plan_adoption(&theirs, set([age, mass]), Vec::new(), no_ids).unwrap_err();
        let AdoptionError::Name(taken) = error else { panic!("the name is taken") };
        assert_eq!(taken.name, "mass");
        assert!(taken.owner.ends_with("tests::Mass") && taken.refused.ends_with("other::Mass"));
        assert_eq!(ours.len(), 1);
        assert!(
            ours.plan_adoption(&theirs, set([age]), Vec::new(), no_ids).is_ok(),
            "it is not used"
        );
    }

    #[test]
    fn equal_values_have_one_tag() {
        let (mut ours, mut theirs) = (Registry::default(), Registry::default());
        let oak = ours.share("oak");
        let _ = theirs.share(5u8);
        let (their_oak, their_birch) = (theirs.share("oak"), theirs.share("birch"));
        let used = set([their_oak.marker, their_oak.tag, their_birch.tag]);
        let plan = ours.plan_adoption(&theirs, used, Vec::new(), no_ids).unwrap();
        let adopted = ours.adopt(&theirs, plan);
        assert_eq!(adopted.id(their_oak.tag), oak.tag);
        assert_eq!(adopted.id(their_oak.marker), oak.marker);
        let birch = adopted.id(their_birch.tag);
        drop((theirs, their_birch));
        assert_eq!(ours.shared_tag(&"birch"), Some(birch), "it is owned here");
        assert_eq!(ours.share("birch").tag, birch);
        drop(adopted);
        assert_eq!(ours.shared_tag(&"birch"), None, "nothing owns it");
        assert_eq!(ours.shared_marker::<u8>(), ComponentId::UNKNOWN);
    }

    #[test]
    #[cfg_attr(miri, ignore = "tens of thousands of values")]
    fn too_many_values_are_an_error() {
        let (mut ours, mut theirs) = (Registry::default(), Registry::default());
        let half = ComponentId::COUNT_MAX / 2 + 1;
        let share = |registry: &mut Registry, first| -> Vec<_> {
            (first..first + half).map(|n: u32| registry.share(n)).collect()
        };
        let (kept, taken) = (share(&mut ours, 0), share(&mut theirs, half));
        let used: ComponentSet = taken.iter().flat_map(|row| [row.marker, row.tag]).collect();
        let plan = ours.plan_adoption(&theirs, used, Vec::new(), no_ids);
        assert_eq!(plan.unwrap_err(), AdoptionError::Types);
        assert_eq!(ours.len(), kept.len() + 1);

        // Tags without values are free for other values.
        drop(kept);
        let used = taken.iter().take(100).flat_map(|row| [row.marker, row.tag]).collect();
        let plan = ours.plan_adoption(&theirs, used, Vec::new(), no_ids).unwrap();
        let before = ours.len();
        let adopted = ours.adopt(&theirs, plan);
        assert_eq!((adopted.values.len(), ours.len()), (100, before));
    }
}

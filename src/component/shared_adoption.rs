//! The shared values of another world, as this one will have them.
//!
//! A value that names entities has other ids here, so it is made anew, before any change, because
//! this runs the user's code. The new value may be equal to a value of this world, or to another
//! one that comes; in this case it has the same tag.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::entity::Entity;
use crate::payload::Payload;

use super::any_value::AnyValue;
use super::component_id::ComponentId;
use super::registry::Registry;

/// A shared value of another world.
#[derive(Debug)]
pub(super) struct SharedPlan {
    pub(super) theirs: ComponentId,
    /// The tag of an equal value in this world, if it has one.
    pub(super) ours: Option<ComponentId>,
    /// The tag in the other world of an equal value before it in the plan, if the plan has one.
    pub(super) like: Option<ComponentId>,
    /// Keeps the value alive until archetypes of this world own it. Taken by the destructor.
    pub(super) value: Option<Arc<AnyValue>>,
    pub(super) hash: u64,
}

impl SharedPlan {
    /// Whether the value needs a tag of its own.
    pub(super) const fn is_new(&self) -> bool {
        self.ours.is_none() && self.like.is_none()
    }
}

impl Drop for SharedPlan {
    /// A panic of the value's destructor ends here, after its message: rows are on their way.
    fn drop(&mut self) {
        let value = self.value.take();
        drop(Payload::catch(|| drop(value)));
    }
}

/// The shared type of values with ids that neither world can replace.
#[derive(Debug)]
pub(super) struct UnmappedIds(pub(super) &'static str);

impl Registry {
    /// The plan for the values of some tags of another world, in the order of `tags`. Ids in them
    /// are replaced by ids of `new_ids`, and by the null id where it has none. Runs the user's
    /// code.
    ///
    /// # Errors
    ///
    /// If values name entities, and neither world can replace their ids.
    pub(super) fn plan_values(
        &self,
        other: &Self,
        tags: impl Iterator<Item = ComponentId>,
        new_ids: impl FnOnce() -> FxHashMap<Entity, Entity>,
    ) -> Result<Vec<SharedPlan>, UnmappedIds> {
        let (mut plans, mut new_ids, mut ids) = (Vec::new(), Some(new_ids), FxHashMap::default());
        for theirs in tags {
            let of_type = other.shared_type_of(theirs).expect("a shared value has no type");
            let slot = other.shared_slot(theirs).expect("a tag of a shared value has no slot");
            let value = slot.get().expect("an archetype with rows has lost its value");
            let facts = of_type.facts;
            let own = self.shared.get(facts.type_id);
            let (value, hash) = if (facts.names_entities)(&value) {
                let map = own.and_then(|own| own.map.as_ref()).or(of_type.map.as_ref());
                let map = map.ok_or(UnmappedIds(facts.name))?;
                if let Some(new_ids) = new_ids.take() {
                    ids = new_ids();
                }
                let mut new_id = |old| ids.get(&old).copied().unwrap_or(Entity::NULL);
                let (value, hash) = map.new_value(&value, &mut new_id);
                (Arc::new(value), hash)
            } else {
                (value.keep(), value.hash())
            };
            let value = Some(value);
            plans.push(SharedPlan { theirs, ours: None, like: None, value, hash });
            let plan = plans.last_mut().expect("a plan was added");
            plan.ours = own.zip(plan.value.as_ref()).and_then(|(own, value)| own.find(value, hash));
        }
        if new_ids.is_none() {
            self.join_equal(other, &mut plans);
        }
        Ok(plans)
    }

    /// Finds values that have become equal because their ids were replaced.
    fn join_equal(&self, other: &Self, plans: &mut [SharedPlan]) {
        let mut same: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
        for at in 0..plans.len() {
            if plans[at].ours.is_some() {
                continue;
            }
            let Some(of_type) = other.shared_type_of(plans[at].theirs) else { continue };
            let earlier = same.entry(plans[at].hash).or_default();
            let is_equal = |&&earlier: &&usize| {
                let (a, b) = (&plans[earlier], &plans[at]);
                other.shared_type_of(a.theirs).is_some_and(|of| of.number == of_type.number)
                    && a.value
                        .as_ref()
                        .zip(b.value.as_ref())
                        .is_some_and(|(a, b)| (of_type.facts.are_equal)(a, b))
            };
            match earlier.iter().find(is_equal).copied() {
                Some(earlier) => plans[at].like = Some(plans[earlier].theirs),
                None => earlier.push(at),
            }
        }
    }
}

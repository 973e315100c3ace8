//! Commands that give shared values to entities, and take them.

use core::panic::Location;

use crate::component::SharedValue;
use crate::entity::Entity;
use crate::query::{Filter, Terms};
use crate::world::{EntityError, World};

use super::buffer::CommandBuffer;
use super::by_query::{assert_by_components, matching};
use super::command_errors::{CommandErrorKind, CommandVerb};
use super::record::{BarrierKind, CallSite, DeferredChange, Recorder};

impl Recorder {
    pub(super) fn insert_shared<T: SharedValue>(
        &mut self,
        entity: Entity,
        value: T,
        call_site: CallSite,
    ) {
        let change = move |world: &mut World| effect(world.insert_shared(entity, value));
        let (verb, change) = (CommandVerb::InsertShared, DeferredChange::new(change));
        self.push(BarrierKind::Change { verb, entity, change }, call_site);
    }

    pub(super) fn remove_shared<T: SharedValue>(&mut self, entity: Entity, call_site: CallSite) {
        let change = move |world: &mut World| effect(world.remove_shared::<T>(entity));
        let (verb, change) = (CommandVerb::RemoveShared, DeferredChange::new(change));
        self.push(BarrierKind::Change { verb, entity, change }, call_site);
    }
}

/// The effect of a change of one entity, which is not one by query.
fn effect(changed: Result<(), EntityError>) -> Result<usize, CommandErrorKind> {
    match changed {
        // As `remove` does: another system may have taken the value.
        Ok(()) | Err(EntityError::Missing { .. }) => Ok(0),
        Err(EntityError::NoSuchEntity(error)) => Err(CommandErrorKind::NoSuchEntity(error)),
        Err(EntityError::Layout(error)) => Err(CommandErrorKind::Layout(error)),
        Err(other) => unreachable!("one entity is changed: {other}"),
    }
}

impl CommandBuffer {
    /// Records that all entities that `Q` and `F` match at playback get a [shared
    /// value](crate::shared::Shared), by
    /// [`Matching::insert_shared`](crate::Matching::insert_shared). A barrier, with a box for the
    /// value.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..100).map(|i| Health(i as f32)));
    /// let mut buffer = world.command_buffer(0)?;
    /// buffer.insert_shared_where::<&Health, WithoutShared<&str>, _>("orc");
    /// assert_eq!(world.apply(&mut buffer).unwrap().matched, 100);
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    #[track_caller]
    pub fn insert_shared_where<Q: Terms, F: Filter, T: SharedValue>(&mut self, value: T) {
        const { assert_by_components::<Q, F>() };
        let change = move |world: &mut World| {
            matching::<Q, F>(world)?.insert_shared(value).map_err(CommandErrorKind::Layout)
        };
        let (verb, entity) = (CommandVerb::InsertShared, Entity::NULL);
        let change = DeferredChange::new(change);
        self.recorder.push(BarrierKind::Change { verb, entity, change }, Location::caller());
    }
}

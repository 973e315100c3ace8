//! Commands that enable and disable components.

use core::panic::Location;

use crate::archetype::Bundle;
use crate::component::Component;
use crate::entity::Entity;
use crate::query::{Filter, Terms, assert_enableable};
use crate::world::World;

use super::buffer::CommandBuffer;
use super::by_query::{assert_by_components, matching};
use super::command_writer::CommandWriter;
use super::error::CommandVerb;
use super::record::{Barrier, BarrierKind, Recorder};
use super::switches::{Switch, Switches};

impl Recorder {
    fn switch<C: Component + Bundle>(&mut self, switch: Switch) {
        let after = self.records.len();
        if let Some(Barrier { after: last, kind: BarrierKind::Switches { switches, .. }, .. }) =
            self.barriers.last_mut()
            && *last == after
            && switches.are_of::<C>()
        {
            return switches.list.push(switch);
        }
        let bundle_kind = self.bundle_kinds.id::<C, ()>();
        let switches = Switches::of::<C>(switch);
        self.push(BarrierKind::Switches { bundle_kind, switches }, switch.call_site);
    }
}

impl CommandBuffer {
    /// Records that component `C` of an entity is enabled or disabled: see
    /// [`World::set_enabled`](crate::World::set_enabled). If the entity has no `C` at playback, the
    /// command has no effect.
    ///
    /// A barrier; consecutive switches of one component are one barrier.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(enableable)] struct Awake;
    /// # let mut world = World::new();
    /// let entity = world.spawn(Awake);
    /// let mut buffer = world.command_buffer(0)?;
    /// buffer.set_enabled::<Awake>(entity, false);
    /// world.apply(&mut buffer).unwrap();
    /// assert!(!world.is_enabled::<Awake>(entity).unwrap());
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    #[track_caller]
    pub fn set_enabled<C: Component + Bundle>(&mut self, entity: Entity, enabled: bool) {
        const { assert_enableable::<C>() };
        self.recorder.switch::<C>(Switch { entity, enabled, call_site: Location::caller() });
    }

    /// Records that component `C` is enabled in all entities that `Q` and `F` match at playback
    /// and that have it, by [`Matching::enable`](crate::Matching::enable). A barrier.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(enableable)] struct Awake;
    /// # #[component] struct Player;
    /// # let mut world = World::new();
    /// let entity = world.spawn((Awake, Player));
    /// world.set_enabled::<Awake>(entity, false).unwrap();
    /// let mut buffer = world.command_buffer(0)?;
    /// buffer.enable_where::<Awake, &Player, ()>();
    /// world.apply(&mut buffer).unwrap();
    /// assert!(world.is_enabled::<Awake>(entity).unwrap());
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    #[track_caller]
    pub fn enable_where<C: Component + Bundle, Q: Terms, F: Filter>(&mut self) {
        const { assert_enableable::<C>() };
        const { assert_by_components::<Q, F>() };
        let change = |world: &mut World, _: &[u8]| Ok(matching::<Q, F>(world)?.enable::<C>());
        self.recorder.by_query::<C, ()>(CommandVerb::Enable, &(), change, Location::caller());
    }

    /// Records that component `C` is disabled in all entities that `Q` and `F` match at playback
    /// and that have it, by [`Matching::disable`](crate::Matching::disable). A barrier.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(enableable)] struct Awake;
    /// # #[component] struct Player;
    /// # let mut world = World::new();
    /// let [one, other] = [world.spawn(Awake), world.spawn((Awake, Player))];
    /// let mut buffer = world.command_buffer(0)?;
    /// buffer.disable_where::<Awake, &Awake, Without<Player>>();
    /// world.apply(&mut buffer).unwrap();
    /// assert!(!world.is_enabled::<Awake>(one).unwrap());
    /// assert!(world.is_enabled::<Awake>(other).unwrap());
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    #[track_caller]
    pub fn disable_where<C: Component + Bundle, Q: Terms, F: Filter>(&mut self) {
        const { assert_enableable::<C>() };
        const { assert_by_components::<Q, F>() };
        let change = |world: &mut World, _: &[u8]| Ok(matching::<Q, F>(world)?.disable::<C>());
        self.recorder.by_query::<C, ()>(CommandVerb::Disable, &(), change, Location::caller());
    }
}

impl CommandWriter {
    /// [`CommandBuffer::set_enabled`].
    #[track_caller]
    pub fn set_enabled<C: Component + Bundle>(&mut self, entity: Entity, enabled: bool) {
        const { assert_enableable::<C>() };
        self.recorder.switch::<C>(Switch { entity, enabled, call_site: Location::caller() });
    }
}

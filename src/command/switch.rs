//! Commands that enable and disable components.

use core::panic::Location;

use crate::archetype::ColumnBundle;
use crate::component::Component;
use crate::query::{Filter, Terms, assert_enableable};
use crate::world::World;

use super::buffer::CommandBuffer;
use super::by_query::{assert_by_components, matching};
use super::command_errors::CommandVerb;
use super::record::{Barrier, BarrierKind, Recorder};
use super::switches::{Switch, Switches};

impl Recorder {
    pub(super) fn switch<C: Component + ColumnBundle>(&mut self, switch: Switch) {
        let after = self.records.len();
        if let Some(Barrier { after: last, kind: BarrierKind::Switches { switches, .. }, .. }) =
            self.barriers.last_mut()
            && *last == after
            && switches.are_of::<C>()
        {
            return switches.list.push(switch);
        }
        let bundle_kind = self.bundle_kinds.id_of_columns::<C, ()>();
        let switches = Switches::of::<C>(switch);
        self.push(BarrierKind::Switches { bundle_kind, switches }, switch.call_site);
    }
}

impl CommandBuffer {
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
    pub fn enable_where<C: Component + ColumnBundle, Q: Terms, F: Filter>(&mut self) {
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
    pub fn disable_where<C: Component + ColumnBundle, Q: Terms, F: Filter>(&mut self) {
        const { assert_enableable::<C>() };
        const { assert_by_components::<Q, F>() };
        let change = |world: &mut World, _: &[u8]| Ok(matching::<Q, F>(world)?.disable::<C>());
        self.recorder.by_query::<C, ()>(CommandVerb::Disable, &(), change, Location::caller());
    }
}

//! Commands that name components by text, with their values as bytes.

use core::panic::Location;

use crate::entity::{Entity, OutOfIds};
use crate::store::EntityError;
use crate::world::{BytesError, World};

use super::buffer::CommandBuffer;
use super::command_errors::{CommandErrorKind, CommandVerb};
use super::command_writer::CommandWriter;
use super::named_change::{NamedChange, NamedVerb};
use super::player::Player;
use super::record::{BarrierKind, CallSite, Recorder};

/// Implements the commands that need no id in advance, for a type with a `recorder`.
macro_rules! named_commands {
    ($($Type:ident)*) => {$(
        /// # Commands that name components by text
        impl $Type {
            /// Records an insert of components by name, with their values as bytes: see
            /// [`ReflectMut::insert`](crate::reflect::ReflectMut::insert). The names and the bytes
            /// are checked at playback. If one is refused, the command has no effect, and the error
            /// tells which. A barrier, which copies the names and the bytes.
            ///
            /// ```
            /// # use phalanx::prelude::*;
            /// # let mut world = World::new();
            /// let fields = [("litres", "f32")];
            /// world.reflect_mut().register_layout("mod.fuel", fields).unwrap();
            /// let ship = world.spawn(());
            /// let mut buffer = world.command_buffer(0)?;
            /// buffer.insert_named(ship, [("mod.fuel", &5_f32.to_ne_bytes()[..])]);
            /// world.apply(&mut buffer).unwrap();
            /// assert!(world.entity(ship).unwrap().component("mod.fuel").is_some());
            /// # Ok::<(), phalanx::error::ReserveError>(())
            /// ```
            #[track_caller]
            pub fn insert_named<'b>(
                &mut self,
                entity: Entity,
                values: impl IntoIterator<Item = (&'b str, &'b [u8])>,
            ) {
                self.recorder.named(entity, NamedVerb::Insert, values, Location::caller());
            }

            /// Records a removal of components by name, as far as they are present at playback: see
            /// [`ReflectMut::remove`](crate::reflect::ReflectMut::remove). The names are checked at
            /// playback. If one is refused, the command has no effect. A barrier, which copies the
            /// names.
            ///
            /// ```
            /// # use phalanx::prelude::*;
            /// # #[component(name = "frozen")] struct Frozen;
            /// # let mut world = World::new();
            /// let entity = world.spawn(Frozen);
            /// let mut buffer = world.command_buffer(0)?;
            /// buffer.remove_named(entity, ["frozen"]);
            /// world.apply(&mut buffer).unwrap();
            /// assert!(!world.has::<Frozen>(entity));
            /// # Ok::<(), phalanx::error::ReserveError>(())
            /// ```
            #[track_caller]
            pub fn remove_named<'n>(
                &mut self,
                entity: Entity,
                names: impl IntoIterator<Item = &'n str>,
            ) {
                let values = names.into_iter().map(|name| (name, &[][..]));
                self.recorder.named(entity, NamedVerb::Remove, values, Location::caller());
            }

            /// Records that the component of an entity that has a name is enabled or disabled: see
            /// [`ReflectMut::set_enabled`](crate::reflect::ReflectMut::set_enabled). The name is
            /// checked at playback: if it is refused, the command has no effect, and the error
            /// tells it. If the entity lacks the component, it has no effect either. A barrier,
            /// which copies the name.
            ///
            /// ```
            /// # use phalanx::prelude::*;
            /// # #[component(enableable, name = "awake")] struct Awake;
            /// # let mut world = World::new();
            /// let entity = world.spawn(Awake);
            /// let mut buffer = world.command_buffer(0)?;
            /// buffer.set_enabled_named(entity, "awake", false);
            /// world.apply(&mut buffer).unwrap();
            /// assert!(!world.is_enabled::<Awake>(entity).unwrap());
            /// # Ok::<(), phalanx::error::ReserveError>(())
            /// ```
            #[track_caller]
            pub fn set_enabled_named(&mut self, entity: Entity, name: &str, enabled: bool) {
                let verb = if enabled { NamedVerb::Enable } else { NamedVerb::Disable };
                self.recorder.named(entity, verb, [(name, &[][..])], Location::caller());
            }
        }
    )*};
}

named_commands!(CommandBuffer CommandWriter);

impl CommandBuffer {
    /// Records the spawn of an entity with components by name, with their values as bytes, and
    /// returns its id: see [`ReflectMut::spawn`](crate::reflect::ReflectMut::spawn). The names and
    /// the bytes are checked at playback. If one is refused, the entity is never alive, and the
    /// error tells which. A barrier, which copies the names and the bytes.
    ///
    /// # Errors
    ///
    /// [`OutOfIds`] if the buffer has no id left. No command is recorded.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "health")] #[derive(Debug, PartialEq)] struct Health(u16);
    /// # let mut world = World::new();
    /// world.register::<Health>();
    /// let mut buffer = world.command_buffer(1)?;
    /// let entity = buffer.spawn_named([("health", &9_u16.to_ne_bytes()[..])])?;
    /// world.apply(&mut buffer)?;
    /// assert_eq!(world.get::<Health>(entity), Ok(&Health(9)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn spawn_named<'b>(
        &mut self,
        values: impl IntoIterator<Item = (&'b str, &'b [u8])>,
    ) -> Result<Entity, OutOfIds> {
        let change = NamedChange::new(NamedVerb::Spawn, values);
        let entity = self.ids.next()?;
        self.recorder.push(BarrierKind::Named { entity, change }, Location::caller());
        Ok(entity)
    }
}

impl Recorder {
    fn named<'b>(
        &mut self,
        entity: Entity,
        verb: NamedVerb,
        values: impl IntoIterator<Item = (&'b str, &'b [u8])>,
        call_site: CallSite,
    ) {
        let change = NamedChange::new(verb, values);
        self.push(BarrierKind::Named { entity, change }, call_site);
    }
}

impl World {
    /// [`ReflectMut::set_enabled`](crate::reflect::ReflectMut::set_enabled) of an entity that may
    /// lack the component.
    fn switch_named(
        &mut self,
        entity: Entity,
        name: &str,
        enabled: bool,
    ) -> Result<(), BytesError> {
        match self.reflect_mut().set_enabled(entity, name, enabled) {
            Ok(_) | Err(BytesError::Entity(EntityError::Missing { .. })) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl Player<'_> {
    /// Plays a change, or reports why it has no effect. `after` is the number of records before it.
    pub(super) fn play_named(
        &mut self,
        after: usize,
        (entity, call_site): (Entity, CallSite),
        change: &NamedChange,
    ) {
        let verb = match change.verb {
            NamedVerb::Spawn => CommandVerb::Spawn,
            NamedVerb::Insert => CommandVerb::Insert,
            NamedVerb::Remove => CommandVerb::Remove,
            NamedVerb::Enable => CommandVerb::Enable,
            NamedVerb::Disable => CommandVerb::Disable,
        };
        let Err(error) = self.try_named(entity, change) else { return };
        let fault = CommandErrorKind::from(error);
        if self.is_reported(&fault) {
            let Self { failures, world, .. } = self;
            let names = || change.known_names(world);
            failures.add(after, (verb, None), (entity, call_site), fault, names);
        }
    }

    fn try_named(&mut self, entity: Entity, change: &NamedChange) -> Result<(), BytesError> {
        let Self { world, outcome, loans_ended, .. } = self;
        let mut values = change.values();
        let has_moved = match change.verb {
            NamedVerb::Insert => world.reflect_mut().insert_values(entity, values)?,
            NamedVerb::Remove => {
                world.reflect_mut().remove_names(entity, values.map(|(name, _)| name))?
            }
            NamedVerb::Enable | NamedVerb::Disable => {
                let enabled = change.verb == NamedVerb::Enable;
                return values.try_for_each(|(name, _)| world.switch_named(entity, name, enabled));
            }
            NamedVerb::Spawn => {
                let spawned = world.reflect_mut().spawn_loaned(entity, values);
                let has_ended = spawned.is_ok() || world.store.end_loan(entity);
                *loans_ended += usize::from(has_ended);
                outcome.spawned_by_name.extend(has_ended.then_some(entity));
                outcome.applied.spawned += usize::from(spawned.is_ok());
                return spawned;
            }
        };
        outcome.applied.moved += usize::from(has_moved);
        Ok(())
    }
}

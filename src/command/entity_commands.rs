//! The commands on one entity, once for all recorders.

use core::panic::Location;

use crate::archetype::{Bundle, ColumnBundle, assert_distinct};
use crate::component::{Component, ManyRelation, SharedValue};
use crate::entity::Entity;
use crate::query::assert_enableable;

use super::buffer::CommandBuffer;
use super::command_writer::CommandWriter;
use super::switches::Switch;

/// Implements the commands on one entity, which need no id in advance, for a type with a
/// `recorder`.
macro_rules! entity_commands {
    ($($Type:ident)*) => {$(
        /// # Commands on one entity
        impl $Type {
            /// Records the despawn of an entity. It has no effect if the entity is not alive at
            /// playback.
            ///
            /// ```
            /// # use phalanx::prelude::*;
            /// # let mut world = World::new();
            /// let entity = world.spawn(());
            /// let mut buffer = world.command_buffer(0)?;
            /// buffer.despawn(entity);
            /// buffer.despawn(entity);
            /// world.apply(&mut buffer).unwrap();
            /// assert!(!world.contains(entity));
            /// # Ok::<(), phalanx::error::ReserveError>(())
            /// ```
            #[inline]
            #[track_caller]
            pub fn despawn(&mut self, entity: Entity) {
                self.recorder.despawn(entity, Location::caller());
            }

            /// Records an insert of the components of `bundle` into an entity. Components that it
            /// has already are overwritten.
            ///
            /// ```
            /// # use phalanx::prelude::*;
            /// # #[component] struct Health(f32);
            /// # let mut world = World::new();
            /// let entity = world.spawn(());
            /// let mut buffer = world.command_buffer(0)?;
            /// buffer.insert(entity, Health(1.0));
            /// buffer.insert(entity, Health(2.0));
            /// world.apply(&mut buffer).unwrap();
            /// assert_eq!(world.get::<Health>(entity).unwrap().0, 2.0);
            /// # Ok::<(), phalanx::error::ReserveError>(())
            /// ```
            #[inline]
            #[track_caller]
            pub fn insert<B: Bundle>(&mut self, entity: Entity, bundle: B) {
                const { assert_distinct(B::NAMES) };
                self.recorder.change::<(), B>(entity, bundle, Location::caller());
            }

            /// Records a removal of the components of `B` from an entity, as far as they are
            /// present at playback.
            ///
            /// ```
            /// # use phalanx::prelude::*;
            /// # #[component] struct Health(f32);
            /// # #[component] struct Frozen;
            /// # let mut world = World::new();
            /// let entity = world.spawn(Health(1.0));
            /// let mut buffer = world.command_buffer(0)?;
            /// buffer.remove::<(Health, Frozen)>(entity);
            /// world.apply(&mut buffer).unwrap();
            /// assert!(!world.has::<Health>(entity));
            /// # Ok::<(), phalanx::error::ReserveError>(())
            /// ```
            #[inline]
            #[track_caller]
            pub fn remove<B: Bundle>(&mut self, entity: Entity) {
                const { assert_distinct(B::NAMES) };
                self.recorder.change::<B, ()>(entity, (), Location::caller());
            }

            /// Records a removal of the components of `R` from an entity, as far as they are
            /// present at playback, together with an insert of the components of `added`.
            ///
            /// ```
            /// # use phalanx::prelude::*;
            /// # #[component] struct Walking(f32);
            /// # #[component] struct Flying(f32);
            /// # let mut world = World::new();
            /// let entity = world.spawn(Walking(1.0));
            /// let mut buffer = world.command_buffer(0)?;
            /// buffer.exchange::<Walking, _>(entity, Flying(9.0));
            /// world.apply(&mut buffer).unwrap();
            /// assert!(world.has::<Flying>(entity) && !world.has::<Walking>(entity));
            /// # Ok::<(), phalanx::error::ReserveError>(())
            /// ```
            #[inline]
            #[track_caller]
            pub fn exchange<R: Bundle, A: Bundle>(&mut self, entity: Entity, added: A) {
                const { assert_distinct(R::NAMES) };
                const { assert_distinct(A::NAMES) };
                self.recorder.change::<R, A>(entity, added, Location::caller());
            }

            /// Records a removal of one pair of a
            /// [relation to many](crate::sparse::relation#many-targets), as far as it is present at
            /// playback. With its last pair the source loses the component. An insert of
            /// `value.of(target)` adds one.
            ///
            /// ```
            /// # use phalanx::prelude::*;
            /// # #[relation(many)] struct Likes { weight: f32 }
            /// # let mut world = World::new();
            /// # let [a, b] = [(); 2].map(|()| world.spawn(()));
            /// let mut buffer = world.command_buffer(1)?;
            /// let new = buffer.spawn(Likes { weight: 1.0 }.of(a));
            /// buffer.insert(a, Likes { weight: 0.5 }.of(b));
            /// buffer.insert(a, Likes { weight: 0.5 }.of(new));
            /// buffer.remove_pair::<Likes>(a, b);
            /// world.apply(&mut buffer).unwrap();
            /// assert_eq!(world.relation::<Likes>().targets(a), [new]);
            /// # Ok::<(), phalanx::error::ReserveError>(())
            /// ```
            #[track_caller]
            pub fn remove_pair<R: ManyRelation>(&mut self, source: Entity, target: Entity) {
                self.recorder.remove_pair::<R>(source, target, Location::caller());
            }

            /// Records that component `C` of an entity is enabled or disabled: see
            /// [`World::set_enabled`](crate::World::set_enabled). If the entity has no `C` at
            /// playback, the command has no effect.
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
            pub fn set_enabled<C: Component + ColumnBundle>(&mut self, entity: Entity, enabled: bool) {
                const { assert_enableable::<C>() };
                self.recorder.switch::<C>(Switch { entity, enabled, call_site: Location::caller() });
            }

            /// Records that an entity gets a [shared value](crate::shared::Shared): see
            /// [`World::insert_shared`](crate::World::insert_shared). A barrier, with a box for the
            /// value.
            ///
            /// ```
            /// # use phalanx::prelude::*;
            /// # let mut world = World::new();
            /// let mut buffer = world.command_buffer(1)?;
            /// let tree = buffer.spawn(());
            /// buffer.insert_shared(tree, "oak");
            /// world.apply(&mut buffer).unwrap();
            /// assert_eq!(world.shared::<&str>().get(tree), Ok(&"oak"));
            /// # Ok::<(), phalanx::error::ReserveError>(())
            /// ```
            #[track_caller]
            pub fn insert_shared<T: SharedValue>(&mut self, entity: Entity, value: T) {
                self.recorder.insert_shared(entity, value, Location::caller());
            }

            /// Records that the [shared value](crate::shared::Shared) of type `T` is taken from an
            /// entity: see [`World::remove_shared`](crate::World::remove_shared). If the entity has
            /// none at playback, the command has no effect. A barrier.
            ///
            /// ```
            /// # use phalanx::prelude::*;
            /// # let mut world = World::new();
            /// # let tree = world.spawn(());
            /// world.insert_shared(tree, "oak").unwrap();
            /// let mut buffer = world.command_buffer(0)?;
            /// buffer.remove_shared::<&str>(tree);
            /// world.apply(&mut buffer).unwrap();
            /// assert!(!world.shared::<&str>().contains(tree));
            /// # Ok::<(), phalanx::error::ReserveError>(())
            /// ```
            #[track_caller]
            pub fn remove_shared<T: SharedValue>(&mut self, entity: Entity) {
                self.recorder.remove_shared::<T>(entity, Location::caller());
            }
        }
    )*};
}

entity_commands!(CommandBuffer CommandWriter);

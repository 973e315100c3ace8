//! Commands that name relations by text.
//!
//! Each is a barrier, as the commands that name components are: the name is looked up at playback.

use core::panic::Location;

use crate::entity::Entity;
use crate::store::NamedTarget;
use crate::world::BytesError;

use super::buffer::CommandBuffer;
use super::command_errors::CommandErrorKind;
use super::command_writer::CommandWriter;
use super::named_link::{LinkChange, NamedLink};
use super::player::Player;
use super::record::{BarrierKind, CallSite, Recorder};

/// Implements the commands for a type with a `recorder`.
macro_rules! relation_commands {
    ($($Type:ident)*) => {$(
        /// # Commands that name relations by text
        impl $Type {
            /// Records that an entity gets a target by the relation with a name, an entity or a
            /// [`NamedTarget`](crate::reflect::NamedTarget) with a place or a value: see
            /// [`ReflectMut::relate`](crate::reflect::ReflectMut::relate). All is checked at
            /// playback. If it is refused, the command has no effect, and the error is that of an
            /// insertion: a dead target is no bug. A barrier, which copies the name and the bytes.
            ///
            /// ```
            /// # use phalanx::prelude::*;
            /// use phalanx::reflect::NamedTarget;
            /// #[relation(ordered, name = "game.card_of")]
            /// struct CardOf;
            /// let mut world = World::new();
            /// world.register::<CardOf>();
            /// let [deck, a, b] = [(); 3].map(|()| world.spawn(()));
            /// let mut buffer = world.command_buffer(0)?;
            /// buffer.relate_named(a, "game.card_of", deck);
            /// buffer.relate_named(b, "game.card_of", NamedTarget::of(deck).at(0));
            /// world.apply(&mut buffer)?;
            /// assert_eq!(world.relation::<CardOf>().sources(deck), [b, a]);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            #[track_caller]
            pub fn relate_named<'v>(
                &mut self,
                source: Entity,
                relation: &str,
                target: impl Into<NamedTarget<'v>>,
            ) {
                let NamedTarget { target, place, value } = target.into();
                let change = LinkChange::Relate { place, value: value.map(Box::from) };
                self.recorder.link(source, (relation, target), change, Location::caller());
            }

            /// Records a removal of the relation of an entity to a target, by name, if there is one
            /// at playback: see
            /// [`ReflectMut::unrelate`](crate::reflect::ReflectMut::unrelate). The name is checked
            /// at playback. If it is refused, the command has no effect. A barrier, which copies
            /// the name.
            ///
            /// ```
            /// # use phalanx::prelude::*;
            /// #[relation(tree, name = "game.child_of")]
            /// struct ChildOf;
            /// let mut world = World::new();
            /// let parent = world.spawn(());
            /// let child = world.spawn(ChildOf::of(parent));
            /// let mut buffer = world.command_buffer(0)?;
            /// buffer.unrelate_named(child, "game.child_of", parent);
            /// world.apply(&mut buffer)?;
            /// assert!(!world.has::<ChildOf>(child));
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            #[track_caller]
            pub fn unrelate_named(&mut self, source: Entity, relation: &str, target: Entity) {
                let of = (relation, target);
                self.recorder.link(source, of, LinkChange::Unrelate, Location::caller());
            }
        }
    )*};
}

relation_commands!(CommandBuffer CommandWriter);

impl Recorder {
    fn link(
        &mut self,
        source: Entity,
        (relation, target): (&str, Entity),
        change: LinkChange,
        call_site: CallSite,
    ) {
        let link = Box::new(NamedLink { relation: relation.into(), target, change });
        self.push(BarrierKind::Link { source, link }, call_site);
    }
}

impl Player<'_> {
    /// Plays a change of a relation, or reports why it has no effect. `after` is the number of
    /// records before it.
    pub(super) fn play_link(
        &mut self,
        after: usize,
        (source, call_site): (Entity, CallSite),
        link: &NamedLink,
    ) {
        let Err(error) = self.try_link(source, link) else { return };
        let fault = CommandErrorKind::from(error);
        if self.is_reported(&fault) {
            let Self { failures, world, .. } = self;
            let mut known = world.reflect().relations();
            let name = || known.find(|&name| *name == *link.relation).into_iter().collect();
            failures.add(after, (link.verb(), None), (source, call_site), fault, name);
        }
    }

    fn try_link(&mut self, source: Entity, link: &NamedLink) -> Result<(), BytesError> {
        let NamedLink { relation, target, change } = link;
        let mut named = self.world.reflect_mut();
        match change {
            LinkChange::Relate { place, value } => {
                let (target, place, value) = (*target, *place, value.as_deref());
                named.relate(source, relation, NamedTarget { target, place, value })
            }
            LinkChange::Unrelate => named.unrelate(source, relation, *target).map(drop),
        }
    }
}

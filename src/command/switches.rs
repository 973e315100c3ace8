//! Lists of entities in which a component is enabled or disabled: no row moves.
//!
//! Switches of one component that are recorded one after the other are one barrier. So a system
//! that records only these costs one barrier in all. Between other commands each switch is a
//! barrier of its own, and commands before it are not merged with commands after it.

use core::any::TypeId;
use core::panic::Location;

use crate::component::Component;
use crate::entity::Entity;
use crate::world::{EntityError, World};

use super::command_errors::{CommandErrorKind, CommandVerb};

/// Switches of one component, entity by entity.
pub(super) struct Switches {
    component: TypeId,
    pub(super) list: Vec<Switch>,
    play: Play,
}

impl Switches {
    pub(super) fn of<C: Component>(switch: Switch) -> Self {
        Self { component: TypeId::of::<C>(), list: vec![switch], play: play::<C> }
    }

    pub(super) fn are_of<C: Component>(&self) -> bool {
        self.component == TypeId::of::<C>()
    }

    /// Plays all of them, and reports the switches that have no effect.
    pub(super) fn play(
        &self,
        world: &mut World,
        failed: &mut dyn FnMut(&Switch, CommandErrorKind),
    ) {
        (self.play)(world, &self.list, failed);
    }
}

/// Plays switches of one component, and reports the switches that have no effect.
type Play = fn(&mut World, &[Switch], &mut dyn FnMut(&Switch, CommandErrorKind));

/// From this number of switches on, the chunks are looked up once for all of them.
const TOGETHER_MIN: usize = 64;

/// A component of an entity is enabled or disabled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Switch {
    pub(super) entity: Entity,
    pub(super) enabled: bool,
    pub(super) call_site: &'static Location<'static>,
}

impl Switch {
    pub(super) const fn verb(&self) -> CommandVerb {
        if self.enabled { CommandVerb::Enable } else { CommandVerb::Disable }
    }
}

fn play<C: Component>(
    world: &mut World,
    switches: &[Switch],
    failed: &mut dyn FnMut(&Switch, CommandErrorKind),
) {
    let mut check = |switch: &Switch, result: Result<bool, EntityError>| match result {
        // As `remove` does: the component may have been removed by another system.
        Ok(_) | Err(EntityError::Missing { .. }) => {}
        Err(EntityError::NoSuchEntity(error)) => {
            failed(switch, CommandErrorKind::NoSuchEntity(error))
        }
        Err(other) => unreachable!("a switch moves nothing: {other}"),
    };
    if switches.len() < TOGETHER_MIN {
        for switch in switches {
            check(switch, world.set_enabled::<C>(switch.entity, switch.enabled));
        }
        return;
    }
    let mut lookup = world.lookup_mut::<C>();
    for switch in switches {
        check(switch, lookup.set_enabled(switch.entity, switch.enabled));
    }
}

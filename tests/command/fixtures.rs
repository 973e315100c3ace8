//! A world with a buffer, and its playback.

use phalanx::command::{ApplyError, CommandError};
use phalanx::prelude::*;

use crate::common::components::sound;

/// A world, and a buffer of it with this many ids.
pub(crate) fn world_and_buffer(ids: u32) -> (World, CommandBuffer) {
    let mut world = crate::common::world();
    let buffer = world.command_buffer(ids).expect("a new world has ids");
    (world, buffer)
}

/// The errors of a playback that has some.
#[track_caller]
pub(crate) fn errors(world: &mut World, buffer: &mut CommandBuffer) -> Vec<CommandError> {
    match world.apply(buffer) {
        Err(ApplyError::Commands(errors)) => errors.as_slice().to_vec(),
        other => panic!("commands should have failed: {other:?}"),
    }
}

/// Plays back a buffer in which every command must have an effect.
#[track_caller]
pub(crate) fn apply(world: &mut World, buffer: &mut CommandBuffer) -> phalanx::command::Applied {
    let applied = world.apply(buffer).expect("every command has an effect");
    sound(world);
    assert!(buffer.is_empty());
    applied
}

//! The components of these tests, and what is asked again and again.

use phalanx::prelude::*;
use phalanx::{ApplyError, error::CommandError};

macro_rules! components {
    ($($name:ident($inner:ty)),* $(,)?) => {$(
        #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
        #[repr(C)]
        pub(crate) struct $name(pub(crate) $inner);
        component!($name);
    )*};
}

components! {
    Byte(u8),
    Four(u32),
    Twelve([u32; 3]),
    Big([u32; 250]),
    Link(Entity),
    Serial(u32),
    Page([u8; 4096]),
}

/// A tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Tag;
component!(Tag as "tag");

/// What `check` says, as a test wants it.
#[track_caller]
pub(crate) fn sound(world: &World) {
    assert_eq!(world.check(), Ok(()), "the world contradicts itself");
}

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

/// Plays back what must have an effect.
#[track_caller]
pub(crate) fn apply(world: &mut World, buffer: &mut CommandBuffer) -> phalanx::Applied {
    let applied = world.apply(buffer).expect("every command has an effect");
    sound(world);
    assert!(buffer.is_empty());
    applied
}

//! The parameter by which a system records commands.

use core::ops::{Deref, DerefMut};

use super::buffer::CommandBuffer;

/// A system's own [`CommandBuffer`], as a parameter: what it records is applied at the next sync
/// point, in the order of the systems.
///
/// It has ids for as many entities as the system spawns: a system that spawns more than ever before
/// takes them from indices that are set aside for it, so that ids do not depend on which thread ran
/// first.
#[derive(Debug)]
pub struct Commands<'s> {
    buffer: &'s mut CommandBuffer,
}

impl<'s> Commands<'s> {
    pub(crate) const fn new(buffer: &'s mut CommandBuffer) -> Self {
        Self { buffer }
    }
}

impl Deref for Commands<'_> {
    type Target = CommandBuffer;

    fn deref(&self) -> &CommandBuffer {
        self.buffer
    }
}

impl DerefMut for Commands<'_> {
    fn deref_mut(&mut self) -> &mut CommandBuffer {
        self.buffer
    }
}

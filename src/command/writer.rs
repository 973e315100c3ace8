//! Recording on several threads, with one writer for each chunk.

use core::fmt;
use core::ops::{Deref, DerefMut};
use core::panic::Location;

use crate::archetype::{Bundle, assert_distinct};
use crate::entity::{Entity, TooMuchMemory};

use super::buffer::CommandBuffer;
use super::record::Recorder;

/// Records commands for one chunk, on any thread; see [`CommandBuffer::par`].
///
/// Commands are ordered by the number of their chunk and then by their order within it, so playback
/// does not depend on the threads. For the same reason, entities that are spawned here get their
/// ids at playback.
#[derive(Default)]
pub struct CommandWriter {
    recorder: Recorder,
}

impl fmt::Debug for CommandWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandWriter").field("commands", &self.recorder.len()).finish()
    }
}

impl CommandWriter {
    /// Records the spawn of an entity, which gets its id at playback.
    #[inline]
    #[track_caller]
    pub fn spawn<B: Bundle>(&mut self, bundle: B) {
        const { assert_distinct::<B>() };
        self.recorder.spawn_without_id(&bundle, Location::caller());
    }

    /// [`CommandBuffer::despawn`].
    #[inline]
    #[track_caller]
    pub fn despawn(&mut self, entity: Entity) {
        self.recorder.despawn(entity, Location::caller());
    }

    /// [`CommandBuffer::insert`].
    #[inline]
    #[track_caller]
    pub fn insert<B: Bundle>(&mut self, entity: Entity, bundle: B) {
        const { assert_distinct::<B>() };
        self.recorder.change::<(), B>(entity, &bundle, Location::caller());
    }

    /// [`CommandBuffer::remove`].
    #[inline]
    #[track_caller]
    pub fn remove<B: Bundle>(&mut self, entity: Entity) {
        const { assert_distinct::<B>() };
        self.recorder.change::<B, ()>(entity, &(), Location::caller());
    }

    /// [`CommandBuffer::exchange`].
    #[inline]
    #[track_caller]
    pub fn exchange<R: Bundle, A: Bundle>(&mut self, entity: Entity, added: A) {
        const { assert_distinct::<R>() };
        const { assert_distinct::<A>() };
        self.recorder.change::<R, A>(entity, &added, Location::caller());
    }
}

/// A slice of [`CommandWriter`]s, one for each chunk. Dropping it appends their commands to the
/// buffer, chunk by chunk.
#[derive(Debug)]
pub struct CommandWriters<'b> {
    buffer: &'b mut CommandBuffer,
    chunks: usize,
}

impl<'b> CommandWriters<'b> {
    pub(super) fn new(buffer: &'b mut CommandBuffer, chunks: usize) -> Result<Self, TooMuchMemory> {
        let more = chunks.saturating_sub(buffer.writers.len());
        let bytes = (more as u64).saturating_mul(size_of::<CommandWriter>() as u64);
        buffer.requests.ensure(bytes)?;
        buffer.requests.granted(bytes, buffer.writers.try_reserve(more))?;
        if more > 0 {
            buffer.writers.resize_with(chunks, CommandWriter::default);
        }
        // Writers that were leaked instead of dropped still hold their commands.
        buffer.writers.iter_mut().for_each(|writer| writer.recorder.clear());
        Ok(Self { buffer, chunks })
    }
}

impl Deref for CommandWriters<'_> {
    type Target = [CommandWriter];

    fn deref(&self) -> &[CommandWriter] {
        &self.buffer.writers[..self.chunks]
    }
}

impl DerefMut for CommandWriters<'_> {
    fn deref_mut(&mut self) -> &mut [CommandWriter] {
        &mut self.buffer.writers[..self.chunks]
    }
}

impl Drop for CommandWriters<'_> {
    fn drop(&mut self) {
        let CommandBuffer { recorder, writers, .. } = &mut *self.buffer;
        for writer in &mut writers[..self.chunks] {
            recorder.append(&mut writer.recorder);
        }
    }
}

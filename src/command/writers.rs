//! Writers of one command buffer for several threads: one per chunk.

use core::ops::{Deref, DerefMut};

use crate::entity::TooMuchMemory;

use super::buffer::CommandBuffer;
use super::command_writer::CommandWriter;

impl CommandBuffer {
    /// Creates a writer for each chunk of a query, for use by any number of threads; see
    /// [`CommandWriter`]. Dropping the writers appends their commands to the buffer in the order of
    /// the chunks, regardless of the order in which the threads finish. O(writers).
    ///
    /// # Panics
    ///
    /// If the writers need more memory than one call may allocate;
    /// [`CommandBuffer::try_par_writers`] returns an error instead.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// world.spawn_batch((0..10_000).map(|i| Health((i % 2) as f32)));
    /// let mut buffer = world.command_buffer(0)?;
    /// let chunks: Vec<_> = world.query::<(Entity, &Health)>().into_iter().collect();
    /// let mut writers = buffer.par_writers(chunks.len());
    /// std::thread::scope(|threads| {
    ///     for ((entities, health), writer) in chunks.into_iter().zip(writers.iter_mut()) {
    ///         threads.spawn(move || {
    ///             for (&entity, health) in entities.iter().zip(health) {
    ///                 if health.0 <= 0.0 {
    ///                     writer.despawn(entity);
    ///                 }
    ///             }
    ///         });
    ///     }
    /// });
    /// drop(writers);
    /// world.apply(&mut buffer).unwrap();
    /// assert_eq!(world.len(), 5_000);
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    #[track_caller]
    pub fn par_writers(&mut self, chunks: usize) -> CommandWriters<'_> {
        match self.try_par_writers(chunks) {
            Ok(writers) => writers,
            Err(error) => panic!("cannot make {chunks} command writers: {error}"),
        }
    }

    /// [`CommandBuffer::par_writers`], which returns an error instead of a panic.
    ///
    /// # Errors
    ///
    /// [`TooMuchMemory`] if the writers need more memory than one call may allocate in this
    /// buffer's world. The recorded commands are kept.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let mut buffer = world.command_buffer(0)?;
    /// assert_eq!(buffer.try_par_writers(3).unwrap().len(), 3);
    /// assert!(buffer.try_par_writers(1 << 30).is_err());
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    pub fn try_par_writers(&mut self, chunks: usize) -> Result<CommandWriters<'_>, TooMuchMemory> {
        CommandWriters::new(self, chunks)
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

//! Recording on several threads, with one writer for each chunk.

use core::fmt;
use core::panic::Location;

use crate::archetype::{Bundle, assert_distinct};
use crate::query::OneRecorder;

use super::record::Recorder;

/// Records commands for one chunk, on any thread; see
/// [`CommandBuffer::par_writers`](crate::CommandBuffer::par_writers).
///
/// Commands are ordered first by the number of their chunk, within a chunk by the order of
/// recording, so playback does not depend on the threads. For the same reason, entities that are
/// spawned here get their ids at playback.
#[derive(Default)]
pub struct CommandWriter {
    pub(super) recorder: Recorder,
    one_recorder: OneRecorder,
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
        const { assert_distinct(B::NAMES) };
        self.recorder.spawn_without_id(bundle, Location::caller());
    }
}

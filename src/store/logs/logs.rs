//! All logs of a world.

use super::super::first_panic::FirstPanic;
use super::event_queues::EventQueues;
use super::row_logs::RowLogs;

/// The logs of a world.
///
/// Fields are borrowed separately: rows are recorded while their archetypes are borrowed.
#[derive(Debug, Default)]
pub struct Logs {
    /// The events that systems and the program have sent.
    pub(crate) events: EventQueues,
    /// The components that rows have gained.
    pub(crate) gained: RowLogs,
    /// The components that rows have lost, and the entities that were despawned.
    pub(crate) lost: RowLogs,
}

impl Logs {
    /// Begins a run in every log.
    ///
    /// # Panics
    ///
    /// If the destructor of an event panics. All logs have begun the run.
    pub(crate) fn age(&mut self) {
        // This comes first, because a destructor of an event may panic.
        self.gained.age();
        self.lost.age();
        self.events.age();
    }

    /// Drops all entries. Readers count unread ones as missed.
    pub(crate) fn clear(&mut self, panic: &mut FirstPanic) {
        self.gained.clear();
        self.lost.clear();
        self.events.clear(panic);
    }

    /// Frees unused memory.
    pub(crate) fn shrink(&mut self) {
        self.gained.shrink();
        self.lost.shrink();
        self.events.shrink();
    }

    /// The allocated memory of the rows.
    pub(crate) fn row_bytes(&self) -> usize {
        self.gained.bytes() + self.lost.bytes()
    }
}

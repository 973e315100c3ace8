//! Departures: entities that were despawned, and components that entities have lost.

use core::ops::Range;

use crate::archetype::Archetype;
use crate::component::{Component, ComponentId};

use super::readers::ReaderPosition;
use super::row_log::RowLog;
use super::row_logs::RowLogs;

/// The despawned entities, and, for each component with readers, the entities that have lost it.
#[derive(Debug, Default)]
pub(crate) struct Departures {
    /// Whether a log has readers.
    is_read: bool,
    despawned: RowLog<()>,
    removed: RowLogs,
}

impl Departures {
    /// Whether departures must be recorded, because a log has readers.
    #[inline]
    pub(crate) const fn is_read(&self) -> bool {
        self.is_read
    }

    /// The despawned entities.
    pub(crate) const fn despawned(&self) -> &RowLog<()> {
        &self.despawned
    }

    /// The despawned entities.
    pub(crate) const fn despawned_mut(&mut self) -> &mut RowLog<()> {
        &mut self.despawned
    }

    /// The entities that have lost `C`. `None` if it never had a reader.
    pub(crate) fn removed<C: Component>(&self) -> Option<&RowLog<C>> {
        self.removed.get()
    }

    /// The entities that have lost `C`. The id of `C` is `id`.
    pub(crate) fn removed_mut<C: Component>(&mut self, id: ComponentId) -> &mut RowLog<C> {
        self.removed.get_or_add(id)
    }

    /// Adds a reader of despawned entities.
    pub(crate) fn add_despawned_reader(&mut self) -> ReaderPosition {
        self.is_read = true;
        self.despawned.add_reader()
    }

    /// Adds a reader of the entities that lose `C`. The id of `C` is `id`.
    pub(crate) fn add_removed_reader<C: Component>(&mut self, id: ComponentId) -> ReaderPosition {
        self.is_read = true;
        self.removed.add_reader::<C>(id)
    }

    /// Records rows of a chunk before they move to another archetype or, without a target, are
    /// removed. An entity that keeps cleanup components counts as despawned when it becomes gone.
    pub(super) fn record(
        &mut self,
        source: &Archetype,
        target: Option<&Archetype>,
        (chunk, rows): (u32, Range<usize>),
    ) {
        let ends = !source.is_gone() && target.is_none_or(Archetype::is_gone);
        if ends && self.despawned.is_read() {
            let entities = &source.entities_of_chunk(chunk)[rows.clone()];
            self.despawned.record(entities, entities.iter().map(drop));
        }
        self.removed.record(source, target.map(Archetype::set), (chunk, rows));
    }

    /// Begins a run in every log; see [`RowLog::age`].
    pub(crate) fn age(&mut self) {
        if self.is_read {
            self.despawned.age();
            self.removed.age();
            self.is_read = self.despawned.is_read() || self.removed.is_read();
        }
    }

    /// Drops all rows of all logs.
    pub(crate) fn drop_all(&mut self) {
        self.despawned.drop_all();
        self.removed.drop_all();
    }

    /// Frees unused memory.
    pub(crate) fn shrink(&mut self) {
        self.despawned.shrink();
        self.removed.shrink();
    }

    /// The allocated memory of all logs.
    pub(crate) fn bytes(&self) -> usize {
        self.despawned.bytes() + self.removed.bytes()
    }
}

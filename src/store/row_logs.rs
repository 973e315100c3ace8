//! The row logs of a world, one for each component that ever had a reader.

use core::any::{Any, TypeId};
use core::fmt;
use core::ops::Range;

use rustc_hash::FxHashMap;

use crate::archetype::Archetype;
use crate::component::{Component, ComponentId, ComponentSet};
use crate::entity::{Directory, Entity};
use crate::storage::ChunkRow;

use super::readers::ReaderPosition;
use super::row_log::RowLog;

/// The rows that have lost, or gained, each component with readers.
#[derive(Default)]
pub(crate) struct RowLogs {
    /// Whether a log has readers.
    is_read: bool,
    /// In the order of their first readers. Each is the `RowLog<C>` of its component.
    logs: Vec<(ComponentId, Box<dyn ErasedLog>)>,
    by_type: FxHashMap<TypeId, usize>,
}

impl RowLogs {
    /// Whether rows must be recorded, because a log has readers.
    #[inline]
    pub(crate) const fn is_read(&self) -> bool {
        self.is_read
    }

    /// The log of `C`, if it ever had a reader.
    pub(crate) fn get<C: Component>(&self) -> Option<&RowLog<C>> {
        let log: &dyn Any = &*self.logs[*self.by_type.get(&TypeId::of::<C>())?].1;
        Some(log.downcast_ref().expect("a log is filed under another type"))
    }

    /// The log of `C`, which is added if it does not exist. The id of `C` is `id`.
    pub(crate) fn get_or_add<C: Component>(&mut self, id: ComponentId) -> &mut RowLog<C> {
        let Self { logs, by_type, .. } = self;
        let at = *by_type.entry(TypeId::of::<C>()).or_insert_with(|| {
            logs.push((id, Box::<RowLog<C>>::default()));
            logs.len() - 1
        });
        let log: &mut dyn Any = &mut *logs[at].1;
        log.downcast_mut().expect("a log is filed under another type")
    }

    /// Adds a reader of the log of `C`. The id of `C` is `id`.
    pub(crate) fn add_reader<C: Component>(&mut self, id: ComponentId) -> ReaderPosition {
        self.is_read = true;
        self.get_or_add::<C>(id).add_reader()
    }

    /// Records rows of a chunk for each component of this archetype that is not in `other`, the set
    /// from which the rows come or to which they go.
    pub(super) fn record(
        &mut self,
        archetype: &Archetype,
        other: Option<&ComponentSet>,
        (chunk, rows): (u32, Range<usize>),
    ) {
        for (id, log) in &mut self.logs {
            if log.is_read()
                && let Some(column) = archetype.column(*id)
                && !other.is_some_and(|other| other.contains(*id))
            {
                log.record_rows(archetype, column, (chunk, rows.clone()));
            }
        }
    }

    /// [`RowLogs::record`] of all rows from number `first` on, counted over all chunks.
    pub(super) fn record_from(
        &mut self,
        archetype: &Archetype,
        other: Option<&ComponentSet>,
        first: usize,
    ) {
        let list = archetype.list();
        let ChunkRow { chunk, row } = list.split(list.position_of(first));
        let mut row = row as usize;
        for chunk in chunk..list.chunk_len() {
            self.record(archetype, other, (chunk, row..list.rows(chunk) as usize));
            row = 0;
        }
    }

    /// [`RowLogs::record`] of the rows of some entities of one archetype.
    #[cold]
    pub(crate) fn record_entities(
        &mut self,
        (archetype, directory): (&Archetype, &Directory),
        other: Option<&ComponentSet>,
        entities: &[Entity],
    ) {
        for &entity in entities {
            let place = directory.locate(entity).expect("a row has an entity that is alive");
            let at = archetype.list().split(place.row());
            let row = at.row as usize;
            self.record(archetype, other, (at.chunk, row..row + 1));
        }
    }

    /// Begins a run in every log; see [`RowLog::age`].
    pub(crate) fn age(&mut self) {
        if self.is_read {
            self.logs.iter_mut().for_each(|(_, log)| log.age());
            self.is_read = self.logs.iter().any(|(_, log)| log.is_read());
        }
    }

    /// Drops all rows.
    pub(crate) fn drop_all(&mut self) {
        self.logs.iter_mut().for_each(|(_, log)| log.drop_all());
    }

    /// Frees unused memory.
    pub(crate) fn shrink(&mut self) {
        self.logs.iter_mut().for_each(|(_, log)| log.shrink());
    }

    /// The allocated memory of all logs.
    pub(crate) fn bytes(&self) -> usize {
        self.logs.iter().map(|(_, log)| log.bytes()).sum()
    }
}

/// Writes the components, and whether there are readers.
impl fmt::Debug for RowLogs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.logs.iter().map(|(id, log)| (id, log.is_read()))).finish()
    }
}

/// A log of any component. The methods are the methods of [`RowLog`].
trait ErasedLog: Any + Send + Sync {
    fn is_read(&self) -> bool;
    fn record_rows(&mut self, archetype: &Archetype, column: u16, rows: (u32, Range<usize>));
    fn age(&mut self);
    fn drop_all(&mut self);
    fn shrink(&mut self);
    fn bytes(&self) -> usize;
}

impl<C: Component> ErasedLog for RowLog<C> {
    fn is_read(&self) -> bool {
        self.is_read()
    }

    fn record_rows(&mut self, archetype: &Archetype, column: u16, rows: (u32, Range<usize>)) {
        self.record_rows(archetype, column, rows);
    }

    fn age(&mut self) {
        self.age();
    }

    fn drop_all(&mut self) {
        self.drop_all();
    }

    fn shrink(&mut self) {
        self.shrink();
    }

    fn bytes(&self) -> usize {
        self.bytes()
    }
}

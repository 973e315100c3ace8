//! The row logs of one direction, gains or losses, one for each subject that ever had a reader.

use core::any::{Any, TypeId};
use core::fmt;
use core::ops::Range;

use rustc_hash::FxHashMap;

use crate::archetype::Archetype;
use crate::entity::{Directory, Entity};
use crate::storage::ChunkRow;

use super::log_subject::LogSubject;
use super::readers::ReaderPosition;
use super::row_kind::RowKind;
use super::row_log::RowLog;

/// The rows that have gained, or lost, each subject with readers.
#[derive(Default)]
pub(crate) struct RowLogs {
    /// Whether a log has readers.
    has_readers: bool,
    /// Whether a log that records rows of chunks has readers.
    is_read: bool,
    /// In the order of their first readers.
    logs: Vec<(LogSubject, Box<dyn ErasedLog>)>,
    /// The log of each kind of rows.
    by_kind: FxHashMap<TypeId, usize>,
}

impl RowLogs {
    /// Whether rows of chunks must be recorded, because a log of them has readers. Sparse sets
    /// note their values themselves.
    #[inline]
    pub(crate) const fn is_read(&self) -> bool {
        self.is_read
    }

    /// The log of a kind of rows, if it ever had a reader.
    pub(crate) fn get<K: RowKind>(&self) -> Option<&RowLog<K::Value>> {
        let log: &dyn Any = &*self.logs[*self.by_kind.get(&TypeId::of::<K>())?].1;
        let log: &LogOf<K> = log.downcast_ref().expect("a log is filed under another kind");
        Some(&log.0)
    }

    /// [`RowLogs::get`] for writing.
    pub(in crate::store) fn get_mut<K: RowKind>(&mut self) -> Option<&mut RowLog<K::Value>> {
        let at = *self.by_kind.get(&TypeId::of::<K>())?;
        Some(self.at::<K>(at))
    }

    fn at<K: RowKind>(&mut self, at: usize) -> &mut RowLog<K::Value> {
        let log: &mut dyn Any = &mut *self.logs[at].1;
        let log: &mut LogOf<K> = log.downcast_mut().expect("a log is filed under another kind");
        &mut log.0
    }

    /// The log of a kind of rows, which is added if it does not exist.
    pub(crate) fn get_or_add<K: RowKind>(&mut self, subject: LogSubject) -> &mut RowLog<K::Value> {
        let Self { logs, by_kind, .. } = self;
        let at = *by_kind.entry(TypeId::of::<K>()).or_insert_with(|| {
            logs.push((subject, Box::new(LogOf::<K>(RowLog::default()))));
            logs.len() - 1
        });
        self.at::<K>(at)
    }

    /// Adds a reader of the log of a kind of rows.
    pub(crate) fn add_reader<K: RowKind>(&mut self, subject: LogSubject) -> ReaderPosition {
        self.has_readers = true;
        self.is_read |= subject.is_of_rows();
        self.get_or_add::<K>(subject).add_reader()
    }

    /// Records rows of a chunk in each log that counts them. They come from `other`, or
    /// go to it; without it they are new, or end.
    pub(super) fn record(
        &mut self,
        archetype: &Archetype,
        other: Option<&Archetype>,
        (chunk, rows): (u32, Range<usize>),
    ) {
        for (subject, log) in &mut self.logs {
            if log.is_read()
                && let Some(column) = subject.records(archetype, other)
            {
                log.record(archetype, column, (chunk, rows.clone()));
            }
        }
    }

    /// [`RowLogs::record`] of all rows from number `first` on, counted over all chunks.
    pub(super) fn record_from(
        &mut self,
        archetype: &Archetype,
        other: Option<&Archetype>,
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
        other: Option<&Archetype>,
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
        if self.has_readers {
            (self.has_readers, self.is_read) = (false, false);
            for (subject, log) in &mut self.logs {
                log.age();
                self.has_readers |= log.is_read();
                self.is_read |= log.is_read() && subject.is_of_rows();
            }
        }
    }

    /// Drops all rows.
    pub(crate) fn clear(&mut self) {
        self.logs.iter_mut().for_each(|(_, log)| log.clear());
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

/// Writes the subjects, and whether there are readers.
impl fmt::Debug for RowLogs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.logs.iter().map(|(of, log)| (of, log.is_read()))).finish()
    }
}

/// The log of a kind of rows.
struct LogOf<K: RowKind>(RowLog<K::Value>);

/// A log of any kind. The methods are the methods of [`RowLog`].
trait ErasedLog: Any + Send + Sync {
    fn is_read(&self) -> bool;
    fn record(&mut self, archetype: &Archetype, column: u16, rows: (u32, Range<usize>));
    fn age(&mut self);
    fn clear(&mut self);
    fn shrink(&mut self);
    fn bytes(&self) -> usize;
}

impl<K: RowKind> ErasedLog for LogOf<K> {
    fn is_read(&self) -> bool {
        self.0.is_read()
    }

    fn record(&mut self, archetype: &Archetype, column: u16, rows: (u32, Range<usize>)) {
        K::record(&mut self.0, archetype, column, rows);
    }

    fn age(&mut self) {
        self.0.age();
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    fn shrink(&mut self) {
        self.0.shrink();
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

#[cfg(test)]
mod tests {
    use crate::component::{InSet, SparseComponent};

    use super::super::row_kind::EntityRows;
    use super::*;

    struct Value;

    impl SparseComponent for Value {
        const NAME: &'static str = "value";
        type Logged = ();
        fn logged(&self) {}
    }

    #[test]
    fn a_reader_of_a_sparse_component_needs_no_rows_of_chunks() {
        let mut logs = RowLogs::default();
        let is_noted = |logs: &RowLogs| logs.get::<InSet<Value>>().unwrap().is_read();
        let sparse = logs.add_reader::<InSet<Value>>(LogSubject::Sparse);
        assert_eq!((logs.is_read(), is_noted(&logs)), (false, true));
        let entities = logs.add_reader::<EntityRows>(LogSubject::Entity);
        logs.age();
        assert_eq!((logs.is_read(), is_noted(&logs)), (true, true));
        drop(entities);
        logs.age();
        assert_eq!((logs.is_read(), is_noted(&logs)), (false, true));
        drop(sparse);
        logs.age();
        assert!(!is_noted(&logs), "a run notices, also without readers of rows");
    }
}

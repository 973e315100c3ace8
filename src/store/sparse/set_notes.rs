//! The values that came to a sparse set, or went, until a log records them.
//!
//! Systems change a set in its lock while others read the logs, so a set has notes of its own. They
//! are recorded at the end of each call that borrows the store exclusively, and of each stage of a
//! schedule. A set takes notes from its first reader on, and stops when a recording finds none.

use core::fmt;

use rustc_hash::FxHashMap;

use crate::component::{InSet, SparseComponent};
use crate::entity::Entity;
use crate::spare::vec_bytes;

use super::super::logs::{Logs, RowLogs};

/// The notes of a set with values of type `T`.
pub(in crate::store) trait Notes<T>: fmt::Debug + Send + Sync {
    /// Notes a value that came.
    fn gain(&mut self, entity: Entity, value: &T);
    /// Notes a value that is about to go.
    fn lose(&mut self, entity: Entity, value: &T);
    /// Keeps the combined effect of the notes of each entity: a value that went and came again was
    /// overwritten. A gain has the value that the entity has at the end, which `value` finds.
    /// O(notes).
    fn combine<'v>(&mut self, value: &dyn Fn(Entity) -> Option<&'v T>)
    where
        T: 'v;
    /// Moves the notes to the logs. Returns whether one of them has readers.
    fn record(&mut self, logs: &mut Logs) -> bool;
    /// Drops the notes.
    fn clear(&mut self);
    /// Frees unused memory.
    fn shrink(&mut self);
    /// The allocated memory, in use or not.
    fn bytes(&self) -> usize;
}

/// The notes of the set of `S`.
pub(super) struct SetNotes<S: SparseComponent> {
    gained: NoteList<S::Logged>,
    lost: NoteList<S::Logged>,
}

/// The entities and the values of some notes, in order.
struct NoteList<V> {
    entities: Vec<Entity>,
    values: Vec<V>,
}

impl<S: SparseComponent> Default for SetNotes<S> {
    fn default() -> Self {
        Self { gained: NoteList::new(), lost: NoteList::new() }
    }
}

impl<V: Copy> NoteList<V> {
    const fn new() -> Self {
        Self { entities: Vec::new(), values: Vec::new() }
    }

    fn push(&mut self, entity: Entity, value: V) {
        self.entities.push(entity);
        self.values.push(value);
    }

    fn clear(&mut self) {
        self.entities.clear();
        self.values.clear();
    }

    /// Keeps the notes for which `is_kept` is true, in their order.
    fn retain(&mut self, mut is_kept: impl FnMut(Entity) -> bool) {
        let mut kept = 0;
        for at in 0..self.entities.len() {
            if is_kept(self.entities[at]) {
                self.entities[kept] = self.entities[at];
                self.values[kept] = self.values[at];
                kept += 1;
            }
        }
        self.entities.truncate(kept);
        self.values.truncate(kept);
    }

    /// Moves the notes to the log of a component. Returns whether it has readers.
    fn record<S: SparseComponent<Logged = V>>(&mut self, logs: &mut RowLogs) -> bool {
        let log = logs.get_mut::<InSet<S>>().filter(|log| log.is_read());
        let is_read = log.is_some();
        if let Some(log) = log
            && !self.entities.is_empty()
        {
            log.record(&self.entities, self.values.iter().copied());
        }
        self.clear();
        is_read
    }

    fn shrink(&mut self) {
        self.entities.shrink_to_fit();
        self.values.shrink_to_fit();
    }

    fn bytes(&self) -> usize {
        vec_bytes(&self.entities) + vec_bytes(&self.values)
    }
}

impl<S: SparseComponent> Notes<S> for SetNotes<S> {
    fn gain(&mut self, entity: Entity, value: &S) {
        self.gained.push(entity, value.logged());
    }

    fn lose(&mut self, entity: Entity, value: &S) {
        self.lost.push(entity, value.logged());
    }

    fn combine<'v>(&mut self, value: &dyn Fn(Entity) -> Option<&'v S>)
    where
        S: 'v,
    {
        self.drop_overwritten();
        for (&entity, gained) in self.gained.entities.iter().zip(&mut self.gained.values) {
            // A value that came and stayed may have been overwritten later.
            *gained = value(entity).map_or(*gained, S::logged);
        }
    }

    fn record(&mut self, logs: &mut Logs) -> bool {
        let (gained, lost) =
            (self.gained.record::<S>(&mut logs.gained), self.lost.record::<S>(&mut logs.lost));
        gained || lost
    }

    fn clear(&mut self) {
        self.gained.clear();
        self.lost.clear();
    }

    fn shrink(&mut self) {
        self.gained.shrink();
        self.lost.shrink();
    }

    fn bytes(&self) -> usize {
        self.gained.bytes() + self.lost.bytes()
    }
}

impl<S: SparseComponent> SetNotes<S> {
    /// Drops the losses and the gains of an entity that undo each other.
    fn drop_overwritten(&mut self) {
        if self.gained.entities.is_empty() || self.lost.entities.is_empty() {
            return;
        }
        let (mut losses, mut gains) = (FxHashMap::default(), FxHashMap::default());
        self.lost.entities.iter().for_each(|&entity| *losses.entry(entity).or_insert(0) += 1);
        self.gained.entities.iter().for_each(|&entity| *gains.entry(entity).or_insert(0) += 1);
        // Losses and gains of an entity alternate. If it has more losses by one, the first is the
        // effect, of the value that it had before; if it has more gains by one, the last is.
        let count = |of: &FxHashMap<Entity, u32>, entity| of.get(&entity).copied().unwrap_or(0);
        let (mut seen_losses, mut seen_gains) = (FxHashMap::default(), FxHashMap::default());
        self.lost.retain(|entity| {
            let seen = seen_losses.entry(entity).or_insert(0u32);
            *seen += 1;
            *seen == 1 && count(&losses, entity) > count(&gains, entity)
        });
        self.gained.retain(|entity| {
            let seen = seen_gains.entry(entity).or_insert(0u32);
            *seen += 1;
            *seen == count(&gains, entity) && *seen > count(&losses, entity)
        });
    }
}

impl<S: SparseComponent> fmt::Debug for SetNotes<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [gained, lost] = [&self.gained, &self.lost].map(|list| list.entities.len());
        f.debug_struct("SetNotes").field("gained", &gained).field("lost", &lost).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Value;

    impl SparseComponent for Value {
        const NAME: &'static str = "value";
        type Logged = ();
        fn logged(&self) {}
    }

    fn id(index: u32) -> Entity {
        Entity::new(index, 1)
    }

    /// The notes that are left of some losses (`false`) and gains (`true`).
    fn combined(notes: &[(u32, bool)]) -> (Vec<u32>, Vec<u32>) {
        let mut all = SetNotes::<Value>::default();
        for &(index, is_gain) in notes {
            if is_gain { all.gain(id(index), &Value) } else { all.lose(id(index), &Value) }
        }
        all.combine(&|_| None);
        let indices = |list: &NoteList<()>| {
            assert_eq!(list.entities.len(), list.values.len(), "a value for each entity");
            list.entities.iter().map(|entity| entity.index()).collect()
        };
        (indices(&all.lost), indices(&all.gained))
    }

    #[test]
    fn the_combined_effect_is_the_difference_of_before_and_after() {
        assert_eq!(combined(&[(1, false), (2, true), (1, true)]), (vec![], vec![2]));
        assert_eq!(combined(&[(1, true), (2, false), (1, false)]), (vec![2], vec![]));
        let lost_again = [(1, false), (1, true), (1, false), (2, false)];
        assert_eq!(combined(&lost_again), (vec![1, 2], vec![]));
        let gained_again = [(1, true), (2, true), (1, false), (1, true)];
        assert_eq!(combined(&gained_again), (vec![], vec![2, 1]));
    }
}

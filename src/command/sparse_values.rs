//! The sparse parts of recorded commands: values of any type, in the order of recording.
//!
//! ```text
//!  records      0 spawn e   1 change f   2 change e   3 despawn f    bytes of columns: the arena
//!                   │                        │
//!  sparse parts   of 0 ── put Name        of 2 ── drop Name, put Burning
//! ```
//!
//! A command with sparse components is a record like any other, with the columns of its bundles, so
//! that it is merged, refused and reported like any other. Its sparse part is played when the
//! records up to the next barrier are played, if the entity is alive then. The effect is the same:
//! no record but the last despawn of an entity decides whether it is alive at the barrier. Where a
//! relation may decide, [`related_runs`](super::related_runs) plays parts before each despawn.
//!
//! A batch is a barrier, and keeps the parts of its rows.
//!
//! Values are moved to a queue of their type, and from there to the world. Those that are never
//! played are dropped with the buffer, when it is cleared, or when their command fails.

use core::any::{Any, TypeId};
use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::component::{ManyRelation, SparseBundle, Targets};
use crate::entity::Entity;
use crate::spare::vec_bytes;
use crate::store::{FirstPanic, PendingLists, RelationError, Store};

/// A sparse part of a record.
#[derive(Clone, Copy, Debug)]
struct ValuesPart {
    record: usize,
    queue: usize,
}

/// The sparse parts of the records of a buffer.
#[derive(Default)]
pub(super) struct SparseValues {
    /// In ascending order of records.
    parts: Vec<ValuesPart>,
    /// One for each pair of removed and added bundles. Kept when the buffer is emptied.
    queues: Vec<Box<dyn Queue>>,
    by_type: FxHashMap<TypeId, usize>,
    /// The last queue looked up: loops record the same one repeatedly.
    last: Option<(TypeId, usize)>,
    /// The number of parts that have been played.
    played: usize,
    /// Scratch memory.
    targets: Vec<Entity>,
}

impl fmt::Debug for SparseValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SparseValues").field("parts", &self.parts.len()).finish_non_exhaustive()
    }
}

impl SparseValues {
    /// Adds the part of a record that drops `R` and then puts `added`.
    #[inline]
    pub(super) fn push<R: SparseBundle, A: SparseBundle>(&mut self, record: usize, added: A) {
        let queue: &mut QueueOf<R, A> = self.queue_for(record, TypeId::of::<(R, A)>());
        queue.values.push_back(added);
    }

    /// Adds the part of a record that removes one pair of a relation to many.
    pub(super) fn push_pair<R: ManyRelation>(&mut self, record: usize, target: Entity) {
        let queue: &mut PairQueue<R> = self.queue_for(record, TypeId::of::<PairQueue<R>>());
        queue.targets.push_back(target);
    }

    /// Adds a part of a record, and returns the queue for its value.
    #[inline]
    fn queue_for<Q: Queue + Default>(&mut self, record: usize, key: TypeId) -> &mut Q {
        let queue = match self.last {
            Some((last, queue)) if last == key => queue,
            _ => self.queue_of(key, || Box::<Q>::default()),
        };
        self.parts.push(ValuesPart { record, queue });
        let queue: &mut dyn Any = &mut *self.queues[queue];
        queue.downcast_mut().expect("a queue is of another type")
    }

    fn queue_of(&mut self, key: TypeId, new: impl FnOnce() -> Box<dyn Queue>) -> usize {
        let queue = *self.by_type.entry(key).or_insert_with(|| {
            self.queues.push(new());
            self.queues.len() - 1
        });
        self.last = Some((key, queue));
        queue
    }

    /// Whether no part is recorded.
    pub(super) const fn is_unused(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether a part may make or remove a relation.
    pub(super) fn have_relations(&self) -> bool {
        self.queues.iter().any(|queue| queue.has_relations())
    }

    /// Whether all parts have been played.
    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.played == self.parts.len()
    }

    /// Plays the parts of some records, the first that are not played yet. `entity_of` has the
    /// entity of a record that is not refused. Records of entities that are not alive have no
    /// effect: their values are dropped. Returns the relations that are refused, each with its
    /// record.
    pub(super) fn play(
        &mut self,
        store: &mut Store,
        records: Range<usize>,
        entity_of: impl Fn(usize) -> Option<Entity>,
        panic: &mut FirstPanic,
    ) -> Vec<(usize, RelationError)> {
        let Self { parts, queues, played, targets, .. } = self;
        let mut refused = Vec::new();
        let len = parts[*played..].partition_point(|part| part.record < records.end);
        if len == 0 {
            return refused;
        }
        // Readers of changes know the versions so far.
        store.advance_clock();
        // Parts of one queue that follow each other are one call: a part changes sets only, so all
        // of them may be asked for before the first.
        for run in parts[*played..][..len].chunk_by(|a, b| a.queue == b.queue) {
            *played += run.len();
            let queue = &mut *queues[run[0].queue];
            let only_drops = queue.only_drops();
            // An entity that is gone has sparse cleanup components.
            let has_effect =
                |&entity: &Entity| store.contains(entity) || only_drops && store.is_gone(entity);
            let target = |part: &ValuesPart| entity_of(part.record).filter(has_effect);
            targets.clear();
            targets.extend(run.iter().map(|part| target(part).unwrap_or(Entity::NULL)));
            let errors = queue.play(store, targets, panic);
            refused.extend(errors.into_iter().map(|(n, error)| (run[n].record, error)));
        }
        refused
    }

    /// Moves the parts of another buffer, which has `records` records before its own, to the end of
    /// this one.
    pub(super) fn append(&mut self, other: &mut Self, records: usize) {
        if other.parts.is_empty() {
            return;
        }
        let mut translated = vec![0; other.queues.len()];
        for (&key, &theirs) in &other.by_type {
            let queue = &mut *other.queues[theirs];
            let ours = self.queue_of(key, || queue.new_of_type());
            self.queues[ours].append(queue);
            translated[theirs] = ours;
        }
        self.parts.extend(other.parts.drain(..).map(|part| ValuesPart {
            record: part.record + records,
            queue: translated[part.queue],
        }));
    }

    /// Drops all values.
    pub(super) fn clear_caught(&mut self, panic: &mut FirstPanic) {
        self.parts.clear();
        self.played = 0;
        self.queues.iter_mut().for_each(|queue| queue.clear(panic));
    }

    /// The memory of the parts that are recorded.
    pub(super) fn used_bytes(&self) -> usize {
        size_of_val(&self.parts[..])
            + self.queues.iter().map(|queue| queue.bytes().0).sum::<usize>()
    }

    /// The allocated memory, without memory that the values own.
    pub(super) fn held_bytes(&self) -> usize {
        let lists = vec_bytes(&self.parts) + vec_bytes(&self.targets);
        lists + self.queues.iter().map(|queue| queue.bytes().1).sum::<usize>()
    }

    /// Frees unused memory.
    pub(super) fn shrink(&mut self) {
        self.parts.shrink_to_fit();
        self.targets = Vec::new();
        self.queues.iter_mut().for_each(|queue| queue.shrink());
    }
}

impl Drop for SparseValues {
    /// The destructor of a queue would end the process at the second panic.
    fn drop(&mut self) {
        let mut panic = FirstPanic::default();
        self.clear_caught(&mut panic);
        panic.resume_from_drop();
    }
}

/// The sparse parts of the rows of a batch.
pub(super) trait BatchParts: Send + Sync {
    /// Puts them into the entities of the rows. Returns the relations that are refused, each with
    /// its entity.
    fn put(
        self: Box<Self>,
        store: &mut Store,
        entities: &[Entity],
        panic: &mut FirstPanic,
    ) -> Vec<(Entity, RelationError)>;
    /// The bytes of the parts, and of the allocation.
    fn bytes(&self) -> (usize, usize);
}

impl<S: SparseBundle> BatchParts for PendingLists<S> {
    fn put(
        self: Box<Self>,
        store: &mut Store,
        entities: &[Entity],
        panic: &mut FirstPanic,
    ) -> Vec<(Entity, RelationError)> {
        store.put_accepted_lists(entities, *self, panic)
    }

    fn bytes(&self) -> (usize, usize) {
        Self::bytes(self)
    }
}

/// A queue of any type.
trait Queue: Any + Send + Sync {
    /// Takes the next values, and changes an entity with each, or drops it where the entity is
    /// null. Returns the relations that are refused, each with its place in the list: the entities
    /// do not get these.
    fn play(
        &mut self,
        store: &mut Store,
        targets: &[Entity],
        panic: &mut FirstPanic,
    ) -> Vec<(usize, RelationError)>;
    fn has_relations(&self) -> bool;
    /// Whether no value is put.
    fn only_drops(&self) -> bool;
    fn new_of_type(&self) -> Box<dyn Queue>;
    fn append(&mut self, other: &mut dyn Any);
    fn clear(&mut self, panic: &mut FirstPanic);
    /// The bytes of values, and of the allocation.
    fn bytes(&self) -> (usize, usize);
    fn shrink(&mut self);
}

/// The values of commands that drop `R` and put `A`.
struct QueueOf<R, A> {
    values: VecDeque<A>,
    removed: PhantomData<fn(R)>,
}

impl<R, A> Default for QueueOf<R, A> {
    fn default() -> Self {
        Self { values: VecDeque::new(), removed: PhantomData }
    }
}

impl<R: SparseBundle, A: SparseBundle> Queue for QueueOf<R, A> {
    fn play(
        &mut self,
        store: &mut Store,
        targets: &[Entity],
        panic: &mut FirstPanic,
    ) -> Vec<(usize, RelationError)> {
        let mut refused = Vec::new();
        for (n, &entity) in targets.iter().enumerate() {
            let value = self.values.pop_front().expect("a part has a value");
            if entity.is_null() {
                value.put(panic);
                continue;
            }
            let errors = store.exchange_accepted::<R, A>(entity, value, panic);
            refused.extend(errors.into_iter().map(|error| (n, error)));
        }
        refused
    }

    fn has_relations(&self) -> bool {
        R::HAS_RELATIONS || A::HAS_RELATIONS
    }

    fn only_drops(&self) -> bool {
        A::IS_EMPTY
    }

    fn new_of_type(&self) -> Box<dyn Queue> {
        Box::<Self>::default()
    }

    fn append(&mut self, other: &mut dyn Any) {
        let other: &mut Self = other.downcast_mut().expect("a queue is of another type");
        self.values.append(&mut other.values);
    }

    fn clear(&mut self, panic: &mut FirstPanic) {
        self.values.drain(..).for_each(|value| value.put(panic));
    }

    fn bytes(&self) -> (usize, usize) {
        // The capacity of a queue of values without a size has no limit.
        let size = size_of::<A>();
        let held = if size == 0 { 0 } else { self.values.capacity() * size };
        (self.values.len() * size, held)
    }

    fn shrink(&mut self) {
        self.values.shrink_to_fit();
    }
}

/// The targets of pairs that commands remove.
struct PairQueue<R> {
    targets: VecDeque<Entity>,
    relation: PhantomData<fn(R)>,
}

impl<R> Default for PairQueue<R> {
    fn default() -> Self {
        Self { targets: VecDeque::new(), relation: PhantomData }
    }
}

impl<R: ManyRelation> Queue for PairQueue<R> {
    fn play(
        &mut self,
        store: &mut Store,
        sources: &[Entity],
        _: &mut FirstPanic,
    ) -> Vec<(usize, RelationError)> {
        for (&source, target) in sources.iter().zip(self.targets.drain(..sources.len())) {
            if !source.is_null() {
                store.remove_pair::<Targets<R>>(source, target);
            }
        }
        Vec::new()
    }

    fn has_relations(&self) -> bool {
        true
    }

    fn only_drops(&self) -> bool {
        false
    }

    fn new_of_type(&self) -> Box<dyn Queue> {
        Box::<Self>::default()
    }

    fn append(&mut self, other: &mut dyn Any) {
        let other: &mut Self = other.downcast_mut().expect("a queue is of another type");
        self.targets.append(&mut other.targets);
    }

    fn clear(&mut self, _: &mut FirstPanic) {
        self.targets.clear();
    }

    fn bytes(&self) -> (usize, usize) {
        let size = size_of::<Entity>();
        (self.targets.len() * size, self.targets.capacity() * size)
    }

    fn shrink(&mut self) {
        self.targets.shrink_to_fit();
    }
}

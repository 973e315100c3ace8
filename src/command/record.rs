//! Records: commands on single entities, and the barriers between them.

use core::fmt;
use core::panic::Location;
use std::sync::{Mutex, PoisonError};

use crate::archetype::{Bundle, ColumnBundle};
use crate::component::{ManyRelation, SparseBundle, Targets};
use crate::entity::Entity;
use crate::spare::vec_bytes;
use crate::store::{FirstPanic, PendingLists, PendingParts};
use crate::world::World;

use super::arena::{Arena, ValueId};
use super::bundle_kinds::{BundleKindId, BundleKinds};
use super::command_errors::{CommandErrorKind, CommandVerb};
use super::named_change::NamedChange;
use super::named_link::NamedLink;
use super::sparse_values::{BatchParts, SparseValues};
use super::switches::Switches;

/// The source location that recorded a command.
pub(super) type CallSite = &'static Location<'static>;

/// The effect of a record on its entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordKind {
    /// Spawns it with the bundle of its bundle kind.
    Spawn,
    /// The same, with an id that playback assigns.
    SpawnWithoutId,
    /// Changes its components by its bundle kind.
    Change,
    /// Despawns it.
    Despawn,
}

/// A command on one entity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) entity: Entity,
    pub(super) call_site: CallSite,
    pub(super) value: ValueId,
    pub(super) bundle_kind: BundleKindId,
    pub(super) kind: RecordKind,
}

const _: () = assert!(size_of::<Record>() <= 24, "a record is 24 bytes, where pointers have 8");

impl Record {
    /// The verb that an error reports.
    pub(super) fn verb(&self, bundle_kinds: &BundleKinds) -> CommandVerb {
        match self.kind {
            RecordKind::Spawn | RecordKind::SpawnWithoutId => CommandVerb::Spawn,
            RecordKind::Change | RecordKind::Despawn => bundle_kinds.get(self.bundle_kind).verb(),
        }
    }
}

/// A command on the world, between two runs of records.
pub(super) struct Barrier {
    /// The number of records before it.
    pub(super) after: usize,
    pub(super) call_site: CallSite,
    pub(super) kind: BarrierKind,
}

impl Barrier {
    /// The number of commands that it stands for.
    const fn commands(&self) -> usize {
        match &self.kind {
            BarrierKind::Switches { switches, .. } => switches.list.len(),
            _ => 1,
        }
    }

    /// The bytes of its list, and of the allocation.
    fn list_bytes(&self) -> (usize, usize) {
        match &self.kind {
            BarrierKind::Switches { switches, .. } => {
                (size_of_val(&switches.list[..]), vec_bytes(&switches.list))
            }
            BarrierKind::Batch { parts: Some(parts), .. } => parts.bytes(),
            BarrierKind::Named { change, .. } => (change.bytes(), change.bytes()),
            BarrierKind::Link { link, .. } => (link.bytes(), link.bytes()),
            _ => (0, 0),
        }
    }
}

/// A change by query, with the bytes of its value. Returns the number of entities changed.
pub(super) type ByQuery = fn(&mut World, &[u8]) -> Result<usize, CommandErrorKind>;

/// A closure that is called at playback. The lock is never taken: it lets threads share a buffer
/// despite its closures, so that `OneRecorder` is the only reason why they cannot.
pub(super) struct Deferred<R>(Mutex<Closure<R>>);

type Closure<R> = Box<dyn FnOnce(&mut World) -> R + Send>;

impl<R> Deferred<R> {
    pub(super) fn new(closure: impl FnOnce(&mut World) -> R + Send + 'static) -> Self {
        Self(Mutex::new(Box::new(closure)))
    }

    pub(super) fn call(self, world: &mut World) -> R {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)(world)
    }
}

/// A change that is a closure. Returns the number of entities that it changed by query.
pub(super) type DeferredChange = Deferred<Result<usize, CommandErrorKind>>;

/// The effect of a barrier.
pub(super) enum BarrierKind {
    /// Spawns rows of one bundle kind. Their values are consecutive.
    Batch {
        bundle_kind: BundleKindId,
        rows: usize,
        value: ValueId,
        parts: Option<Box<dyn BatchParts>>,
    },
    /// Changes the entities that a query matches.
    ByQuery { verb: CommandVerb, bundle_kind: BundleKindId, value: ValueId, change: ByQuery },
    /// Enables or disables a component of some entities.
    Switches { bundle_kind: BundleKindId, switches: Switches },
    /// Calls a closure that changes an entity, or the entities that a query matches.
    Change { verb: CommandVerb, entity: Entity, change: DeferredChange },
    /// Changes an entity by the names of components.
    Named { entity: Entity, change: NamedChange },
    /// Changes a relation by its name.
    Link { source: Entity, link: Box<NamedLink> },
    /// Runs a closure.
    Run(Deferred<()>),
}

/// Commands in the order of their recording.
#[derive(Default)]
pub(super) struct Recorder {
    pub(super) records: Vec<Record>,
    pub(super) barriers: Vec<Barrier>,
    pub(super) values: Arena,
    pub(super) bundle_kinds: BundleKinds,
    /// `None` before the first sparse part: most recorders have none.
    pub(super) sparse: Option<Box<SparseValues>>,
    /// The number of records without an id.
    pub(super) ids_missing: usize,
}

/// Drops barriers one by one: each may have a closure, which has captured values.
pub(super) fn drop_barriers(mut left: impl Iterator<Item = Barrier>, panic: &mut FirstPanic) {
    panic.catch(|| left.by_ref().for_each(drop));
}

/// Drops the commands one by one: the destructor of a list would end the process at the second
/// panic of a captured value.
impl Drop for Recorder {
    fn drop(&mut self) {
        let mut panic = FirstPanic::default();
        self.clear_caught(&mut panic);
        panic.resume_from_drop();
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("commands", &self.len())
            .field("bytes", &self.values.bytes().len())
            .finish_non_exhaustive()
    }
}

impl Recorder {
    /// The number of commands. O(barriers).
    pub(super) fn len(&self) -> usize {
        self.records.len() + self.barriers.iter().map(Barrier::commands).sum::<usize>()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.records.is_empty() && self.barriers.is_empty()
    }

    /// Records the sparse part of the next record: it drops `R` and puts `added`.
    #[inline]
    fn push_sparse<R: SparseBundle, A: SparseBundle>(&mut self, added: A) {
        if const { !(R::IS_EMPTY && A::IS_EMPTY) } {
            let sparse = self.sparse.get_or_insert_default();
            sparse.push::<R, A>(self.records.len(), added);
        }
    }

    #[inline]
    pub(super) fn spawn<B: Bundle>(&mut self, entity: Entity, bundle: B, call_site: CallSite) {
        let (columns, sparse) = PendingParts::split(bundle);
        let (bundle_kind, value) = (self.bundle_kinds.id::<(), B>(), self.values.push(&columns));
        let kind = RecordKind::Spawn;
        self.push_sparse::<(), _>(sparse.take());
        self.records.push(Record { entity, call_site, value, bundle_kind, kind });
    }

    #[inline]
    pub(super) fn spawn_without_id<B: Bundle>(&mut self, bundle: B, call_site: CallSite) {
        let (columns, sparse) = PendingParts::split(bundle);
        let (bundle_kind, value) = (self.bundle_kinds.id::<(), B>(), self.values.push(&columns));
        let (entity, kind) = (Entity::NULL, RecordKind::SpawnWithoutId);
        self.push_sparse::<(), _>(sparse.take());
        self.records.push(Record { entity, call_site, value, bundle_kind, kind });
        self.ids_missing += 1;
    }

    #[inline]
    pub(super) fn change<R: Bundle, A: Bundle>(
        &mut self,
        entity: Entity,
        added: A,
        call_site: CallSite,
    ) {
        let (columns, sparse) = PendingParts::split(added);
        let (bundle_kind, value) = (self.bundle_kinds.id::<R, A>(), self.values.push(&columns));
        let kind = RecordKind::Change;
        self.push_sparse::<R::Sparse, _>(sparse.take());
        self.records.push(Record { entity, call_site, value, bundle_kind, kind });
    }

    pub(super) fn remove_pair<R: ManyRelation>(
        &mut self,
        source: Entity,
        target: Entity,
        call_site: CallSite,
    ) {
        self.sparse.get_or_insert_default().push_pair::<R>(self.records.len(), target);
        // The kind is that of a removal of the relation, which has no column: it names the command.
        let (bundle_kind, value) =
            (self.bundle_kinds.id::<Targets<R>, ()>(), self.values.push(&()));
        let (entity, kind) = (source, RecordKind::Change);
        self.records.push(Record { entity, call_site, value, bundle_kind, kind });
    }

    #[inline]
    pub(super) fn despawn(&mut self, entity: Entity, call_site: CallSite) {
        let (bundle_kind, value) = (BundleKindId::default(), ValueId::default());
        let kind = RecordKind::Despawn;
        self.records.push(Record { entity, call_site, value, bundle_kind, kind });
    }

    /// If the iterator panics, no command is recorded.
    pub(super) fn spawn_batch<I>(&mut self, bundles: I, call_site: CallSite)
    where
        I: IntoIterator,
        I::Item: Bundle,
    {
        let (bundle_kind, value) = (self.bundle_kinds.id::<(), I::Item>(), self.values.end());
        let is_sparse = const { !<<I::Item as Bundle>::Sparse as SparseBundle>::IS_EMPTY };
        let (mut rows, mut parts) = (0, PendingLists::default());
        for bundle in bundles {
            let (columns, sparse) = bundle.split();
            self.values.push(&columns);
            parts.push(sparse);
            rows += 1;
        }
        if rows > 0 {
            let parts = is_sparse.then(|| Box::new(parts) as _);
            self.push(BarrierKind::Batch { bundle_kind, rows, value, parts }, call_site);
        }
    }

    pub(super) fn by_query<R: ColumnBundle, A: ColumnBundle>(
        &mut self,
        verb: CommandVerb,
        added: &A,
        change: ByQuery,
        call_site: CallSite,
    ) {
        let bundle_kind = self.bundle_kinds.id_of_columns::<R, A>();
        let value = self.values.push(added);
        self.push(BarrierKind::ByQuery { verb, bundle_kind, value, change }, call_site);
    }

    pub(super) fn push(&mut self, kind: BarrierKind, call_site: CallSite) {
        self.barriers.push(Barrier { after: self.records.len(), call_site, kind });
    }

    /// Moves the commands of another recorder to the end of this one.
    pub(super) fn append(&mut self, other: &mut Self) {
        let translated = self.bundle_kinds.translate(&other.bundle_kinds);
        let translate = |id: BundleKindId| translated.get(id.index()).copied().unwrap_or_default();
        let (bytes, records) = (self.values.bytes().len(), self.records.len());
        self.values.append(&mut other.values);
        if let Some(sparse) = &mut other.sparse {
            self.sparse.get_or_insert_default().append(sparse, records);
        }
        self.records.extend(other.records.drain(..).map(|record| Record {
            value: record.value.offset(bytes),
            bundle_kind: translate(record.bundle_kind),
            ..record
        }));
        self.barriers.extend(other.barriers.drain(..).map(|barrier| {
            let kind = match barrier.kind {
                BarrierKind::Batch { bundle_kind, rows, value, parts } => BarrierKind::Batch {
                    bundle_kind: translate(bundle_kind),
                    rows,
                    value: value.offset(bytes),
                    parts,
                },
                BarrierKind::ByQuery { verb, bundle_kind, value, change } => BarrierKind::ByQuery {
                    verb,
                    bundle_kind: translate(bundle_kind),
                    value: value.offset(bytes),
                    change,
                },
                BarrierKind::Switches { bundle_kind, switches } => {
                    BarrierKind::Switches { bundle_kind: translate(bundle_kind), switches }
                }
                kind @ (BarrierKind::Change { .. }
                | BarrierKind::Named { .. }
                | BarrierKind::Link { .. }
                | BarrierKind::Run(_)) => kind,
            };
            Barrier { after: barrier.after + records, call_site: barrier.call_site, kind }
        }));
        self.ids_missing += core::mem::take(&mut other.ids_missing);
    }

    /// The memory of the recorded commands, without closures.
    pub(super) fn used_bytes(&self) -> usize {
        let lists = self.barriers.iter().map(|barrier| barrier.list_bytes().0);
        size_of_val(&self.records[..])
            + size_of_val(&self.barriers[..])
            + lists.sum::<usize>()
            + self.values.bytes().len()
            + self.sparse.as_ref().map_or(0, |sparse| sparse.used_bytes())
    }

    /// The allocated memory, without closures and bundle kinds.
    pub(super) fn held_bytes(&self) -> usize {
        let of_barriers = self.barriers.iter().map(|barrier| barrier.list_bytes().1);
        let lists = vec_bytes(&self.records) + vec_bytes(&self.barriers);
        let sparse = self.sparse.as_ref().map_or(0, |sparse| sparse.held_bytes());
        lists + of_barriers.sum::<usize>() + self.values.held_bytes() + sparse
    }

    /// Frees unused memory.
    pub(super) fn shrink(&mut self) {
        self.records.shrink_to_fit();
        self.barriers.shrink_to_fit();
        self.values.shrink();
        self.sparse = self.sparse.take().filter(|sparse| !sparse.is_unused());
        self.sparse.iter_mut().for_each(|sparse| sparse.shrink());
    }

    /// Discards all commands. Bundle kinds and memory are kept.
    ///
    /// # Panics
    ///
    /// If a destructor of a sparse value, or of a value that a closure has captured, panics. All
    /// commands are discarded.
    pub(super) fn clear(&mut self) {
        let mut panic = FirstPanic::default();
        self.clear_caught(&mut panic);
        panic.resume();
    }

    /// [`Recorder::clear`] that keeps the panic.
    pub(super) fn clear_caught(&mut self, panic: &mut FirstPanic) {
        self.records.clear();
        self.values.clear();
        self.ids_missing = 0;
        if !self.barriers.is_empty() {
            drop_barriers(self.barriers.drain(..), panic);
        }
        if let Some(sparse) = &mut self.sparse {
            sparse.clear_caught(panic);
        }
    }
}

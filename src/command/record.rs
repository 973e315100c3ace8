//! BarrierKind was recorded: commands on entities, one small record each, and the deeds between them.

use core::fmt;
use core::panic::Location;

use crate::bundle::Bundle;
use crate::entity::Entity;
use crate::world::World;

use super::arena::{Arena, ValueId};
use super::bundle_kinds::{BundleKinds, KindId};
use super::error::{CommandFault, CommandVerb};

/// The place in the source that recorded a command.
pub(super) type CallSite = &'static Location<'static>;

/// BarrierKind a record does to its entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordKind {
    /// Brings it to life with the bundle of its kind.
    Spawn,
    /// The same, under an id that playback gives.
    SpawnUnnamed,
    /// Changes its components as its kind says.
    Change,
    /// Ends its life.
    Despawn,
}

/// A command on one entity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) entity: Entity,
    pub(super) place: CallSite,
    pub(super) value: ValueId,
    pub(super) kind: KindId,
    pub(super) verb: RecordKind,
}

const _: () = assert!(size_of::<Record>() <= 24, "a record is 24 bytes, where pointers have 8");

/// BarrierKind is done to the world between two runs of records.
pub(super) struct Barrier {
    /// It follows this many records.
    pub(super) after: usize,
    pub(super) place: CallSite,
    pub(super) what: BarrierKind,
}

/// A change by query, of the value whose bytes are given: it returns how many entities it changed.
pub(super) type ByQuery = fn(&mut World, &[u8]) -> Result<usize, CommandFault>;

/// One deed.
pub(super) enum BarrierKind {
    /// Spawns rows of a kind, whose values follow one another.
    Batch { kind: KindId, rows: usize, value: ValueId },
    /// Changes what a query matches.
    ByQuery { verb: CommandVerb, kind: KindId, value: ValueId, change: ByQuery },
    /// Runs a closure.
    Run(Box<dyn FnOnce(&mut World) + Send>),
}

/// Commands in the order of their recording.
#[derive(Default)]
pub(super) struct Recorder {
    pub(super) records: Vec<Record>,
    pub(super) deeds: Vec<Barrier>,
    pub(super) values: Arena,
    pub(super) kinds: BundleKinds,
    /// How many records wait for an id.
    pub(super) unnamed: usize,
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
    pub(super) const fn len(&self) -> usize {
        self.records.len() + self.deeds.len()
    }

    #[inline]
    pub(super) fn spawn<B: Bundle>(&mut self, entity: Entity, bundle: &B, place: CallSite) {
        let (kind, value) = (self.kinds.id::<(), B>(), self.values.push(bundle));
        self.records.push(Record { entity, place, value, kind, verb: RecordKind::Spawn });
    }

    #[inline]
    pub(super) fn spawn_unnamed<B: Bundle>(&mut self, bundle: &B, place: CallSite) {
        let (kind, value) = (self.kinds.id::<(), B>(), self.values.push(bundle));
        let (entity, verb) = (Entity::NULL, RecordKind::SpawnUnnamed);
        self.records.push(Record { entity, place, value, kind, verb });
        self.unnamed += 1;
    }

    #[inline]
    pub(super) fn change<R: Bundle, A: Bundle>(
        &mut self,
        entity: Entity,
        added: &A,
        place: CallSite,
    ) {
        let (kind, value) = (self.kinds.id::<R, A>(), self.values.push(added));
        self.records.push(Record { entity, place, value, kind, verb: RecordKind::Change });
    }

    #[inline]
    pub(super) fn despawn(&mut self, entity: Entity, place: CallSite) {
        let (kind, value) = (KindId::default(), ValueId::default());
        self.records.push(Record { entity, place, value, kind, verb: RecordKind::Despawn });
    }

    /// Records nothing if the iterator panics.
    pub(super) fn spawn_batch<I>(&mut self, bundles: I, place: CallSite)
    where
        I: IntoIterator,
        I::Item: Bundle,
    {
        let (kind, value) = (self.kinds.id::<(), I::Item>(), self.values.end());
        let mut rows = 0;
        for bundle in bundles {
            self.values.push(&bundle);
            rows += 1;
        }
        if rows > 0 {
            self.push(BarrierKind::Batch { kind, rows, value }, place);
        }
    }

    pub(super) fn by_query<R: Bundle, A: Bundle>(
        &mut self,
        verb: CommandVerb,
        added: &A,
        change: ByQuery,
        place: CallSite,
    ) {
        let (kind, value) = (self.kinds.id::<R, A>(), self.values.push(added));
        self.push(BarrierKind::ByQuery { verb, kind, value, change }, place);
    }

    pub(super) fn push(&mut self, what: BarrierKind, place: CallSite) {
        self.deeds.push(Barrier { after: self.records.len(), place, what });
    }

    /// ChangeLog the commands of another recorder behind these.
    pub(super) fn append(&mut self, other: &mut Self) {
        let kinds = self.kinds.translate(&other.kinds);
        let kind = |id: KindId| kinds.get(id.index()).copied().unwrap_or_default();
        let (bytes, records) = (self.values.bytes().len(), self.records.len());
        self.values.append(&mut other.values);
        self.records.extend(other.records.drain(..).map(|record| Record {
            value: record.value.behind(bytes),
            kind: kind(record.kind),
            ..record
        }));
        self.deeds.extend(other.deeds.drain(..).map(|deed| {
            let what = match deed.what {
                BarrierKind::Batch { kind: id, rows, value } => {
                    BarrierKind::Batch { kind: kind(id), rows, value: value.behind(bytes) }
                }
                BarrierKind::ByQuery { verb, kind: id, value, change } => BarrierKind::ByQuery {
                    verb,
                    kind: kind(id),
                    value: value.behind(bytes),
                    change,
                },
                what @ BarrierKind::Run(_) => what,
            };
            Barrier { after: deed.after + records, place: deed.place, what }
        }));
        self.unnamed += core::mem::take(&mut other.unnamed);
    }

    /// Forgets all commands. BundleKinds stay known, and memory stays.
    pub(super) fn clear(&mut self) {
        self.records.clear();
        self.values.clear();
        self.unnamed = 0;
        // Last: what a closure has captured may panic when it is dropped.
        self.deeds.clear();
    }
}

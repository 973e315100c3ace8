//! The command buffer.

use core::fmt;
use core::panic::Location;

use crate::archetype::{Bundle, assert_distinct};
use crate::entity::{Entity, OutOfIds, RequestLimit, ReserveError};
use crate::query::OneRecorder;
use crate::spare::{IdleRuns, vec_bytes};
use crate::store::PendingParts;
use crate::world::{World, WorldId};

use super::command_errors::DeadEntityPolicy;
use super::command_writer::CommandWriter;
use super::id_supply::IdSupply;
use super::record::{BarrierKind, CallSite, Deferred, Record, RecordKind, Recorder};
use super::scratch::PlaybackScratch;

/// Structural changes that are recorded now and applied later, all at once.
///
/// A query borrows its world, so the structure of the matched archetypes cannot change during the
/// iteration. Record the changes, and apply them afterwards:
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// # #[component] struct Ghost { of: Entity }
/// let mut world = World::new();
/// world.spawn_batch([Health(1.0), Health(0.0), Health(2.0)]);
/// let mut buffer = world.command_buffer(16)?;
/// for (entity, health) in world.query::<(Entity, &Health)>().rows() {
///     if health.0 <= 0.0 {
///         let ghost = buffer.spawn(Ghost { of: entity }); // its id is usable at once
///         buffer.insert(entity, Ghost { of: ghost });
///         buffer.remove::<Health>(entity);
///     }
/// }
/// let applied = world.apply(&mut buffer)?;
/// assert_eq!((applied.spawned, applied.moved), (1, 1)); // one move for two changes
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Playback
///
/// After playback the world is as if each command had been executed separately, in the order of
/// recording, except for the order of rows in their archetypes and of values in the sets of [sparse
/// components](crate::component#sparse-components). Playback does less work: all changes of one
/// entity between two *barriers* are merged, so that its row moves once, or a new row is written
/// once. Components that are inserted and removed again leave no trace, and of two values the last
/// one wins. Barriers are the commands on more than one entity: [`spawn_batch`](Self::spawn_batch),
/// the changes by query, and [`run`](Self::run); and [`set_enabled`](Self::set_enabled), and
/// commands that name components by text, as [`insert_named`](Self::insert_named) does. The
/// commands of an entity that is despawned and has [cleanup
/// components](crate::component#cleanup-components) are played one by one. Merging has three
/// consequences:
///
/// * these commands share one version: all commands between two barriers, if all are despawns;
///   spawns, or changes, that follow each other, have equal component types and are of different
///   entities, which are written or moved column by column, with less work than direct calls; and
///   in a world without sparse components, despawns that follow each other;
/// * only the final row of an entity must fit a chunk, not the intermediate ones;
/// * a component that is removed and inserted again is overwritten in place.
///
/// The components of an entity never make a command fail: `remove` removes those that are present,
/// and `set_enabled` switches one that is present. The buffer's [policy](Self::on_dead_entity)
/// decides about commands on entities that are not alive. A command fails alone with
/// [`CommandErrorKind::NameTaken`](crate::command::CommandErrorKind::NameTaken) if a component type
/// of it has the name of another type in the world. If two types with one name are new to the
/// world, the one recorded first gets the name.
///
/// # Ids
///
/// A buffer takes the ids for its spawns from the world in advance, on loan, so that they can be
/// used immediately: as targets of later commands, inside the values of components, anywhere. The
/// entities are alive, and `world.contains` is true, after playback, which also replaces the used
/// ids. A buffer that is dropped, on any thread, returns its unused ids at once; ids that it handed
/// out are never used again. Afterwards the order of the free ids may be different.
///
/// # Commands in parallel
///
/// One thread records into a buffer. [`par_writers`](Self::par_writers) gives each chunk of a query
/// its own writer, for any number of threads; their commands are applied in the order of the
/// chunks.
///
/// # Cost
///
/// Recording appends 24 bytes and the value, and 16 bytes more for [sparse
/// components](crate::component#sparse-components). Playback costs the same as the merged changes,
/// called separately. A buffer keeps its memory, so that a reused buffer does not allocate, except
/// for the closures of [`run`](Self::run) and [`retain_where`](Self::retain_where), for batches
/// with sparse components, and for names that are text; [`compact`](Self::compact) gives the memory
/// back.
pub struct CommandBuffer {
    pub(super) world: WorldId,
    pub(super) recorder: Recorder,
    pub(super) ids: IdSupply,
    pub(super) on_dead_entity: DeadEntityPolicy,
    pub(super) scratch: PlaybackScratch,
    /// Empty writers of the last parallel recording, for the next one.
    pub(super) writers: Vec<CommandWriter>,
    /// The memory that one call may allocate.
    pub(super) requests: RequestLimit,
    idle: IdleRuns,
    one_recorder: OneRecorder,
}

/// Writes the numbers of recorded commands and remaining ids, and the policy.
impl fmt::Debug for CommandBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandBuffer")
            .field("commands", &self.len())
            .field("ids", &self.ids.left())
            .field("on_dead_entity", &self.on_dead_entity)
            .finish_non_exhaustive()
    }
}

/// # Commands
impl World {
    /// Creates a buffer for this world's commands. It can spawn `ids` entities with ids that are
    /// usable at once. O(ids).
    ///
    /// # Errors
    ///
    /// [`ReserveError`] if fewer ids are left, or if they would need more memory than one call may
    /// allocate. The world is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let mut buffer = world.command_buffer(1)?;
    /// let entity = buffer.spawn(());
    /// assert!(!world.contains(entity));
    /// world.apply(&mut buffer).unwrap();
    /// assert!(world.contains(entity));
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    pub fn command_buffer(&mut self, ids: u32) -> Result<CommandBuffer, ReserveError> {
        self.flush();
        self.store.entities().requests.ensure_ids(u64::from(ids))?;
        let mut buffer = CommandBuffer::new(self, ids);
        buffer.ids.fill(self)?;
        Ok(buffer)
    }
}

impl CommandBuffer {
    fn new(world: &mut World, ids: u32) -> Self {
        Self {
            world: world.id(),
            recorder: Recorder::default(),
            ids: IdSupply::new(world, ids),
            on_dead_entity: DeadEntityPolicy::default(),
            scratch: PlaybackScratch::default(),
            writers: Vec::new(),
            requests: world.store.entities().requests,
            idle: IdleRuns::default(),
            one_recorder: OneRecorder::default(),
        }
    }

    /// A buffer for a system. It has no ids on loan in advance, and takes them from its share.
    pub(crate) fn for_system(world: &mut World) -> Self {
        Self::new(world, 0)
    }

    /// Returns all ids that are on loan to it or to its commands, whatever world is at hand, but
    /// those of the first `played` commands and `ended`: another buffer may have them on loan by
    /// now.
    pub(super) fn give_ids_back(&mut self, played: usize, mut ended: Vec<Entity>) {
        let (played, left) = self.recorder.records.split_at(played);
        let spawned = |records: &[Record]| -> Vec<Entity> {
            let spawns = records.iter().filter(|record| record.kind == RecordKind::Spawn);
            spawns.map(|record| record.entity).collect()
        };
        ended.extend(spawned(played));
        self.ids.give_back(spawned(left), ended);
    }

    /// Drops all commands, and returns their ids to their world.
    pub(crate) fn discard(&mut self) {
        self.give_ids_back(0, Vec::new());
        self.recorder.clear();
    }

    /// Returns `true` if it was made for this world.
    pub(crate) fn is_of(&self, world: &World) -> bool {
        self.world == world.id()
    }

    /// Sets the policy for changes of entities that are not alive at playback. The default is
    /// [`DeadEntityPolicy::Report`]. The policy is kept when the buffer is emptied; the policy of a
    /// system's [`Commands`](crate::Commands) is kept from run to run.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// let mut buffer = world.command_buffer(0)?;
    /// buffer.insert(Entity::NULL, Health(1.0));
    /// assert!(world.apply(&mut buffer).is_err());
    ///
    /// buffer.on_dead_entity(DeadEntityPolicy::Ignore);
    /// buffer.insert(Entity::NULL, Health(1.0));
    /// assert!(world.apply(&mut buffer).is_ok());
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    pub const fn on_dead_entity(&mut self, policy: DeadEntityPolicy) {
        self.on_dead_entity = policy;
    }

    /// Returns the number of recorded commands. A batch is one.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let mut buffer = world.command_buffer(0)?;
    /// buffer.spawn_batch([(); 100]);
    /// assert_eq!(buffer.len(), 1);
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.recorder.len()
    }

    /// Returns `true` if no command is recorded.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// assert!(world.command_buffer(8)?.is_empty());
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.recorder.is_empty()
    }

    /// Discards the recorded commands. Ids that were handed out are never used again; the next
    /// [`World::apply`] replaces them.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let mut buffer = world.command_buffer(1)?;
    /// let never = buffer.spawn(());
    /// buffer.clear();
    /// world.apply(&mut buffer).unwrap();
    /// assert!(!world.contains(never));
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    pub fn clear(&mut self) {
        self.recorder.clear();
    }

    /// The bytes that the buffer holds, in use or not, without the closures that it has recorded.
    /// O(commands that are no changes of one entity).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// let mut buffer = world.command_buffer(1_000)?;
    /// (0..1_000).for_each(|_| _ = buffer.spawn(Health(1.0)));
    /// world.apply(&mut buffer).unwrap();
    /// assert!(buffer.memory_bytes() > 32_000);
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let writers = self.writers.iter().map(|writer| writer.recorder.held_bytes());
        self.recorder.held_bytes()
            + self.ids.bytes()
            + self.scratch.bytes()
            + vec_bytes(&self.writers)
            + writers.sum::<usize>()
    }

    /// Gives the unused memory of the buffer back, for example after a burst of commands. Recorded
    /// commands and the ids on loan are kept.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let mut buffer = world.command_buffer(0)?;
    /// (0..1_000).for_each(|_| buffer.despawn(Entity::NULL));
    /// buffer.clear();
    /// buffer.compact();
    /// assert_eq!(buffer.memory_bytes(), 0);
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    pub fn compact(&mut self) {
        self.recorder.shrink();
        self.ids.shrink();
        self.scratch.shrink();
        // The next pass clears the writers of a pass that did not end.
        self.writers = Vec::new();
    }

    /// The memory that the recorded commands take.
    pub(crate) fn used_bytes(&self) -> usize {
        self.recorder.used_bytes()
    }

    /// Ends a run whose commands took `used` bytes and were applied: memory that was idle for many
    /// runs is given back.
    pub(crate) fn end_run(&mut self, used: usize) {
        let mut idle = core::mem::take(&mut self.idle);
        if idle.end_run(used, || self.memory_bytes()) {
            self.compact();
        }
        self.idle = idle;
    }

    /// Records the spawn of an entity and returns its id.
    ///
    /// # Panics
    ///
    /// If the buffer has no id left; [`CommandBuffer::try_spawn`] returns an error instead.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Target(Entity);
    /// # let mut world = World::new();
    /// let mut buffer = world.command_buffer(2)?;
    /// let prey = buffer.spawn(());
    /// let hunter = buffer.spawn(Target(prey));
    /// world.apply(&mut buffer).unwrap();
    /// assert_eq!(world.get::<Target>(hunter).unwrap().0, prey);
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn spawn<B: Bundle>(&mut self, bundle: B) -> Entity {
        const { assert_distinct(B::NAMES) };
        match self.spawn_with_id(bundle, Location::caller()) {
            Ok(entity) => entity,
            Err(error) => panic_without_id(error),
        }
    }

    /// [`CommandBuffer::spawn`], which returns an error instead of a panic.
    ///
    /// # Errors
    ///
    /// [`OutOfIds`] if the buffer has no id left. No command is recorded.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let mut buffer = world.command_buffer(1)?;
    /// assert!(buffer.try_spawn(()).is_ok());
    /// assert!(buffer.try_spawn(()).is_err());
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn try_spawn<B: Bundle>(&mut self, bundle: B) -> Result<Entity, OutOfIds> {
        const { assert_distinct(B::NAMES) };
        self.spawn_with_id(bundle, Location::caller())
    }

    #[inline]
    fn spawn_with_id<B: Bundle>(
        &mut self,
        bundle: B,
        call_site: CallSite,
    ) -> Result<Entity, OutOfIds> {
        match self.ids.next() {
            Ok(entity) => {
                self.recorder.spawn(entity, bundle, call_site);
                Ok(entity)
            }
            Err(error) => {
                drop(PendingParts::split(bundle));
                Err(error)
            }
        }
    }

    /// Records the spawn of an entity for each bundle of `bundles`. They get their ids at playback,
    /// so none is needed in advance. A barrier.
    ///
    /// The iterator is exhausted by this call. It must be finite: the number of bytes recorded is
    /// not limited.
    ///
    /// If the iterator panics, no command is recorded.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// let mut buffer = world.command_buffer(0)?;
    /// buffer.spawn_batch((0..1000).map(|i| Health(i as f32)));
    /// world.apply(&mut buffer).unwrap();
    /// assert_eq!(world.len(), 1000);
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    #[track_caller]
    pub fn spawn_batch<I>(&mut self, bundles: I)
    where
        I: IntoIterator,
        I::Item: Bundle,
    {
        const { assert_distinct(<I::Item as Bundle>::NAMES) };
        self.recorder.spawn_batch(bundles, Location::caller());
    }

    /// Records a closure that is called with the world. A barrier: commands recorded before it have
    /// been applied, and commands recorded after it have not.
    ///
    /// If it panics, the rest of the buffer is still applied, and the panic is resumed after that.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let mut buffer = world.command_buffer(1)?;
    /// buffer.spawn(());
    /// buffer.run(|world| assert_eq!(world.len(), 1));
    /// world.apply(&mut buffer).unwrap();
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    #[track_caller]
    pub fn run(&mut self, closure: impl FnOnce(&mut World) + Send + 'static) {
        self.recorder.push(BarrierKind::Run(Deferred::new(closure)), Location::caller());
    }
}

#[cold]
#[track_caller]
fn panic_without_id(error: OutOfIds) -> ! {
    panic!("cannot spawn: {error}")
}

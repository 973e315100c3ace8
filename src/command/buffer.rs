//! The buffer: what is recorded now and applied later.

use core::fmt;
use core::panic::Location;

use crate::bundle::{Bundle, assert_distinct};
use crate::entity::{Entity, RequestLimit, ReserveError, TooMuchMemory};
use crate::world::{World, WorldId};

use super::error::{NoIdLeft, OnDead};
use super::ids::IdSupply;
use super::playback::PlaybackScratch;
use super::record::{BarrierKind, CallSite, Recorder};
use super::writer::{CommandWriter, CommandWriters};

/// Structural changes that are recorded now and applied later, all at once.
///
/// A query borrows its world, so nothing can change the structure of what it walks. Record the
/// changes, and apply them when the walk is over:
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
/// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Ghost { of: Entity }
/// # component!(Health, Ghost);
/// let mut world = World::new();
/// world.spawn_batch([Health(1.0), Health(0.0), Health(2.0)]);
/// let mut buffer = world.command_buffer(16)?;
/// for (entity, health) in world.query::<(Entity, &Health)>().rows() {
///     if health.0 <= 0.0 {
///         let ghost = buffer.spawn(Ghost { of: entity }); // its id is good at once
///         buffer.insert(entity, Ghost { of: ghost });
///         buffer.remove::<Health>(entity);
///     }
/// }
/// let applied = world.apply(&mut buffer)?;
/// assert_eq!((applied.spawned, applied.moved), (1, 1)); // one move for two changes
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # BarrierKind playback does
///
/// The world is afterwards as if each command had been done on its own, in the order of recording,
/// but for the order of rows in their archetypes. On the way it does less: all changes of one entity
/// between two *barriers* are merged, so that its row moves once, or is written once where it will
/// live. Components that come and go again leave no trace, and of two values the last one counts.
/// Barriers are what looks at more than one entity: [`spawn_batch`](Self::spawn_batch), the changes
/// by query, and [`run`](Self::run). Two consequences of merging:
///
/// * only the row that an entity ends up with must fit a chunk, not those on the way;
/// * a component that is taken and given again is overwritten where it is.
///
/// Commands are never errors because of what an entity has: `remove` takes what is there. BarrierKind
/// becomes of commands on entities that do not live is the buffer's [policy](Self::on_dead). A
/// command that names a component type whose name another type has in the world fails alone, with
/// [`CommandFault::NameTaken`](crate::CommandFault::NameTaken); of two types that the world has not
/// met, it takes the one that was recorded first.
///
/// # Ids
///
/// Ids for the spawns are lent in advance, so that they are good when recorded: as targets of later
/// commands, inside the values of components, anywhere. The entities live from playback on;
/// `world.contains` says so. Playback lends again as many as were used. A buffer that is dropped,
/// on any thread, gives its ids back at once; the world uses those that it handed out never again.
/// The free ids may come in another order afterwards.
///
/// # Commands in parallel
///
/// A buffer is recorded into by one thread. [`par`](Self::par) gives each chunk of a query a writer
/// of its own, for any number of threads; what they record is applied in the order of the chunks.
///
/// # Cost
///
/// Recording appends 24 bytes and the value. Playback costs what the merged changes cost one by
/// one. A buffer keeps its memory, so that one that is used again and again allocates nothing,
/// but for the closures of [`run`](Self::run).
pub struct CommandBuffer {
    pub(super) world: WorldId,
    pub(super) recorder: Recorder,
    pub(super) ids: IdSupply,
    pub(super) on_dead: OnDead,
    pub(super) memory: PlaybackScratch,
    /// Writers of the last parallel recording, empty, for the next one.
    pub(super) writers: Vec<CommandWriter>,
    /// The memory that one call may take.
    pub(super) requests: RequestLimit,
}

/// How much is recorded, and how much more can be.
impl fmt::Debug for CommandBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandBuffer")
            .field("commands", &self.len())
            .field("ids", &self.ids.left())
            .field("on_dead", &self.on_dead)
            .finish_non_exhaustive()
    }
}

impl World {
    /// A buffer for this world's commands, which can spawn `ids` entities with ids that are good at
    /// once. O(ids).
    ///
    /// # Errors
    ///
    /// [`ReserveError`] if fewer ids are left, or if they would take more memory than one call may.
    /// The world is as it was.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let mut buffer = world.command_buffer(1)?;
    /// let entity = buffer.spawn(());
    /// assert!(!world.contains(entity));
    /// world.apply(&mut buffer).unwrap();
    /// assert!(world.contains(entity));
    /// # Ok::<(), phalanx::ReserveError>(())
    /// ```
    pub fn command_buffer(&mut self, ids: u32) -> Result<CommandBuffer, ReserveError> {
        self.flush();
        self.store.entities.requests.ensure_ids(u64::from(ids))?;
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
            on_dead: OnDead::default(),
            memory: PlaybackScratch::default(),
            writers: Vec::new(),
            requests: world.store.entities.requests,
        }
    }

    /// A buffer for a system. No ids are lent to it in advance: it takes what it needs from its
    /// lane.
    pub(crate) fn for_system(world: &mut World) -> Self {
        Self::new(world, 0)
    }

    /// Whether it was made for this world.
    pub(crate) fn is_of(&self, world: &World) -> bool {
        self.world == world.id()
    }

    pub(super) const fn ids_mut(&mut self) -> &mut IdSupply {
        &mut self.ids
    }

    /// Chooses what becomes of changes of entities that do not live at playback; [`OnDead::Report`]
    /// unless said otherwise. It stays when the buffer is emptied; that of a system's
    /// [`Commands`](crate::Commands) stays from run to run.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # component!(Health);
    /// let mut world = World::new();
    /// let mut buffer = world.command_buffer(0)?;
    /// buffer.insert(Entity::NULL, Health(1.0));
    /// assert!(world.apply(&mut buffer).is_err());
    ///
    /// buffer.on_dead(OnDead::Ignore);
    /// buffer.insert(Entity::NULL, Health(1.0));
    /// assert!(world.apply(&mut buffer).is_ok());
    /// # Ok::<(), phalanx::ReserveError>(())
    /// ```
    pub const fn on_dead(&mut self, policy: OnDead) {
        self.on_dead = policy;
    }

    /// The number of commands recorded. A batch is one.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let mut buffer = world.command_buffer(0)?;
    /// buffer.spawn_batch([(); 100]);
    /// assert_eq!(buffer.len(), 1);
    /// # Ok::<(), phalanx::ReserveError>(())
    /// ```
    #[must_use]
    pub const fn len(&self) -> usize {
        self.recorder.len()
    }

    /// Whether nothing is recorded.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// assert!(world.command_buffer(8)?.is_empty());
    /// # Ok::<(), phalanx::ReserveError>(())
    /// ```
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets what is recorded. Ids that were handed out are never used again; the next
    /// [`World::apply`] lends others.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let mut buffer = world.command_buffer(1)?;
    /// let never = buffer.spawn(());
    /// buffer.clear();
    /// world.apply(&mut buffer).unwrap();
    /// assert!(!world.contains(never));
    /// # Ok::<(), phalanx::ReserveError>(())
    /// ```
    pub fn clear(&mut self) {
        self.recorder.clear();
    }

    /// Records the birth of an entity and returns its id.
    ///
    /// # Panics
    ///
    /// If the buffer has no id left; [`CommandBuffer::try_spawn`] returns that instead.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Target(Entity);
    /// # component!(Target);
    /// # let mut world = World::new();
    /// let mut buffer = world.command_buffer(2)?;
    /// let prey = buffer.spawn(());
    /// let hunter = buffer.spawn(Target(prey));
    /// world.apply(&mut buffer).unwrap();
    /// assert_eq!(world.get::<Target>(hunter).unwrap().0, prey);
    /// # Ok::<(), phalanx::ReserveError>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn spawn<B: Bundle>(&mut self, bundle: B) -> Entity {
        const { assert_distinct::<B>() };
        match self.spawn_named(&bundle, Location::caller()) {
            Ok(entity) => entity,
            Err(error) => refuse(error),
        }
    }

    /// [`CommandBuffer::spawn`], with the reason if it cannot be.
    ///
    /// # Errors
    ///
    /// [`NoIdLeft`]; nothing is recorded.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let mut buffer = world.command_buffer(1)?;
    /// assert!(buffer.try_spawn(()).is_ok());
    /// assert!(buffer.try_spawn(()).is_err());
    /// # Ok::<(), phalanx::ReserveError>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn try_spawn<B: Bundle>(&mut self, bundle: B) -> Result<Entity, NoIdLeft> {
        const { assert_distinct::<B>() };
        self.spawn_named(&bundle, Location::caller())
    }

    #[inline]
    fn spawn_named<B: Bundle>(&mut self, bundle: &B, place: CallSite) -> Result<Entity, NoIdLeft> {
        let entity = self.ids.next()?;
        self.recorder.spawn(entity, bundle, place);
        Ok(entity)
    }

    /// Records the birth of an entity of every bundle that `bundles` yields now. They get their ids
    /// at playback, so it needs none in advance. A barrier.
    ///
    /// The iterator is run to its end while it is recorded, into a `Vec` of bytes that nothing
    /// limits: it must end.
    ///
    /// If the iterator panics, nothing is recorded.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # component!(Health);
    /// # let mut world = World::new();
    /// let mut buffer = world.command_buffer(0)?;
    /// buffer.spawn_batch((0..1000).map(|i| Health(i as f32)));
    /// world.apply(&mut buffer).unwrap();
    /// assert_eq!(world.len(), 1000);
    /// # Ok::<(), phalanx::ReserveError>(())
    /// ```
    #[track_caller]
    pub fn spawn_batch<I>(&mut self, bundles: I)
    where
        I: IntoIterator,
        I::Item: Bundle,
    {
        const { assert_distinct::<I::Item>() };
        self.recorder.spawn_batch(bundles, Location::caller());
    }

    /// Records the end of an entity. If it does not live by then, nothing happens.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let entity = world.spawn(());
    /// let mut buffer = world.command_buffer(0)?;
    /// buffer.despawn(entity);
    /// buffer.despawn(entity);
    /// world.apply(&mut buffer).unwrap();
    /// assert!(!world.contains(entity));
    /// # Ok::<(), phalanx::ReserveError>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn despawn(&mut self, entity: Entity) {
        self.recorder.despawn(entity, Location::caller());
    }

    /// Records that an entity gets the components of `bundle`; those it has are overwritten.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # component!(Health);
    /// # let mut world = World::new();
    /// let entity = world.spawn(());
    /// let mut buffer = world.command_buffer(0)?;
    /// buffer.insert(entity, Health(1.0));
    /// buffer.insert(entity, Health(2.0));
    /// world.apply(&mut buffer).unwrap();
    /// assert_eq!(world.get::<Health>(entity).unwrap().0, 2.0);
    /// # Ok::<(), phalanx::ReserveError>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn insert<B: Bundle>(&mut self, entity: Entity, bundle: B) {
        const { assert_distinct::<B>() };
        self.recorder.change::<(), B>(entity, &bundle, Location::caller());
    }

    /// Records that an entity loses those components of `B` that it has by then.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Frozen;
    /// # component!(Health, Frozen);
    /// # let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// let mut buffer = world.command_buffer(0)?;
    /// buffer.remove::<(Health, Frozen)>(entity);
    /// world.apply(&mut buffer).unwrap();
    /// assert!(!world.has::<Health>(entity));
    /// # Ok::<(), phalanx::ReserveError>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn remove<B: Bundle>(&mut self, entity: Entity) {
        const { assert_distinct::<B>() };
        self.recorder.change::<B, ()>(entity, &(), Location::caller());
    }

    /// Records that an entity loses those components of `R` that it has by then, and gets those of
    /// `added`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Walking(f32);
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Flying(f32);
    /// # component!(Walking, Flying);
    /// # let mut world = World::new();
    /// let entity = world.spawn(Walking(1.0));
    /// let mut buffer = world.command_buffer(0)?;
    /// buffer.exchange::<Walking, _>(entity, Flying(9.0));
    /// world.apply(&mut buffer).unwrap();
    /// assert!(world.has::<Flying>(entity) && !world.has::<Walking>(entity));
    /// # Ok::<(), phalanx::ReserveError>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn exchange<R: Bundle, A: Bundle>(&mut self, entity: Entity, added: A) {
        const { assert_distinct::<R>() };
        const { assert_distinct::<A>() };
        self.recorder.change::<R, A>(entity, &added, Location::caller());
    }

    /// Records a closure that is given the world. A barrier: it sees what was recorded before it, and
    /// not what was recorded behind.
    ///
    /// If it panics, the rest of the buffer is applied all the same; then the panic goes on.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let mut buffer = world.command_buffer(1)?;
    /// buffer.spawn(());
    /// buffer.run(|world| assert_eq!(world.len(), 1));
    /// world.apply(&mut buffer).unwrap();
    /// # Ok::<(), phalanx::ReserveError>(())
    /// ```
    #[track_caller]
    pub fn run(&mut self, deed: impl FnOnce(&mut World) + Send + 'static) {
        self.recorder.push(BarrierKind::Run(Box::new(deed)), Location::caller());
    }

    /// Writers for the chunks of one query, to be filled by as many threads as there are; see
    /// [`CommandWriter`](crate::CommandWriter). Dropping them puts their commands behind what was
    /// recorded so far, the first chunk's first, in whichever order the threads finished.
    /// O(writers).
    ///
    /// # Panics
    ///
    /// If so many writers take more memory than one call may; [`CommandBuffer::try_par`] returns
    /// that instead.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # component!(Health);
    /// let mut world = World::new();
    /// world.spawn_batch((0..10_000).map(|i| Health((i % 2) as f32)));
    /// let mut buffer = world.command_buffer(0)?;
    /// let chunks: Vec<_> = world.query::<(Entity, &Health)>().into_iter().collect();
    /// let mut writers = buffer.par(chunks.len());
    /// std::thread::scope(|threads| {
    ///     for ((entities, health), writer) in chunks.into_iter().zip(writers.iter_mut()) {
    ///         threads.spawn(move || {
    ///             for (&entity, health) in entities.iter().zip(health) {
    ///                 if health.0 <= 0.0 {
    ///                     writer.despawn(entity);
    ///                 }
    ///             }
    ///         });
    ///     }
    /// });
    /// drop(writers);
    /// world.apply(&mut buffer).unwrap();
    /// assert_eq!(world.len(), 5_000);
    /// # Ok::<(), phalanx::ReserveError>(())
    /// ```
    #[track_caller]
    pub fn par(&mut self, chunks: usize) -> CommandWriters<'_> {
        match self.try_par(chunks) {
            Ok(writers) => writers,
            Err(error) => panic!("cannot make {chunks} command writers: {error}"),
        }
    }

    /// [`CommandBuffer::par`], with the reason if it cannot be.
    ///
    /// # Errors
    ///
    /// [`TooMuchMemory`] if so many writers take more memory than one call of this buffer's world
    /// may. BarrierKind is recorded stays.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let mut buffer = world.command_buffer(0)?;
    /// assert_eq!(buffer.try_par(3).unwrap().len(), 3);
    /// assert!(buffer.try_par(1 << 30).is_err());
    /// # Ok::<(), phalanx::ReserveError>(())
    /// ```
    pub fn try_par(&mut self, chunks: usize) -> Result<CommandWriters<'_>, TooMuchMemory> {
        CommandWriters::new(self, chunks)
    }
}

#[cold]
#[track_caller]
fn refuse(error: NoIdLeft) -> ! {
    panic!("cannot spawn: {error}")
}

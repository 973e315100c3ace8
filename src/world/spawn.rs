//! Spawning entities: one, many, from columns, with a given id; and reserving ids.

use crate::archetype::{Bundle, ColumnBundle, ColumnSlices, assert_distinct};
use crate::component::TreeRelation;
use crate::entity::{Entity, OutOfIds, ReserveError, ReservedEntities};
use crate::store::SpawnError;

use super::copy_parents::CopyParents;
use super::world::World;

/// # Spawning
impl World {
    /// Spawns an entity with the components of `bundle`.
    ///
    /// Writes one row: O(components). [`World::spawn_batch`] spawns many entities of one kind
    /// faster.
    ///
    /// # Panics
    ///
    /// If no ids are left or the row does not fit a chunk; [`World::try_spawn`] returns an error.
    /// Or if a new type is [refused](crate::error::NameTaken#new-types): the world is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Position { x: f32, y: f32 }
    /// let mut world = World::new();
    /// let entity = world.spawn(Position { x: 1.0, y: 2.0 });
    /// assert_eq!(world.get::<Position>(entity)?.x, 1.0);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn spawn<B: Bundle>(&mut self, bundle: B) -> Entity {
        const { assert_distinct(B::NAMES) };
        self.flush();
        match self.store.spawn_bundle(bundle) {
            Ok(entity) => entity,
            Err(error) => refuse(error),
        }
    }

    /// [`World::spawn`] that returns an error instead of a panic.
    ///
    /// # Errors
    ///
    /// [`SpawnError`]. The world is unchanged.
    ///
    /// # Panics
    ///
    /// If a new type is [refused](crate::error::NameTaken#new-types): the world is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::builder().entities_max(1).build();
    /// assert!(world.try_spawn(()).is_ok());
    /// assert!(world.try_spawn(()).is_err());
    /// ```
    #[inline]
    pub fn try_spawn<B: Bundle>(&mut self, bundle: B) -> Result<Entity, SpawnError> {
        const { assert_distinct(B::NAMES) };
        self.flush();
        self.store.spawn_bundle(bundle)
    }

    /// Spawns an entity with the id `entity`, which must not be alive: for replication, undo,
    /// replay.
    ///
    /// The index may lie beyond all indices that were ever used. The indices between become free
    /// and take 16 bytes each; at most 1,048,576 of them may be unused afterwards, unless
    /// [`MemoryMut::grow_indices`](crate::memory::MemoryMut::grow_indices) allows more. So ids from
    /// outside cost memory by the highest index and not by their number: one entity at index
    /// 1,048,576 costs 16 MiB. A sender that takes the lowest free index, as a world does by
    /// itself, keeps this cost small.
    ///
    /// Writes one row: O(components), plus O(indices skipped), plus O(free ids) if indices are
    /// skipped while nearly as many as may be are unused.
    ///
    /// # Errors
    ///
    /// [`SpawnError`]: the id is null, taken, used up, or out of reach, or the row does not fit a
    /// chunk. The world is unchanged.
    ///
    /// # Panics
    ///
    /// If a new type is [refused](crate::error::NameTaken#new-types): the world is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let entity = world.spawn(());
    /// world.despawn(entity).unwrap();
    /// world.spawn_at(entity, ())?;
    /// assert!(world.contains(entity));
    /// assert!(world.spawn_at(entity, ()).is_err());
    /// # Ok::<(), phalanx::error::SpawnError>(())
    /// ```
    pub fn spawn_at<B: Bundle>(&mut self, entity: Entity, bundle: B) -> Result<(), SpawnError> {
        const { assert_distinct(B::NAMES) };
        self.flush();
        self.store.spawn_bundle_at(entity, bundle)
    }

    /// Spawns an entity for every bundle that `bundles` yields, and returns their ids in that
    /// order.
    ///
    /// The ids are borrowed from the world, so that a batch allocates no list of them: call
    /// `to_vec` to keep them. Rows are written in place, chunk by chunk; no entity is alive before
    /// the iterator has ended. Its size hint may be wrong. [Sparse
    /// components](crate::component#sparse-components) of bundles wait in a list for each type
    /// until it has ended; rows and lists may each take the memory of one call. Neighbours that are
    /// related to one target are filed together.
    ///
    /// # Panics
    ///
    /// If ids run out, the rows need more memory than one call may allocate, or a row does not fit
    /// a chunk ([`World::try_spawn_batch`] returns an error), or if the iterator panics or a new
    /// type is [refused](crate::error::NameTaken#new-types). In each case the world is unchanged.
    ///
    /// Memory is allocated chunk by chunk while the iterator runs. As with a `Vec`, the process
    /// ends if the system refuses a chunk: an iterator that may not end needs a limit that fits the
    /// machine ([`WorldBuilder::request_bytes_max`](crate::WorldBuilder::request_bytes_max)).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// let entities = world.spawn_batch((0..100).map(|i| Health(i as f32)));
    /// let last = entities[99];
    /// assert_eq!(world.get::<Health>(last)?.0, 99.0);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn spawn_batch<I>(&mut self, bundles: I) -> &[Entity]
    where
        I: IntoIterator,
        I::Item: Bundle,
    {
        const { assert_distinct(<I::Item as Bundle>::NAMES) };
        let bundles = bundles.into_iter();
        self.flush();
        match self.store.spawn_bundles(bundles) {
            Ok(entities) => entities,
            Err(error) => refuse(error),
        }
    }

    /// [`World::spawn_batch`] that returns an error instead of a panic.
    ///
    /// # Errors
    ///
    /// [`SpawnError`]: ids run out, the rows need more memory than one call may allocate, or a row
    /// does not fit a chunk. The world is unchanged.
    ///
    /// # Panics
    ///
    /// If the iterator panics or a new type is [refused](crate::error::NameTaken#new-types): the
    /// world is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::builder().entities_max(10).build();
    /// assert!(world.try_spawn_batch([(); 11]).is_err());
    /// assert_eq!(world.try_spawn_batch([(); 10]).unwrap().len(), 10);
    /// ```
    #[inline]
    pub fn try_spawn_batch<I>(&mut self, bundles: I) -> Result<&[Entity], SpawnError>
    where
        I: IntoIterator,
        I::Item: Bundle,
    {
        const { assert_distinct(<I::Item as Bundle>::NAMES) };
        let bundles = bundles.into_iter();
        self.flush();
        self.store.spawn_bundles(bundles)
    }

    /// Spawns an entity for every row of equally long columns, and returns their ids in that order.
    ///
    /// Columns are copied slice by slice: the fastest way to fill a world. O(bytes).
    ///
    /// # Errors
    ///
    /// [`SpawnError`]: the slices differ in length, ids run out, the rows need more memory than one
    /// call may allocate, or a row does not fit a chunk. The world is unchanged.
    ///
    /// # Panics
    ///
    /// If a new type is [refused](crate::error::NameTaken#new-types): the world is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Position { x: f32, y: f32 }
    /// # #[component] struct Velocity { x: f32, y: f32 }
    /// let positions = vec![Position::default(); 1000];
    /// let velocities = vec![Velocity::default(); 1000];
    /// let mut world = World::new();
    /// let entities = world.spawn_columns((&positions[..], &velocities[..]))?;
    /// assert_eq!(entities.len(), 1000);
    /// # Ok::<(), phalanx::error::SpawnError>(())
    /// ```
    pub fn spawn_columns<S: ColumnSlices>(&mut self, columns: S) -> Result<&[Entity], SpawnError> {
        const { assert_distinct(<S::Bundle as ColumnBundle>::NAMES) };
        let rows = even_len(columns)?;
        self.flush();
        self.store.spawn_columns(columns, rows)
    }

    /// Reserves the id of an entity, which is spawned without components at the world's next
    /// change.
    ///
    /// Needs no exclusive world, so threads that share one can make ids: give the entity its
    /// components with [`World::insert`].
    ///
    /// From now on the entity is alive and without components for every call that names it. A pass
    /// does not visit it before the world's next change, that is, the next call that borrows the
    /// world exclusively.
    ///
    /// # Errors
    ///
    /// If no ids are left.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// let entity = world.reserve_entity()?;
    /// assert!(world.contains(entity));
    /// world.insert(entity, Health(1.0)).unwrap();
    /// # Ok::<(), phalanx::error::OutOfIds>(())
    /// ```
    pub fn reserve_entity(&self) -> Result<Entity, OutOfIds> {
        self.store.entities().reserve()
    }

    /// Reserves several ids; see [`World::reserve_entity`]. One atomic operation for all,
    /// and a lock if ids of dropped command buffers wait.
    ///
    /// # Errors
    ///
    /// [`ReserveError`] if fewer than `n` ids are left, or if the entities of all reserved ids
    /// would need more memory than one call may allocate. On an error none of the `n` ids is
    /// reserved.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let world = World::new();
    /// let ids: Vec<Entity> = std::thread::scope(|threads| {
    ///     let handles: Vec<_> =
    ///         (0..4).map(|_| threads.spawn(|| world.reserve_entities(10))).collect();
    ///     handles.into_iter().flat_map(|handle| handle.join().unwrap().unwrap()).collect()
    /// });
    /// assert_eq!(ids.len(), 40);
    /// ```
    pub fn reserve_entities(&self, n: u32) -> Result<ReservedEntities<'_>, ReserveError> {
        self.store.entities().reserve_many(n)
    }
}

#[cold]
#[track_caller]
fn refuse(error: SpawnError) -> ! {
    panic!("cannot spawn: {error}")
}

/// The common length of all slices.
fn even_len<S: ColumnSlices>(columns: S) -> Result<usize, SpawnError> {
    let (mut first, mut other) = (None, None);
    columns.lens(&mut |len| match first {
        None => first = Some(len),
        Some(first) if first != len => other = other.or(Some(len)),
        Some(_) => {}
    });
    match (first.unwrap_or(0), other) {
        (first, Some(other)) => Err(SpawnError::Uneven { first, other }),
        (first, None) => Ok(first),
    }
}

/// # Copies
impl World {
    /// Spawns `copies` entities with the components of `prototype`, and returns their ids. Not
    /// copied are the tag [`Prototype`](crate::Prototype), so that the copies are visible; [cleanup
    /// components](crate::component#cleanup-components), which exist only once; sparse components
    /// that are not plain, which need not be `Clone`; and relations. All others are copied,
    /// including [`Disabled`](crate::Disabled).
    ///
    /// The ids are borrowed from the world: call `to_vec` to keep them. Columns are filled by
    /// copying the rows that are already written, twice as many each time, so this runs at the
    /// speed of `memcpy`: O(bytes). Stamps the chunks of the new rows, which may include the chunk
    /// of the prototype.
    ///
    /// An [`Entity`] inside a component is copied like any value: the copy names the same entity.
    /// Plain [sparse components](crate::component#sparse-components) are copied one by one.
    ///
    /// # Errors
    ///
    /// If the prototype is not alive, too few ids are left, or the copies need more memory than one
    /// call may allocate. The world is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] #[derive(PartialEq, Debug)] struct Health(f32);
    /// # #[component] struct Orc;
    /// let mut world = World::new();
    /// let prototype = world.spawn((Health(80.0), Orc));
    /// let horde = world.instantiate(prototype, 1000)?.to_vec();
    /// assert_eq!(world.get::<Health>(horde[999]), Ok(&Health(80.0)));
    /// assert_eq!(world.query::<&Orc>().count_rows(), 1001);
    /// # Ok::<(), phalanx::error::SpawnError>(())
    /// ```
    pub fn instantiate(
        &mut self,
        prototype: Entity,
        copies: usize,
    ) -> Result<&[Entity], SpawnError> {
        self.flush();
        self.store.instantiate(prototype, copies)
    }

    /// Copies an entity and all entities below it in the tree of a
    /// [relation](crate::sparse::relation), once for each of `parents`: `None`, `Some(parent)` and
    /// `parent` make one copy, `[None; 1000]` and `&parents` as many as they have. Returns the
    /// copies one after the other, in the order of `parents`: of each the root, and then its
    /// [`descendants`](crate::sparse::Relation::descendants). The order of sources of `R` is the
    /// same.
    ///
    /// Each copy of an entity is one of [`instantiate`](Self::instantiate): a
    /// [`Prototype`](crate::Prototype) tag, cleanup components, and sparse components that are not
    /// plain are left out. The relations of its entities, of any type, are copied. They and
    /// [`Entity`] fields, also in plain sparse values and in those of pairs, that point into the
    /// tree point into the copy; those that point to other entities stay as they are. Ids in the
    /// values of chunks
    /// ([`PerChunk`](crate::chunks::PerChunk)) and in shared values stay as well, and so do those
    /// in types without [`MapEntities`](crate::MapEntities). Relations of other entities to the
    /// tree are not copied.
    ///
    /// The root of each copy gets its entry of `parents` as its target of `R`, whatever the target
    /// of `root`. A parent may lie in the tree, which is copied as it is before the call. To copy
    /// other sparse values, zip `chunks(1 + descendants.len())` with the root and its descendants.
    ///
    /// [`Prototype`](crate::Prototype) hides one entity: give it to each part of a tree that exists
    /// to be copied. A system asks for a copy by [`CommandBuffer::run`](crate::CommandBuffer::run).
    ///
    /// All copies are one batch: the rows of one original lie side by side. They are written by
    /// `memcpy`, column by column, or cell by cell if the copies lack a component. 100,000 entities
    /// that are 25,000 copies of 4 nodes take 60 ns each, and 203 by a call for each copy; as
    /// copies of 10 nodes 53 and 152, and of 100 nodes with an [`Entity`] field 68 and 90 (two
    /// components of 12 bytes, a prototype without other relations, Zen 5).
    ///
    /// O(bytes + entities × sparse components); for each archetype that it adds, O(archetypes) in
    /// each cached query that names a sparse component. The depth of the tree does not matter.
    /// Memory is counted in rows, so the limit of one call may be exceeded by a chunk an archetype
    /// and by the sparse values.
    ///
    /// # Errors
    ///
    /// If the root or a parent is not alive, too few ids are left, or the copies need more memory
    /// than one call may allocate. The world is unchanged.
    ///
    /// # Panics
    ///
    /// If another type has the name of the relation: the world is unchanged. Or if
    /// [`MapEntities`](crate::MapEntities) panics: all copies are made, and some of their
    /// references may have old ids.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[relation(tree, on_delete = despawn)]
    /// struct PartOf;
    /// #[component] #[derive(PartialEq, Debug)] struct Wheels { front: Entity }
    ///
    /// let mut world = World::new();
    /// let cart = world.spawn(Prototype);
    /// let front = world.spawn((Prototype, PartOf::of(cart)));
    /// world.insert(cart, Wheels { front })?;
    ///
    /// let copies = world.instantiate_tree::<PartOf>(cart, None)?;
    /// assert_eq!(world.get::<Wheels>(copies[0])?, &Wheels { front: copies[1] });
    /// assert_eq!(world.relation::<PartOf>().sources(copies[0]), [copies[1]]);
    ///
    /// let train = world.spawn(());
    /// let copies = world.instantiate_tree::<PartOf>(cart, [train; 100])?;
    /// let roots: Vec<Entity> = copies.chunks(2).map(|copy| copy[0]).collect();
    /// assert_eq!(world.relation::<PartOf>().sources(train), roots);
    /// # assert_eq!(roots.len(), 100);
    /// # assert_eq!(world.get::<Wheels>(copies[198])?, &Wheels { front: copies[199] });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn instantiate_tree<R: TreeRelation>(
        &mut self,
        root: Entity,
        parents: impl CopyParents,
    ) -> Result<Vec<Entity>, SpawnError> {
        self.flush();
        self.store.instantiate_tree::<R>(root, &parents.list())
    }
}

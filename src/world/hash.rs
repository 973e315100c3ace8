//! A hash of the whole state of a world.

use bytemuck::cast_slice;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::archetype::{Archetype, ChunkVersions};
use crate::component::{ComponentId, Registry, SharedPlace};
use crate::storage::{Content, StampKind};
use crate::store::History;
use crate::version::Version;

use super::digests::{Digests, Uncached};
use super::hash_sets::hash_sets;
use super::world::World;

/// # Comparison
impl World {
    /// A hash of the state of the world. Worlds with equal hashes answer later calls alike, as far
    /// as the answers depend on the state below.
    ///
    /// It covers
    ///
    /// * the archetypes in the order of their creation, also empty ones, because queries visit them
    ///   in this order; each by the names of its components;
    /// * the rows of each archetype in order: the entity, the bytes of all components, the
    ///   [disabled](World::set_enabled) components, and the capacity of a chunk;
    /// * change versions: the [`version`](World::version) of the world, and for each chunk the
    ///   versions of its columns, of its order, of its arrivals, and of its lines, not those of
    ///   [blocks](crate::Changed) of sparse components. Versions that a
    ///   [`restore`](World::restore) discarded do not count, so a world that was restored and ran
    ///   again has the same hash as a world that ran once;
    /// * ids: the next ids to allocate, also by each system of a stage, with their generations, and
    ///   the refused ids; ids that are reserved or on loan to a command buffer; the reach of
    ///   [`spawn_at`](World::spawn_at), and the generations that follow older ones from it;
    /// * [shared values](crate::shared::Shared), by the [`Hash`] of their types, which should
    ///   differ for different values, and by the number of each in its type, which empty archetypes
    ///   have as well: a later value gets a free number with its archetypes, and queries visit it
    ///   in that place;
    /// * [sparse components](crate::component#sparse-components): which entities have them, in the
    ///   order of each, the bytes of values of [`Plain`](crate::Plain) types, and the targets and
    ///   the order of sources of [relations](crate::sparse::relation);
    /// * the parameters of [`World::builder`] except
    ///   [`extent_chunks_max`](crate::WorldBuilder::extent_chunks_max).
    ///
    /// It does not cover
    ///
    /// * [resources](World::insert_resource), [events](World::events) and the values of other
    ///   sparse components, which the world cannot see as bytes, recorded commands, the unread
    ///   records of [`Inserted`](crate::logs::Inserted), [`Removed`](crate::logs::Removed) and
    ///   [`Despawned`](crate::logs::Despawned), and the state of a schedule: add any of these that
    ///   your simulation depends on;
    /// * memory: addresses, [reserved rows](World::reserve), [padding](crate::Query::padded), and
    ///   reports of it such as [`memory`](World::memory),
    ///   [`archetypes`](crate::reflect::Reflect::archetypes) and explanations;
    /// * the order in which component types were first used, with two exceptions. Among types
    ///   aligned to more than a cache line, that order decides the capacity of a chunk. Among
    ///   shared types of one [`type_name`](core::any::type_name), for example types in the bodies
    ///   of two functions, it decides the hash, unless
    ///   [`encode`](crate::shared::SharedValuesMut::encode) has given them different names.
    ///
    /// So reading does not change the hash: neither queries that only read, nor lookups, nor
    /// explanations. A call that returns an error does not change it either, unless it creates an
    /// archetype, or gives [reserved](crate::World::reserve_entity) ids their rows. Such an
    /// archetype stays, as it does after a batch of no rows, until
    /// [`retire_archetypes`](crate::memory::MemoryMut::retire_archetypes). Writing advances the
    /// version and changes the hash, even if the values are the same: a pass of a query with a
    /// `&mut` term does, and so does a system that a schedule runs.
    ///
    /// Change versions are covered because [`changed_since`](crate::Query::changed_since) and
    /// [`Changed`](crate::Changed) depend on them: simulations that differ only in versions can
    /// diverge later. Writing old values back into a world gives them new versions, and another
    /// hash.
    ///
    /// Two worlds after the same calls have the same hash, with any number of threads and any
    /// instruction set, on x86-64 and on AArch64. The exception is a panic in a parallel loop:
    /// threads decide which rows were visited before it. Two kinds of values may depend on the
    /// machine: results of functions of the system's library such as `sin` and `exp`, and the sign
    /// and payload of a computed NaN. To find where two simulations diverge, compare it after each
    /// step, by a [`HashCache`](crate::HashCache) if few columns change;
    /// [`compare`](crate::testing::compare) names the first difference. It is XXH3, which does not
    /// resist forgery, and depends on the byte order of the machine. O(bytes of all rows + indices
    /// + shared values + sparse values).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let [mut a, mut b] = [World::new(), World::new()];
    /// for world in [&mut a, &mut b] {
    ///     world.spawn_batch((0..1000).map(|i| Health(i as f32)));
    /// }
    /// assert_eq!(a.hash(), b.hash());
    /// let sum: f32 = b.query::<&Health>().iter().flatten().map(|health| health.0).sum();
    /// assert_eq!(a.hash(), b.hash(), "looking changes nothing");
    /// b.query_mut::<&mut Health>().iter_mut().flatten().next().unwrap().0 += sum;
    /// assert_ne!(a.hash(), b.hash());
    /// ```
    #[must_use]
    pub fn hash(&self) -> u64 {
        hash_with(self, &mut Uncached)
    }
}

/// The hash of a world, with digests from `digests`.
pub(super) fn hash_with(world: &World, digests: &mut impl Digests) -> u64 {
    let store = &world.store;
    let mut hash = Hasher { state: Xxh3::new(), history: store.history() };
    hash.number(world.chunk_size().bytes() as u64);
    hash.number(store.history().age(store.clock()));
    hash.number(store.archetypes().len() as u64);
    for archetype in store.archetypes().as_slice() {
        hash.archetype(archetype, store.registry(), digests);
    }
    store.entities().describe(|number| hash.number(number));
    hash_sets(store.sparse(), &mut hash.state, digests);
    hash.state.digest()
}

struct Hasher<'w> {
    state: Xxh3,
    history: &'w History,
}

impl Hasher<'_> {
    fn number(&mut self, number: u64) {
        self.state.update(&number.to_le_bytes());
    }

    /// Versions are hashed by their ages, which are the same in a restored world.
    fn version(&mut self, version: Version) {
        self.number(self.history.age(version));
    }

    /// Components are hashed by name, because their numbers depend on the order of first use.
    fn archetype(
        &mut self,
        archetype: &Archetype,
        registry: &Registry,
        digests: &mut impl Digests,
    ) {
        let name = |&(_, id): &(u16, ComponentId)| registry.info(id).name();
        let mut columns: Vec<_> = (0u16..).zip(archetype.components().iter().copied()).collect();
        // Several shared types may have one name, and a component may have it as well.
        columns.sort_unstable_by_key(|column| (name(column), registry.shared_names(column.1)));
        self.number(columns.len() as u64);
        self.number(archetype.len() as u64);
        self.number(u64::from(archetype.list().chunk_capacity()));
        self.contents(archetype, None, digests);
        self.versions(archetype, StampKind::ORDER);
        self.versions(archetype, StampKind::ARRIVAL);
        for column in &columns {
            self.number(name(column).len() as u64);
            self.state.update(name(column).as_bytes());
            let &(column, id) = column;
            if let Some(SharedPlace::Tag { number, .. }) = registry.info(id).shared_place() {
                self.number(number.into());
                let hash = archetype.shared().and_then(|shared| shared.hash(id));
                hash.into_iter().for_each(|hash| self.number(hash));
            }
            self.contents(archetype, Some(column), digests);
            self.versions(archetype, StampKind::column(column));
        }
    }

    /// The values of a column and its attachments, chunk by chunk, or the entities. The versions of
    /// lines without rows are hashed as well, because rows that arrive there later take them over.
    fn contents(&mut self, archetype: &Archetype, column: Option<u16>, digests: &mut impl Digests) {
        let (list, attachments) = (archetype.list(), archetype.attachments());
        let kind = column.map_or(StampKind::ORDER, StampKind::column);
        let versions = ChunkVersions::live(list, archetype.stamps());
        let width = archetype.components().len() + 1;
        let place = column.map_or(0, |column| 1 + usize::from(column));
        for chunk in 0..list.chunk_len() {
            let identity = versions.identity(kind, chunk as usize);
            let index = chunk as usize * width + place;
            let digest = digests.digest(list.key(), index, identity, || {
                let Some(column) = column else {
                    return xxh3_64(cast_slice(archetype.entities_of_chunk(chunk)));
                };
                let bytes = list.column_bytes(usize::from(column), chunk);
                let Some(attachments) = attachments else { return xxh3_64(bytes) };
                let mut hash = Hasher { state: Xxh3::new(), history: self.history };
                hash.state.update(bytes);
                let at = (archetype.stamps(), column, chunk);
                attachments.contents(at, true, &mut |content| hash.content(content));
                hash.state.digest()
            });
            self.number(digest);
            if let (Some(attachments), Some(column)) = (attachments, column) {
                let at = (archetype.stamps(), column, chunk);
                attachments.contents(at, false, &mut |content| self.content(content));
            }
        }
    }

    fn content(&mut self, content: Content) {
        match content {
            Content::Word(word) => self.number(word),
            Content::Version(version) => self.version(version),
        }
    }

    fn versions(&mut self, archetype: &Archetype, kind: StampKind) {
        archetype.stamps().versions(kind).for_each(|version| self.version(version));
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::{Pod, Zeroable};

    use super::*;
    use crate::component::Shared;
    use crate::entity::Entity;
    use crate::impl_component;
    use crate::storage::ChunkSize;
    use crate::version::Version;

    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    #[repr(C)]
    struct A(u32);
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    #[repr(C)]
    struct B(u32);
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    #[repr(C)]
    struct C(u64);
    impl_component!(A as "A", B as "B", C as "C");

    const LAST: Entity = Entity::new(79, 1);

    fn filled(mut world: World) -> World {
        world.spawn_batch((0..40).map(A));
        world.spawn_batch((0..40).map(|i| (A(i), B(i))));
        world
    }

    fn world() -> World {
        filled(World::new())
    }

    /// The hash of the world after a change.
    fn after(change: impl FnOnce(&mut World)) -> u64 {
        let mut world = world();
        change(&mut world);
        world.hash()
    }

    /// Writes a cell without a new version, so that only the value differs.
    fn write(world: &mut World, entity: Entity, value: A) {
        let clock = world.store.clock();
        *world.get_mut::<A>(entity).expect("it has the component") = value;
        world.store.set_clock_back(clock);
    }

    #[test]
    fn the_same_calls_make_the_same_hash() {
        assert_eq!(world().hash(), world().hash());
        assert_ne!(world().hash(), World::new().hash());
    }

    #[test]
    fn values_are_in_it() {
        let with = |value| {
            after(|world| {
                write(world, LAST, A(7));
                write(world, LAST, A(value));
            })
        };
        assert_eq!(with(39), with(39));
        assert_ne!(with(39), with(38));
    }

    #[test]
    fn the_order_of_rows_is_in_it() {
        let reversed = |times| {
            after(|world| {
                let columns = world.query_mut::<&mut A>();
                let column = columns.into_iter().next().expect("a chunk");
                (0..times).for_each(|_| column.reverse());
            })
        };
        assert_ne!(reversed(1), reversed(2));
    }

    #[test]
    fn the_order_of_archetypes_is_in_it() {
        type Make = fn(&mut World);
        let made = |first: Make, second: Make| {
            after(|world| {
                first(world);
                second(world);
                world.clear();
            })
        };
        let b: Make = |world| world.reserve::<B>(1).expect("room");
        let c: Make = |world| world.reserve::<C>(1).expect("room");
        assert_ne!(made(b, c), made(c, b), "queries will visit them in another order");
        assert_ne!(made(b, c), made(b, b), "also an empty one counts");
    }

    #[test]
    fn versions_are_in_it() {
        let plain = world().hash();
        let touched =
            after(|world| assert!(world.query_mut::<&mut A>().iter_mut().next().is_some()));
        assert_ne!(touched, plain);
        let untouched = after(|world| {
            world.store.advance_clock();
        });
        assert_ne!(untouched, plain, "the version of the world");
        let touched = |run: StampKind| {
            after(|world| {
                let version = Version::from_bits(7);
                world.store.archetypes().as_slice()[0].stamps().touch(run, 0, version);
            })
        };
        let [order, arrival, column] =
            [StampKind::ORDER, StampKind::ARRIVAL, StampKind::column(0)].map(touched);
        assert!(![order, arrival, column].contains(&plain), "each kind of version");
        assert!(order != arrival && arrival != column && order != column, "each for itself");
    }

    #[test]
    fn parameters_are_in_it() {
        let worlds = [
            World::builder(),
            World::builder().chunk_size(ChunkSize::KIB_4),
            World::builder().entities_max(1000),
            World::builder().request_bytes_max(1 << 30),
        ];
        let mut hashes = worlds.map(|builder| filled(builder.build()).hash()).to_vec();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 4);
    }

    /// The part of the state that decides ids has one test for each item beside
    /// [`Directory::describe`].
    ///
    /// [`Directory::describe`]: crate::entity::Directory::describe
    #[test]
    fn ids_to_come_are_in_it() {
        let plain = world().hash();
        let reserved = after(|world| assert!(world.reserve_entity().is_ok()));
        assert_ne!(reserved, plain, "a reserved id");
        let mut world = world();
        let buffer = world.command_buffer(2);
        assert_ne!(world.hash(), plain, "ids in a command buffer");
        drop(buffer);
        assert_eq!(world.hash(), plain, "none of them was handed out");
        let mut buffer = world.command_buffer(2).expect("ids");
        buffer.spawn(());
        drop(buffer);
        assert_ne!(world.hash(), plain, "one of them will never be used again");
    }

    #[test]
    fn looking_changes_nothing() {
        let mut world = world();
        let plain = world.hash();
        // None of these types has been registered in this world yet.
        assert_eq!(world.query::<(&C, Option<&B>)>().iter().count(), 0);
        assert_eq!(world.query_mut::<&A>().iter_mut().flatten().count(), 80);
        assert!(world.get::<C>(LAST).is_err() && !world.has::<C>(LAST));
        assert_eq!(world.lookup::<A>().get(LAST).ok(), Some(&A(39)));
        assert!(!world.explain().to_string().is_empty());
        assert!(!world.query::<&C>().explain().to_string().is_empty());
        assert!(world.reflect().archetypes().all(|archetype| archetype.len() <= 40));
        assert!(world.memory().row_bytes > 0 && world.check().is_ok());
        assert!(world.command_buffer(100).is_ok());
        assert_eq!(world.hash(), plain);
        // Reserved memory is not state either.
        world.reserve::<(A, B)>(10_000).expect("room");
        world.memory_mut().grow_indices(10_000).expect("room");
        while !world.memory_mut().compact(10_000).finished {}
        assert_eq!(world.hash(), plain);
    }

    #[test]
    fn which_type_was_mentioned_first_is_not_in_it() {
        let (mut a, mut b) = (World::new(), World::new());
        assert_eq!(b.query::<(&C, &B, &A)>().iter().count(), 0);
        assert_eq!(b.query_mut::<(&C, &B, &A)>().iter_mut().count(), 0);
        for world in [&mut a, &mut b] {
            world.spawn((A(1), B(2), C(3)));
            world.spawn((B(2), C(3)));
        }
        assert_eq!(a.hash(), b.hash());
        let names = |world: &World| -> Vec<_> {
            let components =
                world.reflect().archetypes().flat_map(|archetype| archetype.components());
            components.map(|info| info.name()).collect()
        };
        assert_eq!(names(&a), names(&b));
    }

    #[test]
    fn values_that_are_gone_are_not_in_it_but_their_archetypes_are() {
        /// A world that had entities with these values, one after the other or all together.
        fn had(values: &[u64], together: bool) -> World {
            let (mut world, mut all) = (World::new(), Vec::new());
            for &value in values {
                let entity = world.spawn(A(0));
                world.insert_shared(entity, value).expect("it is alive");
                all.push(entity);
                if !together {
                    world.clear();
                }
            }
            world.clear();
            world
        }
        assert_eq!(had(&[1, 2], false).hash(), had(&[2, 1], false).hash());
        let [mut one, mut two] = [had(&[1, 2], true), had(&[2, 1], true)];
        assert_eq!(one.hash(), two.hash());
        // A later value gets the archetype of an earlier one.
        let archetypes = |world: &World| world.reflect().archetypes().len();
        assert_eq!([&one, &had(&[1, 2], false)].map(archetypes), [3, 2]);
        for world in [&mut one, &mut two] {
            for value in [3_u64, 1] {
                let entity = world.spawn(A(0));
                world.insert_shared(entity, value).expect("it is alive");
            }
            let visited = world.query::<Shared<u64>>().iter().map(|shared| *shared);
            assert_eq!(visited.collect::<Vec<_>>(), [3, 1]);
        }
        assert_eq!((one.hash(), archetypes(&one)), (two.hash(), 3));

        let (mut world, other) = (had(&[1, 2], false), had(&[1, 2], false));
        world.shared_mut::<u32>().encode("number", |_, _| (), |_| None);
        assert_eq!(world.hash(), other.hash(), "a type without values is no state");
    }

    #[test]
    fn a_component_that_is_shared_as_well_is_told_apart() {
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Pod, Zeroable)]
        #[repr(C)]
        struct Both(u32);
        impl_component!(Both);
        let hash = |is_component_first: bool| {
            let mut world = World::new();
            if is_component_first {
                world.register::<Both>();
            } else {
                world.store.registry_mut().register_shared::<Both>();
            }
            let entity = world.spawn(Both(1));
            world.insert_shared(entity, Both(2)).expect("it is alive");
            world.hash()
        };
        assert_eq!(hash(true), hash(false));
    }

    #[test]
    fn padding_is_not_in_it() {
        let filled = |value| {
            after(|world| {
                for column in world.query_mut::<&mut A>().padded() {
                    column[40..].fill(A(value));
                }
            })
        };
        assert_eq!(filled(1), filled(2));
    }

    #[test]
    fn a_refused_call_changes_nothing() {
        let mut world = filled(World::builder().entities_max(80).build());
        let plain = world.hash();
        let dead = Entity::new(7, 9);
        let refused = [
            world.try_spawn(A(0)).is_err(),
            world.try_spawn_batch([A(0)]).is_err(),
            world.spawn_columns((&[A(0)][..], &[B(0)][..])).is_err(),
            world.spawn_columns((&[A(0)][..], &[B(0), B(1)][..])).is_err(),
            world.spawn_at(LAST, A(0)).is_err(),
            world.instantiate(LAST, 1).is_err(),
            world.instantiate(dead, 1).is_err(),
            world.reserve::<A>(1).is_err(),
            world.reserve_entity().is_err(),
            world.reserve_entities(1).is_err(),
            world.memory_mut().grow_indices(81).is_err(),
            world.command_buffer(1).is_err(),
            world.despawn(dead).is_err(),
            world.insert(dead, A(0)).is_err(),
            world.remove::<C>(LAST).is_err(),
            world.get_mut::<C>(LAST).is_err(),
            world.get_mut::<A>(dead).is_err(),
            world.get_disjoint_mut::<C, 1>([LAST]).is_err(),
        ];
        assert_eq!(refused, [true; 18]);
        assert_eq!(world.hash(), plain);
        let stopped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            world.spawn_batch((0..2).map(|_| -> A { panic!("stop here") }));
        }));
        assert!(stopped.is_err());
        assert_eq!(world.hash(), plain);
    }
}

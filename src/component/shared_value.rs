//! Values that entities share.

use core::any::type_name;
use core::fmt;
use core::hash::Hash;
use core::marker::PhantomData;

/// A value that entities can share: any type that tells which of its values are equal.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a shared value",
    label = "not `Eq`, `Hash`, `Send`, `Sync` and `'static`",
    note = "entities with equal values share chunks, so a value must be compared and hashed; \
            derive `PartialEq`, `Eq` and `Hash`, or share a handle or an id"
)]
pub trait SharedValue: Eq + Hash + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Eq + Hash + Send + Sync + 'static> SharedValue for T {}

/// A value of type `T` that entities share: a mesh, a material, the rules of a species. As a term
/// of a query, the value, once for each chunk.
///
/// The world has each distinct value once, however many entities have it, and entities with equal
/// values share chunks. So a kernel gets the value beside the slices of its rows, and may draw,
/// batch or branch by it once for all of them. `T` is any type that is `Eq`, `Hash`, `Send` and
/// `Sync`: it may own memory, and be a handle of something outside. (An `Arc` compares and hashes
/// its target, at each insertion: if that is large, share an id, or a newtype that compares
/// addresses.)
///
/// | | |
/// | --- | --- |
/// | [`world.insert_shared(entity, mesh)`](crate::World::insert_shared) | gives the entity the value, or another one; the row moves to a chunk of it |
/// | [`matching::<Q>().insert_shared(mesh)`](crate::Matching::insert_shared) | gives it to all of a query: whole chunks change owner |
/// | [`matching::<()>().where_shared(&a).insert_shared(b)`](crate::Matching::where_shared) | gives all that have `a` the value `b` |
/// | [`commands.insert_shared(entity, mesh)`](crate::CommandBuffer::insert_shared) | in a system |
/// | the term `Shared<Mesh>`, without `&` | a [`SharedRef`](crate::shared::SharedRef), which is like `&Mesh`; only entities that have one |
/// | the term `Option<Shared<Mesh>>` | an `Option<&Mesh>`; all entities |
/// | [`query.where_shared(&mesh)`](crate::Query::where_shared) | only entities with an equal value |
/// | [`WithShared<Mesh>`](crate::shared::WithShared), [`WithoutShared<Mesh>`](crate::shared::WithoutShared) | filters: with any value, and with none |
/// | [`world.shared::<Mesh>().get`](crate::shared::SharedValues::get), [`contains`](crate::shared::SharedValues::contains), [`remove_shared`](crate::World::remove_shared) | of one entity |
/// | [`world.shared::<Mesh>().iter()`](crate::shared::SharedValues::iter) | the values that entities have |
/// | [`world.shared_mut().map_entities(\|owner: &Owner, id\| …)`](crate::shared::SharedValuesMut::map_entities) | replaces ids in values, for entities that go to another world |
/// | [`world.shared_mut().encode("mesh", …)`](crate::shared::SharedValuesMut::encode) | the conversion of values to bytes, for states on a disk or a wire |
///
/// To spawn many with a value, spawn one, give it the value, and
/// [`instantiate`](crate::World::instantiate) it: copies share its values. Or spawn a batch, and
/// share with all that have none yet.
///
/// A value cannot be written: to change it means to insert another one, which moves the row. The
/// filter [`Arrived`](crate::Arrived) reports that. The price: entities with different values lie
/// in different archetypes, so a world of `n` values has `n` lists of chunks, the last chunk of
/// each partly filled; and where entities go from any value to any other, some 400 bytes for each
/// pair of values. Share a value only if the values are few and have thousands of rows each;
/// [`World::explain`](crate::World::explain) warns if chunks are nearly empty. A value that each
/// entity has for itself is a component, or a [sparse
/// component](crate::component#sparse-components).
///
/// A value is dropped with the last chunk of its entities; if its destructor panics, the panic ends
/// there, after its message. A new value takes the number of one that has ended, the lowest that is
/// free, and its entities the archetypes that are left there: an entity with 1,000 values in turn
/// leaves three archetypes. Archetypes of values that have ended stay until
/// [`retire_archetypes`](crate::memory::MemoryMut::retire_archetypes). A world has room for 65,535
/// component types and values: for each type of values the largest number at one time counts, not
/// all values that ever existed. (A full world that was read from bytes may refuse a value though
/// a place is free: if a lower one is free as well that it never used, and for which it has no
/// room.) (With two shared types, values that come again may meet in other pairs than before, each
/// with archetypes of its own.) The [hash of a world](crate::World::hash) covers values by their
/// `Hash`, and their places. A [`Snapshot`](crate::snapshot::Snapshot) keeps values. As bytes it
/// has only values of types with an encoder, set by
/// [`SharedValuesMut::encode`](crate::shared::SharedValuesMut::encode), and of at most 49,151
/// components, types and values.
///
/// ```
/// # use phalanx::prelude::*;
/// #[component]
/// struct Place { x: f32, y: f32 }
///
/// #[derive(PartialEq, Eq, Hash)]
/// struct Mesh(&'static str);
///
/// let mut world = World::new();
/// let trees = world.spawn_batch((0..1000).map(|i| Place { x: i as f32, y: 0.0 })).to_vec();
/// world.matching::<&Place>().insert_shared(Mesh("oak"))?;
/// for &tree in &trees[..10] {
///     world.insert_shared(tree, Mesh("birch"))?;
/// }
/// let mut calls = Vec::new();
/// for (mesh, places) in world.query::<(Shared<Mesh>, &Place)>() {
///     calls.push((mesh.0, places.len())); // one call draws all of them
/// }
/// assert_eq!(calls, [("oak", 990), ("birch", 10)]);
/// assert_eq!(world.query::<&Place>().where_shared(&Mesh("birch")).count_rows(), 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// In a system it is a term like others, and conflicts with no other term. A change of a value is
/// recorded, as structural changes are:
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Age(u32);
/// # #[derive(Debug, PartialEq, Eq, Hash)] struct Mesh(&'static str);
/// fn grow(saplings: Query<(Entity, &mut Age, Shared<Mesh>)>, mut commands: Commands) {
///     for (tree, age, mesh) in saplings.rows() {
///         age.0 += 1;
///         if age.0 == 10 && mesh.0 == "sapling" {
///             commands.insert_shared(tree, Mesh("oak"));
///         }
///     }
/// }
/// # let mut world = World::new();
/// # let tree = world.spawn(Age(9));
/// # world.insert_shared(tree, Mesh("sapling"))?;
/// # let mut schedule = Schedule::new();
/// # schedule.add(grow);
/// # schedule.run(&mut world)?;
/// # assert_eq!(world.shared::<Mesh>().get(tree)?, &Mesh("oak"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Shared<T>(PhantomData<fn(T) -> T>);

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(type_name::<Self>())
    }
}

/// The name of the tag of one value of type `T` in the registry. It has no values.
#[derive(Debug)]
pub(crate) enum SharedTag<T> {
    #[expect(dead_code, reason = "the type is a name")]
    Never(core::convert::Infallible, PhantomData<T>),
}

//! The `Component` trait, and the attribute that implements it.

use core::sync::atomic::{AtomicU32, Ordering};

use super::about::About;
use super::plain::Plain;

/// Plain data that can be a column of a chunk.
///
/// Implemented by [`#[component]`](crate::component), which defines types or names existing ones.
/// It has no blanket implementation, so a bare `f32` is not a component by accident. A type of size
/// zero is a *tag*: it takes part in matching and occupies no column bytes.
///
/// A component and all of its fields are [`Plain`]: numbers, `bool`, `char`, `Entity`, enums
/// without fields, arrays, other components. Padding between or after the fields is an error:
/// reorder them or add a field to avoid it. For an [`Entity`](crate::Entity) that may be absent use
/// [`NULL`](crate::Entity::NULL), not an `Option`.
///
/// Where all fields are [`Pod`](bytemuck::Pod), the component is too, and so can be seen as
/// [`scalars`](crate::simd::scalars) or [`lanes`](crate::simd::lanes()); with a `bool` or an enum
/// in it, it cannot. This is the only cost: values are checked only where they are made from bytes.
///
/// Data that is not [`Plain`] (a `String`, a handle with a destructor) cannot be stored in chunks:
/// it is in a [sparse component](crate::component#sparse-components), beside them.
///
/// ```compile_fail,E0277
/// # use phalanx::prelude::*;
/// #[component]
/// struct Name { text: &'static str } // `&str` is not plain data
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a component",
    label = "not a component",
    note = "define it as one: `#[component] struct Name {{ field: f32 }}`",
    note = "an existing type derives `Clone, Copy, Pod, Zeroable` with `#[repr(C)]` and `#[bytemuck(crate = \"phalanx::bytemuck\")]`, and is named in `impl_component!({Self})`",
    note = "if it is one with `#[component(sparse)]`, or a `#[relation]`, it is in no column, and `Lookup` and `Previous` are not for it: the term `&{Self}` of a query, the parameter `Sparse<{Self}>` of a system and `world.sparse::<{Self}>()` have its values; a relation is read from both ends by `Relation<{Self}>`, or `Pairs<{Self}>` if it is one to many",
    note = "if it is one with `#[component(split)]`, this wants a component of one column, and a split component is several columns: `world.query::<&{Self}>().lookup()` has its rows by entity"
)]
pub trait Component: Plain {
    /// The stable name of the type, which should be unique in the program. A component that is
    /// named twice in a query or a bundle is found at compile time by this name, and the hash of a
    /// world depends on it.
    ///
    /// A world has one type for each name: the first that is used in a spawn, an insertion, or a
    /// query that borrows the world exclusively. Every use of another type of that name,
    /// even by a query that only reads, panics with [`NameTaken`](crate::error::NameTaken), which
    /// names both types by their paths. A recorded command fails with it, and all others are
    /// applied.
    const NAME: &'static str;

    /// Whether the component can be disabled in an entity that has it, with a bit a row:
    /// [`#[component(enableable)]`](crate::component#enableable-components).
    const ENABLEABLE: bool = false;

    /// Whether rows are found by change versions of 64 rows:
    /// [`#[component(lines)]`](crate::component#components-that-track-lines).
    const TRACKS_LINES: bool = false;

    /// Whether queries that do not name the component pass over the entities that have it:
    /// [`#[component(hidden)]`](crate::component#hidden-components).
    const HIDDEN: bool = false;

    /// Whether the component outlives the despawn of its entity:
    /// [`#[component(cleanup)]`](crate::component#cleanup-components).
    const CLEANUP: bool = false;

    /// A cache for the id of this type. [`#[component]`](crate::component) gives each type its own;
    /// without one, every look-up hashes.
    #[doc(hidden)]
    fn hint() -> Option<&'static ComponentHint> {
        None
    }

    /// The facts that the type tells about itself, for reports.
    #[doc(hidden)]
    fn about() -> About {
        About::NOTHING
    }
}

/// The id of a component type, or the number of a sparse set, in the world that looked it up last.
/// Every world checks the number before it uses it. It is mostly valid in all worlds of a program,
/// since programs mostly register types in one order.
#[doc(hidden)]
#[derive(Debug)]
pub struct ComponentHint(AtomicU32);

impl ComponentHint {
    /// An empty hint.
    #[expect(clippy::new_without_default, reason = "made in statics only")]
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU32::new(u32::MAX))
    }

    #[inline]
    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, id: u32) {
        self.0.store(id, Ordering::Relaxed);
    }
}

/// Defines a component: a struct or an enum of plain data.
///
/// [`impl_component!`](crate::impl_component) makes components of existing types.
///
/// # Definitions
///
/// ```
/// use phalanx::prelude::*;
///
/// /// In metres.
/// #[component]
/// #[derive(Debug, PartialEq)]
/// pub struct Position { pub x: f32, pub y: f32 }
///
/// #[component]
/// struct Health(#[default(100.0)] f32);
/// #[component]
/// struct Frozen; // a tag
/// #[component]
/// struct Door { is_open: bool, locked_by: [bool; 3] }
///
/// #[component]
/// #[derive(Debug, PartialEq)]
/// enum State { Idle, Walking, Dead = 9 }
///
/// let mut world = World::new();
/// let entity = world.spawn((Position { x: 1.0, ..Default::default() }, State::Walking, Frozen));
/// assert_eq!(world.get::<State>(entity), Ok(&State::Walking));
/// assert_eq!((Health::default().0, State::default()), (100.0, State::Idle));
/// ```
///
/// The type implements `Clone`, `Copy`, [`Default`], [`Zeroable`](bytemuck::Zeroable),
/// [`Component`](crate::Component), and the traits that `#[derive]` names. A crate needs only
/// phalanx for that, and may forbid unsafe code.
///
/// - **Structs** have the layout of C. Each field is [`Plain`](crate::Plain). Padding is a compile
///   error, which gives its place and size. If all fields are [`Pod`](bytemuck::Pod), so is the
///   struct. Its default has the values in `#[default(…)]`, the defaults of the other fields, and
///   zero for fields that have none (arrays of more than 32).
/// - **Enums** have no fields and are one byte. One variant has the value 0, by default the first:
///   it is the default of the enum, and the value of memory that no row has used.
/// - **Generic structs** have one field, and types or constants as parameters. They are `Pod` where
///   the field is. Each instance must be named in `impl_component!`, since each has its own name;
///   `Default` is zero.
/// - **Attributes** of the item are documentation, `derive`, lint levels, `must_use` and
///   `deprecated`. Fields may have attributes of derives, too. Types contain no macros.
/// - **Words** in the attribute are `sparse` and `plain`, `split`, `enableable`, `lines`, `hidden`
///   and `cleanup`, in the sections below, `name = "…"`, and `crate = path` where a crate names
///   phalanx by another path.
///
/// ```
/// # use phalanx::prelude::*;
/// #[component]
/// struct Samples<const N: usize>([f32; N]);
/// #[component]
/// struct Last<T: Component> { value: T }
/// impl_component!(Samples<8>, Samples<64>, Last<Samples<8>>);
/// ```
///
/// # Sparse components
///
/// `#[component(sparse)]` stores a component beside the chunks, by entity. It may be any type that
/// is `Send + Sync`: with a `String` or a handle, with a destructor, an enum with fields. Without
/// `plain` the item stays as it is. An entity gains and loses it without a move of its row.
///
/// ```
/// # use phalanx::prelude::*;
/// #[component]
/// struct Health(f32);
/// #[component(sparse)]
/// struct Name(String);
/// #[component(sparse)]
/// struct Burning { left: f32 }
///
/// fn burn(mut burning: SparseMut<Burning>, mut health: LookupMut<Health>) {
///     for (entity, fire) in burning.iter_mut() {
///         fire.left -= 1.0;
///         if let Ok(health) = health.get_mut(entity) {
///             health.0 -= 5.0;
///         }
///     }
/// }
///
/// let mut world = World::new();
/// let hero = world.spawn((Health(20.0), Name("Ada".to_owned()))); // a bundle of both kinds
/// world.insert(hero, Burning { left: 3.0 })?;
/// world.run(burn);
/// assert_eq!(world.get::<Health>(hero)?.0, 15.0);
/// let in_flames = world.query::<&Health>().with::<Burning>(); // chooses rows
/// assert!(in_flames.rows().all(|health| health.0 < 20.0));
/// assert_eq!(world.get::<Name>(hero)?.0, "Ada");
/// assert_eq!(world.remove::<Burning>(hero)?.left, 2.0);
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
///
/// | the data | the place |
/// | --- | --- |
/// | read or written for most entities of a kind, every frame | a component in chunks: kernels over slices |
/// | a state of many entities that toggles | `#[component(enableable)]`, a bit of each row |
/// | held by few entities, or for a short time: buffs, timers, selections | a sparse component |
/// | with a destructor or memory of its own, by entity | a sparse component |
/// | one value of many entities | a [shared value](crate::shared) |
///
/// A look-up takes 3 ns. A pair of insert and removal takes 4 to 5 times the time of a bare sparse
/// set by [`SparseMut`](crate::sparse::SparseMut), 5 to 7 times by the world, and 12 to 14 by
/// commands: it asks whether the entity is alive, has versions, and tells the row (Xeon, 10,000 of
/// 100,000 entities, in order or random, by `cargo bench -- --limits ^sparse_pairs`).
///
/// - **Queries choose rows by it**: [`With`](crate::With), [`Without`](crate::Without),
///   [`AnyOf`](crate::AnyOf) and expressions of them read a bit a row, as for
///   [enableable](crate::component#enableable-components) components. A pass takes whole slices
///   where all rows or none have it, and runs of rows between. Archetypes without these bits cost
///   as much as without the filter; an archetype gets them with its first entity that has the
///   component, or when a change leads to it from an archetype that has them, and keeps them until
///   [`compact`](crate::memory::MemoryMut::compact) finds no such entity. In a schedule such a
///   filter excludes [`SparseMut<Burning>`](crate::sparse::SparseMut), and two filters never
///   make two queries disjoint. [`IgnoreEnabled`](crate::IgnoreEnabled) does not change it.
/// - **It is a term**: `&Burning` and `&mut Burning` choose rows as `With<Burning>` does, and
///   `Option` of them all rows; by row they yield references. By chunk they yield a
///   [`SparseSlice`](crate::sparse::SparseSlice), which iterates over rows and their values, beside
///   the slices of columns. A pass reads a bit a row of archetypes that can have the component, and
///   a value takes a look-up of 2 ns. Where a term requires a component that has at most four
///   values for each chunk, [`rows`](crate::Query::rows) begins with these, in the same order: ten
///   of a million rows take 0.8 µs, and by the bits 11. So do `for_each` and such with up to 32
///   that lie apart and in the order of the rows. Other calls, and filters, read the bits.
///   Several threads may read the values, and one writes them: `&mut Burning` and
///   [`par`](crate::Query::par) do not compile together. The term locks the whole component, so a
///   system excludes others that write it, whatever rows they choose. Every query visits rows in
///   their order, which is not the order of the values; so a system without other terms has all
///   values as slices by [`Sparse`](crate::sparse::Sparse) or `SparseMut` instead, in the order of
///   [`iter`](crate::sparse::Sparse::iter), and those that are not hidden [block by
///   block](crate::sparse::SparseBlocksMut), also in parallel.
/// - **Calls for all that match** ([`Matching::insert`](crate::Matching::insert), commands by
///   query) insert clones; of relations they only remove. **Logs** have values if it is `plain`.
/// - **It is dropped** when its entity is despawned, in any way, unless it is a [cleanup
///   component](#cleanup-components), or when the world is cleared or dropped. Values of one call
///   are dropped after the last despawn: by component in the order of first use, and by entity. If
///   a destructor panics, the call finishes first; if several panic, the first panic goes on. A
///   value in a command that is never applied, or that fails, is dropped as well.
/// - [`World::get`](crate::World::get) returns a [`SparseRef`](crate::sparse::SparseRef), which is
///   a guard that derefs to the value, and [`World::get_mut`](crate::World::get_mut) a reference.
/// - [`World::instantiate`](crate::World::instantiate) copies plain ones, merges replace [ids in
///   it](crate::MapEntities), [logs](crate::logs::Removals#sparse-components) tell who got it.
/// - **States**: `#[component(sparse, plain)]` defines plain data, as `#[component]` does.
///   [Snapshots](crate::snapshot::Snapshot) and their bytes have all [`Plain`](crate::Plain)
///   values, others can be [kept in memory](crate::sparse::SparseMut::keep_in_snapshots).
///   [`World::hash`](crate::World::hash) covers the entities of all, and plain values.
/// - [`Changed`](crate::Changed) chooses rows by blocks of values, of at most 16 KiB each.
/// - A despawn makes one look-up for each sparse component that the world has.
/// - `sparse` goes with `plain`, `cleanup`, `name` and `crate = path`, and the item is not generic.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// # #[component(sparse)] struct Burning { left: f32 }
/// fn burn(mut query: Query<(&mut Health, &mut Burning)>) {
///     for (health, fire) in query.rows_mut() {
///         fire.left -= 1.0;
///         health.0 -= 5.0;
///     }
/// }
/// # let mut world = World::new();
/// # let entity = world.spawn((Health(20.0), Burning { left: 3.0 }));
/// world.run(burn);
/// assert_eq!(world.query::<(&Burning, &Health)>().single()?.1.0, 15.0);
/// # Ok::<(), phalanx::error::NotSingle>(())
/// ```
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// # #[component(sparse)] struct Name(String);
/// let [a, b] = ["a", "b"].map(|name| Name(name.to_owned()));
/// World::new().spawn((a, Health(1.0), b)); // a component is named twice
/// ```
///
/// # Split components
///
/// `#[component(split)]` gives each field of a struct a column of its own. The terms of a query
/// become structs of slices, which are defined along with it: `&Position` yields `PositionSlices`,
/// `&mut Position` yields `PositionSlicesMut`.
///
/// ```
/// # use phalanx::prelude::*;
/// #[component(split)]
/// struct Position { x: f32, y: f32, z: f32 }
/// #[component]
/// struct Height(f32);
///
/// #[kernel]
/// fn heights(height: &mut [Height], y: &[f32]) {
///     for (height, y) in height.iter_mut().zip(y) {
///         height.0 = y.max(0.0);
///     }
/// }
///
/// let mut world = World::new();
/// let entity = world.spawn((Position { x: 1.0, y: 2.0, z: 3.0 }, Height(0.0)));
/// for (height, position) in world.query_mut::<(&mut Height, &Position)>() {
///     heights(height, position.y); // reads a third of the bytes, and all lanes are alike
/// }
/// assert_eq!(world.get::<Height>(entity)?.0, 2.0);
/// assert_eq!(world.get::<Position>(entity)?.z, 3.0); // the value, not a reference
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
///
/// It pays for kernels that need some of the fields, and at levels below AVX-512 for kernels that
/// combine the fields of a row, for example to a length. It costs in kernels that treat all fields
/// alike, which read a stream a field, and where rows are read one by one, since a row is in one
/// place per field (`cargo bench -- ^split_` measures all of these). Everything else is as for
/// other components, with these differences:
///
/// - Rows are values: `rows()` of `&Position` yields `Position`, and
///   [`World::get`](crate::World::get) returns one. The rows of `&mut Position` are
///   [`SplitMut`](crate::SplitMut).
/// - A field is [`Pod`](bytemuck::Pod), and a struct has up to twelve. Padding does not matter. The
///   type of each field is visible wherever the struct is, also that of a private field.
/// - The fields have one version together, because `&mut Position` hands out all of them. For
///   versions a field, make components of the fields.
/// - Reports name the columns: `game::Position.x`. So does
///   [`ReflectMut::insert`](crate::reflect::ReflectMut::insert), which takes all of them. An entity
///   has all columns or none.
/// - Methods that hand out references or copy a column ([`World::lookup`](crate::World::lookup),
///   `get_disjoint_mut`, `gather`, `scatter`, `spawn_columns`, `flip`) and generic code take
///   components of one column. For rows by entity use [`Query::lookup`](crate::Query::lookup); see
///   [`Columnar`](crate::Columnar).
///
/// # Enableable components
///
/// `#[component(enableable)]` gives each row a bit for the component, outside of the chunk. It is
/// switched off and on in place, and while it is off queries take it for absent: see
/// [`World::set_enabled`](crate::World::set_enabled). For states that change often, where inserts
/// and removals would move the entity each time.
///
/// ```
/// # use phalanx::prelude::*;
/// #[component]
/// struct Speed(f32);
/// #[component(enableable)]
/// struct Awake;
/// let mut world = World::new();
/// world.spawn_batch((0..1000).map(|i| (Speed(i as f32), Awake)));
/// for (speeds, mut awake) in world.query_mut::<(&Speed, EnabledMut<Awake>)>() {
///     awake.assign(|row| speeds[row].0 >= 100.0);
/// }
/// assert_eq!(world.query::<&Speed>().with::<Awake>().count_rows(), 900);
/// ```
///
/// Generic and split structs take no `#[component(enableable)]`: switch a tag beside them.
///
/// Which form of a loop: [`rows`](crate::Query::rows) for any pattern, slices for kernels where
/// runs are long, [`masked`](crate::Query::masked) for kernels where they are not. `rows` takes
/// long runs as slices and finds the others bit by bit, a word of 64 rows at a time; the slices of
/// a query, its chunks and `for_each_chunk` are one turn a run, however short. Nanoseconds a row
/// that the archetype has, of `&mut` and `&` components of four bytes, beside a test of a `bool`
/// column in the same form (medians of 29 passes over 1,000,000 rows in time of the thread, Zen 4
/// with other programs beside, `cargo build --release` for the baseline of x86-64):
///
/// | form | all on | all off | every 2nd | random 50 % | random 10 % | long runs | 1 off in 64 |
/// | --- | --- | --- | --- | --- | --- | --- | --- |
/// | `for` over `rows()` | 0.97 | 0.01 | 0.82 | 0.92 | 0.44 | 0.60 | 1.21 |
/// | the same, `bool` | 1.32 | 0.90 | 1.10 | 4.32 | 1.67 | 1.33 | 1.29 |
/// | `rows().for_each` | 0.13 | 0.01 | 0.60 | 0.70 | 0.35 | 0.19 | 0.33 |
/// | the same, `bool` | 0.56 | 0.55 | 0.57 | 3.35 | 1.18 | 0.81 | 0.57 |
/// | `for` over slices | 0.14 | 0.01 | 2.01 | 2.24 | 0.57 | 0.24 | 0.28 |
/// | `for_each_chunk` | 0.11 | 0.01 | 2.57 | 2.59 | 0.67 | 0.16 | 0.28 |
/// | `for` over `chunks()` | 0.13 | 0.01 | 4.30 | 3.12 | 1.02 | 0.18 | 0.34 |
/// | slices, `bool` | 0.42 | 0.28 | 0.31 | 3.42 | 0.98 | 0.53 | 0.51 |
///
/// So where every second row is off, a branch that the processor predicts, slices lose: by 6 times,
/// `chunks()` by 14. With two `&mut` components `rows().for_each` takes 0.88 there and `bool` 0.64,
/// and at random 90 % 1.58 and 1.43.
///
/// # Components that track lines
///
/// `#[component(lines)]` gives each 64 rows the versions of their last two changes, and each row a
/// bit, 24 bytes outside of the chunk. A chunk has one version for all its rows, so that a few
/// writes at random make nearly every chunk one that changed. The filter
/// [`ChangedLines`](crate::lines::ChangedLines) finds the rows:
///
/// ```
/// # use phalanx::prelude::*;
/// #[component(lines)]
/// struct Health(f32);
/// let mut world = World::new();
/// let all = world.spawn_batch([Health(9.0); 10_000]).to_vec();
/// let before = world.version();
/// let mut health = world.lookup_mut::<Health>();
/// for hit in all.iter().step_by(1000) {
///     health.get_mut(*hit)?.0 -= 1.0;
/// }
/// assert_eq!(world.query::<&Health>().changed_since(before).count_rows(), 10_000);
/// let lines = world.query::<&Health>().filter_since::<ChangedLines<Health>>(before);
/// assert_eq!(lines.count_rows(), 10);
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
///
/// A write by entity stamps a row. A loop over slices gets all rows as `&mut`, so all rows count as
/// changed; the term [`LinesMut`](crate::lines::LinesMut) stamps only the rows that a kernel takes
/// from it for writing. A query that sees only enabled rows stamps these. A loop over slices costs
/// the same as without such versions. They take 24 bytes for each 64 rows for which a chunk has
/// room, used or not: 1.5 KiB of 4,096 rows. Generic and split structs take no `lines`.
///
/// # Hidden components
///
/// `#[component(hidden)]` makes a component that hides its entities: a query passes over them,
/// unless it names the component in a term or a filter. [`Disabled`](crate::Disabled) and
/// [`Prototype`](crate::Prototype) are two that every program has.
///
/// ```
/// # use phalanx::prelude::*;
/// #[component(hidden)]
/// struct Pooled;
/// #[component]
/// struct Bullet { speed: f32 }
/// let mut world = World::new();
/// world.spawn_batch([(Bullet { speed: 9.0 }, Pooled); 100]);
/// world.spawn(Bullet { speed: 5.0 });
/// assert_eq!(world.query::<&Bullet>().count_rows(), 1);
/// assert_eq!(world.query::<&Bullet>().with::<Pooled>().count_rows(), 100);
/// assert_eq!(world.query::<(&Bullet, Option<&Pooled>)>().count_rows(), 101);
/// ```
///
/// The choice is made per archetype, when it is new, and costs no time in the loop. Calls of
/// the world that name an entity find it, hidden or not: [`World::get`](crate::World::get),
/// [`World::lookup`](crate::World::lookup), commands on one entity. A query finds by entity the
/// rows that its passes visit ([`Query::get`](crate::Query::get)). A component that is
/// `#[component(enableable)]` as well hides its entities whatever their bits. Generic structs take
/// neither `#[component(hidden)]` nor `#[component(cleanup)]`.
///
/// # Cleanup components
///
/// `#[component(cleanup)]` makes a component that outlives the despawn of its entity: for a handle
/// to a thing outside of the world, which has to be given back. *New*, *tracked* and *gone*
/// entities are three queries:
///
/// ```
/// # use phalanx::prelude::*;
/// #[component]
/// struct Body { mass: f32 }
/// #[component(cleanup)]
/// struct InPhysics { handle: u32 }
/// fn enter(new: Query<(Entity, &Body), Without<InPhysics>>, mut commands: Commands) {
///     for (entity, _body) in new.rows() {
///         commands.insert(entity, InPhysics { handle: entity.index() }); // ask the engine for one
///     }
/// }
/// fn leave(gone: Query<(Entity, &InPhysics), With<Gone>>, mut commands: Commands) {
///     for (entity, _physics) in gone.rows() {
///         commands.remove::<InPhysics>(entity); // give the handle back
///     }
/// }
/// let mut world = World::new();
/// let mut schedule = Schedule::new();
/// schedule.add((enter, leave));
/// let entity = world.spawn(Body { mass: 1.0 });
/// schedule.run(&mut world)?;
/// assert_eq!(world.query::<(&Body, &InPhysics)>().count_rows(), 1, "it is tracked");
/// world.despawn(entity).unwrap();
/// assert_eq!(world.query::<&InPhysics>().with::<Gone>().count_rows(), 1);
/// schedule.run(&mut world)?;
/// assert!(world.is_empty());
/// # Ok::<(), phalanx::schedule::ScheduleError>(())
/// ```
///
/// [`Gone`](crate::Gone) describes the entity between its despawn and its end. Copies made by
/// [`World::instantiate`](crate::World::instantiate) have no cleanup components. With `sparse` one
/// is of any type: its value stays in its set, and its destructor may give the handle back.
///
/// Three things lose a handle: overwriting the component; an entity that another system despawns
/// between the query of `enter` and its command, which has no effect in this case (let `enter` run
/// before such systems, or make handles at the sync point, by `commands.run`); and a `leave` that
/// does not see a component which is `#[component(enableable)]` as well and was disabled.
///
/// [`Removed`](crate::logs::Removed) reads the components that any entity has lost. To give a
/// handle back, use it or the query of entities that are gone, and not both.
///
/// # Names
///
/// The name of a component is its path, `crate::module::Type`, unless another is given by `name`.
/// Give one to types that are stored on disk and may move between modules.
///
/// ```
/// # use phalanx::prelude::*;
/// #[component(name = "game.health")]
/// struct Health { points: f32 }
/// #[component(name = "game.shield")]
/// struct Shield(f32);
/// #[component]
/// struct Frozen;
/// assert_eq!(Health::NAME, "game.health");
/// assert!(Frozen::NAME.ends_with("Frozen"));
/// ```
pub use phalanx_macros::component;

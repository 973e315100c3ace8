//! Relations: sparse components that point at another entity.
//!
//! ```text
//!  value     source ─► target      the component of the source, by entity like any sparse one
//!  reverse   target ─► sources     an index beside the values: the store keeps it
//! ```
//!
//! A value changes as a whole, because a write through a reference would leave the list as it was:
//! so no call hands out `&mut` to it.

use crate::entity::Entity;

use super::columnar::{AnyComponent, InSet};
use super::sparse_component::SparseComponent;

/// A relation: a [sparse component](crate::component#sparse-components) that points at one entity,
/// its target. [`#[relation]`](crate::sparse::relation) implements it.
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::sparse::RelationComponent;
/// #[relation(tree, name = "game.child_of")]
/// struct ChildOf;
///
/// fn attach<R: RelationComponent>(world: &mut World, source: Entity, target: Entity) {
///     world.insert(source, R::to(target)).expect("both are alive");
/// }
/// # let mut world = World::new();
/// # let (parent, child) = (world.spawn(()), world.spawn(()));
/// # attach::<ChildOf>(&mut world, child, parent);
/// # assert_eq!(world.relation::<ChildOf>().target(child), Some(parent));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a relation",
    label = "not a relation",
    note = "define it as one: `#[relation(tree)] struct ChildOf;` or `#[relation] struct Target;`",
    note = "if it is one to many, `#[relation(many)]`, its parameter of systems is `Pairs<{Self}>`, and `world.relation::<{Self}>()` returns that"
)]
pub trait RelationComponent: SparseComponent + AnyComponent<Shape = InSet<Self>> {
    /// The relation to a target.
    #[must_use]
    fn to(target: Entity) -> Self {
        match Self::RELATION {
            Some(rules) => (rules.of)(target),
            None => panic!("`{}` is no relation: define it by `#[relation]`", Self::NAME),
        }
    }
}

/// A relation without cycles: no entity is above itself.
/// [`#[relation(tree)]`](crate::sparse::relation) implements it.
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::sparse::TreeRelation;
/// #[relation(tree)]
/// struct ChildOf;
///
/// fn depth<R: TreeRelation>(world: &World, entity: Entity) -> usize {
///     world.relation::<R>().ancestors(entity).count()
/// }
/// # assert_eq!(depth::<ChildOf>(&World::new(), Entity::NULL), 0);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a relation without cycles",
    label = "it has no ancestors, descendants and levels",
    note = "define it as a tree: `#[relation(tree)] struct ChildOf;`"
)]
pub trait TreeRelation: RelationComponent {}

/// Defines a relation: a component that points at one entity, its target. The world knows the way
/// back: the sources of a target, as a slice.
///
/// ```
/// # use phalanx::prelude::*;
/// #[relation(tree, on_delete = despawn)]
/// struct ChildOf;
/// #[relation]
/// struct Target;
///
/// let mut world = World::new();
/// let ship = world.spawn(());
/// let turrets = world.spawn_batch([ChildOf::of(ship); 2]).to_vec();
/// let enemy = world.spawn(());
/// world.insert(turrets[0], Target::of(enemy))?;
///
/// assert_eq!(world.get::<ChildOf>(turrets[1])?.target(), ship);
/// assert_eq!(world.relation::<ChildOf>().sources(ship), turrets);
/// assert_eq!(world.query::<Entity>().with::<Target>().count_rows(), 1);
///
/// world.despawn(enemy)?; // no one aims at it any more
/// assert!(!world.has::<Target>(turrets[0]));
/// world.despawn(ship)?; // and its turrets
/// assert!(world.is_empty());
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
///
/// | words | the relation |
/// | --- | --- |
/// | (none) | one target for each source; cycles, and an entity that is its own target, are allowed |
/// | `tree` | one target, and no cycle: [`Relation`](crate::sparse::Relation) has ancestors, descendants and levels |
/// | `ordered` | one target, whose sources keep their order: see [below](#ordered-sources) |
/// | `many` | any number of targets, and a value for each: see [below](#many-targets) |
/// | `on_delete = remove` | sources of a despawned target lose the relation (the default) |
/// | `on_delete = despawn` | they are despawned with it, breadth first, and their sources after them |
/// | `on_delete = refuse` | the target is not despawned as long as a source stays |
/// | `name = "…"`, `crate = path` | as for [components](crate::component) |
///
/// - **It is a [sparse component](crate::component#sparse-components)** with the value
///   `ChildOf::of(target)`, which is read by `target()`. Spawns, `insert`, `remove`, `exchange`,
///   bundles, batches and commands take it, [`With`](crate::With) and
///   [`Without`](crate::Without) choose rows by it, and no row moves when it comes or goes: sources
///   of one target are in the same chunks as others. It is no column: queries read it by row, as
///   the term `&ChildOf`, and [`Relation`](crate::sparse::Relation) by entity.
///   [`Relation::rows_of`](crate::sparse::Relation::rows_of) has the rows of a query of the sources
///   of one target, and [`Relation::propagate`](crate::sparse::Relation::propagate) slices, level
///   after level, with the values of the parents.
///   [`TargetValues`](crate::sparse::TargetValues) are a component of the target of each row, or of
///   its nearest ancestor that has it, as a slice beside the row's own. A
///   [`Disabled`](crate::Disabled) source keeps its target: queries skip it, unless they name
///   `Disabled` or [`IncludeHidden`](crate::IncludeHidden), and `Relation` counts it.
/// - **A call is refused** if the target is not alive (a reserved id is), or if a `tree` would get
///   a cycle: [`RelationError`](crate::sparse::RelationError), and the world is unchanged. Commands
///   are judged when they are played, one after the other: a relation that is refused is one of the
///   [`CommandErrors`](crate::command::CommandErrors), and its command is applied without it. The
///   entity keeps its former target. In a schedule a dead target is counted in the
///   [report](crate::Schedule::report), because another system may have despawned it; a cycle, an
///   entity as its own target in a tree, and a despawn that is refused are errors of the
///   [run](crate::Schedule::run). [`relate_batch`](crate::sparse::relate_batch) gives many entities
///   relations, all or none, and judges a tree by its graph at the end.
///   `spawn` and `spawn_batch` panic, as for other errors; their `try_` forms return it.
/// - **Costs**: O(1) to add, change and remove a relation and to despawn a source, however many
///   siblings it has, unless it is [`ordered`](#ordered-sources). A source that gets a new target
///   in a `tree` costs O(depth of the target), or O(1) if it has no sources itself. A despawned
///   target costs O(1) for each source.
/// - **Despawns** follow the rules by any call: one entity, a batch,
///   [`Matching::despawn`](crate::Matching::despawn), [`retain`](crate::Matching::retain), and
///   commands. Those that follow are counted like the others. A despawn that a relation refuses is
///   refused as a whole before a row changes, also if the target is deep in a tree that goes; both
///   ends may go in one call. A command on an entity that was taken along is one on an entity that
///   is not alive: a schedule counts it, and goes on.
///   [`World::despawn`](crate::World::despawn) returns the reason, calls that return a number
///   return 0. Recorded despawns that follow each other are one call, which
///   despawns all that can go and reports the rest; recorded despawns by query are refused as a
///   whole. [`World::clear`](crate::World::clear) and [`World::restore`](crate::World::restore)
///   follow no rule.
/// - **By name**, `"game.child_of"`, without the type: [`Reflect`](crate::reflect::Reflect) reads
///   both ends of any relation and the values of pairs;
///   [`relate`](crate::reflect::ReflectMut::relate) and
///   [`unrelate`](crate::reflect::ReflectMut::unrelate), and the commands
///   [`relate_named`](crate::CommandBuffer::relate_named) and
///   [`unrelate_named`](crate::CommandBuffer::unrelate_named), change it.
/// - **Logs**: [`Inserted`](crate::logs::Inserted) and [`Removed`](crate::logs::Removed) read the
///   sources that got the relation and lost it, with the target. A new target is neither, so a
///   loss may have another target than the gain: tables are kept by source. To make it seen, remove
///   the relation first; in commands with a barrier between, such as
///   [`run`](crate::CommandBuffer::run).
/// - **States**: a [`Snapshot`](crate::snapshot::Snapshot) has all relations, and the order of
///   sources; so have its bytes and deltas, and [`World::hash`](crate::World::hash) covers both. A
///   world that reads the bytes must know the relation, by [`register`](crate::World::register) or
///   by use. Bytes with a cycle in a tree are refused. [`World::merge`](crate::World::merge) maps
///   both ends. [`World::move_from`](crate::World::move_from) removes a relation that has one end
///   in each world, and despawns nothing. [`World::instantiate`](crate::World::instantiate) copies
///   no relation, so a copy has no target;
///   [`World::instantiate_tree`](crate::World::instantiate_tree) copies a tree with the relations
///   of its entities. [`World::check`](crate::World::check) compares both directions.
///
/// # Ordered sources
///
/// With `ordered`, alone or beside `tree`, the sources of a target stand in an order that stays: a
/// source that comes is the last one, and the others keep their order when one leaves. `at` names
/// another place.
///
/// ```
/// # use phalanx::prelude::*;
/// #[relation(tree, ordered)]
/// struct ChildOf;
///
/// let mut world = World::new();
/// let list = world.spawn(());
/// let [a, b, c] = [(); 3].map(|()| world.spawn(ChildOf::of(list)));
/// let d = world.spawn(ChildOf::of(list).at(1)); // inserted between `a` and `b`
/// assert_eq!(world.relation::<ChildOf>().sources(list), [a, d, b, c]);
/// world.insert(c, ChildOf::of(list).at(0))?; // moved to the front
/// world.insert(a, ChildOf::of(list).at(usize::MAX))?; // and to the end
/// assert_eq!(world.relation::<ChildOf>().sources(list), [c, d, b, a]);
/// world.insert(d, ChildOf::of(list))?; // it stays where it is
/// world.despawn(c)?;
/// assert_eq!(world.relation::<ChildOf>().sources(list), [d, b, a]);
/// assert_eq!(world.relation::<ChildOf>().place(a), Some(2));
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
///
/// - **A place** is an index into [`sources`](crate::sparse::Relation::sources) after the call:
///   `at(2)` is after two others. A place beyond the end is the end, because a command is recorded
///   before others change the list. Spawns, bundles, batches, exchanges and commands take `at` as
///   well, and apply it one entity after the other: a batch that comes to one place stands there in
///   the opposite order. An exchange removes first, so without `at` the source comes last.
/// - **A value in the world has no place**: `ChildOf::of(list).at(1)` is read, returned and logged
///   as `ChildOf::of(list)`. [`Relation::place`](crate::sparse::Relation::place) is the place.
/// - **The order of sources** is that of [`sources`](crate::sparse::Relation::sources),
///   [`rows_of`](crate::sparse::Relation::rows_of),
///   [`depth_first`](crate::sparse::Relation::depth_first),
///   [`descendants`](crate::sparse::Relation::descendants) and of each level in
///   [`levels`](crate::sparse::Relation::levels). Queries keep the order of rows. States, merges,
///   moves between worlds and copies of trees have it; copies whose target is not copied come after
///   the sources that it has.
/// - **Costs**: a source that comes last is added in O(1). A removal and a move cost
///   O(siblings between the old and the new place, or the end). So a loop that takes sources from
///   the front one by one is quadratic: from the last to the first it is not. n entities that are
///   despawned by one call, or by despawns in a buffer without other commands between, cost
///   O(n log n + siblings) together. A value has 16 bytes, and not 8.
/// - **Logs** do not read a move among siblings, as they do not read a new target;
///   [`Changed`](crate::Changed) sees both, but not the siblings that have moved up or down.
///
/// # Values
///
/// Values change as wholes, by calls that update the reverse index. No call writes one
/// through a reference:
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// # #[relation] struct Target;
/// # let mut world = World::new();
/// let targets = world.sparse_mut::<Target>();
/// ```
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// # #[relation] struct Target;
/// # let mut world = World::new();
/// # let entity = world.spawn(());
/// let target = world.get_mut::<Target>(entity);
/// ```
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// # #[relation] struct Target;
/// # let mut world = World::new();
/// let targets = world.query_mut::<&mut Target>();
/// ```
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// # #[relation] struct Target;
/// # let mut world = World::new();
/// let targets = world.query_mut::<(Entity, Option<&mut Target>)>();
/// ```
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// # #[relation] struct Target;
/// fn aim(targets: SparseMut<Target>) {}
/// let mut schedule = Schedule::new();
/// schedule.add(aim);
/// ```
///
/// ```compile_fail,E0594
/// # use phalanx::prelude::*;
/// # #[relation] struct Target;
/// # let mut world = World::new();
/// # let entity = world.spawn(());
/// let mut targets = world.sparse::<Target>();
/// *targets.get(entity).unwrap() = Target::of(entity);
/// ```
///
/// ```compile_fail,E0596
/// # use phalanx::prelude::*;
/// # #[relation] struct Target;
/// # let mut world = World::new();
/// # let [a, b] = [(); 2].map(|()| world.spawn(()));
/// let mut one = world.get::<Target>(a).unwrap();
/// let mut other = world.get::<Target>(b).unwrap();
/// std::mem::swap(&mut *one, &mut *other);
/// ```
///
/// A relation with one target has no data of its own: a component beside it has them.
///
/// ```compile_fail
/// # use phalanx::prelude::*;
/// #[relation]
/// struct Likes { weight: f32 }
/// ```
///
/// # Many targets
///
/// With `many` a source has any number of targets, and the struct or enum is the value of one
/// *pair* of a source and a target: [plain data](crate::Plain), or none.
///
/// ```
/// # use phalanx::prelude::*;
/// #[relation(many)]
/// struct Likes { weight: f32 }
/// #[relation(many, on_delete = despawn)]
/// struct BoundTo;
///
/// let mut world = World::new();
/// let [a, b, c] = [(); 3].map(|()| world.spawn(()));
/// world.insert(a, Likes { weight: 0.5 }.of(b))?;
/// world.insert(a, Likes { weight: 0.25 }.of(c))?; // and `b` stays
/// world.insert(a, Likes { weight: 1.0 }.of(b))?; // the same pair with another value
/// let spell = world.spawn(Targets::from([(a, BoundTo), (b, BoundTo)]));
///
/// let likes = world.relation::<Likes>();
/// assert_eq!((likes.targets(a), likes.sources(b)), (&[b, c][..], &[a][..]));
/// assert_eq!(likes.get(a, b).unwrap().weight, 1.0);
/// drop(likes);
/// world.get_mut::<Likes>(a)?.get_mut(c).unwrap().weight += 0.5;
/// world.get_mut::<Likes>(a)?.remove(b); // one pair
/// world.remove::<Targets<Likes>>(a)?; // all pairs of a source
///
/// world.despawn(b)?;
/// assert!(!world.contains(spell), "one of its targets is gone");
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
///
/// The rules above hold, but for those of `ordered`, and with these differences:
///
/// - **The component is the list**: [`Targets<Likes>`](crate::sparse::Targets), with a value for
///   each target, is inserted, removed and returned; `Likes { .. }.of(target)` is a list of one. An
///   insertion adds pairs, and overwrites the value of a pair that exists: an exchange of
///   `Targets<Likes>` for another list replaces all. If one target of a list is not alive, the
///   whole list is refused. `With<Likes>`, `Without<Likes>` and the term `&Likes`, which yields the
///   list, name the relation alone, and so do `has`, `get`, `get_mut` and `relation`. An entity
///   whose last pair is removed loses the component.
/// - **From both ends** it is a [`Pairs`](crate::sparse::Pairs), also as a parameter of systems.
///   [`World::get_mut`](crate::World::get_mut) writes values and removes single pairs
///   ([`TargetsMut`](crate::sparse::TargetsMut)). A system has commands: it inserts `.of(target)`,
///   removes `Targets<Likes>`, or a single pair by
///   [`remove_pair`](crate::CommandBuffer::remove_pair), and writes one in place by
///   [`run`](crate::CommandBuffer::run).
/// - **Costs**: a pair is found, and so added and removed, in O(the targets of the source or the
///   sources of the target), whichever are fewer; with a despawned source or target each of its
///   pairs goes in O(1). Nothing depends on other pairs.
/// - **Despawns**: with `remove` the pairs of the target go, with `despawn` a source goes with any
///   of its targets, with `refuse` each source holds all its targets. Itself is allowed as a
///   target, and cycles are: with `despawn` they go together.
/// - **Logs** read the first pair that a source gets and the last one that it loses, without
///   values.
/// - **Ids in values**, such as a field `witness: Entity`, are replaced with the ends of the pair
///   in other worlds and in copies of trees: see [`MapEntities`](crate::MapEntities).
/// - **States** have the pairs, their values, and the orders of both lists. Bytes in which a pair
///   comes twice or a target is not alive are refused. A state with pairs is read by worlds that
///   know `Targets<Likes>`, for example by
///   [`register`](crate::World::register)`::<Targets<Likes>>()`; others refuse it.
///   [`World::instantiate_tree`](crate::World::instantiate_tree) copies the pairs of the entities
///   in a tree; targets outside of it are targets of the copies, too.
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// # #[relation(many)] struct Likes { weight: f32 }
/// # let mut world = World::new();
/// let lists = world.query_mut::<&mut Likes>(); // a list is not written through a reference
/// ```
///
/// ```compile_fail
/// # use phalanx::prelude::*;
/// # #[relation(many)] struct Likes { weight: f32 }
/// # let mut world = World::new();
/// world.spawn(Likes { weight: 0.5 }); // without a target
/// ```
pub use phalanx_macros::relation;

//! Relations of many entities in one call.

use crate::component::{SparseBundle, SparseComponent};
use crate::entity::Entity;
use crate::store::EntityError;

use super::world::World;

/// Gives entities that exist [relations](crate::sparse::relation) of one type, all or none, in one
/// call with one version.
///
/// A tree is judged by the graph at the end: a parent and its child may change places, and a
/// subtree may go below an entity that leaves it in the same batch. Otherwise the result equals
/// [`World::insert`] for one pair after the other: of two relations of an entity the later one
/// replaces the earlier, and sources of [`ordered`](crate::sparse::relation#ordered-sources)
/// relations come last, or to their places, in the order of the batch. Commands are judged one by
/// one; [`run`](crate::CommandBuffer::run) records a call of this function.
///
/// Two orders that have no rule may be other ones than after single calls, if the relation is
/// ordered, no value asks for a place, and a source comes twice or a target loses all sources that
/// it had: the order of the roots in [`Relation::levels`](crate::sparse::Relation::levels), and the
/// order of [`Relation::iter`](crate::sparse::Relation::iter). [`World::hash`] covers both.
///
/// O(batch), and of a tree O(batch + entities above it). Sources that keep an order take O(batch ·
/// log(batch) + siblings) more, and O(batch × siblings) if one of them asks for a place. A
/// relation to many looks for each pair in the shorter one of two lists: the targets of its
/// source, and the sources of its target.
///
/// # Errors
///
/// If an entity or a target is not alive, or a tree would have a cycle. The world is unchanged. The
/// error of a cycle names the first source of the batch that is a part of it, and its last target.
///
/// # Panics
///
/// If another component of the world has the name of the relation. The world is unchanged.
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::sparse::relate_batch;
/// #[relation(tree)]
/// struct ChildOf;
///
/// let mut world = World::new();
/// let root = world.spawn(());
/// let parent = world.spawn(ChildOf::of(root));
/// let child = world.spawn(ChildOf::of(parent));
/// // They change places, which no order of single calls does: the first one makes a cycle.
/// relate_batch(&mut world, [(parent, ChildOf::of(child)), (child, ChildOf::of(root))])?;
/// assert_eq!(world.relation::<ChildOf>().root(parent), root);
/// assert_eq!(world.relation::<ChildOf>().sources(child), [parent]);
///
/// let refused = [(root, ChildOf::of(child)), (parent, ChildOf::of(root))];
/// assert!(relate_batch(&mut world, refused).is_err());
/// assert_eq!(world.relation::<ChildOf>().target(parent), Some(child), "none is made");
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
///
/// A component that is no relation is not taken:
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// # #[component(sparse)] struct Name(String);
/// # let mut world = World::new();
/// # let entity = world.spawn(());
/// phalanx::sparse::relate_batch(&mut world, [(entity, Name("Ada".to_owned()))]);
/// ```
pub fn relate_batch<R: SparseComponent>(
    world: &mut World,
    pairs: impl IntoIterator<Item = (Entity, R)>,
) -> Result<(), EntityError> {
    const { assert!(<R as SparseBundle>::HAS_RELATIONS, "`relate_batch` takes relations") };
    let pairs = pairs.into_iter().collect();
    world.flush();
    world.store.relate_batch(pairs)
}

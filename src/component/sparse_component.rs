//! Sparse components: values of any type, by entity, beside the chunks.
//!
//! ```text
//!  component          a column of the chunks of each archetype that has it: plain data
//!  sparse component   one set of the world, found by entity: a value of any type
//! ```
//!
//! No archetype knows of them: an entity gains and loses one without a move. The sets are above
//! this floor, so a bundle of sparse components hands them, one by one, to visitors.

use super::component::ComponentHint;
use super::map_entities::MapValue;
use super::pair_rules::PairRules;
use super::plain_values::PlainValues;
use super::relation_rules::RelationRules;

/// A component that is stored beside the chunks, by entity: a value of any `Send + Sync` type, with
/// or without a destructor. [`#[component(sparse)]`](crate::component#sparse-components) implements
/// it; other implementations are not supported.
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::sparse::SparseComponent;
/// #[component(sparse, name = "game.name")]
/// struct Name(String);
/// assert_eq!(Name::NAME, "game.name");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a sparse component",
    label = "not a sparse component",
    note = "define it as one: `#[component(sparse)] struct Name(String);`",
    note = "a component of chunks is read by a query or by `Lookup`",
    note = "a relation to many, `#[relation(many)]`, is read by `Pairs<{Self}>`; its sparse component is `Targets<{Self}>`"
)]
pub trait SparseComponent: Sized + Send + Sync + 'static {
    /// The stable name of the type, unique among all components of a world: see
    /// [`Component::NAME`](crate::Component::NAME).
    const NAME: &'static str;

    /// The value in the entries of [logs](crate::logs::Removals#sparse-components): the type itself
    /// if it is defined by `#[component(sparse, plain)]` or `#[relation]`, and `()` otherwise,
    /// because an entry is a copy. A relation to many, `#[relation(many)]`, has `()`, too.
    type Logged: Copy + Send + Sync + 'static;

    /// The value in an entry of a log.
    #[doc(hidden)]
    fn logged(&self) -> Self::Logged;

    /// The number of the set in the world that looked it up last.
    #[doc(hidden)]
    #[inline]
    fn hint() -> Option<&'static ComponentHint> {
        None
    }

    /// Whether values outlive the despawn of their entities:
    /// [`#[component(sparse, cleanup)]`](crate::component#cleanup-components).
    const CLEANUP: bool = false;

    /// The rules of the relation that the component is, if it is one.
    #[doc(hidden)]
    const RELATION: Option<RelationRules<Self>> = None;

    /// The rules of the relation to many of which the component is a list.
    #[doc(hidden)]
    const PAIRS: Option<PairRules<Self>> = None;

    /// The values as bytes, if the type is plain data.
    #[doc(hidden)]
    const VALUES: Option<PlainValues<Self>> = None;

    /// Replaces the ids of entities in a value, if it has any; in a list of pairs, the ids in their
    /// values.
    #[doc(hidden)]
    const MAP_ENTITIES: Option<MapValue<Self>> = None;

    /// The fields or variants as the definition names them, which two programs must agree on.
    #[doc(hidden)]
    const DEFINITION: &'static str = "";
}

/// Checks at compile time that values may be written one by one: a relation has a reverse
/// index, which only calls of the world keep.
pub(crate) const fn assert_writable<S: SparseComponent>() {
    assert!(
        S::RELATION.is_none() && S::PAIRS.is_none(),
        "a relation is not written through a reference: insert another one, such as \
         `world.insert(source, ChildOf::of(target))` for a relation `ChildOf`, or \
         `commands.insert(source, ChildOf::of(target))`; \
         `world.get::<ChildOf>(source)`, `world.relation::<ChildOf>()` and the parameter \
         `Relation<ChildOf>` of a system read it. The pairs of a relation to many, `Likes`, are \
         written by `world.get_mut::<Likes>(source)`"
    );
}

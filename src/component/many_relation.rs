//! Relations with any number of targets for each source.

use crate::entity::Entity;

use super::about::About;
use super::columnar::{AnyComponent, InSet};
use super::component::ComponentHint;
use super::component_info::ComponentInfo;
use super::map_entities::MapValue;
use super::pair_rules::PairRules;
use super::plain::Plain;
use super::relation_rules::OnDelete;
use super::sparse_component::SparseComponent;
use super::targets::Targets;

/// A relation with any number of targets for each source, and a value of this type for each pair.
/// [`#[relation(many)]`](crate::sparse::relation#many-targets) implements it. The component of a
/// source is the list [`Targets`].
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::sparse::ManyRelation;
/// #[relation(many, name = "game.member")]
/// struct Member;
///
/// fn join<R: ManyRelation + Default>(world: &mut World, entity: Entity, group: Entity) {
///     world.insert(entity, R::default().to(group)).expect("both are alive");
/// }
/// # let mut world = World::new();
/// # let (a, b) = (world.spawn(()), world.spawn(()));
/// # join::<Member>(&mut world, a, b);
/// assert_eq!(world.relation::<Member>().sources(b), [a]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a relation to many",
    label = "not a relation to many",
    note = "define it as one: `#[relation(many)] struct Likes {{ weight: f32 }}`, or `#[relation(many)] struct Member;` without values"
)]
pub trait ManyRelation: Plain + AnyComponent<Shape = InSet<Targets<Self>>> {
    /// The stable name of the relation: see [`Component::NAME`](crate::Component::NAME).
    const NAME: &'static str;

    #[doc(hidden)]
    const ON_DELETE: OnDelete;

    /// The fields as the definition names them, which two programs must agree on.
    #[doc(hidden)]
    const DEFINITION: &'static str;

    /// Replaces the ids of entities in a value, if it has any.
    #[doc(hidden)]
    const MAP_ENTITIES: Option<MapValue<Self>>;

    /// The facts that the type tells about itself, for reports.
    #[doc(hidden)]
    fn about() -> About {
        About::NOTHING
    }

    /// The number of the set in the world that looked it up last.
    #[doc(hidden)]
    fn hint() -> Option<&'static ComponentHint>;

    /// The pair with one target, to be inserted into its source.
    #[must_use]
    fn to(self, target: Entity) -> Targets<Self> {
        [(target, self)].into()
    }
}

impl<R: ManyRelation> AnyComponent for Targets<R> {
    type Shape = InSet<Self>;
}

impl<R: ManyRelation> SparseComponent for Targets<R> {
    const NAME: &'static str = R::NAME;
    type Logged = ();
    const PAIRS: Option<PairRules<Self>> = Some(Self::rules(R::ON_DELETE, R::DEFINITION, || {
        ComponentInfo::of_pair::<R>(R::NAME, R::about())
    }));
    const MAP_ENTITIES: Option<MapValue<Self>> =
        if R::MAP_ENTITIES.is_some() { Some(map_entities_of) } else { None };

    fn logged(&self) {}

    #[inline]
    fn hint() -> Option<&'static ComponentHint> {
        R::hint()
    }
}

/// Replaces the ids in the values of a list. Its targets are the ends of pairs, and stay.
fn map_entities_of<R: ManyRelation>(list: &mut Targets<R>, map: &mut dyn FnMut(Entity) -> Entity) {
    if let Some(map_value) = R::MAP_ENTITIES {
        list.values_mut().iter_mut().for_each(|value| map_value(value, map));
    }
}

//! The target of a relation in calls that know the relation by name.

use crate::component::place_of;
use crate::entity::Entity;

/// The target of a relation in calls that know the relation by name, as `ChildOf::of(target)` is in
/// calls by type: for [`ReflectMut::relate`](crate::reflect::ReflectMut::relate) and
/// [`CommandBuffer::relate_named`](crate::CommandBuffer::relate_named), which take an [`Entity`] as
/// well.
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::reflect::NamedTarget;
///
/// #[relation(ordered, name = "game.card_of")]
/// struct CardOf;
/// #[relation(many, name = "game.likes")]
/// struct Likes { weight: f32 }
///
/// let mut world = World::new();
/// world.register::<(CardOf, Targets<Likes>)>();
/// let [deck, a, b] = [(); 3].map(|()| world.spawn(()));
/// let mut named = world.reflect_mut();
/// named.relate(a, "game.card_of", deck)?;
/// named.relate(b, "game.card_of", NamedTarget::of(deck).at(0))?;
/// named.relate(a, "game.likes", NamedTarget::of(b).with(&0.5_f32.to_ne_bytes()))?;
/// assert_eq!(world.relation::<CardOf>().sources(deck), [b, a]);
/// assert_eq!(world.relation::<Likes>().get(a, b).unwrap().weight, 0.5);
/// # Ok::<(), phalanx::reflect::BytesError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct NamedTarget<'v> {
    pub(crate) target: Entity,
    /// The place among the sources of the target, if one is asked for.
    pub(crate) place: Option<u32>,
    /// The bytes of the value of the pair, if they are given.
    pub(crate) value: Option<&'v [u8]>,
}

impl<'v> NamedTarget<'v> {
    /// The relation to `target`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedTarget;
    /// # let target = Entity::NULL;
    /// assert_eq!(NamedTarget::of(target), target.into());
    /// ```
    pub const fn of(target: Entity) -> Self {
        Self { target, place: None, value: None }
    }

    /// The relation that is made, or moved, to a place among the sources of its target, for an
    /// [ordered](crate::sparse::relation#ordered-sources) relation: as `CardOf::of(target).at(2)`.
    /// A place beyond the end is the end.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedTarget;
    /// #[relation(ordered, name = "game.card_of")]
    /// struct CardOf;
    ///
    /// let mut world = World::new();
    /// let deck = world.spawn(());
    /// let [a, b] = [(); 2].map(|()| world.spawn(CardOf::of(deck)));
    /// world.reflect_mut().relate(a, "game.card_of", NamedTarget::of(deck).at(1))?;
    /// assert_eq!(world.relation::<CardOf>().sources(deck), [b, a]);
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    pub const fn at(self, place: usize) -> Self {
        Self { place: Some(place_of(place)), ..self }
    }

    /// The pair with these bytes as its value, for a relation
    /// [to many](crate::sparse::relation#many-targets): as `Likes { weight: 0.5 }.of(target)`. A
    /// relation without data has no bytes.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedTarget;
    /// #[relation(many, name = "game.knows")]
    /// struct Knows { is_friend: bool }
    ///
    /// let mut world = World::new();
    /// world.register::<Targets<Knows>>();
    /// let [a, b] = [(); 2].map(|()| world.spawn(()));
    /// world.reflect_mut().relate(a, "game.knows", NamedTarget::of(b).with(&[1]))?;
    /// assert!(world.relation::<Knows>().get(a, b).unwrap().is_friend);
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    pub const fn with(self, value: &'v [u8]) -> Self {
        Self { value: Some(value), ..self }
    }
}

impl From<Entity> for NamedTarget<'_> {
    fn from(target: Entity) -> Self {
        Self::of(target)
    }
}

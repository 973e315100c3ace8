//! Relations by name: both ends and the values of pairs are read, and relations are made and
//! removed, without their types.

use crate::component::ComponentInfo;
use crate::entity::Entity;
use crate::nearest::nearest;
use crate::store::{NamedTarget, SetView};

use super::by_name::{Reflect, ReflectMut, check_value};
use super::bytes_error::BytesError;
use super::entity_view::ComponentView;

/// # Relations
impl<'w> Reflect<'w> {
    /// The names of the [relations](crate::sparse::relation) that the world knows, in alphabetical
    /// order: from an insertion, a query that borrowed the world exclusively, or
    /// [`World::register`](crate::World::register). One to many is known by its own name. A
    /// parameter of a system makes none known.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[relation(tree, name = "game.child_of")]
    /// struct ChildOf;
    /// #[relation(many, name = "game.likes")]
    /// struct Likes { weight: f32 }
    /// let mut world = World::new();
    /// world.register::<(Targets<Likes>, ChildOf)>();
    /// assert!(world.reflect().relations().eq(["game.child_of", "game.likes"]));
    /// ```
    pub fn relations(self) -> impl ExactSizeIterator<Item = &'static str> + use<'w> {
        self.world.store.sparse().relation_names()
    }

    /// The targets of an entity by the relation with a name: one at most, unless it is a relation
    /// to many, whose order is that of [`Pairs::targets`](crate::sparse::Pairs::targets). Empty if
    /// the entity is not alive. [`pair`](Self::pair) has the value of each. O(relations of the
    /// world + targets).
    ///
    /// # Errors
    ///
    /// If the name is unknown, or not one of a relation.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[relation(tree, name = "game.child_of")]
    /// struct ChildOf;
    /// let mut world = World::new();
    /// let parent = world.spawn(());
    /// let child = world.spawn(ChildOf::of(parent));
    /// assert_eq!(world.reflect().targets(child, "game.child_of")?, [parent]);
    /// assert_eq!(world.reflect().targets(parent, "game.child_of")?, []);
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    pub fn targets(self, source: Entity, relation: &str) -> Result<Vec<Entity>, BytesError> {
        Ok(self.known_relation(relation)?.targets(source))
    }

    /// The sources of an entity by the relation with a name, in the order of
    /// [`Relation::sources`](crate::sparse::Relation::sources): the place of a source of an ordered
    /// relation is its index. Empty if the entity is not alive. O(relations of the world +
    /// sources).
    ///
    /// # Errors
    ///
    /// If the name is unknown, or not one of a relation.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[relation(tree, name = "game.child_of")]
    /// struct ChildOf;
    /// let mut world = World::new();
    /// let parent = world.spawn(());
    /// let children = world.spawn_batch([ChildOf::of(parent); 2]).to_vec();
    /// assert_eq!(world.reflect().sources(parent, "game.child_of")?, children);
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    pub fn sources(self, target: Entity, relation: &str) -> Result<Vec<Entity>, BytesError> {
        Ok(self.known_relation(relation)?.sources(target))
    }

    /// The value of a pair of a source and a target by the relation with a name: its layout, its
    /// fields and its bytes, as of a component of an entity. `None` if there is no such pair. A
    /// relation to one target, and one to many without data, has no bytes and no fields.
    /// O(relations of the world), and as [`Pairs::get`](crate::sparse::Pairs::get).
    ///
    /// [`ReflectMut::relate`] writes it.
    ///
    /// # Errors
    ///
    /// If the name is unknown, or not one of a relation.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// use phalanx::reflect::ComponentShape;
    /// #[relation(many, name = "game.likes")]
    /// #[derive(Debug)]
    /// struct Likes { weight: f32 }
    /// let mut world = World::new();
    /// let [a, b] = [(); 2].map(|()| world.spawn(()));
    /// world.insert(a, Likes { weight: 0.5 }.of(b)).unwrap();
    ///
    /// let pair = world.reflect().pair(a, "game.likes", b)?.unwrap();
    /// assert_eq!(pair.bytes(), 0.5_f32.to_ne_bytes());
    /// assert_eq!(format!("{pair:?}"), "Likes { weight: 0.5 }");
    /// let ComponentShape::Struct(fields) = pair.info().shape() else { panic!("it is a struct") };
    /// assert_eq!((fields[0].name, fields[0].type_name), ("weight", "f32"));
    /// assert!(world.reflect().pair(b, "game.likes", a)?.is_none());
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    pub fn pair(
        self,
        source: Entity,
        relation: &str,
        target: Entity,
    ) -> Result<Option<ComponentView<'w>>, BytesError> {
        self.known_relation(relation)?;
        let bytes = self.world.store.lend_pair(relation, (source, target));
        Ok(bytes.map(|bytes| ComponentView::of_pair(self.pair_info(relation), bytes)))
    }

    /// The value of a pair of a relation, which must be known.
    fn pair_info(self, relation: &str) -> &'w ComponentInfo {
        self.world.store.registry().pair_info(relation).expect("the name is of a relation")
    }

    /// The set of the relation with a name.
    fn known_relation(self, name: &str) -> Result<SetView<'w>, BytesError> {
        let (sets, name_of) = (self.world.store.sparse(), || name.to_owned());
        match sets.named(name) {
            Some(set) if set.is_relation() => Ok(set),
            None if self.component(name).is_none() => {
                let known: Vec<_> = self.relations().collect();
                let nearest = nearest(name, &known);
                Err(BytesError::UnknownRelation { name: name_of(), nearest })
            }
            _ => Err(BytesError::NotRelation { name: name_of() }),
        }
    }
}

/// # Relations
impl ReflectMut<'_> {
    /// Gives an entity a target by the relation with a name: an entity, or a [`NamedTarget`] that
    /// has a place or a value as well. The effect is that of
    /// [`World::insert`](crate::World::insert) with `ChildOf::of(target)`: a former target is
    /// replaced. Of a relation [to many](crate::sparse::relation#many-targets) a pair is added, or
    /// gets the new value, as with `Likes { weight: 0.5 }.of(target)`.
    ///
    /// - [`NamedTarget::at`] is the place of the source in an
    ///   [ordered](crate::sparse::relation#ordered-sources) relation. Without it a source comes
    ///   last, unless it has this target.
    /// - [`NamedTarget::with`] has the value of the pair as bytes, which are checked as those of
    ///   [`insert`](Self::insert). Without it the value of a new pair has zeros as its bytes, which
    ///   [`Plain`](crate::Plain) data allows, and a pair that exists keeps its value.
    ///
    /// [`CommandBuffer::relate_named`](crate::CommandBuffer::relate_named) records it. O(relations
    /// of the world), and as the insertion.
    ///
    /// # Errors
    ///
    /// If the name is unknown, or not one of a relation, if the bytes are not a value of the
    /// relation, if it is not ordered and a place is given, if one of the entities is not alive, or
    /// if a tree would have a cycle. The world is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// use phalanx::reflect::NamedTarget;
    /// #[relation(tree, ordered, name = "game.child_of")]
    /// struct ChildOf;
    /// #[relation(many, name = "game.likes")]
    /// struct Likes { weight: f32 }
    /// let mut world = World::new();
    /// world.register::<(ChildOf, Targets<Likes>)>();
    /// let [parent, a, b] = [(); 3].map(|()| world.spawn(()));
    /// let mut named = world.reflect_mut();
    /// named.relate(a, "game.child_of", parent)?;
    /// named.relate(b, "game.child_of", NamedTarget::of(parent).at(0))?;
    /// named.relate(a, "game.likes", NamedTarget::of(b).with(&0.5_f32.to_ne_bytes()))?;
    ///
    /// let error = named.relate(parent, "game.child_of", a).unwrap_err();
    /// assert!(error.to_string().contains("below it in the tree `game.child_of`"));
    /// let error = named.relate(a, "game.likes", NamedTarget::of(b).with(&[1])).unwrap_err();
    /// assert_eq!(error.to_string(), "a value of `game.likes` has 4 bytes, and 1 was given");
    /// assert_eq!(world.relation::<ChildOf>().sources(parent), [b, a]);
    /// assert_eq!(world.relation::<Likes>().get(a, b).unwrap().weight, 0.5);
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    pub fn relate<'v>(
        &mut self,
        source: Entity,
        relation: &str,
        target: impl Into<NamedTarget<'v>>,
    ) -> Result<(), BytesError> {
        let (reflect, target) = (Reflect { world: self.world }, target.into());
        let set = reflect.known_relation(relation)?;
        if target.place.is_some() && !set.is_ordered() {
            return Err(BytesError::NotOrdered { name: relation.to_owned() });
        }
        if let Some(value) = target.value {
            check_value(reflect.pair_info(relation), value)?;
        }
        self.world.flush();
        Ok(self.world.store.relate_named(relation, source, target)?)
    }

    /// Removes the relation of an entity to a target, by name, and returns whether there was one.
    /// The effect is that of [`World::remove`](crate::World::remove) of the relation; of one
    /// [to many](crate::sparse::relation#many-targets) a single pair is removed, and
    /// [`Reflect::targets`] lists all of them.
    /// [`CommandBuffer::unrelate_named`](crate::CommandBuffer::unrelate_named) records it.
    /// O(relations of the world), and as the removal.
    ///
    /// # Errors
    ///
    /// If the name is unknown, or not one of a relation, or if the source is not alive. The world
    /// is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[relation(tree, name = "game.child_of")]
    /// struct ChildOf;
    /// let mut world = World::new();
    /// let parent = world.spawn(());
    /// let child = world.spawn(ChildOf::of(parent));
    /// assert!(world.reflect_mut().unrelate(child, "game.child_of", parent)?);
    /// assert!(!world.has::<ChildOf>(child));
    /// assert!(!world.reflect_mut().unrelate(child, "game.child_of", parent)?);
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    pub fn unrelate(
        &mut self,
        source: Entity,
        relation: &str,
        target: Entity,
    ) -> Result<bool, BytesError> {
        Reflect { world: self.world }.known_relation(relation)?;
        self.world.flush();
        Ok(self.world.store.unrelate_named(relation, (source, target))?)
    }
}

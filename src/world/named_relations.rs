//! Relations by name: both ends are read, and relations are made and removed, without their types.

use crate::entity::Entity;
use crate::nearest::nearest;
use crate::store::SetView;

use super::by_name::{Reflect, ReflectMut};
use super::bytes_error::BytesError;

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
    /// the entity is not alive. The values of pairs are read by their type. O(relations of the
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
    /// [`Relation::sources`](crate::sparse::Relation::sources). Empty if the entity is not alive.
    /// O(relations of the world + sources).
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
    /// Gives an entity a target by the relation with a name. The effect is that of
    /// [`World::insert`](crate::World::insert) with `ChildOf::of(target)`: a former target is
    /// replaced, and of a relation [to many](crate::sparse::relation#many-targets) a pair is
    /// added. The value of a new pair has zeros as its bytes, which [`Plain`](crate::Plain) data
    /// allows, and a pair that exists keeps its value; [`relate_with`](Self::relate_with) gives
    /// another one. A source comes last in an
    /// [ordered](crate::sparse::relation#ordered-sources) relation, unless it has this target: for
    /// another place use its type, with `at`.
    ///
    /// A system records it by `commands.run(|world| …)`. O(relations of the world), and as the
    /// insertion.
    ///
    /// # Errors
    ///
    /// If the name is unknown, or not one of a relation, if one of the entities is not alive, or if
    /// a tree would have a cycle. The world is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[relation(tree, name = "game.child_of")]
    /// struct ChildOf;
    /// let mut world = World::new();
    /// world.register::<ChildOf>();
    /// let [parent, child] = [(); 2].map(|()| world.spawn(()));
    /// world.reflect_mut().relate(child, "game.child_of", parent)?;
    /// assert_eq!(world.get::<ChildOf>(child).unwrap().target(), parent);
    /// let error = world.reflect_mut().relate(parent, "game.child_of", child).unwrap_err();
    /// assert!(error.to_string().contains("below it in the tree `game.child_of`"));
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    pub fn relate(
        &mut self,
        source: Entity,
        relation: &str,
        target: Entity,
    ) -> Result<(), BytesError> {
        Reflect { world: self.world }.known_relation(relation)?;
        self.world.flush();
        Ok(self.world.store.relate_named(relation, (source, target), None)?)
    }

    /// [`relate`](Self::relate) with the value of the pair as bytes, for a relation
    /// [to many](crate::sparse::relation#many-targets); one without data, and any relation to one
    /// target, has no bytes. A pair that exists gets the new value. The bytes are checked as those
    /// of [`insert`](Self::insert) are.
    ///
    /// # Errors
    ///
    /// As [`relate`](Self::relate), and if the bytes are not a value of the relation. The world is
    /// unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[relation(many, name = "game.likes")]
    /// struct Likes { weight: f32 }
    /// let mut world = World::new();
    /// world.register::<Targets<Likes>>();
    /// let [a, b] = [(); 2].map(|()| world.spawn(()));
    /// world.reflect_mut().relate_with(a, "game.likes", b, &0.5_f32.to_ne_bytes())?;
    /// assert_eq!(world.relation::<Likes>().get(a, b).unwrap().weight, 0.5);
    /// let error = world.reflect_mut().relate_with(a, "game.likes", b, &[1]).unwrap_err();
    /// assert_eq!(error.to_string(), "a value of `game.likes` has 4 bytes, and 1 was given");
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    pub fn relate_with(
        &mut self,
        source: Entity,
        relation: &str,
        target: Entity,
        value: &[u8],
    ) -> Result<(), BytesError> {
        let set = Reflect { world: self.world }.known_relation(relation)?;
        let (name, size, len) = (relation.to_owned(), set.pair_size(), value.len());
        if len != size {
            return Err(BytesError::Size { name, size, len });
        }
        if !set.accepts(value) {
            return Err(BytesError::Value { name, field: None });
        }
        self.world.flush();
        Ok(self.world.store.relate_named(relation, (source, target), Some(value))?)
    }

    /// Removes the relation of an entity to a target, by name, and returns whether there was one.
    /// The effect is that of [`World::remove`](crate::World::remove) of the relation; of one
    /// [to many](crate::sparse::relation#many-targets) a single pair is removed, and
    /// [`Reflect::targets`] lists all of them. O(relations of the world), and as the removal.
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

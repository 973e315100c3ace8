//! The reasons why a relation is not made, or an entity is not despawned.

use core::error::Error;
use core::fmt;

use crate::entity::Entity;

/// The reason why a [relation](crate::sparse::relation) is not made, or why an entity is not
/// despawned. The world is unchanged.
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::error::EntityError;
/// use phalanx::sparse::RelationError;
/// #[relation(tree)]
/// struct ChildOf;
///
/// let mut world = World::new();
/// let parent = world.spawn(());
/// let child = world.spawn(ChildOf::of(parent));
/// let refused = world.insert(parent, ChildOf::of(child));
/// assert!(matches!(refused, Err(EntityError::Relation(RelationError::Cycle { .. }))));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RelationError {
    /// The target is not alive.
    DeadTarget {
        /// The name of the relation.
        relation: &'static str,
        /// The target.
        target: Entity,
    },
    /// The relation is a tree, and the target is the source itself or below it.
    Cycle {
        /// The name of the relation.
        relation: &'static str,
        /// The source.
        source: Entity,
        /// The target.
        target: Entity,
    },
    /// The entity is not despawned: the relation has `on_delete = refuse`, and a source of it would
    /// stay.
    Held {
        /// The name of the relation.
        relation: &'static str,
        /// The entity that would be despawned.
        target: Entity,
        /// The first source that would stay.
        source: Entity,
    },
}

impl RelationError {
    /// The name of the relation.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// use phalanx::sparse::RelationError;
    /// # #[relation(tree)] struct ChildOf;
    /// let refused = World::new().try_spawn(ChildOf::of(Entity::NULL)).unwrap_err();
    /// let phalanx::error::SpawnError::Relation(error) = refused else { panic!("{refused}") };
    /// assert!(error.relation().ends_with("ChildOf"));
    /// ```
    #[must_use]
    pub const fn relation(&self) -> &'static str {
        match self {
            Self::DeadTarget { relation, .. }
            | Self::Cycle { relation, .. }
            | Self::Held { relation, .. } => relation,
        }
    }
}

impl fmt::Display for RelationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DeadTarget { relation, target } if target.is_null() => write!(
                f,
                "`Entity::NULL` cannot be the target of `{relation}`: an entity without a target has no relation, so remove it instead"
            ),
            Self::DeadTarget { relation, target } => write!(
                f,
                "{target} cannot be the target of `{relation}`, because it is not alive: test ids that may be stale with `World::contains`"
            ),
            Self::Cycle { relation, source, target } if source == target => {
                write!(
                    f,
                    "{source} cannot be its own target in the tree `{relation}`: a root has no relation, so remove it instead; `#[relation]` without `tree` allows an own target"
                )
            }
            Self::Cycle { relation, source, target } => write!(
                f,
                "{target} cannot be the target of {source}, because it is below it in the tree `{relation}`, or would be by the same call: move {target} out of the subtree, or give one of them another target"
            ),
            Self::Held { relation, target, source } => write!(
                f,
                "{target} is not despawned, because it is the target of {source}, and `{relation}` refuses that: remove the relation first, or despawn both in one batch, or as commands record both despawns in a row"
            ),
        }
    }
}

impl Error for RelationError {}

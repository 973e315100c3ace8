//! The rules of a relation, as a constant of its type.

use crate::entity::Entity;

/// The effect of a despawned target on the sources of a relation.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDelete {
    /// They lose the relation.
    Remove,
    /// They are despawned as well.
    Despawn,
    /// The target is not despawned.
    Refuse,
}

/// The rules of a relation, and the functions that read and make its values.
#[doc(hidden)]
#[derive(Debug)]
pub struct RelationRules<R> {
    pub target: fn(&R) -> Entity,
    pub of: fn(Entity) -> R,
    pub is_tree: bool,
    pub on_delete: OnDelete,
}

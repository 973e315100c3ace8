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

/// A place as relations have it: one beyond all lists is the end of any.
#[doc(hidden)]
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "it is compared")]
pub const fn place_of(place: usize) -> u32 {
    if place < u32::MAX as usize { place as u32 } else { u32::MAX }
}

/// The rules of a relation, and the functions that read and make its values.
#[doc(hidden)]
#[derive(Debug)]
pub struct RelationRules<R> {
    pub target: fn(&R) -> Entity,
    pub of: fn(Entity) -> R,
    pub is_tree: bool,
    /// Of a relation with an order: the place among the sources of the target for which a value
    /// asks. The values in a set ask for none.
    pub place: Option<fn(&R) -> Option<u32>>,
    pub on_delete: OnDelete,
}

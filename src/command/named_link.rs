//! A recorded change that names a relation by text.

use crate::entity::Entity;

use super::command_errors::CommandVerb;

/// A change of the relation of a source to a target.
#[derive(Debug)]
pub(super) struct NamedLink {
    pub(super) relation: Box<str>,
    pub(super) target: Entity,
    pub(super) change: LinkChange,
}

/// The change of a link.
#[derive(Debug)]
pub(super) enum LinkChange {
    /// It is made, at a place and with the bytes of a value, if they are given.
    Relate { place: Option<u32>, value: Option<Box<[u8]>> },
    /// It is removed.
    Unrelate,
}

impl NamedLink {
    /// The memory of the name and the bytes.
    pub(super) fn bytes(&self) -> usize {
        let value = match &self.change {
            LinkChange::Relate { value: Some(value), .. } => value.len(),
            _ => 0,
        };
        size_of::<Self>() + self.relation.len() + value
    }

    /// As the command by type: an insertion, or a removal.
    pub(super) const fn verb(&self) -> CommandVerb {
        match self.change {
            LinkChange::Relate { .. } => CommandVerb::Insert,
            LinkChange::Unrelate => CommandVerb::Remove,
        }
    }
}

//! The memory of playbacks.

use crate::archetype::MoveScratch;
use crate::entity::Entity;
use crate::spare::vec_bytes;

use super::bundle_kinds::ResolvedKinds;
use super::entity_groups::EntityGroups;
use super::merge_table::MergeTable;

/// Memory that a buffer keeps from one playback to the next.
#[derive(Debug, Default)]
pub(super) struct PlaybackScratch {
    pub(super) resolved: ResolvedKinds,
    pub(super) merge_table: MergeTable,
    pub(super) groups: EntityGroups,
    pub(super) group: Vec<u32>,
    pub(super) entities: Vec<Entity>,
    pub(super) moves: MoveScratch,
}

impl PlaybackScratch {
    /// The memory that grows with the commands of a playback, in use or not.
    pub(super) fn bytes(&self) -> usize {
        let lists = vec_bytes(&self.group) + vec_bytes(&self.entities);
        self.groups.bytes() + lists + self.moves.bytes()
    }

    /// Frees this memory, between two playbacks. The resolved kinds of commands are kept.
    pub(super) fn shrink(&mut self) {
        let Self { resolved: _, merge_table: _, groups, group, entities, moves } = self;
        (*groups, *group) = (EntityGroups::default(), Vec::new());
        (*entities, *moves) = (Vec::new(), MoveScratch::default());
    }
}

//! The memory of playbacks.

use crate::archetype::MoveScratch;
use crate::entity::Entity;

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

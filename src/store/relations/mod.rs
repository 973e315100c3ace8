//! Relations: sparse sets of targets, and the sources of each target beside them.
//!
//! ```text
//!  the set, by source               the lists, by target
//!  source 4 ──► target 7, place 0   target 7   4  9
//!  source 9 ──► target 7, place 1   target 3   5
//!  source 5 ──► target 3, place 0
//! ```
//!
//! The place of a source in its list makes every change O(1), however many siblings it has. States
//! save targets and places, and the lists are made of them.
//!
//! | file | holds |
//! | --- | --- |
//! | [`source_lists`] | the lists, for relations of all kinds |
//! | [`sources`], [`related_set`] | one target for each source: its places; changes of both sides |
//! | [`ordered_set`] | the same, where the sources of a target keep their order |
//! | [`pair_sources`], [`pair_set`] | many targets for each source |
//! | [`relate`], [`related_batch`] | tests and makes one relation; those of many sources at once |
//! | [`relate_named`], [`named_target`] | the same by a name that is known at run time |
//! | [`despawn_plan`], [`alive_set`] | the entities of a despawn, by the rules of relations |
//! | [`related_sets`] | removes the relations to targets that were despawned |
//! | [`levels`] | sorts a tree by depth |
//! | [`relation_error`] | the reasons of a refusal |

mod alive_set;
mod despawn_plan;
mod levels;
mod named_target;
mod ordered_set;
mod pair_set;
mod pair_sources;
mod relate;
mod relate_named;
mod related_batch;
mod related_set;
mod related_sets;
mod relation_error;
mod source_lists;
mod sources;

pub use levels::Levels;
pub(in crate::store) use levels::is_tree;
pub use named_target::NamedTarget;
pub use relation_error::RelationError;
pub(super) use sources::Sources;

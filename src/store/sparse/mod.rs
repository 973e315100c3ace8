//! Sparse sets: the values of sparse components, by entity, beside the chunks.
//!
//! ```text
//!  PagedIndex          values, in chunks of their own        archetypes
//!  entity 4 ──► 0 ──►  ┌─────┬─────┬─────┬───                ┌ row 0  member bits  1
//!  entity 9 ──► 2 ─┐   │ 4   │ 7   │ 9   │  …                │ row 1               0
//!                  └─► └─────┴─────┴─────┴───                └ row 2               1
//! ```
//!
//! A value is added, found and removed in O(1), and the row of its entity does not move. An
//! archetype has a bit for each row that has the component, so that queries choose rows by it.
//!
//! | file | holds |
//! | --- | --- |
//! | [`sparse_sets`], [`set_numbers`] | all sets of a world; the position of a set, by type |
//! | [`sparse_set`], [`set_changes`] | one set; its values that come and go |
//! | [`set_moves`] | moves of its values to other entities and sets |
//! | [`set_lock`], [`erased_set`], [`boxed_set`] | its lock, its calls without a type, its box |
//! | [`set_version`], [`set_writes`] | the version of a set; its values lent as slices |
//! | [`sparse_bundles`], [`sparse_matches`] | bundles of one entity; of all that match |
//! | [`row_lists`] | the sparse components of the rows of a batch |
//! | [`member_rows`] | the bits of rows |
//! | [`sparse_rules`], [`set_use`] | the rules of queries, and the sets that they use |
//! | [`term_sets`], [`sets_mut`], [`each_mut`] | the sets of terms; each value lent once |
//! | [`watched_sets`] | the sets whose versions filters compare |
//! | [`copy_values`] | the values of copied entities |
//! | [`kept_sets`] | the sets of cleanup components |
//! | [`entity_states`], [`hidden_rows`] | alive, gone or hidden entities; hidden values |
//! | [`set_notes`], [`record_sets`] | values gained and lost, until the logs record them |
//! | [`set_view`], [`set_arrays`], [`set_shape`] | a set for states: its view, arrays and form |
//! | [`saved_set`], [`sparse_image`] | a set that was read from bytes; a copy of all sets |
//! | [`sort_set`] | sorts values by keys |
//! | `sparse_set_tests`, `broken_set_tests` | tests of one set; sets that contradict themselves |

mod boxed_set;
#[cfg(test)]
mod broken_set_tests;
mod copy_values;
mod each_mut;
mod entity_states;
mod erased_set;
mod hidden_rows;
mod kept_sets;
mod member_rows;
mod record_sets;
mod row_lists;
mod saved_set;
mod set_arrays;
mod set_changes;
mod set_lock;
mod set_moves;
mod set_notes;
mod set_numbers;
mod set_shape;
mod set_use;
mod set_version;
mod set_view;
mod set_writes;
mod sets_mut;
mod sort_set;
mod sparse_bundles;
mod sparse_image;
mod sparse_matches;
mod sparse_rules;
mod sparse_set;
#[cfg(test)]
mod sparse_set_tests;
mod sparse_sets;
mod term_sets;
mod watched_sets;

pub(crate) use entity_states::EntityStates;
pub(super) use erased_set::ErasedSet;
pub(crate) use erased_set::SparseSetInfo;
pub(crate) use hidden_rows::SetRows;
pub(crate) use member_rows::MemberRows;
pub(crate) use row_lists::PendingLists;
pub(crate) use saved_set::SavedSet;
pub(crate) use set_arrays::SetArrays;
pub(crate) use set_shape::{SetKind, SetShape};
pub(super) use set_use::SetUse;
pub(crate) use set_view::SetView;
pub(crate) use set_writes::SetWrites;
pub(crate) use sets_mut::SetsMut;
pub(crate) use sparse_bundles::PendingParts;
pub(in crate::store) use sparse_bundles::is_sparse;
pub(super) use sparse_image::SparseImage;
pub(crate) use sparse_matches::PendingBundle;
pub(crate) use sparse_set::SparseSet;
pub(crate) use sparse_sets::SparseSets;
pub(crate) use term_sets::{
    EachOfSet, OpenSet, ReadSet, Reading, SetMembers, SetValues, TermSets, Writing,
};
pub(crate) use watched_sets::{BlockSource, WatchedBlocks, WatchedSets, Watching};

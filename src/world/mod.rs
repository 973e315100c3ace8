//! The world: entities, their components, and the operations on them.
//!
//! Methods are documented here. Rows change in `store`; the algorithms that only read rows
//! (`hash`, `target_values`) or compute an order (`sort`) are here. The folders above this one add
//! methods of their own: commands, schedules, logs, snapshots and explanations.
//!
//! | file | holds |
//! | --- | --- |
//! | [`world`] | [`World`] and [`WorldBuilder`] |
//! | [`spawn`] | spawns one entity, many, from columns, with a given id, copies; reserves ids |
//! | [`copy_parents`] | the targets of the roots of copied trees |
//! | [`structural`] | `despawn`, `despawn_batch`, `insert`, `remove`, `exchange`, `has`, `clear` |
//! | [`merge_worlds`] | takes over the entities of another world, all or by query |
//! | [`matching`] | structural changes of all entities that a query matches |
//! | [`changes_entities`] | the compile error of a query that is asked for such a change |
//! | [`retain`] | despawns the rows of a query that a kernel does not keep |
//! | [`sort`] | sorts the rows of each archetype by a key |
//! | [`sort_sparse`] | sorts the values of a sparse component by a key |
//! | [`enable`] | switches components off and on without moving rows |
//! | [`flip`] | exchanges a component with its previous values |
//! | [`entity_view`] | all components of an entity, without their types |
//! | [`by_name`] | components by name, with their values as bytes, or a [`bytes_error`] |
//! | [`register_layout`] | components that exist at run time only |
//! | [`named_query`], [`named_chunks`] | a query that is data, of [`component_key`]s; its chunks |
//! | [`named_chunk`], [`column_view`] | one chunk of such a query; one of its columns |
//! | [`named_relations`] | relations by name: both ends, values, changes |
//! | [`lookup`] | `get`, `get_mut` and views for random access; [`disjoint`] for several at once |
//! | [`place_lookup`], [`place_lookup_mut`] | the same by place, or a [`place_error`] |
//! | [`cell_shape`] | a component of one entity: one cell, or several for a split component |
//! | [`queries`] | `query` and `query_mut` |
//! | [`by_type`], [`resources`] | values that belong to no entity, and their guards |
//! | [`shared_values`] | values that entities share |
//! | [`sparse_ref`], [`sparse_views`] | sparse components; [`relation`] points at an entity |
//! | [`sparse_blocks`], [`sparse_blocks_mut`] | sparse values as slices |
//! | [`block_cut`], [`value_part`] | the cut of a sparse set into its blocks, and a part of it |
//! | [`propagate`], [`target_values`] | passes down a tree, and with values of targets |
//! | [`pairs`], [`targets_mut`] | relations to many; [`relation_shape`]: the views of both kinds |
//! | [`relate_batch`] | relations of many entities, all or none |
//! | [`related_rows`] | the rows of the sources of a target, for both kinds |
//! | [`split`] | the parts of a world for systems that run at the same time |
//! | [`memory_mut`] | reserved, counted and returned memory |
//! | [`archetype_info`] | reports of archetypes |
//! | [`check`] | every invariant |
//! | `refused_tests` | calls that are refused leave the world unchanged |
//! | `expression_tests` | random expressions of filters against a look at all rows |
//! | `begin_with_set_tests` | the sparse set that a pass begins with |
//! | `attachment_tests` | a kind of attachment that exists in tests only, in a random world |
//! | [`hash`], [`hash_sets`], [`hash_cache`], [`digests`] | one number for the state of entities, components, ids and versions |

// The order of the documentation of `World`: the first things a reader needs come first.
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod world;

mod spawn;

mod lookup;
mod place_lookup;
mod place_lookup_mut;

mod disjoint;

mod queries;

mod structural;

mod matching;

mod enable;

mod by_type;

mod block_cut;
mod copy_parents;
mod pairs;
mod place_error;
mod relate_batch;
mod related_rows;
mod relation;

mod propagate;
mod relation_shape;
mod shared_values;
mod sparse_blocks;
mod sparse_blocks_mut;
mod sparse_ref;
mod sparse_views;
mod target_values;
mod targets_mut;
mod value_part;

mod flip;

mod entity_view;

mod merge_worlds;

mod memory_mut;

mod hash;

#[cfg(test)]
mod attachment_tests;
#[cfg(test)]
mod begin_with_set_tests;
mod check;
#[cfg(test)]
mod expression_tests;
#[cfg(test)]
mod refused_tests;

mod archetype_info;
mod by_name;
mod bytes_error;

mod column_view;
mod component_key;
mod named_chunk;
mod named_chunks;
mod named_query;
mod named_relations;
mod register_layout;

mod cell_shape;
mod changes_entities;
mod digests;
mod hash_cache;
mod hash_sets;
mod resources;
mod retain;
mod sort;
mod sort_sparse;
mod split;

pub use crate::store::{EntityError, Levels, NamedTarget, RelationError, SpawnError};

pub use archetype_info::ArchetypeInfo;
pub use by_name::{Reflect, ReflectMut};
pub use bytes_error::BytesError;
pub use cell_shape::{Cell, CellMut};
pub use check::BrokenInvariant;
pub use column_view::{ColumnView, ColumnViewMut};
pub use component_key::ComponentKey;
pub use copy_parents::CopyParents;
pub use entity_view::{ComponentView, EntityView};
pub use hash_cache::HashCache;
pub use lookup::{Lookup, LookupMut};
pub use matching::Matching;
pub use memory_mut::{Compacted, Memory, MemoryMut};
pub use merge_worlds::{MergeError, Merged};
pub use named_chunk::{NamedChunk, NamedChunkMut};
pub use named_query::NamedQuery;
pub use pairs::Pairs;
pub use place_error::PlaceError;
pub use place_lookup::PlaceLookup;
pub use place_lookup_mut::PlaceLookupMut;
pub use relate_batch::relate_batch;
pub use relation::Relation;
pub(crate) use resources::Resources;
pub use resources::{MissingResource, Res, ResMut};
pub use shared_values::{SharedValues, SharedValuesMut};
pub use sparse_blocks::SparseBlocks;
pub use sparse_blocks_mut::SparseBlocksMut;
pub use sparse_ref::SparseRef;
pub use sparse_views::{Sparse, SparseMut};
pub(crate) use sparse_views::{SparseGrant, SparseMutGrant};
pub use target_values::TargetValues;
pub use targets_mut::TargetsMut;
pub(crate) use world::WorldId;
pub use world::{World, WorldBuilder};

//! The world: entities, their components, and every operation on them.
//!
//! | file | holds |
//! | --- | --- |
//! | [`world`] | [`World`] and [`WorldBuilder`] |
//! | [`spawn`] | spawns one entity, many, from columns, with a given id; reserves ids |
//! | [`spawn_batch`] | the rows of a batch while they are written |
//! | [`instantiate`] | copies of an entity |
//! | [`structural`] | `despawn`, `insert`, `remove`, `exchange`, `has`, `clear` |
//! | [`despawn_batch`] | the end of many entities, whose lines are asked for in advance |
//! | [`structural_bytes`] | the same for bundles that are known at run time only |
//! | [`merge_batch`] | one change of many entities, whose rows move together |
//! | [`matching`] | structural changes of all entities that a query matches |
//! | [`retain`] | despawns the rows of a query that a kernel does not keep |
//! | [`entity_view`] | all components of an entity, without their types |
//! | [`by_name`] | components by name, with their values as bytes |
//! | [`lookup`] | `get`, `get_mut` and views for random access; [`disjoint`] for several at once |
//! | [`query`] | `query` and `query_mut` |
//! | [`resources`] | values that belong to no entity, and their guards |
//! | [`split`] | the parts of a world for systems that run at the same time |
//! | [`memory`] | reserved, counted and returned memory |
//! | [`archetype_info`] | reports of archetypes |
//! | [`check`] | every invariant |
//! | [`hash`] | the state of entities, components, ids and versions as one number |
//! | [`error`] | [`EntityError`], [`SpawnError`] and [`MissingComponent`] |

mod archetype_info;
mod by_name;
mod check;
mod despawn_batch;
mod disjoint;
mod entity_view;
mod error;
mod hash;
mod instantiate;
mod lookup;
mod matching;
mod memory;
mod merge_batch;
mod query;
mod resources;
mod retain;
mod spawn;
mod spawn_batch;
mod split;
mod structural;
mod structural_bytes;
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod world;

pub use archetype_info::ArchetypeInfo;
pub use by_name::BytesError;
pub use check::BrokenInvariant;
pub use entity_view::{ComponentView, EntityView};
pub use error::{EntityError, MissingComponent, SpawnError};
pub use lookup::{Lookup, LookupMut};
pub use matching::Matching;
pub use memory::{Compacted, Memory};
pub(crate) use resources::Resources;
pub use resources::{MissingResource, Res, ResMut};
pub(crate) use structural_bytes::{MergeOutcome, RowValues};
pub(crate) use world::WorldId;
pub use world::{World, WorldBuilder};

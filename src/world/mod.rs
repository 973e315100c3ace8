//! The world: entities, their archetypes, and everything that is done to them.
//!
//! [`world`] is what a world is made of. [`spawn`] brings entities to life, one by one, by the
//! column, or under a given id, [`instantiate`] as copies of another, each by a [`spawn_batch`] of rows;
//! [`structural`] changes what they are made of, one by one, [`matching`] all that a query matches, [`structural_bytes`]
//! where components are known at run time only; [`lookup`] follows an id to a component; [`query`]
//! hands out chunks; [`resources`] are what belongs to no entity; [`split`] lends parts of a world
//! to systems that run at the same time; [`memory`] gives room and takes it back; [`archetype_info`] says what
//! lies where; [`check`] verifies that all of it fits together, [`hash`] makes one number of it.

mod archetype_info;
mod check;
mod disjoint;

mod error;
mod hash;
mod instantiate;
mod lookup;
mod matching;
mod memory;
mod query;
mod resources;
mod spawn;
mod spawn_batch;
mod split;
mod structural;
mod structural_bytes;
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod world;

pub use archetype_info::ArchetypeInfo;
pub use check::BrokenInvariant;
pub use error::{EntityError, MissingComponent, SpawnError};
pub use lookup::{Lookup, LookupMut};
pub use matching::Matching;
pub use memory::{Compacted, Memory};
pub(crate) use resources::Resources;
pub use resources::{MissingResource, Res, ResMut};
pub(crate) use structural_bytes::{MergeOutcome, RowValues};
pub(crate) use world::WorldId;
pub use world::{World, WorldBuilder};

//! The world: entities, their archetypes, and everything that is done to them.
//!
//! [`state`] is what a world is made of. [`spawn`] brings entities to life, one by one, by the
//! column, or under a given id, [`instantiate`] as copies of another, each by a [`batch`] of rows;
//! [`edit`] changes what they are made of, one by one, [`bulk`] all that a query matches, [`change`]
//! where components are known at run time only; [`lookup`] follows an id to a component; [`query`]
//! hands out chunks; [`resources`] are what belongs to no entity; [`divide`] lends parts of a world
//! to systems that run at the same time; [`memory`] gives room and takes it back; [`info`] says what
//! lies where; [`check`] verifies that all of it fits together, [`hash`] makes one number of it.

mod batch;
mod bulk;
mod change;
mod check;
mod disjoint;
mod divide;
mod edit;
mod error;
mod hash;
mod info;
mod instantiate;
mod lookup;
mod memory;
mod query;
mod resources;
mod spawn;
mod state;

pub use bulk::Matching;
pub(crate) use change::{Changed, RowValues};
pub use check::BrokenInvariant;
pub use error::{
    ComponentError, DisjointError, ExchangeError, InsertError, InstantiateError, MissingComponent,
    SpawnAtError, SpawnColumnsError, SpawnError,
};
pub use info::ArchetypeInfo;
pub use lookup::{Lookup, LookupMut};
pub use memory::{Compacted, Memory};
pub(crate) use resources::Resources;
pub use resources::{MissingResource, Res, ResMut};
pub(crate) use state::WorldId;
pub use state::{World, WorldBuilder};

//! Objects of types: placed, streamed by region, and renewed when their types change.
//!
//! ```text
//!  Types ──► Workshop: a world of prototypes, a tree for each type
//!               │ copies, with the fields that objects have for themselves
//!               ▼
//!            a world for each region ◄── merge, move_from ──► the game: regions near the viewer
//! ```
//!
//! - [`components`] are all that an object may have: [`Origin`](components::Origin) leads from an
//!   entity to its type, and [`Own`](components::Own) has the fields that a reload leaves.
//! - [`plan()`] puts objects into regions, and [`Workshop::place`] makes them. Only
//!   [`mod@write`] writes components by name.
//! - [`Regions`] streams them. [`renew()`] follows a change of types, and [`audit()`] compares
//!   every field of every entity with its type; [`expected()`] counts the fields that a reload must
//!   reach.

mod audit;
pub(crate) mod components;
mod expected;
mod plan;
mod regions;
mod renew;
mod workshop;
pub(crate) mod write;

pub(crate) use audit::{Audit, audit};
pub(crate) use components::{ChildOf, Region, schema};
pub(crate) use expected::expected;
pub(crate) use plan::{Placed, plan};
pub(crate) use regions::{Moved, Regions, is_near};
pub(crate) use renew::{Renewed, renew};
pub(crate) use workshop::{Copies, Workshop};

//! What a component is: a plain-data type with a stable name.
//!
//! [`define`] has the trait and the macro that implements it, [`registry`] gives each type a
//! dense number per world, and [`set`] is a set of those numbers: the identity of an archetype.
//! A component is `Pod`, so a column of them is bytes and bytes are a column: rows move by
//! `memcpy`, nothing is ever dropped, and padding can be zero.

mod define;
mod registry;
mod set;

pub(crate) use define::NameList;
pub(crate) use define::same_name;
pub use define::{Component, ComponentHint};
pub use registry::ComponentInfo;
pub(crate) use registry::{ComponentId, Registry, RegistryId};
pub(crate) use set::{ComponentSet, Ranks};

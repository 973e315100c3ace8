//! What a component is: a plain-data type with a stable name.
//!
//! [`define`] has the trait and the macro that implements it, [`registry`] gives each type a
//! dense number per world, and [`set`] is a set of those numbers: the identity of an archetype.
//! A component is `Pod`, so a column of them is bytes and bytes are a column: rows move by
//! `memcpy`, nothing is ever dropped, and padding can be zero.

mod define;
mod registry;
mod set;

pub use define::{Component, ComponentHint};
pub(crate) use define::{ConstText, Names, ONE_NAME, same_name};
pub(crate) use registry::{ComponentId, Registry, RegistryId};
pub use registry::{ComponentInfo, NameTaken};
pub(crate) use set::{ComponentSet, Ranks};

//! What a component is: a plain-data type with a stable name.
//!
//! [`component`] has the trait and the macro that implements it, [`registry`] gives each type a
//! dense number per world, and [`set`] is a set of those numbers: the identity of an archetype.
//! A component is `Pod`, so a column of them is bytes and bytes are a column: rows move by
//! `memcpy`, nothing is ever dropped, and padding can be zero.

#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod component;
mod registry;
mod set;

pub use component::{Component, ComponentHint};
pub(crate) use component::{ConstText, Names, ONE_NAME, same_name};
pub(crate) use registry::{ComponentId, Registry, RegistryId};
pub use registry::{ComponentInfo, NameTaken};
pub(crate) use set::{ComponentSet, Ranks};

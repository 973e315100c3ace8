//! Components: plain-data types with a stable name.
//!
//! [`component`] has the trait, the macro that implements it, and comparison of names at compile
//! time. [`registry`] gives each type a dense id per world. [`set`] is a set of those ids: the
//! identity of an archetype. A component is `Pod`, so a column is bytes: rows are moved by
//! `memcpy`, nothing is ever dropped, and padding rows can be zero.

#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod component;
mod registry;
mod set;

pub use component::{Component, ComponentHint};
pub(crate) use component::{ConstText, Names, ONE_NAME, same_name};
pub(crate) use registry::{ComponentId, Registry, RegistryId};
pub use registry::{ComponentInfo, NameTaken};
pub(crate) use set::{ComponentSet, Ranks};

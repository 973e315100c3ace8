//! The names of the sparse components of a world.
//!
//! A sparse component has no id, because no archetype knows of it. Its name is unique among all
//! components of the world like any other.

use core::any::TypeId;

use rustc_hash::FxHashMap;

/// The sparse component types of a world, by name: each with its path.
#[derive(Debug, Default)]
pub(super) struct SparseNames(pub(super) FxHashMap<&'static str, (TypeId, &'static str)>);

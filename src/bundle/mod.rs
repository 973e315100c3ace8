//! Bundles: the components that an entity is spawned with, gains or loses in one move.
//!
//! [`bundle`] is the trait: one component, or a tuple of bundles. [`bundles`] is what a bundle type
//! means in one world, worked out once: the numbers of its components, and the archetype of exactly
//! those.

#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod bundle;
mod bundles;

pub use bundle::{Bundle, ColumnSlices};
pub(crate) use bundle::{NewRows, assert_distinct};
pub(crate) use bundles::{BundleInfo, BundleTarget, Bundles};

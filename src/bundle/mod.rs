//! Bundles: the components that an entity is spawned with, gains or loses in one move.
//!
//! [`bundle`] has the traits: [`Bundle`], implemented for components and tuples of bundles, and
//! [`ColumnSlices`]. [`bundles`] caches, for each bundle type of a world, the ids of its components
//! and the archetype that has exactly those.

#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod bundle;
mod bundles;

pub use bundle::{Bundle, ColumnSlices};
pub(crate) use bundle::{NewRows, assert_distinct};
pub(crate) use bundles::{BundleInfo, BundleTarget, Bundles};

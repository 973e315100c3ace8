//! Bundles: the components that an entity is spawned with, gains or loses in one move.
//!
//! [`define`] is the trait: one component, or a tuple of bundles. [`known`] is what a bundle type
//! means in one world, worked out once: the numbers of its components, and the archetype of exactly
//! those.

mod define;
mod known;

pub use define::{Bundle, ColumnSlices};
pub(crate) use define::{NewRows, assert_distinct};
pub(crate) use known::{BundleInfo, Bundles, Home};

//! Terms of a query as traits, for generic code, and filters that are made of filters.
//!
//! [`Term`] is one term and [`Terms`] a term or a tuple of them, the first parameter of
//! [`Query`](crate::Query); [`ReadTerms`] are terms that write no component.
//! [`Filter`](crate::Filter) is the second parameter. [`Watch`] is the component of a version
//! filter, which a query of a single term need not name, and a [`ComponentTuple`] is the parameter
//! of [`AnyOf`](crate::AnyOf). [`Or`] and [`Not`] are filters of filters by [`Presence`]; a
//! [`PresenceTuple`] is the parameter of `Or`. All traits are sealed.
//!
//! ```
//! use phalanx::prelude::*;
//! use phalanx::terms::ReadTerms;
//!
//! #[component]
//! struct Health(f32);
//!
//! fn is_empty<Q: ReadTerms>(world: &World) -> bool {
//!     world.query::<Q>().count_rows() == 0
//! }
//!
//! let mut world = World::new();
//! assert!(is_empty::<&Health>(&world));
//! world.spawn(Health(1.0));
//! assert!(!is_empty::<(Entity, &Health)>(&world));
//! ```

pub use crate::query::{
    ComponentTuple, Not, Or, Presence, PresenceTuple, ReadTerms, Term, Terms, Watch,
};

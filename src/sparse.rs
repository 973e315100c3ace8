//! Sparse components: the parts that most programs do not name.
//!
//! [`#[component(sparse)]`](crate::component#sparse-components) defines one, [`Sparse`] and
//! [`SparseMut`] are its values as parameters of systems, and the calls of
//! [`World`](crate::World) take it like any component.

pub use crate::component::SparseComponent;
pub use crate::world::{Sparse, SparseMut, SparseRef};

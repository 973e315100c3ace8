//! Types of objects, from JSON to trees of values.
//!
//! ```text
//!  a file ─ read ─► TypeText: a Part as it is written, with the place of each name
//!                      │ links: unknown names and cycles; parents and children first
//!                      ▼
//!                   Tree: values of a type and of its children, inherited and overridden
//!                      │ level after level
//!                      ▼
//!                   Node: one entity of the type, by its path
//! ```
//!
//! All faults of all files are collected, and a [`Fault`] has its file, line and column. [`Types`]
//! is made of files without faults only: a [`reload`](Types::reload) with a fault changes no type.
//! [`Schema`] has the components that a file may name, as the world tells them; [`source`] finds
//! lines, and [`value`] makes bytes of a value.

mod fault;
mod field_set;
mod links;
mod part;
mod read;
mod schema;
mod source;
mod tree;
mod types;
mod value;
mod values;

pub(crate) use fault::{Fault, Visible};
pub(crate) use field_set::FieldSet;
pub(crate) use schema::Schema;
pub(crate) use tree::Node;
pub(crate) use types::{Change, Types};
pub(crate) use values::Values;

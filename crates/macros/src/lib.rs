//! The attributes of phalanx, which re-exports and documents them: `#[component]`, `#[relation]`
//! and `#[kernel]`.
//!
//! An attribute parses its item, refuses the parts that no component or kernel has, and hands the
//! rest to a hidden macro of phalanx, `__component!`, `__split!`, `__relation!` or `__kernel!`,
//! which writes the item and its implementations:
//!
//! ```text
//! #[component(hidden)]             ::phalanx::__component! {
//! pub struct Mass(f32);      →         @struct { [pub] Mass [] [hidden] } [] (f32) [{ 0: f32 = }]
//!                                  }
//! ```
//!
//! - **This package writes no `unsafe`.** The compiler accepts the `unsafe` of any procedural macro
//!   in a crate with `#![forbid(unsafe_code)]`, but only the author of a macro knows the names in
//!   it. A path to phalanx is a name of the user, who may have another crate of this name, and
//!   `crate = path` names any module. So the word `unsafe` is a word of phalanx itself, in a macro
//!   that names its own traits and proofs by `$crate`: a module that only looks like phalanx has no
//!   such macro, or one whose `unsafe` is forbidden.
//! - **The tokens of the user keep their places.** So errors point at a field or an attribute, and
//!   the `unsafe` in a default value or in an attribute is the user's, and forbidden.
//! - **Errors name a macro of phalanx as well**, because a crate may call itself `core`.
//!
//! Modules: `component`, `relation` and `kernel` parse the kinds of items. `options` has the words
//! in the attribute, `attributes` the attributes that an item may have besides, `fields` the fields
//! of a struct, and `mistakes` the errors.

mod attributes;
mod component;
mod fields;
mod kernel;
mod mistakes;
mod options;
mod relation;

use proc_macro::TokenStream;

/// Defines a component. See `phalanx::component`.
#[proc_macro_attribute]
pub fn component(options: TokenStream, item: TokenStream) -> TokenStream {
    component::expand(options.into(), item.into()).into()
}

/// Defines a relation. See `phalanx::sparse::relation`.
#[proc_macro_attribute]
pub fn relation(options: TokenStream, item: TokenStream) -> TokenStream {
    relation::expand(options.into(), item.into()).into()
}

/// Compiles a function once for each instruction set. See `phalanx::kernel`.
#[proc_macro_attribute]
pub fn kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(options.into(), item.into()).into()
}

/// An error that names the attribute: a component is not derived.
#[proc_macro_derive(Component)]
pub fn derive_component(_: TokenStream) -> TokenStream {
    component::refuse_derive().into()
}

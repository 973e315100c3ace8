//! The parts of the types that `#[component]` defines: the conditions of their fields, the proof
//! that they have no padding, and the choice between `Pod` and types that check their bytes.
//!
//! The expansion of `struct Unit { speed: f32, alive: bool, pad: [u8; 3] }`, without paths:
//!
//! ```text
//! #[derive(Clone, Copy)] #[repr(C)]
//! struct Unit { speed: f32, alive: bool, pad: [u8; 3] }
//!
//! impl Default for Unit { … }                 the default of each field, or zero
//!
//! const _: () = assert_packed::<Unit>(…);     the sizes of the fields add up to that of `Unit`
//!
//! impl Defined for Unit { type IsPod = Bool<{ f32 is Pod && bool is Pod && [u8; 3] is Pod }>; }
//!
//! unsafe impl Zeroable for Unit {}
//! unsafe impl Pod for Unit where for<'a> Unit: Defined<IsPod = Bool<true>> {}
//! unsafe impl NoUninit for Unit where for<'a> Unit: Defined<IsPod = Bool<false>> {}
//! unsafe impl CheckedBitPattern for Unit where for<'a> Unit: Defined<IsPod = Bool<false>> {
//!     type Bits = AlignedBytes<{ alignment of Unit }, { size of Unit / its alignment }>;
//!     fn is_valid_bit_pattern(bits: &Self::Bits) -> bool {
//!         is_valid(bits, check::<f32>(), offset of `speed`, …) && …  each field is a `Field`
//!     }
//! }
//! impl Component for Unit { … }
//! ```
//!
//! - Every `Pod` type has the other two traits by implementations of `bytemuck`. So the macro must
//!   implement either `Pod` or the other two, and it does not know the types behind the names of
//!   the fields. Both are implemented, each under a condition. The conditions contradict each
//!   other, which the compiler sees because they are types; otherwise it would refuse one as a
//!   duplicate.
//! - A condition without parameters that is false is an error, unless it is one for all `'a`.
//! - [`Probe`] tells whether a type is `Pod`: its own constant `IS_POD` exists for `Pod` types only
//!   and comes before the constant of the trait [`Fallback`], which exists for all.
//! - A generic type has one field and is `#[repr(transparent)]`: no constant could prove that all
//!   its instances have no padding. It is `Pod` where its field is.
//!
//! # Why the implementations are sound
//!
//! A user of the attribute writes no `unsafe`, so that no text of the user may break soundness.
//! Hidden macros are not part of this: a program that calls `__generic!` itself, beside a struct
//! of its own, can claim what is not so. The traits demand that a value has no uninitialised bytes,
//! that zeros are a value, and that `is_valid_bit_pattern` refuses all others.
//!
//! - The fields that the macro knows are all fields: the body of `default` names them in a struct
//!   expression. So no change by an attribute matters.
//! - They have the types that the macro writes for them. A type that contains a macro might be
//!   another in each place, so the attribute refuses macros, in types that another macro has
//!   captured as well. Besides, every answer about a type, and every check of bits, is tied to the
//!   type of the field itself ([`Part`]).
//! - These types are plain data: each is a [`Field`], which is asked where its bits are checked.
//! - There are no other bytes: `assert_packed`. So packing, alignment and order do not matter.
//! - A generic struct is `#[repr(transparent)]`. Neither its field's type nor a bound or condition,
//!   which may decide this type, has macros.
//! - The names in the expansion are names of this crate: none is looked up in a scope of the user,
//!   in which even `core` may be another crate.
//!
//! * `expansion` has the macro that writes types and their implementations, `generic` the one for
//!   generic structs, and `split_struct` the one for structs with `#[component(split)]`. The fields
//!   of the latter are `Pod`; the unsafe promise is that taking a struct apart does not panic.
//! * `sparse_type` has the macro for types with `#[component(sparse)]`, which may be any, and
//!   `relation_type` the one for types with `#[relation]`.
//! * `existing` has the macro that names existing types.
//! * `facts` has the macro that writes the facts which a type tells about itself.
//! * `probe` asks whether a type is `Pod`, plain, or has a default or ids of entities.
//! * `no_padding` is the proof that a struct has no padding and an enum a variant of value zero.
//! * `plain_text` takes the marks of raw identifiers out of names.
//! * `bits` has bytes that may be a value.

mod bits;
mod existing;
mod expansion;
mod facts;
mod generic;
mod no_padding;
mod plain_text;
mod probe;
mod relation_type;
mod sparse_type;
mod split_struct;

pub use crate::component::about::{About, ComponentShape, FieldInfo, VariantInfo};
pub use crate::component::columnar::{InSet, Split};
pub use crate::component::map_entities::MapValue;
pub use crate::component::plain_values::PlainValues;
pub use crate::component::relation_rules::{OnDelete, RelationRules, place_of};
pub use crate::component::split_component::{FieldOf, Parts, SplitComponent};
pub use bits::{Align, Aligned, AlignedBytes, Check, Field, IsValid, check, is_valid};
pub use no_padding::{FieldShape, assert_has_zero, assert_is_byte, assert_no_gap, assert_packed};
pub use plain_text::{PlainText, plain_name};
pub use probe::{Answer, ArrayProbe, Bool, Defined, Fallback, Probe};
pub use probe::{Part, assert_plain, own_or_by_fields, part};
pub use relation_type::arguments;
pub use split_struct::{SlicesMutOf, SlicesOf, format_slices, peel, peel_mut, wrap, wrap_mut};

// Names in the expansion, where the user may have given them to another item.
pub use core::clone::Clone;
pub use core::default::Default;
pub use core::fmt::{Debug, Formatter, Result as FmtResult};
pub use core::marker::Copy;
pub use core::mem::{align_of, offset_of, size_of};
pub use core::prelude::v1::derive;
pub use core::primitive::{bool, str, u8, usize};

//! Components: plain-data types with a stable name.
//!
//! Types:
//!
//! * [`component`] has the trait and the attribute that implements it. [`names`] compares names of
//!   components at compile time, and [`const_text`] puts the texts of compile errors together.
//! * [`plain`] is the condition of components and their fields, [`define`] has the parts of the
//!   types that the attribute defines, and [`about`] has the facts that such a type tells about
//!   itself. [`fingerprint`] has the facts that two programs must agree on to read each other's
//!   columns.
//! * [`columnar`] has the traits of components of any kind and of components in columns, and
//!   [`split_component`] has those that are a column for each field. [`sparse_component`] has the
//!   components beside the chunks. [`sparse_bundle`] has the sparse components of an entity, and
//!   [`sparse_lists`] of many entities. [`sparse_names`] are their names in a world,
//!   [`sparse_naming`] registers them, [`dense_values`] are the values of one, and [`plain_values`]
//!   are these as bytes. A [`relation_component`] is one that points at an entity, and
//!   [`relation_rules`] tell how. A [`many_relation`] points at any number of them: its component
//!   are [`targets`] with values, which are [`links`] to the store, and [`pair_rules`] tell how.
//! * [`previous`] is the second buffer of a component. [`hidden`] has the hidden components that
//!   every program has.
//! * [`per_chunk`] has values of whole chunks, and [`chunk_shape`] their size and first value.
//! * [`map_entities`] finds the ids of entities in values.
//!
//! Shared values:
//!
//! * [`shared_value`] is a value that entities have in common, an [`any_value`] to the world:
//!   [`shared_types`] gives each value a tag, by the lowest number that is free in the
//!   [`tag_table`] of its type. Archetypes own it as a [`held_value`], and the [`shared_slot`] of
//!   the tag hands it out. A [`shared_place`] is the part of a marker or a tag in its type.
//! * A [`shared_codec`] writes and reads values of a type, which [`shared_naming`] finds by its
//!   name.
//! * [`shared_adoption`] takes over the shared values of another world, and [`shared_map`] has the
//!   function that replaces the ids of entities in them.
//!
//! Ids:
//!
//! * [`registry`] gives each type a dense id ([`component_id`]) per world, and [`adoption`] the
//!   types of another world. [`component_info`] has the facts about a type, and [`name_taken`] the
//!   error for two types of one name. [`component_set`] is a set of ids: the identity of an
//!   archetype.
//!
//! Run time:
//!
//! * A [`run_time_layout`] is a component that no type of the program defines, with
//!   [`layout_properties`]: its [`layout_fields`] have a [`field_kind`] each. [`layout_naming`]
//!   registers it, with a [`register_error`] where it cannot, which names the [`meant_type`]. Names
//!   that come at run time are [`interned`].
//! * The [`identity`] of a component is its type or its layout, in all worlds. Registries, columns
//!   and ids in values compare it alone, so everything that works for types works for layouts.
//!
//! A component has no uninitialised bytes, no destructor, and zeros are a value of it. So a column
//! is bytes: rows are moved by `memcpy`, no destructor runs, and padding rows can be zero.
//!
//! Most components are `Pod`, which means that any bytes are a value. A `bool` or an enum accepts
//! some bytes only. It costs no time where values are typed, because a typed value is always valid:
//! a column is filled from values of its type, and its bytes are only copied to columns of the same
//! type. [`values`] lets the storage check that a column is accessed as its own type, once for each
//! column of a query and not for each value; for a `Pod` type size and alignment suffice. Where a
//! value is made from bytes (a [`Bundle`](crate::Bundle) of a recorded command or of a removed
//! row), the bytes are checked; for `Pod` types the check compiles to no code.

mod about;
mod adoption;
mod any_value;
mod chunk_shape;
mod columnar;
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod component;
mod component_id;
mod component_info;
mod component_set;
mod const_text;
pub mod define;
mod dense_values;
mod field_kind;
mod fingerprint;
mod held_value;
mod hidden;
mod identity;
mod interned;
mod layout_fields;
mod layout_naming;
mod layout_properties;
mod links;
mod many_relation;
mod map_entities;
mod meant_type;
mod name_taken;
mod names;
mod pair_rules;
mod per_chunk;
mod plain;
mod plain_values;
mod previous;
mod register_error;
mod registry;
mod relation_component;
mod relation_rules;
mod run_time_layout;
mod shared_adoption;
mod shared_codec;
mod shared_map;
mod shared_naming;
mod shared_place;
mod shared_slot;
mod shared_types;
mod shared_value;
mod sparse_bundle;
mod sparse_component;
mod sparse_lists;
mod sparse_names;
mod sparse_naming;
mod split_component;
mod tag_table;
mod targets;
mod values;

pub use about::{ComponentShape, FieldInfo, VariantInfo};
pub(crate) use adoption::{Adopted, AdoptionError, AdoptionPlan};
pub(crate) use any_value::{AnyValue, downcast};
pub(crate) use chunk_shape::{ChunkShape, ChunkWords};
pub use columnar::{AnyComponent, Columnar};
pub(crate) use columnar::{ColumnarShape, InSet, Shape, Split, Whole};
pub use component::{Component, ComponentHint, component};
pub(crate) use component_id::ComponentId;
pub use component_info::ComponentInfo;
pub(crate) use component_set::{ComponentSet, Ranks};
pub(crate) use const_text::ConstText;
pub(crate) use dense_values::DenseValues;
pub(crate) use held_value::HeldValue;
pub(crate) use hidden::HasSparseCleanup;
pub use hidden::{Disabled, Gone, Prototype};
pub(crate) use identity::Identity;
pub(crate) use interned::interned;
pub(crate) use links::Links;
pub use many_relation::ManyRelation;
pub use map_entities::MapEntities;
pub(crate) use map_entities::References;
pub use name_taken::NameTaken;
pub(crate) use names::{Names, ONE_NAME, same_name};
pub(crate) use pair_rules::PairRules;
pub use per_chunk::{ChunkValue, PerChunk};
pub use plain::Plain;
pub use previous::Previous;
pub use register_error::RegisterError;
pub(crate) use registry::{Registry, RegistryId};
pub use relation_component::{RelationComponent, TreeRelation, relation};
pub(crate) use relation_rules::{OnDelete, place_of};
pub(crate) use run_time_layout::Description;
pub(crate) use shared_codec::SharedCodec;
pub(crate) use shared_map::SharedMap;
pub(crate) use shared_naming::NamedShared;
pub(crate) use shared_place::SharedPlace;
pub(crate) use shared_slot::SharedSlot;
pub(crate) use shared_types::SharedRow;
pub use shared_value::{Shared, SharedValue};
pub(crate) use sparse_bundle::{
    SparseBundle, SparseReader, SparseSink, SparseSource, SparseVisitor,
};
pub use sparse_component::SparseComponent;
pub(crate) use sparse_component::assert_writable;
pub(crate) use sparse_lists::{ListReader, ListSink, SparseLists};
pub(crate) use split_component::ColumnVisitor;
pub use split_component::SplitMut;
pub(crate) use split_component::{Parts, SplitComponent};
pub use targets::Targets;
pub(crate) use values::Values;

//! Components without their types: names, layouts and bytes, for editors, logs and other formats.
//!
//! [`World::reflect`](crate::World::reflect) tells about the types and archetypes of a world, as a
//! [`Reflect`]; [`World::reflect_mut`](crate::World::reflect_mut) spawns entities, and inserts and
//! removes components by name, as a [`ReflectMut`], or returns a [`BytesError`]. A
//! [`CommandBuffer`](crate::CommandBuffer) records the same:
//! [`spawn_named`](crate::CommandBuffer::spawn_named),
//! [`insert_named`](crate::CommandBuffer::insert_named) and
//! [`remove_named`](crate::CommandBuffer::remove_named), and for relations
//! [`relate_named`](crate::CommandBuffer::relate_named) and
//! [`unrelate_named`](crate::CommandBuffer::unrelate_named).
//! [`ReflectMut::register_layout`](crate::reflect::ReflectMut::register_layout) adds a component
//! that exists at run time only, or returns a [`RegisterError`]; it is hidden, enableable or one of
//! cleanup [with such properties](crate::reflect::ReflectMut::register_layout_with), and
//! [`set_enabled`](crate::reflect::ReflectMut::set_enabled) switches it.
//! [Relations](crate::sparse::relation) are no columns, and have calls of their own:
//! [`relations`](Reflect::relations), [`targets`](Reflect::targets),
//! [`sources`](Reflect::sources), and [`pair`](Reflect::pair) for the value of a pair;
//! [`relate`](ReflectMut::relate) and [`unrelate`](ReflectMut::unrelate). A [`NamedTarget`] is the
//! target with a place among its sources, or with the value of the pair.
//! [`Reflect::components`](crate::reflect::Reflect::components) lists each component as a
//! [`ComponentInfo`]: its name, size, and its [`ComponentShape`], with a [`FieldInfo`] for each
//! field of a struct and a [`VariantInfo`] for each variant of an enum.
//! [`Reflect::archetypes`](crate::reflect::Reflect::archetypes) lists each archetype as an
//! [`ArchetypeInfo`]. An [`EntityView`] has all components of one entity, each as a
//! [`ComponentView`]. A [`NamedQuery`] is a query that is data: it matches rows by components that
//! are given as a [`ComponentKey`], a name or an info, and yields each [`NamedChunk`] or
//! [`NamedChunkMut`] of them, with a [`ColumnView`] or [`ColumnViewMut`] for each term; its
//! [`system`](crate::reflect::NamedQuery::system) does so in a schedule. [`Cell`] and [`CellMut`]
//! are the references, or the values of split components, that [`World::get`](crate::World::get)
//! and [`World::get_mut`](crate::World::get_mut) return for a type that is known.
//!
//! ```
//! use phalanx::prelude::*;
//!
//! #[component]
//! struct Health { points: f32 }
//!
//! let mut world = World::new();
//! let entity = world.spawn(Health { points: 0.5 });
//! let view = world.entity(entity)?;
//! let health = view.components().next().unwrap();
//! assert!(health.info().name().ends_with("Health"));
//! assert_eq!(health.bytes(), 0.5_f32.to_ne_bytes());
//! # Ok::<(), phalanx::error::NoSuchEntity>(())
//! ```

pub use crate::component::{ComponentInfo, ComponentShape, FieldInfo, RegisterError, VariantInfo};
pub use crate::world::{
    ArchetypeInfo, BytesError, Cell, CellMut, ColumnView, ColumnViewMut, ComponentKey,
    ComponentView, EntityView, NamedChunk, NamedChunkMut, NamedQuery, NamedTarget, Reflect,
    ReflectMut,
};

//! The components of objects.

use crate::loader::Schema;
use phalanx::prelude::*;

/// A child belongs to an object, and ends with it.
#[relation(tree, on_delete = despawn, name = "templates.child_of")]
pub(crate) struct ChildOf;

#[component(name = "place")]
#[derive(Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) x: f32,
    pub(crate) y: f32,
}

#[component(name = "size")]
pub(crate) struct Size {
    pub(crate) width: f32,
    pub(crate) depth: f32,
    pub(crate) height: f32,
}

#[component(name = "health")]
#[derive(Debug, PartialEq)]
pub(crate) struct Health {
    pub(crate) points: u16,
    pub(crate) armour: u16,
}

#[component(name = "material")]
#[derive(Debug, PartialEq)]
pub(crate) enum Material {
    Wood,
    Stone,
    Iron,
    Glass,
}

#[component(name = "light")]
#[derive(Debug, PartialEq)]
pub(crate) struct Light {
    pub(crate) radius: f32,
    pub(crate) power: u16,
    /// In kelvin.
    pub(crate) colour: u16,
}

#[component(name = "door")]
#[derive(Debug, PartialEq)]
pub(crate) struct Door {
    pub(crate) is_open: bool,
    pub(crate) keys: u8,
}

#[component(name = "growth")]
pub(crate) struct Growth {
    pub(crate) age: f32,
    pub(crate) metres_a_year: f32,
}

#[component(name = "burnt")]
pub(crate) struct Burnt;

/// The type of the object that an entity belongs to, and the node of the type.
#[component(name = "templates.origin")]
#[derive(Debug, PartialEq)]
pub(crate) struct Origin {
    pub(crate) kind: u32,
    pub(crate) node: u32,
}

/// The fields that an object has for itself, as the bits of a
/// [`FieldSet`](crate::loader::FieldSet). A reload leaves them.
#[component(name = "templates.own")]
#[derive(Debug, PartialEq)]
pub(crate) struct Own {
    pub(crate) fields: u64,
}

/// The region of an entity: a value that entities share, so that they lie in chunks of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Region(pub(crate) u32);

/// The components that a file of types may name.
type Data = (Place, Size, Health, Material, Light, Door, Growth, Burnt);

/// The names and fields that a file of types may have.
pub(crate) fn schema() -> Schema {
    let mut world = World::new();
    world.register::<Data>();
    Schema::of(&world)
}

/// A world that knows all components, in the same order as any other: rows go from one to another
/// by `memcpy`.
pub(crate) fn new_world() -> World {
    let mut world = World::new();
    world.register::<Data>();
    world.register::<(Origin, Own, ChildOf)>();
    world
}

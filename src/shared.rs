//! Values that entities share: a mesh, a material, the rules of a species.
//!
//! A [`SharedValue`] is any type that is `Eq`, `Hash`, `Send` and `Sync`. The world has each
//! distinct value once, and entities with equal values share chunks, so a kernel gets the value
//! once for a chunk. [`Shared`] is the term that reads it, as a [`SharedRef`]; its documentation
//! lists the calls that give and take values. [`WithShared`], [`WithoutShared`] and [`WhereShared`]
//! are the filters: any value, none, and one value. [`SharedValues`] are the values of one type
//! that a world has, and [`SharedValuesMut`] tells the world how they become bytes.
//!
//! ```
//! use phalanx::prelude::*;
//!
//! #[component]
//! struct Place(f32);
//!
//! #[derive(PartialEq, Eq, Hash)]
//! struct Mesh(&'static str);
//!
//! let mut world = World::new();
//! let tree = world.spawn(Place(1.0));
//! world.spawn(Place(2.0));
//! world.insert_shared(tree, Mesh("oak"))?;
//! for (mesh, places) in world.query::<(Shared<Mesh>, &Place)>() {
//!     assert_eq!((mesh.0, places.len()), ("oak", 1));
//! }
//! assert_eq!(world.query::<&Place>().filter::<WithoutShared<Mesh>>().count_rows(), 1);
//! # Ok::<(), phalanx::error::EntityError>(())
//! ```

pub use crate::component::{Shared, SharedValue};
pub use crate::query::{SharedRef, WhereShared, WithShared, WithoutShared};
pub use crate::world::{SharedValues, SharedValuesMut};

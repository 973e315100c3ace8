//! The hidden components that every program has.

use core::fmt;

use bytemuck::{Pod, Zeroable};

use super::component::{Component, ComponentHint};

/// A tag: the entity is switched off. Queries pass over it, unless they name `Disabled`.
///
/// Insert it to switch an entity off with all its components, remove it to switch it on: the row
/// moves to another archetype, and costs no time there. A query names it in a filter, `with` or
/// `without` or `AnyOf`, or in a term, `Option<&Disabled>`. The filter
/// [`IncludeHidden`](crate::IncludeHidden) names all hidden components. Calls of the world that
/// name the entity find it as before; a query finds by entity the rows that its passes visit.
///
/// Components of your own hide entities in the same way with
/// [`#[component(hidden)]`](crate::component#hidden-components). An entity with several hidden
/// components is visited only by queries that name all of them.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// let mut world = World::new();
/// let entities = world.spawn_batch((0..10).map(|i| Health(i as f32))).to_vec();
/// world.insert(entities[3], Disabled)?;
/// assert_eq!(world.query::<&Health>().count_rows(), 9);
/// assert_eq!(world.query::<(&Health, Option<&Disabled>)>().count_rows(), 10);
/// assert_eq!(world.get::<Health>(entities[3])?.0, 3.0);
///
/// world.matching::<&Health>().with::<Disabled>().remove::<Disabled>();
/// assert_eq!(world.query::<&Health>().count_rows(), 10);
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Disabled;

/// A tag: the entity exists to be copied. Queries pass over it, unless they name `Prototype`, and
/// [`World::instantiate`](crate::World::instantiate) makes copies without it. For a tree, each
/// part needs the tag: see [`World::instantiate_tree`](crate::World::instantiate_tree).
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// # #[component] struct Orc;
/// let mut world = World::new();
/// let orc = world.spawn((Health(80.0), Orc, Prototype));
/// world.instantiate(orc, 1000)?;
/// assert_eq!(world.query::<&Orc>().count_rows(), 1000, "the prototype is not one of them");
/// # Ok::<(), phalanx::error::SpawnError>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Prototype;

/// A tag that the world gives to despawned entities with [cleanup
/// components](crate::component#cleanup-components).
///
/// `despawn`, in any of its forms, takes everything else from such an entity: its other components,
/// sparse ones too. A row of its cleanup components and of `Gone` remains; if some of them are
/// sparse, with a tag that reports call `phalanx::KeptValues`. `Gone` hides it, so only
/// queries that name `Gone` visit it. Its id is not used again before the last cleanup component is
/// removed: that ends the row and frees the id.
///
/// The entity is not alive for any call that asks: [`World::contains`](crate::World::contains) is
/// `false`, and a second despawn, an insertion, a copy and a sparse component are refused as for
/// any id that is not alive ([`NoSuchEntity`](crate::error::NoSuchEntity)). So is a command that
/// removes sparse components alone, none of them a cleanup component; another one removes those
/// that are there. Its cleanup
/// components can be read, written and removed by entity, and
/// [`World::has::<Gone>`](crate::World::has) tells that it is gone.
/// [`World::len`](crate::World::len) counts it. [`World::clear`](crate::World::clear) ends entities
/// at once, with their cleanup components.
///
/// No bundle can name it: it is neither inserted nor removed by hand.
///
/// ```
/// # use phalanx::prelude::*;
/// #[component]
/// struct Health(f32);
/// #[component(cleanup)]
/// #[derive(Debug, PartialEq)]
/// struct Sound { channel: u32 }
/// let mut world = World::new();
/// let entity = world.spawn((Health(1.0), Sound { channel: 7 }));
/// world.despawn(entity)?;
/// assert!(!world.contains(entity) && world.despawn(entity).is_err());
/// assert!(world.has::<Gone>(entity) && !world.has::<Health>(entity));
/// assert_eq!(world.query::<&Sound>().count_rows(), 0, "it is hidden");
/// assert_eq!(world.query::<&Sound>().with::<Gone>().single().unwrap().channel, 7);
///
/// assert_eq!(world.remove::<Sound>(entity).unwrap(), Sound { channel: 7 });
/// assert!(!world.has::<Gone>(entity) && world.is_empty());
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// World::new().spawn(Gone); // no bundle can name it
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Gone;

/// Implements [`Component`] for a tag of this crate that hides its entities.
macro_rules! hidden {
    ($($name:ident)*) => {$(
        impl Component for $name {
            const NAME: &'static str = concat!("phalanx::", stringify!($name));
            const HIDDEN: bool = true;

            #[inline]
            fn hint() -> Option<&'static ComponentHint> {
                static HINT: ComponentHint = ComponentHint::new();
                Some(&HINT)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )*};
}

hidden! { Disabled Prototype Gone }

/// A tag that the world gives to despawned entities with sparse cleanup components: it is their
/// cleanup component in columns, so that a row remains until the last value is removed.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct HasSparseCleanup;

impl Component for HasSparseCleanup {
    const NAME: &'static str = "phalanx::KeptValues";
    const CLEANUP: bool = true;
}

//! The archetypes of a world, for reports.

use core::fmt;

use crate::archetype::{Archetype, SharedTags};
use crate::component::{ComponentInfo, Registry};

use super::by_name::Reflect;

/// A report of one archetype; see [`Reflect::archetypes`].
#[derive(Clone, Copy)]
pub struct ArchetypeInfo<'w> {
    archetype: &'w Archetype,
    registry: &'w Registry,
}

impl<'w> ArchetypeInfo<'w> {
    /// The components, sorted by name: the order of first use makes no difference. O(components).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "health")] struct Health(f32);
    /// # #[component(name = "frozen")] struct Frozen;
    /// let mut world = World::new();
    /// world.spawn_batch([(Health(1.0), Frozen); 1000]);
    /// let mut archetypes = world.reflect().archetypes();
    /// let archetype = archetypes.find(|archetype| !archetype.is_empty()).unwrap();
    /// assert!(archetype.components().map(|info| info.name()).eq(["frozen", "health"]));
    /// ```
    pub fn components(&self) -> impl ExactSizeIterator<Item = &'w ComponentInfo> + use<'w> {
        let ids = self.archetype.components().iter();
        let infos = ids.map(|&id| self.registry.info(id));
        let mut infos: Vec<_> = infos.filter(|info| !info.is_shared()).collect();
        infos.sort_unstable_by_key(|info| info.name());
        infos.into_iter()
    }

    /// The types of the [shared values](crate::shared::Shared) of its entities, as the compiler
    /// names them.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let entity = world.spawn(());
    /// world.insert_shared(entity, String::from("oak"))?;
    /// let types = world.reflect().archetypes().flat_map(|archetype| archetype.shared_types());
    /// assert!(types.eq(["alloc::string::String"]));
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    pub fn shared_types(&self) -> impl Iterator<Item = &'static str> + use<'w> {
        let (registry, shared) = (self.registry, self.archetype.shared());
        let tags = shared.into_iter().flat_map(SharedTags::tags);
        tags.filter_map(|tag| registry.shared_type(tag)).map(|(name, _)| name)
    }

    /// The archetype and the component registry of its world, for reports of other modules.
    pub(crate) const fn parts(&self) -> (&'w Archetype, &'w Registry) {
        (self.archetype, self.registry)
    }

    /// The number of entities.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "health")] struct Health(f32);
    /// # #[component(name = "frozen")] struct Frozen;
    /// let mut world = World::new();
    /// world.spawn_batch([(Health(1.0), Frozen); 1000]);
    /// let mut archetypes = world.reflect().archetypes();
    /// let archetype = archetypes.find(|archetype| !archetype.is_empty()).unwrap();
    /// assert_eq!(archetype.len(), 1000);
    /// ```
    #[must_use]
    pub const fn len(&self) -> usize {
        self.archetype.len()
    }

    /// Returns `true` if the archetype has no entities.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "health")] struct Health(f32);
    /// # #[component(name = "frozen")] struct Frozen;
    /// let mut world = World::new();
    /// world.spawn_batch([(Health(1.0), Frozen); 1000]);
    /// let mut archetypes = world.reflect().archetypes();
    /// let archetype = archetypes.find(|archetype| !archetype.is_empty()).unwrap();
    /// assert!(!archetype.is_empty());
    /// ```
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.archetype.is_empty()
    }

    /// The number of chunks that hold rows.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "health")] struct Health(f32);
    /// # #[component(name = "frozen")] struct Frozen;
    /// let mut world = World::new();
    /// world.spawn_batch([(Health(1.0), Frozen); 1000]);
    /// let mut archetypes = world.reflect().archetypes();
    /// let archetype = archetypes.find(|archetype| !archetype.is_empty()).unwrap();
    /// assert_eq!(archetype.chunk_len(), 1, "4,000 bytes");
    /// ```
    #[must_use]
    pub const fn chunk_len(&self) -> usize {
        self.archetype.list().chunk_len() as usize
    }

    /// The capacity of a chunk in rows. While the small first block is the only one, its capacity.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "health")] struct Health(f32);
    /// # #[component(name = "frozen")] struct Frozen;
    /// let mut world = World::new();
    /// world.spawn_batch([(Health(1.0), Frozen); 1000]);
    /// let mut archetypes = world.reflect().archetypes();
    /// let archetype = archetypes.find(|archetype| !archetype.is_empty()).unwrap();
    /// assert_eq!(archetype.capacity() % VECTOR_ROWS, 0);
    /// ```
    #[must_use]
    pub const fn capacity(&self) -> usize {
        self.archetype.list().capacity() as usize
    }

    /// The bytes of one row in all columns.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "health")] struct Health(f32);
    /// # #[component(name = "frozen")] struct Frozen;
    /// let mut world = World::new();
    /// world.spawn_batch([(Health(1.0), Frozen); 1000]);
    /// let mut archetypes = world.reflect().archetypes();
    /// let archetype = archetypes.find(|archetype| !archetype.is_empty()).unwrap();
    /// assert_eq!(archetype.row_bytes(), 4, "a tag has no column");
    /// ```
    #[must_use]
    pub fn row_bytes(&self) -> usize {
        self.archetype.list().layouts().row_bytes()
    }

    /// The bytes of the blocks that hold the chunks.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "health")] struct Health(f32);
    /// # #[component(name = "frozen")] struct Frozen;
    /// let mut world = World::new();
    /// world.spawn_batch([(Health(1.0), Frozen); 1000]);
    /// let mut archetypes = world.reflect().archetypes();
    /// let archetype = archetypes.find(|archetype| !archetype.is_empty()).unwrap();
    /// assert!(archetype.block_bytes() >= 4000);
    /// ```
    #[must_use]
    pub fn block_bytes(&self) -> usize {
        self.archetype.list().block_bytes()
    }

    /// The used part of the chunks' rows, from 0 to 1; 1 without chunks.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "health")] struct Health(f32);
    /// # #[component(name = "frozen")] struct Frozen;
    /// let mut world = World::new();
    /// world.spawn_batch([(Health(1.0), Frozen); 1000]);
    /// let mut archetypes = world.reflect().archetypes();
    /// let archetype = archetypes.find(|archetype| !archetype.is_empty()).unwrap();
    /// assert_eq!(archetype.occupancy(), 1000.0 / archetype.capacity() as f64);
    /// ```
    #[must_use]
    pub fn occupancy(&self) -> f64 {
        match self.chunk_len() * self.capacity() {
            0 => 1.0,
            room => self.len() as f64 / room as f64,
        }
    }
}

impl fmt::Debug for ArchetypeInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.components().map(ComponentInfo::name).collect();
        f.debug_struct("ArchetypeInfo")
            .field("components", &names)
            .field("len", &self.len())
            .field("chunk_len", &self.chunk_len())
            .field("capacity", &self.capacity())
            .field("occupancy", &self.occupancy())
            .finish()
    }
}

impl<'w> Reflect<'w> {
    /// All archetypes, empty ones too, in the order of their creation: the order of queries.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Position([f32; 3]);
    /// # #[component] struct Velocity([f32; 3]);
    /// let mut world = World::new();
    /// world.spawn_batch((0..1000).map(|_| (Position([0.0; 3]), Velocity([0.0; 3]))));
    /// let archetype = world.reflect().archetypes().next().unwrap();
    /// assert_eq!((archetype.capacity(), archetype.chunk_len()), (672, 2));
    /// ```
    pub fn archetypes(self) -> impl ExactSizeIterator<Item = ArchetypeInfo<'w>> {
        let registry = self.world.store.registry();
        self.world
            .store
            .archetypes()
            .as_slice()
            .iter()
            .map(move |archetype| ArchetypeInfo { archetype, registry })
    }
}

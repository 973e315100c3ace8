//! Rows of one chunk that a query which is data matches.

use core::ops::Range;

use crate::entity::Entity;

use super::column_view::{ColumnView, ColumnViewMut};

/// The common methods of both kinds.
macro_rules! named_chunk {
    ($Chunk:ident<$lifetime:lifetime>, $View:ident) => {
        impl<$lifetime> $Chunk<$lifetime> {
            /// The entities of the rows.
            ///
            /// ```
            /// # use phalanx::prelude::*;
            /// # use phalanx::reflect::NamedQuery;
            /// # #[component] struct Health(f32);
            /// let mut world = World::new();
            /// let entity = world.spawn(Health(1.0));
            /// for chunk in world.reflect().chunks(&NamedQuery::new())? {
            ///     assert_eq!(chunk.entities(), [entity]);
            /// }
            /// # Ok::<(), phalanx::reflect::BytesError>(())
            /// ```
            #[must_use]
            pub const fn entities(&self) -> &$lifetime [Entity] {
                self.entities
            }

            /// The number of rows: at least one.
            ///
            /// ```
            /// # use phalanx::prelude::*;
            /// # use phalanx::reflect::NamedQuery;
            /// # #[component(name = "health")] struct Health(f32);
            /// # let mut world = World::new();
            /// world.spawn_batch([Health(1.0); 5]);
            /// for chunk in world.reflect().chunks(&NamedQuery::new().read("health"))? {
            ///     assert_eq!(chunk.len(), 5);
            /// }
            /// # Ok::<(), phalanx::reflect::BytesError>(())
            /// ```
            #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
            #[must_use]
            pub const fn len(&self) -> usize {
                self.entities.len()
            }

            /// The numbers of the rows in the chunk: all, or a run of those that are visible.
            ///
            /// ```
            /// # use phalanx::prelude::*;
            /// # use phalanx::reflect::NamedQuery;
            /// # #[component(name = "health")] struct Health(f32);
            /// # let mut world = World::new();
            /// world.spawn_batch([Health(1.0); 5]);
            /// for chunk in world.reflect().chunks(&NamedQuery::new().read("health"))? {
            ///     assert_eq!(chunk.rows(), 0..5);
            /// }
            /// # Ok::<(), phalanx::reflect::BytesError>(())
            /// ```
            #[must_use]
            pub fn rows(&self) -> Range<usize> {
                self.rows.clone()
            }

            /// The number of the archetype: its index in
            /// [`Reflect::archetypes`](crate::reflect::Reflect::archetypes).
            ///
            /// ```
            /// # use phalanx::prelude::*;
            /// # use phalanx::reflect::NamedQuery;
            /// # #[component(name = "health")] struct Health(f32);
            /// # let mut world = World::new();
            /// world.spawn_batch([Health(1.0); 5]);
            /// for chunk in world.reflect().chunks(&NamedQuery::new().read("health"))? {
            ///     let archetype = world.reflect().archetypes().nth(chunk.archetype()).unwrap();
            ///     assert_eq!(archetype.len(), 5);
            /// }
            /// # Ok::<(), phalanx::reflect::BytesError>(())
            /// ```
            #[must_use]
            pub const fn archetype(&self) -> usize {
                self.archetype
            }

            /// The number of the chunk in its archetype.
            ///
            /// ```
            /// # use phalanx::prelude::*;
            /// # use phalanx::reflect::NamedQuery;
            /// # #[component(name = "health")] struct Health(f32);
            /// # let mut world = World::new();
            /// world.spawn_batch([Health(1.0); 5]);
            /// for chunk in world.reflect().chunks(&NamedQuery::new().read("health"))? {
            ///     assert_eq!(chunk.index(), 0);
            /// }
            /// # Ok::<(), phalanx::reflect::BytesError>(())
            /// ```
            #[must_use]
            pub const fn index(&self) -> usize {
                self.index
            }

            /// The columns, in the order in which the query names them.
            ///
            /// ```
            /// # use phalanx::prelude::*;
            /// # use phalanx::reflect::NamedQuery;
            /// # #[component(name = "health")] struct Health(f32);
            /// # let mut world = World::new();
            /// world.spawn_batch([Health(1.0); 5]);
            /// for chunk in world.reflect().chunks(&NamedQuery::new().read("health"))? {
            ///     assert_eq!(chunk.columns()[0].info().name(), "health");
            /// }
            /// # Ok::<(), phalanx::reflect::BytesError>(())
            /// ```
            #[must_use]
            pub fn columns(&self) -> &[$View<$lifetime>] {
                &self.columns
            }
        }
    };
}

/// Rows of one chunk, for reading. See [`Reflect::chunks`](crate::reflect::Reflect::chunks).
#[derive(Clone, Debug)]
pub struct NamedChunk<'w> {
    pub(super) archetype: usize,
    pub(super) index: usize,
    pub(super) rows: Range<usize>,
    pub(super) entities: &'w [Entity],
    pub(super) columns: Vec<ColumnView<'w>>,
}

named_chunk!(NamedChunk<'w>, ColumnView);

/// Rows of one chunk, for writing. See
/// [`ReflectMut::for_each_chunk`](crate::reflect::ReflectMut::for_each_chunk).
#[derive(Debug)]
pub struct NamedChunkMut<'c> {
    pub(super) archetype: usize,
    pub(super) index: usize,
    pub(super) rows: Range<usize>,
    pub(super) entities: &'c [Entity],
    pub(super) columns: Vec<ColumnViewMut<'c>>,
}

named_chunk!(NamedChunkMut<'c>, ColumnViewMut);

impl<'c> NamedChunkMut<'c> {
    /// The columns for writing, in the order in which the query names them: take several at once
    /// by a slice pattern.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedQuery;
    /// # #[component(name = "place")] #[derive(Debug, PartialEq)] struct Place(f32);
    /// # #[component(name = "speed")] struct Speed(f32);
    /// let mut world = World::new();
    /// let entity = world.spawn((Place(1.0), Speed(0.5)));
    /// let query = NamedQuery::new().write("place").read("speed");
    /// world.reflect_mut().for_each_chunk(&query, |chunk| {
    ///     let [places, speeds] = chunk.columns_mut() else { return };
    ///     let (places, speeds) = (places.values_mut::<Place>(), speeds.values::<Speed>());
    ///     for (place, speed) in places.unwrap().iter_mut().zip(speeds.unwrap()) {
    ///         place.0 += speed.0;
    ///     }
    /// })?;
    /// assert_eq!(world.get::<Place>(entity), Ok(&Place(1.5)));
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    pub fn columns_mut(&mut self) -> &mut [ColumnViewMut<'c>] {
        &mut self.columns
    }
}

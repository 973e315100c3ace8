//! The rows of an archetype in a snapshot.

use core::fmt;

use crate::archetype::{ArchetypeImage, RowsView};
use crate::component::ComponentInfo;
use crate::entity::Entity;

use super::snapshot::Snapshot;
use super::snapshot_column::SnapshotColumn;

/// The entities of an archetype as they were when a [`Snapshot`] was taken, and their columns.
///
/// Each column is one array without gaps, for any chunks of the rows, and begins at a multiple of
/// 64 bytes. So a file format, a GPU or another library that takes such arrays needs no copy.
///
/// ```
/// # use phalanx::prelude::*;
/// #[component(name = "health")]
/// struct Health(f32);
///
/// let mut world = World::new();
/// let all = world.spawn_batch((0..10_000).map(|i| Health(i as f32))).to_vec();
/// let snapshot = world.snapshot()?;
///
/// let archetype = snapshot.archetypes().find(|a| !a.is_empty()).unwrap();
/// assert_eq!(archetype.entities(), all);
/// let health = archetype.column("health").unwrap().bytes();
/// assert_eq!((health.len(), health.as_ptr() as usize % 64), (40_000, 0));
/// assert_eq!(health[4..8], 1f32.to_ne_bytes());
/// # Ok::<(), phalanx::snapshot::SnapshotError>(())
/// ```
#[derive(Clone, Copy)]
pub struct SnapshotArchetype<'s> {
    image: &'s ArchetypeImage,
    /// By their ids.
    components: &'s [ComponentInfo],
}

impl<'s> SnapshotArchetype<'s> {
    /// The number of entities.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// world.spawn_batch([(); 7]);
    /// let rows: usize = world.snapshot()?.archetypes().map(|archetype| archetype.len()).sum();
    /// assert_eq!(rows, 7);
    /// # Ok::<(), phalanx::snapshot::SnapshotError>(())
    /// ```
    #[must_use]
    pub const fn len(&self) -> usize {
        self.image.len()
    }

    /// Returns `true` if the archetype had no entities.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let entity = world.spawn(());
    /// world.despawn(entity)?;
    /// assert!(world.snapshot()?.archetypes().all(|archetype| archetype.is_empty()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entities, row after row, in the order of the chunks.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let entity = world.spawn(());
    /// let snapshot = world.snapshot()?;
    /// assert!(snapshot.archetypes().any(|archetype| archetype.entities() == [entity]));
    /// # Ok::<(), phalanx::snapshot::SnapshotError>(())
    /// ```
    #[must_use]
    pub fn entities(&self) -> &'s [Entity] {
        self.image.entities()
    }

    /// The columns, in the order of the names of their components. The column of a tag has no
    /// bytes; [shared values](crate::shared::Shared) have no column. O(components).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[component(name = "frozen")]
    /// struct Frozen;
    /// #[component(name = "armour")]
    /// struct Armour(u16);
    /// let mut world = World::new();
    /// world.spawn((Frozen, Armour(3)));
    /// let snapshot = world.snapshot()?;
    /// let archetype = snapshot.archetypes().find(|a| !a.is_empty()).unwrap();
    /// let sizes = archetype.columns().map(|column| (column.info().name(), column.bytes().len()));
    /// assert_eq!(sizes.collect::<Vec<_>>(), [("armour", 2), ("frozen", 0)]);
    /// # Ok::<(), phalanx::snapshot::SnapshotError>(())
    /// ```
    pub fn columns(&self) -> impl ExactSizeIterator<Item = SnapshotColumn<'s>> + use<'s> {
        let rows = RowsView::of_image(self.image);
        let numbered = (0..).zip(self.image.set().iter());
        let mut columns: Vec<_> = numbered
            .map(|(number, id)| (number, &self.components[id.index()]))
            .filter(|(_, info)| !info.is_shared())
            .map(|(number, info)| {
                let (words, chunk_words) = self.image.enable_words(number);
                let bytes = rows.cells(number, info.size(), 0..rows.len());
                SnapshotColumn::new(info, bytes, rows.capacity(), words, chunk_words)
            })
            .collect();
        columns.sort_unstable_by_key(|column| column.info().name());
        columns.into_iter()
    }

    /// The column of the component of this [name](crate::Component::NAME), or `None` if the
    /// archetype has none. O(components).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[component(name = "armour")]
    /// struct Armour(u16);
    /// let mut world = World::new();
    /// world.spawn(Armour(3));
    /// let snapshot = world.snapshot()?;
    /// let armour = snapshot.archetypes().find_map(|archetype| archetype.column("armour"));
    /// assert_eq!(armour.unwrap().bytes(), 3u16.to_ne_bytes());
    /// # Ok::<(), phalanx::snapshot::SnapshotError>(())
    /// ```
    #[must_use]
    pub fn column(&self, name: &str) -> Option<SnapshotColumn<'s>> {
        self.columns().find(|column| column.info().name() == name)
    }
}

impl fmt::Debug for SnapshotArchetype<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.columns().map(|column| column.info().name()).collect();
        f.debug_struct("SnapshotArchetype")
            .field("components", &names)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// The archetypes, including empty ones, in the order of their creation.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Frozen;
    /// let mut world = World::new();
    /// world.spawn_batch([Health(1.0); 100]);
    /// world.spawn_batch([(Health(1.0), Frozen); 10]);
    /// let snapshot = world.snapshot()?;
    /// let lens = snapshot.archetypes().map(|archetype| archetype.len()).filter(|&len| len > 0);
    /// assert_eq!(lens.collect::<Vec<_>>(), [100, 10]);
    /// # Ok::<(), phalanx::snapshot::SnapshotError>(())
    /// ```
    pub fn archetypes(&self) -> impl ExactSizeIterator<Item = SnapshotArchetype<'_>> {
        let components = &self.components[..];
        let images = self.image.archetypes().iter();
        images.map(move |image| SnapshotArchetype { image, components })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_of_no_world_has_no_archetypes() {
        assert_eq!(Snapshot::new().archetypes().len(), 0, "nothing was taken");
    }
}

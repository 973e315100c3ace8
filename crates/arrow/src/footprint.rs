//! The share of a record batch that is the snapshot's own memory.

use std::ops::{Add, AddAssign};

use arrow_array::{Array, RecordBatch};
use phalanx::snapshot::Snapshot;

/// The bytes that arrays have in common with a snapshot, and the bytes that were copied or made for
/// them. It is found by addresses, and so a measurement, not a promise of a table.
///
/// ```
/// use std::sync::Arc;
/// use phalanx::prelude::*;
/// use phalanx_arrow::{Footprint, record_batches};
///
/// #[component(name = "health")]
/// struct Health(f32);
/// let mut world = World::new();
/// world.spawn_batch([Health(1.0); 1000]);
/// let snapshot = Arc::new(world.snapshot()?);
/// let batch = &record_batches(&snapshot)?[0];
/// let footprint = Footprint::of(batch, &snapshot);
/// assert_eq!((footprint.shared, footprint.copied), (4000, 8000)); // health, and ids
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Bytes of the snapshot.
    pub shared: usize,
    /// Bytes of the arrays alone.
    pub copied: usize,
}

impl Footprint {
    /// The footprint of all columns of a batch. O(columns × archetypes).
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use phalanx::prelude::*;
    /// # use phalanx_arrow::{Footprint, record_batches};
    /// let mut world = World::new();
    /// world.spawn(());
    /// let snapshot = Arc::new(world.snapshot()?);
    /// let batches = record_batches(&snapshot)?;
    /// assert_eq!(Footprint::of(&batches[0], &snapshot), Footprint { shared: 0, copied: 8 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn of(batch: &RecordBatch, snapshot: &Snapshot) -> Self {
        let columns = batch.columns().iter().map(|array| Self::of_array(array, snapshot));
        columns.fold(Self::default(), Add::add)
    }

    /// The footprint of one array, with its children.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use phalanx::prelude::*;
    /// # use phalanx_arrow::{Footprint, record_batches};
    /// #[component(name = "position")]
    /// struct Position { x: f32, y: f32 }
    /// let mut world = World::new();
    /// world.spawn_batch([Position { x: 1.0, y: 2.0 }; 100]);
    /// let snapshot = Arc::new(world.snapshot()?);
    /// let batches = record_batches(&snapshot)?;
    /// let position = batches[0].column_by_name("position").unwrap();
    /// assert_eq!(Footprint::of_array(position, &snapshot), Footprint { shared: 800, copied: 0 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn of_array(array: &dyn Array, snapshot: &Snapshot) -> Self {
        let columns = snapshot.archetypes().flat_map(|archetype| archetype.columns());
        let ranges: Vec<_> = columns.map(|column| column.bytes().as_ptr_range()).collect();
        let mut footprint = Self::default();
        let mut rest = vec![array.to_data()];
        while let Some(data) = rest.pop() {
            footprint.copied += data.nulls().map_or(0, |nulls| nulls.len().div_ceil(8));
            for buffer in data.buffers() {
                if ranges.iter().any(|range| range.contains(&buffer.as_ptr())) {
                    footprint.shared += buffer.len();
                } else {
                    footprint.copied += buffer.len();
                }
            }
            rest.extend(data.child_data().iter().cloned());
        }
        footprint
    }
}

impl Add for Footprint {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { shared: self.shared + other.shared, copied: self.copied + other.copied }
    }
}

impl AddAssign for Footprint {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

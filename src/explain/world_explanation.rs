//! A whole world: its archetypes, and the use of their bytes.

use crate::store::{EventQueueInfo, SparseSetInfo};
use crate::version::Version;
use crate::world::{Memory, World};

use super::archetype_explanation::{ArchetypeExplanation, Waste};
use super::shared_explanation::{SharedExplanation, shared_values};

/// The layout and the use of all bytes of a world; see [`World::explain`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldExplanation {
    /// Bytes of a full-sized chunk.
    pub chunk_bytes: usize,
    /// The clock of the world. The versions of chunks are past values of it.
    pub version: Version,
    /// All archetypes, empty ones too, in the order of their creation.
    pub archetypes: Vec<ArchetypeExplanation>,
    /// The memory of the world: slabs, bookkeeping, sparse components and events.
    pub memory: Memory,
    /// The sets of sparse components, in the order in which these were first used.
    pub sparse: Vec<SparseExplanation>,
    /// The values that entities share, in the order of the first archetypes that have one.
    pub shared: Vec<SharedExplanation>,
    /// The queues of events, in the order in which their types were first used.
    pub events: Vec<EventExplanation>,
}

/// The values of one [sparse component](crate::component#sparse-components).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SparseExplanation {
    /// Its name.
    pub name: &'static str,
    /// Entities that have a value.
    pub values: usize,
    /// Bytes of the set, used or not: the values, their entities and the pages that find them.
    /// Memory that the values own elsewhere is not counted.
    pub bytes: usize,
    /// The part of `bytes` that finds values by entity and, of a relation, the sources of a target.
    pub index_bytes: usize,
}

/// The [events](World::events) of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventExplanation {
    /// The type, as the compiler names it.
    pub type_name: &'static str,
    /// Events that are kept.
    pub kept: usize,
    /// Bytes of the queue, used or not. Memory that the events own elsewhere is not counted.
    pub bytes: usize,
}

/// # Explanations
impl World {
    /// Explains the use of every byte: for each archetype its columns, their cache lines and
    /// vectors, the bytes that are used and wasted, and the capacity that each component costs.
    /// `Display` prints tables of the first 8 archetypes. O(archetypes × columns² + chunks ×
    /// columns).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Position([f32; 3]);
    /// # #[component] struct Velocity([f32; 3]);
    /// let mut world = World::new();
    /// world.spawn_batch((0..1000).map(|_| (Position([0.0; 3]), Velocity([0.0; 3]))));
    /// let explanation = world.explain();
    /// let archetype = &explanation.archetypes[0];
    /// // 682 rows of 24 bytes fit 16 KiB, 672 in whole vectors; with 12 bytes a row it is 1360.
    /// assert_eq!((archetype.capacity, archetype.chunks), (672, 2));
    /// assert_eq!(archetype.columns[1].offset, 672 * 12);
    /// assert_eq!(archetype.columns[1].capacity_lost, Some(1360 - 672));
    /// println!("{explanation}");
    /// ```
    #[must_use]
    pub fn explain(&self) -> WorldExplanation {
        let archetypes = self.reflect().archetypes().enumerate().map(|(number, info)| {
            let (archetype, registry) = info.parts();
            ArchetypeExplanation::new(number, archetype, registry, self.chunk_size())
        });
        WorldExplanation {
            chunk_bytes: self.chunk_size().bytes(),
            version: self.version(),
            archetypes: archetypes.collect(),
            memory: self.memory(),
            sparse: self.sparse_sets().map(SparseExplanation::new).collect(),
            shared: shared_values(self.reflect().archetypes().map(|info| info.parts())),
            events: self.event_queues().map(EventExplanation::new).collect(),
        }
    }
}

impl SparseExplanation {
    const fn new(SparseSetInfo { name, len, bytes, index_bytes }: SparseSetInfo) -> Self {
        Self { name, values: len, bytes, index_bytes }
    }
}

impl EventExplanation {
    const fn new(EventQueueInfo { type_name, len, bytes }: EventQueueInfo) -> Self {
        Self { type_name, kept: len, bytes }
    }
}

impl WorldExplanation {
    /// The rows of all archetypes.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.archetypes.iter().map(|archetype| archetype.rows).sum()
    }

    /// The chunks of all archetypes.
    #[must_use]
    pub fn chunks(&self) -> usize {
        self.archetypes.iter().map(|archetype| archetype.chunks).sum()
    }

    /// The bytes of all live rows.
    #[must_use]
    pub fn bytes_used(&self) -> usize {
        self.archetypes.iter().map(|archetype| archetype.bytes_used).sum()
    }

    /// The other bytes of all blocks.
    #[must_use]
    pub fn wasted(&self) -> Waste {
        let wasted = self.archetypes.iter().map(|archetype| archetype.wasted);
        wasted.fold(Waste::default(), Waste::add)
    }

    /// The cache lines that hold live rows.
    #[must_use]
    pub fn lines(&self) -> u64 {
        let columns = self.archetypes.iter().flat_map(|archetype| &archetype.columns);
        columns.map(|column| column.lines).sum()
    }
}

//! The shared values of a world, and the use of their chunks.

use crate::archetype::Archetype;
use crate::component::{ComponentId, Registry};

/// The [shared values](crate::shared::Shared) of one type.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// # let mut world = World::new();
/// let rows = world.spawn_batch((0..1000).map(|i| Health(i as f32))).to_vec();
/// for (i, row) in rows.into_iter().enumerate() {
///     world.insert_shared(row, i / 2)?; // two entities a value
/// }
/// let explanation = world.explain();
/// let shared = &explanation.shared[0];
/// assert_eq!((shared.values, shared.rows, shared.chunks), (500, 1000, 500));
/// assert!(shared.is_sparse());
/// assert!(explanation.to_string().contains("warning: chunks of `usize` are 0.0 % full"));
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedExplanation {
    /// The type, as the compiler names it.
    pub type_name: &'static str,
    /// Distinct values that entities have.
    pub values: usize,
    /// Entities that have a value.
    pub rows: usize,
    /// The chunks of these entities.
    pub chunks: usize,
    /// Rows that fit in the same number of full-sized chunks.
    pub room: usize,
}

impl SharedExplanation {
    /// The used part of full-sized chunks, from 0 to 1; 1 without chunks.
    #[must_use]
    pub fn occupancy(&self) -> f64 {
        if self.room == 0 { 1.0 } else { self.rows as f64 / self.room as f64 }
    }

    /// Whether the type has several values and their chunks are less than a quarter full: if so,
    /// kernels run on short slices, and most of the memory is empty.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        self.values > 1 && self.occupancy() < 0.25
    }
}

/// Explains the shared values of some archetypes, in the order in which their types come.
pub(super) fn shared_values<'w>(
    archetypes: impl Iterator<Item = (&'w Archetype, &'w Registry)>,
) -> Vec<SharedExplanation> {
    let mut types: Vec<(ComponentId, SharedExplanation, Vec<ComponentId>)> = Vec::new();
    for (archetype, registry) in archetypes.filter(|(archetype, _)| !archetype.is_empty()) {
        let list = archetype.list();
        let (chunks, capacity) = (list.chunk_len() as usize, list.chunk_capacity() as usize);
        for tag in archetype.shared().into_iter().flat_map(|shared| shared.tags()) {
            let Some((type_name, marker)) = registry.shared_type(tag) else { continue };
            let at = types.iter().position(|(known, ..)| *known == marker);
            let at = at.unwrap_or_else(|| {
                let (values, rows, chunks, room) = (0, 0, 0, 0);
                let new = SharedExplanation { type_name, values, rows, chunks, room };
                types.push((marker, new, Vec::new()));
                types.len() - 1
            });
            let (_, of, tags) = &mut types[at];
            of.rows += archetype.len();
            of.chunks += chunks;
            of.room += chunks * capacity;
            tags.push(tag);
        }
    }
    let count = |(_, of, mut tags): (ComponentId, SharedExplanation, Vec<_>)| {
        tags.sort_unstable();
        tags.dedup();
        SharedExplanation { values: tags.len(), ..of }
    };
    types.into_iter().map(count).collect()
}

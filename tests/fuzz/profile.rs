//! Profiles: the parameters of a fuzz world, different for each world.

use phalanx::prelude::*;

use crate::chance::Chance;
use crate::parts::{ALL, EMPTY, Page, Part, SHAPES};
use crate::relations::{Faces, KINDS, Kind, Needs};

/// A second world that receives the same calls, and must have the same ids and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Twin {
    None,
    /// A world with chunks of the same size, which is also read and compacted between the calls and
    /// runs its schedules on one thread. It must have the same hash as well.
    Looked,
    /// A world with larger chunks. Operations that depend on the size of chunks are left out.
    Resized,
}

/// The parameters of a world and of its operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profile {
    pub(crate) chunk: ChunkSize,
    /// The maximum number of chunks in an extent.
    pub(crate) extent: u32,
    pub(crate) limit: u32,
    pub(crate) twin: Twin,
    /// Whether command buffers are used.
    pub(crate) buffers: bool,
    /// Whether entities are related that refuse the despawn of each other.
    pub(crate) refuses: bool,
    /// Whether schedules are run.
    pub(crate) schedules: bool,
    /// Whether components of 4,096 bytes are used.
    pub(crate) pages: bool,
    /// Whether most bundles are one component, which makes thousands of archetypes.
    pub(crate) crowded: bool,
    /// The approximate number of entities.
    pub(crate) rows: usize,
    /// The average number of operations between two that change many rows.
    pub(crate) bulk_every: usize,
    /// The number of operations between two comparisons of everything.
    pub(crate) compare_every: usize,
    /// The number of operations in all.
    pub(crate) operations: usize,
}

impl Profile {
    pub(crate) fn any(chance: &mut Chance) -> Self {
        let chunk = chance.pick(&[ChunkSize::KIB_4, ChunkSize::KIB_16, ChunkSize::KIB_256]);
        let twin = match chance.below(8) {
            0..2 => Twin::Looked,
            2 if chunk == ChunkSize::KIB_16 => Twin::Resized,
            _ => Twin::None,
        };
        let limit = match chance.below(4) {
            0 => chance.pick(&[1, 7, 100, 1_000, 3_000]),
            _ => u32::MAX,
        };
        let crowded = chance.one_in(4);
        let buffers = chance.one_in(2);
        let rows = chance.pick(&[20, 200, 1_000, 4_000]);
        let rows = if cfg!(miri) {
            20
        } else if crowded {
            3_000
        } else {
            rows
        };
        Self {
            chunk,
            extent: chance.pick(&[1, 4, 64]),
            limit,
            twin,
            buffers,
            // Playback merges commands, so a row may be too wide between two of them: not modelled.
            pages: chance.one_in(4) && !(chunk == ChunkSize::KIB_4 && buffers),
            refuses: chance.one_in(2) && !crowded,
            schedules: twin != Twin::Resized && chance.one_in(2) && !cfg!(miri),
            crowded,
            rows,
            bulk_every: if crowded { 500 } else { 15 + rows / 16 },
            compare_every: if cfg!(miri) {
                40
            } else if crowded {
                10_000
            } else {
                100 + rows
            },
            operations: if cfg!(miri) {
                120
            } else if crowded {
                100_000
            } else {
                chance.pick(&[2_000, 20_000])
            },
        }
    }

    /// The number of a random relation. The one that refuses despawns is rare: a few pairs are
    /// enough to refuse most despawns by query.
    pub(crate) const fn relation(&self, chance: &mut Chance) -> usize {
        if self.refuses && chance.one_in(12) { Needs::INDEX } else { self.usual(chance) }
    }

    /// The same for a relation that is removed.
    pub(crate) const fn former_relation(&self, chance: &mut Chance) -> usize {
        if self.refuses && chance.one_in(6) { Needs::INDEX } else { self.usual(chance) }
    }

    /// The number of a relation that refuses no despawn: one of three in worlds with thousands of
    /// archetypes, where the first and the last source of an archetype cost the most.
    const fn usual(&self, chance: &mut Chance) -> usize {
        chance.below(if self.crowded { Faces::INDEX } else { KINDS - 1 })
    }

    /// The number of a random bundle.
    pub(crate) const fn shape(&self, chance: &mut Chance) -> usize {
        let shape = if self.crowded && !chance.one_in(20) {
            chance.below(ALL)
        } else {
            chance.below(SHAPES)
        };
        // Pages are rare, even in worlds that use them.
        let is_page = shape == Page::INDEX || shape == SHAPES - 1;
        if is_page && !(self.pages && chance.one_in(3)) { EMPTY } else { shape }
    }
}

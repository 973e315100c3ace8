//! The filter by the order version of chunks: chunks with other rows, or rows in other places.

use crate::archetype::ChunkMeta;
use crate::storage::{ColumnRef, StampKind};
use crate::store::RequirementsBuilder;
use crate::version::Version;

use super::filter::{Filter, StampAt, sealed};

/// Chunks that have other rows, or rows in other places, after a version: rows were removed,
/// arrived, or took the place of removed rows. For data that is computed from all rows of a chunk,
/// for example a bounding box: a removed row makes it wrong.
///
/// The unit is the chunk: [`Removed`](crate::logs::Removed) and
/// [`Despawned`](crate::logs::Despawned) list the removed rows. A removed row changes two chunks:
/// its own, where the last row of the archetype takes its place, and the last chunk, which becomes
/// shorter. A change by query that takes whole chunks puts others from the end of the list in their
/// places. [`sort_by_key`](crate::Matching::sort_by_key) and its like put rows in other places.
///
/// This version alone does not tell arrivals from removals. A chunk that
/// [`Arrived`](crate::Arrived) chooses as well has new rows, and may have lost some; any other
/// chunk has lost rows, or has got rows of another chunk. A chunk without rows does not exist, so
/// no chunk reports the removal of the last rows of an archetype, or of its last chunk.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Position(f32);
/// # let mut world = World::new();
/// let entities = world.spawn_batch((0..10_000).map(|i| Position(i as f32))).to_vec();
/// let before = world.version();
/// for position in world.query_mut::<&mut Position>() {
///     position[0].0 = 1.0;
/// }
/// assert!(world.query::<&Position>().filter_since::<Reordered>(before).is_empty());
/// world.despawn(entities[0])?;
/// // The chunk of the entity, and the last one, whose last row took its place.
/// assert_eq!(world.query::<&Position>().filter_since::<Reordered>(before).iter().count(), 2);
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Reordered {
    since: Version,
}

impl Reordered {
    pub(crate) const fn since(since: Version) -> Self {
        Self { since }
    }
}

impl sealed::Sealed for Reordered {}
impl Filter for Reordered {
    const BY_CHUNK: bool = true;
    const BY_VERSION: bool = true;
    type Sets = ();

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        builder.watch_order();
    }

    fn newer_than(since: Version) -> Self {
        Self::since(since)
    }

    #[inline]
    fn passes(&self, beside: ChunkMeta<'_>, _: &mut &[ColumnRef], at: StampAt) -> bool {
        at.of(beside.stamps, StampKind::ORDER) > self.since
    }
}

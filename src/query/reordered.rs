//! The filter by the order version of chunks: which have other rows, or rows in other places.

use crate::archetype::BesideChunks;
use crate::storage::{ColumnRef, StampKind};
use crate::store::RequirementsBuilder;
use crate::version::Version;

use super::filter::{Filter, StampAt, sealed};
use super::query::Query;
use super::terms::Terms;

/// Chunks whose rows are others, or lie in other places, after a version: rows went, came, or took
/// the place of rows that went. For what is computed from all rows of a chunk, such as a bounding
/// box, which a row that goes makes wrong.
///
/// The unit is the chunk: which rows went is read by [`Removed`](crate::Removed) and
/// [`Despawned`](crate::Despawned). A row that goes changes two chunks: its own, where the last row
/// of the archetype takes its place, and the last chunk, which becomes shorter. A change by query
/// that takes whole chunks puts others from the end of the list in their places.
///
/// This version alone does not tell what came from what went. A chunk that
/// [`Arrived`](crate::Arrived) chooses as well has new rows, and may have lost some; any other has
/// lost rows, or has got those of another chunk. A chunk without rows does not exist, so no chunk
/// tells of the last rows of an archetype, or of its last chunk.
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

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        builder.watch_order();
    }

    fn newer_than(since: Version) -> Self {
        Self::since(since)
    }

    #[inline]
    fn passes(&self, beside: BesideChunks<'_>, _: &mut &[ColumnRef], at: StampAt) -> bool {
        at.of(beside.stamps, StampKind::ORDER) > self.since
    }
}

impl<'w, Q: Terms, F: Filter> Query<'w, Q, F> {
    /// Only chunks whose rows are others, or lie in other places, since `since`: rows went, came,
    /// or took the place of rows that went. See [`Reordered`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # component! { struct Position(f32); }
    /// # let mut world = World::new();
    /// let entities = world.spawn_batch((0..10_000).map(|i| Position(i as f32))).to_vec();
    /// let before = world.version();
    /// for (position,) in world.query_mut::<(&mut Position,)>() {
    ///     position[0].0 = 1.0;
    /// }
    /// assert_eq!(world.query::<&Position>().reordered_since(before).iter().count(), 0);
    /// world.despawn(entities[0])?;
    /// // The chunk of the entity, and the last one, whose last row took its place.
    /// assert_eq!(world.query::<&Position>().reordered_since(before).iter().count(), 2);
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    #[inline]
    pub fn reordered_since(self, since: Version) -> Query<'w, Q, (F, Reordered)> {
        self.narrow_since(since)
    }
}

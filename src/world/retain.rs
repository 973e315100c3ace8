//! `retain`: a kernel chooses the rows that stay, and the world despawns the others.

use crate::entity::Entity;
use crate::query::{Filter, Query, Terms};

use crate::store::RelationError;

use super::matching::Matching;

/// The number of marks that are tested together.
const MARKS: usize = 16;

impl<Q: Terms, F: Filter> Matching<'_, Q, F> {
    /// Calls `kernel` with the slices of each chunk and a mark for each of its rows, all `true`.
    /// Despawns the entities of the rows with marks that are `false` afterwards, and returns their
    /// number.
    ///
    /// This is a normal pass: `&mut` terms may be written, and their chunks are stamped. After the
    /// pass, the entities are despawned in the order of the query, like
    /// [`despawn_batch`](crate::World::despawn_batch) does, with a version of their own. The last
    /// row of the archetype fills each gap, so the remaining rows do not keep their order. If the
    /// kernel panics, no entity is despawned, and its writes stay. If a destructor of [sparse
    /// components](crate::component#sparse-components) panics, all the entities are despawned
    /// before the panic goes on.
    ///
    /// Sources of a [relation](crate::sparse::relation) go as with
    /// [`despawn_batch`](crate::World::despawn_batch), after the entities of the query. If one of
    /// them keeps an entity, all stay, and the number is 0.
    ///
    /// O(rows) for the pass, O(components) for each despawned row. Allocates the marks of one chunk
    /// and a list of the despawned entities.
    ///
    /// In a system, record it with
    /// [`CommandBuffer::retain_where`](crate::CommandBuffer::retain_where).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Life(f32);
    /// let mut world = World::new();
    /// world.spawn_batch((0..1000).map(|i| Life(i as f32)));
    /// let ended = world.matching::<&mut Life>().retain(|life, keep| {
    ///     for (life, keep) in life.iter_mut().zip(keep) {
    ///         life.0 -= 10.0;
    ///         *keep = life.0 > 0.0;
    ///     }
    /// });
    /// assert_eq!((ended, world.len()), (11, 989));
    /// ```
    pub fn retain(self, kernel: impl FnMut(Q::Slices<'_>, &mut [bool])) -> usize {
        self.try_retain(kernel).unwrap_or(0)
    }

    /// [`Matching::retain`], with the reason why no entity is despawned.
    ///
    /// # Errors
    ///
    /// If a relation refuses the despawn of one.
    pub(crate) fn try_retain(
        self,
        kernel: impl FnMut(Q::Slices<'_>, &mut [bool]),
    ) -> Result<usize, RelationError> {
        let (store, filter) = self.into_parts();
        let ended = unmarked(Query::<Q, F>::exclusive_where(store, filter), kernel);
        store.despawn_batch(ended.len(), |i| ended[i])
    }
}

/// The entities of the rows with marks that a kernel clears, in the order of the query.
fn unmarked<Q: Terms, F: Filter>(
    query: Query<'_, Q, F>,
    mut kernel: impl FnMut(Q::Slices<'_>, &mut [bool]),
) -> Vec<Entity> {
    let (mut ended, mut marks) = (Vec::new(), Vec::new());
    for chunk in query.chunks() {
        let entities = chunk.entities();
        marks.clear();
        marks.resize(entities.len(), true);
        kernel(chunk.slices(), &mut marks);
        // Most rows stay: whole vectors of marks are passed over.
        let (marks, last_marks) = marks.as_chunks::<MARKS>();
        let (entities, last_entities) = entities.as_chunks::<MARKS>();
        for (marks, entities) in marks.iter().zip(entities) {
            if *marks != [true; MARKS] {
                extend_unmarked(&mut ended, marks, entities);
            }
        }
        extend_unmarked(&mut ended, last_marks, last_entities);
    }
    ended
}

fn extend_unmarked(ended: &mut Vec<Entity>, marks: &[bool], entities: &[Entity]) {
    let unmarked = entities.iter().zip(marks).filter(|(_, marked)| !**marked);
    ended.extend(unmarked.map(|(&entity, _)| entity));
}

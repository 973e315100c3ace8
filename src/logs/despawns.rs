//! The log of despawned entities.

use crate::entity::Entity;
use crate::store::EntityRows;

use super::impl_row_log::impl_row_log;
use super::log_reader::LogReader;

/// The log of despawned entities: every entity, with any components, that was despawned in any way,
/// including the entities of a cleared world.
///
/// [`Removals<C>`](super::Removals) has only entities that had a `C`, with its value. Its rules for
/// commands and for cleanup components hold here as well: an entity that keeps cleanup components
/// is despawned when it becomes [`Gone`](crate::Gone).
///
/// ```
/// # use phalanx::prelude::*;
/// let mut world = World::new();
/// let mut despawned = world.cursor::<Despawns>();
/// let entities = world.spawn_batch([(); 3]).to_vec();
/// world.despawn_batch(&entities[..2]);
/// assert_eq!(despawned.read(&world), &entities[..2]);
/// world.clear();
/// assert_eq!(despawned.read(&world), &entities[2..]);
/// ```
#[derive(Debug)]
pub struct Despawns(());

/// Reads each despawned entity once, as a slice. For tables outside of the world that are keyed by
/// entity.
///
/// [`Despawns`] tells which entities count; [`LogReader`] has the methods.
///
/// ```
/// # use phalanx::prelude::*;
/// use std::collections::HashMap;
///
/// fn forget(mut despawned: Despawned, mut scores: ResMut<HashMap<Entity, u32>>) {
///     for entity in despawned.read() {
///         scores.remove(entity);
///     }
/// }
///
/// let mut world = World::new();
/// let players = world.spawn_batch([(); 3]).to_vec();
/// world.insert_resource(HashMap::from([(players[0], 5u32), (players[1], 7)]));
/// let mut schedule = Schedule::new();
/// schedule.add(forget);
/// schedule.run(&mut world)?; // it reads from its first run on
/// world.despawn_batch(&players[1..]);
/// schedule.run(&mut world)?;
/// assert_eq!(*world.resource::<HashMap<Entity, u32>>().unwrap(), HashMap::from([(players[0], 5)]));
/// # Ok::<(), ScheduleError>(())
/// ```
pub type Despawned<'s> = LogReader<'s, Despawns>;

impl_row_log! {
    impl Log for Despawns;
    list: lost of EntityRows;
    access: "despawned entities";
    items: &'w [Entity] = |(entities, _)| entities;
}

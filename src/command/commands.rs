//! The system parameter that records commands.

use core::ops::{Deref, DerefMut};

use super::buffer::CommandBuffer;

/// A system's own [`CommandBuffer`], as a parameter: its commands are applied at the next sync
/// point, in the order of the systems.
///
/// It has ids for all entities that the system spawns, and the ids do not depend on threads. Unused
/// ids are free again after the run. In a world that is near its limit (`entities_max`), systems
/// that run concurrently share the remaining ids: each system first gets the largest number that a
/// system in its place of a schedule ever used in one stage of this world. Systems that spawned
/// most recently are served first, and among these the systems that need fewer. The rest is divided
/// among all systems with this parameter, even if they only despawn: near the limit, order the
/// systems, and use [`try_spawn`](CommandBuffer::try_spawn).
///
/// A system that spawns many more entities than ever before, concurrently with systems that spawn
/// none, gets ids with indices far apart. Such an entity needs no more memory than others. Looking
/// it up by its id takes a binary search, until the world has used the indices between.
///
/// The policy of [`CommandBuffer::on_dead_entity`] is kept from run to run, until
/// [`Schedule::reset`](crate::Schedule::reset): set it in every run or, with a
/// [`Local`](crate::schedule::Local), in the first.
///
/// # The whole world
///
/// No parameter gives a system the world itself, because no other system could run concurrently.
/// Code that needs all of it, for example to insert a resource, is recorded as a closure and runs
/// at the sync point:
///
/// ```
/// # use phalanx::prelude::*;
/// struct Score(u32);
///
/// fn begin(mut commands: Commands) {
///     commands.run(|world| {
///         world.insert_resource(Score(0));
///     });
/// }
///
/// fn win(mut score: ResMut<Score>) {
///     score.0 += 100;
/// }
///
/// let mut world = World::new();
/// let mut schedule = Schedule::new();
/// schedule.add(begin);
/// schedule.add(win).after("begin"); // so that it sees the resource
/// schedule.run(&mut world)?;
/// assert_eq!(world.resource::<Score>().unwrap().0, 100);
/// # Ok::<(), ScheduleError>(())
/// ```
///
/// # Commands in parallel
///
/// Threads of one system record through [`ParChunks::record`](crate::chunks::ParChunks::record),
/// which gives each chunk a writer, or through [`CommandBuffer::par_writers`]. The commands and
/// their order do not depend on the threads.
#[derive(Debug)]
pub struct Commands<'s> {
    buffer: &'s mut CommandBuffer,
}

impl<'s> Commands<'s> {
    pub(crate) const fn new(buffer: &'s mut CommandBuffer) -> Self {
        Self { buffer }
    }
}

impl Deref for Commands<'_> {
    type Target = CommandBuffer;

    fn deref(&self) -> &CommandBuffer {
        self.buffer
    }
}

impl DerefMut for Commands<'_> {
    fn deref_mut(&mut self) -> &mut CommandBuffer {
        self.buffer
    }
}

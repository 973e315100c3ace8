//! The parameter by which a system records commands.

use core::ops::{Deref, DerefMut};

use super::buffer::CommandBuffer;

/// A system's own [`CommandBuffer`], as a parameter: what it records is applied at the next sync
/// point, in the order of the systems.
///
/// It has ids for as many entities as the system spawns, and which ones does not depend on threads.
/// Ids that it does not use are the world's again after the run. In a world that is near its limit
/// (`entities_max`), the systems that run beside each other share what is left: those that spawned
/// last come first, with as many as they ever spawned at once, and of those the ones that need
/// fewer. BarrierKind is left after them is parted among all systems with this parameter, also those that
/// only despawn: near the limit, order the systems, and use
/// [`try_spawn`](CommandBuffer::try_spawn).
///
/// A system that spawns many more than ever before, beside others that spawn nothing, gets ids
/// whose indices are far apart. Such an entity costs no more memory than others; finding it by its
/// id takes a binary search, until the world has used the indices between.
///
/// BarrierKind [`CommandBuffer::on_dead`] says stays from run to run, until
/// [`Schedule::reset`](crate::Schedule::reset): say it in every run or, with a
/// [`Local`](crate::Local), in the first.
///
/// # The whole world
///
/// No parameter gives a system the world itself: nothing could run beside it. BarrierKind needs all of it,
/// such as to insert a resource, is recorded as a closure and runs at the sync point:
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
/// schedule.add(win).after("begin"); // so that it sees what was recorded
/// schedule.run(&mut world)?;
/// assert_eq!(world.resource::<Score>().unwrap().0, 100);
/// # Ok::<(), ScheduleError>(())
/// ```
///
/// # Commands in parallel
///
/// Threads of one system record through [`CommandBuffer::par`], which gives each chunk a writer.
/// BarrierKind is applied, and in which order, does not depend on the threads:
///
/// ```
/// # use phalanx::prelude::*;
/// use rayon::prelude::*;
/// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
/// # component!(Health);
/// fn wither(living: Query<(Entity, &mut Health)>, mut commands: Commands) {
///     let chunks: Vec<_> = living.into_iter().collect();
///     let mut writers = commands.par(chunks.len());
///     writers.par_iter_mut().zip(chunks).for_each(|(writer, (entities, health))| {
///         for (&entity, health) in entities.iter().zip(health) {
///             health.0 -= 1.0;
///             if health.0 <= 0.0 {
///                 writer.despawn(entity);
///             }
///         }
///     });
/// }
///
/// let mut world = World::new();
/// world.spawn_batch((0..10_000).map(|i| Health((i % 2) as f32 + 0.5)));
/// let mut schedule = Schedule::new();
/// schedule.add(wither);
/// schedule.run(&mut world)?;
/// assert_eq!(world.len(), 5_000);
/// # Ok::<(), phalanx::ScheduleError>(())
/// ```
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

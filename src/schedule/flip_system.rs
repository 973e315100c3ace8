//! The system that begins a step of a double-buffered component.

use bytemuck::Pod;

use crate::command::Commands;
use crate::component::Component;

/// A system that calls [`World::flip`](crate::World::flip) at the next sync point: add it before
/// the system that computes the step.
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::Previous;
/// use phalanx::schedule::flip;
///
/// #[component]
/// struct Count(u32);
///
/// fn add_one(counts: Query<(&mut Count, &Previous<Count>)>) {
///     counts.rows().for_each(|(next, previous)| next.0 = previous.0.0 + 1);
/// }
///
/// let mut world = World::new();
/// world.spawn(Count(5));
/// let mut schedule = Schedule::new();
/// schedule.add((flip::<Count>, add_one)).chain();
/// schedule.run(&mut world)?;
/// schedule.run(&mut world)?;
/// assert_eq!(world.query::<&Count>().single().unwrap().0, 7);
/// # Ok::<(), phalanx::schedule::ScheduleError>(())
/// ```
///
/// # Panics
///
/// At the sync point, if a row of both components does not fit a chunk.
pub fn flip<C: Component + Pod>(mut commands: Commands<'_>) {
    commands.run(|world| {
        if let Err(error) = world.flip::<C>() {
            panic!("a component and what it was before do not fit a row together: {error}");
        }
    });
}

//! The guard of events that are read outside of systems.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;
use std::sync::RwLockReadGuard;

use crate::store::{Kept, KeptEvents};
use crate::world::World;

/// A slice of events; see [`World::events`] and [`LogCursor::read`](super::LogCursor::read).
///
/// A guard that is forgotten ([`mem::forget`](core::mem::forget)) blocks no later call: its lock is
/// renewed when the world is borrowed exclusively.
pub struct EventSlice<'w, E: Send + Sync + 'static> {
    /// `None` if the world has no queue of `E`.
    kept: Option<RwLockReadGuard<'w, KeptEvents<E>>>,
    /// The number of the first event of the slice.
    since: u64,
    /// Invariant in `E`: a subtype of it is another type of event.
    event: PhantomData<fn(E) -> E>,
}

impl<'w, E: Send + Sync + 'static> EventSlice<'w, E> {
    /// The events from a position on.
    pub(super) fn since(world: &'w World, since: u64) -> Self {
        world.store.note_guard();
        let kept = world.store.logs().events.get().map(|queue| queue.read());
        Self { kept, since, event: PhantomData }
    }

    /// The position after the last event.
    pub(super) fn end(&self) -> u64 {
        self.kept.as_ref().map_or(0, |kept| kept.end())
    }
}

impl<E: Send + Sync + 'static> Deref for EventSlice<'_, E> {
    type Target = [E];

    fn deref(&self) -> &[E] {
        self.kept.as_ref().map_or(&[], |kept| kept.unread(self.since))
    }
}

impl<E: fmt::Debug + Send + Sync + 'static> fmt::Debug for EventSlice<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

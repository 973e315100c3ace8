//! The event queues of a world, one for each type of event.

use core::any::{Any, TypeId, type_name};
use core::fmt;

use std::thread::panicking;

use rustc_hash::FxHashMap;

use super::super::first_panic::FirstPanic;
use super::event_queue::EventQueue;

/// An event queue in figures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventQueueInfo {
    /// The type of the events, as the compiler names it.
    pub(crate) type_name: &'static str,
    pub(crate) len: usize,
    /// The allocated memory, without memory that the events own.
    pub(crate) bytes: usize,
}

/// The event queues, in the order in which they were first used.
#[derive(Default)]
pub(crate) struct EventQueues {
    /// Each is the `EventQueue<E>` of its type.
    queues: Vec<Box<dyn ErasedQueue>>,
    by_type: FxHashMap<TypeId, usize>,
}

impl EventQueues {
    /// The queue of `E`, if there is one.
    pub(crate) fn get<E: Send + Sync + 'static>(&self) -> Option<&EventQueue<E>> {
        let queue: &dyn Any = &*self.queues[*self.by_type.get(&TypeId::of::<E>())?];
        Some(queue.downcast_ref().expect("an event queue is filed under another type"))
    }

    /// The queue of `E`, which is added if it does not exist.
    pub(crate) fn get_or_add<E: Send + Sync + 'static>(&mut self) -> &mut EventQueue<E> {
        let Self { queues, by_type } = self;
        let at = *by_type.entry(TypeId::of::<E>()).or_insert_with(|| {
            queues.push(Box::<EventQueue<E>>::default());
            queues.len() - 1
        });
        let queue: &mut dyn Any = &mut *queues[at];
        queue.downcast_mut().expect("an event queue is filed under another type")
    }

    /// Begins a run in every queue; see [`EventQueue::age`].
    ///
    /// # Panics
    ///
    /// If a destructor panics. All queues have begun the run.
    pub(crate) fn age(&mut self) {
        let mut panic = FirstPanic::default();
        self.queues.iter_mut().for_each(|queue| queue.age(&mut panic));
        panic.resume();
    }

    /// Drops all events.
    pub(super) fn clear(&mut self, panic: &mut FirstPanic) {
        self.queues.iter_mut().for_each(|queue| queue.clear(panic));
    }

    /// Makes all sent events visible; see [`EventQueue::join`].
    pub(crate) fn join(&mut self) {
        self.queues.iter_mut().for_each(|queue| queue.join());
    }

    /// Drops events that all readers have read, where there are many; see
    /// [`EventQueue::drop_read`].
    ///
    /// # Panics
    ///
    /// If a destructor panics. All queues have dropped theirs.
    pub(crate) fn drop_read(&mut self) {
        let mut panic = FirstPanic::default();
        self.queues.iter_mut().for_each(|queue| queue.drop_read(&mut panic));
        panic.resume();
    }

    /// Renews the locks that forgotten guards hold.
    pub(crate) fn release(&mut self) {
        self.queues.iter_mut().for_each(|queue| queue.release());
    }

    /// Frees unused memory.
    pub(crate) fn shrink(&mut self) {
        self.queues.iter_mut().for_each(|queue| queue.shrink());
    }

    /// Each queue in figures.
    pub(crate) fn infos(&self) -> impl Iterator<Item = EventQueueInfo> {
        self.queues.iter().map(|queue| queue.info())
    }
}

impl Drop for EventQueues {
    /// The destructor of a vector would end the process at the second panic.
    fn drop(&mut self) {
        if self.queues.is_empty() {
            return;
        }
        let mut panic = FirstPanic::default();
        self.clear(&mut panic);
        if !panicking() {
            panic.resume();
        }
    }
}

impl fmt::Debug for EventQueues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.infos()).finish()
    }
}

/// An event queue of any type. The methods are the methods of [`EventQueue`].
trait ErasedQueue: Any + Send + Sync {
    fn info(&self) -> EventQueueInfo;
    fn age(&mut self, panic: &mut FirstPanic);
    fn join(&mut self);
    fn drop_read(&mut self, panic: &mut FirstPanic);
    fn release(&mut self);
    fn clear(&mut self, panic: &mut FirstPanic);
    fn shrink(&mut self);
}

impl<E: Send + Sync + 'static> ErasedQueue for EventQueue<E> {
    fn info(&self) -> EventQueueInfo {
        EventQueueInfo { type_name: type_name::<E>(), len: self.len(), bytes: self.bytes() }
    }

    fn age(&mut self, panic: &mut FirstPanic) {
        self.age(panic);
    }

    fn join(&mut self) {
        self.join();
    }

    fn drop_read(&mut self, panic: &mut FirstPanic) {
        self.drop_read(panic);
    }

    fn release(&mut self) {
        self.release();
    }

    fn clear(&mut self, panic: &mut FirstPanic) {
        self.clear(panic);
    }

    fn shrink(&mut self) {
        self.shrink();
    }
}

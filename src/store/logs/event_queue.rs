//! The queue of the events of one type.
//!
//! ```text
//!  sent, by systems of this stage            kept, for readers
//!  │ (version 7, [c d]) │ (version 5, [a]) │     first = 41, events = [x y z]
//!                        │
//!                        └── joined in the order of versions: [x y z a c d]
//! ```
//!
//! Events are numbered in ascending order. A reader has a position: the number of the event that it
//! reads next. The queue knows the positions of all its readers, so it drops events that all have
//! read; [`EventQueue::age`] describes the other reasons.
//!
//! Systems that write one type may run at the same time. Each fills its own buffer, and passes it
//! to the queue when it ends, with the version of its run. A schedule never runs a reader in
//! parallel with a writer: when a reader begins, the queue has the buffers of all writers before
//! it, and none of a later writer. So any reader may join the buffers. Versions grow in the order
//! of the systems, so the order of the events is the same on any number of threads.

use core::any::type_name;
use core::mem::{replace, swap};
use core::ops::Range;
use std::sync::{
    Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};

use crate::spare::{IdleRuns, vec_bytes};
use crate::version::Version;

use super::super::first_panic::FirstPanic;
use super::super::read_guard::is_held;
use super::readers::{Kept, ReaderPosition, Readers};

/// The unread events of type `E`, and the ones that were just sent.
#[derive(Debug)]
pub(crate) struct EventQueue<E> {
    kept: RwLock<KeptEvents<E>>,
    sent: Mutex<SentEvents<E>>,
    readers: Readers,
    idle: IdleRuns,
}

/// Fewer events than this, of fewer bytes than [`MANY_BYTES`], stay until a run begins, so that the
/// destructors of the few events of a frame run there and not in the call that sends.
const MANY_EVENTS: usize = 1_024;

/// The bytes from which on a few large events are as many small ones.
const MANY_BYTES: usize = 64 << 10;

/// The events that readers see.
#[derive(Debug)]
pub struct KeptEvents<E> {
    /// The number of the first event.
    first: u64,
    events: Vec<E>,
}

/// The events of systems that have ended, until they are joined to the kept events.
#[derive(Debug)]
struct SentEvents<E> {
    /// The events of each run, with its version.
    buffers: Vec<(Version, Vec<E>)>,
    /// Empty buffers, to be used again.
    spare: Vec<Vec<E>>,
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self {
            kept: RwLock::new(KeptEvents { first: 0, events: Vec::new() }),
            sent: Mutex::new(SentEvents { buffers: Vec::new(), spare: Vec::new() }),
            readers: Readers::default(),
            idle: IdleRuns::default(),
        }
    }
}

impl<E> EventQueue<E> {
    /// Sets the most bytes of events that are kept for readers that have not read them.
    pub(crate) const fn keep(&mut self, bytes: usize) {
        self.readers.keep(bytes);
    }

    /// Takes the events that a system has sent in its run of version `now`, and leaves an empty
    /// buffer. Any thread may call it.
    pub(crate) fn take(&self, now: Version, events: &mut Vec<E>) {
        if events.is_empty() {
            return;
        }
        let mut sent = lock(&self.sent);
        let spare = sent.spare.pop().unwrap_or_default();
        sent.buffers.push((now, replace(events, spare)));
    }

    /// The events for reading, including the events of all systems that have ended.
    ///
    /// # Panics
    ///
    /// If events were sent since a guard was forgotten, and [`EventQueue::release`] was not called
    /// in between.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, KeptEvents<E>> {
        // Held until the end, so that a reader which begins at the same time waits for the join.
        let mut sent = lock(&self.sent);
        if !sent.buffers.is_empty() {
            sent.join_to(&mut self.write());
        }
        match self.kept.try_read() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                panic!("the events of type `{}` are borrowed for writing", type_name::<E>())
            }
        }
    }

    fn write(&self) -> RwLockWriteGuard<'_, KeptEvents<E>> {
        match self.kept.try_write() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                panic!("the events of type `{}` are borrowed", type_name::<E>())
            }
        }
    }

    /// Renews the lock if a guard was forgotten.
    pub(super) fn release(&mut self) {
        if is_held(&self.kept) {
            let kept = KeptEvents { first: 0, events: Vec::new() };
            self.kept = RwLock::new(replace(of_lock(&mut self.kept), kept));
        }
    }

    /// The events, including the events of all systems that have ended.
    fn joined(&mut self) -> &mut KeptEvents<E> {
        let sent = self.sent.get_mut().unwrap_or_else(PoisonError::into_inner);
        let kept = of_lock(&mut self.kept);
        sent.join_to(kept);
        kept
    }

    /// Joins the events of all systems that have ended to the kept events.
    pub(crate) fn join(&mut self) {
        self.joined();
    }

    /// Adds events after all others. Amortised O(events), and O(readers) where the queue would
    /// grow.
    ///
    /// # Panics
    ///
    /// If the destructor of an old event panics. The events were added then.
    pub(crate) fn extend(&mut self, events: impl IntoIterator<Item = E>) {
        let mut panic = FirstPanic::default();
        let kept = self.joined();
        // Events without a size never fill their memory.
        if size_of::<E>() == 0 || kept.events.len() == kept.events.capacity() {
            self.drop_read(&mut panic);
        }
        self.joined().events.extend(events);
        panic.resume();
    }

    /// Drops the events that all readers have read, and those over the bound, if they are at least
    /// half, unless all events are few and small: so a world that runs no schedule keeps those, or
    /// no more than twice the unread events. O(readers) if there are many, or large ones.
    pub(super) fn drop_read(&mut self, panic: &mut FirstPanic) {
        let kept = self.joined();
        let len = kept.events.len();
        if len < MANY_EVENTS && len * size_of::<E>() < MANY_BYTES {
            return;
        }
        let Range { start, end } = kept.numbers();
        let until = self.readers.between_runs(end, size_of::<E>());
        if end > start && until.saturating_sub(start) >= (end - start) / 2 {
            self.joined().drop_until(until, panic);
        }
    }

    /// The position of a new reader, which sees all events that are kept.
    pub(crate) fn add_reader(&mut self) -> ReaderPosition {
        let first = self.joined().first;
        self.readers.add(first)
    }

    /// Begins a run: drops the events before the number that [`Readers::begin_run`] returns, and
    /// frees memory that was idle for long. O(readers + events that are kept).
    pub(crate) fn age(&mut self, panic: &mut FirstPanic) {
        let kept = self.joined();
        let (used, numbers) = (kept.events.len() * size_of::<E>(), kept.numbers());
        let until = self.readers.begin_run(&numbers, size_of::<E>());
        self.joined().drop_until(until, panic);
        let mut idle = core::mem::take(&mut self.idle);
        if idle.end_run(used, || self.bytes()) {
            self.shrink();
        }
        self.idle = idle;
    }

    /// Drops all events.
    pub(super) fn clear(&mut self, panic: &mut FirstPanic) {
        let kept = self.joined();
        kept.drop_until(kept.end(), panic);
    }

    /// Frees unused memory.
    pub(super) fn shrink(&mut self) {
        self.joined().events.shrink_to_fit();
        self.readers.shrink();
        let sent = self.sent.get_mut().unwrap_or_else(PoisonError::into_inner);
        *sent = SentEvents { buffers: Vec::new(), spare: Vec::new() };
    }

    /// The allocated memory, in use or not, without memory that the events own.
    pub(super) fn bytes(&self) -> usize {
        let sent = lock(&self.sent);
        let buffers = sent.buffers.iter().map(|(_, events)| events).chain(&sent.spare);
        let events = buffers.map(vec_bytes).sum::<usize>() + vec_bytes(&self.read_kept().events);
        events + vec_bytes(&sent.buffers) + vec_bytes(&sent.spare) + self.readers.bytes()
    }

    /// The number of events that are kept.
    pub(super) fn len(&self) -> usize {
        self.read_kept().events.len()
    }

    fn read_kept(&self) -> RwLockReadGuard<'_, KeptEvents<E>> {
        self.kept.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E> Kept for KeptEvents<E> {
    fn first(&self) -> u64 {
        self.first
    }

    fn end(&self) -> u64 {
        self.first + self.events.len() as u64
    }
}

impl<E> KeptEvents<E> {
    /// The events from a reader's position on.
    pub(crate) fn unread(&self, position: u64) -> &[E] {
        &self.events[self.read_len(position)..]
    }

    /// The numbers of the events.
    fn numbers(&self) -> Range<u64> {
        self.first..self.end()
    }

    /// Drops the events before a number, in their order.
    fn drop_until(&mut self, until: u64, panic: &mut FirstPanic) {
        let len = until.min(self.end()).saturating_sub(self.first);
        if len == 0 {
            return;
        }
        self.first += len;
        let len = usize::try_from(len).expect("there are not that many events");
        let mut old = self.events.drain(..len);
        panic.catch(|| old.by_ref().for_each(drop));
    }
}

impl<E> SentEvents<E> {
    /// Moves all events to the end of `kept`, in the order of the versions. Buffers with the same
    /// version are from one system, and are already in the order of its parameters.
    fn join_to(&mut self, kept: &mut KeptEvents<E>) {
        self.buffers.sort_by_key(|&(now, _)| now);
        for (_, mut events) in self.buffers.drain(..) {
            if kept.events.is_empty() {
                swap(&mut kept.events, &mut events);
            } else {
                kept.events.append(&mut events);
            }
            self.spare.push(events);
        }
    }
}

fn of_lock<T>(lock: &mut RwLock<T>) -> &mut T {
    lock.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// The list of buffers is valid after a panic at any point.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    fn version(bits: u64) -> Version {
        Version::from_bits(bits)
    }

    fn age<E>(queue: &mut EventQueue<E>) {
        let mut panic = FirstPanic::default();
        queue.age(&mut panic);
        panic.resume();
    }

    /// Reads the unread events, and returns them with the number of missed events.
    fn read(queue: &EventQueue<u32>, position: &AtomicU64) -> (Vec<u32>, u64) {
        let kept = queue.read();
        let since = position.load(Ordering::Relaxed);
        position.store(kept.end(), Ordering::Relaxed);
        (kept.unread(since).to_vec(), kept.missed(since))
    }

    #[test]
    fn buffers_are_joined_in_the_order_of_versions() {
        let mut queue = EventQueue::default();
        queue.extend([1, 2]);
        for (now, mut events) in [(7, vec![5]), (3, vec![3]), (7, vec![6, 7]), (5, vec![4])] {
            queue.take(version(now), &mut events);
            assert!(events.is_empty());
        }
        assert_eq!(queue.read().events, [1, 2, 3, 4, 5, 6, 7]);
        queue.take(version(1), &mut vec![8]);
        queue.join();
        assert_eq!(queue.read().events, [1, 2, 3, 4, 5, 6, 7, 8], "what was joined stays first");
    }

    #[test]
    fn what_all_readers_have_read_is_dropped() {
        let mut queue = EventQueue::default();
        let [fast, slow] = [queue.add_reader(), queue.add_reader()];
        queue.extend([1, 2]);
        assert_eq!(read(&queue, &fast), (vec![1, 2], 0));
        age(&mut queue);
        assert_eq!(queue.len(), 2);
        queue.extend([3]);
        assert_eq!(read(&queue, &fast), (vec![3], 0));
        assert_eq!(read(&queue, &slow), (vec![1, 2, 3], 0));
        age(&mut queue);
        assert_eq!((queue.len(), queue.readers.len()), (0, 2));
        queue.extend([4]);
        drop(slow);
        assert_eq!(read(&queue, &fast), (vec![4], 0));
        age(&mut queue);
        assert_eq!((queue.len(), queue.readers.len()), (0, 1));
    }

    #[test]
    fn a_reader_that_stays_away_misses_the_oldest_events() {
        let mut queue = EventQueue::default();
        queue.keep(3 * size_of::<u32>());
        let reader = queue.add_reader();
        for run in 0..10 {
            age(&mut queue);
            queue.extend([run]);
        }
        // The event of the last run, and three that the run has found at its beginning.
        assert_eq!(read(&queue, &reader), (vec![6, 7, 8, 9], 6));
        assert_eq!(read(&queue, &reader), (vec![], 0));
        let late = queue.add_reader();
        assert_eq!(read(&queue, &late), (vec![6, 7, 8, 9], 0));
    }

    #[test]
    fn without_readers_events_stay_for_one_run_after_that_of_their_sending() {
        let mut queue = EventQueue::default();
        for run in 0..if cfg!(miri) { 100 } else { 1_000_000 } {
            age(&mut queue);
            queue.extend([run; 10]);
            assert!(queue.len() <= 20);
        }
        age(&mut queue);
        assert_eq!(queue.len(), 10);
        age(&mut queue);
        assert_eq!((queue.len(), queue.readers.len()), (0, 0));
        assert!(queue.bytes() < 1000, "{} bytes", queue.bytes());
        queue.shrink();
        assert_eq!(queue.bytes(), 0);
    }

    #[test]
    fn a_reader_that_comes_rarely_reads_every_event() {
        let mut queue = EventQueue::default();
        let reader = queue.add_reader();
        for run in 0..10_000 {
            age(&mut queue);
            queue.extend([run]);
        }
        assert_eq!(read(&queue, &reader), ((0..10_000).collect(), 0));
        age(&mut queue);
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn without_runs_events_that_were_read_are_dropped_and_others_are_bounded() {
        let mut queue = EventQueue::default();
        let reader = queue.add_reader();
        for turn in 0..10_000 {
            queue.extend([turn; 10]);
            assert_eq!(read(&queue, &reader).0.len(), 10);
        }
        assert!(queue.bytes() < 10_000, "{} bytes", queue.bytes());
        queue.keep(1_000);
        for turn in 0..10_000 {
            queue.extend([turn]);
        }
        let (unread, missed) = read(&queue, &reader);
        assert!((250..=1_024).contains(&unread.len()), "{} events", unread.len());
        assert_eq!(unread.len() as u64 + missed, 10_000);
        assert_eq!(unread.last(), Some(&9_999));
    }

    #[test]
    fn without_runs_a_few_large_events_do_not_stay() {
        const EVENT_BYTES: usize = MANY_BYTES / 8;
        let mut queue = EventQueue::default();
        let reader = queue.add_reader();
        for turn in 0..100u8 {
            queue.extend([[turn; EVENT_BYTES]]);
            reader.store(queue.read().end(), Ordering::Relaxed);
        }
        assert!(queue.bytes() < 9 * EVENT_BYTES, "{} bytes", queue.bytes());
        queue.keep(16 * EVENT_BYTES);
        for turn in 0..100u8 {
            queue.extend([[turn; EVENT_BYTES]]);
        }
        assert!((16..=32).contains(&queue.len()), "{} events", queue.len());
        assert!(queue.bytes() < 33 * EVENT_BYTES, "{} bytes", queue.bytes());
    }

    #[test]
    fn events_without_a_size_are_counted() {
        let mut queue = EventQueue::default();
        let reader = queue.add_reader();
        queue.take(version(1), &mut vec![(); 1000]);
        queue.extend([(); 5]);
        assert_eq!(queue.read().unread(reader.load(Ordering::Relaxed)), [(); 1005]);
        reader.store(1003, Ordering::Relaxed);
        age(&mut queue);
        assert_eq!((queue.read().unread(1003), queue.read().missed(1003)), (&[(); 2][..], 0));
    }

    #[test]
    fn a_forgotten_guard_holds_the_lock_until_it_is_released() {
        let mut queue = EventQueue::default();
        queue.extend([1]);
        core::mem::forget(queue.read());
        assert_eq!(queue.read().events, [1]);
        queue.extend([2]);
        queue.release();
        queue.take(version(1), &mut vec![3]);
        assert_eq!(queue.read().events, [1, 2, 3]);
    }
}

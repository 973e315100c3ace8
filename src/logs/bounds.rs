//! The bound on the memory of unread entries.

use crate::world::MemoryMut;

use super::log::Log;

/// # Logs
impl MemoryMut<'_> {
    /// Sets the most bytes of entries of log `L` that are kept for readers that have not read them.
    /// The default is 64 MiB.
    ///
    /// An entry stays until every reader has read it. The bound is for a reader that never comes,
    /// and should be far above the use of a reader that comes rarely. At the beginning of a run of
    /// any schedule, the oldest entries over the bound are dropped, and the readers count them as
    /// missed.
    ///
    /// The bytes are those of the types themselves, without memory that values own: the event, or
    /// the entity of eight bytes with the value of its component. An event without a size counts as
    /// one byte.
    ///
    /// # Panics
    ///
    /// If `bytes` is zero, or another type of the world has the name of the log's component.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Shield(f32);
    /// struct Key(char);
    ///
    /// let mut world = World::new();
    /// world.memory_mut().keep_log::<Events<Key>>(2 * size_of::<Key>());
    /// world.memory_mut().keep_log::<Insertions<Shield>>(1_200); // 100 of 8 + 4 bytes
    /// let keys = world.cursor::<Events<Key>>();
    /// let shields = world.cursor::<Insertions<Shield>>();
    /// world.send_batch(['w', 'a', 's'].map(Key));
    /// world.spawn_batch([Shield(1.0); 101]);
    /// Schedule::new().run(&mut world)?;
    /// assert_eq!((world.events::<Key>().len(), keys.missed(&world)), (2, 1));
    /// assert_eq!(shields.missed(&world), 1);
    /// # Ok::<(), ScheduleError>(())
    /// ```
    #[track_caller]
    pub fn keep_log<L: Log>(&mut self, bytes: usize) {
        assert!(bytes > 0, "with `keep_log(0)` no entry would reach a reader: give room for some");
        L::keep(self.world, bytes);
    }

    /// Drops events and [recorded rows](crate::logs) that all readers have read, and unread ones
    /// over their [bound](MemoryMut::keep_log), as each run of a schedule does when it begins. A
    /// program that runs no schedule may call it once a frame. O(logs × readers + kept entries).
    ///
    /// # Panics
    ///
    /// If the destructor of an event panics. All these events are dropped before the panic goes on.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let mut cursor = world.cursor::<Events<u32>>();
    /// world.send(7u32);
    /// world.memory_mut().age_logs();
    /// assert_eq!(*cursor.read(&world), [7]);
    /// world.memory_mut().age_logs();
    /// assert!(world.events::<u32>().is_empty());
    /// ```
    pub fn age_logs(&mut self) {
        self.world.store.logs_mut().age();
    }
}

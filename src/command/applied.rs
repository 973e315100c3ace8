//! BarrierKind a playback did, in numbers.

use core::ops::AddAssign;

/// BarrierKind a playback did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// Commands that were played back, also those that had no effect; a batch is one.
    pub commands: usize,
    /// Entities that came to life, but for those of closures.
    pub spawned: usize,
    /// Entities whose life ended, but for those of closures. One that was spawned and despawned
    /// between two barriers is in neither number.
    pub despawned: usize,
    /// Rows that moved to another archetype. An entity moves once between two barriers.
    pub moved: usize,
    /// Entities that were changed by query.
    pub matched: usize,
}

impl AddAssign for Applied {
    fn add_assign(&mut self, other: Self) {
        self.commands += other.commands;
        self.spawned += other.spawned;
        self.despawned += other.despawned;
        self.moved += other.moved;
        self.matched += other.matched;
    }
}

//! A link on which messages are lost and overtake each other.
//!
//! ```text
//!  frame        20   21   22   23   24   25
//!  sent          a    b    c    d
//!  arrives                 a    ×    d    b      with a latency of 2: b is late, c is lost
//! ```
//!
//! Time is counted in frames and all chance has a seed, so that every run loses the same messages,
//! on a machine of any speed.

use phalanx_examples::chance::Chance;

/// The conditions of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions {
    /// The number of lost messages in a hundred.
    pub(crate) loss: u32,
    /// The number of late messages in a hundred that are not lost.
    pub(crate) reorder: u32,
    /// Frames that a message is on its way.
    pub(crate) latency: u32,
}

/// One direction.
#[derive(Debug)]
pub(crate) struct Link<T> {
    conditions: Conditions,
    chance: Chance,
    /// The frames in which they arrive, and the messages, in the order in which they were sent.
    on_way: Vec<(u32, T)>,
    /// Messages that were lost.
    pub(crate) lost: u32,
    /// Messages that were late.
    pub(crate) late: u32,
}

impl<T> Link<T> {
    /// The most frames by which a message is late.
    const LATE_MAX: u32 = 4;

    pub(crate) const fn new(conditions: Conditions, seed: u64) -> Self {
        Self { conditions, chance: Chance::new(seed), on_way: Vec::new(), lost: 0, late: 0 }
    }

    /// Sends a message in this frame.
    pub(crate) fn send(&mut self, now: u32, message: T) {
        let Conditions { loss, reorder, latency } = self.conditions;
        if self.chance.below(100) < loss {
            self.lost += 1;
            return;
        }
        let mut due = now + latency;
        if self.chance.below(100) < reorder {
            self.late += 1;
            due += 1 + self.chance.below(Self::LATE_MAX);
        }
        self.on_way.push((due, message));
    }

    /// The messages that have arrived by this frame, in their order.
    pub(crate) fn arrive(&mut self, now: u32) -> Vec<T> {
        let mut arrived: Vec<_> = self.on_way.extract_if(.., |(due, _)| *due <= now).collect();
        // Messages of one frame stay in the order in which they were sent.
        arrived.sort_by_key(|&(due, _)| due);
        arrived.into_iter().map(|(_, message)| message).collect()
    }

    /// Whether no message is on its way.
    pub(crate) const fn is_empty(&self) -> bool {
        self.on_way.is_empty()
    }
}

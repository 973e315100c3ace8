//! The last states of a world.

use std::collections::VecDeque;

use crate::world::World;

use super::snapshot::Snapshot;
use super::snapshot_error::SnapshotError;

/// The last states of a world, in bounded memory: for simulations that go back a few steps when an
/// input arrives late.
///
/// Holds up to a fixed number of states. A new one takes the memory of the oldest, so a full ring
/// allocates no memory for rows while the world keeps its size.
///
/// ```
/// use phalanx::snapshot::SnapshotRing;
/// use phalanx::prelude::*;
///
/// #[component]
/// struct Tick(u64);
///
/// let mut world = World::new();
/// let clock = world.spawn(Tick(0));
/// let mut states = SnapshotRing::new(8);
/// for step in 0..20 {
///     states.push(&mut world)?; // the state before the step
///     world.get_mut::<Tick>(clock)?.0 += 1;
/// }
/// // An input for step 17 comes late. The state before it is kept, and stays the last one: steps
/// // 17, 18 and 19 run again, and the states before the last two are pushed again.
/// states.restore(&mut world, 19 - 17)?;
/// assert_eq!(world.get::<Tick>(clock)?.0, 17);
/// for step in 17..20 {
///     if step > 17 {
///         states.push(&mut world)?;
///     }
///     world.get_mut::<Tick>(clock)?.0 += 1;
/// }
/// assert_eq!((world.get::<Tick>(clock)?.0, states.len()), (20, 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SnapshotRing {
    /// The last state comes last.
    states: VecDeque<Snapshot>,
    /// States that were dropped or failed, kept for their memory.
    spare: Vec<Snapshot>,
    len_max: usize,
}

impl SnapshotRing {
    /// A ring for the last `len_max` states, at least one. Allocates nothing.
    ///
    /// ```
    /// # use phalanx::snapshot::SnapshotRing;
    /// assert!(SnapshotRing::new(8).is_empty());
    /// ```
    #[must_use]
    pub fn new(len_max: usize) -> Self {
        Self { states: VecDeque::new(), spare: Vec::new(), len_max: len_max.max(1) }
    }

    /// The number of states.
    ///
    /// ```
    /// # use phalanx::snapshot::SnapshotRing;
    /// assert_eq!(SnapshotRing::new(8).len(), 0);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Returns `true` if the ring has no state.
    ///
    /// ```
    /// # use phalanx::snapshot::SnapshotRing;
    /// assert!(SnapshotRing::new(8).is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Keeps the state of a world. Drops the oldest one if the ring is full. Costs
    /// [`World::snapshot_into`] the oldest state.
    ///
    /// # Errors
    ///
    /// If a command buffer holds ids. The ring is unchanged; reserved ids are spawned.
    ///
    /// # Panics
    ///
    /// If the `Clone` of a sparse component panics. The ring has lost its oldest state if it was
    /// full.
    ///
    /// ```
    /// # use phalanx::snapshot::SnapshotRing;
    /// # use phalanx::prelude::*;
    /// let (mut world, mut states) = (World::new(), SnapshotRing::new(2));
    /// for _ in 0..5 {
    ///     states.push(&mut world)?;
    /// }
    /// assert_eq!(states.len(), 2);
    /// # Ok::<(), phalanx::snapshot::SnapshotError>(())
    /// ```
    pub fn push(&mut self, world: &mut World) -> Result<(), SnapshotError> {
        let is_full = self.states.len() == self.len_max;
        let oldest = if is_full { self.states.pop_front() } else { self.spare.pop() };
        let mut state = oldest.unwrap_or_default();
        let taken = world.snapshot_into(&mut state);
        match taken {
            Ok(()) => self.states.push_back(state),
            Err(_) if is_full => self.states.push_front(state),
            Err(_) => self.spare.push(state),
        }
        taken
    }

    /// The state `back` states before the last one.
    ///
    /// ```
    /// # use phalanx::snapshot::SnapshotRing;
    /// # use phalanx::prelude::*;
    /// let (mut world, mut states) = (World::new(), SnapshotRing::new(2));
    /// states.push(&mut world)?;
    /// assert!(states.get(0).is_some() && states.get(1).is_none());
    /// # Ok::<(), phalanx::snapshot::SnapshotError>(())
    /// ```
    #[must_use]
    pub fn get(&self, back: usize) -> Option<&Snapshot> {
        let last = self.states.len().checked_sub(1)?;
        self.states.get(last.checked_sub(back)?)
    }

    /// Puts a world back to the state `back` states before the last one. Drops the states after it,
    /// so it becomes the last one: do not push it again before its step runs again. Costs
    /// [`World::restore`].
    ///
    /// # Errors
    ///
    /// If the ring does not have the state, the state is of another world, or a command buffer
    /// holds ids. Nothing changes, except that reserved ids are spawned in the last case.
    ///
    /// # Panics
    ///
    /// As [`World::restore`].
    ///
    /// ```
    /// # use phalanx::snapshot::SnapshotRing;
    /// # use phalanx::prelude::*;
    /// let (mut world, mut states) = (World::new(), SnapshotRing::new(8));
    /// states.push(&mut world)?;
    /// world.spawn(());
    /// states.restore(&mut world, 0)?;
    /// assert!(world.is_empty());
    /// # Ok::<(), phalanx::snapshot::SnapshotError>(())
    /// ```
    pub fn restore(&mut self, world: &mut World, back: usize) -> Result<(), SnapshotError> {
        let kept = self.states.len();
        let state = self.get(back).ok_or(SnapshotError::NotKept { back, kept })?;
        world.restore(state)?;
        self.spare.extend(self.states.drain(kept - back..));
        Ok(())
    }

    /// The bytes of all states, including dropped ones, whose memory is used again. Shared values
    /// and sparse components are not counted, as in [`Snapshot::bytes`].
    /// O(states × archetypes × columns).
    ///
    /// ```
    /// # use phalanx::snapshot::SnapshotRing;
    /// assert_eq!(SnapshotRing::new(8).bytes(), 0);
    /// ```
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.states.iter().chain(&self.spare).map(Snapshot::bytes).sum()
    }
}

//! A column of an archetype in a snapshot.

use core::fmt;

use crate::component::ComponentInfo;

/// The values of one component in an archetype of a [`Snapshot`](crate::snapshot::Snapshot): made
/// by [`SnapshotArchetype::columns`](crate::snapshot::SnapshotArchetype::columns).
///
/// ```
/// # use phalanx::prelude::*;
/// #[component(name = "score")]
/// struct Score(u64);
/// let mut world = World::new();
/// world.spawn_batch((0..1000).map(Score));
/// let snapshot = world.snapshot()?;
/// let score = snapshot.archetypes().find_map(|archetype| archetype.column("score")).unwrap();
/// let (values, _) = score.bytes().as_chunks();
/// assert_eq!(values.iter().map(|&value| u64::from_ne_bytes(value)).sum::<u64>(), 499_500);
/// # Ok::<(), phalanx::snapshot::SnapshotError>(())
/// ```
#[derive(Clone, Copy)]
pub struct SnapshotColumn<'s> {
    info: &'s ComponentInfo,
    bytes: &'s [u8],
    /// Rows of a full chunk.
    capacity: usize,
    /// A bit for each disabled row, chunk after chunk; empty if the component cannot be disabled.
    words: &'s [u64],
    /// Words of a chunk.
    chunk_words: usize,
}

impl<'s> SnapshotColumn<'s> {
    pub(super) const fn new(
        info: &'s ComponentInfo,
        bytes: &'s [u8],
        capacity: usize,
        words: &'s [u64],
        chunk_words: usize,
    ) -> Self {
        Self { info, bytes, capacity, words, chunk_words }
    }

    /// The component: its name and its layout.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "score")] struct Score(u64);
    /// # let mut world = World::new();
    /// # world.spawn(Score(1));
    /// # let snapshot = world.snapshot()?;
    /// let score = snapshot.archetypes().find_map(|archetype| archetype.column("score")).unwrap();
    /// assert_eq!((score.info().name(), score.info().size()), ("score", 8));
    /// # Ok::<(), phalanx::snapshot::SnapshotError>(())
    /// ```
    #[must_use]
    pub const fn info(&self) -> &'s ComponentInfo {
        self.info
    }

    /// The values, row after row, in the byte order of the machine. They begin at a multiple of 64
    /// bytes, and stay at their address until the snapshot is changed or dropped, even if it is
    /// moved.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(name = "score")] struct Score(u64);
    /// # let mut world = World::new();
    /// # world.spawn(Score(1));
    /// let snapshot = world.snapshot()?;
    /// let address = |snapshot: &phalanx::snapshot::Snapshot| {
    ///     let mut archetypes = snapshot.archetypes();
    ///     archetypes.find_map(|archetype| archetype.column("score")).unwrap().bytes().as_ptr()
    /// };
    /// let before = address(&snapshot);
    /// let moved = std::sync::Arc::new(snapshot);
    /// assert_eq!(address(&moved), before);
    /// # Ok::<(), phalanx::snapshot::SnapshotError>(())
    /// ```
    #[must_use]
    pub const fn bytes(&self) -> &'s [u8] {
        self.bytes
    }

    /// Whether the component was [enabled](crate::World::is_enabled) in a row. Always `true` if it
    /// cannot be disabled.
    ///
    /// # Panics
    ///
    /// If the component can be disabled, and the row is in no chunk of an archetype that has rows.
    /// Without rows, the answer is `true`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[component(enableable, name = "awake")]
    /// struct Awake(u8);
    /// let mut world = World::new();
    /// let all = world.spawn_batch([Awake(1); 3]).to_vec();
    /// world.set_enabled::<Awake>(all[1], false)?;
    /// let snapshot = world.snapshot()?;
    /// let awake = snapshot.archetypes().find_map(|archetype| archetype.column("awake")).unwrap();
    /// assert_eq!([0, 1, 2].map(|row| awake.is_enabled(row)), [true, false, true]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn is_enabled(&self, row: usize) -> bool {
        if self.chunk_words == 0 {
            return true;
        }
        let (chunk, row) = (row / self.capacity, row % self.capacity);
        self.words[chunk * self.chunk_words + row / 64] >> (row % 64) & 1 == 0
    }
}

impl fmt::Debug for SnapshotColumn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SnapshotColumn")
            .field("component", &self.info.name())
            .field("bytes", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

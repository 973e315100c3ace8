//! The rows that the slices of a pass show.

/// The rows of a chunk that its slices show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SliceRows {
    /// The live rows.
    Live,
    /// The live rows, rounded up to whole vectors.
    Padded,
}

impl SliceRows {
    #[inline(always)]
    pub(crate) const fn is_padded(self) -> bool {
        matches!(self, Self::Padded)
    }
}

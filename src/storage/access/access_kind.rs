//! The access to one value or column.

/// The access to one value or column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    Read,
    Write,
}

impl AccessKind {
    #[inline(always)]
    pub(crate) const fn is_write(self) -> bool {
        matches!(self, Self::Write)
    }
}

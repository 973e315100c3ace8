//! The entries of a log, as its readers see them.

/// The entries that a log keeps. They are numbered in ascending order.
pub trait Kept {
    /// The number of the first entry.
    fn first(&self) -> u64;

    /// The number of the next entry.
    fn end(&self) -> u64;

    /// The number of entries before `position`, which its reader has read, among the kept ones.
    fn read_len(&self, position: u64) -> usize {
        let read = position.clamp(self.first(), self.end()) - self.first();
        usize::try_from(read).expect("the entries are in memory")
    }

    /// The number of entries from `position` on.
    fn unread_len(&self, position: u64) -> usize {
        let unread = self.end() - position.clamp(self.first(), self.end());
        usize::try_from(unread).expect("the entries are in memory")
    }

    /// The number of entries from `position` on that were dropped before its reader read them.
    fn missed(&self, position: u64) -> u64 {
        self.first().saturating_sub(position)
    }
}

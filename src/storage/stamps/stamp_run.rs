//! The stamps of neighbours.

use core::slice;

use crate::version::Version;

use super::stamp::Stamp;

/// The stamps of one kind of chunks that follow each other, to be touched in order.
#[derive(Clone, Debug, Default)]
pub struct StampRun<'s>(pub(super) slice::Iter<'s, Stamp>);

impl StampRun<'_> {
    /// Stamps the next chunk with the current version, if the run has one.
    #[inline(always)]
    pub(crate) fn touch_next(&mut self, now: Version) {
        if let Some(stamp) = self.0.next() {
            stamp.set(now);
        }
    }
}

//! The bytes of recorded values: one growing run, emptied at once.

use crate::bundle::Bundle;

/// Where a value begins, in units of [`Arena::UNIT`] bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ValueId(u32);

impl ValueId {
    #[inline]
    pub(super) const fn byte(self) -> usize {
        self.0 as usize * Arena::UNIT
    }

    /// Where a value is after the arena was appended to one of `bytes` bytes.
    pub(super) fn behind(self, bytes: usize) -> Self {
        Self::at(bytes + self.byte())
    }

    #[inline]
    fn at(byte: usize) -> Self {
        let unit = u32::try_from(byte / Arena::UNIT);
        Self(unit.expect("a command buffer holds at most 32 GiB of values: apply it more often"))
    }
}

/// Values of bundles, one behind the other: the bytes of their components in the bundle's order.
///
/// Components are `Pod`, so nothing is ever dropped, and the world's cells take any bytes: values
/// need no alignment here.
#[derive(Debug, Default)]
pub(super) struct Arena {
    bytes: Vec<u8>,
}

impl Arena {
    /// Values begin at multiples of this, so that 32 bits name 32 GiB.
    const UNIT: usize = 8;

    #[inline]
    pub(super) fn push<B: Bundle>(&mut self, bundle: &B) -> ValueId {
        let id = self.end();
        bundle.store(&mut |bytes| self.bytes.extend_from_slice(bytes));
        self.pad();
        id
    }

    /// Where the next value begins.
    #[inline]
    pub(super) fn end(&self) -> ValueId {
        ValueId::at(self.bytes.len())
    }

    #[inline]
    fn pad(&mut self) {
        let len = self.bytes.len();
        if !len.is_multiple_of(Self::UNIT) {
            self.bytes.resize(len.next_multiple_of(Self::UNIT), 0);
        }
    }

    /// Bytes from one value of a bundle to the next.
    pub(super) const fn stride(bytes: usize) -> usize {
        bytes.next_multiple_of(Self::UNIT)
    }

    #[inline]
    pub(super) const fn bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    /// ChangeLog the values of another arena behind these.
    pub(super) fn append(&mut self, other: &mut Self) {
        self.bytes.append(&mut other.bytes);
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }
}

//! The arena: the bytes of recorded values in one growing buffer, freed together.

use crate::archetype::ColumnBundle;

/// The offset of a value, in units of [`Arena::UNIT`] bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ValueId(u32);

impl ValueId {
    #[inline]
    pub(super) const fn byte(self) -> usize {
        self.0 as usize * Arena::UNIT
    }

    /// The offset of a value after its arena was appended to one of `bytes` bytes.
    pub(super) fn offset(self, bytes: usize) -> Self {
        Self::at(bytes + self.byte())
    }

    #[inline]
    fn at(byte: usize) -> Self {
        let unit = u32::try_from(byte / Arena::UNIT);
        Self(unit.expect("a command buffer holds more than 32 GiB of values: apply it more often"))
    }
}

/// Consecutive values of bundles: the bytes of their components in the bundle's order.
///
/// Components are plain data, so no value needs to be dropped, and all its bytes are initialised.
/// They are copied to cells of their own types, so values need no alignment here.
#[derive(Debug, Default)]
pub(super) struct Arena {
    bytes: Vec<u8>,
}

impl Arena {
    /// Values begin at multiples of this, so that 32 bits address 32 GiB.
    const UNIT: usize = 8;

    #[inline]
    pub(super) fn push<B: ColumnBundle>(&mut self, bundle: &B) -> ValueId {
        let id = self.end();
        bundle.store(&mut |bytes| self.bytes.extend_from_slice(bytes));
        self.pad();
        id
    }

    /// The offset of the next value.
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

    /// The distance of consecutive values of `bytes` bytes.
    pub(super) const fn stride(bytes: usize) -> usize {
        bytes.next_multiple_of(Self::UNIT)
    }

    #[inline]
    pub(super) const fn bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    /// Moves the values of another arena to the end of this one.
    pub(super) fn append(&mut self, other: &mut Self) {
        self.bytes.append(&mut other.bytes);
    }

    /// The allocated memory.
    pub(super) const fn held_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// Frees unused memory.
    pub(super) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }
}

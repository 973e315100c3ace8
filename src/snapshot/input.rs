//! Reads numbers and arrays of the format, from bytes that may be anything.

use std::ops::Range;

use bytemuck::AnyBitPattern;

use super::read_error::ReadError;

/// Bytes that are read from front to back.
#[derive(Debug)]
pub(super) struct Input<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Input<'b> {
    pub(super) const fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// An input of other bytes, at the position of `read`.
    pub(super) const fn after(bytes: &'b [u8], read: &Self) -> Self {
        Self { bytes, at: read.at }
    }

    /// The error for an invalid value before the current position.
    pub(super) const fn invalid(&self, what: &'static str) -> ReadError {
        ReadError::Invalid { what, at: self.at }
    }

    /// The number of bytes read.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    pub(super) fn is_over(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Reads the next `len` bytes. Fails if fewer are left.
    pub(super) fn bytes(&mut self, len: usize, what: &'static str) -> Result<&'b [u8], ReadError> {
        let end = self.at.checked_add(len).filter(|&end| end <= self.bytes.len());
        let end = end.ok_or(ReadError::Truncated { what, at: self.at })?;
        let bytes = &self.bytes[self.at..end];
        self.at = end;
        Ok(bytes)
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, ReadError> {
        let bytes = self.bytes(size_of::<u32>(), what)?;
        Ok(u32::from_ne_bytes(bytes.try_into().expect("four bytes")))
    }

    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64, ReadError> {
        let bytes = self.bytes(size_of::<u64>(), what)?;
        Ok(u64::from_ne_bytes(bytes.try_into().expect("eight bytes")))
    }

    pub(super) fn len(&mut self, what: &'static str) -> Result<usize, ReadError> {
        self.u32(what).map(|len| len as usize)
    }

    /// Reads the number of elements that follow, each of at least `size` bytes.
    pub(super) fn count(&mut self, size: usize, what: &'static str) -> Result<usize, ReadError> {
        let count = self.len(what)?;
        if count.saturating_mul(size) > self.bytes.len() - self.at {
            return Err(ReadError::Truncated { what, at: self.at });
        }
        Ok(count)
    }

    /// Reads the ranges in which an array of `new` elements differs from one of `old`: in order,
    /// inside the array, and covering all elements that the old one lacks.
    pub(super) fn ranges(
        &mut self,
        (old, new): (usize, usize),
        what: &'static str,
    ) -> Result<Vec<Range<usize>>, ReadError> {
        let count = self.count(2 * size_of::<u32>(), what)?;
        let mut ranges: Vec<Range<usize>> = Vec::with_capacity(count);
        let (mut end, mut known) = (0, old.min(new));
        for _ in 0..count {
            let (start, len) = (self.len(what)?, self.len(what)?);
            let next = start.checked_add(len).filter(|&next| next <= new);
            let next = next.filter(|_| start >= end && len > 0 && start <= known);
            end = next.ok_or_else(|| self.invalid(what))?;
            known = known.max(end);
            ranges.push(start..end);
        }
        if known < new {
            return Err(self.invalid(what));
        }
        Ok(ranges)
    }

    /// Reads an array of `new` elements, stored as the difference from an old one.
    pub(super) fn array<T: AnyBitPattern>(
        &mut self,
        old: &[T],
        new: usize,
        what: &'static str,
    ) -> Result<Vec<T>, ReadError> {
        Ok(self.other_array(old, new, what)?.unwrap_or_else(|| old.to_vec()))
    }

    /// Reads an array of `new` elements, stored as the difference from an old one. `None` if it is
    /// equal.
    pub(super) fn other_array<T: AnyBitPattern>(
        &mut self,
        old: &[T],
        new: usize,
        what: &'static str,
    ) -> Result<Option<Vec<T>>, ReadError> {
        let ranges = self.ranges((old.len(), new), what)?;
        if ranges.is_empty() && new == old.len() {
            return Ok(None);
        }
        // The array takes at most the memory of the old one and of the bytes.
        let changed: usize = ranges.iter().map(Range::len).sum();
        if changed.saturating_mul(size_of::<T>()) > self.bytes.len() - self.at {
            return Err(ReadError::Truncated { what, at: self.at });
        }
        let mut array = vec![T::zeroed(); new];
        self.fill(old, &mut array, ranges, what)?;
        Ok(Some(array))
    }

    /// Reads an array of `new` values with `size` bytes each, stored as the difference from an old
    /// one. `None` if it is equal.
    pub(super) fn other_values(
        &mut self,
        old: &[u8],
        (size, new): (usize, usize),
        what: &'static str,
    ) -> Result<Option<Vec<u8>>, ReadError> {
        // Values without bytes are known.
        let known = old.len().checked_div(size).unwrap_or(new);
        let ranges = self.ranges((known, new), what)?;
        if ranges.is_empty() && new == known {
            return Ok(None);
        }
        let changed: usize = ranges.iter().map(Range::len).sum();
        if changed.saturating_mul(size) > self.bytes.len() - self.at {
            return Err(ReadError::Truncated { what, at: self.at });
        }
        // At most the memory of the old ones and of the bytes.
        let mut values = old[..known.min(new) * size].to_vec();
        values.resize(new * size, 0);
        for range in ranges {
            let bytes = self.bytes(range.len() * size, what)?;
            values[range.start * size..range.end * size].copy_from_slice(bytes);
        }
        Ok(Some(values))
    }

    /// Reads an array into existing memory, stored as the difference from an old one.
    pub(super) fn array_into<T: AnyBitPattern>(
        &mut self,
        old: &[T],
        array: &mut [T],
        what: &'static str,
    ) -> Result<(), ReadError> {
        let ranges = self.ranges((old.len(), array.len()), what)?;
        self.fill(old, array, ranges, what)
    }

    /// Copies the old elements, and reads the elements in the ranges.
    fn fill<T: AnyBitPattern>(
        &mut self,
        old: &[T],
        array: &mut [T],
        ranges: Vec<Range<usize>>,
        what: &'static str,
    ) -> Result<(), ReadError> {
        let known = old.len().min(array.len());
        array[..known].copy_from_slice(&old[..known]);
        for range in ranges {
            let bytes = self.bytes(range.len() * size_of::<T>(), what)?;
            let values = bytes.chunks_exact(size_of::<T>());
            array[range].iter_mut().zip(values).for_each(|(to, bytes)| {
                *to = bytemuck::pod_read_unaligned(bytes);
            });
        }
        Ok(())
    }

    /// Skips an array stored without an older one, and returns its bytes. Each element has `size`
    /// bytes.
    pub(super) fn skip_array(
        &mut self,
        size: usize,
        what: &'static str,
    ) -> Result<&'b [u8], ReadError> {
        match self.len(what)? {
            0 => Ok(&[]),
            1 if self.len(what)? == 0 => {
                let len = self.len(what)?;
                self.bytes(len.saturating_mul(size), what)
            }
            _ => Err(self.invalid(what)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u32]) -> Vec<u8> {
        bytemuck::cast_slice(words).to_vec()
    }

    fn read(old: &[u32], new: usize, input: &[u32]) -> Option<Vec<u32>> {
        let bytes = words(input);
        Input::new(&bytes).array(old, new, "an array").ok()
    }

    #[test]
    fn arrays_are_old_ones_with_other_ranges() {
        assert_eq!(read(&[1, 2, 3], 3, &[0]), Some(vec![1, 2, 3]));
        assert_eq!(read(&[1, 2, 3], 2, &[0]), Some(vec![1, 2]));
        assert_eq!(read(&[1, 2, 3], 3, &[1, 1, 1, 9]), Some(vec![1, 9, 3]));
        assert_eq!(read(&[1, 2, 3], 5, &[1, 2, 3, 7, 8, 9]), Some(vec![1, 2, 7, 8, 9]));
        assert_eq!(read(&[], 2, &[2, 0, 1, 1, 1, 7, 8]), Some(vec![7, 8]));
    }

    #[test]
    fn ranges_that_lie_are_refused() {
        let old = [1, 2, 3];
        for (new, input) in [
            (4, &[0][..]),                     // the new element is missing
            (5, &[1, 4, 1, 7]),                // a gap before the new elements
            (3, &[1, 3, 1, 7]),                // outside
            (3, &[1, u32::MAX, 1, 7]),         // far outside
            (3, &[1, 1, 0]),                   // an empty range
            (3, &[2, 1, 1, 0, 1, 7, 8]),       // out of order
            (3, &[2, 0, 2, 1, 1, 7, 8, 9]),    // twice
            (3, &[u32::MAX, 0, 1]),            // more ranges than bytes
            (3, &[1, 0, 3, 7, 8]),             // cut off
            (1 << 30, &[1, 3, (1 << 30) - 3]), // more bytes than follow
        ] {
            assert_eq!(read(&old, new, input), None, "{input:?}");
        }
    }
}

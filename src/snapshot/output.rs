//! Writes numbers and arrays of the format.

use std::io::{self, Write};
use std::ops::Range;

use bytemuck::{NoUninit, cast_slice};
use xxhash_rust::xxh3::Xxh3;

/// A writer of a state, with the checksum of the bytes written.
pub(super) struct Output<W> {
    to: W,
    checksum: Xxh3,
}

impl<W: Write> Output<W> {
    pub(super) fn new(to: W) -> Self {
        Self { to, checksum: Xxh3::new() }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.checksum.update(bytes);
        self.to.write_all(bytes)
    }

    pub(super) fn u32(&mut self, number: u32) -> io::Result<()> {
        self.bytes(&number.to_ne_bytes())
    }

    pub(super) fn u64(&mut self, number: u64) -> io::Result<()> {
        self.bytes(&number.to_ne_bytes())
    }

    /// Writes a length in memory.
    pub(super) fn len(&mut self, len: usize) -> io::Result<()> {
        self.u32(u32::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?)
    }

    /// Writes the ranges in which an array differs: their number, and the start and the length of
    /// each.
    pub(super) fn ranges(&mut self, ranges: &[Range<usize>]) -> io::Result<()> {
        self.len(ranges.len())?;
        for range in ranges {
            self.len(range.start)?;
            self.len(range.len())?;
        }
        Ok(())
    }

    /// Writes some ranges, and the elements of an array in them.
    pub(super) fn array<T: NoUninit>(
        &mut self,
        array: &[T],
        ranges: &[Range<usize>],
    ) -> io::Result<()> {
        self.ranges(ranges)?;
        ranges.iter().try_for_each(|range| self.bytes(cast_slice(&array[range.clone()])))
    }

    /// Writes the checksum, which ends the output.
    pub(super) fn finish(mut self) -> io::Result<W> {
        let checksum = self.checksum.digest();
        self.to.write_all(&checksum.to_ne_bytes())?;
        Ok(self.to)
    }
}

/// Adds a range, or extends the last one if they touch.
pub(super) fn push(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}

/// Adds a range, or extends the last one, including the gap between them if it is short.
fn join(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    /// The cost of a range in words. Shorter gaps are included.
    const GAP: usize = 2;
    match ranges.last_mut() {
        Some(last) if range.start - last.end <= GAP => last.end = range.end,
        _ => ranges.push(range),
    }
}

/// The same ranges as [`differences`], from the ascending places at which the arrays differ.
pub(super) fn differences_at(places: &[u32]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    places.iter().map(|&at| at as usize).for_each(|at| join(&mut ranges, at..at + 1));
    ranges
}

/// The ranges in which an array differs from an older one. Elements beyond the older one differ.
pub(super) fn differences<T: PartialEq>(new: &[T], old: &[T]) -> Vec<Range<usize>> {
    differences_by((new.len(), old.len()), |range| new[range.clone()] == old[range])
}

/// [`differences`] of arrays of values with `size` bytes each. Values without bytes are equal.
pub(super) fn value_differences(new: &[u8], old: &[u8], size: usize) -> Vec<Range<usize>> {
    let Some(len) = new.len().checked_div(size) else { return Vec::new() };
    let bytes = |range: Range<usize>| range.start * size..range.end * size;
    differences_by((len, old.len() / size), |range| new[bytes(range.clone())] == old[bytes(range)])
}

/// The ranges in which an array of one length differs from an older one of another.
fn differences_by(
    (new, old): (usize, usize),
    is_equal: impl Fn(Range<usize>) -> bool,
) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let common = new.min(old);
    let mut add = |range| join(&mut ranges, range);
    // Arrays are mostly equal, and equal slices are compared at the speed of memory.
    const STEP: usize = 256;
    for start in (0..common).step_by(STEP) {
        let end = (start + STEP).min(common);
        if !is_equal(start..end) {
            (start..end).filter(|&i| !is_equal(i..i + 1)).for_each(|i| add(i..i + 1));
        }
    }
    if new > common {
        add(common..new);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_ranges() {
        let old: Vec<u32> = (0..1000).collect();
        let mut new = old.clone();
        assert_eq!(differences(&new, &old), []);
        for i in [0, 1, 4, 300, 999] {
            new[i] += 1;
        }
        assert_eq!(differences(&new, &old), [0..5, 300..301, 999..1000]);
        new.push(7);
        assert_eq!(differences(&new, &old), [0..5, 300..301, 999..1001]);
        let one = |new, old| <[Range<usize>; 1]>::try_from(differences::<u32>(new, old)).ok();
        assert_eq!(one(&new[..300], &old).map(|[range]| range), Some(0..5));
        assert_eq!(one(&old, &[]).map(|[range]| range), Some(0..1000));
        assert_eq!(differences::<u32>(&[], &old), []);
    }
}

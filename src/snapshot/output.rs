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

//! The places of a sparse set's values, and the versions of its blocks.
//!
//! ```text
//!  values     │ a b c d │ e f g h │ i j     │    blocks of 2^n values, in 16 KiB or less
//!  versions   │   12    │   40    │   41    │    when a value in it was written last
//! ```
//!
//! A value has no chunk, so it has no stamp there. A set of values without gaps has a version for
//! each block of neighbours instead. The last value takes the place of a removed one: both blocks
//! get the version of the removal.

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::entity::{Entity, IndexPlace, PagedIndex};
use crate::version::Version;

/// The bytes of the values of a block, at most.
const BLOCK_BYTES: usize = 16 * 1024;

/// The number of low bits of a position that index into its block, for values of `T`.
const fn block_bits<T>() -> u32 {
    let size = if size_of::<T>() == 0 { 1 } else { size_of::<T>() };
    let values = BLOCK_BYTES / size;
    if values == 0 { 0 } else { values.ilog2() }
}

/// The positions of entities in a sparse set, and the version of each block of positions.
#[derive(Debug)]
pub struct SetBlocks {
    pub(crate) positions: PagedIndex,
    /// At least one for each block with values.
    versions: Vec<AtomicU64>,
    /// The number of low bits of a position that index into its block.
    bits: u32,
}

impl SetBlocks {
    /// The blocks of an empty set of `T`.
    pub(crate) fn new<T>() -> Self {
        let bits = const { block_bits::<T>() };
        Self { positions: PagedIndex::default(), versions: Vec::new(), bits }
    }

    /// Gives the block of the next position of a set of `T` the current version.
    #[inline]
    pub(crate) fn add<T>(&mut self, position: usize, now: Version) {
        match self.versions.get_mut(position >> const { block_bits::<T>() }) {
            Some(version) => *version.get_mut() = now.to_bits(),
            None => self.push(now),
        }
    }

    /// The place of an index without a position, and the version of the block of position `at`, if
    /// the memory of both exists.
    #[inline(always)]
    pub(crate) fn vacant<T>(
        &mut self,
        index: u32,
        at: usize,
    ) -> Option<(IndexPlace<'_>, &mut u64)> {
        let version = self.versions.get_mut(at >> const { block_bits::<T>() })?.get_mut();
        let place = self.positions.place_mut(index).filter(IndexPlace::is_vacant)?;
        Some((place, version))
    }

    #[cold]
    #[inline(never)]
    fn push(&mut self, now: Version) {
        self.versions.push(AtomicU64::new(now.to_bits()));
    }

    /// Gives the block of a position of a set of `T` the current version.
    #[inline]
    pub(crate) fn touch<T>(&self, position: usize, now: Version) {
        let block = position >> const { block_bits::<T>() };
        self.versions[block].store(now.to_bits(), Ordering::Relaxed);
    }

    /// Gives the blocks of `positions` values from `first` on the current version, and all later
    /// blocks, which have no values.
    pub(crate) fn touch_from(&mut self, first: usize, positions: usize, now: Version) {
        let blocks = self.blocks_of(first, positions);
        if positions > 0 {
            let blocks = &mut self.versions[blocks.start..];
            blocks.iter_mut().for_each(|version| *version.get_mut() = now.to_bits());
        }
    }

    /// Gives the blocks of `positions` values from `first` on the current version, and no others: a
    /// set that was larger has many more.
    pub(crate) fn touch_run(&mut self, first: usize, positions: usize, now: Version) {
        let blocks = self.blocks_of(first, positions);
        if positions > 0 {
            let blocks = &mut self.versions[blocks];
            blocks.iter_mut().for_each(|version| *version.get_mut() = now.to_bits());
        }
    }

    /// The blocks of `positions` values from `first` on, which are made if they do not exist.
    fn blocks_of(&mut self, first: usize, positions: usize) -> Range<usize> {
        let block_len = 1 << self.bits;
        let end = (first + positions).div_ceil(block_len);
        if self.versions.len() < end {
            self.versions.resize_with(end, AtomicU64::default);
        }
        first / block_len..end
    }

    /// The number of values of a block that is full.
    #[inline]
    pub(crate) const fn block_len(&self) -> usize {
        1 << self.bits
    }

    /// The version of the block of a position.
    #[inline]
    pub(crate) fn version(&self, position: usize) -> Version {
        Version::from_bits(self.versions[position >> self.bits].load(Ordering::Relaxed))
    }

    /// Whether a block may be newer than a version: with more than `blocks_max`, it is not known.
    /// O(blocks).
    #[inline]
    pub(super) fn may_be_newer(&self, since: Version, blocks_max: usize) -> bool {
        let mut versions = self.versions.iter();
        versions.len() > blocks_max
            || versions.any(|version| version.load(Ordering::Relaxed) > since.to_bits())
    }

    /// Whether the value of an entity, which must have one, is in a block that is newer than a
    /// version.
    #[inline]
    fn is_newer(&self, entity: Entity, since: Version) -> bool {
        let position = self.positions.get(entity.index());
        position.is_some_and(|position| self.version(position as usize) > since)
    }

    /// Those of 64 rows whose values are in blocks that are newer than a version. `entities` are
    /// those of the rows, and `rows` the ones that have a value, a bit each.
    pub(super) fn newer_rows(&self, entities: &[Entity], rows: u64, since: Version) -> u64 {
        let (mut rest, mut newer) = (rows, 0);
        while rest != 0 {
            let row = rest.trailing_zeros();
            let is_newer = entities.get(row as usize).is_some_and(|&one| self.is_newer(one, since));
            newer |= u64::from(is_newer) << row;
            rest &= rest - 1;
        }
        newer
    }

    /// Whether each of `len` positions has a version, none of which is after that of the world.
    pub(crate) fn are_consistent(&self, len: usize, clock: Version) -> bool {
        let is_past = |version: &AtomicU64| version.load(Ordering::Relaxed) <= clock.to_bits();
        self.versions.len() << self.bits >= len && self.versions.iter().all(is_past)
    }

    /// Frees unused memory of a set of `len` values.
    pub(crate) fn shrink(&mut self, len: usize) {
        self.positions.shrink();
        self.versions.truncate(len.div_ceil(1 << self.bits));
        self.versions.shrink_to_fit();
    }

    /// The allocated memory.
    pub(crate) fn bytes(&self) -> usize {
        self.positions.bytes() + self.versions.capacity() * size_of::<AtomicU64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(bits: u64) -> Version {
        Version::from_bits(bits)
    }

    fn entity(index: u32) -> Entity {
        Entity::new(index, 1)
    }

    #[test]
    fn a_block_has_as_many_values_as_a_chunk_has_bytes_for() {
        assert_eq!(block_bits::<f32>(), 12);
        assert_eq!(block_bits::<[f32; 3]>(), 10, "a power of two");
        assert_eq!(block_bits::<()>(), 14);
        assert_eq!(block_bits::<[u64; 4096]>(), 0, "more than a block has bytes for");
    }

    #[test]
    fn rows_are_newer_with_the_blocks_of_their_values() {
        type Value = [u8; 8192];
        let mut blocks = SetBlocks::new::<Value>();
        for (position, index) in (0..5).zip([70, 10, 30, 50, 20]) {
            blocks.add::<Value>(position as usize, version(1));
            blocks.positions.add(index, position);
        }
        blocks.touch_from(0, 5, version(3));
        blocks.touch::<Value>(2, version(7));
        let rows = [10, 20, 30, 40, 50].map(entity);
        assert_eq!(blocks.newer_rows(&rows, 0b10111, version(2)), 0b10111);
        assert_eq!(blocks.newer_rows(&rows, 0b10111, version(3)), 0b10100, "30 and 50");
        assert_eq!(blocks.newer_rows(&rows, 0b00100, version(3)), 0b00100);
        assert_eq!(blocks.newer_rows(&rows, !0, version(7)), 0);
        assert!(blocks.may_be_newer(version(6), 3) && !blocks.may_be_newer(version(7), 3));
        assert!(blocks.may_be_newer(version(7), 2), "it is not known");
        assert!(blocks.are_consistent(6, version(7)) && !blocks.are_consistent(7, version(7)));
        assert!(!blocks.are_consistent(5, version(6)), "a version of the future");
    }

    #[test]
    fn versions_from_a_position_on_begin_with_its_block() {
        type Value = [u8; 8192];
        let mut blocks = SetBlocks::new::<Value>();
        blocks.touch_from(0, 7, version(1));
        blocks.touch_from(3, 2, version(2));
        let all = |blocks: &SetBlocks| [0, 2, 4, 6].map(|at| blocks.version(at).to_bits());
        assert_eq!(all(&blocks), [1, 2, 2, 2]);
        blocks.touch_from(6, 0, version(9));
        assert_eq!(all(&blocks), [1, 2, 2, 2], "no position");
        blocks.touch_run(2, 3, version(3));
        assert_eq!(all(&blocks), [1, 3, 3, 2], "none after them");
        blocks.touch_run(7, 0, version(9));
        blocks.touch_run(8, 0, version(9));
        assert_eq!(all(&blocks), [1, 3, 3, 2], "no position");
        blocks.touch_run(8, 1, version(3));
        assert_eq!(blocks.version(8), version(3), "a new block");
        blocks.shrink(3);
        assert!(blocks.are_consistent(4, version(3)) && !blocks.are_consistent(5, version(3)));
    }
}

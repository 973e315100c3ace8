//! The size of a value that a chunk has once, and the value of a new chunk.

use bytemuck::checked::try_pod_read_unaligned;
use bytemuck::{bytes_of, cast_slice, cast_slice_mut};

use super::plain::Plain;

/// The words of the largest value of a chunk.
pub(crate) type ChunkWords = [u64; ChunkShape::WORDS_MAX];

/// The size of a chunk's value, and the value of a new chunk.
///
/// The default is computed when the type is registered: code of the type's author must not run
/// while rows move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkShape {
    /// Bytes of a value.
    pub(crate) bytes: usize,
    /// Words of a value. The last one may be filled up with zeros.
    pub(crate) words: usize,
    default: ChunkWords,
    is_valid: fn(&[u8]) -> bool,
}

impl ChunkShape {
    const WORDS_MAX: usize = 32;

    pub(super) fn of<V: Plain + Default>() -> Self {
        let mut default = [0; _];
        cast_slice_mut(&mut default)[..size_of::<V>()].copy_from_slice(bytes_of(&V::default()));
        let is_valid = |bytes: &[u8]| try_pod_read_unaligned::<V>(bytes).is_ok();
        Self { bytes: size_of::<V>(), words: Self::words_for::<V>(), default, is_valid }
    }

    /// Whether the words of some chunks are values, each filled up with zeros.
    pub(crate) fn accept(&self, words: &[u64]) -> bool {
        let mut values = words.chunks_exact(self.words).map(cast_slice);
        values.all(|bytes: &[u8]| {
            let (value, rest) = bytes.split_at(self.bytes);
            (self.is_valid)(value) && rest.iter().all(|&byte| byte == 0)
        })
    }

    /// The words of a value: at least one.
    pub(crate) const fn words_for<V: Plain>() -> usize {
        const {
            assert!(
                size_of::<V>() <= Self::WORDS_MAX * size_of::<u64>(),
                "the value of a chunk has at most 256 bytes"
            );
            let words = size_of::<V>().div_ceil(size_of::<u64>());
            if words == 0 { 1 } else { words }
        }
    }

    /// The words of the value of a new chunk.
    pub(crate) fn default_words(&self) -> &[u64] {
        &self.default[..self.words]
    }
}

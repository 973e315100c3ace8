//! The size of a world's chunks.

use core::fmt;
use core::str::FromStr;

/// The size of a chunk: a power of two from 4 to 256 KiB.
///
/// 16 KiB is the default, half of a first-level data cache, so that a chunk stays in the cache
/// while a kernel works on it, and several kernels over one chunk find it there. No world needs
/// larger ones to stream through memory, because the chunks of long archetypes lie in
/// [extents](crate::WorldBuilder::extent_chunks_max). Larger chunks are fewer turns of the loop,
/// and coarser versions.
///
/// ```
/// # use phalanx::prelude::*;
/// assert_eq!(ChunkSize::default(), ChunkSize::KIB_16);
/// assert_eq!(ChunkSize::new(256 << 10), Ok(ChunkSize::KIB_256));
/// assert!(ChunkSize::new(10_000).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkSize(u32);

impl ChunkSize {
    /// 4 KiB.
    pub const KIB_4: Self = Self(4 << 10);
    /// 8 KiB.
    pub const KIB_8: Self = Self(8 << 10);
    /// 16 KiB, the default.
    pub const KIB_16: Self = Self(16 << 10);
    /// 32 KiB.
    pub const KIB_32: Self = Self(32 << 10);
    /// 64 KiB.
    pub const KIB_64: Self = Self(64 << 10);
    /// 128 KiB.
    pub const KIB_128: Self = Self(128 << 10);
    /// 256 KiB.
    pub const KIB_256: Self = Self(256 << 10);

    /// All of them, from the smallest on: for tests of a kernel at every size.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// assert!(ChunkSize::ALL.contains(&ChunkSize::default()));
    /// ```
    pub const ALL: [Self; 7] = [
        Self::KIB_4,
        Self::KIB_8,
        Self::KIB_16,
        Self::KIB_32,
        Self::KIB_64,
        Self::KIB_128,
        Self::KIB_256,
    ];

    /// The chunk size of `bytes` bytes.
    ///
    /// # Errors
    ///
    /// If `bytes` is not a power of two from 4,096 to 262,144.
    ///
    /// ```
    /// # use phalanx::ChunkSize;
    /// assert_eq!(ChunkSize::new(4096).unwrap().bytes(), 4096);
    /// ```
    pub const fn new(bytes: usize) -> Result<Self, ChunkSizeError> {
        match bytes {
            0x1000 => Ok(Self::KIB_4),
            0x2000 => Ok(Self::KIB_8),
            0x4000 => Ok(Self::KIB_16),
            0x8000 => Ok(Self::KIB_32),
            0x1_0000 => Ok(Self::KIB_64),
            0x2_0000 => Ok(Self::KIB_128),
            0x4_0000 => Ok(Self::KIB_256),
            _ => Err(ChunkSizeError { bytes: Some(bytes) }),
        }
    }

    /// Bytes of column data in a chunk.
    ///
    /// ```
    /// # use phalanx::ChunkSize;
    /// assert_eq!(ChunkSize::KIB_16.bytes(), 16_384);
    /// ```
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.0 as usize
    }
}

impl Default for ChunkSize {
    fn default() -> Self {
        Self::KIB_16
    }
}

/// A number of bytes, or a text, is not the size of a chunk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ChunkSizeError {
    /// The number, unless the size was read from a text.
    bytes: Option<usize>,
}

impl fmt::Display for ChunkSizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bytes {
            Some(bytes) => write!(
                f,
                "{bytes} bytes is not a valid chunk size: choose a power of two from 4,096 to 262,144"
            ),
            None => {
                f.write_str("expected the size of a chunk in KiB: 4, 8, 16, 32, 64, 128 or 256")
            }
        }
    }
}

impl core::error::Error for ChunkSizeError {}

/// As `16 KiB`.
impl fmt::Display for ChunkSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} KiB", self.0 >> 10)
    }
}

/// Reads a size in KiB, with the unit or without: for command lines.
///
/// ```
/// # use phalanx::ChunkSize;
/// assert_eq!("64".parse(), Ok(ChunkSize::KIB_64));
/// assert_eq!(ChunkSize::KIB_4.to_string().parse(), Ok(ChunkSize::KIB_4));
/// assert!("16384".parse::<ChunkSize>().is_err());
/// ```
impl FromStr for ChunkSize {
    type Err = ChunkSizeError;

    fn from_str(text: &str) -> Result<Self, ChunkSizeError> {
        let number = text.strip_suffix("KiB").unwrap_or(text).trim();
        let bytes = number.parse::<usize>().ok().and_then(|kib| kib.checked_mul(1024));
        bytes.and_then(|bytes| Self::new(bytes).ok()).ok_or(ChunkSizeError { bytes: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_size_is_read_as_it_is_written() {
        for size in ChunkSize::ALL {
            assert_eq!(size.to_string().parse(), Ok(size));
            assert_eq!((size.bytes() >> 10).to_string().parse(), Ok(size));
        }
        for text in ["", "KiB", "0", "3", "-4", "4096", "16 MiB", "18446744073709551615", "1e1"] {
            let error = text.parse::<ChunkSize>().expect_err(text);
            assert!(error.to_string().contains("4, 8, 16, 32, 64, 128 or 256"), "{error}");
        }
    }
}

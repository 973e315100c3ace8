//! States in LZ4 frames.
//!
//! A frame is the output of the command `lz4` for the bytes of a state; the command decompresses it
//! as well. The functions that read a state recognize a frame by its first four bytes. The frame
//! has no checksum, because the state inside has one.

use std::borrow::Cow;

use crate::store::Store;

use super::read_error::ReadError;

/// The first bytes of a frame.
const FRAME: [u8; 4] = 0x184D_2204_u32.to_le_bytes();

/// Returns the bytes of a state, decompressed if they are in a frame.
///
/// # Errors
///
/// If they are in a frame that is damaged, too large, or cannot be read in this build.
pub(super) fn decompressed<'b>(bytes: &'b [u8], store: &Store) -> Result<Cow<'b, [u8]>, ReadError> {
    if bytes.starts_with(&FRAME) {
        frame::read(bytes, store.entities().requests.bytes_max()).map(Cow::Owned)
    } else {
        Ok(Cow::Borrowed(bytes))
    }
}

#[cfg(not(feature = "lz4"))]
mod frame {
    use super::ReadError;

    pub(super) fn read(_: &[u8], _: u64) -> Result<Vec<u8>, ReadError> {
        Err(ReadError::Compressed)
    }
}

#[cfg(feature = "lz4")]
mod frame {
    use std::io::{self, Read as _, Write};
    use std::path::Path;

    use lz4_flex::frame::{BlockMode, BlockSize, FrameDecoder, FrameEncoder, FrameInfo};

    use crate::snapshot::Snapshot;
    use crate::snapshot::replace_file::replace_file;
    use crate::world::World;

    use super::ReadError;

    pub(super) fn read(bytes: &[u8], bytes_max: u64) -> Result<Vec<u8>, ReadError> {
        let mut frame = FrameDecoder::new(bytes);
        let mut read = Vec::new();
        let result = frame.by_ref().take(bytes_max.saturating_add(1)).read_to_end(&mut read);
        result.map_err(|_| ReadError::Frame)?;
        if read.len() as u64 > bytes_max {
            return Err(ReadError::TooLarge { bytes_max });
        }
        match !read.is_empty() && frame.get_ref().is_empty() {
            true => Ok(read),
            false => Err(ReadError::Frame),
        }
    }

    /// Writes a frame with the output of `write`.
    fn write<W: Write>(
        to: W,
        write: impl FnOnce(&mut FrameEncoder<W>) -> io::Result<()>,
    ) -> io::Result<()> {
        let info = FrameInfo::new().block_mode(BlockMode::Linked).block_size(BlockSize::Max256KB);
        let mut frame = FrameEncoder::with_frame_info(info, to);
        write(&mut frame)?;
        frame.finish()?.flush()
    }

    impl Snapshot {
        /// Writes [`Snapshot::to_bytes`] as an LZ4 frame. [`World::read_snapshot`] reads the frame
        /// like the bytes themselves. With the feature `lz4`.
        ///
        /// LZ4 finds bytes that repeat: equal values, zeros, small integers. Floats that differ
        /// shrink little. For better compression or another format, pass the writer of another
        /// library to [`Snapshot::write_to`].
        ///
        /// O(bytes).
        ///
        /// # Errors
        ///
        /// As [`Snapshot::write_to`].
        ///
        /// ```
        /// # use phalanx::prelude::*;
        /// # #[component] struct Health(u32);
        /// let mut world = World::new();
        /// world.spawn_batch([Health(9); 10_000]);
        /// let (state, mut file) = (world.snapshot()?, Vec::new());
        /// state.write_compressed(&mut file)?;
        /// assert!(file.len() < state.bytes() / 2);
        /// assert_eq!(world.read_snapshot(&file)?.len(), 10_000);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn write_compressed(&self, to: impl Write) -> io::Result<()> {
            write(to, |frame| self.write_to(frame))
        }

        /// Writes [`Snapshot::write_compressed`] to a file, as [`Snapshot::save`] does. With the
        /// feature `lz4`.
        ///
        /// # Errors
        ///
        /// As [`Snapshot::save`].
        ///
        /// ```no_run
        /// # use phalanx::prelude::*;
        /// # let mut world = World::new();
        /// world.snapshot()?.save_compressed("game.state.lz4")?;
        /// let saved = world.read_snapshot(&std::fs::read("game.state.lz4")?)?;
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn save_compressed(&self, path: impl AsRef<Path>) -> io::Result<()> {
            replace_file(path.as_ref(), |file| self.write_compressed(file))
        }

        /// Writes [`Snapshot::delta`] as an LZ4 frame. [`Snapshot::read_delta`] reads the frame
        /// like the bytes themselves. With the feature `lz4`.
        ///
        /// # Errors
        ///
        /// As [`Snapshot::write_delta`].
        ///
        /// ```
        /// # use phalanx::prelude::*;
        /// # #[component] struct Health(u32);
        /// let mut world = World::new();
        /// world.spawn_batch([Health(9); 10_000]);
        /// let (before, mut state) = (world.snapshot()?, world.snapshot()?);
        /// world.query_mut::<&mut Health>().rows().for_each(|health| health.0 = 8);
        ///
        /// let mut message = Vec::new();
        /// before.write_compressed_delta(&mut world, &mut message)?;
        /// assert!(message.len() < 10_000);
        /// state.read_delta(&mut world, &message)?;
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn write_compressed_delta(&self, world: &mut World, to: impl Write) -> io::Result<()> {
            write(to, |frame| self.write_delta(world, frame))
        }
    }
}

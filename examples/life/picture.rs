//! Draws a torus as a PNG: dark cells on a light background.

use png::{BitDepth, ColorType, Encoder, EncodingError};
use std::io::Write;

/// Small tori are enlarged while their longer side stays within this number of pixels.
const SIDE_MIN: u32 = 512;

/// Writes `cells` as a grey picture: row by row, `width` cells per row, 1 for alive and 0 for dead.
///
/// # Errors
///
/// If the picture cannot be written to `out`.
pub(crate) fn write(
    mut out: impl Write,
    width: u32,
    height: u32,
    cells: &[u8],
) -> Result<(), EncodingError> {
    let scale = (SIDE_MIN / width.max(height)).max(1);
    let mut encoder = Encoder::new(&mut out, width * scale, height * scale);
    encoder.set_color(ColorType::Grayscale);
    encoder.set_depth(BitDepth::Eight);
    let mut picture = encoder.write_header()?;
    let mut pixels = Vec::with_capacity(cells.len() * (scale * scale) as usize);
    for row in cells.chunks_exact(width as usize) {
        let line = pixels.len();
        for &cell in row {
            let grey = if cell == 1 { 0x20 } else { 0xf0 };
            pixels.extend(std::iter::repeat_n(grey, scale as usize));
        }
        for _ in 1..scale {
            pixels.extend_from_within(line..line + (width * scale) as usize);
        }
    }
    picture.write_image_data(&pixels)?;
    picture.finish()?;
    // Dropping a buffer would hide the error of a full disk.
    Ok(out.flush()?)
}

//! Explanations as SVG drawings.
//!
//! [`chunk_svg`] draws one chunk of an archetype to scale: every cell of the drawing is a cache
//! line, and every byte of the block belongs to a live row, to room for rows, to the padding after
//! a column, or to the rest of the block. [`world_svg`] draws a world as a map of its chunks: every
//! cell is a chunk, every stripe in it a column, and the colour of a stripe is the time since the
//! column was last written.
//!
//! Both read only the public fields and methods of `phalanx::explain`, so any program can draw its
//! worlds in its own way.
//!
//! - [`chunk_drawing`] and [`world_map`] lay out the two drawings. [`grid`] folds a block into rows
//!   of cache lines, and [`cells`] draws the chunks of one archetype.
//! - [`part`] has the colours and textures of bytes, and [`age`] the colours of ages.
//! - [`svg`] writes elements and escapes text. [`text`] formats names and numbers.

mod age;
mod cells;
mod chunk_drawing;
mod grid;
mod part;
mod svg;
mod text;
mod world_map;

pub(crate) use chunk_drawing::chunk_svg;
pub(crate) use world_map::world_svg;

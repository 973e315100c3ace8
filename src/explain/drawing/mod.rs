//! Explanations as SVG drawings: [`chunk`], one chunk to scale, and [`map`], the chunks of a world.
//!
//! [`page`] writes elements and text, [`texture`] has the colours and textures of bytes, [`grid`]
//! folds a block into rows of cache lines; [`cells`] draws the chunks of one archetype of the map
//! in the colours of [`age`].

mod age;
mod cells;
mod chunk;
mod grid;
mod map;
mod page;
mod texture;

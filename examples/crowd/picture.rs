//! Draws the crowd as a PNG: the colour of an agent shows whether it dozes and its level of detail.
//! The bounds of the chunks around the camera are outlined.

use crate::model::{Awake, Bounds, Detail, Position, side};
use phalanx::prelude::*;
use png::{BitDepth, ColorType, Encoder, EncodingError};
use std::io::Write;

/// Pixels of a side.
const SIZE: u16 = 900;

type Colour = [u8; 3];

const NIGHT: Colour = [14, 16, 24];
const DOZING: Colour = [52, 62, 98];
const OUTLINE: Colour = [38, 92, 74];

/// Writes a picture of the world.
///
/// # Errors
///
/// If it cannot be written to `out`.
pub(crate) fn write(mut out: impl Write, world: &World, agents: u32) -> Result<(), EncodingError> {
    let zoom = f32::from(SIZE) / side(agents);
    let mut film = Film { pixels: vec![NIGHT; usize::from(SIZE) * usize::from(SIZE)], zoom };
    for (bounds, detail) in &world.query::<(PerChunk<Bounds>, PerChunk<Detail>)>() {
        if detail != Detail::Far {
            film.outline(&bounds);
        }
    }
    for position in world.query::<&Position>().filter::<WithDisabled<Awake>>().rows() {
        film.agent(position, DOZING);
    }
    let awake = world.query::<(&Position, PerChunk<Detail>)>().with::<Awake>();
    for (positions, detail) in &awake {
        let colour = match detail {
            Detail::Fine => [255, 224, 130],
            Detail::Coarse => [232, 128, 60],
            Detail::Far => [96, 108, 140],
        };
        positions.iter().for_each(|position| film.agent(position, colour));
    }

    let mut encoder = Encoder::new(&mut out, SIZE.into(), SIZE.into());
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let mut picture = encoder.write_header()?;
    picture.write_image_data(film.pixels.as_flattened())?;
    picture.finish()?;
    // Dropping a buffer would hide the error of a full disk.
    Ok(out.flush()?)
}

/// The pixels.
struct Film {
    pixels: Vec<Colour>,
    /// Pixels per metre.
    zoom: f32,
}

impl Film {
    /// Draws the edges of a rectangle.
    fn outline(&mut self, bounds: &Bounds) {
        let Bounds { low, high } = *bounds;
        let steps = SIZE;
        for step in 0..=steps {
            let part = f32::from(step) / f32::from(steps);
            let [x, y] = [0, 1].map(|axis| low[axis] + (high[axis] - low[axis]) * part);
            for at in [[x, low[1]], [x, high[1]], [low[0], y], [high[0], y]] {
                self.dot(at, OUTLINE);
            }
        }
    }

    /// Colours the pixels of an agent.
    fn agent(&mut self, at: &Position, colour: Colour) {
        let pixel = 1.0 / self.zoom;
        for (x, y) in [(0.0, 0.0), (pixel, 0.0), (0.0, pixel), (pixel, pixel)] {
            self.dot([at.x + x, at.y + y], colour);
        }
    }

    /// Colours the pixel of a place, if it is within the picture.
    #[expect(clippy::cast_possible_truncation, reason = "whole numbers within the picture")]
    fn dot(&mut self, at: [f32; 2], colour: Colour) {
        let [x, y] = at.map(|metres| metres * self.zoom);
        let edge = f32::from(SIZE);
        if (0.0..edge).contains(&x) && (0.0..edge).contains(&y) {
            self.pixels[y as usize * usize::from(SIZE) + x as usize] = colour;
        }
    }
}

//! Draws the swarm as a PNG: adds up the light of particles, and tone maps the sum.

use crate::model::{Charge, Heat, Position, Weightless};
use phalanx::prelude::*;
use png::{BitDepth, ColorType, Encoder, EncodingError};
use std::io::Write;

const WIDTH: u16 = 1200;
const HEIGHT: u16 = 900;
/// The camera looks at the axis at this height, from this distance, downwards by an angle with this
/// sine.
const LOOK_AT: f32 = -0.35;
const DISTANCE: f32 = 3.4;
const SINE: f32 = 0.5;
const COSINE: f32 = 0.866_025_4;
/// Pixels per unit of length at distance 1.
const ZOOM: f32 = 1350.0;
/// Divided among all particles, so that the brightness does not depend on their number.
const EXPOSURE: f32 = 260_000.0;

type Light = [f32; 3];

const DUST: Light = [0.14, 0.36, 1.00];
const POSITIVE: Light = [1.00, 0.45, 0.08];
const NEGATIVE: Light = [1.00, 0.12, 0.50];
const WEIGHTLESS: Light = [0.40, 1.00, 0.60];
const FLOOR: Light = [0.06, 0.08, 0.13];
const HOT: Light = [7.00, 2.20, 0.40];

/// Writes a picture of the world.
///
/// # Errors
///
/// If it cannot be written to `out`.
pub(crate) fn write(mut out: impl Write, world: &World) -> Result<(), EncodingError> {
    let mut film = Film { light: vec![[0.0; 3]; usize::from(WIDTH) * usize::from(HEIGHT)] };
    expose(&mut film, world);
    film.soften();
    let mut encoder = Encoder::new(&mut out, WIDTH.into(), HEIGHT.into());
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let mut picture = encoder.write_header()?;
    picture.write_image_data(&film.develop(EXPOSURE / world.len() as f32))?;
    picture.finish()?;
    // Dropping a buffer would hide the error of a full disk.
    Ok(out.flush()?)
}

/// Exposes each kind of particle by its own query, in its own colour.
fn expose(film: &mut Film, world: &World) {
    for (position, heat) in world.query::<(&Position, &Heat)>().rows() {
        film.add(position, std::array::from_fn(|c| FLOOR[c] + HOT[c] * heat.0.powi(3)));
    }
    let dust = world.query::<&Position>().without::<Heat>();
    for position in dust.without::<Charge>().without::<Weightless>().rows() {
        film.add(position, DUST);
    }
    for (position, charge) in world.query::<(&Position, &Charge)>().rows() {
        film.add(position, if charge.0 > 0.0 { POSITIVE } else { NEGATIVE });
    }
    for position in world.query::<&Position>().with::<Weightless>().rows() {
        film.add(position, WEIGHTLESS);
    }
}

/// The light on each pixel.
struct Film {
    light: Vec<Light>,
}

impl Film {
    /// Adds the light of a particle to the four pixels around its image.
    fn add(&mut self, position: &Position, light: Light) {
        let (x, y) = project(position);
        let (left, top) = (x.floor(), y.floor());
        let (right, bottom) = (x - left, y - top);
        for (column, row, share) in [
            (left, top, (1.0 - right) * (1.0 - bottom)),
            (left + 1.0, top, right * (1.0 - bottom)),
            (left, top + 1.0, (1.0 - right) * bottom),
            (left + 1.0, top + 1.0, right * bottom),
        ] {
            if let Some(pixel) = self.pixel(column, row) {
                for (sum, light) in pixel.iter_mut().zip(light) {
                    *sum += light * share;
                }
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "whole numbers within the picture")]
    fn pixel(&mut self, column: f32, row: f32) -> Option<&mut Light> {
        let inside =
            (0.0..f32::from(WIDTH)).contains(&column) && (0.0..f32::from(HEIGHT)).contains(&row);
        inside.then(|| &mut self.light[row as usize * usize::from(WIDTH) + column as usize])
    }

    /// Spreads the light of each pixel over its neighbours, against grain.
    fn soften(&mut self) {
        for step in [1, usize::from(WIDTH)] {
            let sharp = self.light.clone();
            for (at, pixel) in self.light.iter_mut().enumerate().skip(2 * step) {
                let near =
                    |back: usize| sharp.get(at + 2 * step - back * step).unwrap_or(&sharp[at]);
                *pixel = std::array::from_fn(|c| {
                    (near(0)[c] + near(4)[c]) / 16.0
                        + (near(1)[c] + near(3)[c]) / 4.0
                        + near(2)[c] * 0.375
                });
            }
        }
    }

    /// Maps light to bytes. Any amount of light stays below white.
    #[expect(clippy::cast_possible_truncation, reason = "from 0 to 255")]
    fn develop(&self, exposure: f32) -> Vec<u8> {
        let tone = |light: &f32| (255.0 * (1.0 - (-light * exposure).exp()).powf(0.7)) as u8;
        self.light.as_flattened().iter().map(tone).collect()
    }
}

/// Projects a place to pixels from the upper left corner.
fn project(position: &Position) -> (f32, f32) {
    let z = position.z - LOOK_AT;
    let depth = DISTANCE + position.y * COSINE - z * SINE;
    let up = z * COSINE + position.y * SINE;
    let scale = ZOOM / depth;
    let (middle, centre) = (f32::from(WIDTH) / 2.0, f32::from(HEIGHT) / 2.0);
    (middle + position.x * scale, centre - up * scale)
}

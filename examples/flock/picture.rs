//! Draws the flock as a PNG: each boid is a short streak in the colour of its heading.

use crate::model::{Position, Predator, Sky, Velocity};
use phalanx::prelude::*;
use png::{BitDepth, ColorType, Encoder, EncodingError};
use std::io::Write;

const WIDTH: u16 = 1200;
const HEIGHT: u16 = 900;
/// Seconds of flight that a streak shows.
const STREAK: f32 = 0.25;
/// The light of a streak at its head.
const BRIGHTNESS: f32 = 1.6;
/// The radius of the glow around a predator, in pixels.
const GLOW: f32 = 7.0;

type Light = [f32; 3];

/// Writes a picture of the world.
///
/// # Errors
///
/// If it cannot be written to `out`.
pub(crate) fn write(mut out: impl Write, world: &World, sky: Sky) -> Result<(), EncodingError> {
    let mut film = Film {
        light: vec![[0.0; 3]; usize::from(WIDTH) * usize::from(HEIGHT)],
        zoom: f32::from(WIDTH) / sky.width,
    };
    let boids = world.query::<(&Position, &Velocity)>().without::<Predator>();
    boids.rows().for_each(|(position, velocity)| film.streak(position, velocity));
    let predators = world.query::<&Position>().with::<Predator>();
    predators.rows().for_each(|position| film.glow(position));

    let mut encoder = Encoder::new(&mut out, WIDTH.into(), HEIGHT.into());
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let mut picture = encoder.write_header()?;
    picture.write_image_data(&film.develop())?;
    picture.finish()?;
    // Dropping a buffer would hide the error of a full disk.
    Ok(out.flush()?)
}

/// The light on each pixel.
struct Film {
    light: Vec<Light>,
    /// Pixels per unit of length.
    zoom: f32,
}

impl Film {
    /// Adds a streak from the position of a boid back along its flight, darker towards the end.
    #[expect(clippy::cast_possible_truncation, reason = "a few pixels")]
    fn streak(&mut self, position: &Position, velocity: &Velocity) {
        let way = (velocity.x * STREAK * self.zoom, velocity.y * STREAK * self.zoom);
        let dots = way.0.hypot(way.1).ceil().clamp(1.0, 400.0) as u16;
        let colour = hue(velocity);
        for dot in 0..dots {
            let back = f32::from(dot) / f32::from(dots);
            let place =
                (position.x * self.zoom - way.0 * back, position.y * self.zoom - way.1 * back);
            self.add(place, colour.map(|light| light * BRIGHTNESS * (1.0 - back)));
        }
    }

    /// Adds a white spot.
    #[expect(clippy::cast_possible_truncation, reason = "a few pixels")]
    fn glow(&mut self, position: &Position) {
        let reach = GLOW as i16;
        for (x, y) in (-reach..=reach).flat_map(|x| (-reach..=reach).map(move |y| (x, y))) {
            let (x, y) = (f32::from(x), f32::from(y));
            let light = 4.0 * (1.0 - x.hypot(y) / GLOW).max(0.0);
            self.add((position.x * self.zoom + x, position.y * self.zoom + y), [light; 3]);
        }
    }

    /// Adds light to the pixel of a place, if it is within the picture.
    #[expect(clippy::cast_possible_truncation, reason = "whole numbers within the picture")]
    fn add(&mut self, (x, y): (f32, f32), light: Light) {
        if (0.0..f32::from(WIDTH)).contains(&x) && (0.0..f32::from(HEIGHT)).contains(&y) {
            let pixel = &mut self.light[y as usize * usize::from(WIDTH) + x as usize];
            *pixel = std::array::from_fn(|c| pixel[c] + light[c]);
        }
    }

    /// Maps light to bytes. Any amount of light stays below white.
    #[expect(clippy::cast_possible_truncation, reason = "from 0 to 255")]
    fn develop(&self) -> Vec<u8> {
        let tone = |light: &f32| (16.0 + 239.0 * (1.0 - (-light).exp())) as u8;
        self.light.as_flattened().iter().map(tone).collect()
    }
}

/// The colour of a heading: a full turn passes through all hues.
fn hue(velocity: &Velocity) -> Light {
    let speed = velocity.x.hypot(velocity.y).max(f32::MIN_POSITIVE);
    let (x, y) = (velocity.x / speed, velocity.y / speed);
    // Three directions, a third of a turn apart: each is a colour, brightest for its own heading.
    let directions = [(1.0, 0.0), (-0.5, 0.866_025_4), (-0.5, -0.866_025_4)];
    directions.map(|(cos, sin)| (0.5 + 0.5 * (x * cos + y * sin)).powi(2) + 0.05)
}

//! Matrices of moving and turning bodies, with kernels written in five ways: for arrays of floats,
//! with glam, and with nalgebra.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin transforms
//! ```
//!
//! # Features
//!
//! **Types of other crates as components.** A component may hold a `glam::Quat` or a
//! `nalgebra::Vector3<f32>`: both crates implement `Pod` if asked by a feature.
//!
//! **The width of their operators.** The four systems run in each form, and the times are compared.
//! `README.md`, beside this file, has a table for each level, and advice.
//!
//! **Optional terms.** A matrix is computed from position, rotation and scale, and a body may lack
//! any of them. One query finds all, one kernel serves all: a missing column is replaced by one
//! that leaves the matrix unchanged.
//!
//! # Files
//!
//! - [`forms`] defines a form, and has the one for columns of floats;
//! - [`kernels`] has the kernels over floats, [`with_glam`] and [`with_nalgebra`] the kernels of
//!   the crates;
//! - [`model`] makes a world and runs the systems, [`table`] compares the times.
//!
//! The lines with times differ from run to run. The others are the same for the same arguments at
//! any level.

#![forbid(unsafe_code)]

mod forms;
mod kernels;
mod model;
mod table;
mod with_glam;
mod with_nalgebra;

use clap::Parser;
use forms::{Arrays, Floats, Form};
use model::Model;
use phalanx::prelude::*;
use phalanx_examples::hash::fnv1a;
use phalanx_examples::options::number;
use phalanx_examples::program;
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;
use table::Table;
use with_glam::Glam;
use with_nalgebra::Nalgebra;

/// Moves and turns bodies, computes their matrices in five ways, and prints the times of a row.
#[derive(Parser)]
#[command(name = "transforms", allow_negative_numbers = true)]
struct Options {
    /// Number of bodies, from 8 to 1000000: an eighth of them for each set of components
    #[arg(long, value_name = "N", default_value = "2048", value_parser = number(8..=1_000_000))]
    entities: u32,
    /// Number of frames
    #[arg(long, value_name = "N", default_value = "500", value_parser = number(1..=1_000_000))]
    frames: u32,
    /// Instruction set of the kernels: baseline, avx2 or avx512 [default: the widest]
    #[arg(long)]
    level: Option<Level>,
    /// The seed of all random numbers: the same seed, the same bodies
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// Steps of each system in a frame. So the columns are in the processor's caches, and the measured
/// time does not depend on the data that another form has left there.
const STEPS: u32 = 16;

/// The length of a step, in seconds.
const STEP: f32 = 1.0 / 1024.0;

/// The systems.
const SYSTEMS: [&str; 4] = ["drift", "fade", "spin", "place"];

fn main() -> ExitCode {
    program::start(run)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    if let Some(level) = options.level {
        Level::pin(level)?;
    }
    let level = Level::try_current()?;
    let Options { entities, frames, .. } = options;
    let mut out = io::stdout().lock();
    writeln!(out, "{entities} bodies, {frames} frames of {STEPS} steps; kernels at {level}\n")?;

    let mut forms: [(&str, Box<dyn Animate>); 5] = [
        ("arrays", boxed::<Floats<Arrays>>(options)),
        ("glam", boxed::<Glam>(options)),
        ("glam, as floats", boxed::<Floats<Glam>>(options)),
        ("nalgebra", boxed::<Nalgebra>(options)),
        ("nalgebra, as floats", boxed::<Floats<Nalgebra>>(options)),
    ];
    let mut table = Table::new(forms.each_ref().map(|(name, _)| *name));
    for _ in 0..options.frames {
        table.add(forms.each_mut().map(|(_, form)| form.frame()));
    }
    writeln!(out, "{table}")?;

    let matrices = forms.each_ref().map(|(_, form)| form.matrices());
    for ((name, _), matrices_of_form) in forms.iter().zip(&matrices) {
        let difference = difference(&matrices[0], matrices_of_form);
        let state = state(matrices_of_form);
        writeln!(out, "{name:<20} state {state:016x}, differs by {difference:.1e} at most")?;
    }
    Ok(())
}

/// A form that runs.
trait Animate {
    /// Runs a frame, and returns the nanoseconds of a row of each system.
    fn frame(&mut self) -> [f64; SYSTEMS.len()];

    fn matrices(&self) -> Vec<[f32; 16]>;
}

impl<F: Form> Animate for Model<F> {
    fn frame(&mut self) -> [f64; SYSTEMS.len()] {
        [
            timed(self, |model| model.drift(STEP)),
            timed(self, |model| model.fade(STEP)),
            timed(self, |model| model.spin(STEP)),
            timed(self, Self::place),
        ]
    }

    fn matrices(&self) -> Vec<[f32; 16]> {
        self.matrices()
    }
}

fn boxed<F: Form + 'static>(options: &Options) -> Box<dyn Animate> {
    Box::new(Model::<F>::new(options.entities as usize, options.seed))
}

/// Runs a system for the steps of a frame. Returns the nanoseconds of a row.
fn timed<F: Form>(model: &mut Model<F>, system: impl Fn(&mut Model<F>) -> usize) -> f64 {
    let start = Instant::now();
    let rows: usize = (0..STEPS).map(|_| system(model)).sum();
    start.elapsed().as_secs_f64() * 1e9 / rows as f64
}

/// The largest difference of two numbers in the same place.
fn difference(some: &[[f32; 16]], others: &[[f32; 16]]) -> f32 {
    let pairs = some.as_flattened().iter().zip(others.as_flattened());
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// A hash of all matrices.
fn state(matrices: &[[f32; 16]]) -> u64 {
    fnv1a(matrices.as_flattened().iter().map(|number| number.to_bits()))
}

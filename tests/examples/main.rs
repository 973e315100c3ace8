//! The examples: as programs, whose command lines, output and files are looked at, and some of
//! their parts.
#![cfg(not(miri))] // Child processes and thousands of generations are too much for Miri.
#![forbid(unsafe_code)]

// The parts under test stand at the root, as they do in the examples: they name each other by it.
#[path = "../../examples/explain/drawing/mod.rs"]
mod drawing;
#[path = "../../examples/transforms/forms.rs"]
mod forms;
#[path = "../../examples/life/frames.rs"]
mod frames;
#[path = "../../examples/transforms/kernels.rs"]
mod kernels;
#[path = "../../examples/life/life.rs"]
mod life;
#[path = "../../examples/life/lookup.rs"]
mod lookup;
#[path = "../../examples/transforms/model.rs"]
mod model;
#[path = "../../examples/life/picture.rs"]
mod picture;
#[path = "../../examples/life/rle.rs"]
mod rle;
#[path = "../../examples/life/rows.rs"]
mod rows;
#[path = "../../examples/life/rule.rs"]
mod rule;
#[path = "../../examples/life/torus.rs"]
mod torus;
#[path = "../../examples/transforms/with_glam.rs"]
mod with_glam;
#[path = "../../examples/transforms/with_nalgebra.rs"]
mod with_nalgebra;
#[path = "../../examples/replicate/xor.rs"]
mod xor;

mod crowd;
mod epidemic;
mod every;
mod example;
mod explain;
mod flock;
mod life_files;
mod life_program;
mod life_rules;
mod nbody;
mod replicate;
mod replicate_xor;
mod rollback;
mod scene;
mod shooter;
mod streaming;
mod swarm;
mod transforms;

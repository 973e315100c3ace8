//! The examples: tests of them as programs, with their command lines, output and files, and of some
//! of their parts.
#![cfg(not(miri))] // Child processes and thousands of generations are too much for Miri.
#![forbid(unsafe_code)]

// The parts under test are at the root, as in the examples: they use this path for each other.
#[path = "../../explain/drawing/mod.rs"]
mod drawing;
#[path = "../../scene/entities.rs"]
mod entities;
#[path = "../../transforms/forms.rs"]
mod forms;
#[path = "../../life/frames.rs"]
mod frames;
#[path = "../../rollback/game.rs"]
#[allow(dead_code, reason = "only the inputs are tested apart from the program")]
mod game;
#[path = "../../transforms/kernels.rs"]
mod kernels;
#[path = "../../life/life.rs"]
mod life;
#[path = "../../templates/loader/mod.rs"]
mod loader;
#[path = "../../life/lookup.rs"]
mod lookup;
#[path = "../../transforms/model.rs"]
mod model;
#[path = "../../rollback/network.rs"]
mod network;
#[path = "../../templates/objects/mod.rs"]
mod objects;
#[path = "../../life/picture.rs"]
mod picture;
#[path = "../../life/rle.rs"]
mod rle;
#[path = "../../life/rows.rs"]
mod rows;
#[path = "../../life/rule.rs"]
mod rule;
#[path = "../../life/torus.rs"]
mod torus;
#[path = "../../scene/values.rs"]
mod values;
#[path = "../../transforms/with_glam.rs"]
mod with_glam;
#[path = "../../transforms/with_nalgebra.rs"]
mod with_nalgebra;
#[path = "../../replicate/xor.rs"]
mod xor;

mod crowd;
mod epidemic;
mod every;
mod example;
mod explain;
mod first_steps;
mod flock;
mod fluid;
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
mod templates;
mod templates_faults;
mod templates_objects;
mod transforms;

//! Kernels and folds: their assembly, their results at every level, and what `kernel!` accepts.

mod codegen;
mod kernels;
mod levels;
mod names;
mod vectors;

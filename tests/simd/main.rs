//! Kernels and folds: their assembly, their results at every level, and the functions that
//! `#[kernel]` accepts.

mod attributes;
#[cfg(all(target_arch = "x86_64", not(miri)))] // The assembly of other processors is another.
mod codegen;
mod kernels;
mod levels;
mod names;
mod vectors;

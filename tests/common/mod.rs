//! What the test programs share: a world whose chunk size the caller of the tests chooses, and the
//! components that worlds are filled with.
#![allow(dead_code, unused_imports, unused_macros, reason = "a program uses some of it")]

pub(crate) mod components;
#[path = "../../src/effort.rs"]
pub(crate) mod effort;

use phalanx::prelude::*;

/// The chunk size that `PHALANX_TEST_CHUNK_KIB` names (4, 16, 256, …); 16 KiB if it names none.
fn chunk_size() -> ChunkSize {
    const VARIABLE: &str = "PHALANX_TEST_CHUNK_KIB";
    let kib = match std::env::var(VARIABLE) {
        Ok(text) => text.parse().unwrap_or_else(|error| panic!("{VARIABLE}={text}: {error}")),
        Err(_) => 16,
    };
    ChunkSize::new(kib << 10).unwrap_or_else(|error| panic!("{VARIABLE}={kib}: {error}"))
}

/// The number of chunks that `PHALANX_TEST_EXTENT` names as the most in an extent; 64 if it names
/// none.
pub(crate) fn extent_chunks_max() -> u32 {
    const VARIABLE: &str = "PHALANX_TEST_EXTENT";
    match std::env::var(VARIABLE) {
        Ok(text) => text.parse().unwrap_or_else(|error| panic!("{VARIABLE}={text}: {error}")),
        Err(_) => 64,
    }
}

/// An empty world with chunks and extents of the sizes that the environment chooses.
pub(crate) fn world() -> World {
    World::builder().chunk_size(chunk_size()).extent_chunks_max(extent_chunks_max()).build()
}

//! Shared parts of the test programs: a world with a chunk size chosen by the environment, and the
//! components of test worlds.
#![allow(dead_code, unused_imports, unused_macros, reason = "a program uses some of it")]

pub(crate) mod components;
#[path = "../../src/effort.rs"]
pub(crate) mod effort;

use phalanx::prelude::*;

/// The chunk size from `PHALANX_TEST_CHUNK_KIB` (4, 16, 256, …); 16 KiB if it is not set.
fn chunk_size() -> ChunkSize {
    const VARIABLE: &str = "PHALANX_TEST_CHUNK_KIB";
    let kib = match std::env::var(VARIABLE) {
        Ok(text) => text.parse().unwrap_or_else(|error| panic!("{VARIABLE}={text}: {error}")),
        Err(_) => 16,
    };
    ChunkSize::new(kib << 10).unwrap_or_else(|error| panic!("{VARIABLE}={kib}: {error}"))
}

/// The largest number of chunks in an extent, from `PHALANX_TEST_EXTENT`; 64 if it is not set.
pub(crate) fn extent_chunks_max() -> u32 {
    const VARIABLE: &str = "PHALANX_TEST_EXTENT";
    match std::env::var(VARIABLE) {
        Ok(text) => text.parse().unwrap_or_else(|error| panic!("{VARIABLE}={text}: {error}")),
        Err(_) => 64,
    }
}

/// The length of a random history, or an eighth of it under Miri, where a step that compares whole
/// worlds takes seconds.
pub(crate) const fn length(whole: usize) -> usize {
    if cfg!(miri) { whole / 8 } else { whole }
}

/// An empty world with chunks and extents of the sizes that the environment chooses.
pub(crate) fn world() -> World {
    World::builder().chunk_size(chunk_size()).extent_chunks_max(extent_chunks_max()).build()
}

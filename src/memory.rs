//! The memory of a world: counted, limited and returned.
//!
//! [`World::memory`](crate::World::memory) counts the bytes of a world by use, as a [`Memory`].
//! [`World::memory_mut`](crate::World::memory_mut) is a [`MemoryMut`], which returns memory to the
//! system, in steps that are spread over frames; each step reports a [`Compacted`]. It also forgets
//! archetypes without entities, bounds and ages the logs, and raises the limit of skipped ids.
//!
//! ```
//! use phalanx::prelude::*;
//!
//! #[component]
//! struct Health(f32);
//!
//! let mut world = World::new();
//! world.reserve::<Health>(10_000)?;
//! world.spawn_batch([Health(1.0); 10_000]);
//! assert_eq!(world.memory().row_bytes, 40_000);
//! world.clear();
//! while !world.memory_mut().compact(1_000).finished {}
//! assert_eq!(world.memory().slab_bytes, 0);
//! # Ok::<(), phalanx::error::SpawnError>(())
//! ```

pub use crate::world::{Compacted, Memory, MemoryMut};

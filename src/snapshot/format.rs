//! How states are bytes.
//!
//! ```text
//!  header       magic, byte order, format, kind, chunk size, version, base, how many of each
//!  components   name, size, fingerprint of each
//!  shared types name, tags, new values of each
//!  ids          if they differ: generations, free list, runs of far slots, next generations
//!  archetypes   of each: its components, rows, entities, and for each column
//!                 │ cells │ stamps │ enable bits │ versions of lines │ values of chunks │
//!  checksum     XXH3 of all before
//! ```
//!
//! Each array is a *difference* from the same array of another state: the ranges in which it
//! differs, and what is there now. A snapshot is the difference from no state, so each of its
//! arrays is one range, and is read by one copy. A delta is the difference from a state that the
//! reader has. So there is one format, one writer and one reader.
//!
//! Numbers and columns are in the byte order of the machine that wrote them. Versions are ages (see
//! `store/history.rs`), so that worlds with equal hashes have equal bytes.
//!
//! # Shared values
//!
//! An archetype has the marker of a shared type and the tag of a value among its components.
//! Markers and tags have numbers after those of the components, type after type:
//!
//! ```text
//!  components      0 … c - 1     in the order of their names
//!  marker of "label"   c         types in the order of their names
//!  its tags        c + 1 …       in the order of their ids, by which any world gives them
//!  marker of "mesh"    …
//! ```
//!
//! Which tag a later value gets decides to which archetype rows go, so the tables of all tags are
//! part of the state: those that entities have, those that had a value, and those that are free.
//! They are arrays like others, a hash and a word a tag. After them come the ranges of tags that
//! have another value than in the other state, and these values, by the functions of the user. So
//! a delta has the values that are new. A type that has no name is not written; then no archetype
//! may have it.
//!
//! # What is not written
//!
//! What the bytes do not say follows from what they say: the places of entities from the rows, the
//! retired ids from their generations, the hash of a shared value from the value. A reader has to
//! check less then.
//!
//! # Versions of the format
//!
//! 1 had no shared types, and no number of them in the header. 2 has them. A reader knows one.

use crate::component::ComponentId;

/// The first bytes.
pub(super) const MAGIC: [u8; 8] = *b"PHALANX\x1a";
/// Reads as another number in the other byte order.
pub(super) const BYTE_ORDER: u32 = 0x0102_0304;
/// The version of this format.
pub(super) const FORMAT: u32 = 2;
/// The state of a world.
pub(super) const SNAPSHOT: u32 = 1;
/// The difference between two states.
pub(super) const DELTA: u32 = 2;
/// A state of a greater age is neither written nor read: at a million steps a second, nine years. A
/// clock can take thousands of such states before it ends.
pub(super) const AGE_MAX: u64 = 1 << 48;
/// Tags stay with the world that reads, also if the state is dropped and never restored. So that
/// such states do not use up all ids, reading leaves this many to the program, and no state is
/// written that needs them.
pub(super) const IDS_LEFT: usize = ComponentId::COUNT_MAX as usize / 4;

//! The format of states as bytes.
//!
//! ```text
//!  header       magic, byte order, format, kind, chunk size, version, base, how many of each
//!  components   name, size, fingerprint of each
//!  shared types name, numbers of values, new values of each
//!  ids          if they differ: generations, free list, runs of far slots, next generations,
//!               numbers of ids that systems took
//!  archetypes   of each: its components, rows, entities, and for each column
//!                 │ cells │ stamps │ enable bits │ line versions │ values of chunks │
//!  sets         of each sparse component: name, kind, size, fingerprint, number of values, and
//!                 │ entities │ values │, of a relation also │ places │ heads │, and
//!                 of one to many before them the number of pairs and │ counts │ targets │
//!  checksum     XXH3 of all before
//! ```
//!
//! Each array is a *difference* from the same array of another state: the ranges in which it
//! differs, and its present contents in them. A snapshot is the difference from no state, so each
//! of its arrays is one range, and is read by one copy. A delta is the difference from a state that
//! the reader has. So one format, one writer and one reader are enough.
//!
//! Numbers and columns are in the byte order of the machine that wrote them. Versions are ages (see
//! `store/history.rs`), so that worlds with equal hashes have equal versions.
//!
//! # Shared values
//!
//! An archetype has the marker of a shared type and the tag of a value among its components.
//! Markers and tags have numbers after those of the components, type after type:
//!
//! ```text
//!  components      0 … c - 1     in the order of their names
//!  marker of "label"   c         types in the order of their names
//!  its tags        c + 1 …       in the order of the numbers of their values
//!  marker of "mesh"    …
//! ```
//!
//! A new value takes the lowest number that no living value of its type has, and an archetype that
//! had the number is found again. So the numbers in archetypes, also empty ones, are all that a
//! world needs to go on as the one that wrote. They are an array of words, in ascending order:
//!
//! ```text
//!  word   number × 2 + 1 if rows have a value of this number, number × 2 if only archetypes do
//! ```
//!
//! After it come the ranges of words with other values than the other state has for their numbers,
//! and these values, encoded by the functions of the user. So a delta contains only new values. A
//! type without a name is not written; no archetype may have it.
//!
//! # Sparse components
//!
//! A set is written if it has values, and if these have a form as bytes: plain data, or the targets
//! of a relation. The sets are in the order of their names. A delta names each of them, so that a
//! set that it does not name has no values any more; of a set that did not change the delta has the
//! name and no array. The order of all arrays is part of the state, because queries of a set and of
//! a relation answer in it:
//!
//! ```text
//!  entities   4v1   7v1   9v2     ids with generations, in the order of the set
//!  values      a     b     c      of plain data
//!  values     2v1   2v1   5v1     of a relation: the target of each
//!  places      0     1     0      of a relation: the place of each source in its target's list
//!  heads      2v1   5v1           of a relation: the targets, in the order of their lists
//! ```
//!
//! A relation to many has the number of targets of each source (`counts`), and the targets of all
//! in the order of their lists. Its values and places are those of the pairs.
//!
//! # Derived data
//!
//! The format omits data that follows from its other parts: the places of entities from the rows,
//! the retired ids from their generations, the hash of a shared value from the value, the lists of
//! sources from targets and places, the rows with a sparse component from its entities. So a reader
//! has less to check.
//!
//! # Versions of the format
//!
//! This is format 6, which has the numbers of ids that systems took in a stage. Format 5 lacked
//! them, format 4 had a version for 16 rows of components that track lines, format 3 had tables of
//! the tags of shared values. A reader reads one format.

use crate::component::ComponentId;

/// The first bytes of a state.
pub(super) const MAGIC: [u8; 8] = *b"PHALANX\x1a";
/// A machine of the other byte order reads another number.
pub(super) const BYTE_ORDER: u32 = 0x0102_0304;
/// The version of this format.
pub(super) const FORMAT: u32 = 6;
/// The kind of a whole state.
pub(super) const SNAPSHOT: u32 = 1;
/// The kind of a difference between two states.
pub(super) const DELTA: u32 = 2;
/// The kind of a sparse component with values.
pub(super) const VALUES: u32 = 0;
/// The kind of a relation.
pub(super) const RELATION: u32 = 1;
/// The kind of a relation to many.
pub(super) const PAIRS: u32 = 2;
/// The greatest age of a state that is written or read: at a million steps a second, nine years. A
/// clock can take thousands of such states before it ends.
pub(super) const AGE_MAX: u64 = 1 << 48;
/// The number of ids that reading leaves to the program. Tags stay with the world that reads, even
/// if the state is dropped and never restored; the limit keeps such states from using up all ids. A
/// state that needs these ids is not written.
pub(super) const IDS_LEFT: usize = ComponentId::COUNT_MAX as usize / 4;

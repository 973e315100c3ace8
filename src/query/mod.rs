//! Queries: slices of columns, chunk by chunk.
//!
//! A query type names [`term`]s; [`terms`]s of terms are queries. A [`filter`] narrows what
//! matches. Both describe themselves once, as a [`plan`]: which archetypes match, and which
//! columns are cut from each. The plan is cached by type; an archetype made later is tested once
//! against it. A [`cursor`] goes over the plan's archetypes and their chunks, and a [`Query`] is a
//! walk with a type: an iterator of tuples of slices.
//!
//! ```text
//! Query<(&mut Position, &Velocity), (Without<Frozen>,)>
//!    │ describe, once per type
//!    ▼
//! Plan   archetype 3: columns 0, 1    archetype 7: columns 0, 2   …
//!    │ walk
//!    ▼
//! chunk 0 of 3: (&mut [Position], &[Velocity])   chunk 1 of 3: …   chunk 0 of 7: …
//! ```
//!
//! A [`survey`] is the same walk without the turns: which chunks would be visited, and which
//! [`rule`] keeps an archetype out.
//!
//! [`matched_chunks`] is the same by the chunk, for who works on whole chunks: [`gather`] copies a component
//! out and back, and structural changes by query go along the [`edges`] between archetypes.
//!
//! What a kernel's `&mut` may touch is settled before it runs: aliasing terms do not compile,
//! filters that look at versions have looked, and the columns handed out are stamped.

mod access;
mod chunk;
mod cursor;
mod entity_run;
mod filter;
mod for_each;
mod gather;
mod matched_chunks;
mod parallel;
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod query;
mod query_iter;
mod query_type;
mod remaining;
mod rows;
mod store_borrow;
mod survey;
mod term;
mod terms;

pub use chunk::{Chunk, Chunks};
pub use filter::{AnyOf, Arrived, Changed, ComponentTuple, Filter, Watch, With, Without};
pub use for_each::Modified;
pub use gather::ScatterError;
pub(crate) use matched_chunks::{MatchedChunks, matches_in};
pub use query::Query;
pub use query_iter::QueryIter;
pub(crate) use query_type::query_type;
pub(crate) use remaining::granted_views_mut;
pub use rows::Rows;
pub(crate) use survey::{Survey, Visit};
pub use term::Term;
pub(crate) use terms::assert_unaliased;
pub use terms::{ReadTerms, Terms};

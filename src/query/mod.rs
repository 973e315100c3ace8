//! Queries: slices of columns, chunk by chunk.
//!
//! The meaning of a query type:
//!
//! * [`term`] has the terms, such as `&C` and `&mut C`, [`option_rows`] optional ones, [`terms`]
//!   tuples of them, whose rows are iterated [`in_step`]. [`term_shape`] gives the columns of a
//!   term: one column for most components, several for a split component. [`access`] tells whether
//!   two terms conflict.
//! * [`filter`] has the filters, which narrow a query, and [`changed`] the one by changes of a
//!   component, [`named_components`] the components that they name, and [`or_not`] alternatives
//!   and negations of them; [`enabled_terms`] has terms and filters of enable bits,
//!   [`per_chunk_terms`] and [`shared_terms`] of values that chunks have, [`reordered`] a filter
//!   by the order of rows. Terms of sparse components have a
//!   [`sparse_shape`], and [`sparse_slice`]s of a chunk. [`lines_mut`] and [`changed_lines`] write
//!   and read the versions of lines.
//! * [`query_type`](mod@query_type) turns the types of terms and filters into a value, under which
//!   the [store](crate::store) caches a plan: the archetypes that match, and the columns of each.
//!
//! A query and its passes:
//!
//! * [`query`] has [`Query`], a description: terms, filters and, from [`store_borrow`], a borrow of
//!   the store; [`narrow`] adds filters. An [`open_filter`] has the versions of sparse sets that
//!   the filter compares. Each pass makes an iterator of its own.
//! * [`query_iter`], [`rows`], [`chunk`] and [`contiguous_chunks`] have the iterators over slices,
//!   over entities, over chunks with their versions, and over slices of several chunks. [`masked`]
//!   has the iterator over whole chunks with a mask of the visible rows.
//! * A pass over rows takes them from slices ([`rows`]). [`some_rows`] takes the visible rows of
//!   one word of bits, [`listed_rows`] those of several words with few rows each.
//! * [`begin_with_set`] starts a pass at a small sparse set and not at the chunks: a
//!   [`member_walk`] has the sorted rows of its members, [`known_positions`] the positions of their
//!   values.
//! * [`for_each`] has the loop whose body reports writes, [`for_each_found`] a loop over the rows
//!   for which a value is found. [`parallel`] runs a pass on several threads: [`par_slices`] bounds
//!   its items, [`share`] divides the work, [`threads`] are the threads of a schedule, and
//!   [`one_recorder`] keeps commands and events out of the body.
//! * [`cursor`] goes from archetype to archetype, and [`cut_chunk`] is a chunk that it has taken.
//!   Where chunks follow each other in memory it makes a [`chunk_run`], which hands them out and
//!   stamps them through [`run_stamps`] (the cache of archetypes with one chunk stamps its own).
//!   [`begin_pass`] begins a pass, which knows the
//!   archetypes that are left; [`tagged`] finds the next one by the tags of shared values, and
//!   [`chunk_rows`] has the entities and enable bits of a chunk.
//!
//! `scripted` is a filter of tests.
//!
//! Rows without a pass: [`rows_by_entity`] has the calls. [`plan_rows`] finds the row of an entity
//! in a [`lookup_source`], or returns a [`row_error`]; a [`row_lookup`] finds many, by the
//! addresses of their cells where the query allows it. [`single`] has the only row,
//! [`combinations`] several at a time.
//!
//! A [`value_index`] finds rows by the value of a component, in [`hash_chains`], and
//! [`chunk_bounds`] rows [`between`] two values of a [`sort_key`] of some [`key_columns`]. Both are
//! [`list_caches`]: they read chunks again that changed.
//!
//! A [`level_plan`] visits the rows of a tree level after level, cut into [`level_runs`] by the
//! [`row_tree`]; the [`level_terms`] name the values that go from parents to children.
//! A [`level_index`] finds children, and the [`changed_levels`] are those below some rows.
//! [`tree_changes`] keep the tree up to date: its rows have [`row_numbers`] that stay, a
//! [`row_finder`] follows relations, and [`known_links`] tell which of these changed.
//!
//! Whole chunks, without a pass:
//!
//! * [`matched_chunks`] lists the chunks that match. [`gather`] copies one component of them to a
//!   dense array and back, [`sample`] chooses some at random, and [`groups`] counts them by
//!   archetype.
//! * [`survey`] lists the rows that a pass would visit, and the rule that excludes an archetype.
//!
//! The calls of `for (p, v) in world.query_mut::<(&mut P, &V)>()`:
//!
//! ```text
//!  World::query_mut                         world/queries.rs       const: no column is aliased
//!    Query::exclusive                       query.rs
//!
//!  Query::into_iter                         query.rs               once
//!    QueryIter::new                         query_iter.rs
//!      ChunkCursor::new                     cursor.rs
//!        begin_pass                         begin_pass.rs
//!          query_type                       query_type.rs
//!          Pass::exclusive                  store/pass.rs          advances the clock
//!            Store::query_parts             store/query_parts.rs
//!              Plans::get_mut               store/plans.rs         made in the first pass
//!            ResolvedPlan::writable         store/resolved_plan.rs refreshes addresses
//!
//!  QueryIter::next                          query_iter.rs          for each chunk
//!    ChunkCursor::next                      cursor.rs
//!      Pass::next_cached                    store/pass.rs          an archetype's only chunk, or
//!      ChunkRun::next                       chunk_run.rs           the next of a run: stamped and
//!        Terms::touch_next, split_off       terms.rs, term.rs      cut off the run's slices
//!      ChunkCursor::next_run                cursor.rs              if neither has a chunk left
//!        ArchetypeCursor::next_run          cursor.rs
//!          ChunkIter::next_run              storage/access/chunk_iter.rs
//!          ChunkRun::new                    chunk_run.rs
//!            Terms::cut, Term::cut          terms.rs, term.rs      the slices of the whole run
//!              TermShape::cut, cut_mut      term_shape.rs
//!                column, column_mut         storage/access/chunk_iter.rs
//!        Pass::resume, enter                store/pass.rs
//!          ArchetypeColumnsMut::chunks      archetype/columns_mut.rs
//! ```
//!
//! No check runs inside a kernel: aliasing terms do not compile, filters by version have chosen the
//! chunk, and the columns that the kernel may write are stamped.

// The order of the documentation of `Query`: the first things a reader needs come first.
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod query;

mod narrow;

mod rows_by_entity;

mod single;

mod for_each;
mod for_each_found;

mod par_slices;
mod parallel;

mod gather;

mod masked;

mod access;
mod begin_pass;
mod begin_with_set;
mod between;
mod changed;
mod changed_levels;
mod changed_lines;
mod chunk;
mod chunk_bounds;
mod chunk_rows;
mod chunk_run;
mod combinations;
mod contiguous_chunks;
mod cursor;
mod cut_chunk;
mod enabled_terms;
mod filter;
mod groups;
mod hash_chains;
mod in_step;
mod key_columns;
mod known_links;
mod known_positions;
mod level_index;
mod level_plan;
mod level_runs;
mod level_terms;
mod lines_mut;
mod list_caches;
mod listed_rows;
mod lookup_source;
mod matched_chunks;
mod member_walk;
mod named_components;
mod one_recorder;
mod open_filter;
mod option_rows;
mod or_not;
mod per_chunk_terms;
mod plan_rows;
mod query_iter;
mod query_type;
mod reordered;
mod row_error;
mod row_finder;
mod row_lookup;
mod row_numbers;
mod row_tree;
mod rows;
mod run_stamps;
mod sample;
#[cfg(test)]
mod scripted;
mod share;
mod shared_terms;
mod some_rows;
mod sort_key;
mod sparse_shape;
mod sparse_slice;
mod store_borrow;
mod survey;
mod tagged;
mod term;
mod term_shape;
mod terms;
mod threads;
mod tree_changes;
mod value_index;

pub(crate) use access::{AccessFlags, any_gives};
pub use between::{Between, BetweenIter};
pub(crate) use changed::WatchShape;
pub use changed::{Changed, Watch};
pub use changed_lines::ChangedLines;
pub use chunk::{Chunk, Chunks};
pub use chunk_bounds::ChunkBounds;
pub use combinations::Combinations;
pub use contiguous_chunks::ContiguousChunks;
pub(crate) use enabled_terms::assert_enableable;
pub use enabled_terms::{Enabled, EnabledMut, IgnoreEnabled, WithDisabled};
pub use filter::{AnyOf, Arrived, Filter, IncludeHidden, With, WithShared, Without, WithoutShared};
pub use for_each::Modified;
pub(crate) use for_each_found::assert_by_run;
pub use gather::{Copies, ScatterError};
pub use groups::Group;
pub use key_columns::KeyColumns;
pub(crate) use key_columns::KeySlices;
pub use level_plan::LevelPlan;
pub(crate) use level_plan::assert_by_level;
pub use level_terms::LevelTerms;
pub use lines_mut::{LineRow, LineSlice, LinesMut};
pub use masked::Masked;
pub(crate) use matched_chunks::{masks_in, matches_in};
pub use named_components::ComponentTuple;
pub(crate) use narrow::{assert_no_version, assert_version, filter_methods};
pub(crate) use one_recorder::OneRecorder;
pub(crate) use open_filter::{GuardsOf, lock};
pub use or_not::{Not, Or, Presence, PresenceTuple};
pub(crate) use par_slices::ParSlices;
pub use parallel::ParChunks;
pub use per_chunk_terms::{ChunkValueMut, PerChunkMut, WhereChunk};
pub use query::Query;
pub use query_iter::QueryIter;
pub(crate) use query_type::{lookup_type, query_type};
pub use reordered::Reordered;
pub use row_error::{Exclusion, RowError};
pub use row_lookup::RowLookup;
pub use rows::Rows;
#[cfg(test)]
pub(crate) use scripted::Scripted;
pub(crate) use share::{Job, share};
pub use shared_terms::{SharedRef, WhereShared};
pub use single::NotSingle;
pub use sort_key::SortKey;
pub use sparse_slice::{SparseSlice, SparseSliceIter};
pub(crate) use store_borrow::ReadBorrow;
pub(crate) use survey::{Survey, Visit};
pub use term::Term;
pub(crate) use term_shape::TermParts;
pub(crate) use terms::assert_unaliased;
pub use terms::{ReadTerms, Terms};
pub(crate) use threads::{Crew, Helpers, Threads};
pub use value_index::ValueIndex;

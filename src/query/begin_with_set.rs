//! A pass over rows that begins with the members of a small set.
//!
//! A pass that looks for the rows of a sparse component by their bits reads the bits of all chunks,
//! also if ten of a million rows have it. Where the set has few [members](MEMBERS_MAX) beside the
//! chunks of the query, a pass over rows begins with the set instead: it finds the row of each
//! member in the directory, sorts these rows, and takes their chunks. So rows come in the order in
//! which every other pass visits them, and chunks without members cost nothing. Other terms and
//! filters choose among these rows by their bits, and the bits of members do so as well: a system
//! may have inserted values of which the rows are not marked yet.
//!
//! Sorting is up to 40 % of such a pass. A set of [more members](SPREAD_MEMBERS_MAX) is used as
//! well if they lie in the order of their rows. A pass knows this order only after it has found all
//! members. So only a pass that takes all rows (`for_each` and the like) begins with such a set,
//! since any other may end early. A set in no order is given up after a few members, and so is a
//! set of neighbours: a word of bits has many of them.
//!
//! The columns of chunks that follow each other in memory are taken as one slice, and a list has
//! rows of several chunks. A pass that may end early lists the rows of one chunk at a time, because
//! it stamps only the chunks that it visits.
//!
//! Nanoseconds a member (Zen 4, shared, rows of 12 bytes, 1,360 rows a chunk), beside a walk over
//! the set by hand, which finds each member and stamps its chunk, in the order of the set. A star
//! marks passes by bits. The last column is `for_each` if each list ends with its chunk, and larger
//! sets are left to the bits:
//!
//! ```text
//!  members        rows    order of the set    by hand    `for_each`    `for`     by chunk
//!   10,000   1,000,000    by rows                17          22         36 *       31 *
//!   10,000   1,000,000    random                 20          32 *       38 *       33 *
//!    1,000   1,000,000    by rows                 9.5        19         31         61
//!    1,000   1,000,000    random                  9.5        25         37         67
//!    1,000     100,000    by rows                 5.4        10.5       15.8 *     14.3 *
//!    1,000     100,000    random                  5.8        15 *       16 *       14.4 *
//!    1,000     100,000    neighbours              3.8         4.1 *      5.1 *      3.9 *
//!      250     100,000    by rows                 5.2        13.5       19         30
//!      250     100,000    random                  5.2        21         28         43
//! ```
//!
//! Larger sets in any order were tried and not kept. Sorting took 13 ns a member, so `for_each`
//! took 31 for 1,000 of 100,000, and 14 by bits.

use crate::entity::Directory;
use crate::storage::FewRows;
use crate::store::{Plan, SetMembers};

use super::chunk_run::ChunkRun;
use super::cursor::{ArchetypeCursor, ChunkCursor};
use super::filter::Filter;
use super::listed_rows::ListedRows;
use super::member_walk::MemberWalk;
use super::open_filter::OpenFilter;
use super::query_iter::QueryIter;
use super::tagged::next_entry;
use super::terms::{OpenOf, Terms};

/// The set is used if it has at most this many members for each chunk.
const MEMBERS_MAX: usize = 4;

/// A pass over all rows also uses a set of at most this many members for each chunk, if they lie in
/// the order of their rows and apart.
const SPREAD_MEMBERS_MAX: usize = 32;

/// Whether a pass of such a query may begin with a set: no filter compares versions, which chunks
/// have.
pub(super) const fn may_begin_with_set<Q: Terms, F: Filter>() -> bool {
    Q::BY_MEMBERS && !F::BY_CHUNK && F::BY_LINES == 0
}

impl<'w> ChunkCursor<'w> {
    /// Takes the chunk of the next member, and the chunks after it in memory.
    fn next_of_walk<Q: Terms, F: Filter>(
        &mut self,
        run: &mut ChunkRun<'w, Q>,
        filter: OpenFilter<'w, F>,
        sets: OpenOf<'w, Q>,
        walk: &mut MemberWalk,
    ) {
        let Some((archetype, row)) = walk.place() else { return };
        if self.current.as_ref().is_none_or(|one| one.archetype != archetype as usize) {
            let chosen = |plan: &Plan, from| {
                let entry = plan.column_map().find(archetype).filter(|&entry| entry >= from)?;
                next_entry::<F>(plan, &filter, entry).filter(|&next| next == entry)
            };
            if !self.enter_chosen::<Q, F>(&filter, chosen) {
                return walk.skip_archetype();
            }
        }
        let current = self.current.as_mut().expect("an archetype was entered");
        let shift = current.chunks.shift();
        let chunks_max = if Q::OF_CHUNK { 1 } else { walk.chunks_max(shift) };
        current.chunks.skip_to(row.0.wrapping_shr(shift));
        let Some((columns, rows, chunks)) = current.take_chunks::<F>(chunks_max) else {
            return walk.skip_archetype();
        };
        walk.begin_chunks(chunks, current.chunks.next_number());
        run.begin_members(columns, rows, sets);
    }
}

impl<'w, Q: Terms> ChunkRun<'w, Q> {
    /// The next members of the chunks that were begun. False if the query sees none of them.
    #[inline(always)]
    fn next_members<F: Filter, const ACROSS: bool>(
        &mut self,
        current: &ArchetypeCursor<'w>,
        filter: &OpenFilter<'w, F>,
        walk: &mut MemberWalk,
        listed: &mut ListedRows<Q::Rows<'w>>,
    ) -> bool {
        let seen = |chunk| current.seen_in(filter, chunk);
        let stamp = |rows| current.stamp_rows::<Q>(rows);
        let list = listed.list.insert(FewRows::NONE);
        walk.list_rows::<ACROSS>(list, seen, stamp);
        if list.len() == 0 {
            listed.list = None;
            return false;
        }
        let (first, last) = list.begin();
        let Some(slices) = self.cut_members(first..last + 1) else { return false };
        listed.begin(Q::rows(slices, (last + 1 - first) as usize), Some(walk.known()));
        true
    }
}

impl<'w, Q: Terms, F: Filter> QueryIter<'w, Q, F> {
    /// The members of the smallest set of a query that requires a sparse component, if they are
    /// few beside the rows that a pass would look at.
    #[inline]
    pub(super) fn begin_with_set(&mut self, directory: &Directory) -> Option<MemberWalk> {
        let set = self.small_set(MEMBERS_MAX)?;
        Some(MemberWalk::new(set, &directory.view()))
    }

    /// [`QueryIter::begin_with_set`] of a pass over all rows, which takes larger sets as well if
    /// they need no sorting and their members lie apart.
    #[inline]
    pub(super) fn begin_with_spread_set(&mut self, directory: &Directory) -> Option<MemberWalk> {
        let set = self.small_set(SPREAD_MEMBERS_MAX)?;
        MemberWalk::of_spread(set, &directory.view())
    }

    /// The smallest set that the query requires, if it has at most this many members a chunk.
    #[inline]
    fn small_set(&mut self, members_max: usize) -> Option<SetMembers<'w>> {
        if !may_begin_with_set::<Q, F>() {
            return None;
        }
        let (cursor, _, _, sets) = self.walk_parts();
        let set = Q::fewest(&sets)?;
        let chunks = set.entities.len().div_ceil(members_max);
        // In a single chunk the bits cost less than a list of members.
        cursor.pass.has_member_chunks(set.number, chunks.max(2)).then_some(set)
    }

    /// [`QueryIter::next_part`] of a pass that began with a set. The rows of several chunks come
    /// together if all of them will be taken (`ACROSS`): these chunks are stamped at once.
    #[inline(never)]
    pub(super) fn next_members<const ACROSS: bool>(
        &mut self,
        walk: &mut MemberWalk,
        listed: &mut ListedRows<Q::Rows<'w>>,
    ) -> bool {
        let (cursor, run, filter, sets) = self.walk_parts();
        while walk.place().is_some() {
            if !walk.is_in_chunks() {
                cursor.next_of_walk::<Q, F>(run, filter, sets, walk);
            } else if let Some(current) = &cursor.current
                && run.next_members::<F, ACROSS>(current, &filter, walk, listed)
            {
                return true;
            }
        }
        false
    }
}

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
//! Nanoseconds a member (Zen 4, rows of 12 bytes, of which a chunk has 1,360):
//!
//! ```text
//!  members        rows    order of the set    by bits     with the set
//!   10,000   1,000,000    by rows             19 to 22      15
//!   10,000   1,000,000    random              19 to 22      20
//!    2,500   1,000,000    by rows             49 to 53      31
//!    2,500   1,000,000    random              49 to 53      36
//!    1,000   1,000,000    by rows             76 to 87      52
//!    1,000   1,000,000    random              76 to 87      57
//!       10   1,000,000    by rows             1,085         77
//!       10   1,000,000    random              1,085         78
//!    1,000     100,000    by rows             11.1           9.5
//!    1,000     100,000    random              11.1          14.4
//!    1,000     100,000    neighbours           2.6           5.9
//!      250     100,000    neighbours           6.0           6.2
//! ```
//!
//! Members that are neighbours decide the limit: a chunk without members costs 14 ns by bits, and a
//! member that is found in the directory and sorted costs 4 more.

use crate::entity::Directory;
use crate::storage::{SliceRows, Visibility};
use crate::store::Plan;

use super::chunk_run::ChunkRun;
use super::cursor::ChunkCursor;
use super::filter::Filter;
use super::listed_rows::ListedRows;
use super::member_walk::MemberWalk;
use super::open_filter::OpenFilter;
use super::query_iter::QueryIter;
use super::tagged::next_entry;
use super::terms::{OpenOf, Terms};

/// The set is used if it has at most this many members for each chunk.
const MEMBERS_MAX: usize = 4;

/// Whether a pass of such a query may begin with a set: no filter compares versions, which chunks
/// have.
pub(super) const fn may_begin_with_set<Q: Terms, F: Filter>() -> bool {
    Q::BY_MEMBERS && !F::BY_CHUNK && F::BY_LINES == 0
}

impl<'w> ChunkCursor<'w> {
    /// Takes the chunk of the next member, if the query sees any rows of it.
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
        let now = self.now();
        let current = self.current.as_mut().expect("an archetype was entered");
        let shift = current.chunks.shift();
        walk.begin_chunk(shift);
        current.chunks.skip_to(row.0.wrapping_shr(shift));
        if current.seen(&filter).visibility() == Visibility::None {
            walk.skip_chunk();
        } else if let Some(next) =
            current.next_run::<Q, F, false>(&filter, (SliceRows::Live, sets), now)
        {
            *run = next;
        }
    }
}

impl<'w, Q: Terms, F: Filter> QueryIter<'w, Q, F> {
    /// The members of the smallest set of a query that requires a sparse component, if they are
    /// few beside the rows that a pass would look at.
    #[inline]
    pub(super) fn begin_with_set(&mut self, directory: &Directory) -> Option<MemberWalk> {
        if !may_begin_with_set::<Q, F>() {
            return None;
        }
        let (cursor, _, _, sets) = self.walk_parts();
        let set = Q::fewest(&sets)?;
        let chunks = set.entities.len().div_ceil(MEMBERS_MAX);
        // In a single chunk the bits cost less than a list of members.
        let are_few = cursor.pass.has_member_chunks(set.number, chunks.max(2));
        are_few.then(|| MemberWalk::new(set, &directory.view()))
    }

    /// [`QueryIter::next_part`] of a pass that began with a set.
    #[inline(never)]
    pub(super) fn next_members(
        &mut self,
        walk: &mut MemberWalk,
        listed: &mut ListedRows<Q::Rows<'w>>,
    ) -> bool {
        let (cursor, run, filter, sets) = self.walk_parts();
        while walk.place().is_some() {
            if !walk.is_in_chunk() {
                cursor.next_of_walk::<Q, F>(run, filter, sets, walk);
            } else if run.next_members(walk, listed, cursor.now()) {
                return true;
            }
        }
        false
    }
}

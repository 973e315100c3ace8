//! The begin of a query's pass, by the borrow of its store.

use crate::entity::Directory;
use crate::storage::SliceRows;
use crate::store::{Pass, TermSets as _, WatchedSets as _};

use super::filter::Filter;
use super::open_filter::OpenFilter;
use super::query_type::query_type;
use super::store_borrow::{Mode as _, StoreBorrow, WriteBorrow, WriteSource};
use super::terms::{BorrowOf, HeldOf, OpenOf, Terms};

/// A pass over all archetypes of a query, the sets of its sparse terms, its filter, and the
/// directory of its entities.
///
/// # Panics
///
/// If the query asks for more than its access allows.
///
/// Always inlined: as a call it writes the pass to memory word by word, and its caller at once
/// reads it in wider parts, which wait for the writes.
#[inline(always)]
pub(super) fn begin_pass<'w, Q: Terms, F: Filter>(
    borrow: BorrowOf<'w, Q>,
    held: HeldOf<'w, Q>,
    filter: OpenFilter<'w, F>,
    slice_rows: SliceRows,
) -> (Pass<'w>, OpenOf<'w, Q>, OpenFilter<'w, F>, &'w Directory) {
    let query = query_type::<Q, F>();
    let (mut store_sets, mut shared) = (None, None);
    let (pass, directory) = match Q::Mode::begin(borrow) {
        StoreBorrow::Read(borrow) => {
            shared = Some(borrow);
            let pass = Pass::shared(borrow.store(), borrow.access(), query, slice_rows);
            (pass, borrow.store().entities())
        }
        StoreBorrow::Write(WriteBorrow(WriteSource::Exclusive(store))) => {
            let (pass, sets, entities) = Pass::exclusive(store, query, slice_rows);
            if Q::Sets::ANY || F::Sets::ANY {
                store_sets = Some(sets.each());
            }
            (pass, entities)
        }
        StoreBorrow::Write(WriteBorrow(WriteSource::Granted(access))) => {
            let directory = access.store().entities();
            (Pass::granted(access, query, slice_rows), directory)
        }
    };
    if !Q::Sets::ANY && !F::Sets::ANY {
        let open = Q::Mode::open::<Q::Sets>(held, pass.now());
        return (pass, open, filter, directory);
    }
    let held = Q::Mode::resolve::<Q::Sets>(held, store_sets.as_mut());
    let filter = filter.with_store::<Q>(&held, store_sets.as_mut());
    let open = Q::Mode::open::<Q::Sets>(held, pass.now());
    let filter = filter.with_open::<Q>(&open);
    (pass, open, filter.with_shared(shared), directory)
}

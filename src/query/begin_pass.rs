//! The begin of a query's pass, by the borrow of its store.

use crate::storage::SliceRows;
use crate::store::Pass;

use super::filter::Filter;
use super::query_type::query_type;
use super::store_borrow::{Mode as _, StoreBorrow, WriteBorrow, WriteSource};
use super::terms::{BorrowOf, HeldOf, OpenOf, Terms};

/// A pass over all archetypes of a query, and the sets of its sparse terms.
///
/// # Panics
///
/// If the query asks for more than its access allows.
#[inline]
pub(super) fn begin_pass<'w, Q: Terms, F: Filter>(
    borrow: BorrowOf<'w, Q>,
    held: HeldOf<'w, Q>,
    slice_rows: SliceRows,
) -> (Pass<'w>, OpenOf<'w, Q>) {
    let query = query_type::<Q, F>();
    let mut store_sets = None;
    let pass = match Q::Mode::begin(borrow) {
        StoreBorrow::Read(borrow) => {
            Pass::shared(borrow.store(), borrow.access(), query, slice_rows)
        }
        StoreBorrow::Write(WriteBorrow(WriteSource::Exclusive(store))) => {
            let (pass, sets) = Pass::exclusive(store, query, slice_rows);
            store_sets = Some(sets);
            pass
        }
        StoreBorrow::Write(WriteBorrow(WriteSource::Granted(access))) => {
            Pass::granted(access, query, slice_rows)
        }
    };
    let held = Q::Mode::resolve::<Q::Sets>(held, store_sets);
    (pass, Q::Mode::open::<Q::Sets>(held))
}

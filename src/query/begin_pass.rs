//! The begin of a query's pass, by the borrow of its store.

use crate::store::Pass;

use super::filter::Filter;
use super::query_type::query_type;
use super::store_borrow::{Mode as _, StoreBorrow, WriteBorrow, WriteSource};
use super::terms::{BorrowOf, Terms};

/// A pass over all archetypes of a query.
///
/// # Panics
///
/// If the query asks for more than its access allows.
#[inline]
pub(super) fn begin_pass<'w, Q: Terms, F: Filter>(
    borrow: BorrowOf<'w, Q>,
    padded: bool,
) -> Pass<'w> {
    let query = query_type::<Q, F>();
    match Q::Mode::begin(borrow) {
        StoreBorrow::Read(borrow) => Pass::shared(borrow.store(), borrow.access(), query, padded),
        StoreBorrow::Write(WriteBorrow(WriteSource::Exclusive(store))) => {
            Pass::exclusive(store, query, padded)
        }
        StoreBorrow::Write(WriteBorrow(WriteSource::Granted(access))) => {
            Pass::granted(access, query, padded)
        }
    }
}

//! The begin of a query's pass, by the borrow of its store.

use crate::store::Pass;
use crate::version::Version;

use super::filter::Filter;
use super::query_type::query_type;
use super::store_borrow::{Mode as _, StoreBorrow, WriteBorrow, WriteSource};
use super::terms::{BorrowOf, Terms};

/// A pass over all archetypes of a query, and the version with which it stamps written columns.
///
/// # Panics
///
/// If the query asks for more than its access allows.
#[inline]
pub(super) fn begin_pass<'w, Q: Terms, F: Filter>(
    borrow: BorrowOf<'w, Q>,
    padded: bool,
) -> (Pass<'w>, Version) {
    let query = query_type::<Q, F>();
    let (mut pass, now) = match Q::Mode::begin(borrow) {
        StoreBorrow::Read(borrow) => {
            let (plan, store) = (borrow.plan(&query), borrow.store());
            (Pass::shared(plan, store.archetypes()), store.clock())
        }
        StoreBorrow::Write(WriteBorrow(WriteSource::Exclusive(store))) => {
            Pass::exclusive(store, &query)
        }
        StoreBorrow::Write(WriteBorrow(WriteSource::Granted(access))) => {
            Pass::granted(access, &query)
        }
    };
    pass.set_padded(padded);
    (pass, now)
}

//! The bound of passes on several threads, with an error for the values that one thread writes.

/// The slices of a query that several threads may take.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "one thread writes the values of a sparse component",
    label = "a parallel pass takes no `&mut` term of a sparse component",
    note = "`blocks_mut().par_for_each(…)` of `SparseMut` writes all values on several threads",
    note = "or leave `par()` out; or let the parallel pass read, as the term `&C`, and write afterwards, by `rows_mut()`"
)]
pub trait ParSlices: Send {}

#[diagnostic::do_not_recommend]
impl<T: Send> ParSlices for T {}

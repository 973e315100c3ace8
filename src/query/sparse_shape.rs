//! The way in which terms take sparse components: from the set, for the entities of a chunk.
//!
//! A term of a sparse component takes no column. It chooses rows by the bits of members, as the
//! filter `With` does, and finds the value of each row by its entity.

use crate::component::{InSet, SparseComponent, assert_writable};
use crate::storage::Columns;
use crate::store::{EachOfSet, ReadSet, Reading, SetValues, Writing};
use crate::version::Version;

use super::access::{Access, AccessFlags};
use super::chunk_rows::ChunkRows;
use super::run_stamps::RunStamps;
use super::sparse_slice::{SparseRows, SparseSlice};
use super::term_shape::TermShape;

/// The values for the rows of a chunk. `None` if the archetype has no bits for the component: no
/// row has it.
#[inline(always)]
fn slice<V: SetValues>(rows: ChunkRows<'_>, values: Option<V>) -> Option<SparseSlice<'_, V>> {
    let values = values?;
    let members = rows.members(values.number())?;
    Some(SparseSlice::new(rows.entities(), rows.first(), members, values))
}

/// The access of a term that writes. A relation is not written: the program does not compile.
const fn written<S: SparseComponent>(flags: AccessFlags) -> Access {
    assert_writable::<S>();
    Access::sparse::<S>(flags)
}

impl<S: SparseComponent> TermShape for InSet<S> {
    type Slice<'w> = SparseSlice<'w, ReadSet<'w, S>>;
    type SliceMut<'w> = SparseSlice<'w, EachOfSet<'w, S>>;
    type Row<'w> = &'w S;
    type RowMut<'w> = &'w mut S;
    type Rows<'w> = SparseRows<'w, ReadSet<'w, S>>;
    type RowsMut<'w> = SparseRows<'w, EachOfSet<'w, S>>;
    type Stamps<'w> = ();
    type Sets = Reading<S>;
    type SetsMut = Writing<S>;
    const READ: &'static [Access] = &[Access::sparse::<S>(AccessFlags::READ)];
    const WRITE: &'static [Access] = &[written::<S>(AccessFlags::WRITE)];
    const READ_OPTIONAL: &'static [Access] = &[Access::sparse::<S>(AccessFlags::OPTIONAL)];
    const WRITE_OPTIONAL: &'static [Access] =
        &[written::<S>(AccessFlags::WRITE.and(AccessFlags::OPTIONAL))];

    #[inline(always)]
    fn cut<'w>(
        _: &mut impl Columns<'w>,
        rows: ChunkRows<'w>,
        set: Option<ReadSet<'w, S>>,
    ) -> Option<Self::Slice<'w>> {
        slice(rows, set)
    }

    #[inline(always)]
    fn cut_mut<'w>(
        _: &mut impl Columns<'w>,
        rows: ChunkRows<'w>,
        set: Option<EachOfSet<'w, S>>,
    ) -> Option<Self::SliceMut<'w>> {
        slice(rows, set)
    }

    #[inline]
    fn rows(slice: Self::Slice<'_>) -> Self::Rows<'_> {
        SparseRows::new(slice)
    }

    #[inline]
    fn rows_mut(slice: Self::SliceMut<'_>) -> Self::RowsMut<'_> {
        SparseRows::new(slice)
    }

    #[inline(always)]
    fn empty<'w>() -> Self::Slice<'w> {
        SparseSlice::empty()
    }

    #[inline(always)]
    fn empty_mut<'w>() -> Self::SliceMut<'w> {
        SparseSlice::empty()
    }

    #[inline(always)]
    fn split_off<'w>(slice: &mut Self::Slice<'w>, rows: usize) -> Self::Slice<'w> {
        slice.split_off(rows)
    }

    #[inline(always)]
    fn split_off_mut<'w>(slice: &mut Self::SliceMut<'w>, rows: usize) -> Self::SliceMut<'w> {
        slice.split_off(rows)
    }

    #[inline(always)]
    fn skip_stamps(_: &mut RunStamps<'_, '_>) {}

    #[inline(always)]
    fn stamps<'w>(_: &mut RunStamps<'w, '_>) {}

    #[inline(always)]
    fn touch_next((): &mut (), _: Version) {}
}

//! Terms and filters of values that a chunk has once.

use core::fmt;
use core::iter::{Empty, RepeatN, empty, repeat_n};
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

use crate::archetype::ChunkMeta;
use crate::component::{ChunkValue, PerChunk};
use crate::entity::Entity;
use crate::storage::{AccessKind, ColumnRef, Columns, NewerRows, StampRun, ValueCell};
use crate::store::RequirementsBuilder;
use crate::version::Version;

use super::access::{Access, AccessFlags};
use super::changed::Watch;
use super::chunk_rows::ChunkRows;
use super::filter::{Filter, StampAt, sealed as filter_sealed};
use super::query_iter::Invariant;
use super::run_stamps::RunStamps;
use super::store_borrow::{Reads, Writes};
use super::term::{Term, sealed as term_sealed};

impl<V: ChunkValue> term_sealed::Sealed for PerChunk<V> {}
impl<V: ChunkValue> Term for PerChunk<V> {
    type Slice<'w> = V;
    type Row<'w> = V;
    type Rows<'w> = RepeatN<V>;
    type ByRow = Self;
    type Key = Self;
    type Mode = Reads;
    type Sets = ();
    const ACCESSES: &'static [Access] = &[Access::new::<Self>(AccessFlags::BESIDE)];

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        builder.beside::<Self>(AccessKind::Read);
    }

    #[inline]
    fn cut<'w>(columns: &mut impl Columns<'w>, rows: ChunkRows<'w>, (): ()) -> V {
        rows.value(columns.beside()).read()
    }

    #[inline]
    fn rows<'w>(value: Self::Slice<'w>, len: usize) -> Self::Rows<'w> {
        repeat_n(value, len)
    }

    #[inline(always)]
    fn empty<'w>() -> Self::Slice<'w> {
        V::zeroed()
    }

    #[inline(always)]
    fn split_off<'w>(value: &mut Self::Slice<'w>, _: usize) -> Self::Slice<'w> {
        *value
    }

    type Stamps<'w> = ();

    #[inline]
    fn stamps<'w>(run: &mut RunStamps<'w, '_>) {
        run.skip_column();
    }

    #[inline(always)]
    fn touch_next((): &mut (), _: Version) {}
}

/// A term: the value of type `V` that each chunk has, to be written. See [`PerChunk`].
///
/// It yields a [`ChunkValueMut`], which dereferences to the value. A pass stamps the column of
/// `PerChunk<V>` in each chunk, as for `&mut C`. All rows of a chunk have the same value, so the
/// query neither visits [`rows`](crate::Query::rows) nor chooses them by enable bits: both do not
/// compile (`cargo build` says so; `cargo check` does not). For components with enable bits use
/// [`masked`](crate::Query::masked) or the filter [`IgnoreEnabled`](crate::IgnoreEnabled). On
/// several threads chunks are not divided.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Height(f32);
/// # #[component] struct Highest(f32);
/// # let mut world = World::new();
/// world.spawn_batch((0..10_000).map(|i| (Height(i as f32), PerChunk::<Highest>::TAG)));
/// let chunks = world.query_mut::<(&Height, PerChunkMut<Highest>)>().par();
/// chunks.for_each_chunk(|(heights, mut highest)| {
///     highest.0 = heights.iter().map(|height| height.0).fold(0.0, f32::max);
/// });
/// let highest = world.query::<PerChunk<Highest>>();
/// assert_eq!(highest.iter().map(|highest| highest.0).fold(0.0, f32::max), 9_999.0);
/// ```
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// # #[component] struct Highest(f32);
/// # let mut world = World::new();
/// world.query_mut::<PerChunkMut<Highest>>().rows().count(); // a row has no value of its own
/// ```
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// # #[component] struct Highest(f32);
/// # #[component(enableable)] struct Awake;
/// # let mut world = World::new();
/// for highest in world.query_mut::<PerChunkMut<Highest>>().with::<Awake>() {} // runs of rows
/// ```
pub struct PerChunkMut<V>(PhantomData<fn(V) -> V>);

impl<V> fmt::Debug for PerChunkMut<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(core::any::type_name::<Self>())
    }
}

/// The value of a chunk, to be written: the item of [`PerChunkMut`]. The chunk has the new value
/// when this is dropped.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] #[derive(Debug, PartialEq)] struct Level(u32);
/// # let mut world = World::new();
/// world.spawn(PerChunk::<Level>::TAG);
/// for mut level in world.query_mut::<PerChunkMut<Level>>() {
///     assert_eq!(*level, Level(0), "the default");
///     *level = Level(2);
/// }
/// assert_eq!(world.query::<PerChunk<Level>>().iter().next(), Some(Level(2)));
/// ```
#[derive(Debug)]
pub struct ChunkValueMut<'w, V: ChunkValue> {
    cell: ValueCell<'w>,
    value: V,
    /// Invariant in `V`: it writes the value back, and a subtype of `V` is another type of value.
    types: Invariant<V>,
}

impl<'w, V: ChunkValue> ChunkValueMut<'w, V> {
    #[inline(always)]
    const fn new(cell: ValueCell<'w>, value: V) -> Self {
        Self { cell, value, types: PhantomData }
    }
}

impl<V: ChunkValue> Deref for ChunkValueMut<'_, V> {
    type Target = V;

    #[inline]
    fn deref(&self) -> &V {
        &self.value
    }
}

impl<V: ChunkValue> DerefMut for ChunkValueMut<'_, V> {
    #[inline]
    fn deref_mut(&mut self) -> &mut V {
        &mut self.value
    }
}

impl<V: ChunkValue> Drop for ChunkValueMut<'_, V> {
    #[inline]
    fn drop(&mut self) {
        self.cell.write(&self.value);
    }
}

impl<V: ChunkValue> term_sealed::Sealed for PerChunkMut<V> {}
impl<V: ChunkValue> Term for PerChunkMut<V> {
    type Slice<'w> = ChunkValueMut<'w, V>;
    type Row<'w> = ChunkValueMut<'w, V>;
    type Rows<'w> = Empty<ChunkValueMut<'w, V>>;
    type ByRow = Self;
    type Key = PerChunkMut<V>;
    type Mode = Writes;
    type Sets = ();
    const ACCESSES: &'static [Access] = &[Access::new::<PerChunk<V>>(
        AccessFlags::WRITE.and(AccessFlags::BESIDE).and(AccessFlags::WRITES_CHUNKS),
    )];

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        builder.beside::<PerChunk<V>>(AccessKind::Write);
    }

    #[inline]
    fn cut<'w>(columns: &mut impl Columns<'w>, rows: ChunkRows<'w>, (): ()) -> Self::Slice<'w> {
        let cell = rows.value(columns.beside());
        ChunkValueMut::new(cell, cell.read())
    }

    fn rows<'w>(_: Self::Slice<'w>, _: usize) -> Self::Rows<'w> {
        const {
            panic!(
                "a row has no value of its own to write: visit chunks, or name `PerChunk<V>`, which \
                 reads"
            )
        };
        empty()
    }

    #[inline(always)]
    fn empty<'w>() -> Self::Slice<'w> {
        ChunkValueMut::new(ValueCell::NONE, V::zeroed())
    }

    #[inline(always)]
    fn split_off<'w>(slice: &mut Self::Slice<'w>, _: usize) -> Self::Slice<'w> {
        core::mem::replace(slice, Self::empty())
    }

    type Stamps<'w> = StampRun<'w>;

    #[inline]
    fn stamps<'w>(run: &mut RunStamps<'w, '_>) -> Self::Stamps<'w> {
        run.next_column::<PerChunk<V>>()
    }

    #[inline(always)]
    fn touch_next(stamps: &mut Self::Stamps<'_>, now: Version) {
        stamps.touch_next(now);
    }
}

impl<V: ChunkValue> filter_sealed::Watching<PerChunk<V>> for PerChunk<V> {}
impl<V: ChunkValue> Watch<PerChunk<V>> for PerChunk<V> {}
impl<V: ChunkValue> filter_sealed::Watching<PerChunk<V>> for PerChunkMut<V> {}
impl<V: ChunkValue> Watch<PerChunk<V>> for PerChunkMut<V> {}

/// Filter: only chunks with a value of type `V` that passes a test. Made by
/// [`Query::where_chunk`](crate::Query::where_chunk).
pub struct WhereChunk<V, P> {
    test: P,
    value: PhantomData<fn(V) -> V>,
}

impl<V, P> WhereChunk<V, P> {
    pub(crate) const fn new(test: P) -> Self {
        Self { test, value: PhantomData }
    }
}

impl<V, P: Clone> Clone for WhereChunk<V, P> {
    fn clone(&self) -> Self {
        Self::new(self.test.clone())
    }
}

impl<V, P: Copy> Copy for WhereChunk<V, P> {}

impl<V, P> fmt::Debug for WhereChunk<V, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(core::any::type_name::<Self>())
    }
}

/// The panic of a method that counts rows and visits them, if the visited rows differ. Only
/// [`WhereChunk`] can cause it: it is the only filter that runs code of the caller.
#[cold]
pub(super) fn refuse_other_answers(method: &str) -> ! {
    panic!(
        "a test given to `where_chunk` has answered differently when `{method}` asked it for the \
         second time: it must return the same for the same value, so it must not count its calls, \
         read a clock or draw random numbers"
    )
}

impl<V: ChunkValue, P: Fn(&V) -> bool + Copy + 'static> filter_sealed::Sealed for WhereChunk<V, P> {}
impl<V: ChunkValue, P: Fn(&V) -> bool + Copy + 'static> Filter for WhereChunk<V, P> {
    const BY_CHUNK: bool = true;
    type Sets = ();

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        builder.watch::<PerChunk<V>>();
    }

    fn newer_than(_: Version) -> Self {
        const {
            panic!(
                "the test of `WhereChunk` is not in its type: call `where_chunk(test)`, in a system on \
                 its query, which names `PerChunk<V>` in a term"
            )
        }
    }

    #[inline]
    fn passes(&self, beside: ChunkMeta<'_>, watched: &mut &[ColumnRef], at: StampAt) -> bool {
        let own = watched.split_off_first().expect("a filter has no watched column left");
        let StampAt::Chunk(chunk) = at else { return true };
        let column = own.column().expect("a matched archetype lacks a watched column");
        (self.test)(&beside.value(column, u32::try_from(chunk).expect("chunks are u32")).read())
    }

    #[inline]
    fn newer_rows<'w>(
        &self,
        _: ChunkMeta<'w>,
        watched: &mut &[ColumnRef],
        _: (u32, &'w [Entity]),
        (): (),
    ) -> NewerRows<'w> {
        watched.split_off_first().expect("a filter has no watched column left");
        NewerRows::ALL
    }
}

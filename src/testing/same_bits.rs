//! Runs a kernel in all the ways that the library may run it.

use core::fmt;
use std::error::Error;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::query::Terms;
use crate::simd::Level;
use crate::storage::ChunkSize;
use crate::world::World;

use super::difference::{Difference, compare};

/// The chunk sizes that are tried: one under Miri, which has little time.
const CHUNK_SIZES: &[ChunkSize] = if cfg!(miri) { &[ChunkSize::KIB_4] } else { &ChunkSize::ALL };

/// Rows of a part: the smallest part into which
/// [`ParChunks::for_each_chunk`](crate::chunks::ParChunks::for_each_chunk) divides chunks, for a
/// written component of one byte.
const PART_ROWS: usize = 64;

/// Levels are pinned for the whole process, so tests take turns.
static TURN: Mutex<()> = Mutex::new(());

/// The reason why a kernel did not pass [`same_bits`].
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotSame {
    /// The query finds too few rows: they fit in one chunk of 4 KiB, so no chunk size differs from
    /// any other.
    TooFewRows {
        /// The rows that the query finds.
        rows: usize,
        /// The chunks of 4 KiB that they are in.
        chunks: usize,
    },
    /// The kernel changed no byte, so no comparison is possible.
    NothingChanged,
    /// The set-up does not spawn the same rows each time.
    SetUp(Box<Difference>),
    /// The kernel does not compute the same rows in each way.
    Kernel {
        /// The way with rows that differ from the rows of the baseline in one chunk after the
        /// other.
        way: String,
        /// The first difference; the expected world is the result of the baseline.
        difference: Box<Difference>,
    },
}

impl fmt::Display for NotSame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewRows { rows, chunks } => write!(
                f,
                "the query finds {rows} rows in {chunks} chunks of 4 KiB: spawn enough for two, so \
                 that it matters where chunks end"
            ),
            Self::NothingChanged => {
                f.write_str("the kernel changed nothing: give it rows that it changes")
            }
            Self::SetUp(difference) => {
                write!(f, "the set-up spawns other rows each time, seed it: {difference}")
            }
            Self::Kernel { way, difference } => write!(
                f,
                "the kernel computes something else {way} than at the baseline, chunk by chunk: \
                 {difference}"
            ),
        }
    }
}

impl Error for NotSame {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::SetUp(difference) | Self::Kernel { difference, .. } => Some(&**difference),
            Self::TooFewRows { .. } | Self::NothingChanged => None,
        }
    }
}

/// [`same_bits`], which panics: one line in a test.
///
/// ```should_panic
/// # use phalanx::prelude::*;
/// # use phalanx::testing::assert_same_bits;
/// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
/// # impl_component!(Health);
/// let spawn = |world: &mut World| {
///     world.spawn_batch((0..5000).map(|i| Health(i as f32)));
/// };
/// // The mean of a slice is not that of the column.
/// assert_same_bits::<&mut Health>(spawn, |health| {
///     let mean = health.iter().map(|h| h.0).sum::<f32>() / health.len() as f32;
///     health.iter_mut().for_each(|h| h.0 -= mean);
/// });
/// ```
///
/// # Panics
///
/// With the text of a [`NotSame`].
#[track_caller]
pub fn assert_same_bits<Q: Terms>(
    set_up: impl Fn(&mut World),
    kernel: impl Fn(Q::Slices<'_>) + Sync,
) where
    for<'w> Q::Slices<'w>: Send,
{
    if let Err(error) = same_bits::<Q>(set_up, kernel) {
        panic!("{error}");
    }
}

/// Runs a kernel over the same rows in every way that the library may run it, and compares the
/// bytes of all components of the resulting worlds.
///
/// `set_up` fills an empty world, the same way each time. `kernel` gets the slices of each chunk
/// that `Q` matches. The expected world is the result of [`Level::Baseline`] with chunks of 16 KiB,
/// one after the other. Compared with it are
///
/// * each [level](Level::available) of this machine, with each chunk size from 4 to 256 KiB,
/// * parts of 64 rows, as [`for_each_chunk`](crate::chunks::ParChunks::for_each_chunk) may divide
///   chunks into,
/// * chunks on several threads.
///
/// The level of the process is [pinned](Level::pin) during the call, and restored at the end:
/// kernels in other threads run at another level for a while. Calls wait for each other. Takes
/// about seventy worlds and passes, one after the other; fewer, and no threads, under Miri.
///
/// A NaN that a kernel computes may have any sign and payload in Rust: let the kernel write one
/// fixed NaN, or spawn rows that cause none.
///
/// # Errors
///
/// [`NotSame`]: the first row that differs, or the reason why no comparison was possible.
///
/// ```
/// # use phalanx::prelude::*;
/// # use phalanx::testing::{NotSame, same_bits};
/// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
/// # impl_component!(Health);
/// let spawn = |world: &mut World| {
///     world.spawn_batch((0..5000).map(|i| Health(i as f32)));
/// };
/// let halved = same_bits::<&mut Health>(spawn, |health| {
///     health.iter_mut().for_each(|h| h.0 *= 0.5);
/// });
/// assert_eq!(halved, Ok(()));
/// // A sum that begins anew at each chunk.
/// let summed = same_bits::<&mut Health>(spawn, |health| {
///     let mut sum = 0.0;
///     for h in health {
///         sum += h.0;
///         h.0 = sum;
///     }
/// });
/// let Err(NotSame::Kernel { way, .. }) = summed else { panic!("it differs") };
/// assert_eq!(way, "at baseline, in chunks of 4 KiB");
/// ```
pub fn same_bits<Q: Terms>(
    set_up: impl Fn(&mut World),
    kernel: impl Fn(Q::Slices<'_>) + Sync,
) -> Result<(), NotSame>
where
    for<'w> Q::Slices<'w>: Send,
{
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let restore = PinnedLevel::new();
    let filled = |chunk_size: ChunkSize| {
        let mut world = World::builder().chunk_size(chunk_size).build();
        set_up(&mut world);
        world
    };
    let ran = |chunk_size: ChunkSize, way: Way| {
        let mut world = filled(chunk_size);
        way.run::<Q>(&mut world, &kernel);
        world
    };
    check_set_up::<Q>(&filled)?;
    restore.pin(Level::Baseline);
    let expected = ran(ChunkSize::KIB_16, Way::Chunks);
    if compare(&filled(ChunkSize::KIB_16), &expected).is_ok() {
        return Err(NotSame::NothingChanged);
    }
    for level in Level::available() {
        restore.pin(level);
        for &chunk_size in CHUNK_SIZES {
            for &way in Way::TRIED {
                let found = ran(chunk_size, way);
                compare(&expected, &found).map_err(|difference| {
                    let kib = chunk_size.bytes() >> 10;
                    let way =
                        format!("at {level}, in {} of {kib} KiB{}", way.pieces(), way.manner());
                    NotSame::Kernel { way, difference: Box::new(difference) }
                })?;
            }
        }
    }
    Ok(())
}

/// Whether the query finds enough rows, and the same rows each time.
fn check_set_up<Q: Terms>(filled: impl Fn(ChunkSize) -> World) -> Result<(), NotSame> {
    let mut small = filled(ChunkSize::KIB_4);
    compare(&filled(ChunkSize::KIB_16), &small)
        .map_err(|difference| NotSame::SetUp(Box::new(difference)))?;
    let walk = small.query_mut::<Q>().explain();
    let (rows, chunks) = (walk.rows(), walk.chunks());
    if chunks < 2 { Err(NotSame::TooFewRows { rows, chunks }) } else { Ok(()) }
}

/// A way of passing chunks to a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// One chunk after the other.
    Chunks,
    /// One part of a chunk after the other.
    Parts,
    /// Chunks on several threads.
    Parallel,
}

impl Way {
    /// Under Miri, threads are left out: the queues of rayon fail its stricter checks.
    const TRIED: &[Way] = if cfg!(miri) {
        &[Way::Chunks, Way::Parts]
    } else {
        &[Way::Chunks, Way::Parts, Way::Parallel]
    };

    const fn pieces(self) -> &'static str {
        match self {
            Self::Chunks | Self::Parallel => "chunks",
            Self::Parts => "parts of chunks",
        }
    }

    const fn manner(self) -> &'static str {
        if matches!(self, Self::Parallel) { ", in parallel" } else { "" }
    }

    fn run<Q: Terms>(self, world: &mut World, kernel: &(impl Fn(Q::Slices<'_>) + Sync))
    where
        for<'w> Q::Slices<'w>: Send,
    {
        let query = world.query_mut::<Q>();
        match self {
            Self::Chunks => query.into_iter().for_each(kernel),
            Self::Parts => {
                for chunk in query.chunks() {
                    let len = chunk.len();
                    let mut slices = chunk.slices();
                    for _ in 1..len.div_ceil(PART_ROWS) {
                        kernel(Q::split_off(&mut slices, PART_ROWS));
                    }
                    kernel(slices);
                }
            }
            Self::Parallel => query.par().chunks().for_each(kernel),
        }
    }
}

/// Restores the level when it is dropped, also when a kernel panics.
struct PinnedLevel(Level);

impl PinnedLevel {
    fn new() -> Self {
        Self(Level::current())
    }

    fn pin(&self, level: Level) {
        Level::pin(level).expect("an available level is supported");
    }
}

impl Drop for PinnedLevel {
    fn drop(&mut self) {
        self.pin(self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use bytemuck::{Pod, Zeroable};

    use super::*;
    use crate::impl_component;

    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    #[repr(C)]
    struct Value(u32);
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    #[repr(C)]
    struct Step(u32);
    impl_component!(Value, Step);

    const ROWS: u32 = 1_500;

    fn spawn(world: &mut World) {
        world.spawn_batch((0..ROWS).map(|i| (Value(i), Step(2 * i))));
        world.spawn_batch((0..10).map(Value));
    }

    #[test]
    fn a_kernel_that_treats_each_row_by_itself_passes() {
        let add = |(values, steps): (&mut [Value], &[Step])| {
            values.iter_mut().zip(steps).for_each(|(value, step)| value.0 += step.0);
        };
        assert_eq!(same_bits::<(&mut Value, &Step)>(spawn, add), Ok(()));
    }

    #[test]
    fn a_kernel_that_knows_its_level_is_found() {
        let level = |values: &mut [Value]| {
            let bytes = u32::try_from(Level::current().lane_bytes()).expect("a few");
            values.iter_mut().filter(|value| value.0 == 7).for_each(|value| value.0 = bytes);
        };
        let outcome = same_bits::<&mut Value>(spawn, level);
        if Level::best() == Level::Baseline {
            assert_eq!(outcome, Ok(()));
            return;
        }
        let Err(NotSame::Kernel { way, difference }) = outcome else { panic!("two levels differ") };
        assert_eq!(way, "at avx2, in chunks of 4 KiB");
        let Difference::Value { row, rows, expected, found, .. } = *difference else {
            panic!("a value differs")
        };
        assert_eq!((row, rows), (7, 1));
        assert_eq!((expected, found), (16_u32.to_ne_bytes().into(), 32_u32.to_ne_bytes().into()));
    }

    #[test]
    fn a_kernel_that_counts_rows_is_found() {
        let number = |values: &mut [Value]| {
            let numbers = (0..).zip(values);
            numbers.for_each(|(number, value)| value.0 = number + 1);
        };
        let error = same_bits::<&mut Value>(spawn, number).expect_err("slices begin at 0");
        let text = error.to_string();
        assert!(text.contains("at baseline, in chunks of 4 KiB"), "{text}");
        assert!(error.source().is_some(), "the difference");
        let panic =
            catch_unwind(AssertUnwindSafe(|| assert_same_bits::<&mut Value>(spawn, number)));
        assert!(panic.is_err(), "as an assertion");
    }

    #[test]
    fn a_kernel_that_needs_whole_chunks_is_found() {
        let add = |values: &mut [Value]| {
            let is_part = values.len() == PART_ROWS;
            values.iter_mut().for_each(|value| value.0 += 1 + u32::from(is_part));
        };
        let error = same_bits::<&mut Value>(spawn, add).expect_err("parts differ");
        assert!(error.to_string().contains("in parts of chunks of 4 KiB"), "{error}");
    }

    #[test]
    fn a_test_that_cannot_fail_is_refused() {
        let bump = |values: &mut [Value]| values.iter_mut().for_each(|value| value.0 += 1);
        let few = |world: &mut World| {
            world.spawn_batch((0..100).map(Value));
        };
        let few = same_bits::<&mut Value>(few, bump);
        assert_eq!(few, Err(NotSame::TooFewRows { rows: 100, chunks: 1 }));
        assert_eq!(same_bits::<&mut Value>(spawn, |_| ()), Err(NotSame::NothingChanged));
        let calls = Cell::new(0);
        let changing = |world: &mut World| {
            calls.set(calls.get() + 1);
            world.spawn_batch((0..ROWS).map(|i| Value(i + calls.get())));
        };
        let error = same_bits::<&mut Value>(changing, bump).expect_err("other rows");
        assert!(matches!(error, NotSame::SetUp(_)), "{error}");
    }

    #[test]
    fn the_level_is_restored_also_after_a_panic() {
        let level_between_turns = || {
            let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
            Level::current()
        };
        let before = level_between_turns();
        let panic = catch_unwind(|| {
            let _ = same_bits::<&mut Value>(spawn, |_| panic!("stop here"));
        });
        assert!(panic.is_err());
        assert_eq!(level_between_turns(), before);
    }
}

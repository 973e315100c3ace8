//! The bandwidth of a pass in relation to the bandwidth of a copy.

use core::fmt;
use core::hint::black_box;
use core::time::Duration;

use std::time::Instant;

use rayon::prelude::*;

use crate::line::LINE_BYTES;

use super::query_explanation::QueryExplanation;

/// Bytes per second of a plain copy, by size: the upper limit that a pass is compared with. A copy
/// within a cache is faster than one through memory, so a pass is compared with a copy of its own
/// size.
///
/// ```no_run
/// # use std::time::Instant;
/// # use phalanx::prelude::*;
/// # use phalanx::explain::CopyBandwidth;
/// # #[component] struct Health(f32);
/// # let mut world = World::new();
/// world.spawn_batch((0..1_000_000).map(|_| Health(1.0)));
/// let bandwidth = CopyBandwidth::probe();
/// let pass = world.query_mut::<&mut Health>().explain();
/// let start = Instant::now();
/// world.query_mut::<&mut Health>().iter_mut().for_each(|h| h.iter_mut().for_each(|h| h.0 += 1.0));
/// println!("regenerate: {}", pass.roofline(start.elapsed(), &bandwidth));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CopyBandwidth {
    /// Bytes touched by the copy, and its bytes per second, in ascending order of size.
    points: Vec<(u64, f64)>,
}

/// Samples of each size. The median is used.
const SAMPLES: usize = 9;
/// The least time of a sample: many times the cost of reading the clock.
const SAMPLE_MIN: Duration = Duration::from_micros(500);
/// The most bytes that a thread of a parallel copy takes at once.
const PIECE_BYTES_MAX: usize = 1 << 20;
/// The sizes that are measured: from well within a first-level cache to beyond any last level.
const SIZES: [usize; 8] =
    [16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20];

impl CopyBandwidth {
    /// Measures this machine on one thread. Takes about half a second and 256 MiB of memory, which
    /// is freed afterwards.
    #[must_use]
    pub fn probe() -> Self {
        Self::probe_by(|target, source| target.copy_from_slice(source))
    }

    /// Measures this machine on the threads of the current rayon pool: the limit of a pass that
    /// runs in parallel, as [`ParChunks::for_each_chunk`](crate::chunks::ParChunks::for_each_chunk)
    /// does. Takes as much time and memory as [`probe`](Self::probe).
    ///
    /// The time includes the start of threads, like the time of a pass: for few bytes a parallel
    /// copy is slower than a copy on one thread.
    ///
    /// ```
    /// # use phalanx::explain::CopyBandwidth;
    /// let [alone, together] = [CopyBandwidth::probe(), CopyBandwidth::probe_parallel()];
    /// let gb_per_second = |bandwidth: &CopyBandwidth| bandwidth.of(256 << 20) / 1e9;
    /// let [one, all] = [gb_per_second(&alone), gb_per_second(&together)];
    /// println!("{one:.1} GB/s on one thread, {all:.1} on all threads");
    /// # assert!(one > 0.0 && all > 0.0);
    /// ```
    #[must_use]
    pub fn probe_parallel() -> Self {
        Self::probe_by(copy_parallel)
    }

    /// Measures each size with a function that copies the second slice into the first.
    fn probe_by(copy: fn(&mut [u8], &[u8])) -> Self {
        let half = SIZES[SIZES.len() - 1] / 2;
        // Pages of zeros may all map to one page, which fits in a cache.
        let (source, mut target) = (vec![1_u8; half], vec![2_u8; half]);
        let point = |size: usize| {
            let half = size / 2;
            (size as u64, copy_rate(copy, &mut target[..half], &source[..half]))
        };
        Self { points: SIZES.map(point).to_vec() }
    }

    /// Creates a bandwidth from figures measured elsewhere: bytes touched, and bytes per second.
    ///
    /// # Panics
    ///
    /// If `points` is empty, or a rate is not greater than zero.
    ///
    /// ```
    /// # use phalanx::explain::CopyBandwidth;
    /// let machine = CopyBandwidth::new(vec![(32 << 10, 200e9), (1 << 30, 20e9)]);
    /// assert_eq!(machine.of(1 << 20), 20e9);
    /// ```
    #[must_use]
    pub fn new(mut points: Vec<(u64, f64)>) -> Self {
        assert!(!points.is_empty(), "a bandwidth needs at least one point");
        assert!(
            points.iter().all(|&(_, rate)| rate > 0.0),
            "the rate of a copy must be greater than zero"
        );
        points.sort_by_key(|&(size, _)| size);
        Self { points }
    }

    /// Bytes per second of a copy that touches `bytes` bytes: the rate of the smallest measured
    /// size that is not smaller, or of the largest one. O(sizes).
    #[must_use]
    pub fn of(&self, bytes: u64) -> f64 {
        let at = self.points.iter().find(|&&(size, _)| bytes <= size);
        at.or(self.points.last()).expect("the bandwidth has no point").1
    }
}

/// Copies on all threads of the pool: an equal share each, in pieces that fit in a thread's cache.
fn copy_parallel(target: &mut [u8], source: &[u8]) {
    let share = source.len().div_ceil(rayon::current_num_threads());
    let piece = share.clamp(LINE_BYTES, PIECE_BYTES_MAX);
    let pieces = target.par_chunks_mut(piece).zip(source.par_chunks(piece));
    pieces.for_each(|(target, source)| target.copy_from_slice(source));
}

/// Bytes per second, reads plus writes: the median of several samples.
fn copy_rate(copy: fn(&mut [u8], &[u8]), target: &mut [u8], source: &[u8]) -> f64 {
    let mut sample = |copies: u32| {
        let start = Instant::now();
        for _ in 0..copies {
            copy(black_box(&mut *target), black_box(source));
        }
        start.elapsed()
    };
    let mut copies = 1;
    while sample(copies) < SAMPLE_MIN {
        copies *= 2;
    }
    let bytes = f64::from(copies) * 2.0 * source.len() as f64;
    let mut rates = [0.0; SAMPLES];
    rates.fill_with(|| bytes / sample(copies).as_secs_f64());
    rates.sort_by(f64::total_cmp);
    rates[SAMPLES / 2]
}

/// A pass compared with a copy of the same size; see [`QueryExplanation::roofline`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roofline {
    /// Bytes that the pass moves: every line once, and every line borrowed as `&mut` once more.
    pub bytes_moved: u64,
    /// Bytes that the pass touches.
    pub bytes_touched: u64,
    /// Time of the pass.
    pub time: Duration,
    /// Bytes per second of a copy that touches the same number of bytes.
    pub copy: f64,
}

impl Roofline {
    /// Bytes per second of the pass.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.bytes_moved as f64 / self.time.as_secs_f64()
    }

    /// The ratio of the pass's bandwidth to the copy's. May exceed 1: a copy also fetches the lines
    /// that it overwrites, and those bytes are not counted.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.rate() / self.copy
    }
}

/// Writes one line: `24.0 MB in 1.50ms: 16.0 GB/s, 78 % of copy bandwidth`.
impl fmt::Display for Roofline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} in {:.2?}: {:.1} GB/s, {:.0} % of copy bandwidth",
            Bytes(self.bytes_moved),
            self.time,
            self.rate() / 1e9,
            100.0 * self.share(),
        )
    }
}

/// A number of bytes with a unit.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0..10_000 => write!(f, "{} bytes", self.0),
            10_000..1_000_000 => write!(f, "{:.1} kB", self.0 as f64 / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{:.1} MB", self.0 as f64 / 1e6),
            _ => write!(f, "{:.1} GB", self.0 as f64 / 1e9),
        }
    }
}

impl QueryExplanation {
    /// The least number of bytes that a pass moves: every line that it touches once, and every line
    /// that it borrows as `&mut` once more, for the write-back.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..160).map(|_| Health(1.0)));
    /// assert_eq!(world.query::<&Health>().explain().bytes_moved(), 640);
    /// assert_eq!(world.query_mut::<&mut Health>().explain().bytes_moved(), 1_280);
    /// ```
    #[must_use]
    pub fn bytes_moved(&self) -> u64 {
        (self.lines() + self.lines_written()) * LINE_BYTES as u64
    }

    /// Compares the pass, which took `time`, with a copy of the same size.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use phalanx::prelude::*;
    /// # use phalanx::explain::CopyBandwidth;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..1_000).map(|_| Health(1.0)));
    /// let bandwidth = CopyBandwidth::new(vec![(1 << 20, 100e9)]);
    /// let pass = world.query_mut::<&mut Health>().explain();
    /// let roofline = pass.roofline(Duration::from_nanos(100), &bandwidth);
    /// let text = "8064 bytes in 100.00ns: 80.6 GB/s, 81 % of copy bandwidth";
    /// assert_eq!(roofline.to_string(), text);
    /// ```
    #[must_use]
    pub fn roofline(&self, time: Duration, bandwidth: &CopyBandwidth) -> Roofline {
        let bytes_touched = self.bytes_loaded();
        let copy = bandwidth.of(bytes_touched);
        Roofline { bytes_moved: self.bytes_moved(), bytes_touched, time, copy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_is_compared_with_a_copy_of_the_next_size() {
        let bandwidth = CopyBandwidth::new(vec![(1 << 30, 20e9), (1 << 10, 300e9)]);
        assert_eq!(bandwidth.of(0), 300e9);
        assert_eq!(bandwidth.of(1 << 10), 300e9);
        assert_eq!(bandwidth.of((1 << 10) + 1), 20e9);
        assert_eq!(bandwidth.of(u64::MAX), 20e9);
    }

    #[test]
    fn a_share_is_the_rate_divided_by_the_copy_rate() {
        let time = Duration::from_millis(2);
        let roofline = Roofline { bytes_moved: 30_000_000, bytes_touched: 1, time, copy: 20e9 };
        assert_eq!((roofline.rate(), roofline.share()), (15e9, 0.75));
        let text = "30.0 MB in 2.00ms: 15.0 GB/s, 75 % of copy bandwidth";
        assert_eq!(roofline.to_string(), text);
    }

    #[test]
    #[cfg_attr(miri, ignore = "copies gigabytes")]
    fn a_probe_has_a_rate_for_each_size() {
        for probe in [CopyBandwidth::probe, CopyBandwidth::probe_parallel] {
            let CopyBandwidth { points } = probe();
            let sizes: Vec<u64> = points.iter().map(|&(size, _)| size).collect();
            assert_eq!(sizes, SIZES.map(|size| size as u64));
            let is_rate = |&(_, rate): &(u64, f64)| rate.is_finite() && rate > 0.0;
            assert!(points.iter().all(is_rate), "rates are finite and positive: {points:?}");
        }
    }

    #[test]
    fn a_parallel_copy_copies_every_byte() {
        for len in [0, 1, 63, 1000, 5 * LINE_BYTES + 1] {
            let source: Vec<u8> = (0..=250).cycle().take(len).collect();
            let mut target = vec![255; len];
            copy_parallel(&mut target, &source);
            assert_eq!(target, source, "{len} bytes");
        }
    }
}

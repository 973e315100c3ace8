//! The instruction sets that kernels are compiled for, their names, and whether this machine has
//! them.

use std::fmt;
use std::str::FromStr;

/// An instruction set that kernels are compiled for.
///
/// Levels are ordered by width. All three exist on every architecture, so that code which names
/// them compiles everywhere; outside of x86-64 only [`Level::Baseline`] is supported, and stands
/// for the features of the target (NEON on AArch64).
///
/// The level is chosen when the first kernel runs: the one named by the environment variable
/// `PHALANX_LEVEL` (`baseline`, `avx2` or `avx512`), else [`Level::best`]. Results have the same
/// bits at every level; only speed differs.
///
/// The user of a program may misspell the variable, or name a level that the machine does not
/// support. [`Level::try_current`], called at the start of the program, returns this as an error;
/// without it, the first kernel panics.
///
/// ```
/// use phalanx::Level;
///
/// assert!(Level::Baseline.is_supported());
/// assert!(Level::current().is_supported());
/// assert!(Level::Baseline < Level::Avx2 && Level::Avx2 < Level::Avx512);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// The features that the crate was built for: SSE2 in a default build for x86-64.
    Baseline,
    /// x86-64-v3: AVX2 with FMA, BMI1, BMI2, LZCNT, POPCNT, F16C and MOVBE.
    Avx2,
    /// x86-64-v4: all of [`Level::Avx2`] and AVX-512 F, BW, CD, DQ and VL.
    Avx512,
}

impl Level {
    /// Every level, narrowest first.
    pub(super) const ALL: [Level; 3] = [Level::Baseline, Level::Avx2, Level::Avx512];

    /// The widest level that this machine supports, which is the default.
    ///
    /// It is the default because on chunks it was never slower. `p += v * dt` over two 12-byte
    /// columns in chunks of 672 rows, and a long body over 680 rows, ns a row on Zen 5:
    ///
    /// | rows | 672 | 10,080 | 50,400 | 201,600 | 4,032,000 | long body |
    /// | --- | --- | --- | --- | --- | --- | --- |
    /// | AVX2 | 0.109 | 0.179 | 0.198 | 0.215 | 0.84 | 5.39 |
    /// | AVX-512 | 0.059 | 0.178 | 0.179 | 0.208 | 0.69 | 2.15 |
    ///
    /// This requires columns that start on a cache line, as columns of chunks do. On other slices
    /// every 64-byte access touches two lines, and AVX-512 lost up to a quarter on light loops.
    ///
    /// ```
    /// use phalanx::Level;
    ///
    /// assert_eq!(Some(Level::best()), Level::available().last());
    /// ```
    #[must_use]
    pub fn best() -> Level {
        Level::available().last().unwrap_or(Level::Baseline)
    }

    /// The levels that this machine supports, narrowest first.
    ///
    /// ```
    /// use phalanx::Level;
    ///
    /// for level in Level::available() {
    ///     Level::pin(level).expect("an available level is supported");
    ///     // Run the kernel and compare or time it.
    /// }
    /// Level::unpin();
    /// ```
    pub fn available() -> impl Iterator<Item = Level> {
        Level::ALL.into_iter().filter(|level| level.is_supported())
    }

    /// Whether this machine, and its operating system, can run the level.
    ///
    /// Miri interprets the baseline only, so no other level is supported there.
    ///
    /// ```
    /// use phalanx::Level;
    ///
    /// assert!(Level::best().is_supported());
    /// ```
    #[must_use]
    pub fn is_supported(self) -> bool {
        match self {
            Level::Baseline => true,
            Level::Avx2 => has_avx2(),
            Level::Avx512 => has_avx2() && has_avx512(),
        }
    }

    /// The bytes of a vector register of the level: 16, 32 or 64.
    ///
    /// ```
    /// use phalanx::Level;
    ///
    /// assert_eq!(Level::Avx2.lane_bytes() / size_of::<f32>(), 8);
    /// ```
    #[must_use]
    pub const fn lane_bytes(self) -> usize {
        match self {
            Level::Baseline => 16,
            Level::Avx2 => 32,
            Level::Avx512 => 64,
        }
    }

    /// The name that [`FromStr`] reads and [`Display`](fmt::Display) writes.
    const fn name(self) -> &'static str {
        match self {
            Level::Baseline => "baseline",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        }
    }
}

/// Whether x86-64-v3 is supported: exactly the features of the `avx2` shells of `#[kernel]`.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("movbe")
}

/// Whether the features that x86-64-v4 adds to [`has_avx2`] are supported: exactly the features
/// that the `avx512` shells of `#[kernel]` add.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

/// AVX2 exists only on x86-64, and Miri does not interpret it.
#[cfg(any(not(target_arch = "x86_64"), miri))]
fn has_avx2() -> bool {
    false
}

/// AVX-512 exists only on x86-64, and Miri does not interpret it.
#[cfg(any(not(target_arch = "x86_64"), miri))]
fn has_avx512() -> bool {
    false
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Level {
    type Err = ParseLevelError;

    fn from_str(name: &str) -> Result<Level, ParseLevelError> {
        Level::ALL.into_iter().find(|level| level.name() == name).ok_or(ParseLevelError(()))
    }
}

/// The error of parsing a [`Level`] from a string that is not the name of a level.
///
/// ```
/// use phalanx::Level;
///
/// let error = "sse9".parse::<Level>().unwrap_err();
/// assert_eq!(error.to_string(), "not a level: expected baseline, avx2 or avx512");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ParseLevelError(pub(super) ());

impl fmt::Display for ParseLevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a level: expected baseline, avx2 or avx512")
    }
}

impl std::error::Error for ParseLevelError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_reads_the_name_it_writes() {
        for level in Level::ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        assert!("AVX2".parse::<Level>().is_err(), "names are lower case");
    }

    #[test]
    fn available_levels_are_a_rising_run_that_starts_at_baseline() {
        let available: Vec<Level> = Level::available().collect();
        assert_eq!(available, Level::ALL[..available.len()]);
        assert!(available.is_sorted());
    }

    #[test]
    fn the_widest_vector_is_a_cache_line() {
        assert!(Level::ALL.iter().all(|level| level.lane_bytes() <= 64));
        assert!(Level::ALL.is_sorted_by_key(|level| level.lane_bytes()));
    }
}

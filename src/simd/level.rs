//! The instruction set that kernels run at: chosen once per process, and possible to pin.
//!
//! The choice is made at run time because a default build of Rust for x86-64 uses SSE2 only, and
//! special build flags should not be necessary for the other three quarters of the machine. It is
//! one byte in a static: a kernel runs for a whole chunk, so a relaxed load and a `match` cost
//! nothing, and they are more readable than a cached function pointer.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU8, Ordering};

use super::level_error::{LevelError, ParseLevelError, UnsupportedLevel};

/// An instruction set that kernels are compiled for.
///
/// Levels are ordered by width. All three exist on every architecture, so that code which names
/// them compiles everywhere; outside of x86-64 only [`Level::Baseline`] is supported, and stands
/// for the features of the target (NEON on AArch64).
///
/// The level is chosen when the first kernel runs: the one named by the environment variable
/// `PHALANX_LEVEL` (`baseline`, `avx2` or `avx512`), else [`Level::best`]. Results do not depend
/// on it, bit for bit; only speed does.
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

/// The current level as one byte: 0 before it is known, else [`Level::to_byte`].
///
/// Only [`Level::detect`] and [`Level::pin`] write it, and both write supported levels only; the
/// `unsafe` call in `kernel!` relies on that. Relaxed ordering is enough: the byte guards no other
/// memory, and every value that a thread may see is one that the machine can run.
static CURRENT: AtomicU8 = AtomicU8::new(UNKNOWN);

/// The byte before a level was chosen.
const UNKNOWN: u8 = 0;

/// The variable that names the level to start with.
pub(super) const ENVIRONMENT: &str = "PHALANX_LEVEL";

impl Level {
    /// Every level, narrowest first.
    const ALL: [Level; 3] = [Level::Baseline, Level::Avx2, Level::Avx512];

    /// The level that kernels called now run at.
    ///
    /// One relaxed atomic load, except for the first call in the process, which reads the
    /// environment and the features of the machine.
    ///
    /// ```
    /// use phalanx::Level;
    ///
    /// println!("kernels run at {}", Level::current());
    /// ```
    ///
    /// # Panics
    ///
    /// On the first call, if `PHALANX_LEVEL` names no level or one that this machine does not
    /// support: a measurement at another level than the requested one would be misleading.
    /// [`Level::try_current`] returns this as an error.
    #[inline]
    #[must_use]
    pub fn current() -> Level {
        // One `match`, so that a kernel compares the byte directly.
        match CURRENT.load(Ordering::Relaxed) {
            1 => Level::Baseline,
            2 => Level::Avx2,
            3 => Level::Avx512,
            _ => Level::detected(),
        }
    }

    /// [`Level::current`], which returns an invalid environment variable as an error.
    ///
    /// Call it at the start of a program: after it has returned a level, no kernel of the process
    /// panics because of `PHALANX_LEVEL`, unless [`Level::unpin`] is called. A program with an
    /// option for the level calls [`Level::pin`] before; then the variable is not read.
    ///
    /// ```
    /// use phalanx::Level;
    /// use std::process::ExitCode;
    ///
    /// fn main() -> ExitCode {
    ///     match Level::try_current() {
    ///         Ok(level) => println!("kernels run at {level}"),
    ///         Err(error) => {
    ///             eprintln!("game: {error}");
    ///             return ExitCode::from(2);
    ///         }
    ///     }
    ///     // Run the program.
    ///     ExitCode::SUCCESS
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`LevelError`] if no level was chosen yet and `PHALANX_LEVEL` names none, or one that this
    /// machine does not support. No level is chosen then.
    pub fn try_current() -> Result<Level, LevelError> {
        match Level::from_byte(CURRENT.load(Ordering::Relaxed)) {
            Some(level) => Ok(level),
            None => Level::detect(),
        }
    }

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
    /// This requires columns that start on a cache line, as those of chunks do. On other slices
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

    /// Makes every kernel of the process run at `level` from now on.
    ///
    /// For measurements and tests: results have the same bits at every level. It applies to all
    /// threads, so tests that pin a level must not run in parallel.
    ///
    /// ```
    /// use phalanx::Level;
    ///
    /// Level::pin(Level::Baseline)?;
    /// assert_eq!(Level::current(), Level::Baseline);
    /// Level::unpin();
    /// # Ok::<(), phalanx::error::UnsupportedLevel>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`UnsupportedLevel`] if this machine cannot run it; the level is then unchanged.
    pub fn pin(level: Level) -> Result<(), UnsupportedLevel> {
        if !level.is_supported() {
            return Err(UnsupportedLevel(level));
        }
        CURRENT.store(level.to_byte(), Ordering::Relaxed);
        Ok(())
    }

    /// Undoes [`Level::pin`]: the level is again that of the environment or of the machine.
    ///
    /// ```
    /// use phalanx::Level;
    ///
    /// let before = Level::current();
    /// Level::pin(Level::Baseline)?;
    /// Level::unpin();
    /// assert_eq!(Level::current(), before);
    /// # Ok::<(), phalanx::error::UnsupportedLevel>(())
    /// ```
    pub fn unpin() {
        CURRENT.store(UNKNOWN, Ordering::Relaxed);
    }

    /// [`Level::detect`], which panics on an invalid environment variable.
    #[cold]
    fn detected() -> Level {
        Level::detect().unwrap_or_else(|error| {
            panic!("{error}; a program that calls `Level::try_current` first gets this as an error")
        })
    }

    /// Chooses the level, if none is chosen.
    ///
    /// It is a compare-exchange and not a store, so that a level pinned by another thread in the
    /// meantime stays pinned.
    #[cold]
    fn detect() -> Result<Level, LevelError> {
        // An empty variable is an unset one.
        let level = match std::env::var_os(ENVIRONMENT).filter(|name| !name.is_empty()) {
            None => Level::best(),
            Some(name) => Level::named(&name.to_string_lossy())?,
        };
        let exchanged = CURRENT.compare_exchange(
            UNKNOWN,
            level.to_byte(),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        Ok(match exchanged {
            Ok(_) => level,
            Err(pinned) => Level::from_byte(pinned).unwrap_or(level),
        })
    }

    /// The supported level that the environment names.
    fn named(name: &str) -> Result<Level, LevelError> {
        match name.parse::<Level>() {
            Err(_) => Err(LevelError::Unknown { name: name.to_owned() }),
            Ok(level) if level.is_supported() => Ok(level),
            Ok(level) => Err(LevelError::Unsupported(UnsupportedLevel(level))),
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

    /// The level as [`CURRENT`] holds it, which is never [`UNKNOWN`].
    const fn to_byte(self) -> u8 {
        match self {
            Level::Baseline => 1,
            Level::Avx2 => 2,
            Level::Avx512 => 3,
        }
    }

    /// The level of a byte made by [`Level::to_byte`].
    #[inline(always)]
    const fn from_byte(byte: u8) -> Option<Level> {
        match byte {
            1 => Some(Level::Baseline),
            2 => Some(Level::Avx2),
            3 => Some(Level::Avx512),
            _ => None,
        }
    }
}

/// Whether x86-64-v3 is supported: exactly the features of the `avx2` shells of `kernel!`.
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

/// Whether the features that x86-64-v4 adds to [`has_avx2`] are supported: exactly those that the
/// `avx512` shells of `kernel!` add.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

/// There is no AVX2 outside of x86-64, and Miri does not interpret it.
#[cfg(any(not(target_arch = "x86_64"), miri))]
fn has_avx2() -> bool {
    false
}

/// There is no AVX-512 outside of x86-64, and Miri does not interpret it.
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
    fn a_level_survives_its_byte() {
        for level in Level::ALL {
            assert_eq!(Level::from_byte(level.to_byte()), Some(level));
        }
        assert_eq!(Level::from_byte(UNKNOWN), None);
    }

    #[test]
    fn available_levels_are_a_rising_run_that_starts_at_baseline() {
        let available: Vec<Level> = Level::available().collect();
        assert_eq!(available, Level::ALL[..available.len()]);
        assert!(available.is_sorted());
    }

    #[test]
    fn an_unknown_name_in_the_environment_is_answered_with_the_names_there_are() {
        let message = |name| Level::named(name).unwrap_err().to_string();
        let wrong = "not a level: expected baseline, avx2 or avx512";
        assert_eq!(message("fast"), format!("PHALANX_LEVEL=fast: {wrong}"));
        assert_eq!(message("avx2\n"), format!("PHALANX_LEVEL=avx2\\n: {wrong}"), "one line");
        assert_eq!(Level::named("baseline"), Ok(Level::Baseline));
    }

    #[test]
    fn a_level_in_the_environment_is_one_of_this_machine() {
        for level in Level::ALL {
            let named = Level::named(level.name());
            if level.is_supported() {
                assert_eq!(named, Ok(level));
                continue;
            }
            let message = named.unwrap_err().to_string();
            let start = format!("PHALANX_LEVEL={level}: this machine does not support {level}; ");
            assert!(message.starts_with(&start), "{message}");
        }
    }

    #[test]
    fn an_unsupported_level_is_answered_with_the_supported_ones() {
        let level = Level::Avx512;
        let message = UnsupportedLevel(level).to_string();
        assert!(
            message.starts_with("this machine does not support avx512; expected baseline"),
            "{message}"
        );
    }

    #[test]
    fn the_widest_vector_is_a_cache_line() {
        assert!(Level::ALL.iter().all(|level| level.lane_bytes() <= 64));
        assert!(Level::ALL.is_sorted_by_key(|level| level.lane_bytes()));
    }
}

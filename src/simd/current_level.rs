//! The level that kernels run at: chosen once per process, and possible to pin.
//!
//! The choice is made at run time because a default build of Rust for x86-64 uses SSE2 only, and
//! special build flags should not be necessary for the other three quarters of the machine. It is
//! one byte in a static: a kernel runs for a whole chunk, so the cost of a relaxed load and a
//! `match` is negligible, and they are more readable than a cached function pointer.

use std::sync::atomic::{AtomicU8, Ordering};

use super::level::Level;
use super::level_error::{ENVIRONMENT, LevelError, UnsupportedLevel};

/// The current level as one byte: 0 before it is known, else [`Level::to_byte`].
///
/// Only [`Level::detect`] and [`Level::pin`] write it, and both write supported levels only; the
/// `unsafe` call in `#[kernel]` relies on that. Relaxed ordering is enough: the byte guards no
/// other memory, and every value that a thread may see is one that the machine can run.
static CURRENT: AtomicU8 = AtomicU8::new(UNKNOWN);

/// The byte before a level was chosen.
const UNKNOWN: u8 = 0;

impl Level {
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
    /// option for the level should call [`Level::pin`] before, so that the variable is not read.
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
    /// machine does not support. In this case no level is chosen.
    pub fn try_current() -> Result<Level, LevelError> {
        match Level::from_byte(CURRENT.load(Ordering::Relaxed)) {
            Some(level) => Ok(level),
            None => Level::detect(),
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
    /// # Ok::<(), phalanx::simd::UnsupportedLevel>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`UnsupportedLevel`] if this machine cannot run it. In this case the level is unchanged.
    pub fn pin(level: Level) -> Result<(), UnsupportedLevel> {
        if !level.is_supported() {
            return Err(UnsupportedLevel(level));
        }
        CURRENT.store(level.to_byte(), Ordering::Relaxed);
        Ok(())
    }

    /// Undoes [`Level::pin`]: the level comes again from the environment or from the machine.
    ///
    /// ```
    /// use phalanx::Level;
    ///
    /// let before = Level::current();
    /// Level::pin(Level::Baseline)?;
    /// Level::unpin();
    /// assert_eq!(Level::current(), before);
    /// # Ok::<(), phalanx::simd::UnsupportedLevel>(())
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

    /// The level as [`CURRENT`] holds it. It is never [`UNKNOWN`].
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_survives_its_byte() {
        for level in Level::ALL {
            assert_eq!(Level::from_byte(level.to_byte()), Some(level));
        }
        assert_eq!(Level::from_byte(UNKNOWN), None);
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
            let named = Level::named(&level.to_string());
            if level.is_supported() {
                assert_eq!(named, Ok(level));
                continue;
            }
            let message = named.unwrap_err().to_string();
            let start = format!("PHALANX_LEVEL={level}: this machine does not support {level}; ");
            assert!(message.starts_with(&start), "{message}");
        }
    }
}

//! The effort of a run: sizes, numbers of samples, and sides timed in turn.

use std::time::Duration;

/// The amount of measurement.
pub(crate) struct Effort {
    /// Whether sizes are small: the run proves that everything works, and measures little.
    pub(crate) is_quick: bool,
    /// Samples of each side.
    pub(crate) rounds: usize,
    /// The least time of a sample.
    sample: Duration,
}

impl Effort {
    /// For figures.
    pub(crate) const fn full() -> Self {
        Self { is_quick: false, rounds: 31, sample: Duration::from_millis(1) }
    }

    /// For proofs.
    pub(crate) const fn quick() -> Self {
        Self { is_quick: true, rounds: 5, sample: Duration::from_micros(50) }
    }

    /// The one or the other.
    pub(crate) fn pick<T>(&self, full: T, quick: T) -> T {
        if self.is_quick { quick } else { full }
    }

    /// Samples of each side, in nanoseconds per unit of work; a pass has that many units.
    ///
    /// The clock of a shared machine wanders, so the sides run in turn (A B C A B C …), and only
    /// their ratios mean something. A side runs once, untimed, before each of its samples: the
    /// others have had the caches.
    pub(crate) fn time(&self, units: usize, sides: &mut [&mut dyn FnMut()]) -> Vec<Vec<f64>> {
        let passes: Vec<_> = sides.iter_mut().map(|side| self.passes(side)).collect();
        let mut samples = vec![Vec::with_capacity(self.rounds); sides.len()];
        for _ in 0..self.rounds {
            for ((side, &passes), samples) in sides.iter_mut().zip(&passes).zip(&mut samples) {
                side();
                let time = run(side, passes);
                samples.push(time.as_secs_f64() * 1e9 / (f64::from(passes) * units as f64));
            }
        }
        samples
    }

    /// The number of passes that make a sample; finding it also warms up.
    fn passes(&self, side: &mut dyn FnMut()) -> u32 {
        let mut passes = 1;
        while run(side, passes) < self.sample {
            passes *= 2;
        }
        passes
    }
}

fn run(side: &mut dyn FnMut(), passes: u32) -> Duration {
    let start = now();
    for _ in 0..passes {
        side();
    }
    now().saturating_sub(start)
}

/// The time that this thread has run: it stands still while another program has the processor.
#[cfg(unix)]
fn now() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).expect("it began at nought")
}

/// The time since the first call.
#[cfg(not(unix))]
fn now() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

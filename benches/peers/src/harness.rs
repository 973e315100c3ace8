//! Runs one workload of one library, for its outcome or for its times.

use crate::outcome::Outcome;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Steps made before an outcome is compared.
pub(crate) const STEPS: u64 = 3;

/// Doublings of a one for which a sum of many rows is finite, and exact, in `f32` and `f64`.
const DOUBLINGS: u64 = 100;

/// A sample lasts at least this long, or one iteration if that is longer.
const SAMPLE_NS: f64 = 1_500_000.0;
const SAMPLES_MIN: usize = 9;
const SAMPLES_MAX: usize = 301;
/// A fresh world for each sample: more of them, since a sample is one call.
const FRESH_SAMPLES_MAX: usize = 2_001;

/// The purpose of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Phase {
    /// A few steps each; outcomes are compared before anything is timed.
    Agree,
    /// Samples for this long.
    Time(Duration),
    /// No step is made, though the finding says so: its outcome must be refused.
    #[cfg(test)]
    Idle,
}

/// One way to run one workload at one size.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) workload: &'static str,
    pub(crate) size: usize,
    pub(crate) library: &'static str,
    /// The way to use the library; empty for the plain one.
    pub(crate) variant: String,
}

impl Row {
    /// `hecs`, or `hecs[columns]`.
    pub(crate) fn label(&self) -> String {
        if self.variant.is_empty() {
            self.library.to_owned()
        } else {
            format!("{}[{}]", self.library, self.variant)
        }
    }
}

/// The findings about a row.
#[derive(Debug, PartialEq)]
pub(crate) struct Finding {
    pub(crate) row: Row,
    pub(crate) outcome: Outcome,
    /// Steps made before that outcome.
    pub(crate) steps: u64,
    /// Nanoseconds of each iteration; empty if none was timed.
    pub(crate) samples: Vec<f64>,
}

/// Handed to a library's functions, which run their variants through it.
pub(crate) struct Harness {
    phase: Phase,
    library: &'static str,
    workload: &'static str,
    size: usize,
    found: Vec<Finding>,
}

impl Harness {
    /// Runs all variants of one workload of one library.
    pub(crate) fn measure(
        phase: Phase,
        library: &'static str,
        workload: &'static str,
        size: usize,
        run: impl FnOnce(&mut Self, usize),
    ) -> Vec<Finding> {
        let mut harness = Self { phase, library, workload, size, found: Vec::new() };
        run(&mut harness, size);
        harness.found
    }

    /// Runs `step` again and again over one long-lived state; `outcome` returns its result.
    pub(crate) fn run<S>(
        &mut self,
        variant: &str,
        state: S,
        mut step: impl FnMut(&mut S),
        outcome: impl FnMut(&mut S) -> Outcome,
    ) {
        self.sample(variant, state, |state, steps| time_of(state, steps, &mut step), outcome);
    }

    /// Like [`run`](Self::run), for a step that doubles floats: they are infinite after 127 steps,
    /// and show no other. So they are set to one before the last steps of each sample, while the
    /// clock stands still, and the doublings after these steps count for all steps of the sample.
    /// `each` calls a function with each float. The outcome is the number of doubled floats.
    pub(crate) fn run_doubling<S>(
        &mut self,
        variant: &str,
        state: S,
        mut step: impl FnMut(&mut S),
        mut each: impl FnMut(&mut S, &mut dyn FnMut(&mut f32)),
    ) {
        let timed = |(state, doubled): &mut (S, f64), steps: u64| {
            let last = steps.min(DOUBLINGS);
            let most = time_of(state, steps - last, &mut step);
            each(state, &mut |float| *float = 1.0);
            let rest = time_of(state, last, &mut step);
            let mut sum = 0.0;
            each(state, &mut |float| sum += f64::from(*float));
            *doubled += sum / 2f64.powi(last as i32) * steps as f64;
            most + rest
        };
        self.sample(variant, (state, 0.0), timed, |(_, doubled)| Outcome::Sum(*doubled));
    }

    /// Like [`run`](Self::run), for a step that changes a state and then changes it back: such a
    /// step leaves no trace. So `held` counts what the first half has changed. It is called between
    /// the halves of the last step of each sample, while the clock stands still.
    pub(crate) fn run_halves<S>(
        &mut self,
        variant: &str,
        state: S,
        mut there: impl FnMut(&mut S),
        mut back: impl FnMut(&mut S),
        mut held: impl FnMut(&mut S) -> usize,
        mut outcome: impl FnMut(&mut S) -> Outcome,
    ) {
        let timed = |(state, sum): &mut (S, usize), steps: u64| {
            let start = Instant::now();
            for _ in 1..steps {
                there(state);
                back(state);
                black_box(&mut *state);
            }
            there(state);
            black_box(&mut *state);
            let most = start.elapsed();
            *sum += held(state) * steps as usize;
            let start = Instant::now();
            back(state);
            black_box(&mut *state);
            nanoseconds(most + start.elapsed())
        };
        self.sample(variant, (state, 0), timed, |(state, sum)| outcome(state).held(*sum));
    }

    /// Like [`run`](Self::run), but `step` returns the time of its measured part.
    pub(crate) fn run_part<S>(
        &mut self,
        variant: &str,
        state: S,
        mut step: impl FnMut(&mut S) -> Duration,
        outcome: impl FnMut(&mut S) -> Outcome,
    ) {
        let timed = |state: &mut S, steps: u64| {
            (0..steps).map(|_| nanoseconds(step(black_box(&mut *state)))).sum()
        };
        self.sample(variant, state, timed, outcome);
    }

    fn sample<S>(
        &mut self,
        variant: &str,
        mut state: S,
        mut timed: impl FnMut(&mut S, u64) -> f64,
        mut outcome: impl FnMut(&mut S) -> Outcome,
    ) {
        let mut steps = STEPS;
        if self.makes_steps() {
            timed(&mut state, STEPS);
        }
        let mut samples = Vec::new();
        match self.phase {
            Phase::Agree => {}
            #[cfg(test)]
            Phase::Idle => {}
            Phase::Time(budget) => {
                // Calibration doubles as warm-up.
                let warm = Instant::now();
                let mut estimate = f64::INFINITY;
                while estimate == f64::INFINITY || warm.elapsed() < budget / 8 {
                    estimate = estimate.min(timed(&mut state, 1));
                    steps += 1;
                }
                let inner = ((SAMPLE_NS / estimate.max(1.0)) as u64).max(1);
                let count = nanoseconds(budget) / (estimate * inner as f64);
                let count = (count as usize).clamp(SAMPLES_MIN, SAMPLES_MAX);
                samples.extend((0..count).map(|_| timed(&mut state, inner) / inner as f64));
                steps += inner * count as u64;
            }
        }
        let outcome = outcome(&mut state);
        self.push(variant, outcome, steps, samples);
    }

    /// Times `work` on a fresh `setup()` for each sample; setting up and dropping are not timed.
    pub(crate) fn run_fresh<S, O>(
        &mut self,
        variant: &str,
        mut setup: impl FnMut() -> S,
        mut work: impl FnMut(S) -> O,
        mut outcome: impl FnMut(O) -> Outcome,
    ) {
        let mut samples = Vec::new();
        if let Phase::Time(budget) = self.phase {
            for _ in 0..STEPS {
                drop(work(setup()));
            }
            let start = Instant::now();
            while samples.len() < SAMPLES_MIN
                || (start.elapsed() < budget && samples.len() < FRESH_SAMPLES_MAX)
            {
                let state = setup();
                let from = Instant::now();
                let made = black_box(work(state));
                samples.push(nanoseconds(from.elapsed()));
                drop(made);
            }
        }
        // A call that makes its own outcome cannot be left out.
        #[cfg(test)]
        if self.phase == Phase::Idle {
            return;
        }
        let outcome = outcome(work(setup()));
        self.push(variant, outcome, 1, samples);
    }

    /// Times making `count` worlds; `first` puts entity `i` into the `i`th and sums its positions.
    pub(crate) fn run_worlds<W>(
        &mut self,
        count: usize,
        mut make: impl FnMut() -> W,
        mut first: impl FnMut(&mut W, usize) -> f64,
    ) {
        let work = |mut worlds: Vec<W>| {
            worlds.extend((0..count).map(|_| make()));
            worlds
        };
        self.run_fresh(
            "",
            || Vec::with_capacity(count),
            work,
            |mut worlds| {
                Outcome::Sum(worlds.iter_mut().zip(0..).map(|(world, i)| first(world, i)).sum())
            },
        );
    }

    fn makes_steps(&self) -> bool {
        #[cfg(test)]
        return self.phase != Phase::Idle;
        #[cfg(not(test))]
        true
    }

    fn push(&mut self, variant: &str, outcome: Outcome, steps: u64, samples: Vec<f64>) {
        let row = Row {
            workload: self.workload,
            size: self.size,
            library: self.library,
            variant: variant.to_owned(),
        };
        let pooled = self.found.iter().any(|finding| finding.row == row);
        assert!(!pooled, "{row:?}: two ways have one name");
        self.found.push(Finding { row, outcome, steps, samples });
    }
}

/// The time of `steps` steps.
fn time_of<S>(state: &mut S, steps: u64, step: &mut impl FnMut(&mut S)) -> f64 {
    let start = Instant::now();
    for _ in 0..steps {
        step(state);
        // The result of a step must be in memory before the next step, and before the clock is
        // read.
        black_box(&mut *state);
    }
    nanoseconds(start.elapsed())
}

fn nanoseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_halves_are_made_in_each_step_and_the_first_one_is_counted() {
        let there = |(now, made): &mut (usize, usize)| (*now, *made) = (*now + 7, *made + 1);
        let back = |(now, _): &mut (usize, usize)| *now -= 7;
        for phase in [Phase::Agree, Phase::Time(Duration::from_millis(1))] {
            let found = Harness::measure(phase, "raw", "toggle", 7, |h, _| {
                h.run_halves("", (0, 0), there, back, |s| s.0, |s| Outcome::Count(s.1));
                h.run_halves("empty", (0, 0), |_| (), |_| (), |s| s.0, |s| Outcome::Count(s.1));
            });
            let outcome = |made: usize| Outcome::Count(made).held(7 * made);
            assert_eq!(found[0].outcome, outcome(found[0].steps as usize));
            assert_eq!(found[1].outcome, outcome(0), "halves that were left out");
        }
    }

    #[test]
    fn each_step_doubles_each_float_and_one_left_out_is_noticed() {
        let double = |floats: &mut [f32; 7]| floats.iter_mut().for_each(|float| *float *= 2.0);
        fn each(floats: &mut [f32; 7], f: &mut dyn FnMut(&mut f32)) {
            floats.iter_mut().for_each(f);
        }
        for phase in [Phase::Agree, Phase::Time(Duration::from_millis(1))] {
            let found = Harness::measure(phase, "raw", "double", 7, |h, _| {
                h.run_doubling("", [1.0; 7], double, each);
                let mut made = 0;
                let lazy = |floats: &mut [f32; 7]| {
                    made += 1;
                    let len = if made % 100 == 3 { 6 } else { 7 };
                    floats[..len].iter_mut().for_each(|float| *float *= 2.0);
                };
                h.run_doubling("lazy", [1.0; 7], lazy, each);
            });
            for (finding, right) in found.iter().zip([true, false]) {
                let doubled = Outcome::Sum(7.0 * finding.steps as f64);
                assert_eq!(finding.outcome == doubled, right, "{}", finding.row.label());
            }
        }
    }
}

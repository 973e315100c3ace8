//! Programs as sides: the counted programs are timed here, pass for pass the same.

use std::time::{Duration, Instant};

use super::programs::Program;
use super::sides::{Side, fresh, steady};

/// A side that runs a program.
#[track_caller]
pub(crate) fn timed(program: impl Program) -> impl Side {
    timed_rounds(program, 1)
}

/// A side that runs a whole program several times a pass.
#[track_caller]
pub(crate) fn timed_rounds(program: impl Program, rounds: u64) -> impl Side {
    let idle = program.check(rounds);
    assert!(idle.is_err(), "the check accepts passes that were not made");
    steady(
        program,
        move |program| {
            for _ in 0..rounds {
                program.pass();
            }
        },
        move |program, steps| assert_proven(program.check(steps * rounds)),
    )
}

/// A side that runs the first pass of a program, made afresh each time.
pub(crate) fn timed_once<P: Program>(program: impl Fn() -> P) -> impl Side {
    fresh(
        program,
        |mut program: P| {
            program.pass();
            program
        },
        |program| assert_proven(program.check(1)),
    )
}

/// A side that runs a program for `passes_max` passes, checks it and makes it afresh, untimed: for
/// passes that add to the world.
pub(crate) fn timed_for<P: Program>(passes_max: u64, program: impl Fn() -> P) -> impl Side {
    Renewed { state: program(), passes: 0, passes_max, make: program }
}

/// A side with a state that lasts for a number of passes.
struct Renewed<P, Make> {
    state: P,
    passes: u64,
    passes_max: u64,
    make: Make,
}

impl<P: Program, Make: Fn() -> P> Side for Renewed<P, Make> {
    fn run(&mut self, passes: u64) -> Duration {
        let pass = |_| {
            if self.passes == self.passes_max {
                self.check();
                self.state = (self.make)();
                self.passes = 0;
            }
            let start = Instant::now();
            self.state.pass();
            self.passes += 1;
            start.elapsed()
        };
        (0..passes).map(pass).sum()
    }

    fn check(&mut self) {
        assert_proven(self.state.check(self.passes));
    }
}

/// Panics with the message of a failed proof, at the caller's line.
#[track_caller]
pub(crate) fn assert_proven(proof: Result<(), String>) {
    if let Err(wrong) = proof {
        panic!("{wrong}");
    }
}

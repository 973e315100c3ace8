//! Programs as sides: what is counted elsewhere is timed here, pass for pass the same.

use super::programs::Program;
use super::sides::{Side, fresh, steady};

/// A side that runs a program.
pub(crate) fn timed(program: impl Program) -> impl Side {
    timed_rounds(program, 1)
}

/// A side that runs a program, the whole of it so many times a pass.
pub(crate) fn timed_rounds(program: impl Program, rounds: u64) -> impl Side {
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

/// A side that runs the first pass of a program, made anew each time.
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

/// Panics with what a proof says, where it failed.
#[track_caller]
pub(crate) fn assert_proven(proof: Result<(), String>) {
    if let Err(wrong) = proof {
        panic!("{wrong}");
    }
}

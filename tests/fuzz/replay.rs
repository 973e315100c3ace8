//! One world from its seed: a run until a difference is found, and the search for a shorter run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use crate::chance::Chance;
use crate::operations::Op;
use crate::outcome::Outcome;
use crate::profile::Profile;
use crate::trial::Trial;

/// The text of the last panic, which the hook stores and does not print.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// Silences all panics: the intended ones, and the last one of a run, which is printed later.
pub(crate) fn keep_panics() {
    std::panic::set_hook(Box::new(|info| {
        *LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner) = info.to_string();
    }));
}

pub(crate) fn last_panic() -> String {
    LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// A run that ended with a difference.
pub(crate) struct Difference {
    pub(crate) profile: Profile,
    /// All operations and their outcomes; the last operation is the one that differs.
    pub(crate) log: Vec<(Op, Outcome)>,
    pub(crate) text: String,
}

/// Runs the world of a seed, or the first `until` operations of it.
pub(crate) fn run(
    seed: u64,
    until: usize,
    mut count: impl FnMut(&'static str, Outcome),
) -> Result<usize, Box<Difference>> {
    let mut chance = Chance::new(seed);
    let profile = Profile::any(&mut chance);
    let mut log: Vec<(Op, Outcome)> = Vec::new();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut trial = Trial::new(profile);
        for turn in 1..=profile.operations.min(until) {
            let op = trial.choose(&mut chance);
            log.push((op, "differs"));
            let (op, outcome) = log.last_mut().expect("just pushed");
            *outcome = trial.run(op);
            count(op.name(), outcome);
            if turn % profile.compare_every == 0 {
                *outcome = "a difference is found afterwards";
                trial.compare();
            }
        }
        trial.compare();
    }));
    match outcome {
        Ok(()) => Ok(log.len()),
        Err(_) => Err(Box::new(Difference { profile, log, text: last_panic() })),
    }
}

/// Whether these operations lead to a difference.
fn differs(profile: Profile, ops: &[Op]) -> bool {
    let run = || {
        let mut trial = Trial::new(profile);
        for (i, op) in ops.iter().enumerate() {
            trial.run(op);
            // Short runs are compared after every operation, long runs after every 300 and at the
            // end.
            if ops.len() < 300 || i % 300 == 0 {
                trial.compare();
            }
        }
        trial.compare();
    };
    catch_unwind(AssertUnwindSafe(run)).is_err()
}

/// Removes operations while the rest still leads to a difference: halves first, single ones last.
/// Operations choose their entities by number, so each is valid in any run.
pub(crate) fn shorten(profile: Profile, mut ops: Vec<Op>) -> Vec<Op> {
    let mut len = ops.len() / 2;
    while len > 0 {
        let before = ops.len();
        let mut start = 0;
        while start < ops.len() {
            let end = ops.len().min(start + len);
            let rest = [&ops[..start], &ops[end..]].concat();
            if differs(profile, &rest) {
                ops = rest;
            } else {
                start = end;
            }
        }
        // Single operations are tried again as long as some of them can be removed.
        len = if len == 1 && ops.len() < before { 1 } else { len / 2 };
    }
    ops
}

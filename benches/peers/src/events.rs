//! `events`: a writer sends 10,000 events in each frame, and two readers read all of them.

use crate::harness::Harness;
use crate::outcome::Outcome;

/// Events of a frame.
pub(crate) const EVENTS: usize = 10_000;

/// The numbers of a frame's events: a target and a damage.
pub(crate) fn hits(frame: u32) -> impl ExactSizeIterator<Item = (u32, u32)> + Clone {
    (0..EVENTS as u32).map(move |number| (number, damage(frame)))
}

fn damage(frame: u32) -> u32 {
    frame % 64
}

/// Declares the event of a library, with its derives.
macro_rules! event {
    ($(#[$attribute:meta])*) => {
        $(#[$attribute])*
        #[derive(Clone, Copy)]
        struct Hit {
            target: u32,
            damage: u32,
        }
        impl Hit {
            #[inline(always)]
            fn new((target, damage): (u32, u32)) -> Self {
                Self { target, damage }
            }
        }
    };
}
pub(crate) use event;

/// The events that a reader has read: their number, and the sum of their numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    events: u64,
    sum: u64,
}

impl Seen {
    #[inline(always)]
    pub(crate) fn add(&mut self, target: u32, damage: u32) {
        self.events += 1;
        self.sum += u64::from(target) + u64::from(damage);
    }
}

/// Runs the workload: `step` makes a frame, `seen` returns the state of both readers.
pub(crate) fn events<S>(
    h: &mut Harness,
    variant: &str,
    state: S,
    step: impl FnMut(&mut S),
    mut seen: impl FnMut(&mut S) -> [Seen; 2],
) {
    h.run(variant, state, step, |state| outcome(seen(state)));
}

/// Sums of whole numbers far below 2^53.
fn outcome([first, second]: [Seen; 2]) -> Outcome {
    let numbers = [first.events, first.sum, second.events, second.sum, 0];
    Outcome::Sums(numbers.map(|number| number as f64))
}

/// The outcome after a number of frames.
pub(crate) fn expected(frames: u64) -> Outcome {
    let targets: u64 = (0..EVENTS as u64).sum();
    let damages: u64 = (0..frames as u32).map(|frame| u64::from(damage(frame))).sum();
    let events = frames * EVENTS as u64;
    let seen = Seen { events, sum: frames * targets + EVENTS as u64 * damages };
    outcome([seen, seen])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outcome_is_the_sum_of_all_events() {
        let mut seen = Seen::default();
        for frame in 0..70 {
            hits(frame).for_each(|(target, damage)| seen.add(target, damage));
        }
        assert_eq!(outcome([seen, seen]), expected(70));
        assert_ne!(expected(1), expected(2));
    }
}

//! `relations`: 100,000 sources, each with one of 1,000 targets, to be found from both ends.

use crate::data::shuffled;
use crate::harness::Harness;
use crate::outcome::Outcome;
use std::collections::HashMap;
use std::hash::Hash;
use std::time::Instant;

pub(crate) const SOURCES: usize = 100_000;
pub(crate) const TARGETS: usize = 1_000;
/// Sources that get another target in a step.
pub(crate) const CHANGED: usize = 1_000;
/// Targets that a step deletes.
const DELETED: usize = 10;
/// Their sources: so many on average over all targets.
pub(crate) const DELETED_SOURCES: usize = SOURCES / TARGETS * DELETED;

/// The task of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Task {
    /// Sums the values of the sources of each target.
    Visit,
    /// Gives random sources another target.
    Change,
    /// Deletes random targets: their sources stay, without a target.
    Delete,
}

/// The value of a source: sums of them are exact.
pub(crate) fn value(source: usize) -> f32 {
    (source % 64) as f32
}

/// Targets that a source has one after the other.
const ROUNDS: usize = 4;

/// The target of a source in a round, as good as random.
pub(crate) fn target_of(source: usize, round: usize) -> usize {
    let number = (source * ROUNDS + round) as u64 + 1;
    (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize % TARGETS
}

/// The changes of the steps, as sources and rounds; after the last one the first follows.
fn steps() -> Vec<Vec<(usize, usize)>> {
    let order = shuffled(SOURCES, 0x2E1A_7100_0000_0001);
    let changes = |round: usize| {
        let list = move |sources: &[usize]| {
            sources.iter().map(|&source| (source, (round + 1) % ROUNDS)).collect()
        };
        order.chunks(CHANGED).map(list).collect::<Vec<_>>()
    };
    (0..ROUNDS).flat_map(changes).collect()
}

/// A world with its sources and targets, related as in round 0.
pub(crate) struct Related<W, E> {
    pub(crate) world: W,
    pub(crate) sources: Vec<E>,
    pub(crate) targets: Vec<E>,
}

/// Runs a task in the way of a library: `visit` appends the sum of each target, `change` gives
/// sources their new targets, `target` returns the target of a source, `delete` deletes targets,
/// and `renew` makes a target with some sources, which have none.
pub(crate) fn relations<W, E: Copy + Eq + Hash>(
    (h, variant, task): (&mut Harness, &str, Task),
    Related { world, sources, targets }: Related<W, E>,
    mut visit: impl FnMut(&mut W, &[E], &mut Vec<f32>),
    mut change: impl FnMut(&mut W, &[(E, E)]),
    mut target: impl FnMut(&mut W, E) -> Option<E>,
    mut delete: impl FnMut(&mut W, &[E]),
    mut renew: impl FnMut(&mut W, &[E]) -> E,
) {
    let pair = |(source, round)| (sources[source], targets[target_of(source, round)]);
    let list = |list: Vec<_>| list.into_iter().map(pair).collect::<Vec<_>>();
    let changes: Vec<Vec<(E, E)>> = steps().into_iter().map(list).collect();
    let mut visit = move |world: &mut W, sums: &mut Vec<f32>, targets: &[E]| {
        sums.clear();
        visit(world, targets, sums);
    };
    let mut found = |world: &mut W, sums: &[f32], targets: &[E]| {
        outcome(sums, sources.iter().map(|&source| target(world, source)), targets)
    };
    let sums = Vec::with_capacity(TARGETS);
    match task {
        Task::Visit => h.run(
            variant,
            (world, sums),
            |(world, sums)| visit(world, sums, &targets),
            |(world, sums)| found(world, sums, &targets),
        ),
        Task::Change => h.run(
            variant,
            (world, sums, 0),
            |(world, _, next)| {
                change(world, &changes[*next % changes.len()]);
                *next += 1;
            },
            |(world, sums, _)| {
                visit(world, sums, &targets);
                found(world, sums, &targets)
            },
        ),
        Task::Delete => {
            let mut lists = vec![Vec::new(); TARGETS];
            sources.iter().enumerate().for_each(|(at, &one)| lists[target_of(at, 0)].push(one));
            h.run_part(
                variant,
                (world, targets, 0u64),
                |(world, targets, next)| {
                    // The targets of the last step come again, which is not timed.
                    let renewed = next.checked_sub(1).map(doomed);
                    for number in renewed.into_iter().flatten() {
                        targets[number] = renew(world, &lists[number]);
                    }
                    let gone = doomed(*next).into_iter().map(|number| targets[number]);
                    let gone: Vec<E> = gone.collect();
                    *next += 1;
                    let start = Instant::now();
                    delete(world, &gone);
                    start.elapsed()
                },
                |(world, targets, next)| {
                    let gone = next.checked_sub(1).map_or_else(Vec::new, doomed);
                    let (mut sums, mut sum) = (Vec::new(), Vec::new());
                    for (number, one) in targets.iter().enumerate() {
                        sum.clear();
                        if !gone.contains(&number) {
                            visit(world, &mut sum, &[*one]);
                        }
                        sums.push(sum.first().copied().unwrap_or(0.0));
                    }
                    found(world, &sums, targets)
                },
            );
        }
    }
}

/// The targets that a step deletes.
fn doomed(step: u64) -> Vec<usize> {
    let order = shuffled(TARGETS, 0x2E1A_7100_0000_0002);
    let first = step as usize % (TARGETS / DELETED) * DELETED;
    order[first..first + DELETED].to_vec()
}

/// The sum of each target, and the number of the target of each source.
fn outcome<E: Copy + Eq + Hash>(
    sums: &[f32],
    found: impl Iterator<Item = Option<E>>,
    targets: &[E],
) -> Outcome {
    let numbers: HashMap<E, usize> = targets.iter().copied().zip(0..).collect();
    let number = |target: Option<E>| target.map_or(-1.0, |target| numbers[&target] as f32);
    let found = found.map(number);
    Outcome::floats(sums.iter().copied().chain(found))
}

/// The outcome after a number of steps.
pub(crate) fn expected(task: Task, made: u64) -> Outcome {
    let mut now: Vec<_> = (0..SOURCES).map(|source| Some(target_of(source, 0))).collect();
    if task == Task::Change {
        let steps = steps();
        // All that came before the last rounds is overwritten.
        let kept = (made as usize).saturating_sub(made as usize % steps.len() + steps.len());
        for step in kept..made as usize {
            for &(source, round) in &steps[step % steps.len()] {
                now[source] = Some(target_of(source, round));
            }
        }
    }
    if task == Task::Delete && made > 0 {
        let gone = doomed(made - 1);
        now.iter_mut().for_each(|target| *target = target.filter(|one| !gone.contains(one)));
    }
    let mut sums = vec![0.0; TARGETS];
    for (source, target) in now.iter().enumerate() {
        target.iter().for_each(|&target| sums[target] += value(source));
    }
    outcome(&sums, now.into_iter(), &(0..TARGETS).collect::<Vec<_>>())
}

/// The end of a relation that is kept by hand: the target of a source, and its place in the list.
#[derive(Clone, Copy)]
pub(crate) struct End<E> {
    pub(crate) target: E,
    pub(crate) place: usize,
}

/// The views of a library that has no relation: an end at each source, a list at each target.
pub(crate) trait ByHand<E: Copy> {
    fn end(&mut self, source: E) -> End<E>;
    fn set_end(&mut self, source: E, end: End<E>);
    fn set_place(&mut self, source: E, place: usize);
    fn list(&mut self, target: E) -> &mut Vec<E>;
    fn value(&self, source: E) -> f32;

    /// Gives sources their new targets: the last of a list takes the place of a removed one.
    #[inline(always)]
    fn change(&mut self, pairs: &[(E, E)]) {
        for &(source, target) in pairs {
            let old = self.end(source);
            let list = self.list(old.target);
            list.swap_remove(old.place);
            if let Some(&moved) = list.get(old.place) {
                self.set_place(moved, old.place);
            }
            let list = self.list(target);
            let place = list.len();
            list.push(source);
            self.set_end(source, End { target, place });
        }
    }

    /// Appends the sum of each target.
    #[inline(always)]
    fn sums(&mut self, targets: &[E], sums: &mut Vec<f32>) {
        for &target in targets {
            let list = std::mem::take(self.list(target));
            sums.push(list.iter().map(|&source| self.value(source)).sum());
            *self.list(target) = list;
        }
    }
}

/// The lists of all targets in round 0, and the end of each source.
pub(crate) fn lists<E: Copy>(sources: &[E], targets: &[E]) -> (Vec<Vec<E>>, Vec<End<E>>) {
    let mut lists = vec![Vec::new(); TARGETS];
    let end = |(number, &source): (usize, &E)| {
        let target = target_of(number, 0);
        lists[target].push(source);
        End { target: targets[target], place: lists[target].len() - 1 }
    };
    let ends = sources.iter().enumerate().map(end).collect();
    (lists, ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_changes_different_sources_and_all_come_back_to_the_first_target() {
        let steps = steps();
        assert_eq!(steps.len(), ROUNDS * SOURCES / CHANGED);
        assert!(steps.iter().all(|step| step.len() == CHANGED));
        let all = steps.len() as u64;
        assert_ne!(expected(Task::Change, all - 1), expected(Task::Change, all));
        assert_eq!(expected(Task::Change, all), expected(Task::Change, 0));
        assert_eq!(expected(Task::Change, 5 * all + 7), expected(Task::Change, all + 7));
    }

    #[test]
    fn all_targets_are_deleted_in_turn() {
        let steps = (TARGETS / DELETED) as u64;
        let mut all: Vec<_> = (0..steps).flat_map(doomed).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..TARGETS));
        assert_ne!(expected(Task::Delete, 1), expected(Task::Delete, 2));
        assert_eq!(expected(Task::Delete, 1), expected(Task::Delete, 1 + steps));
    }
}

//! `snapshot_*`: the state of a world is taken into kept memory, or restored from there.
//!
//! Between two of these calls rows are written, or entities are despawned and others spawned, which
//! is not timed. At the end the last snapshot is restored over a world that was written again, and
//! every value is read by the first id of its entity: ids must stay valid.

use crate::changes::rewritten;
use crate::data::{pos0, vel0};
use crate::harness::Harness;
use crate::outcome::Outcome;
use bytemuck::{Pod, cast_slice};
use std::ops::Range;
use std::time::{Duration, Instant};

/// A position, followed by a velocity.
pub(crate) type Values = [f32; 6];

/// The block of rows that are compared, or tested by their ticks, together.
pub(crate) const BLOCK_ROWS: usize = 256;

/// The timed part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Call {
    Take,
    Restore,
}

/// The rows that are written in between: both of their components.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Written {
    All,
    /// One in a hundred, side by side.
    Part,
}

impl Written {
    /// The rows of a step, of `n`; if they are a part, each step has others.
    pub(crate) fn rows(self, n: usize, step: u64) -> Range<usize> {
        match self {
            Self::All => 0..n,
            Self::Part => {
                let first = (step as usize * 10_007) % (n - n / 100);
                first..first + n / 100
            }
        }
    }
}

/// A world of positions and velocities, and the ids of its entities in the order of their spawn.
pub(crate) trait Live {
    /// Writes the `x` of both components of these entities to [`rewritten`].
    fn write(&mut self, rows: Range<usize>);
    /// The values of an entity, by its id; none if it is not alive.
    fn values(&mut self, nth: usize) -> Option<Values>;
    /// The number of entities that are alive.
    fn len(&mut self) -> usize;
}

/// A world in which entities come and go.
pub(crate) trait Replace: Live {
    /// Despawns these entities, and spawns the same number of others.
    fn replace(&mut self, rows: Range<usize>);
}

/// The ways in which a user copies a column into existing memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Copying {
    Whole,
    /// Blocks that differ: reads more, and writes less.
    Differing,
}

impl Copying {
    /// Makes `to` equal to `from`.
    #[inline]
    pub(crate) fn run<T: Pod>(self, from: &[T], to: &mut [T]) {
        if self == Self::Whole {
            to.copy_from_slice(from);
            return;
        }
        for (from, to) in from.chunks(BLOCK_ROWS).zip(to.chunks_mut(BLOCK_ROWS)) {
            if cast_slice::<T, u8>(from) != cast_slice::<T, u8>(to) {
                to.copy_from_slice(from);
            }
        }
    }
}

/// Times taking snapshots of a world with written rows, or restoring it.
pub(crate) fn written<L: Live, S>(
    h: &mut Harness,
    variant: &str,
    (call, written): (Call, Written),
    (mut live, mut saved): (L, S),
    mut take: impl FnMut(&mut L, &mut S),
    mut restore: impl FnMut(&mut L, &mut S),
) {
    let n = live.len();
    match call {
        Call::Take => h.run_part(
            variant,
            (live, saved, 0),
            |(live, saved, step)| {
                live.write(written.rows(n, *step));
                *step += 1;
                time(|| take(live, saved))
            },
            |(live, saved, _)| {
                live.write(0..n);
                restore(live, saved);
                outcome(live, n)
            },
        ),
        Call::Restore => {
            take(&mut live, &mut saved);
            put_back(h, variant, (live, saved), |step| written.rows(n, step), L::write, restore);
        }
    }
}

/// Times restoring a world after one entity of a hundred was despawned and replaced by a new one.
pub(crate) fn replaced<L: Replace, S>(
    h: &mut Harness,
    variant: &str,
    (mut live, mut saved): (L, S),
    take: impl FnOnce(&mut L, &mut S),
    restore: impl FnMut(&mut L, &mut S),
) {
    let n = live.len();
    take(&mut live, &mut saved);
    let rows = |step| Written::Part.rows(n, step);
    put_back(h, variant, (live, saved), rows, L::replace, restore);
}

fn put_back<L: Live, S>(
    h: &mut Harness,
    variant: &str,
    (mut live, saved): (L, S),
    rows: impl Fn(u64) -> Range<usize>,
    mut change: impl FnMut(&mut L, Range<usize>),
    mut restore: impl FnMut(&mut L, &mut S),
) {
    let n = live.len();
    h.run_part(
        variant,
        (live, saved, 0, 0),
        |(live, saved, step, put_back)| {
            let rows = rows(*step);
            *step += 1;
            let (len, ends) = (rows.len(), [rows.start, rows.end - 1]);
            let before = ends.map(|nth| live.values(nth));
            change(live, rows);
            let changed = ends.map(|nth| live.values(nth));
            let spent = time(|| restore(live, saved));
            let after = ends.map(|nth| live.values(nth));
            let is_back = |end: usize| changed[end] != before[end] && after[end] == before[end];
            *put_back += if is_back(0) && is_back(1) { len } else { 0 };
            spent
        },
        |(live, _, _, put_back)| outcome(live, n).held(*put_back),
    );
}

fn time(call: impl FnOnce()) -> Duration {
    let start = Instant::now();
    call();
    start.elapsed()
}

/// All values in the order of the entities, and how many are alive.
fn outcome(live: &mut impl Live, n: usize) -> Outcome {
    let values: Vec<_> = (0..n).flat_map(|nth| live.values(nth).into_iter().flatten()).collect();
    Outcome::kept(values, live.len())
}

fn values0(i: usize) -> Values {
    let ([px, py, pz], [vx, vy, vz]) = (pos0(i), vel0(i));
    [px, py, pz, vx, vy, vz]
}

/// The world after its last snapshot was restored: the values written before that snapshot, each
/// entity, and no other.
pub(crate) fn expected_taken(n: usize, written: Written, steps: u64) -> Outcome {
    let mut times = vec![0_u64; n];
    for step in 0..steps {
        times[written.rows(n, step)].iter_mut().for_each(|times| *times += 1);
    }
    let values = |(i, times): (usize, u64)| {
        let mut values = values0(i);
        if times % 2 == 1 {
            (values[0], values[3]) = (rewritten(values[0]), rewritten(values[3]));
        }
        values
    };
    Outcome::kept((0..n).zip(times).flat_map(values), n)
}

/// The world if its first state is restored in every step, and the rows that were put back.
pub(crate) fn expected_restored(n: usize, written: Written, steps: u64) -> Outcome {
    let rows = written.rows(n, 0).len() * steps as usize;
    Outcome::kept((0..n).flat_map(values0), n).held(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Phase, STEPS};
    use crate::libs::LIBRARIES;
    use crate::workloads::WORKLOADS;

    #[test]
    fn a_part_is_one_row_of_a_hundred_and_another_one_in_the_next_step() {
        for step in 0..1_000 {
            let rows = Written::Part.rows(1_000_000, step);
            assert!(rows.len() == 10_000 && rows.end <= 1_000_000, "{rows:?}");
            assert_ne!(rows, Written::Part.rows(1_000_000, step + 1));
        }
    }

    #[test]
    fn outcomes_tell_apart_what_was_written() {
        let [all, part] = [Written::All, Written::Part].map(|w| expected_taken(1_000, w, STEPS));
        let never = expected_taken(1_000, Written::All, 0);
        let restored = expected_restored(1_000, Written::All, STEPS);
        assert_eq!(never.clone().held(3_000), restored);
        assert!(all != part && all != never && part != never);
    }

    /// Fewer entities than are timed, so that it is quick without optimisation.
    #[test]
    fn every_way_of_every_library_puts_the_world_back_and_an_idle_one_is_noticed() {
        let size = 2_000;
        let mut rows = 0;
        for workload in WORKLOADS.iter().filter(|w| w.name.starts_with("snapshot_")) {
            for library in LIBRARIES {
                let Some(run) = workload.way(library) else { continue };
                let name = library.name;
                // A world is not restored by a snapshot that was never taken.
                let takes = workload.name.starts_with("snapshot_take");
                let phases = [Phase::Agree, Phase::Idle];
                for &phase in if takes { &phases[..1] } else { &phases } {
                    for found in Harness::measure(phase, name, workload.name, size, run) {
                        let right = found.outcome == (workload.expected)(size, found.steps);
                        let label = found.row.label();
                        assert_eq!(right, phase == Phase::Agree, "{}: {label}", workload.name);
                        rows += 1;
                    }
                }
            }
        }
        assert!(rows > 30, "{rows} rows");
    }
}

//! Work that several threads share, once it is clear that they help.
//!
//! The calling thread begins alone. After 4 microseconds it estimates the remaining work, and
//! shares it only if it takes 30 microseconds or more. It works on while the others wake up. So
//! small work costs the same as a loop, plus a few readings of the clock. The clock decides which
//! thread runs a job and where jobs are divided, but it does not change the work on a row.

use core::time::Duration;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::line::{LINE_BYTES, VECTOR_ROWS};
use crate::stopwatch::Stopwatch;

use super::threads::Threads;

/// The calling thread works alone for this long before it estimates whether others would help.
const TRIAL: Duration = Duration::from_micros(4);

/// Work that takes less than this stays on the calling thread. Another thread takes 11 to 14
/// microseconds to wake (Zen 5, 2 cores; 24 on Zen 4), in which half of the work is done.
const SPLIT_MIN: Duration = Duration::from_micros(30);

/// The minimal duration of a task, as estimated.
const TASK_MIN: Duration = Duration::from_micros(8);

/// Rows that the calling thread visits before it looks at the clock for the first time, if there
/// are few jobs.
const TRIAL_ROWS: usize = VECTOR_ROWS;

/// With fewer jobs than this for each thread, the last ones would keep some threads waiting.
const JOBS_PER_THREAD: usize = 4;

/// Jobs, if too few, are divided into about this many parts for each thread.
const PARTS_PER_THREAD: usize = 16;

/// Rows to be visited by one thread.
pub(crate) trait Job: Send {
    fn rows(&self) -> usize;

    /// Bytes of a row, at least one.
    fn row_bytes(&self) -> usize;

    /// Cuts off a part of at least `rows` rows, if the job can be divided and rows are left after
    /// it.
    fn split_off(&mut self, rows: usize) -> Option<Self>
    where
        Self: Sized;

    /// The share of the estimated work: the bytes of the slices, and a line for the call.
    fn weight(&self) -> usize {
        self.rows() * self.row_bytes() + LINE_BYTES
    }
}

/// Runs jobs, or parts of them, each on one thread: the calling thread, and the threads that the
/// schedule has chosen, or else those of the pool around the calling thread. Each takes the next
/// parts when it has done its last ones, so a thread that wakes late takes fewer, or none.
pub(crate) fn share<J: Job>(mut jobs: VecDeque<J>, run: impl Fn(J) + Send + Sync) {
    let threads = Threads::count();
    // A platform without threads may lack a clock as well.
    if threads == 1 {
        return jobs.into_iter().for_each(run);
    }
    let are_few = jobs.len() < JOBS_PER_THREAD * threads;
    let Some(task_weight) = run_alone(&mut jobs, are_few, &run) else { return };
    let parts = match are_few {
        true => divide(jobs, PARTS_PER_THREAD * threads, task_weight),
        false => Vec::from(jobs),
    };
    let weight: usize = parts.iter().map(Job::weight).sum();
    // A task has a part at least: the estimate is 0 where the trial took long.
    let parts_in_task = task_weight.saturating_mul(parts.len()).div_ceil(weight.max(1)).max(1);
    let list = Mutex::new(parts.into_iter());
    // The next task, and the number of tasks after it.
    let next = || {
        let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
        let task: Vec<J> = list.by_ref().take(parts_in_task).collect();
        (task, list.len().div_ceil(parts_in_task))
    };
    let help = || {
        let tasks = core::iter::repeat_with(|| next().0).take_while(|task| !task.is_empty());
        tasks.flatten().for_each(&run);
    };
    Threads::scope(|helpers| {
        let mut called = 0;
        loop {
            let (task, left) = next();
            if task.is_empty() {
                return;
            }
            // Threads that were busy before may be free now.
            while called < left.min(threads - 1) && helpers.call(|_| help()) {
                called += 1;
            }
            task.into_iter().for_each(&run);
        }
    });
}

/// Works on the calling thread until it is clear that other threads would help. Returns the weight
/// of a task for them, or `None` if all is done.
fn run_alone<J: Job>(jobs: &mut VecDeque<J>, are_few: bool, run: impl Fn(J)) -> Option<usize> {
    let mut weight_left: usize = jobs.iter().map(Job::weight).sum();
    let (mut rows_done, mut weight_done, mut next_look) = (0, 0, 0);
    let start = Stopwatch::start();
    while let Some(mut job) = jobs.pop_front() {
        if are_few {
            // Heavy work shows in a few rows, so each step doubles the visited rows.
            if let Some(first) = job.split_off(TRIAL_ROWS.max(rows_done)) {
                jobs.push_front(core::mem::replace(&mut job, first));
            }
        }
        rows_done += job.rows();
        weight_done += job.weight();
        weight_left = weight_left.saturating_sub(job.weight());
        run(job);
        if weight_done < next_look {
            continue;
        }
        let spent = start.elapsed();
        if spent < TRIAL {
            next_look = 2 * weight_done;
            continue;
        }
        let weight_in = |time: Duration| {
            let weight = time.as_nanos() * weight_done as u128 / spent.as_nanos();
            usize::try_from(weight).unwrap_or(usize::MAX)
        };
        if weight_left >= weight_in(SPLIT_MIN) {
            return Some(weight_in(TASK_MIN));
        }
        next_look = weight_done + weight_in(TRIAL);
    }
    None
}

/// Divides jobs if they are fewer than the wanted parts.
fn divide<J: Job>(jobs: VecDeque<J>, parts: usize, task_weight: usize) -> Vec<J> {
    let weight: usize = jobs.iter().map(Job::weight).sum();
    let part_weight = task_weight.max(weight / parts);
    let mut parts = Vec::new();
    for mut job in jobs {
        let rows = part_weight / job.row_bytes();
        parts.extend(core::iter::from_fn(|| job.split_off(rows)));
        parts.push(job);
    }
    parts
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::Arc;
    use std::thread;

    use super::super::threads::Crew;
    use super::*;

    /// A row that cannot be divided.
    struct Row(usize);

    impl Job for Row {
        fn rows(&self) -> usize {
            1
        }

        fn row_bytes(&self) -> usize {
            1
        }

        fn split_off(&mut self, _: usize) -> Option<Self> {
            None
        }
    }

    #[test]
    fn par_all_jobs_run_once_also_after_one_that_takes_long() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
        let threads = Threads::Crew(Arc::new(Crew::of_pool(pool)));
        for slow in [0, 50, 99, 100] {
            let ran: Vec<_> = (0..100).map(|_| AtomicUsize::new(0)).collect();
            threads.clone().during(|| {
                share((0..100).map(Row).collect(), |row| {
                    if row.0 == slow {
                        // So long that the estimate of a task rounds down to no work.
                        thread::sleep(Duration::from_millis(5));
                    }
                    ran[row.0].fetch_add(1, Ordering::Relaxed);
                });
            });
            let ran: Vec<_> = ran.into_iter().map(AtomicUsize::into_inner).collect();
            assert_eq!(ran, [1; 100], "row {slow} took long");
        }
    }
}

//! A stage on several threads: a list of systems that are ready, and the threads that take from it.
//!
//! The calling thread is one of them. It need not be woken, and the components that it has just
//! written are in its caches. Helpers are called for systems that it cannot take itself, and one
//! that finds no system ready goes, so that it can help with a parallel loop of another system. The
//! calling thread waits until a system is ready; but if it is a thread of a pool, it goes as well,
//! since rayon lets it help others while the stage lasts: a system may wait for them.

use core::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::query::Helpers;

/// The nodes of a stage's graph, and the threads that run them.
pub(super) struct ReadySystems<'a, R> {
    list: Mutex<List>,
    /// Told to the calling thread when it waits, and a node is ready or all have ended.
    told: Condvar,
    /// The nodes that wait for each node.
    successors: &'a [Vec<usize>],
    /// The rank of a node: of the ready ones, the one with the lowest rank starts first.
    rank: &'a (dyn Fn(usize) -> u64 + Sync),
    /// Runs a node.
    run: R,
    /// Threads that may run nodes at once.
    threads: usize,
}

#[derive(Debug)]
struct List {
    /// Ready nodes with their ranks, the lowest on top.
    ready: BinaryHeap<Reverse<(u64, usize)>>,
    /// For each node, its predecessors that have not ended.
    remaining: Vec<usize>,
    /// Nodes that have not ended.
    left: usize,
    /// Threads that run nodes, or are called to.
    at_work: usize,
    caller_waits: bool,
}

impl<'a, R: Fn(usize) + Sync> ReadySystems<'a, R> {
    /// `predecessors_len` has the number of nodes that each node waits for.
    pub(super) fn new(
        predecessors_len: &[usize],
        successors: &'a [Vec<usize>],
        rank: &'a (dyn Fn(usize) -> u64 + Sync),
        run: R,
        threads: usize,
    ) -> Self {
        let remaining = predecessors_len.to_vec();
        let ready = (0..remaining.len()).filter(|&at| remaining[at] == 0);
        let ready = ready.map(|at| Reverse((rank(at), at))).collect();
        let left = remaining.len();
        let list = List { ready, remaining, left, at_work: 1, caller_waits: false };
        Self { list: Mutex::new(list), told: Condvar::new(), successors, rank, run, threads }
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs nodes on the calling thread and on helpers, until all have ended; on a thread of a
    /// pool, until none is ready.
    pub(super) fn lead<'s>(&'s self, helpers: &Helpers<'_, 's>) {
        let is_pooled = rayon::current_thread_index().is_some();
        let mut list = self.lock();
        while list.left > 0 {
            if let Some(Reverse((_, at))) = list.ready.pop() {
                self.call_helpers(list, helpers);
                self.run_one(at);
                list = self.lock();
            } else if is_pooled {
                list.at_work -= 1;
                return;
            } else {
                list.caller_waits = true;
                list = self.told.wait(list).unwrap_or_else(PoisonError::into_inner);
                list.caller_waits = false;
            }
        }
    }

    /// Runs nodes until none is ready.
    fn help<'s>(&'s self, helpers: &Helpers<'_, 's>) {
        loop {
            let mut list = self.lock();
            let Some(Reverse((_, at))) = list.ready.pop() else {
                list.at_work -= 1;
                return;
            };
            self.call_helpers(list, helpers);
            self.run_one(at);
        }
    }

    /// Calls a thread for each node that is still ready, as far as threads are free.
    fn call_helpers<'s>(&'s self, mut list: MutexGuard<'_, List>, helpers: &Helpers<'_, 's>) {
        let mut calls = list.ready.len();
        if calls > 0 && list.caller_waits {
            self.told.notify_one();
            calls -= 1;
        }
        calls = calls.min(self.threads - list.at_work);
        list.at_work += calls;
        drop(list);
        let called = (0..calls).take_while(|_| helpers.call(|helpers| self.help(helpers))).count();
        if called < calls {
            self.lock().at_work -= calls - called;
        }
    }

    /// Runs a node. It ends also by a panic, which goes on: a thread may wait for its successors.
    fn run_one(&self, at: usize) {
        /// Ends a node, and the work of a thread that it unwinds.
        struct End<'e, 'a, R: Fn(usize) + Sync> {
            systems: &'e ReadySystems<'a, R>,
            at: usize,
            has_returned: bool,
        }

        impl<R: Fn(usize) + Sync> Drop for End<'_, '_, R> {
            fn drop(&mut self) {
                self.systems.end(self.at, self.has_returned);
            }
        }

        let mut end = End { systems: self, at, has_returned: false };
        (self.run)(at);
        end.has_returned = true;
    }

    fn end(&self, at: usize, thread_goes_on: bool) {
        let mut list = self.lock();
        for &next in &self.successors[at] {
            list.remaining[next] -= 1;
            if list.remaining[next] == 0 {
                list.ready.push(Reverse(((self.rank)(next), next)));
            }
        }
        list.left -= 1;
        list.at_work -= usize::from(!thread_goes_on);
        let is_stranded = !thread_goes_on && !list.ready.is_empty();
        if list.caller_waits && (list.left == 0 || is_stranded) {
            self.told.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use std::sync::Arc;
    use std::time::Duration;

    use crate::query::{Crew, Threads};

    use super::*;

    fn crew(threads: usize) -> Threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        Threads::Crew(Arc::new(Crew::of_pool(pool.expect("threads"))))
    }

    /// Runs a graph, in which edges lead to higher numbers, on some threads. Returns the order in
    /// which nodes ended.
    fn run(successors: &[Vec<usize>], threads: usize, node: impl Fn(usize) + Sync) -> Vec<usize> {
        let mut predecessors = vec![0; successors.len()];
        successors.iter().flatten().for_each(|&next| predecessors[next] += 1);
        let ended = Mutex::new(Vec::new());
        let rank = |at: usize| at as u64;
        let body = |at| {
            node(at);
            ended.lock().expect("no test panics here").push(at);
        };
        let systems = ReadySystems::new(&predecessors, successors, &rank, body, threads);
        crew(threads).during(|| Threads::scope(|helpers| systems.lead(helpers)));
        ended.into_inner().expect("no test panics here")
    }

    #[test]
    fn par_each_node_runs_once_and_after_its_predecessors() {
        let mut random = 0x2545_F491_4F6C_DD1D_u64;
        for round in 0..60 {
            let successors: Vec<Vec<usize>> = (0..24)
                .map(|at| {
                    let followers = at + 1..24;
                    followers
                        .filter(|_| {
                            random ^= random << 13;
                            random ^= random >> 7;
                            random ^= random << 17;
                            random.is_multiple_of(4)
                        })
                        .collect()
                })
                .collect();
            let order = run(&successors, 1 + round % 4, |_| {});
            let place = |node| order.iter().position(|&at| at == node).expect("every node ran");
            assert_eq!(order.len(), 24);
            for (at, next) in successors.iter().enumerate() {
                assert!(next.iter().all(|&next| place(at) < place(next)), "{order:?}");
            }
        }
    }

    #[test]
    fn one_thread_takes_the_lowest_rank_that_is_ready() {
        let successors = [vec![3], vec![], vec![], vec![]];
        assert_eq!(run(&successors, 1, |_| {}), [0, 1, 2, 3]);
    }

    #[test]
    fn par_the_calling_thread_is_one_of_the_threads() {
        let (caller, both) = (thread::current().id(), Barrier::new(2));
        let by_caller = AtomicUsize::new(0);
        run(&[vec![], vec![]], 2, |_| {
            both.wait();
            by_caller.fetch_add(usize::from(thread::current().id() == caller), Ordering::Relaxed);
        });
        assert_eq!(by_caller.into_inner(), 1);
    }

    #[test]
    fn par_a_panic_goes_on_and_no_thread_waits_for_ever() {
        // The later a node panics, the more of the others wait.
        for (thrower, wait) in (0..4).flat_map(|thrower| [(thrower, 0), (thrower, 20)]) {
            let successors = [vec![2, 3], vec![3], vec![], vec![]];
            let caught = catch_unwind(AssertUnwindSafe(|| {
                run(&successors, 2, |at| {
                    if at == thrower {
                        thread::sleep(Duration::from_millis(wait));
                        panic!("torn");
                    }
                });
            }));
            assert!(caught.is_err(), "{thrower}");
        }
    }

    #[test]
    fn par_a_thread_of_a_pool_serves_its_pool_while_it_leads() {
        let outer = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        let (both, ran) = (Barrier::new(2), AtomicUsize::new(0));
        outer.install(|| {
            run(&[vec![2], vec![2], vec![]], 2, |at| {
                let by_leader = outer.current_thread_index().is_some();
                if at < 2 {
                    both.wait();
                    if !by_leader {
                        outer.install(|| ran.fetch_add(1, Ordering::Relaxed));
                    }
                }
            });
        });
        assert_eq!(ran.into_inner(), 1);
    }

    #[test]
    fn par_the_calling_thread_waits_for_nodes_that_others_make_ready() {
        // 0 and 1 meet on two threads, and so do 2 and 3, which one of them makes ready.
        let (first, second) = (Barrier::new(2), Barrier::new(2));
        for _ in 0..20 {
            run(&[vec![2, 3], vec![], vec![], vec![]], 2, |at| {
                _ = if at < 2 { first.wait() } else { second.wait() };
            });
        }
    }
}

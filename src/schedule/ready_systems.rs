//! A stage on several threads: a list of systems that are ready, and the threads that take from it.
//!
//! The calling thread is one of them. It need not be woken, and the components that it has just
//! written are in its caches. The threads of the pool, its *helpers*, are woken for systems that it
//! cannot take itself. A helper that finds no system ready goes back to the pool, where it can help
//! with a parallel loop of another system. The calling thread is no thread of the pool, so it waits
//! until a system is ready.

use core::cmp::Reverse;
use core::mem;
use std::collections::BinaryHeap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rayon::Scope;

/// The nodes of a stage's graph, and the threads that run them.
pub(super) struct ReadySystems<'a, R> {
    list: Mutex<List>,
    /// Told to the calling thread when it waits, and nodes are ready or all have ended.
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

#[derive(Debug, Default)]
struct List {
    /// Ready nodes with their ranks, the lowest on top.
    ready: BinaryHeap<Reverse<(u64, usize)>>,
    /// For each node, its predecessors that have not ended.
    remaining: Vec<usize>,
    /// Nodes that have not ended.
    left: usize,
    /// Helpers that were called and have not gone.
    helpers: usize,
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
        let list = List { ready, left: remaining.len(), remaining, ..List::default() };
        Self { list: Mutex::new(list), told: Condvar::new(), successors, rank, run, threads }
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs all nodes, on the calling thread and on threads of the scope's pool.
    pub(super) fn lead<'s>(&'s self, scope: &Scope<'s>) {
        let mut list = self.lock();
        while list.left > 0 {
            if let Some(Reverse((_, at))) = list.ready.pop() {
                self.call_helpers(list, scope);
                self.run_one(at);
                list = self.lock();
            } else {
                list.caller_waits = true;
                list = self.told.wait(list).unwrap_or_else(PoisonError::into_inner);
                list.caller_waits = false;
            }
        }
    }

    /// Runs nodes until none is ready.
    fn help<'s>(&'s self, scope: &Scope<'s>) {
        loop {
            let mut list = self.lock();
            let Some(Reverse((_, at))) = list.ready.pop() else {
                list.helpers -= 1;
                return;
            };
            self.call_helpers(list, scope);
            self.run_one(at);
        }
    }

    /// Calls a thread for each node that is still ready, as far as there are threads.
    fn call_helpers<'s>(&'s self, mut list: MutexGuard<'_, List>, scope: &Scope<'s>) {
        let mut open = list.ready.len();
        if open > 0 && mem::take(&mut list.caller_waits) {
            self.told.notify_one();
            open -= 1;
        }
        let calls = open.min(self.threads - 1 - list.helpers);
        list.helpers += calls;
        drop(list);
        (0..calls).for_each(|_| scope.spawn(|scope| self.help(scope)));
    }

    /// Runs a node. It ends also by a panic, which goes on: the calling thread may wait for its
    /// successors.
    fn run_one(&self, at: usize) {
        /// Ends a node.
        struct End<'e, 'a, R: Fn(usize) + Sync>(&'e ReadySystems<'a, R>, usize);

        impl<R: Fn(usize) + Sync> Drop for End<'_, '_, R> {
            fn drop(&mut self) {
                self.0.end(self.1);
            }
        }

        let _end = End(self, at);
        (self.run)(at);
    }

    fn end(&self, at: usize) {
        let mut list = self.lock();
        for &next in &self.successors[at] {
            list.remaining[next] -= 1;
            if list.remaining[next] == 0 {
                list.ready.push(Reverse(((self.rank)(next), next)));
            }
        }
        list.left -= 1;
        if list.left == 0 && list.caller_waits {
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

    use rayon::{ThreadPool, ThreadPoolBuilder};

    use super::*;

    fn pool(threads: usize) -> ThreadPool {
        ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
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
        pool(threads).in_place_scope(|scope| systems.lead(scope));
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
        for thrower in 0..4 {
            let successors = [vec![2, 3], vec![3], vec![], vec![]];
            let caught = catch_unwind(AssertUnwindSafe(|| {
                run(&successors, 2, |at| assert_ne!(at, thrower, "torn"));
            }));
            assert!(caught.is_err(), "{thrower}");
        }
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

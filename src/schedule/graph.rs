//! The dependency graph of a schedule: the stage of each system, and what each system waits for.
//!
//! A *stage* is the work between two sync points. The stage of a system follows from the requested
//! order and from conflicts, and from nothing else:
//!
//! * A system that is ordered after one that records commands must see their effects, so it is in a
//!   later stage.
//! * All systems that were added before an explicit sync point are in earlier stages than those
//!   added after it.
//! * A system is in no earlier stage than a system that precedes it in the order and conflicts with
//!   it.
//!
//! Each system is in the first stage that these three rules allow. So the number of sync points is
//! the length of the longest chain of systems that must see each other's commands; the order of
//! insertion alone never adds one.
//!
//! Within a stage, an edge connects two systems if their order was requested, or if one writes what
//! the other accesses. It points from the earlier to the later system.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use super::error::{ScheduleError, Subject};
use super::order::{OrderEdge, OrderNode, Reason, SystemSet, requested_edges, topological_order};

/// The work between two sync points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stage {
    /// Its systems, in order.
    pub(super) systems: Vec<usize>,
    /// All requested edges and all conflicts between these systems, including those that others
    /// imply. Systems are numbered as in the schedule.
    pub(super) edges: Vec<OrderEdge>,
    /// The explicit sync points at its end.
    pub(super) explicit_syncs: Vec<usize>,
    /// Edges that cross the sync point at its end: `to` must see the commands recorded by `from`.
    pub(super) crossing: Vec<OrderEdge>,
}

impl Stage {
    /// Whether commands are applied at its end, or an explicit sync point ends it.
    pub(super) fn ends_in_sync(&self, nodes: &[OrderNode]) -> bool {
        !self.explicit_syncs.is_empty() || self.systems.iter().any(|&system| nodes[system].commands)
    }
}

/// The stages of these nodes, in order. `conflict` returns what two systems cannot share.
///
/// O(nodes² · conflict).
///
/// # Errors
///
/// If the requested order names no system or set, or has a cycle.
pub(super) fn stages(
    nodes: &[OrderNode],
    sets: &[SystemSet],
    conflict: impl Fn(usize, usize) -> Option<Subject>,
) -> Result<Vec<Stage>, ScheduleError> {
    let requested = requested_edges(nodes, sets)?;
    let order = topological_order(nodes, &requested)?;
    let mut conflicts = Vec::new();
    for (at, &to) in order.iter().enumerate() {
        for &from in order[..at].iter().filter(|&&from| !nodes[from].sync && !nodes[to].sync) {
            if let Some(what) = conflict(from, to) {
                conflicts.push(OrderEdge { from, to, reason: Reason::Conflict(what) });
            }
        }
    }
    let stage_of = stage_indices(nodes, &order, &requested, &conflicts);
    let len = order.iter().map(|&i| stage_of[i] + 1).max().unwrap_or(0);
    let mut stages = vec![Stage::default(); len];
    for &i in &order {
        let stage = &mut stages[stage_of[i]];
        if nodes[i].sync { stage.explicit_syncs.push(i) } else { stage.systems.push(i) }
    }
    for edge in requested.into_iter().chain(conflicts) {
        let (from, to) = (stage_of[edge.from], stage_of[edge.to]);
        if edge.reason == Reason::Sync {
            continue;
        }
        if from == to {
            stages[from].edges.push(edge);
        } else if nodes[edge.from].commands && !matches!(edge.reason, Reason::Conflict(_)) {
            stages[from].crossing.push(edge);
        }
    }
    Ok(stages)
}

/// The first stage that each node may be in.
fn stage_indices(
    nodes: &[OrderNode],
    order: &[usize],
    requested: &[OrderEdge],
    conflicts: &[OrderEdge],
) -> Vec<usize> {
    let mut incoming = vec![Vec::new(); nodes.len()];
    for edge in requested {
        // A sync point ends the stage of the systems before it.
        let ends = nodes[edge.from].sync || (nodes[edge.from].commands && !nodes[edge.to].sync);
        incoming[edge.to].push((edge.from, usize::from(ends)));
    }
    for edge in conflicts {
        incoming[edge.to].push((edge.from, 0));
    }
    let mut stage_of = vec![0; nodes.len()];
    for &i in order {
        let stages = incoming[i].iter().map(|&(from, steps)| stage_of[from] + steps);
        stage_of[i] = stages.max().unwrap_or(0);
    }
    stage_of
}

/// The dependency graph of a stage after transitive reduction. Systems are numbered by their index
/// in the stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DependencyGraph {
    pub(super) successors: Vec<Vec<usize>>,
    pub(super) predecessors_len: Vec<usize>,
}

impl DependencyGraph {
    /// The graph of a stage with the edges that `keep` accepts. O(systems · edges / 64).
    pub(super) fn new(stage: &Stage, keep: impl Fn(&OrderEdge) -> bool) -> Self {
        let len = stage.systems.len();
        let mut index_of = vec![0; stage.systems.iter().max().map_or(0, |&last| last + 1)];
        for (at, &system) in stage.systems.iter().enumerate() {
            index_of[system] = at;
        }
        let mut successors = vec![Vec::new(); len];
        for edge in stage.edges.iter().filter(|&edge| keep(edge)) {
            successors[index_of[edge.from]].push(index_of[edge.to]);
        }
        let successors = transitive_reduction(successors);
        let mut predecessors_len = vec![0; len];
        for &successor in successors.iter().flatten() {
            predecessors_len[successor] += 1;
        }
        Self { successors, predecessors_len }
    }

    /// Whether no two systems may run in parallel.
    pub(super) fn is_chain(&self) -> bool {
        (1..self.predecessors_len.len()).all(|at| self.successors[at - 1].contains(&at))
    }

    /// A topological order. Of the systems that are ready, the one of the least rank comes next.
    pub(super) fn order(&self, rank: &[u64]) -> Vec<usize> {
        let mut remaining = self.predecessors_len.clone();
        let key = |at: usize| Reverse((rank[at], at));
        let mut ready: BinaryHeap<_> =
            (0..remaining.len()).filter(|&at| remaining[at] == 0).map(key).collect();
        let mut order = Vec::with_capacity(remaining.len());
        while let Some(Reverse((_, next))) = ready.pop() {
            order.push(next);
            for &successor in &self.successors[next] {
                remaining[successor] -= 1;
                if remaining[successor] == 0 {
                    ready.push(key(successor));
                }
            }
        }
        order
    }
}

/// Removes every edge that a longer path implies. All edges lead to greater indices.
fn transitive_reduction(mut successors: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let words = successors.len().div_ceil(64);
    // The systems reachable from each system, as bits.
    let mut reach = vec![vec![0u64; words]; successors.len()];
    for at in (0..successors.len()).rev() {
        successors[at].sort_unstable();
        successors[at].dedup();
        let mut reached = vec![0u64; words];
        // In ascending order: what an earlier successor reaches needs no edge of its own.
        successors[at].retain(|&to| {
            let is_new = reached[to / 64] & (1 << (to % 64)) == 0;
            for (word, more) in reached.iter_mut().zip(&reach[to]) {
                *word |= more;
            }
            reached[to / 64] |= 1 << (to % 64);
            is_new
        });
        reach[at] = reached;
    }
    successors
}

#[cfg(test)]
mod tests {
    use super::super::target::Target;
    use super::*;

    fn node(name: &str) -> OrderNode {
        OrderNode { name: name.to_owned(), ..OrderNode::default() }
    }

    fn spawner(name: &str) -> OrderNode {
        OrderNode { commands: true, ..node(name) }
    }

    fn after(other: &str, node: OrderNode) -> OrderNode {
        OrderNode { after: vec![Target::Name(other.to_owned())], ..node }
    }

    fn systems(nodes: &[OrderNode], pairs: &[(usize, usize)]) -> Vec<Vec<usize>> {
        staged(nodes, pairs).into_iter().map(|stage| stage.systems).collect()
    }

    fn staged(nodes: &[OrderNode], pairs: &[(usize, usize)]) -> Vec<Stage> {
        let conflict = |a: usize, b: usize| {
            let is_pair = pairs.contains(&(a, b)) || pairs.contains(&(b, a));
            is_pair.then_some(Subject::Component("component"))
        };
        stages(nodes, &[], conflict).unwrap()
    }

    #[test]
    fn commands_alone_make_no_sync_point_between() {
        assert_eq!(systems(&[spawner("a"), spawner("b"), node("c")], &[(0, 2)]), [[0, 1, 2]]);
    }

    #[test]
    fn a_system_after_a_recorder_sees_its_commands() {
        let nodes = [spawner("a"), after("a", node("b"))];
        let stages = staged(&nodes, &[]);
        assert_eq!(stages.len(), 2);
        assert_eq!(stages[0].crossing.len(), 1);
        assert_eq!(systems(&[node("a"), after("a", node("b"))], &[]), [[0, 1]]);
    }

    #[test]
    fn one_sync_point_serves_all_pairs_that_need_one() {
        let nodes =
            [spawner("a"), after("a", node("b")), spawner("c"), after("c", node("d")), node("e")];
        assert_eq!(systems(&nodes, &[]), [vec![0, 2, 4], vec![1, 3]]);
    }

    #[test]
    fn a_chain_of_commands_needs_a_sync_point_a_link() {
        let nodes = [spawner("a"), after("a", spawner("b")), after("b", spawner("c"))];
        assert_eq!(systems(&nodes, &[]), [[0], [1], [2]]);
    }

    #[test]
    fn a_conflict_keeps_the_order_over_a_sync_point() {
        let nodes = [spawner("a"), after("a", node("b")), node("c"), node("d")];
        // `c` comes after `b`, which is in the second stage.
        assert_eq!(systems(&nodes, &[(1, 2)]), [vec![0, 3], vec![1, 2]]);
    }

    #[test]
    fn an_explicit_sync_point_ends_a_stage_once() {
        let sync = OrderNode { sync: true, ..node("sync") };
        let nodes = [spawner("a"), node("b"), sync, after("a", node("c"))];
        let stages = staged(&nodes, &[]);
        let systems: Vec<_> = stages.iter().map(|stage| stage.systems.clone()).collect();
        assert_eq!(systems, [vec![0, 1], vec![3]]);
        assert_eq!(stages[0].explicit_syncs, [2]);
    }

    #[test]
    fn implied_edges_are_removed() {
        let nodes = [node("a"), node("b"), node("c"), node("d")];
        let stages = staged(&nodes, &[(0, 1), (1, 2), (0, 2), (0, 3)]);
        let graph = DependencyGraph::new(&stages[0], |_| true);
        assert_eq!(graph.successors, [vec![1, 3], vec![2], vec![], vec![]]);
        assert_eq!(graph.predecessors_len, [0, 1, 1, 1]);
        assert!(!graph.is_chain(), "c and d may run side by side");
    }

    #[test]
    fn a_chain_is_recognised() {
        let nodes = [node("a"), node("b"), node("c")];
        let stages = staged(&nodes, &[(0, 1), (1, 2), (0, 2)]);
        assert!(
            DependencyGraph::new(&stages[0], |_| true).is_chain(),
            "each waits for the one before"
        );
        assert!(!DependencyGraph::new(&stages[0], |edge| edge.to != 2).is_chain(), "c is free");
    }

    #[test]
    fn any_rank_gives_a_topological_order() {
        let nodes = ["a", "b", "c", "d"].map(node);
        let stages = staged(&nodes, &[(0, 2), (1, 3)]);
        let graph = DependencyGraph::new(&stages[0], |_| true);
        assert_eq!(graph.order(&[0; 4]), [0, 1, 2, 3]);
        assert_eq!(graph.order(&[9, 0, 1, 2]), [1, 3, 0, 2]);
    }
}

//! The graph of a schedule: which systems stand in which stage, and who waits for whom.
//!
//! A *stage* is what runs between two sync points. Which stage a system stands in follows from the
//! order that was asked for, and from nothing else:
//!
//! * a system that was put after one that records commands has to see what they did, so it stands
//!   in a later stage;
//! * a sync point that was placed by hand has all that was added before it in earlier stages;
//! * a system is in no earlier stage than one that comes before it and that it conflicts with.
//!
//! Each system stands in the first stage that these three allow. So there are as many sync points
//! as the longest chain of systems that must see each other's commands, and none is there only
//! because of the order of insertion.
//!
//! Inside a stage an edge leads from one system to another if that was asked for, or if one writes
//! what the other one names; it leads from the one that comes first in the order.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use super::error::{ScheduleError, Subject};
use super::order::{Edge, Node, Reason, Set, asked_for, sorted};

/// What runs between two sync points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stage {
    /// Its systems, in order.
    pub(super) systems: Vec<usize>,
    /// Who waits for whom, by the systems' numbers in the schedule. All that was asked for, and
    /// all conflicts, also those that others imply.
    pub(super) edges: Vec<Edge>,
    /// The sync points that were placed by hand at its end.
    pub(super) by_hand: Vec<usize>,
    /// Who has to see what whom recorded: the reasons of the sync point at its end.
    pub(super) seen: Vec<Edge>,
}

/// All stages, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Graph {
    pub(super) stages: Vec<Stage>,
}

impl Stage {
    /// Whether something is applied at its end, or it was ended by hand.
    pub(super) fn ends_in_sync(&self, nodes: &[Node]) -> bool {
        !self.by_hand.is_empty() || self.systems.iter().any(|&system| nodes[system].commands)
    }
}

impl Graph {
    /// The graph of these nodes. `conflict` says what two of them cannot share.
    ///
    /// O(nodes² · conflict).
    ///
    /// # Errors
    ///
    /// If the order that was asked for names nobody, or goes in a circle.
    pub(super) fn new(
        nodes: &[Node],
        sets: &[Set],
        conflict: impl Fn(usize, usize) -> Option<Subject>,
    ) -> Result<Self, ScheduleError> {
        let asked = asked_for(nodes, sets)?;
        let order = sorted(nodes, &asked)?;
        let mut conflicts = Vec::new();
        for (at, &to) in order.iter().enumerate() {
            for &from in order[..at].iter().filter(|&&from| !nodes[from].sync && !nodes[to].sync) {
                if let Some(what) = conflict(from, to) {
                    conflicts.push(Edge { from, to, reason: Reason::Conflict(what) });
                }
            }
        }
        let stage_of = stages(nodes, &order, &asked, &conflicts);
        Ok(Self::staged(nodes, &order, &stage_of, asked, conflicts))
    }

    fn staged(
        nodes: &[Node],
        order: &[usize],
        stage_of: &[usize],
        asked: Vec<Edge>,
        conflicts: Vec<Edge>,
    ) -> Self {
        let len = order.iter().map(|&i| stage_of[i] + 1).max().unwrap_or(0);
        let mut stages = vec![Stage::default(); len];
        for &i in order {
            let stage = &mut stages[stage_of[i]];
            if nodes[i].sync { stage.by_hand.push(i) } else { stage.systems.push(i) }
        }
        for edge in asked.into_iter().chain(conflicts) {
            let (from, to) = (stage_of[edge.from], stage_of[edge.to]);
            if edge.reason == Reason::Sync {
                continue;
            }
            if from == to {
                stages[from].edges.push(edge);
            } else if nodes[edge.from].commands && !matches!(edge.reason, Reason::Conflict(_)) {
                stages[from].seen.push(edge);
            }
        }
        Self { stages }
    }
}

/// The first stage that each node may stand in.
fn stages(nodes: &[Node], order: &[usize], asked: &[Edge], conflicts: &[Edge]) -> Vec<usize> {
    let mut incoming = vec![Vec::new(); nodes.len()];
    for edge in asked {
        // A sync point ends the stage of those before it.
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

/// Who starts when whom has finished: the edges of a stage without those that others imply, by the
/// systems' places in the stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DependencyGraph {
    pub(super) successors: Vec<Vec<usize>>,
    /// How many each one waits for.
    pub(super) waits_for: Vec<usize>,
}

impl DependencyGraph {
    /// The wiring of a stage with those of its edges that `keep` keeps. O(systems · edges / 64).
    pub(super) fn new(stage: &Stage, keep: impl Fn(&Edge) -> bool) -> Self {
        let len = stage.systems.len();
        let mut place = vec![0; stage.systems.iter().max().map_or(0, |&last| last + 1)];
        for (at, &system) in stage.systems.iter().enumerate() {
            place[system] = at;
        }
        let mut successors = vec![Vec::new(); len];
        for edge in stage.edges.iter().filter(|&edge| keep(edge)) {
            successors[place[edge.from]].push(place[edge.to]);
        }
        let successors = reduced(successors);
        let mut waits_for = vec![0; len];
        for &successor in successors.iter().flatten() {
            waits_for[successor] += 1;
        }
        Self { successors, waits_for }
    }

    /// Whether no two systems may run side by side.
    pub(super) fn is_chain(&self) -> bool {
        (1..self.waits_for.len()).all(|at| self.successors[at - 1].contains(&at))
    }

    /// All places in an order that respects the wiring. Of those that may come next it is the one
    /// of the least rank.
    pub(super) fn order(&self, rank: &[u64]) -> Vec<usize> {
        let mut missing = self.waits_for.clone();
        let key = |at: usize| Reverse((rank[at], at));
        let mut ready: BinaryHeap<_> =
            (0..missing.len()).filter(|&at| missing[at] == 0).map(key).collect();
        let mut order = Vec::with_capacity(missing.len());
        while let Some(Reverse((_, next))) = ready.pop() {
            order.push(next);
            for &successor in &self.successors[next] {
                missing[successor] -= 1;
                if missing[successor] == 0 {
                    ready.push(key(successor));
                }
            }
        }
        order
    }
}

/// Leaves out every edge beside which a longer way leads to the same place. All edges lead to
/// greater places.
fn reduced(mut successors: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let words = successors.len().div_ceil(64);
    // Whom each place reaches, as bits.
    let mut reach = vec![vec![0u64; words]; successors.len()];
    for at in (0..successors.len()).rev() {
        successors[at].sort_unstable();
        successors[at].dedup();
        let mut reached = vec![0u64; words];
        // The nearest come first, and what they reach needs no edge of its own.
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
    use super::*;

    fn node(name: &str) -> Node {
        Node { name: name.to_owned(), ..Node::default() }
    }

    fn spawner(name: &str) -> Node {
        Node { commands: true, ..node(name) }
    }

    fn after(other: &str, node: Node) -> Node {
        Node { after: vec![other.to_owned()], ..node }
    }

    fn systems(nodes: &[Node], pairs: &[(usize, usize)]) -> Vec<Vec<usize>> {
        graph(nodes, pairs).stages.into_iter().map(|stage| stage.systems).collect()
    }

    fn graph(nodes: &[Node], pairs: &[(usize, usize)]) -> Graph {
        let conflict = |a: usize, b: usize| {
            let is_pair = pairs.contains(&(a, b)) || pairs.contains(&(b, a));
            is_pair.then_some(Subject::Component("component"))
        };
        Graph::new(nodes, &[], conflict).unwrap()
    }

    #[test]
    fn commands_alone_make_no_sync_point_between() {
        assert_eq!(systems(&[spawner("a"), spawner("b"), node("c")], &[(0, 2)]), [[0, 1, 2]]);
    }

    #[test]
    fn whoever_is_put_after_commands_sees_them() {
        let nodes = [spawner("a"), after("a", node("b"))];
        let graph = graph(&nodes, &[]);
        assert_eq!(graph.stages.len(), 2);
        assert_eq!(graph.stages[0].seen.len(), 1);
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
    fn a_sync_point_by_hand_ends_a_stage_once() {
        let sync = Node { sync: true, ..node("sync") };
        let nodes = [spawner("a"), node("b"), sync, after("a", node("c"))];
        let graph = graph(&nodes, &[]);
        let systems: Vec<_> = graph.stages.iter().map(|stage| stage.systems.clone()).collect();
        assert_eq!(systems, [vec![0, 1], vec![3]]);
        assert_eq!(graph.stages[0].by_hand, [2]);
    }

    #[test]
    fn implied_edges_are_not_waited_for() {
        let nodes = [node("a"), node("b"), node("c"), node("d")];
        let graph = graph(&nodes, &[(0, 1), (1, 2), (0, 2), (0, 3)]);
        let wiring = DependencyGraph::new(&graph.stages[0], |_| true);
        assert_eq!(wiring.successors, [vec![1, 3], vec![2], vec![], vec![]]);
        assert_eq!(wiring.waits_for, [0, 1, 1, 1]);
        assert!(!wiring.is_chain(), "c and d may run side by side");
    }

    #[test]
    fn a_chain_is_seen_as_one() {
        let nodes = [node("a"), node("b"), node("c")];
        let graph = graph(&nodes, &[(0, 1), (1, 2), (0, 2)]);
        assert!(
            DependencyGraph::new(&graph.stages[0], |_| true).is_chain(),
            "each waits for the last"
        );
        assert!(
            !DependencyGraph::new(&graph.stages[0], |edge| edge.to != 2).is_chain(),
            "c is free"
        );
    }

    #[test]
    fn any_rank_gives_an_order_that_respects_the_wiring() {
        let nodes = ["a", "b", "c", "d"].map(node);
        let graph = graph(&nodes, &[(0, 2), (1, 3)]);
        let wiring = DependencyGraph::new(&graph.stages[0], |_| true);
        assert_eq!(wiring.order(&[0; 4]), [0, 1, 2, 3]);
        assert_eq!(wiring.order(&[9, 0, 1, 2]), [1, 3, 0, 2]);
    }
}

//! The dependency graph of a schedule: the stage of each system, and the systems that it waits for.
//!
//! A *stage* is the work between two sync points. The stage of a system follows only from the
//! requested order and from conflicts:
//!
//! * A system that is ordered after one that records commands must see their effects, so it is in a
//!   later stage.
//! * All systems that were added before an explicit sync point are in earlier stages than the
//!   systems added after it.
//! * A system is in no earlier stage than a system that precedes it in the order and conflicts with
//!   it.
//!
//! Each system is in the first stage that these three rules allow. So the number of sync points is
//! the length of the longest chain of systems that must see each other's commands; the order of
//! insertion alone never adds one.
//!
//! Within a stage, a system waits for the systems that were requested before it, and for earlier
//! ones that it conflicts with. If many systems come before many others, they meet at a junction: a
//! node that runs no system.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use super::edges::Edges;
use super::node_set::NodeSet;
use super::order::{OrderNode, SystemSet};
use super::requests::requested_order;
use super::schedule_error::ScheduleError;
use super::topology::topological_order;

/// The work between two sync points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stage {
    /// Its systems, in order.
    pub(super) systems: Vec<usize>,
    /// The requested order of its systems, by their index in the stage.
    pub(super) requested: Edges,
    /// The order of its systems that conflict in a possible world, likewise.
    pub(super) conflicts: Edges,
    /// The explicit sync points at its end.
    pub(super) explicit_syncs: Vec<usize>,
}

impl Stage {
    /// Whether commands are applied at its end, or an explicit sync point ends it.
    pub(super) fn ends_in_sync(&self, nodes: &[OrderNode]) -> bool {
        !self.explicit_syncs.is_empty() || self.systems.iter().any(|&system| nodes[system].commands)
    }
}

/// The stages of these nodes, in order. `conflicts` returns the edges between nodes of an order
/// that conflict, numbered by their place in it.
///
/// O(nodes log nodes + edges).
///
/// # Errors
///
/// If the requested order names no system or set, or has a cycle.
pub(super) fn stages(
    nodes: &[OrderNode],
    sets: &[SystemSet],
    conflicts: impl FnOnce(&[usize]) -> Edges,
) -> Result<Vec<Stage>, ScheduleError> {
    let requested = requested_order(nodes, sets)?;
    let order = topological_order(nodes, sets, &requested)?;
    let conflicts = conflicts(&order).renumbered(|at| order[at]);
    let stage_of = stage_indices(nodes, &order, &requested, &conflicts);
    let len = order.iter().map(|&i| stage_of[i] + 1).max().unwrap_or(0);
    let mut stages = vec![Stage::default(); len];
    let mut index_of = vec![0; nodes.len()];
    for &i in &order {
        let stage = &mut stages[stage_of[i]];
        if nodes[i].sync {
            stage.explicit_syncs.push(i);
        } else {
            index_of[i] = stage.systems.len();
            stage.systems.push(i);
        }
    }
    let requested = requested.with_pairs_of(|i| !nodes[i].sync).parted(&stage_of, len);
    let conflicts = conflicts.parted(&stage_of, len);
    for (stage, (requested, conflicts)) in
        stages.iter_mut().zip(requested.into_iter().zip(conflicts))
    {
        stage.requested = requested.renumbered(|i| index_of[i]);
        stage.conflicts = conflicts.renumbered(|i| index_of[i]);
    }
    Ok(stages)
}

/// The first stage that each node may be in.
fn stage_indices(
    nodes: &[OrderNode],
    order: &[usize],
    requested: &Edges,
    conflicts: &Edges,
) -> Vec<usize> {
    let mut requested = Incoming::new(requested, nodes.len());
    let mut conflicts = Incoming::new(conflicts, nodes.len());
    let mut first = vec![0; nodes.len()];
    for &i in order {
        // A sync point ends the stage of the systems before it.
        let ends = |from: usize| nodes[from].sync || (nodes[from].commands && !nodes[i].sync);
        let asked = requested.max(i, |from| first[from] + usize::from(ends(from)));
        let free = conflicts.max(i, |from| first[from]);
        first[i] = asked.max(free);
    }
    first
}

/// The edges that lead to each node.
struct Incoming<'e> {
    edges: &'e Edges,
    /// For each node: the nodes before it, and its junctions.
    of_nodes: Vec<(Vec<usize>, Vec<usize>)>,
    /// The maximum at each junction, once it is known.
    at_junctions: Vec<Option<usize>>,
}

impl<'e> Incoming<'e> {
    fn new(edges: &'e Edges, nodes: usize) -> Self {
        let mut of_nodes = vec![(Vec::new(), Vec::new()); nodes];
        edges.pairs.iter().for_each(|&(from, to)| of_nodes[to].0.push(from));
        for (j, junction) in edges.junctions.iter().enumerate() {
            junction.to.iter().for_each(|&to| of_nodes[to].1.push(j));
        }
        Self { edges, of_nodes, at_junctions: vec![None; edges.junctions.len()] }
    }

    /// The maximum of `value` over all nodes before a node, which are final. Explicit sync points
    /// have no junctions, so `value` is the same for all nodes after one.
    fn max(&mut self, node: usize, value: impl Fn(usize) -> usize) -> usize {
        let (from, junctions) = &self.of_nodes[node];
        let direct = from.iter().map(|&from| value(from));
        let through = junctions.iter().map(|&j| {
            let from = &self.edges.junctions[j].from;
            *self.at_junctions[j]
                .get_or_insert_with(|| largest(from.iter().map(|&from| value(from))))
        });
        largest(direct.chain(through))
    }
}

fn largest(values: impl Iterator<Item = usize>) -> usize {
    values.max().unwrap_or(0)
}

/// The dependencies of the systems of a stage, without edges that longer paths imply.
///
/// Its nodes are the systems, by their index in the stage, followed by junctions, which run no
/// system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DependencyGraph {
    pub(super) successors: Vec<Vec<usize>>,
    pub(super) predecessors_len: Vec<usize>,
    /// All nodes in order: each junction comes right after the last system before it.
    pub(super) sequence: Vec<usize>,
}

impl DependencyGraph {
    /// The graph of some systems. Edges lead from lower to higher numbers.
    ///
    /// O(edges · nodes / 64).
    pub(super) fn new<'e>(systems: usize, lists: impl IntoIterator<Item = &'e Edges>) -> Self {
        let mut edges = Edges::default();
        for Edges { pairs, junctions } in lists.into_iter().map(Edges::without_small_junctions) {
            edges.pairs.extend(pairs);
            edges.junctions.extend(junctions);
        }
        let sequence = sequence(systems, &edges);
        let mut successors = edges.successors(systems);
        reduce(&mut successors, &sequence);
        let mut predecessors_len = vec![0; successors.len()];
        successors.iter().flatten().for_each(|&successor| predecessors_len[successor] += 1);
        Self { successors, predecessors_len, sequence }
    }

    /// Whether no two of `systems` systems may run in parallel.
    pub(super) fn is_chain(&self, systems: usize) -> bool {
        // The number of systems on the longest path to each node.
        let mut depth = vec![0; self.successors.len()];
        for &at in &self.sequence {
            let own = depth[at] + usize::from(at < systems);
            self.successors[at].iter().for_each(|&next| depth[next] = own.max(depth[next]));
            depth[at] = own;
        }
        depth.into_iter().max().unwrap_or(0) == systems
    }

    /// A topological order of all nodes. Of the ready systems, the one with the lowest rank comes
    /// next. Junctions have no rank, and come at once.
    pub(super) fn order(&self, rank: &[u64]) -> Vec<usize> {
        let mut remaining = self.predecessors_len.clone();
        let key = |at: usize| Reverse((rank.get(at).copied().unwrap_or(0), at));
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

/// The systems in order, and each junction after the last system before it.
fn sequence(systems: usize, edges: &Edges) -> Vec<usize> {
    let mut ended = vec![Vec::new(); systems];
    for (j, junction) in edges.junctions.iter().enumerate() {
        let last = junction.from.iter().max().expect("a junction has systems before it");
        ended[*last].push(systems + j);
    }
    (0..systems).flat_map(|at| [at].into_iter().chain(ended[at].iter().copied())).collect()
}

/// Removes every edge that a longer path implies. `sequence` is a topological order.
fn reduce(successors: &mut [Vec<usize>], sequence: &[usize]) {
    let mut place = vec![0; successors.len()];
    sequence.iter().enumerate().for_each(|(at, &node)| place[node] = at);
    // The nodes reachable from each.
    let mut reach = vec![NodeSet::default(); successors.len()];
    for &at in sequence.iter().rev() {
        successors[at].sort_unstable_by_key(|&to| place[to]);
        successors[at].dedup();
        let mut reached = NodeSet::default();
        // In order: a node that an earlier successor reaches needs no edge of its own.
        successors[at].retain(|&to| {
            let is_new = !reached.contains(to);
            if is_new {
                reached.unite(&reach[to]);
                reached.insert(to);
            }
            is_new
        });
        reach[at] = reached;
    }
}

#[cfg(test)]
mod tests {
    use super::super::edges::Junction;
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
        let conflicts = |order: &[usize]| {
            let place = |node: usize| order.iter().position(|&one| one == node).unwrap();
            let pairs = pairs.iter().map(|&(a, b)| (place(a), place(b)));
            let pairs = pairs.map(|(a, b)| (a.min(b), a.max(b))).collect();
            Edges { pairs, ..Edges::default() }
        };
        stages(nodes, &[], conflicts).unwrap()
    }

    fn graph(stage: &Stage) -> DependencyGraph {
        DependencyGraph::new(stage.systems.len(), [&stage.requested, &stage.conflicts])
    }

    #[test]
    fn commands_alone_make_no_sync_point_between() {
        assert_eq!(systems(&[spawner("a"), spawner("b"), node("c")], &[(0, 2)]), [[0, 1, 2]]);
    }

    #[test]
    fn a_system_after_a_recorder_sees_its_commands() {
        let nodes = [spawner("a"), after("a", node("b"))];
        assert_eq!(systems(&nodes, &[]), [[0], [1]]);
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
        let graph = graph(&stages[0]);
        assert_eq!(graph.successors, [vec![1, 3], vec![2], vec![], vec![]]);
        assert_eq!(graph.predecessors_len, [0, 1, 1, 1]);
        assert!(!graph.is_chain(4), "c and d may run side by side");
    }

    #[test]
    fn a_chain_is_recognised() {
        let nodes = [node("a"), node("b"), node("c")];
        let is_chain = |pairs| graph(&staged(&nodes, pairs)[0]).is_chain(3);
        assert!(is_chain(&[(0, 1), (1, 2), (0, 2)]), "each waits for the one before");
        assert!(!is_chain(&[(0, 1)]), "c is free");
        let junction = Junction { from: vec![0, 1], to: vec![2, 3, 4] };
        let edges =
            |pairs: &[_]| Edges { pairs: pairs.to_vec(), junctions: vec![junction.clone()] };
        let is_chain = |pairs| DependencyGraph::new(5, [&edges(pairs)]).is_chain(5);
        assert!(is_chain(&[(0, 1), (2, 3), (3, 4)]), "through a junction");
        assert!(!is_chain(&[(0, 1), (2, 3), (2, 4)]), "the last two may run side by side");
    }

    #[test]
    fn a_junction_follows_the_systems_before_it() {
        let junctions = vec![Junction { from: vec![0, 2], to: vec![3, 4, 5] }];
        let edges = Edges { pairs: vec![(0, 3), (1, 4)], junctions };
        let graph = DependencyGraph::new(6, [&edges]);
        assert_eq!(graph.sequence, [0, 1, 2, 6, 3, 4, 5]);
        let (junction, end) = (vec![6], Vec::new());
        let after = [end.clone(), end.clone(), end.clone(), vec![3, 4, 5]];
        let before = [junction.clone(), vec![4], junction];
        assert_eq!(graph.successors, [&before[..], &after[..]].concat(), "0 waits twice for 3");
        assert_eq!(graph.order(&[9, 1, 0, 5, 4, 3]), [2, 1, 0, 6, 5, 4, 3]);
    }

    #[test]
    fn any_rank_gives_a_topological_order() {
        let nodes = ["a", "b", "c", "d"].map(node);
        let stages = staged(&nodes, &[(0, 2), (1, 3)]);
        let graph = graph(&stages[0]);
        assert_eq!(graph.order(&[0; 4]), [0, 1, 2, 3]);
        assert_eq!(graph.order(&[9, 0, 1, 2]), [1, 3, 0, 2]);
    }
}

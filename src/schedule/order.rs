//! The order that was asked for: names resolved to edges, and edges to one order.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use super::error::ScheduleError;

/// What stands in a schedule: a system, or a sync point that was placed by hand.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) sets: Vec<String>,
    /// Names of systems or sets that come after this one.
    pub(super) before: Vec<String>,
    /// Names of systems or sets that come before this one.
    pub(super) after: Vec<String>,
    /// A sync point: all that was added before it comes before it, the rest after it.
    pub(super) sync: bool,
    /// It records commands, which whoever is ordered after it has to see.
    pub(super) commands: bool,
}

impl Node {
    fn answers_to(&self, name: &str) -> bool {
        !self.sync && (self.name == name || self.sets.iter().any(|set| set == name))
    }
}

/// Why one node comes before another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The first says `.before` with this name of the second.
    Before(String),
    /// The second says `.after` with this name of the first.
    After(String),
    /// One of the two is a sync point that was placed by hand.
    Sync,
    /// Both name it, and one of them writes it.
    Conflict(String),
}

/// An arrow from a node to one that comes after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) reason: Reason,
}

/// The edges that were asked for, by name or by a sync point.
///
/// # Errors
///
/// If a name is nobody's.
pub(super) fn asked_for(nodes: &[Node]) -> Result<Vec<Edge>, ScheduleError> {
    let mut edges = Vec::new();
    for (i, node) in nodes.iter().enumerate() {
        if node.sync {
            let reason = || Reason::Sync;
            edges.extend((0..i).map(|from| Edge { from, to: i, reason: reason() }));
            edges.extend((i + 1..nodes.len()).map(|to| Edge { from: i, to, reason: reason() }));
        }
        for name in &node.before {
            for to in named(nodes, i, name)? {
                edges.push(Edge { from: i, to, reason: Reason::Before(name.clone()) });
            }
        }
        for name in &node.after {
            for from in named(nodes, i, name)? {
                edges.push(Edge { from, to: i, reason: Reason::After(name.clone()) });
            }
        }
    }
    Ok(edges)
}

/// Who answers to a name, but for the one who asks: it may be a member of the set.
fn named(nodes: &[Node], asking: usize, name: &str) -> Result<Vec<usize>, ScheduleError> {
    let found: Vec<_> = (0..nodes.len()).filter(|&i| nodes[i].answers_to(name)).collect();
    if found.is_empty() {
        let mut known: Vec<String> = Vec::new();
        for node in nodes.iter().filter(|node| !node.sync) {
            known.push(node.name.clone());
            known.extend(node.sets.iter().cloned());
        }
        known.sort();
        known.dedup();
        let system = nodes[asking].name.clone();
        return Err(ScheduleError::UnknownName { system, name: name.to_owned(), known });
    }
    Ok(found.into_iter().filter(|&i| i != asking).collect())
}

/// All nodes in an order that respects the edges: of those that may come next, always the one that
/// was added first. O(nodes log nodes + edges).
///
/// # Errors
///
/// If the edges go in a circle.
pub(super) fn sorted(nodes: &[Node], edges: &[Edge]) -> Result<Vec<usize>, ScheduleError> {
    let mut successors = vec![Vec::new(); nodes.len()];
    let mut missing = vec![0; nodes.len()];
    for edge in edges {
        successors[edge.from].push(edge.to);
        missing[edge.to] += 1;
    }
    let free = |&i: &usize| missing[i] == 0;
    let mut ready: BinaryHeap<_> = (0..nodes.len()).filter(free).map(Reverse).collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(Reverse(next)) = ready.pop() {
        order.push(next);
        for &successor in &successors[next] {
            missing[successor] -= 1;
            if missing[successor] == 0 {
                ready.push(Reverse(successor));
            }
        }
    }
    if order.len() == nodes.len() { Ok(order) } else { Err(cycle(nodes, edges, &missing)) }
}

/// A circle among the nodes that never became ready: each of them waits for another of them.
#[cold]
fn cycle(nodes: &[Node], edges: &[Edge], missing: &[usize]) -> ScheduleError {
    let stuck = |i: usize| missing[i] > 0;
    let waits_for = |i: usize| {
        let edge = edges.iter().find(|edge| edge.to == i && stuck(edge.from));
        edge.expect("a node that is stuck waits for one that is stuck").from
    };
    let start = (0..nodes.len()).find(|&i| stuck(i)).expect("somebody is stuck");
    // So many steps back lead from whoever waits for the circle into it.
    let within = (0..nodes.len()).fold(start, |i, _| waits_for(i));
    let mut members = vec![within];
    let mut next = waits_for(within);
    while next != within {
        members.push(next);
        next = waits_for(next);
    }
    members.reverse();
    let first = (0..members.len()).min_by_key(|&at| members[at]).expect("a circle has a member");
    members.rotate_left(first);
    let members = members.into_iter().map(|i| nodes[i].name.clone()).collect();
    ScheduleError::Cycle { members }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str) -> Node {
        Node { name: name.to_owned(), ..Node::default() }
    }

    fn after(name: &str, other: &str) -> Node {
        Node { after: vec![other.to_owned()], ..node(name) }
    }

    fn order(nodes: &[Node]) -> Result<Vec<usize>, ScheduleError> {
        sorted(nodes, &asked_for(nodes)?)
    }

    #[test]
    fn without_a_wish_the_order_is_that_of_insertion() {
        assert_eq!(order(&[node("c"), node("a"), node("b")]), Ok(vec![0, 1, 2]));
    }

    #[test]
    fn before_and_after_bend_the_order_as_little_as_they_can() {
        let first = Node { before: vec!["a".into()], ..node("d") };
        let nodes = [after("a", "c"), node("b"), node("c"), first];
        assert_eq!(order(&nodes), Ok(vec![1, 2, 3, 0]));
    }

    #[test]
    fn a_set_stands_for_its_members_and_nobody_waits_for_itself() {
        let member = |name| Node { sets: vec!["set".into()], ..node(name) };
        let last = Node { after: vec!["set".into()], ..member("last") };
        let nodes = [last, member("a"), member("b")];
        assert_eq!(order(&nodes), Ok(vec![1, 2, 0]));
    }

    #[test]
    fn a_sync_point_parts_what_was_added_before_it_from_the_rest() {
        let sync = Node { sync: true, ..node("sync") };
        assert_eq!(order(&[node("a"), sync.clone(), node("b")]), Ok(vec![0, 1, 2]));
        let error = order(&[after("a", "b"), sync, node("b")]).unwrap_err();
        let members = ["a", "sync", "b"].map(str::to_owned).to_vec();
        assert_eq!(error, ScheduleError::Cycle { members });
    }

    #[test]
    fn a_cycle_is_told_by_its_members_in_order_without_those_that_wait_for_it() {
        let nodes = [after("w", "a"), after("a", "c"), after("b", "a"), after("c", "b"), node("z")];
        let members = ["a", "b", "c"].map(str::to_owned).to_vec();
        assert_eq!(order(&nodes), Err(ScheduleError::Cycle { members }));
    }

    #[test]
    fn an_unknown_name_is_told_with_the_known_ones() {
        let error = order(&[after("a", "x"), node("b")]).unwrap_err();
        let known = ["a", "b"].map(str::to_owned).to_vec();
        let (system, name) = ("a".to_owned(), "x".to_owned());
        assert_eq!(error, ScheduleError::UnknownName { system, name, known });
    }
}

//! The requested order: names resolved to edges, and edges to one topological order.

use core::any::TypeId;
use core::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::error::{ScheduleError, Subject};
use super::name::FunctionName;
use super::target::Target;

/// A node of the order: a system or an explicit sync point.
#[derive(Clone, Debug, Default)]
pub(super) struct OrderNode {
    pub(super) name: String,
    /// The type of the function.
    pub(super) id: Option<TypeId>,
    /// Other names of a system that was not named explicitly.
    pub(super) function: FunctionName,
    /// The name in errors and timings: `name`, or the path if another function has the same name.
    pub(super) label: String,
    pub(super) sets: Vec<String>,
    /// Systems or sets that come after this one.
    pub(super) before: Vec<Target>,
    /// Systems or sets that come before this one.
    pub(super) after: Vec<Target>,
    /// The systems to which this one was added with `then`, or that precede it in a chain.
    pub(super) follows: Vec<usize>,
    /// Whether it is a sync point: nodes added before it come before it, the others after it.
    pub(super) sync: bool,
    /// Whether it records commands, which systems ordered after it must see.
    pub(super) commands: bool,
}

impl OrderNode {
    pub(super) fn is_in(&self, set: &str) -> bool {
        self.sets.iter().any(|one| one == set)
    }

    /// Whether it is what a name or function means: one of its names or of its sets, or its
    /// function.
    fn matches(&self, target: &Target) -> bool {
        match target {
            Target::Name(name) => {
                !self.sync
                    && (self.name == *name || self.is_in(name) || self.function.ends_in(name))
            }
            Target::Function { id, .. } => self.id == Some(*id),
        }
    }

    /// Whether it is in the set of this name.
    fn is_in_target(&self, target: &Target) -> bool {
        matches!(target, Target::Name(name) if self.is_in(name))
    }
}

/// The order of a set, for all its members.
#[derive(Clone, Debug, Default)]
pub(super) struct SystemSet {
    pub(super) name: String,
    /// Systems or sets that come after all its members.
    pub(super) before: Vec<Target>,
    /// Systems or sets that come before all its members.
    pub(super) after: Vec<Target>,
}

/// A request to run before or after other systems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OrderRequest {
    /// The set that was ordered; `None` if it was the system itself.
    pub(super) set: Option<String>,
    pub(super) target: Target,
}

/// Why one node comes before another. Small, since there can be a conflict for any two nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The first node has a `before` that matches the second.
    Before(Box<OrderRequest>),
    /// The second node has an `after` that matches the first.
    After(Box<OrderRequest>),
    /// One of the two is an explicit sync point.
    Sync,
    /// Both access it, and one of them writes it.
    Conflict(Subject),
}

/// An edge from a node to one that comes after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OrderEdge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) reason: Reason,
}

/// The label of each node: its name, or its path if another function has the same name.
pub(super) fn labels(nodes: &[OrderNode]) -> Vec<String> {
    // For each name: its first function, and whether all nodes of the name have that function.
    let mut by_name: FxHashMap<&str, (&FunctionName, bool)> = FxHashMap::default();
    for node in nodes {
        let (function, same) = by_name.entry(&node.name).or_insert((&node.function, true));
        *same &= **function == node.function;
    }
    let label = |node: &OrderNode| match by_name[&*node.name].1 || node.function.instance.is_empty()
    {
        true => node.name.clone(),
        false => node.function.instance.clone(),
    };
    nodes.iter().map(label).collect()
}

/// The edges requested by names and by explicit sync points.
///
/// # Errors
///
/// If a name matches no node and no set, or only the system or set that is ordered by it.
pub(super) fn requested_edges(
    nodes: &[OrderNode],
    sets: &[SystemSet],
) -> Result<Vec<OrderEdge>, ScheduleError> {
    let mut edges = Vec::new();
    for (i, node) in nodes.iter().enumerate() {
        if node.sync {
            let edge = |from, to| OrderEdge { from, to, reason: Reason::Sync };
            edges.extend((0..i).map(|from| edge(from, i)));
            edges.extend((i + 1..nodes.len()).map(|to| edge(i, to)));
        }
        for &from in &node.follows {
            let target = Target::Name(nodes[from].name.clone());
            let request = OrderRequest { set: None, target };
            edges.push(OrderEdge { from, to: i, reason: Reason::After(Box::new(request)) });
        }
        let context = OrderContext { nodes, sets, name: &node.name, set: None, members: &[i] };
        context.add_edges(&node.before, &node.after, &mut edges)?;
    }
    for SystemSet { name, before, after } in sets {
        let members: Vec<_> = (0..nodes.len()).filter(|&i| nodes[i].is_in(name)).collect();
        let context = OrderContext { nodes, sets, name, set: Some(name), members: &members };
        context.add_edges(before, after, &mut edges)?;
    }
    Ok(edges)
}

/// The system or set whose order requests are resolved.
struct OrderContext<'a> {
    nodes: &'a [OrderNode],
    sets: &'a [SystemSet],
    name: &'a str,
    set: Option<&'a str>,
    /// The system itself, or the members of the set.
    members: &'a [usize],
}

impl OrderContext<'_> {
    /// Adds the edges between its members and the systems that the targets mean.
    fn add_edges(
        &self,
        before: &[Target],
        after: &[Target],
        edges: &mut Vec<OrderEdge>,
    ) -> Result<(), ScheduleError> {
        for (targets, is_before) in [(before, true), (after, false)] {
            for target in targets {
                let others = self.resolve(target, is_before)?;
                let pairs =
                    self.members.iter().flat_map(|me| others.iter().map(move |to| (me, to)));
                for (&me, &other) in pairs.filter(|(me, other)| me != other) {
                    let set = self.set.map(str::to_owned);
                    let request = Box::new(OrderRequest { set, target: target.clone() });
                    edges.push(match is_before {
                        true => OrderEdge { from: me, to: other, reason: Reason::Before(request) },
                        false => OrderEdge { from: other, to: me, reason: Reason::After(request) },
                    });
                }
            }
        }
        Ok(())
    }

    /// The nodes that a target means. These can include members, if it is the name of a set.
    fn resolve(&self, target: &Target, is_before: bool) -> Result<Vec<usize>, ScheduleError> {
        let nodes = self.nodes;
        let found: Vec<_> = (0..nodes.len()).filter(|&i| nodes[i].matches(target)).collect();
        let is_itself = match self.set {
            Some(set) => matches!(target, Target::Name(name) if name == set),
            None => found == self.members && !nodes[self.members[0]].is_in_target(target),
        };
        if is_itself {
            let members = vec![self.name.to_owned()];
            return Err(ScheduleError::Cycle { members, through: vec![None] });
        }
        if found.is_empty() {
            match target {
                Target::Name(name) if self.sets.iter().any(|set| set.name == *name) => {}
                Target::Name(name) => return Err(self.unknown_name(name, is_before)),
                Target::Function { path, .. } => {
                    let (asker, function) = (self.name.to_owned(), path.clone());
                    return Err(ScheduleError::NotAdded { asker, before: is_before, function });
                }
            }
        }
        Ok(found)
    }

    #[cold]
    fn unknown_name(&self, name: &str, before: bool) -> ScheduleError {
        let systems = labels(self.nodes).into_iter().zip(self.nodes).filter(|(_, node)| !node.sync);
        let mut known: Vec<String> = systems.map(|(label, _)| label).collect();
        known.extend(self.nodes.iter().flat_map(|node| node.sets.iter().cloned()));
        known.extend(self.sets.iter().map(|set| set.name.clone()));
        known.retain(|one| one != self.name);
        known.sort();
        known.dedup();
        let (asker, name) = (self.name.to_owned(), name.to_owned());
        ScheduleError::UnknownName { asker, before, name, known }
    }
}

/// A topological order of all nodes. Of the nodes that are ready, the one that was added first
/// comes next. O(nodes log nodes + edges).
///
/// # Errors
///
/// If the edges have a cycle.
pub(super) fn topological_order(
    nodes: &[OrderNode],
    edges: &[OrderEdge],
) -> Result<Vec<usize>, ScheduleError> {
    let mut successors = vec![Vec::new(); nodes.len()];
    let mut remaining = vec![0; nodes.len()];
    for edge in edges {
        successors[edge.from].push(edge.to);
        remaining[edge.to] += 1;
    }
    let is_ready = |&i: &usize| remaining[i] == 0;
    let mut ready: BinaryHeap<_> = (0..nodes.len()).filter(is_ready).map(Reverse).collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(Reverse(next)) = ready.pop() {
        order.push(next);
        for &successor in &successors[next] {
            remaining[successor] -= 1;
            if remaining[successor] == 0 {
                ready.push(Reverse(successor));
            }
        }
    }
    if order.len() == nodes.len() { Ok(order) } else { Err(cycle(nodes, edges, &remaining)) }
}

/// A cycle among the nodes that never became ready. Each of them waits for another of them.
#[cold]
fn cycle(nodes: &[OrderNode], edges: &[OrderEdge], remaining: &[usize]) -> ScheduleError {
    let is_stuck = |i: usize| remaining[i] > 0;
    let blocking_edge = |i: usize| {
        let edge = edges.iter().find(|edge| edge.to == i && is_stuck(edge.from));
        edge.expect("a node that never became ready has no predecessor of that kind")
    };
    let start = (0..nodes.len()).find(|&i| is_stuck(i)).expect("all nodes became ready");
    // A node that only waits for the cycle reaches it in fewer than `nodes.len()` steps back.
    let within = (0..nodes.len()).fold(start, |i, _| blocking_edge(i).from);
    let mut cycle = vec![blocking_edge(within)];
    while cycle[cycle.len() - 1].from != within {
        cycle.push(blocking_edge(cycle[cycle.len() - 1].from));
    }
    cycle.reverse();
    let first = (0..cycle.len()).min_by_key(|&at| cycle[at].from).expect("the cycle is empty");
    cycle.rotate_left(first);
    let labels = labels(nodes);
    let members = cycle.iter().map(|edge| labels[edge.from].clone()).collect();
    let through = cycle.iter().map(|edge| through(nodes, &labels, edge)).collect();
    ScheduleError::Cycle { members, through }
}

/// The order request of or for a set that causes an edge, as text.
fn through(nodes: &[OrderNode], labels: &[String], edge: &OrderEdge) -> Option<String> {
    let (request, asker, other, side) = match &edge.reason {
        Reason::Before(request) => (request, edge.from, edge.to, "before"),
        Reason::After(request) => (request, edge.to, edge.from, "after"),
        Reason::Sync | Reason::Conflict(_) => return None,
    };
    let other = match nodes[other].is_in_target(&request.target) {
        true => format!("the set `{}`", request.target),
        false => format!("`{}`", request.target),
    };
    match &request.set {
        Some(set) => Some(format!("the set `{set}` is {side} {other}")),
        None if other.starts_with("the set") => {
            Some(format!("`{}` is {side} {other}", labels[asker]))
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str) -> OrderNode {
        OrderNode { name: name.to_owned(), ..OrderNode::default() }
    }

    fn named(name: &str) -> Target {
        Target::Name(name.to_owned())
    }

    fn after(name: &str, other: &str) -> OrderNode {
        OrderNode { after: vec![named(other)], ..node(name) }
    }

    fn order(nodes: &[OrderNode]) -> Result<Vec<usize>, ScheduleError> {
        topological_order(nodes, &requested_edges(nodes, &[])?)
    }

    #[test]
    fn without_requests_the_order_is_that_of_insertion() {
        assert_eq!(order(&[node("c"), node("a"), node("b")]), Ok(vec![0, 1, 2]));
    }

    #[test]
    fn before_and_after_bend_the_order_as_little_as_they_can() {
        let first = OrderNode { before: vec![named("a")], ..node("d") };
        let nodes = [after("a", "c"), node("b"), node("c"), first];
        assert_eq!(order(&nodes), Ok(vec![1, 2, 3, 0]));
    }

    #[test]
    fn a_set_stands_for_its_members_and_no_system_waits_for_itself() {
        let member = |name| OrderNode { sets: vec!["set".into()], ..node(name) };
        let last = OrderNode { after: vec![named("set")], ..member("last") };
        let nodes = [last, member("a"), member("b")];
        assert_eq!(order(&nodes), Ok(vec![1, 2, 0]));
    }

    #[test]
    fn a_sync_point_separates_the_systems_added_before_and_after_it() {
        let sync = OrderNode { sync: true, ..node("sync") };
        assert_eq!(order(&[node("a"), sync.clone(), node("b")]), Ok(vec![0, 1, 2]));
        let error = order(&[after("a", "b"), sync, node("b")]).unwrap_err();
        let members = ["a", "sync", "b"].map(str::to_owned).to_vec();
        assert_eq!(error, ScheduleError::Cycle { members, through: vec![None; 3] });
    }

    #[test]
    fn a_cycle_is_reported_in_order_without_the_nodes_that_wait_for_it() {
        let nodes = [after("w", "a"), after("a", "c"), after("b", "a"), after("c", "b"), node("z")];
        let members = ["a", "b", "c"].map(str::to_owned).to_vec();
        assert_eq!(order(&nodes), Err(ScheduleError::Cycle { members, through: vec![None; 3] }));
    }

    #[test]
    fn an_unknown_name_is_reported_with_the_known_ones_but_not_the_systems_own() {
        let member = OrderNode { sets: vec!["c".into()], ..node("b") };
        let error = order(&[after("a", "x"), member]).unwrap_err();
        let known = ["b", "c"].map(str::to_owned).to_vec();
        let (asker, name) = ("a".to_owned(), "x".to_owned());
        assert_eq!(error, ScheduleError::UnknownName { asker, before: false, name, known });
    }

    #[test]
    fn a_system_after_itself_alone_is_a_cycle() {
        let members = vec!["a".to_owned()];
        let error = ScheduleError::Cycle { members, through: vec![None] };
        assert_eq!(order(&[after("a", "a"), node("b")]), Err(error));
        assert_eq!(
            order(&[after("a", "a"), node("a")]),
            Ok(vec![1, 0]),
            "after the other system of the name"
        );
        let member = OrderNode { sets: vec!["set".into()], ..after("a", "set") };
        assert_eq!(order(&[member]), Ok(vec![0]), "the set may get other members");
    }

    #[test]
    fn sets_order_their_members_and_may_have_none() {
        let member = |name, set: &str| OrderNode { sets: vec![set.into()], ..node(name) };
        let nodes = [member("a", "late"), member("b", "early"), member("c", "late"), node("d")];
        let set = |name: &str, before: &[&str], after: &[&str]| {
            let own = |names: &[&str]| names.iter().map(|&name| named(name)).collect();
            SystemSet { name: name.to_owned(), before: own(before), after: own(after) }
        };
        let order = |sets: &[SystemSet]| topological_order(&nodes, &requested_edges(&nodes, sets)?);
        let late = set("late", &["none"], &["early", "d"]);
        assert_eq!(order(&[late.clone(), set("none", &[], &[])]), Ok(vec![1, 3, 0, 2]));
        assert!(matches!(order(&[late]), Err(ScheduleError::UnknownName { before: true, .. })));
        let Err(ScheduleError::Cycle { members, through }) =
            order(&[set("late", &["early"], &[]), set("early", &["d"], &["late"])])
                .and_then(|_| order(&[set("late", &["b"], &["early"])]))
        else {
            panic!("the order has no cycle")
        };
        assert_eq!(members, ["a", "b"]);
        let texts = ["the set `late` is before `b`", "the set `late` is after the set `early`"];
        assert_eq!(through, texts.map(|text| Some(text.to_owned())));
    }

    #[test]
    fn functions_of_one_name_are_called_by_their_paths() {
        let of = |path| OrderNode { function: FunctionName::new(path), ..node("up") };
        let nodes = [of("m::up"), of("n::up"), node("down")];
        assert_eq!(labels(&nodes), ["m::up", "n::up", "down"]);
        assert_eq!(labels(&nodes[1..]), ["up", "down"]);
        let first = OrderNode { after: vec![named("n::up")], ..of("m::up") };
        assert_eq!(order(&[first, of("n::up")]), Ok(vec![1, 0]));
    }
}

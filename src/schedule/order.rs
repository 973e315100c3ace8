//! The order that was asked for: names resolved to edges, and edges to one order.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::error::{ScheduleError, Subject};
use super::name::FunctionName;

/// What stands in a schedule: a system, or a sync point that was placed by hand.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) name: String,
    /// What else it answers to, unless it was given a name.
    pub(super) function: FunctionName,
    /// How errors and timings call it: its name, or its path if the name is not its alone.
    pub(super) label: String,
    pub(super) sets: Vec<String>,
    /// Names of systems or sets that come after this one.
    pub(super) before: Vec<String>,
    /// Names of systems or sets that come before this one.
    pub(super) after: Vec<String>,
    /// The system that it was added to follow.
    pub(super) follows: Option<usize>,
    /// A sync point: all that was added before it comes before it, the rest after it.
    pub(super) sync: bool,
    /// It records commands, which whoever is ordered after it has to see.
    pub(super) commands: bool,
}

impl Node {
    pub(super) fn is_in(&self, set: &str) -> bool {
        self.sets.iter().any(|one| one == set)
    }

    fn answers_to(&self, name: &str) -> bool {
        !self.sync && (self.name == name || self.is_in(name) || self.function.ends_in(name))
    }
}

/// A set that something was said of.
#[derive(Clone, Debug, Default)]
pub(super) struct Set {
    pub(super) name: String,
    /// Names of systems or sets that come after all its members.
    pub(super) before: Vec<String>,
    /// Names of systems or sets that come before all its members.
    pub(super) after: Vec<String>,
}

/// What was asked for: that somebody comes before or after whoever answers to a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OrderRequest {
    /// The set that was put there, if it was not the system itself.
    pub(super) set: Option<String>,
    pub(super) name: String,
}

/// Why one node comes before another. Small, since there can be a conflict for any two nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The first says `.before` with this name of the second.
    Before(Box<OrderRequest>),
    /// The second says `.after` with this name of the first.
    After(Box<OrderRequest>),
    /// One of the two is a sync point that was placed by hand.
    Sync,
    /// Both name it, and one of them writes it.
    Conflict(Subject),
}

/// An arrow from a node to one that comes after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) reason: Reason,
}

/// How each node is called: by its name, or by its path if another function has the same name.
pub(super) fn labels(nodes: &[Node]) -> Vec<String> {
    // Whether all that share the name are the same function.
    let mut is_one: FxHashMap<&str, (&FunctionName, bool)> = FxHashMap::default();
    for node in nodes {
        let (function, same) = is_one.entry(&node.name).or_insert((&node.function, true));
        *same &= **function == node.function;
    }
    let label = |node: &Node| match is_one[&*node.name].1 || node.function.instance.is_empty() {
        true => node.name.clone(),
        false => node.function.instance.clone(),
    };
    nodes.iter().map(label).collect()
}

/// The edges that were asked for, by name or by a sync point.
///
/// # Errors
///
/// If a name is nobody's, or the asker's alone.
pub(super) fn asked_for(nodes: &[Node], sets: &[Set]) -> Result<Vec<Edge>, ScheduleError> {
    let mut edges = Vec::new();
    for (i, node) in nodes.iter().enumerate() {
        if node.sync {
            let reason = || Reason::Sync;
            edges.extend((0..i).map(|from| Edge { from, to: i, reason: reason() }));
            edges.extend((i + 1..nodes.len()).map(|to| Edge { from: i, to, reason: reason() }));
        }
        if let Some(from) = node.follows {
            let wish = OrderRequest { set: None, name: nodes[from].name.clone() };
            edges.push(Edge { from, to: i, reason: Reason::After(Box::new(wish)) });
        }
        let (asking, itself) = (OrderContext { nodes, sets, name: &node.name, set: None }, [i]);
        asking.wishes(&itself, &node.before, &node.after, &mut edges)?;
    }
    for set in sets {
        let members: Vec<_> = (0..nodes.len()).filter(|&i| nodes[i].is_in(&set.name)).collect();
        let asking = OrderContext { nodes, sets, name: &set.name, set: Some(&set.name) };
        asking.wishes(&members, &set.before, &set.after, &mut edges)?;
    }
    Ok(edges)
}

/// A system or a set that says where it stands.
struct OrderContext<'a> {
    nodes: &'a [Node],
    sets: &'a [Set],
    name: &'a str,
    set: Option<&'a str>,
}

impl OrderContext<'_> {
    /// The edges from and to those who ask: a system, or the members of a set.
    fn wishes(
        &self,
        who: &[usize],
        before: &[String],
        after: &[String],
        edges: &mut Vec<Edge>,
    ) -> Result<(), ScheduleError> {
        let wish = |name: &String| {
            Box::new(OrderRequest { set: self.set.map(str::to_owned), name: name.clone() })
        };
        for (names, is_before) in [(before, true), (after, false)] {
            for name in names {
                let named = self.named(name, who, is_before)?;
                for (&me, &other) in who.iter().flat_map(|me| named.iter().map(move |to| (me, to)))
                {
                    if me == other {
                        continue;
                    }
                    edges.push(match is_before {
                        true => Edge { from: me, to: other, reason: Reason::Before(wish(name)) },
                        false => Edge { from: other, to: me, reason: Reason::After(wish(name)) },
                    });
                }
            }
        }
        Ok(())
    }

    /// Who answers to a name. Those who ask may be among them: as members of the set.
    fn named(
        &self,
        name: &str,
        who: &[usize],
        is_before: bool,
    ) -> Result<Vec<usize>, ScheduleError> {
        let nodes = self.nodes;
        let found: Vec<_> = (0..nodes.len()).filter(|&i| nodes[i].answers_to(name)).collect();
        let is_itself = match self.set {
            Some(set) => set == name,
            None => found == *who && !nodes[who[0]].is_in(name),
        };
        if is_itself {
            let members = vec![self.name.to_owned()];
            return Err(ScheduleError::Cycle { members, through: vec![None] });
        }
        if found.is_empty() && !self.sets.iter().any(|set| set.name == name) {
            return Err(self.unknown(name, is_before));
        }
        Ok(found)
    }

    #[cold]
    fn unknown(&self, name: &str, before: bool) -> ScheduleError {
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
        edge.expect("a node that is stuck waits for one that is stuck")
    };
    let start = (0..nodes.len()).find(|&i| stuck(i)).expect("somebody is stuck");
    // So many steps back lead from whoever waits for the circle into it.
    let within = (0..nodes.len()).fold(start, |i, _| waits_for(i).from);
    let mut circle = vec![waits_for(within)];
    while circle[circle.len() - 1].from != within {
        circle.push(waits_for(circle[circle.len() - 1].from));
    }
    circle.reverse();
    let first = (0..circle.len()).min_by_key(|&at| circle[at].from).expect("a circle has a member");
    circle.rotate_left(first);
    let labels = labels(nodes);
    let members = circle.iter().map(|edge| labels[edge.from].clone()).collect();
    let through = circle.iter().map(|edge| through(nodes, &labels, edge)).collect();
    ScheduleError::Cycle { members, through }
}

/// What was said of a set to make one system come before another.
fn through(nodes: &[Node], labels: &[String], edge: &Edge) -> Option<String> {
    let (wish, asker, other, side) = match &edge.reason {
        Reason::Before(wish) => (wish, edge.from, edge.to, "before"),
        Reason::After(wish) => (wish, edge.to, edge.from, "after"),
        Reason::Sync | Reason::Conflict(_) => return None,
    };
    let other = match nodes[other].is_in(&wish.name) {
        true => format!("the set `{}`", wish.name),
        false => format!("`{}`", wish.name),
    };
    match &wish.set {
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

    fn node(name: &str) -> Node {
        Node { name: name.to_owned(), ..Node::default() }
    }

    fn after(name: &str, other: &str) -> Node {
        Node { after: vec![other.to_owned()], ..node(name) }
    }

    fn order(nodes: &[Node]) -> Result<Vec<usize>, ScheduleError> {
        sorted(nodes, &asked_for(nodes, &[])?)
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
        assert_eq!(error, ScheduleError::Cycle { members, through: vec![None; 3] });
    }

    #[test]
    fn a_cycle_is_told_by_its_members_in_order_without_those_that_wait_for_it() {
        let nodes = [after("w", "a"), after("a", "c"), after("b", "a"), after("c", "b"), node("z")];
        let members = ["a", "b", "c"].map(str::to_owned).to_vec();
        assert_eq!(order(&nodes), Err(ScheduleError::Cycle { members, through: vec![None; 3] }));
    }

    #[test]
    fn an_unknown_name_is_told_with_the_known_ones_but_not_the_asker() {
        let member = Node { sets: vec!["c".into()], ..node("b") };
        let error = order(&[after("a", "x"), member]).unwrap_err();
        let known = ["b", "c"].map(str::to_owned).to_vec();
        let (asker, name) = ("a".to_owned(), "x".to_owned());
        assert_eq!(error, ScheduleError::UnknownName { asker, before: false, name, known });
    }

    #[test]
    fn who_is_put_after_itself_alone_goes_in_a_circle() {
        let members = vec!["a".to_owned()];
        let error = ScheduleError::Cycle { members, through: vec![None] };
        assert_eq!(order(&[after("a", "a"), node("b")]), Err(error));
        assert_eq!(order(&[after("a", "a"), node("a")]), Ok(vec![1, 0]), "after the others of it");
        let member = Node { sets: vec!["set".into()], ..after("a", "set") };
        assert_eq!(order(&[member]), Ok(vec![0]), "a set may come to have others");
    }

    #[test]
    fn sets_order_their_members_and_may_have_none() {
        let member = |name, set: &str| Node { sets: vec![set.into()], ..node(name) };
        let nodes = [member("a", "late"), member("b", "early"), member("c", "late"), node("d")];
        let set = |name: &str, before: &[&str], after: &[&str]| {
            let own = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
            Set { name: name.to_owned(), before: own(before), after: own(after) }
        };
        let order = |sets: &[Set]| sorted(&nodes, &asked_for(&nodes, sets)?);
        let late = set("late", &["none"], &["early", "d"]);
        assert_eq!(order(&[late.clone(), set("none", &[], &[])]), Ok(vec![1, 3, 0, 2]));
        assert!(matches!(order(&[late]), Err(ScheduleError::UnknownName { before: true, .. })));
        let Err(ScheduleError::Cycle { members, through }) =
            order(&[set("late", &["early"], &[]), set("early", &["d"], &["late"])])
                .and_then(|_| order(&[set("late", &["b"], &["early"])]))
        else {
            panic!("a circle")
        };
        assert_eq!(members, ["a", "b"]);
        let texts = ["the set `late` is before `b`", "the set `late` is after the set `early`"];
        assert_eq!(through, texts.map(|text| Some(text.to_owned())));
    }

    #[test]
    fn functions_of_one_name_are_called_by_their_paths() {
        let of = |path| Node { function: FunctionName::new(path), ..node("up") };
        let nodes = [of("m::up"), of("n::up"), node("down")];
        assert_eq!(labels(&nodes), ["m::up", "n::up", "down"]);
        assert_eq!(labels(&nodes[1..]), ["up", "down"]);
        let first = Node { after: vec!["n::up".to_owned()], ..of("m::up") };
        assert_eq!(order(&[first, of("n::up")]), Ok(vec![1, 0]));
    }
}

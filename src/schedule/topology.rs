//! The topological order of a schedule's nodes, and the cycle that prevents one.

use super::edges::Edges;
use super::order::{OrderEdge, OrderNode, Reason, SystemSet, labels};
use super::requests::requested_edges;
use super::schedule_error::ScheduleError;

/// A topological order of all nodes. Of the ready nodes, the one that was added first comes next.
/// `order` is the [`requested_order`].
///
/// # Errors
///
/// If the order has a cycle.
pub(super) fn topological_order(
    nodes: &[OrderNode],
    sets: &[SystemSet],
    order: &Edges,
) -> Result<Vec<usize>, ScheduleError> {
    order.order(nodes.len()).or_else(|_| {
        let edges = requested_edges(nodes, sets)?;
        let pairs = edges.iter().map(|edge| (edge.from, edge.to)).collect();
        let all = Edges { pairs, ..Edges::default() };
        let stuck = all.order(nodes.len()).expect_err("all edges have no cycle, but some have");
        Err(cycle(nodes, &edges, &stuck))
    })
}

/// A cycle among the nodes that never became ready. Each of them waits for another of them.
#[cold]
fn cycle(nodes: &[OrderNode], edges: &[OrderEdge], stuck: &[bool]) -> ScheduleError {
    let mut blocking = vec![None; nodes.len()];
    for edge in edges.iter().filter(|edge| stuck[edge.from]) {
        blocking[edge.to].get_or_insert(edge);
    }
    let blocking_edge =
        |i: usize| blocking[i].expect("a node that never became ready has no such predecessor");
    let start = stuck.iter().position(|&is_stuck| is_stuck).expect("all nodes became ready");
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
    use super::super::name::FunctionName;
    use super::super::requests::requested_order;
    use super::super::target::Target;
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
        order_of(nodes, &[])
    }

    fn order_of(nodes: &[OrderNode], sets: &[SystemSet]) -> Result<Vec<usize>, ScheduleError> {
        topological_order(nodes, sets, &requested_order(nodes, sets)?)
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
        let order = |sets: &[SystemSet]| order_of(&nodes, sets);
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

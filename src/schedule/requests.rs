//! The requests of systems and sets for an order, resolved to edges.

use rustc_hash::FxHashMap;

use super::edges::{Edges, Junction};
use super::meanings::Meanings;
use super::order::{OrderEdge, OrderNode, OrderRequest, Reason, SystemSet, labels};
use super::schedule_error::ScheduleError;
use super::target::Target;

/// The edges requested by names and by explicit sync points, each with its reason: for texts.
///
/// O(edges): two large sets have many edges. [`requested_order`] orders the same nodes with fewer.
///
/// # Errors
///
/// If a name matches no node and no set, or only the system or set that is ordered by it.
pub(super) fn requested_edges(
    nodes: &[OrderNode],
    sets: &[SystemSet],
) -> Result<Vec<OrderEdge>, ScheduleError> {
    let meanings = Meanings::new(nodes);
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
            edges.push(OrderEdge { from, to: i, reason: Reason::After(request) });
        }
        let asker = Asker { nodes, sets, name: &node.name, set: None, members: &[i] };
        asker.each_request(&node.before, &node.after, &meanings, |request| {
            request.add_edges(&mut edges);
        })?;
    }
    for SystemSet { name, before, after } in sets {
        let members = meanings.members(name);
        let asker = Asker { nodes, sets, name, set: Some(name), members };
        asker.each_request(before, after, &meanings, |request| request.add_edges(&mut edges))?;
    }
    Ok(edges)
}

/// The order of [`requested_edges`], with a junction for each target that many nodes are ordered
/// by. O(nodes + requests · (members of their set)).
///
/// If edges form a cycle, some of them are left out, but never all.
///
/// # Errors
///
/// The errors of [`requested_edges`].
pub(super) fn requested_order(
    nodes: &[OrderNode],
    sets: &[SystemSet],
) -> Result<Edges, ScheduleError> {
    let meanings = Meanings::new(nodes);
    let mut order = RequestedOrder::default();
    let mut last_sync = 0;
    for (i, node) in nodes.iter().enumerate() {
        if node.sync {
            // Its neighbours order it with farther nodes.
            order.edges.pairs.extend((last_sync..i).map(|from| (from, i)));
            last_sync = i;
        } else if nodes[last_sync].sync {
            order.edges.pairs.push((last_sync, i));
        }
        order.edges.pairs.extend(node.follows.iter().map(|&from| (from, i)));
        let asker = Asker { nodes, sets, name: &node.name, set: None, members: &[i] };
        asker.each_request(&node.before, &node.after, &meanings, |request| order.add(&request))?;
    }
    for SystemSet { name, before, after } in sets {
        let members = meanings.members(name);
        let asker = Asker { nodes, sets, name, set: Some(name), members };
        asker.each_request(before, after, &meanings, |request| order.add(&request))?;
    }
    // If only nodes of the target itself are ordered by it, its junction has no other nodes.
    let Edges { pairs, junctions } = order.edges;
    let mut edges = Edges { pairs, ..Edges::default() };
    junctions.into_iter().for_each(|junction| edges.add_junction(junction));
    Ok(edges)
}

/// The edges of the requests so far.
#[derive(Default)]
struct RequestedOrder<'a> {
    edges: Edges,
    /// For each target, and whether it comes after: its junction, and up to two nodes of the target
    /// that are themselves ordered by it.
    junctions: FxHashMap<(&'a Target, bool), (usize, Vec<usize>)>,
}

impl<'a> RequestedOrder<'a> {
    fn add(&mut self, request: &Request<'a, '_>) {
        let &Request { target, is_before, members, others, .. } = request;
        let pair = |me, other| if is_before { (me, other) } else { (other, me) };
        if others.len() < 2 {
            let pairs = members.iter().flat_map(|&me| others.iter().map(move |&one| (me, one)));
            let pairs = pairs.filter(|(me, other)| me != other);
            self.edges.pairs.extend(pairs.map(|(me, other)| pair(me, other)));
            return;
        }
        let Self { edges: Edges { pairs, junctions }, junctions: known } = self;
        let (junction, inside) = known.entry((target, is_before)).or_insert_with(|| {
            let (others, none) = (others.to_vec(), Vec::new());
            junctions.push(match is_before {
                true => Junction { from: none, to: others },
                false => Junction { from: others, to: none },
            });
            (junctions.len() - 1, Vec::new())
        });
        for &me in members {
            if others.binary_search(&me).is_err() {
                let Junction { from, to } = &mut junctions[*junction];
                if is_before {
                    from.push(me)
                } else {
                    to.push(me)
                }
                continue;
            }
            // Each is before all the others. Two of them form a cycle, and more do not change that.
            if inside.len() < 2 && !inside.contains(&me) {
                inside.push(me);
                let others = others.iter().filter(|&&other| other != me);
                pairs.extend(others.map(|&other| pair(me, other)));
            }
        }
    }
}

/// The system or set that makes requests.
struct Asker<'a, 'm> {
    nodes: &'a [OrderNode],
    sets: &'a [SystemSet],
    name: &'a str,
    set: Option<&'a str>,
    /// The system itself, or the members of the set.
    members: &'m [usize],
}

/// A request to come before or after all nodes that a target means.
struct Request<'a, 'm> {
    set: Option<&'a str>,
    target: &'a Target,
    is_before: bool,
    members: &'m [usize],
    /// The nodes that the target means, in ascending order. They can include members, if the target
    /// is the name of a set.
    others: &'m [usize],
}

impl Request<'_, '_> {
    /// Adds an edge for each pair of a member and a node of the target.
    fn add_edges(&self, edges: &mut Vec<OrderEdge>) {
        let pairs = self.members.iter().flat_map(|me| self.others.iter().map(move |to| (me, to)));
        for (&me, &other) in pairs.filter(|(me, other)| me != other) {
            let set = self.set.map(str::to_owned);
            let request = OrderRequest { set, target: self.target.clone() };
            edges.push(match self.is_before {
                true => OrderEdge { from: me, to: other, reason: Reason::Before(request) },
                false => OrderEdge { from: other, to: me, reason: Reason::After(request) },
            });
        }
    }
}

impl<'a> Asker<'a, '_> {
    /// Calls a function with each request of its targets.
    fn each_request(
        &self,
        before: &'a [Target],
        after: &'a [Target],
        meanings: &Meanings<'a>,
        mut take: impl FnMut(Request<'a, '_>),
    ) -> Result<(), ScheduleError> {
        for (targets, is_before) in [(before, true), (after, false)] {
            for target in targets {
                let others = self.resolve(target, is_before, meanings)?;
                let (set, members) = (self.set, self.members);
                take(Request { set, target, is_before, members, others });
            }
        }
        Ok(())
    }

    /// The nodes that a target means.
    fn resolve<'m>(
        &self,
        target: &Target,
        is_before: bool,
        meanings: &'m Meanings<'a>,
    ) -> Result<&'m [usize], ScheduleError> {
        let nodes = self.nodes;
        let found = meanings.of(target);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::name::FunctionName;
    use super::*;

    /// Nodes and sets that order each other by names, suffixes of paths and sets.
    fn asking(wishes: &[(usize, usize, usize)]) -> (Vec<OrderNode>, Vec<SystemSet>) {
        let node = |i: usize| OrderNode {
            name: format!("s{}", i % 7),
            function: FunctionName::new(["m::up", "n::up", "n::down"][i % 3]),
            sets: ["all", "odd", "low"][..]
                .iter()
                .zip([i.is_multiple_of(2), i % 2 == 1, i < 4])
                .filter(|(_, is_in)| *is_in)
                .map(|(set, _)| (*set).to_owned())
                .collect(),
            sync: i == 5,
            ..OrderNode::default()
        };
        let mut nodes: Vec<_> = (0..9).map(node).collect();
        let mut sets: Vec<_> = ["all", "odd", "low", "none"]
            .map(|name| SystemSet { name: name.to_owned(), ..SystemSet::default() })
            .into();
        let names = ["s1", "s2", "s3", "all", "odd", "low", "none", "up", "n::up", "down"];
        for &(asker, name, kind) in wishes {
            let target = Target::Name(names[name % names.len()].to_owned());
            match (asker % (nodes.len() + sets.len()), kind % 3) {
                (i, 2) if i > 1 && i < nodes.len() => nodes[i].follows.push(i - 1),
                (i, 0) if i < nodes.len() => nodes[i].before.push(target),
                (i, _) if i < nodes.len() => nodes[i].after.push(target),
                (i, 0) => sets[i - nodes.len()].before.push(target),
                (i, _) => sets[i - nodes.len()].after.push(target),
            }
        }
        (nodes, sets)
    }

    /// Whether each of some nodes comes before each, by a path of these pairs.
    fn before(nodes: usize, pairs: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<bool>> {
        let mut before = vec![vec![false; nodes]; nodes];
        pairs.for_each(|(from, to)| before[from][to] = true);
        for through in 0..nodes {
            for from in 0..nodes {
                for to in 0..nodes {
                    before[from][to] |= before[from][through] && before[through][to];
                }
            }
        }
        before
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 2_000 }))]

        #[test]
        fn the_order_is_that_of_all_edges(
            wishes in prop::collection::vec((0usize..64, 0usize..64, 0usize..3), 0..6),
        ) {
            let (nodes, sets) = asking(&wishes);
            let all = requested_edges(&nodes, &sets);
            let order = requested_order(&nodes, &sets);
            let (Ok(all), Ok(order)) = (&all, &order) else {
                prop_assert_eq!(all.err(), order.err());
                return Ok(());
            };
            let pairs: Vec<_> = all.iter().map(|edge| (edge.from, edge.to)).collect();
            let naive = Edges { pairs: pairs.clone(), ..Edges::default() };
            prop_assert_eq!(order.order(nodes.len()).ok(), naive.order(nodes.len()).ok());
            if naive.order(nodes.len()).is_ok() {
                let pairs = before(nodes.len(), pairs.into_iter());
                prop_assert_eq!(before(nodes.len(), order.all_pairs()), pairs);
            }
        }
    }

    #[test]
    fn edges_grow_with_the_requests_and_not_with_the_pairs_that_they_mean() {
        let target = |name: &str| vec![Target::Name(name.to_owned())];
        let ordered = |name: &str, before: &[&str], after: &[&str]| SystemSet {
            name: name.to_owned(),
            before: before.iter().flat_map(|name| target(name)).collect(),
            after: after.iter().flat_map(|name| target(name)).collect(),
        };
        let in_turn = |at: usize| vec![["even", "odd"][at % 2].to_owned()];
        for n in [500, 1_000, 2_000, 4_000] {
            let nodes = |of: &dyn Fn(usize) -> OrderNode| (0..n).map(of).collect::<Vec<_>>();
            let edges = |nodes: &[OrderNode], sets: &[SystemSet]| {
                requested_order(nodes, sets).unwrap().len()
            };
            // A set before another, requested by the set, by each member, and by both sides.
            let member = |at| OrderNode { sets: in_turn(at), ..OrderNode::default() };
            assert_eq!(edges(&nodes(&member), &[ordered("even", &["odd"], &[])]), n);
            let both = [ordered("even", &["odd"], &[]), ordered("odd", &[], &["even"])];
            assert_eq!(edges(&nodes(&member), &both), 2 * n);
            let asking = nodes(&|at| OrderNode {
                before: if at % 2 == 0 { target("odd") } else { Vec::new() },
                ..member(at)
            });
            assert_eq!(edges(&asking, &[]), n);
            // One member after all others of its set.
            let last = nodes(&|at| OrderNode {
                after: if at == 0 { target("even") } else { Vec::new() },
                ..member(at)
            });
            assert_eq!(edges(&last, &[]), n / 2 - 1);
            // A sync point after every tenth.
            let synced = nodes(&|at| OrderNode { sync: at % 10 == 9, ..OrderNode::default() });
            assert!(edges(&synced, &[]) < 2 * n, "{} edges", edges(&synced, &[]));
            // Each after the one before it, by name.
            let chain = nodes(&|at| OrderNode {
                name: format!("s{at}"),
                after: at.checked_sub(1).map_or(Vec::new(), |other| target(&format!("s{other}"))),
                ..OrderNode::default()
            });
            assert_eq!(edges(&chain, &[]), n - 1);
        }
    }
}

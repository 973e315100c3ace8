//! The edges of an order: pairs of nodes, and junctions.
//!
//! A set of 1,000 systems before another set of 1,000 makes 1,000,000 pairs. A [`Junction`]
//! expresses the same with 2,000 numbers: all nodes on one side of it come before all nodes on the
//! other.

use core::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Edges between nodes that are numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Edges {
    /// The first comes before the second.
    pub(super) pairs: Vec<(usize, usize)>,
    pub(super) junctions: Vec<Junction>,
}

/// All nodes of one list come before all of another. The two have no node in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Junction {
    pub(super) from: Vec<usize>,
    pub(super) to: Vec<usize>,
}

impl Junction {
    /// The pairs that it represents.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.from.iter().flat_map(|&from| self.to.iter().map(move |&to| (from, to)))
    }

    /// Whether it takes no more memory than its pairs do.
    const fn is_worth_it(&self) -> bool {
        self.from.len() * self.to.len() > self.from.len() + self.to.len()
    }
}

impl Edges {
    pub(super) const fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.junctions.is_empty()
    }

    /// Adds a junction that orders any nodes.
    pub(super) fn add_junction(&mut self, junction: Junction) {
        if !junction.from.is_empty() && !junction.to.is_empty() {
            self.junctions.push(junction);
        }
    }

    /// The number of arrows that a drawing of the nodes and junctions has.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        let junctions = self.junctions.iter().map(|one| one.from.len() + one.to.len());
        self.pairs.len() + junctions.sum::<usize>()
    }

    /// All pairs, including the pairs that junctions represent.
    pub(super) fn all_pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.pairs.iter().copied().chain(self.junctions.iter().flat_map(Junction::pairs))
    }

    /// Replaces each junction by its pairs if the pairs are no more than its arrows.
    pub(super) fn without_small_junctions(&self) -> Self {
        let (large, small): (Vec<_>, Vec<_>) =
            self.junctions.iter().partition(|junction| junction.is_worth_it());
        let small = small.into_iter().flat_map(Junction::pairs);
        Self {
            pairs: self.pairs.iter().copied().chain(small).collect(),
            junctions: large.into_iter().cloned().collect(),
        }
    }

    /// The pairs of nodes that both meet a test, and all junctions.
    pub(super) fn with_pairs_of(mut self, is_kept: impl Fn(usize) -> bool) -> Self {
        self.pairs.retain(|&(from, to)| is_kept(from) && is_kept(to));
        self
    }

    /// The same edges with other numbers.
    pub(super) fn renumbered(mut self, number: impl Fn(usize) -> usize) -> Self {
        let renumber = |node: &mut usize| *node = number(*node);
        for (from, to) in &mut self.pairs {
            renumber(from);
            renumber(to);
        }
        for Junction { from, to } in &mut self.junctions {
            from.iter_mut().chain(to).for_each(renumber);
        }
        self
    }

    /// The edges within each part, if `part_of` is the part of each node. O(edges).
    pub(super) fn parted(self, part_of: &[usize], parts: usize) -> Vec<Self> {
        let mut parted = vec![Self::default(); parts];
        for (from, to) in self.pairs {
            if part_of[from] == part_of[to] {
                parted[part_of[from]].pairs.push((from, to));
            }
        }
        for junction in self.junctions {
            let mut of_parts = BTreeMap::<usize, Junction>::new();
            for node in junction.from {
                of_parts.entry(part_of[node]).or_default().from.push(node);
            }
            for node in junction.to {
                if let Some(part) = of_parts.get_mut(&part_of[node]) {
                    part.to.push(node);
                }
            }
            of_parts.retain(|_, part| !part.to.is_empty());
            for (part, junction) in of_parts {
                parted[part].junctions.push(junction);
            }
        }
        parted
    }

    /// The successors of each of `nodes` nodes, followed by the successors of each junction.
    /// Junction `j` has the number `nodes + j`.
    pub(super) fn successors(&self, nodes: usize) -> Vec<Vec<usize>> {
        let mut successors = vec![Vec::new(); nodes];
        for &(from, to) in &self.pairs {
            successors[from].push(to);
        }
        for (j, junction) in self.junctions.iter().enumerate() {
            junction.from.iter().for_each(|&from| successors[from].push(nodes + j));
        }
        successors.extend(self.junctions.iter().map(|junction| junction.to.clone()));
        successors
    }

    /// A topological order of `nodes` nodes. Of the ready nodes, the one with the lowest number
    /// comes next. O(nodes log nodes + edges).
    ///
    /// # Errors
    ///
    /// If the edges have a cycle: for each node, whether it waits for a cycle.
    pub(super) fn order(&self, nodes: usize) -> Result<Vec<usize>, Vec<bool>> {
        let successors = self.successors(nodes);
        let mut remaining = vec![0usize; successors.len()];
        successors.iter().flatten().for_each(|&to| remaining[to] += 1);
        let is_ready = |&i: &usize| remaining[i] == 0;
        let mut ready: BinaryHeap<_> = (0..nodes).filter(is_ready).map(Reverse).collect();
        let mut order = Vec::with_capacity(nodes);
        let mut passed = Vec::new();
        while let Some(Reverse(next)) = ready.pop() {
            order.push(next);
            passed.push(next);
            // A junction takes no time: the nodes after it become ready at once.
            while let Some(node) = passed.pop() {
                for &successor in &successors[node] {
                    remaining[successor] -= 1;
                    match remaining[successor] {
                        0 if successor < nodes => ready.push(Reverse(successor)),
                        0 => passed.push(successor),
                        _ => {}
                    }
                }
            }
        }
        match order.len() == nodes {
            true => Ok(order),
            false => Err(remaining[..nodes].iter().map(|&waits| waits > 0).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn junction(from: &[usize], to: &[usize]) -> Junction {
        Junction { from: from.to_vec(), to: to.to_vec() }
    }

    #[test]
    fn a_junction_orders_like_its_pairs() {
        let edges = Edges { pairs: vec![(4, 3)], junctions: vec![junction(&[3, 1], &[0, 2])] };
        let pairs = Edges { pairs: edges.all_pairs().collect(), junctions: Vec::new() };
        assert_eq!(pairs.pairs, [(4, 3), (3, 0), (3, 2), (1, 0), (1, 2)]);
        for edges in [&edges, &pairs, &edges.without_small_junctions()] {
            assert_eq!(edges.order(5), Ok(vec![1, 4, 3, 0, 2]));
        }
        let cycle = Edges { pairs: vec![(0, 1), (4, 4)], ..edges };
        assert_eq!(cycle.order(6), Err(vec![true, true, true, false, true, false]));
    }

    #[test]
    fn a_junction_is_kept_where_it_is_smaller_than_its_pairs() {
        let junctions = vec![junction(&[0, 1], &[2, 3]), junction(&[0, 1], &[2, 3, 4])];
        let edges = Edges { pairs: vec![], junctions };
        let kept = edges.without_small_junctions();
        assert_eq!(kept.pairs, [(0, 2), (0, 3), (1, 2), (1, 3)]);
        assert_eq!(kept.junctions, edges.junctions[1..]);
        assert_eq!((edges.len(), kept.len()), (9, 9));
    }

    #[test]
    fn each_part_has_the_edges_between_its_own_nodes() {
        let junctions = vec![junction(&[0, 1, 2], &[3, 4]), junction(&[0], &[4])];
        let edges = Edges { pairs: vec![(0, 1), (1, 2), (3, 4)], junctions };
        let [first, second] = edges.parted(&[0, 0, 1, 1, 1], 2).try_into().unwrap();
        assert_eq!(first, Edges { pairs: vec![(0, 1)], junctions: vec![] });
        assert_eq!(second, Edges { pairs: vec![(3, 4)], junctions: vec![junction(&[2], &[3, 4])] });
    }
}

//! The nodes of an order, and the reasons why one comes before another.

use core::any::TypeId;

use rustc_hash::FxHashMap;

use super::name::FunctionName;
use super::schedule_error::Subject;
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
    /// The systems to which `then` added this one, or that precede it in a chain.
    pub(super) follows: Vec<usize>,
    /// Whether it is a sync point: nodes added before it come before it, the others after it.
    pub(super) sync: bool,
    /// Whether it records commands, or inserts sparse components, which systems ordered after it
    /// must see.
    pub(super) commands: bool,
}

impl OrderNode {
    pub(super) fn is_in(&self, set: &str) -> bool {
        self.sets.iter().any(|one| one == set)
    }

    /// All its names: its own, and the names of its sets.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let own = [&*self.name].into_iter().chain(self.sets.iter().map(|set| &**set));
        own.chain(self.function.ends()).filter(|_| !self.sync)
    }

    /// Whether it is in the set of this name.
    pub(super) fn is_in_target(&self, target: &Target) -> bool {
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

/// The reason why one node comes before another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The first node has a `before` that matches the second.
    Before(OrderRequest),
    /// The second node has an `after` that matches the first.
    After(OrderRequest),
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

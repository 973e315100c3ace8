//! The nodes that a name or a function means.

use core::any::TypeId;
use core::cell::OnceCell;

use rustc_hash::FxHashMap;

use super::order::OrderNode;
use super::target::Target;

/// The nodes of each name and function, listed at the first request.
pub(super) struct Meanings<'a> {
    nodes: &'a [OrderNode],
    lists: OnceCell<Lists<'a>>,
}

/// The nodes of each name, set and function, in ascending order.
#[derive(Default)]
struct Lists<'a> {
    by_name: FxHashMap<&'a str, Vec<usize>>,
    by_set: FxHashMap<&'a str, Vec<usize>>,
    by_function: FxHashMap<TypeId, Vec<usize>>,
}

impl<'a> Meanings<'a> {
    pub(super) const fn new(nodes: &'a [OrderNode]) -> Self {
        Self { nodes, lists: OnceCell::new() }
    }

    /// The nodes that a target means, in ascending order.
    pub(super) fn of(&self, target: &Target) -> &[usize] {
        let lists = self.lists();
        let found = match target {
            Target::Name(name) => lists.by_name.get(&**name),
            Target::Function { id, .. } => lists.by_function.get(id),
        };
        found.map_or(&[], Vec::as_slice)
    }

    /// The members of a set, in ascending order.
    pub(super) fn members(&self, set: &str) -> &[usize] {
        self.lists().by_set.get(set).map_or(&[], Vec::as_slice)
    }

    fn lists(&self) -> &Lists<'a> {
        self.lists.get_or_init(|| {
            let mut lists = Lists::default();
            for (i, node) in self.nodes.iter().enumerate() {
                node.names().for_each(|name| add(lists.by_name.entry(name).or_default(), i));
                node.sets.iter().for_each(|set| add(lists.by_set.entry(set).or_default(), i));
                if let Some(id) = node.id {
                    add(lists.by_function.entry(id).or_default(), i);
                }
            }
            lists
        })
    }
}

/// Adds a node once: its function has the name of the system too.
fn add(list: &mut Vec<usize>, node: usize) {
    if list.last() != Some(&node) {
        list.push(node);
    }
}

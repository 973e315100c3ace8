//! A type with all that it inherits: its values, and its children's.

use super::fault::{At, Fault, list};
use super::part::{Part, Written};
use super::schema::Schema;
use super::value::wanted;
use super::values::Values;
use std::collections::{HashMap, VecDeque};

/// The most entities of an object.
const ENTITIES_MAX: usize = 1000;

/// The most bytes of the path of an entity: each entity of each type has its own.
const PATH_BYTES_MAX: usize = 256;

/// The values of an entity and, by their names, of its children.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    values: Values,
    children: Vec<(String, Tree)>,
}

/// One entity of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// The node above, which has a lower number; the root is its own.
    pub(crate) parent: usize,
    /// The names of children from the root to it, such as `/kitchen/lamp`. Empty for the root.
    pub(crate) path: String,
    pub(crate) values: Values,
}

impl Tree {
    fn len(&self) -> usize {
        1 + self.children.iter().map(|(_, child)| child.len()).sum::<usize>()
    }

    /// The bytes of the longest path in it.
    fn path_bytes(&self) -> usize {
        let below = self.children.iter().map(|(name, child)| 1 + name.len() + child.path_bytes());
        below.max().unwrap_or_default()
    }

    /// The entities, level after level.
    pub(crate) fn nodes(&self) -> Vec<Node> {
        let mut nodes = Vec::new();
        let mut left = VecDeque::from([(0, String::new(), self)]);
        while let Some((parent, path, tree)) = left.pop_front() {
            let number = nodes.len();
            let below = tree.children.iter();
            left.extend(below.map(|(name, child)| (number, format!("{path}/{name}"), child)));
            nodes.push(Node { parent, path, values: tree.values.clone() });
        }
        nodes
    }
}

/// Makes the tree of a type from the trees of other types.
pub(crate) struct Maker<'m> {
    schema: &'m Schema,
    trees: &'m HashMap<&'m str, Tree>,
    faults: &'m mut Vec<Fault>,
    entities: usize,
}

impl<'m> Maker<'m> {
    pub(crate) const fn new(
        schema: &'m Schema,
        trees: &'m HashMap<&'m str, Tree>,
        faults: &'m mut Vec<Fault>,
    ) -> Self {
        Self { schema, trees, faults, entities: 0 }
    }

    /// The tree of a type. The types that it begins as are made.
    pub(crate) fn tree(&mut self, at: &At, part: &Part) -> Tree {
        self.below(0, at, part)
    }

    /// The tree of a type, or of a child with a path of some bytes.
    fn below(&mut self, path_bytes: usize, at: &At, part: &Part) -> Tree {
        let base = part.base.as_ref().and_then(|name| self.trees.get(&*name.text));
        let before = self.entities;
        self.entities += base.map_or(1, Tree::len);
        if self.entities > ENTITIES_MAX {
            if before <= ENTITIES_MAX {
                self.fault(at, format!(
                    "with this, an object has more than {ENTITIES_MAX} entities: remove children"
                ));
            }
            return Tree::default();
        }
        if path_bytes + base.map_or(0, Tree::path_bytes) > PATH_BYTES_MAX {
            self.fault(
                at,
                format!(
                    "with this, the names on the path to an entity have more than {PATH_BYTES_MAX} \
                 bytes: use shorter names, or fewer levels of children"
                ),
            );
            return Tree::default();
        }
        let mut tree = base.cloned().unwrap_or_default();
        self.apply(path_bytes, &mut tree, part);
        tree
    }

    fn fault(&mut self, at: &At, text: String) {
        self.faults.push(Fault { at: at.clone(), text });
    }

    /// Overrides values and children of a tree with a path of some bytes.
    fn apply(&mut self, path_bytes: usize, tree: &mut Tree, part: &Part) {
        part.components.iter().for_each(|written| self.give(&mut tree.values, written));
        // The inherited children that others replace are counted no more.
        let is_replaced = |name: &str| {
            part.children.iter().any(|(own, child)| own.text == name && child.base.is_some())
        };
        let replaced = tree.children.iter().filter(|(name, _)| is_replaced(name));
        self.entities -= replaced.map(|(_, child)| child.len()).sum::<usize>();
        for (name, child) in &part.children {
            let path_bytes = path_bytes + 1 + name.text.len();
            let present = tree.children.iter().position(|(present, _)| *present == name.text);
            match (present, &child.base) {
                (Some(at), Some(_)) => {
                    tree.children[at].1 = self.below(path_bytes, &name.at, child)
                }
                (Some(at), None) => self.apply(path_bytes, &mut tree.children[at].1, child),
                (None, Some(_)) => {
                    let child = self.below(path_bytes, &name.at, child);
                    tree.children.push((name.text.clone(), child));
                }
                (None, None) => {
                    let known = list(tree.children.iter().map(|(name, _)| &**name));
                    let or = if known.is_empty() { known } else { format!(", or write {known}") };
                    let text =
                        format!("`{}` is no inherited child: give its `type`{or}", name.text);
                    self.fault(&name.at, text);
                }
            }
            if self.entities > ENTITIES_MAX {
                return;
            }
        }
    }

    /// Overrides fields of a component. A new component needs all of them.
    fn give(&mut self, values: &mut Values, written: &Written) {
        let component = self.schema.component(written.component);
        for (field, bytes) in &written.fields {
            values.set(self.schema, written.component, *field, bytes);
        }
        let value = values.of_mut(self.schema, written.component);
        let (name, missing) = (component.name, value.missing(component));
        let needs = match &missing[..] {
            [] => return,
            [one] => format!("a value for `{}`: write {}", one.name, wanted(one)),
            all => {
                let all = all.iter().map(|one| format!("`{}` ({})", one.name, wanted(one)));
                format!("values for {}: write them", all.collect::<Vec<_>>().join(", "))
            }
        };
        self.fault(&written.at, format!("`{name}` needs {needs} here, or in a parent type"));
    }
}

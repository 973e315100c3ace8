//! The entities of a tree, sorted by their depth.

use crate::component::SparseComponent;
use crate::entity::Entity;

use super::super::sparse::SparseSet;

/// The entities of a tree, level after level: first the entities that have sources and no target,
/// in an order that follows from the changes of the relation, then their sources, and so on. The
/// entities of a level are in the order of their targets.
///
/// ```
/// # use phalanx::prelude::*;
/// #[relation(tree)]
/// struct ChildOf;
///
/// let mut world = World::new();
/// let root = world.spawn(());
/// let [arm, leg] = [(); 2].map(|()| world.spawn(ChildOf::of(root)));
/// let hand = world.spawn(ChildOf::of(arm));
/// let levels = world.relation::<ChildOf>().levels();
/// let levels: Vec<_> = levels.iter().collect();
/// assert_eq!(levels, [&[root][..], &[arm, leg], &[hand]]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    entities: Vec<Entity>,
    /// The end of each level.
    ends: Vec<usize>,
}

impl Levels {
    /// The levels below some entities, which are the first level. O(entities).
    ///
    /// # Panics
    ///
    /// If the relation has a cycle, which only a trait that was implemented by hand allows.
    pub(crate) fn below<T: SparseComponent>(set: &SparseSet<T>, first: Vec<Entity>) -> Self {
        let mut levels = Self { entities: first, ends: Vec::new() };
        // Each relation adds its source at most once.
        let most = levels.entities.len() + set.len();
        let mut from = 0;
        while from < levels.entities.len() {
            let end = levels.entities.len();
            assert!(
                end <= most,
                "a relation that is no tree has a cycle: define it by `#[relation(tree)]`"
            );
            levels.ends.push(end);
            for at in from..end {
                levels.entities.extend_from_slice(set.sources(levels.entities[at]));
            }
            from = end;
        }
        levels
    }

    /// The levels of all trees.
    pub(crate) fn of<T: SparseComponent>(set: &SparseSet<T>) -> Self {
        let roots = set.targets().filter(|&target| set.target(target).is_none());
        Self::below(set, roots.collect())
    }

    /// The number of levels. O(1).
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns `true` without a level. O(1).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All entities, level after level. O(1).
    #[must_use]
    pub fn entities(&self) -> &[Entity] {
        &self.entities
    }

    pub(crate) fn into_entities(self) -> Vec<Entity> {
        self.entities
    }

    /// The entities of each level.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &[Entity]> + ExactSizeIterator {
        (0..self.ends.len()).map(|level| {
            let first = if level == 0 { 0 } else { self.ends[level - 1] };
            &self.entities[first..self.ends[level]]
        })
    }
}

/// Whether a relation has no cycle: each source is below a root. O(relations).
pub(in crate::store) fn is_tree<T: SparseComponent>(set: &SparseSet<T>) -> bool {
    let roots = set.targets().filter(|&target| set.target(target).is_none()).count();
    // From roots no cycle is reached, and each source is reached once.
    Levels::of(set).entities.len() == roots + set.len()
}

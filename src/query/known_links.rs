//! A copy of a relation, to find the sources that may have another target than before.
//!
//! The set of a relation has a version, and one for each block of its positions: they tell whether
//! it changed, and where. Blocks with another version than before are compared with the copy, in
//! order, 16 bytes a relation. Look-ups of the rows of all sources in them would need no copy of
//! the targets, but 2,048 look-ups for one change.

use core::ops::Range;

use crate::component::TreeRelation;
use crate::entity::Entity;
use crate::store::SparseSet;
use crate::version::Version;

/// The sources and targets of a relation, in the order of its set.
#[derive(Debug, Default)]
pub(super) struct KnownLinks {
    sources: Vec<Entity>,
    targets: Vec<Entity>,
    /// The version of each block of positions.
    blocks: Vec<Version>,
    /// The version of the set, unless the world has none.
    version: Option<u64>,
    /// The version of the world.
    clock: Version,
}

impl KnownLinks {
    /// The bytes that are allocated.
    pub(super) fn memory_bytes(&self) -> usize {
        (self.sources.capacity() + self.targets.capacity()) * size_of::<Entity>()
            + self.blocks.capacity() * size_of::<Version>()
    }

    /// Whether the relation, of the same world, is the same as in the copy.
    pub(super) fn are_of<R: TreeRelation>(&self, set: Option<&SparseSet<R>>) -> bool {
        self.version == set.map(SparseSet::version)
    }

    /// Copies the relation. O(relations).
    pub(super) fn copy<R: TreeRelation>(&mut self, set: Option<&SparseSet<R>>, clock: Version) {
        self.sources.clear();
        self.targets.clear();
        self.blocks.clear();
        if let Some(set) = set {
            self.sources.extend_from_slice(set.slices().1);
            self.targets.extend(set.relations().map(|(_, target)| target));
            self.blocks.extend(versions(set));
        }
        (self.version, self.clock) = (set.map(SparseSet::version), clock);
    }

    /// Copies the changes since the last copy, of the same world. Adds to `changed` the sources
    /// that came, went or got another target, and some sources that have another position.
    /// O(relations in blocks with another version + blocks).
    pub(super) fn update<R: TreeRelation>(
        &mut self,
        set: Option<&SparseSet<R>>,
        clock: Version,
        changed: &mut Vec<Entity>,
    ) {
        let Some(set) = set else {
            changed.append(&mut self.sources);
            return self.copy(None::<&SparseSet<R>>, clock);
        };
        let (len, known) = (set.len(), self.sources.len());
        changed.extend(self.sources.drain(len.min(known)..));
        self.targets.truncate(len);
        let block_len = set.slices().0.block_len();
        let now: Vec<_> = versions(set).collect();
        for (block, &version) in now.iter().enumerate() {
            let positions = block * block_len..len.min((block + 1) * block_len);
            // A block that was written at the time of the copy may be written again at this time.
            let is_same = self.blocks.get(block) == Some(&version) && version < self.clock;
            if !is_same || positions.end > known {
                self.compare(set, positions, changed);
            }
        }
        (self.blocks, self.version, self.clock) = (now, Some(set.version()), clock);
    }

    /// Compares some positions with the copy, and copies them.
    fn compare<R: TreeRelation>(
        &mut self,
        set: &SparseSet<R>,
        positions: Range<usize>,
        changed: &mut Vec<Entity>,
    ) {
        let (_, sources, values) = set.slices();
        let Some(rules) = R::RELATION else { return };
        let links = sources[positions.clone()].iter().zip(&values[positions.clone()]);
        for (at, (&source, value)) in positions.zip(links) {
            let target = (rules.target)(value);
            match self.sources.get(at) {
                None => {
                    self.sources.push(source);
                    self.targets.push(target);
                    changed.push(source);
                }
                Some(&known) if (known, self.targets[at]) != (source, target) => {
                    changed.push(source);
                    if known != source {
                        changed.push(known);
                    }
                    (self.sources[at], self.targets[at]) = (source, target);
                }
                Some(_) => {}
            }
        }
    }
}

/// The version of each block of a set.
fn versions<R: TreeRelation>(set: &SparseSet<R>) -> impl Iterator<Item = Version> {
    let blocks = set.slices().0;
    (0..set.len()).step_by(blocks.block_len()).map(|position| blocks.version(position))
}

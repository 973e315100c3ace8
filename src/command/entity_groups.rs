//! Grouping: the records of one entity, collected from a run of records of many.

use core::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::spare::{map_bytes, vec_bytes};

use super::record::{Record, RecordKind};

/// Finds the groups of a run of records: the records of one entity, in their order.
///
/// A spawn begins a group and a despawn ends it. Records of the same entity after its despawn form
/// another group, for which the entity is not alive.
///
/// Groups are ordered by their last records. So entities are despawned in the order in which their
/// despawns were recorded, which is the order in which their indices are used again.
#[derive(Debug, Default)]
pub(super) struct EntityGroups {
    /// The last record of each entity so far.
    latest: FxHashMap<u64, u32>,
    links: Vec<GroupLink>,
    /// A bit for each index that was seen.
    seen: Vec<u64>,
}

/// The neighbours of a record in its group.
#[derive(Clone, Copy, Debug)]
struct GroupLink {
    before: u32,
    is_last: bool,
}

impl GroupLink {
    const NONE: u32 = u32::MAX;
}

impl EntityGroups {
    /// The allocated memory.
    pub(super) fn bytes(&self) -> usize {
        map_bytes(&self.latest) + vec_bytes(&self.links) + vec_bytes(&self.seen)
    }

    /// Whether each record is a group of its own. Loops over a world in the order of its ids record
    /// such commands, and frames that change entities here and there.
    pub(super) fn are_lone(&mut self, records: &[Record]) -> bool {
        let id = |record: &Record| record.entity.to_bits();
        records.is_sorted_by(|a, b| id(a) < id(b))
            || records.is_sorted_by(|a, b| id(a) > id(b))
            || self.all_differ(records)
    }

    /// Calls `play` with each group of the records, as indices into them. `group` is scratch
    /// memory.
    pub(super) fn each(
        &mut self,
        records: &[Record],
        group: &mut Vec<u32>,
        mut play: impl FnMut(&[u32]),
    ) {
        assert!(
            u32::try_from(records.len()).is_ok(),
            "a command buffer holds more than 4,294,967,295 commands: apply it more often"
        );
        // Loops over a world in the order of its ids, or of recycled indices, record the commands
        // of one entity together.
        let id = |record: &Record| record.entity.to_bits();
        if records.is_sorted_by_key(id) || records.is_sorted_by_key(|r| Reverse(id(r))) {
            return each_adjacent(records, group, play);
        }
        self.link(records);
        for (last, link) in (0u32..).zip(&self.links) {
            if !link.is_last {
                continue;
            }
            group.clear();
            let mut at = last;
            while at != GroupLink::NONE {
                group.push(at);
                at = self.links[at as usize].before;
            }
            group.reverse();
            play(group);
        }
    }

    /// Returns `true` if each record has an entity of its own. A look-up in a map for each record
    /// costs several times as much as its bit, so a frame that tags entities here and there needs
    /// no map. May return `false` if indices are much larger than the number of records.
    fn all_differ(&mut self, records: &[Record]) -> bool {
        /// Words of bits for each record.
        const WORDS_MAX: usize = 8;
        let index = |record: &Record| record.entity.index() as usize;
        let words = records.iter().map(index).max().map_or(0, |max| max / 64 + 1);
        if words > records.len() * WORDS_MAX {
            return false;
        }
        self.seen.clear();
        self.seen.resize(words, 0);
        records.iter().map(index).all(|index| {
            let (word, bit) = (&mut self.seen[index / 64], 1 << (index % 64));
            let is_new = *word & bit == 0;
            *word |= bit;
            is_new
        })
    }

    fn link(&mut self, records: &[Record]) {
        self.latest.clear();
        self.links.clear();
        for (at, record) in (0u32..).zip(records) {
            let before = self.latest.insert(record.entity.to_bits(), at);
            let before = before.filter(|&before| continues(&records[before as usize], record));
            if let Some(before) = before {
                self.links[before as usize].is_last = false;
            }
            self.links.push(GroupLink { before: before.unwrap_or(GroupLink::NONE), is_last: true });
        }
    }
}

/// Returns `true` if a record belongs to the group of the previous record of the same entity.
#[inline]
fn continues(before: &Record, record: &Record) -> bool {
    before.kind != RecordKind::Despawn && record.kind != RecordKind::Spawn
}

/// [`EntityGroups::each`] for records in which the records of one entity are adjacent.
fn each_adjacent(records: &[Record], group: &mut Vec<u32>, mut play: impl FnMut(&[u32])) {
    let same = |a: &Record, b: &Record| a.entity == b.entity && continues(a, b);
    let mut at = 0u32;
    for run in records.chunk_by(same) {
        if run.len() == 1 {
            play(&[at]);
            at += 1;
            continue;
        }
        group.clear();
        group.extend((at..).take(run.len()));
        at = group.last().map_or(at, |&last| last + 1);
        play(group);
    }
}

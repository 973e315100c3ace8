//! Grouping: the records of one entity, out of a run of records on many.

use core::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::record::{Record, RecordKind};

/// Finds the chains of a run of records: those that follow one another on one entity.
///
/// A chain ends with the entity's despawn. BarrierKind is recorded for it behind that is *late*: a chain of
/// its own, which finds the entity dead. A spawn begins a chain.
///
/// EntityGroups come in the order of their last records. So entities end in the order in which their
/// despawns were recorded, which is the order in which their indices are used again.
#[derive(Debug, Default)]
pub(super) struct EntityGroups {
    /// The last record of each entity so far.
    latest: FxHashMap<u64, u32>,
    links: Vec<Link>,
}

/// A record's neighbours in its chain.
#[derive(Clone, Copy, Debug)]
struct Link {
    before: u32,
    is_last: bool,
}

impl Link {
    const NONE: u32 = u32::MAX;
}

impl EntityGroups {
    /// Calls `play` with each chain of the records, as indices into them.
    pub(super) fn each(
        &mut self,
        records: &[Record],
        chain: &mut Vec<u32>,
        mut play: impl FnMut(&[u32]),
    ) {
        assert!(
            u32::try_from(records.len()).is_ok(),
            "a command buffer holds at most 4,294,967,295 commands: apply it more often"
        );
        // Whoever walks a world in the order of its ids, or of indices that are used again, records
        // what he does to an entity together.
        let id = |record: &Record| record.entity.to_bits();
        if records.is_sorted_by_key(id) || records.is_sorted_by_key(|r| Reverse(id(r))) {
            return neighbours(records, chain, play);
        }
        self.link(records);
        for (last, link) in (0u32..).zip(&self.links) {
            if !link.is_last {
                continue;
            }
            chain.clear();
            let mut at = last;
            while at != Link::NONE {
                chain.push(at);
                at = self.links[at as usize].before;
            }
            chain.reverse();
            play(chain);
        }
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
            self.links.push(Link { before: before.unwrap_or(Link::NONE), is_last: true });
        }
    }
}

/// Whether a record belongs to the chain of the one before it on the same entity.
#[inline]
fn continues(before: &Record, record: &Record) -> bool {
    before.verb != RecordKind::Despawn && record.verb != RecordKind::Spawn
}

/// The chains of records of which those of one entity stand together.
fn neighbours(records: &[Record], chain: &mut Vec<u32>, mut play: impl FnMut(&[u32])) {
    let same = |a: &Record, b: &Record| a.entity == b.entity && continues(a, b);
    let mut at = 0u32;
    for run in records.chunk_by(same) {
        chain.clear();
        chain.extend((at..).take(run.len()));
        at = chain.last().map_or(at, |&last| last + 1);
        play(chain);
    }
}

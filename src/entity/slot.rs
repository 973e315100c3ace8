//! The slot of an index: its generation, and the location of its entity.

use super::Entity;
use super::location::Location;

/// The generation of an index that was never used.
pub(super) const GENERATION_FIRST: u32 = 1;

/// The entry of one index. The states are drawn in the module's essay.
///
/// The archetype follows the generation, for
/// [`DirectoryView::position_in`](super::DirectoryView::position_in).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Slot {
    pub(super) generation: u32,
    pub(super) location: Location,
}

const _: () = assert!(size_of::<Slot>() == 12, "a slot is 12 bytes");

impl Slot {
    #[inline]
    pub(super) const fn is_alive(&self) -> bool {
        self.location.is_somewhere()
    }

    #[inline]
    pub(super) fn is_on_loan(&self) -> bool {
        self.generation != 0 && self.location == Location::ON_LOAN
    }
}

/// Converts a number of slots or ids, which the directory's limit bounds.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the limit is a u32, and no length exceeds it")]
pub(super) fn index_u32(len: usize) -> u32 {
    debug_assert!(u32::try_from(len).is_ok(), "length {len} exceeds a u32");
    len as u32
}

/// Ids whose slots are looked for together. The test of a block is a few vectors, and a block that
/// fails it costs little.
pub(super) const BLOCK: usize = 32;

/// The slots of ids, if they follow each other as the ids do: rows that were spawned together have
/// such ids, so a loop over their slots has neither bounds nor numbers to check.
#[inline(always)]
pub(super) fn neighbours_mut<'s>(
    slots: &'s mut [Slot],
    entities: &[Entity],
) -> Option<&'s mut [Slot]> {
    let first = entities.first()?.index();
    // No early end, which would keep the loop from vectors.
    let apart = (0u32..)
        .zip(entities)
        .fold(0, |apart, (i, entity)| apart | (entity.index() ^ first.wrapping_add(i)));
    // In two steps: where addresses have 32 bits, the sum of both would overflow.
    let slots = slots.get_mut(first as usize..)?;
    (apart == 0).then(|| slots.get_mut(..entities.len())).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_neighbours_if_all_ids_between_follow_each_other() {
        let slot = |generation| Slot { generation, location: Location::ON_LOAN };
        let mut slots: Vec<_> = (0..20).map(slot).collect();
        let mut found = |indices: &[u32]| {
            let ids: Vec<_> = indices.iter().map(|&index| Entity::new(index, 7)).collect();
            let slots = neighbours_mut(&mut slots, &ids)?;
            Some(slots.iter().map(|slot| slot.generation).collect::<Vec<_>>())
        };
        assert_eq!(found(&[4, 5, 6, 7]), Some(vec![4, 5, 6, 7]));
        assert_eq!(found(&[19]), Some(vec![19]));
        let apart: [&[u32]; 6] =
            [&[], &[4, 6, 5, 7], &[4, 5, 5, 7], &[5, 4], &[18, 19, 20], &[u32::MAX - 1, u32::MAX]];
        for indices in apart {
            assert_eq!(found(indices), None, "{indices:?}");
        }
    }
}

//! The differences between the ids of a directory and of an image of it.

use super::Entity;
use super::directory::Directory;
use super::directory_image::DirectoryImage;
use super::id_numbers::pairs;
use super::slot::index_u32;

/// If more than one in this number of ids changed, comparing all ids is faster than single
/// look-ups.
const MANY: usize = 16;

/// The differences between a directory and an image of it. Neither has far slots.
#[derive(Debug, Default)]
pub(crate) struct IdChanges {
    /// The slots that are new or have another generation, in ascending order.
    pub(crate) slots: Vec<u32>,
    /// The positions of the free stack that are new or have another index, in ascending order.
    pub(crate) free: Vec<u32>,
}

impl Directory {
    /// Stamps the changes, before [`Directory::changes_since`].
    pub(crate) fn settle(&mut self) {
        self.free.settle();
    }

    /// The differences from an image of this directory. `rows` are the rows that may have other
    /// entities than in the image: for each part of an archetype the present entities and the older
    /// ones.
    ///
    /// `None` if far slots exist, or if the differences are so many that all numbers should be
    /// compared instead. O(rows + changed free ids + pages of the free stack + retired ids), and
    /// sorting the differences.
    pub(crate) fn changes_since<'r>(
        &self,
        image: &DirectoryImage,
        rows: impl Iterator<Item = (&'r [Entity], &'r [Entity])>,
    ) -> Option<IdChanges> {
        if self.far.len() > 0 || !image.far.is_empty() {
            return None;
        }
        let most = (self.slots.len() / MANY).max(64);
        let (mut now, mut then) = (Vec::new(), Vec::new());
        for (new, old) in rows {
            add_changed(new, old, &mut now, &mut then);
            if now.len() + then.len() > most {
                return None;
            }
        }
        let (stack, old) = (self.free.as_slice(), image.free.ids());
        let (mut free, mut page) = (Vec::new(), Vec::new());
        for range in image.free.changed(&self.free) {
            page.clear();
            page.extend(stack[range.clone()].iter().map(|&index| self.id_of_slot(index)));
            let old = &old[range.start.min(old.len())..range.end.min(old.len())];
            add_changed(&page, old, &mut now, &mut then);
            let is_old =
                |n: usize, id: &Entity| old.get(n).is_some_and(|o| o.index() == id.index());
            let changed = page.iter().enumerate().filter(|&(n, id)| !is_old(n, id));
            free.extend(changed.map(|(n, _)| index_u32(range.start + n)));
            if now.len() + then.len() > most {
                return None;
            }
        }
        then.extend_from_slice(old.get(stack.len()..).unwrap_or(&[]));
        if self.retired != image.retired {
            now.extend(self.retired.iter().map(|&index| Entity::new(index, 0)));
            then.extend(image.retired.iter().map(|&index| Entity::new(index, 0)));
        }
        Some(IdChanges { slots: changed_slots(now, then), free })
    }

    /// The generation of a slot.
    pub(crate) fn generation(&self, index: u32) -> u32 {
        self.id_of_slot(index).generation()
    }

    /// The free stack, the next index last.
    pub(crate) fn free_indices(&self) -> &[u32] {
        self.free.as_slice()
    }

    /// The number of slots.
    pub(crate) const fn indices_len(&self) -> usize {
        self.slots.len()
    }

    /// The distance that a given id may skip.
    pub(crate) const fn reach(&self) -> u32 {
        self.reach
    }

    /// Pairs of an index and the generation that follows.
    pub(crate) fn next_generations(&self) -> Vec<u32> {
        pairs(&self.next_generations)
    }

    /// The numbers of ids that systems took.
    pub(crate) fn demands(&self) -> Vec<u32> {
        self.demands.numbers()
    }
}

impl DirectoryImage {
    /// The number of slots.
    pub(crate) const fn indices_len(&self) -> usize {
        self.slots_len as usize
    }

    /// The number of free slots.
    pub(crate) fn free_len(&self) -> usize {
        self.free.ids().len()
    }

    /// The distance that a given id may skip.
    pub(crate) const fn reach(&self) -> u32 {
        self.reach
    }

    /// Pairs of an index and the generation that follows.
    pub(crate) fn next_generations(&self) -> Vec<u32> {
        pairs(&self.next_generations)
    }

    /// The numbers of ids that systems took.
    pub(crate) fn demands(&self) -> Vec<u32> {
        self.demands.numbers()
    }
}

/// Adds the ids of two lists that differ at the same place, or lie beyond the end of the other
/// list.
fn add_changed(new: &[Entity], old: &[Entity], now: &mut Vec<Entity>, then: &mut Vec<Entity>) {
    for (new, old) in new.iter().zip(old).filter(|(new, old)| new != old) {
        now.push(*new);
        then.push(*old);
    }
    let common = new.len().min(old.len());
    now.extend_from_slice(&new[common..]);
    then.extend_from_slice(&old[common..]);
}

/// The indices of the slots that are new or have another generation. Slots in neither list have not
/// changed.
fn changed_slots(mut now: Vec<Entity>, mut then: Vec<Entity>) -> Vec<u32> {
    now.sort_unstable_by_key(|id| id.index());
    then.sort_unstable_by_key(|id| id.index());
    let mut then = then.into_iter().peekable();
    now.retain(|id| {
        while then.next_if(|old| old.index() < id.index()).is_some() {}
        then.peek() != Some(id)
    });
    now.into_iter().map(Entity::index).collect()
}

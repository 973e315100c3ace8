//! The numbers of the shared values of a type, and their tags.
//!
//! ```text
//!  number  tag    value
//!    0     c5     "oak"
//!    1     c6     –         free: the next value has it
//!    2     c9     "birch"
//!    3     –      –         the next number without a tag
//! ```
//!
//! A new value has the lowest number that no living value has. So numbers follow from the living
//! values alone, whichever values there were before, and a world that is read from bytes continues
//! as the one that was written. A number keeps its tag.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::any_value::AnyValue;
use super::component_id::ComponentId;
use super::held_value::{FreedNumbers, HeldValue};
use super::shared_slot::SharedSlot;

/// The numbers of a type.
#[derive(Debug, Default)]
pub(super) struct TagTable {
    /// By number. A tree, because a state that is read may have few numbers far apart.
    tags: BTreeMap<u32, NumberedTag>,
    /// The tags of living values, and of those in `freed`, by hash and number. A tree, because
    /// hashes are read from bytes, and hostile ones would make each search in a hash table linear.
    living: BTreeMap<(u64, u32), NumberedTag>,
    /// The numbers of `tags` without a value.
    free: BTreeSet<u32>,
    /// The lowest number without a tag.
    next: u32,
    /// The values that have ended since the last call of [`TagTable::free_ended`].
    freed: Arc<FreedNumbers>,
}

#[derive(Clone, Debug)]
struct NumberedTag {
    id: ComponentId,
    slot: Arc<SharedSlot>,
}

impl TagTable {
    /// The value with a hash for which `is_equal` returns `true`, and its tag. Runs the user's
    /// code.
    pub(super) fn find(
        &self,
        hash: u64,
        is_equal: impl Fn(&AnyValue) -> bool,
    ) -> Option<(ComponentId, Arc<HeldValue>)> {
        // Without an upper bound, which would be searched as well.
        let of_hash = self.living.range((hash, 0)..).take_while(|(key, _)| key.0 == hash);
        of_hash.map(|(_, tag)| tag).find_map(|tag| {
            let known = tag.slot.get()?;
            is_equal(&known).then_some((tag.id, known))
        })
    }

    /// The slot of the tag with a number.
    pub(super) fn slot(&self, number: u32) -> &Arc<SharedSlot> {
        &self.tags[&number].slot
    }

    /// The number of a new value: the lowest one that no living value has.
    pub(super) fn lowest(&mut self) -> u32 {
        self.free_ended();
        self.free.first().map_or(self.next, |&free| free.min(self.next))
    }

    /// The tag with a number. A new one is the result of `new_tag`.
    pub(super) fn tag(
        &mut self,
        number: u32,
        new_tag: impl FnOnce() -> ComponentId,
    ) -> ComponentId {
        if let Some(tag) = self.tags.get(&number) {
            return tag.id;
        }
        let id = new_tag();
        self.tags.insert(number, NumberedTag { id, slot: Arc::new(SharedSlot::new()) });
        self.free.insert(number);
        while self.tags.contains_key(&self.next) {
            self.next += 1;
        }
        id
    }

    /// Whether a number has a tag.
    pub(super) fn has_tag(&self, number: u32) -> bool {
        self.tags.contains_key(&number)
    }

    /// Gives the tag with a number a value, unless it has one. The caller owns the value until an
    /// archetype does.
    pub(super) fn hold(&mut self, number: u32, value: &Arc<AnyValue>, hash: u64) -> Arc<HeldValue> {
        self.free_ended();
        let tag = &self.tags[&number];
        tag.slot.get().unwrap_or_else(|| {
            let freed = Arc::clone(&self.freed);
            let held = Arc::new(HeldValue::new(Arc::clone(value), (hash, number), freed));
            tag.slot.set(&held);
            self.living.insert((hash, number), tag.clone());
            self.free.remove(&number);
            held
        })
    }

    /// How many of the next `wanted` values need a new tag. O(wanted).
    pub(super) fn missing(&mut self, wanted: usize) -> usize {
        self.free_ended();
        let mut free = self.free.iter().copied().peekable();
        let mut lacking = (self.next..).filter(|number| !self.has_tag(*number)).peekable();
        let is_missing = |_: &usize| match free.next_if(|&free| Some(&free) < lacking.peek()) {
            Some(_) => false,
            None => lacking.next().is_some(),
        };
        (0..wanted).filter(is_missing).count()
    }

    /// Takes back tags without a value.
    pub(super) fn forget(&mut self, is_over: impl Fn(ComponentId) -> bool) {
        let Self { tags, free, next, .. } = self;
        tags.retain(|&number, tag| {
            if is_over(tag.id) {
                free.remove(&number);
                *next = number.min(*next);
            }
            !is_over(tag.id)
        });
    }

    /// Frees the numbers of values that have ended. O(1) for each.
    fn free_ended(&mut self) {
        for (hash, number) in self.freed.take() {
            // A value that has the number by now is another one.
            let now = self.tags[&number].slot.get().map(|value| value.hash());
            let is_gone = now != Some(hash) && self.living.remove(&(hash, number)).is_some();
            if is_gone && now.is_none() {
                self.free.insert(number);
            }
        }
    }

    /// The number of tags.
    pub(super) fn len(&self) -> usize {
        self.tags.len()
    }

    /// The reason why the parts of the table disagree, or a tag is not the one of its number.
    /// O(tags).
    pub(super) fn find_defect(
        &self,
        is_tag: impl Fn(ComponentId, u32) -> bool,
    ) -> Option<&'static str> {
        let mut lacking = (0..).filter(|&number| !self.has_tag(number));
        if Some(self.next) != lacking.next() {
            return Some("the next number is not the lowest one without a tag");
        }
        if self.free.iter().any(|&number| !self.has_tag(number)) {
            return Some("a number without a tag is free");
        }
        let mut taken = BTreeSet::new();
        // A value may have ended, and wait in `freed`.
        for (&(_, number), living) in &self.living {
            let is_own = |tag: &NumberedTag| Arc::ptr_eq(&tag.slot, &living.slot);
            if !self.tags.get(&number).is_some_and(is_own) {
                return Some("a value has the tag of another number");
            }
            taken.insert(number);
        }
        self.tags.iter().find_map(|(number, tag)| {
            if !is_tag(tag.id, *number) {
                return Some("a number has a tag of another number or type");
            }
            if self.free.contains(number) == taken.contains(number) {
                return Some("a number is free and has a value, or neither");
            }
            let value = tag.slot.get()?;
            let is_filed = self.living.contains_key(&(value.hash(), *number));
            (!is_filed).then_some("a value is not found by its hash")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_tag(id: ComponentId, number: u32) -> bool {
        id.0 == number + 10
    }

    /// A table with values of the numbers 0 and 2, which the caller owns, and 1 free.
    fn table() -> (TagTable, [Arc<HeldValue>; 2]) {
        let mut table = TagTable::default();
        let mut hold = |value: u32| {
            let number = table.lowest();
            table.tag(number, || ComponentId(number + 10));
            let value: Arc<AnyValue> = Arc::new(Box::new(value));
            table.hold(number, &value, u64::from(number) * 7)
        };
        let [first, second, third] = [0, 1, 2].map(&mut hold);
        drop(second);
        assert_eq!(table.find_defect(is_tag), None, "one value has ended");
        table.free_ended();
        assert_eq!(table.find_defect(is_tag), None);
        (table, [first, third])
    }

    #[test]
    fn each_part_of_a_table_is_checked() {
        type Break = fn(&mut TagTable);
        let breaks: [(&str, Break); 8] = [
            ("the next number is not", |table| table.next = 4),
            ("the next number is not", |table| table.next = 2),
            ("a number without a tag is free", |table| assert!(table.free.insert(9))),
            ("the tag of another number", |table| {
                let first = table.living[&(0, 0)].clone();
                table.living.insert((14, 2), first);
            }),
            ("of another number or type", |table| {
                table.tags.get_mut(&1).expect("it has a tag").id = ComponentId(99);
            }),
            ("or neither", |table| assert!(table.free.remove(&1))),
            ("or neither", |table| assert!(table.free.insert(2))),
            ("not found by its hash", |table| {
                let value = table.living.remove(&(14, 2)).expect("it lives");
                table.living.insert((15, 2), value);
            }),
        ];
        for (text, break_it) in breaks {
            let (mut table, _values) = table();
            break_it(&mut table);
            let found = table.find_defect(is_tag).unwrap_or("nothing");
            assert!(found.contains(text), "{found} instead of {text}");
        }
    }
}

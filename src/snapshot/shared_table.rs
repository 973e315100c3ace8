//! The shared values of a state, as they are written: see [`format`](super::format).
//!
//! Tags are numbered from zero in each type, in the order of their ids. A world assigns the tags of
//! a type in this order, so a number means the same tag in every world with the state, for any id.

use std::io::{self, Write};
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::archetype::KeptValue;
use crate::component::{ComponentId, SharedCodec, SharedImage, SharedTypeImage, TagPlace};

use super::delta::{differences, push};
use super::output::Output;

/// The kind of a tag, in the lowest two bits of its word. The other bits are its place among the
/// tags of one hash.
pub(super) mod tag {
    /// The tag is free for any value.
    pub(in crate::snapshot) const FREE: u32 = 0;
    /// The tag is for values of its hash. The state has no such value.
    pub(in crate::snapshot) const NAMED: u32 = 1;
    /// The tag has a value. Its hash follows from the value.
    pub(in crate::snapshot) const VALUED: u32 = 2;
    /// The number of these bits.
    pub(in crate::snapshot) const BITS: u32 = 2;
}

/// The tags of a type that has a name in bytes.
#[derive(Debug)]
pub(super) struct SharedTable {
    codec: SharedCodec,
    marker: ComponentId,
    pub(super) full: usize,
    /// By their numbers, like the fields below.
    tags: Vec<ComponentId>,
    /// The hashes of tags that are reserved for a hash and have no value.
    pub(super) hashes: Vec<u64>,
    pub(super) words: Vec<u32>,
    pub(super) values: Vec<Option<KeptValue>>,
}

/// The tables of all types that have a name in bytes and a tag, in the order of the names.
#[derive(Debug, Default)]
pub(super) struct SharedTables {
    tables: Vec<SharedTable>,
    /// The numbers of markers and tags, type by type: first its marker and after it its tags.
    numbers: FxHashMap<ComponentId, u32>,
}

impl SharedTables {
    /// The tables of a state with these values. O(tags).
    pub(super) fn new(image: &SharedImage, values: impl Iterator<Item = KeptValue>) -> Self {
        let values: FxHashMap<_, _> = values.map(|kept| (kept.tag(), kept)).collect();
        let tables = image.types().iter().filter_map(|of_type| SharedTable::new(of_type, &values));
        let mut tables: Vec<_> = tables.collect();
        tables.sort_unstable_by_key(SharedTable::name);
        let of_table = |table: &SharedTable| [&[table.marker], &table.tags[..]].concat();
        let numbers = tables.iter().flat_map(of_table).zip(0..).collect();
        Self { tables, numbers }
    }

    /// The number of markers and tags.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The tables, in the order of the names of their types.
    pub(super) fn as_slice(&self) -> &[SharedTable] {
        &self.tables
    }

    /// The table of the type with a name.
    pub(super) fn named(&self, name: &str) -> Option<&SharedTable> {
        let at = self.tables.binary_search_by(|table| table.name().cmp(name)).ok()?;
        Some(&self.tables[at])
    }

    /// The number of a marker or a tag, counted over all types.
    pub(super) fn number(&self, id: ComponentId) -> Option<u32> {
        self.numbers.get(&id).copied()
    }

    /// Writes the tables, as the difference from the tables of a base if there is one.
    pub(super) fn write<W: Write>(
        &self,
        base: Option<&Self>,
        out: &mut Output<W>,
    ) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.tables.iter().try_for_each(|table| {
            table.write(base.and_then(|base| base.named(table.name())), &mut bytes, out)
        })
    }
}

impl SharedTable {
    /// The table of a type, if it has a name and a tag.
    fn new(of_type: &SharedTypeImage, values: &FxHashMap<ComponentId, KeptValue>) -> Option<Self> {
        let (codec, all) = (of_type.codec()?.clone(), of_type.tags());
        if all.is_empty() {
            return None;
        }
        let (marker, full) = (of_type.marker(), of_type.full());
        let (mut tags, mut hashes, mut words) = (Vec::new(), Vec::new(), Vec::new());
        let mut kept = Vec::new();
        for (tag, place) in all {
            let value = values.get(&tag);
            let (hash, word) = described(place, value.is_some());
            tags.push(tag);
            hashes.push(hash);
            words.push(word);
            kept.push(value.cloned());
        }
        Some(Self { codec, marker, full, tags, hashes, words, values: kept })
    }

    pub(super) const fn name(&self) -> &'static str {
        self.codec.name()
    }

    /// Writes the table, as the difference from an older one if there is one. `bytes` is a buffer.
    fn write<W: Write>(
        &self,
        older: Option<&Self>,
        bytes: &mut Vec<u8>,
        out: &mut Output<W>,
    ) -> io::Result<()> {
        out.len(self.name().len())?;
        out.len(self.full)?;
        out.len(self.tags.len())?;
        out.bytes(self.name().as_bytes())?;
        let hashes = older.map_or(&[][..], |older| &older.hashes);
        out.array(&self.hashes, &differences(&self.hashes, hashes))?;
        let words = older.map_or(&[][..], |older| &older.words);
        out.array(&self.words, &differences(&self.words, words))?;
        let ranges = self.new_values(older);
        out.ranges(&ranges)?;
        for value in ranges.into_iter().flat_map(|range| &self.values[range]).flatten() {
            bytes.clear();
            self.codec.encode(value.value(), bytes);
            out.u64(bytes.len() as u64)?;
            out.bytes(bytes)?;
        }
        Ok(())
    }

    /// The numbers of tags that the older table lacks, or that have another value in it.
    fn new_values(&self, older: Option<&Self>) -> Vec<Range<usize>> {
        let old = older.map_or(&[][..], |older| &older.values);
        let mut ranges = Vec::new();
        for (number, value) in self.values.iter().enumerate() {
            let is_old = match (old.get(number), value) {
                (None, _) => false,
                (Some(_), None) => true,
                (Some(old), Some(new)) => old.as_ref().is_some_and(|old| old.is_same(new)),
            };
            if !is_old {
                push(&mut ranges, number..number + 1);
            }
        }
        ranges
    }
}

/// The hash and the word of a tag.
fn described(place: TagPlace, has_value: bool) -> (u64, u32) {
    let Some((hash, place)) = place else { return (0, tag::FREE) };
    let place = u32::try_from(place).expect("a world has few tags") << tag::BITS;
    match has_value {
        true => (0, place | tag::VALUED),
        false => (hash, place | tag::NAMED),
    }
}

//! The shared values of a state, as they are written: see [`format`](super::format).

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::archetype::OwnedSharedValue;
use crate::component::{ComponentId, ComponentInfo, SharedCodec, SharedPlace};

use super::delta::{differences, push};
use super::output::Output;

/// The word of a value: its number in its type, and in the lowest bit whether entities have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ValueWord(pub(super) u32);

impl ValueWord {
    const fn new(number: u32, is_living: bool) -> Self {
        Self(number << 1 | is_living as u32)
    }

    pub(super) const fn number(self) -> u32 {
        self.0 >> 1
    }

    pub(super) const fn is_living(self) -> bool {
        self.0 & 1 != 0
    }
}

/// The values of a type, and the numbers of values whose archetypes are left.
#[derive(Debug)]
pub(super) struct SharedTable {
    codec: SharedCodec,
    marker: ComponentId,
    /// In the order of the numbers, like the fields below.
    tags: Vec<ComponentId>,
    /// A [`ValueWord`] of each.
    pub(super) words: Vec<u32>,
    values: Vec<Option<OwnedSharedValue>>,
}

/// The tables of all types that have a name in bytes and an archetype, in the order of the names.
#[derive(Debug, Default)]
pub(super) struct SharedTables {
    tables: Vec<SharedTable>,
    /// The numbers of markers and tags, type by type: first its marker and after it its tags.
    numbers: FxHashMap<ComponentId, u32>,
}

impl SharedTables {
    /// The tables of a state with these components of archetypes and these values, in a world with
    /// these types. O(components of archetypes).
    pub(super) fn new(
        used: impl Iterator<Item = ComponentId>,
        (infos, codecs): (&[ComponentInfo], &[Option<SharedCodec>]),
        values: impl Iterator<Item = OwnedSharedValue>,
    ) -> Self {
        let (mut markers, mut tags) = (Vec::new(), BTreeMap::<_, BTreeMap<_, _>>::new());
        for id in used {
            match infos[id.index()].shared_place() {
                None => {}
                Some(SharedPlace::Marker(of)) => markers.push((of, id)),
                Some(SharedPlace::Tag { of, number }) => {
                    tags.entry(of).or_default().insert(number, id);
                }
            }
        }
        let mut values: FxHashMap<_, _> = values.map(|kept| (kept.tag(), kept)).collect();
        markers.sort_unstable();
        markers.dedup();
        let tables = markers.into_iter().filter_map(|(of, marker)| {
            let codec = codecs.get(usize::from(of)).cloned().flatten()?;
            let (mut words, mut kept) = (Vec::new(), Vec::new());
            let tags = tags.remove(&of).unwrap_or_default();
            for (&number, tag) in &tags {
                let value = values.remove(tag);
                words.push(ValueWord::new(number, value.is_some()).0);
                kept.push(value);
            }
            let tags = tags.into_values().collect();
            Some(SharedTable { codec, marker, tags, words, values: kept })
        });
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
    pub(super) const fn name(&self) -> &'static str {
        self.codec.name()
    }

    /// The value with a number, if entities have one.
    pub(super) fn value(&self, number: u32) -> Option<&OwnedSharedValue> {
        let at = self.words.binary_search(&ValueWord::new(number, true).0).ok()?;
        self.values[at].as_ref()
    }

    /// Writes the table, as the difference from an older one if there is one. `bytes` is a buffer.
    fn write<W: Write>(
        &self,
        older: Option<&Self>,
        bytes: &mut Vec<u8>,
        out: &mut Output<W>,
    ) -> io::Result<()> {
        out.len(self.name().len())?;
        out.len(self.words.len())?;
        out.bytes(self.name().as_bytes())?;
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

    /// The places of values that the older table lacks, or has another value for.
    fn new_values(&self, older: Option<&Self>) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        for (at, (&word, value)) in self.words.iter().zip(&self.values).enumerate() {
            let Some(value) = value else { continue };
            let old = older.and_then(|older| older.value(ValueWord(word).number()));
            if !old.is_some_and(|old| old.is_same(value)) {
                push(&mut ranges, at..at + 1);
            }
        }
        ranges
    }
}

//! Writes a state, or the difference between two, in the format.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

use bytemuck::cast_slice;
use xxhash_rust::xxh3::Xxh3;

use crate::archetype::{Archetype, ArchetypeImage, RowsView, SharedTags};
use crate::component::{ComponentId, ComponentInfo};
use crate::storage::{StampKind, WordsPart};
use crate::store::{History, SetView, SparseSets, Store, age_of_stamp};

use super::delta::{changed_entities, changed_rows, differences};
use super::format::{BYTE_ORDER, DELTA, FORMAT, MAGIC, SNAPSHOT};
use super::output::Output;
use super::shared_table::SharedTables;
use super::snapshot::Snapshot;
use super::write_ids::{IdSource, Ids, write_ids};
use super::write_sets::write_sets;

/// A state that is written.
pub(super) struct Source<'a> {
    views: Vec<RowsView<'a>>,
    ids: Ids<'a>,
    age: u64,
    /// A number that no other state of the same world has.
    origin: u64,
    infos: &'a [ComponentInfo],
    shared: SharedTables,
    /// The sparse sets that have a form as bytes, in the order of their names.
    sets: Vec<SetView<'a>>,
    chunk_bytes: usize,
}

impl<'a> Source<'a> {
    /// The present state of a store.
    pub(super) fn of_store(store: &'a Store) -> Self {
        let archetypes = store.archetypes().as_slice().iter();
        let values =
            archetypes.clone().filter_map(Archetype::shared).flat_map(SharedTags::owned_values);
        Self {
            shared: SharedTables::new(
                archetypes.clone().flat_map(|archetype| archetype.set().iter()),
                (store.registry().infos(), &store.registry().shared_codecs()),
                values,
            ),
            views: aged(archetypes.map(RowsView::of_archetype), store.history()),
            ids: Ids::World(store.entities()),
            age: store.history().age(store.clock()),
            origin: store.state_number(),
            sets: writable(store.sparse()),
            infos: store.registry().infos(),
            chunk_bytes: store.archetypes().chunk_size().bytes(),
        }
    }

    /// The state of a snapshot.
    pub(super) fn of_snapshot(snapshot: &'a Snapshot) -> Self {
        let Snapshot { image, components: infos, codecs, chunk_bytes, .. } = snapshot;
        let archetypes = image.archetypes().iter();
        let values = archetypes.clone().flat_map(ArchetypeImage::owned_values);
        Self {
            shared: SharedTables::new(
                archetypes.clone().flat_map(|archetype| archetype.set().iter()),
                (infos, codecs),
                values.cloned(),
            ),
            views: aged(archetypes.map(RowsView::of_image), image.history()),
            ids: Ids::Image(image.entities()),
            age: image.age(),
            origin: image.origin(),
            sets: writable(image.sets()),
            infos,
            chunk_bytes: *chunk_bytes,
        }
    }

    /// Identifies a state by its number, which covers sparse components, its row counts, versions
    /// and tags of shared values; neither component bytes nor ids are read. Two worlds with the
    /// same history but different values have the same identity. O(chunks × columns + tags).
    pub(super) fn identity(&self) -> u64 {
        let mut hash = Xxh3::new();
        hash.update(cast_slice(&[self.age, self.origin]));
        for view in &self.views {
            hash.update(&(view.len() as u64).to_ne_bytes());
            let columns = self.columns(view).into_iter();
            let columns = columns.map(|(column, _)| WordsPart::Stamps(StampKind::column(column)));
            for part in WordsPart::OF_ROWS.into_iter().chain(columns) {
                hash.update(cast_slice(view.words(part)));
            }
        }
        for table in self.shared.as_slice() {
            hash.update(table.name().as_bytes());
            hash.update(&(table.words.len() as u64).to_ne_bytes());
            hash.update(cast_slice(&table.words));
        }
        hash.digest()
    }

    const fn id_source(&self) -> IdSource<'_> {
        IdSource { ids: &self.ids, views: self.views.as_slice() }
    }

    fn name(&self, id: ComponentId) -> &'static str {
        self.infos[id.index()].name()
    }

    /// The columns of an archetype: components by their names, and after them markers and tags by
    /// their numbers. Ids are not used because they depend on the order of first use.
    fn columns(&self, view: &RowsView<'_>) -> Vec<(u16, ComponentId)> {
        let mut columns: Vec<_> = (0..).zip(view.set().iter()).collect();
        columns.sort_by_key(|&(_, id)| (self.shared.number(id), self.name(id)));
        columns
    }

    /// The type of a shared value, if it has no name in bytes. Entities have the value, or an
    /// archetype is left that had it.
    pub(super) fn nameless_type(&self) -> Option<&'static str> {
        let mut all = self.views.iter().flat_map(|view| view.set().iter());
        all.find_map(|id| {
            let info = &self.infos[id.index()];
            let is_nameless = info.is_shared() && self.shared.number(id).is_none();
            is_nameless.then_some(info.name())
        })
    }

    /// The number of components, markers and tags that a world needs to read the state.
    pub(super) fn ids_len(&self) -> usize {
        self.shared.len() + self.infos.iter().filter(|info| !info.is_shared()).count()
    }

    /// The shared values of the state.
    pub(super) fn into_shared(self) -> SharedTables {
        self.shared
    }

    /// Writes the state. With `base` it writes the difference from it; both have the first
    /// archetypes in common.
    pub(super) fn write<W: Write>(&self, base: Option<&Source<'_>>, to: W) -> io::Result<W> {
        let mut out = Output::new(to);
        let numbers = self.write_header(base, &mut out)?;
        write_ids(self.id_source(), base.map(Source::id_source), &mut out)?;
        let mut known = base.map_or(&[][..], |base| &base.views).iter();
        for view in &self.views {
            let older = known.next().filter(|older| older.set() == view.set());
            if older.is_none() {
                known = [].iter();
            }
            self.write_rows(view, older, &numbers, &mut out)?;
        }
        write_sets(&self.sets, base.map_or(&[], |base| &base.sets), &mut out)?;
        out.finish()
    }

    /// Writes the header, the components and the shared types. Returns the numbers of components.
    fn write_header<W: Write>(
        &self,
        base: Option<&Source<'_>>,
        out: &mut Output<W>,
    ) -> io::Result<BTreeMap<ComponentId, u32>> {
        let used = self.views.iter().flat_map(|view| view.set().iter());
        let used = used.filter(|id| !self.infos[id.index()].is_shared());
        let used: BTreeMap<_, _> = used.map(|id| (self.name(id), id)).collect();
        out.bytes(&MAGIC)?;
        out.u32(BYTE_ORDER)?;
        out.u32(FORMAT)?;
        out.u32(if base.is_some() { DELTA } else { SNAPSHOT })?;
        out.len(self.chunk_bytes)?;
        out.u64(self.age)?;
        out.u64(base.map_or(0, Source::identity))?;
        out.u64(self.origin)?;
        out.len(used.len())?;
        out.len(self.views.len())?;
        out.len(self.shared.as_slice().len())?;
        for id in used.values() {
            let info = &self.infos[id.index()];
            out.len(info.name().len())?;
            out.len(info.size())?;
            out.u64(info.fingerprint())?;
            out.bytes(info.name().as_bytes())?;
        }
        self.shared.write(base.map(|base| &base.shared), out)?;
        Ok(used.into_values().zip(0..).collect())
    }

    /// Writes the rows of an archetype, as the difference from its older state if there is one.
    fn write_rows<W: Write>(
        &self,
        view: &RowsView<'_>,
        older: Option<&RowsView<'_>>,
        numbers: &BTreeMap<ComponentId, u32>,
        out: &mut Output<W>,
    ) -> io::Result<()> {
        let columns = self.columns(view);
        out.len(columns.len())?;
        for (_, id) in &columns {
            // Markers and tags are numbered after the components.
            out.len(match self.shared.number(*id) {
                Some(number) => numbers.len() + number as usize,
                None => numbers[id] as usize,
            })?;
        }
        out.u32(u32::from(older.is_some()))?;
        out.len(view.len())?;
        out.len(view.capacity())?;
        out.u32(u32::from(view.in_first_block()))?;
        out.array(view.entities(), &changed_entities(view, older))?;
        write_words(WordsPart::OF_ROWS, view, older, out)?;
        for (column, id) in columns {
            let size = self.infos[id.index()].size();
            let ranges = changed_rows(view, older, column, size);
            out.ranges(&ranges)?;
            for rows in ranges {
                for rows in split_at_chunks(rows, view.capacity()) {
                    out.bytes(view.cells(column, size, rows))?;
                }
            }
            write_words(WordsPart::of_column(column), view, older, out)?;
        }
        Ok(())
    }

    pub(super) const fn age(&self) -> u64 {
        self.age
    }
}

/// The sets that have a form as bytes.
fn writable(sets: &SparseSets) -> Vec<SetView<'_>> {
    sets.views().into_iter().filter(|view| view.shape().is_some()).collect()
}

/// Views of a state with this history.
pub(super) fn aged<'a>(
    views: impl Iterator<Item = RowsView<'a>>,
    history: &History,
) -> Vec<RowsView<'a>> {
    if history.is_empty() {
        return views.collect();
    }
    views.map(|view| view.with_ages(|stamp| age_of_stamp(history, stamp))).collect()
}

/// Writes words, as the difference from an older state if there is one.
fn write_words<W: Write>(
    parts: impl IntoIterator<Item = WordsPart>,
    view: &RowsView<'_>,
    older: Option<&RowsView<'_>>,
    out: &mut Output<W>,
) -> io::Result<()> {
    parts.into_iter().try_for_each(|part| {
        let words = view.words(part);
        out.array(words, &differences(words, older.map_or(&[], |older| older.words(part))))
    })
}

/// Splits a range of rows at the borders of chunks.
fn split_at_chunks(rows: Range<usize>, capacity: usize) -> impl Iterator<Item = Range<usize>> {
    let chunks = rows.start / capacity..rows.end.div_ceil(capacity);
    chunks.map(move |chunk| {
        (chunk * capacity).max(rows.start)..((chunk + 1) * capacity).min(rows.end)
    })
}

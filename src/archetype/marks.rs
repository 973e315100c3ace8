//! Optional data of an archetype, which most archetypes do not have: hidden and cleanup components,
//! enable bits, line versions, chunk values, shared values.

use std::sync::Arc;

use crate::component::{ComponentId, Registry};
use crate::storage::{ChunkValues, EnableBits, LineStamps, ListLayout};
use crate::version::Version;

use super::shared_tags::SharedTags;
use super::traits::ArchetypeTraits;

/// The optional data of an archetype. The entities of an archetype without it are visible, copied
/// whole, and freed when they are despawned.
#[derive(Debug)]
pub(super) struct Marks {
    pub(super) traits: ArchetypeTraits,
    pub(super) shared: SharedTags,
    /// The enable bits of its rows, if a component has any.
    bits: Option<EnableBits>,
    /// The change versions of lines, if a component has any.
    lines: Option<LineStamps>,
    /// The values of its chunks, if a component has any.
    pub(super) values: Option<ChunkValues>,
}

impl Marks {
    /// The marks of an archetype of these components. `None` if it needs none.
    #[inline]
    pub(super) fn of(
        components: &[ComponentId],
        registry: &Registry,
        layout: &ListLayout,
    ) -> Option<Box<Self>> {
        let is_marked = |&id: &ComponentId| {
            let info = registry.info(id);
            // Cleanup components are not copied, and `Gone` is hidden.
            info.is_hidden()
                || !info.is_copied()
                || info.is_enableable()
                || info.tracks_lines()
                || info.is_shared()
                || info.chunk_value().is_some()
        };
        components.iter().any(is_marked).then(|| Self::new(components, registry, layout))
    }

    #[cold]
    fn new(components: &[ComponentId], registry: &Registry, layout: &ListLayout) -> Box<Self> {
        let infos = components.iter().map(|&id| registry.info(id));
        let shapes = || (0..).zip(layout.columns());
        let enableable = shapes().filter(|(_, shape)| shape.enableable).map(|(column, _)| column);
        let tracked = shapes().filter(|(_, shape)| shape.tracks_lines).map(|(column, _)| column);
        let capacity = layout.chunk().capacity();
        Box::new(Self {
            bits: EnableBits::new(enableable, capacity),
            lines: LineStamps::new(tracked, capacity),
            values: ChunkValues::new(
                (0..).zip(infos).filter_map(|(column, info)| Some((column, *info.chunk_value()?))),
            ),
            shared: SharedTags::new(
                components
                    .iter()
                    .filter_map(|&id| Some((id, Arc::clone(registry.shared_slot(id)?)))),
            ),
            traits: ArchetypeTraits::new(components, registry),
        })
    }

    /// The enable bits of an archetype.
    #[inline]
    pub(super) fn bits(marks: &Option<Box<Self>>) -> Option<&EnableBits> {
        marks.as_ref()?.bits.as_ref()
    }

    /// The enable bits of an archetype whose rows change.
    #[inline]
    pub(super) fn bits_mut(marks: &mut Option<Box<Self>>) -> Option<&mut EnableBits> {
        marks.as_mut()?.bits.as_mut()
    }

    /// The line stamps of an archetype.
    #[inline]
    pub(super) fn lines(marks: &Option<Box<Self>>) -> Option<&LineStamps> {
        marks.as_ref()?.lines.as_ref()
    }

    /// The values of the chunks of an archetype.
    #[inline]
    pub(super) fn values(marks: &Option<Box<Self>>) -> Option<&ChunkValues> {
        marks.as_ref()?.values.as_ref()
    }

    /// The values of the chunks of an archetype, to be moved.
    pub(super) fn values_mut(marks: &mut Option<Box<Self>>) -> Option<&mut ChunkValues> {
        marks.as_mut()?.values.as_mut()
    }

    /// The words of a chunk that [`Marks::save`] writes for a column: enable bits, versions of
    /// lines, and the value of the chunk.
    pub(super) fn chunk_words(&self, column: u16) -> [usize; 3] {
        [
            self.bits.as_ref().map_or(0, |bits| bits.chunk_words(column)),
            self.lines.as_ref().map_or(0, |lines| lines.chunk_words(column)),
            self.values.as_ref().map_or(0, |values| values.chunk_words(column)),
        ]
    }

    /// Appends all data of the chunks, as words: the enable bits of all columns, the versions of
    /// lines of all columns, the values of all columns.
    pub(super) fn save(&self, to: &mut Vec<u64>) {
        self.bits.iter().for_each(|bits| bits.save(to));
        self.lines.iter().for_each(|lines| lines.save(to));
        self.values.iter().for_each(|values| values.save(to));
    }

    /// Sets all data of the chunks to the words that [`Marks::save`] has written for the same
    /// number of chunks. Versions of lines begin with `first`.
    ///
    /// # Panics
    ///
    /// If the words are from another number of chunks.
    pub(super) fn load(&mut self, mut saved: &[u64], first: Version) {
        self.bits.iter_mut().for_each(|bits| bits.load(&mut saved));
        self.lines.iter_mut().for_each(|lines| lines.load(&mut saved, first));
        self.values.iter_mut().for_each(|values| values.load(&mut saved));
        assert!(saved.is_empty(), "the words are those of more chunks");
    }

    /// The line stamps, for replacing them.
    pub(super) const fn lines_mut(&mut self) -> Option<&mut LineStamps> {
        self.lines.as_mut()
    }

    /// Adds a chunk.
    pub(super) fn push_chunk(&mut self) {
        self.bits.iter_mut().for_each(EnableBits::push_chunk);
        self.lines.iter_mut().for_each(LineStamps::push_chunk);
        self.values.iter_mut().for_each(ChunkValues::push_chunk);
        self.shared.own();
    }

    /// Makes room for `chunk_len` chunks in all.
    pub(super) fn reserve(&mut self, chunk_len: usize) {
        self.bits.iter_mut().for_each(|bits| bits.reserve(chunk_len));
        self.lines.iter_mut().for_each(|lines| lines.reserve(chunk_len));
        self.values.iter_mut().for_each(|values| values.reserve(chunk_len));
    }

    /// Removes all chunks from number `chunk_len` on. The shared values go with the last chunk.
    pub(super) fn truncate(&mut self, chunk_len: usize) {
        if chunk_len == 0 {
            self.shared.release();
        }
        self.bits.iter_mut().for_each(|bits| bits.truncate(chunk_len));
        self.lines.iter_mut().for_each(|lines| lines.truncate(chunk_len));
        self.values.iter_mut().for_each(|values| values.truncate(chunk_len));
    }

    /// Moves the data of a chunk that fills the gap of another.
    pub(super) fn move_chunk(&mut self, source: usize, target: usize) {
        self.bits.iter_mut().for_each(|bits| bits.move_chunk(source, target));
        self.lines.iter_mut().for_each(|lines| lines.move_chunk(source, target));
        self.values.iter_mut().for_each(|values| values.move_chunk(source, target));
    }

    /// Bytes of enable bits, line stamps, and values.
    pub(super) fn bytes(&self) -> usize {
        let bits = self.bits.as_ref().map_or(0, EnableBits::bytes);
        let lines = self.lines.as_ref().map_or(0, LineStamps::bytes);
        bits + lines + self.values.as_ref().map_or(0, ChunkValues::bytes)
    }
}

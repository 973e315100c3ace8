//! The difference between the image of an archetype's rows and an older image, or none.
//!
//! A patch comes from bytes that may be hostile. [`ArchetypePatch::find_defect`] checks that an
//! archetype could be in the resulting state, so that [`ArchetypeImage::apply`] cannot fail.

use crate::component::{Component as _, ComponentInfo, Gone, Registry};
use crate::entity::Entity;
use crate::storage::{AttachmentKind, Attachments, StampKind, WordsLayout};
use crate::version::Version;

use super::archetype::Archetype;
use super::archetype_image::{ArchetypeImage, words_layout};
use super::arrive::push_chunk;
use super::shared_tags::KeptValue;

/// Cells of a column that a patch overwrites or adds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellRun<'b> {
    /// The start of the cells, in bytes.
    pub(crate) start: usize,
    pub(crate) bytes: &'b [u8],
}

/// The difference between two states of an archetype's rows.
#[derive(Debug)]
pub(crate) struct ArchetypePatch<'b> {
    /// An archetype of the set without rows, which determines their layout.
    sample: Archetype,
    in_first_block: bool,
    rows: usize,
    /// By column, in the order of rows. All rows beyond the older rows are included.
    pub(crate) cells: Vec<Vec<CellRun<'b>>>,
    /// The entities of all rows; `None` if they are unchanged.
    pub(crate) entities: Option<Vec<Entity>>,
    /// The shared values of the rows, one for each tag; empty without rows.
    pub(crate) shared: Vec<KeptValue>,
    stamps: Vec<u64>,
    attachments: Vec<u64>,
    words: WordsLayout,
}

impl<'b> ArchetypePatch<'b> {
    /// A patch for `rows` rows, without cells yet. `None` if the archetype cannot have this number
    /// of rows, or has no chunks of `capacity` rows.
    pub(crate) fn new(
        mut sample: Archetype,
        rows: usize,
        (capacity, in_first_block): (usize, bool),
    ) -> Option<Self> {
        let layouts = sample.list().layouts();
        let layout = if in_first_block { layouts.first()? } else { layouts.chunk() };
        let fits = layout.capacity() as usize == capacity
            && sample.list().has_room_for(rows)
            && !(in_first_block && rows > capacity);
        // Before any memory is allocated, because all numbers may come from bytes of others.
        if !fits {
            return None;
        }
        let chunk_len = rows.div_ceil(capacity);
        let columns = sample.components().len();
        let words = words_layout(&sample);
        let attachments = sample.attachments().map(|all| all.fresh_words(chunk_len));
        // Tags have their values in the world, if any.
        sample.extras.iter_mut().for_each(|extras| extras.shared.forget());
        Some(Self {
            cells: vec![Vec::new(); columns],
            entities: None,
            shared: Vec::new(),
            stamps: vec![0; (columns + StampKind::column(0).index()) * chunk_len],
            attachments: attachments.unwrap_or_default(),
            words,
            in_first_block,
            rows,
            sample,
        })
    }

    /// The archetype, without rows.
    pub(crate) const fn sample(&self) -> &Archetype {
        &self.sample
    }

    /// The number of rows after the patch.
    pub(crate) const fn len(&self) -> usize {
        self.rows
    }

    fn capacity(&self) -> usize {
        let layouts = self.sample.list().layouts();
        let first = layouts.first().filter(|_| self.in_first_block);
        first.unwrap_or(layouts.chunk()).capacity() as usize
    }

    /// The number of chunks after the patch.
    pub(crate) fn chunk_len(&self) -> usize {
        self.rows.div_ceil(self.capacity())
    }

    /// The stamps of a kind, for writing.
    pub(crate) fn stamps_mut(&mut self, kind: StampKind) -> &mut [u64] {
        let chunk_len = self.chunk_len();
        &mut self.stamps[kind.index() * chunk_len..][..chunk_len]
    }

    /// The words of an attachment of a column, for writing. They are those of new chunks.
    pub(crate) fn attached_mut(&mut self, kind: AttachmentKind, column: usize) -> &mut [u64] {
        let words = self.words.range(self.chunk_len(), kind, column);
        &mut self.attachments[words]
    }

    /// The reason why no archetype of a world with this clock can be in the state after the patch.
    pub(crate) fn find_defect(
        &mut self,
        clock: Version,
        registry: &Registry,
    ) -> Option<&'static str> {
        let infos = || self.sample.components().iter().map(|&id| registry.info(id));
        for (runs, info) in self.cells.iter().zip(infos()) {
            if !runs.iter().all(|run| info.values().accept(run.bytes)) {
                return Some("a value that its type does not have");
            }
        }
        // This is checked even in a world that has no cleanup component, and does not know the
        // name.
        let is_gone = infos().any(|info| info.name() == Gone::NAME);
        if is_gone && self.rows > 0 {
            let cleanup = infos().filter(|info| info.is_cleanup()).count();
            if cleanup == 0 || cleanup + 1 != self.sample.components().len() {
                return Some("entities that are gone have cleanup components, and no others");
            }
        }
        let chunk_len = self.chunk_len();
        let newest = clock.to_bits() << 1 | 1;
        let lines: Vec<_> = infos().map(ComponentInfo::tracks_lines).collect();
        for (number, stamps) in self.stamps.chunks_exact(chunk_len.max(1)).enumerate() {
            let column = number.checked_sub(StampKind::column(0).index());
            let tracked = column.is_some_and(|column| lines[column]);
            if stamps.iter().any(|&stamp| stamp > newest || (stamp & 1 == 0 && !tracked)) {
                return Some("a version after that of the world");
            }
        }
        self.load();
        let sample = &self.sample;
        let rows_of = |chunk| self.rows_of(chunk);
        let info = |column: u16| registry.info(sample.components()[usize::from(column)]);
        let defect = |all: &Attachments| all.find_defect(sample.stamps(), clock, rows_of, info);
        sample.attachments().and_then(defect).map(|(_, defect)| defect)
    }

    /// The number of rows of a chunk.
    fn rows_of(&self, chunk: u32) -> u32 {
        let first = chunk as usize * self.capacity();
        u32::try_from((self.rows - first).min(self.capacity())).expect("a chunk has few rows")
    }

    /// Gives the sample the data beside the chunks.
    fn load(&mut self) {
        let chunk_len = self.chunk_len();
        let Archetype { stamps, extras, .. } = &mut self.sample;
        while stamps.chunk_len() < chunk_len {
            push_chunk(stamps, extras, Version::NEVER);
        }
        stamps.load(&self.stamps, Version::NEVER);
        if let Some(extras) = extras {
            extras.attachments.load(&self.attachments, Version::NEVER);
        }
    }
}

impl ArchetypeImage {
    /// A key that no list has.
    const NO_LIST: u64 = u64::MAX;

    /// Applies the patch. The image belongs to no list of chunks afterwards.
    ///
    /// # Panics
    ///
    /// If the patch is for another set.
    pub(crate) fn apply(&mut self, patch: ArchetypePatch<'_>) {
        assert!(self.set == *patch.sample.set(), "the patch is for other components");
        for ((bytes, runs), shape) in
            self.columns.iter_mut().zip(&patch.cells).zip(patch.sample.list().columns())
        {
            let len = patch.rows * shape.size;
            bytes.reserve_exact(len.saturating_sub(bytes.len()));
            bytes.truncate(len);
            for run in runs {
                let known = run.bytes.len().min(bytes.len() - run.start);
                let (old, new) = run.bytes.split_at(known);
                bytes[run.start..run.start + known].copy_from_slice(old);
                bytes.extend_from_slice(new);
            }
        }
        self.capacity = patch.capacity();
        self.in_first_block = patch.in_first_block;
        self.list_key = Self::NO_LIST;
        if let Some(entities) = patch.entities {
            self.entities = entities;
        }
        (self.stamps, self.attachments) = (patch.stamps, patch.attachments);
        self.shared = patch.shared;
    }
}

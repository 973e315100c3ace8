//! The difference between the image of an archetype's rows and an older image, or none.
//!
//! A patch comes from bytes that may be hostile. [`ArchetypePatch::find_defect`] checks that an
//! archetype could be in the resulting state, so that [`ArchetypeImage::apply`] cannot fail.

use crate::component::Registry;
use crate::entity::Entity;
use crate::storage::WordsPart;
use crate::version::Version;

use super::archetype::Archetype;
use super::archetype_image::ArchetypeImage;
use super::meta_image::MetaImage;
use super::row_changes::push_chunk;
use super::shared_tags::OwnedSharedValue;

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
    rows: usize,
    /// By column, in the order of rows. All rows beyond the older rows are included.
    pub(crate) cells: Vec<Vec<CellRun<'b>>>,
    /// The entities of all rows; `None` if they are unchanged.
    pub(crate) entities: Option<Vec<Entity>>,
    /// The shared values of the rows, one for each tag; empty without rows.
    pub(crate) shared: Vec<OwnedSharedValue>,
    meta: MetaImage,
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
        let meta = MetaImage::of_new_chunks(&sample, chunk_len, (capacity, in_first_block));
        // Tags have their values in the world, if any.
        sample.extras.iter_mut().for_each(|extras| extras.shared.forget());
        Some(Self {
            cells: vec![Vec::new(); columns],
            entities: None,
            shared: Vec::new(),
            meta,
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

    /// All stamps, for writing.
    pub(crate) fn stamps_mut(&mut self) -> &mut [u64] {
        self.meta.stamps_mut()
    }

    /// The words of a part, for writing. They are those of new chunks.
    pub(crate) fn words_mut(&mut self, part: WordsPart) -> &mut [u64] {
        self.meta.part_mut(part)
    }

    /// The reason why no archetype of a world with this clock can be in the state after the patch.
    pub(crate) fn find_defect(
        &mut self,
        clock: Version,
        registry: &Registry,
    ) -> Option<&'static str> {
        for (runs, shape) in self.cells.iter().zip(self.sample.list().columns()) {
            if !runs.iter().all(|run| shape.values.accept(run.bytes)) {
                return Some("a value that its type does not have");
            }
        }
        self.load();
        let capacity = self.meta.capacity;
        let rows_of = |chunk: u32| {
            let rows = (self.rows - chunk as usize * capacity).min(capacity);
            u32::try_from(rows).expect("a chunk has few rows")
        };
        self.sample.find_defect((self.rows, rows_of), clock, registry)
    }

    /// Gives the sample the data beside the chunks.
    fn load(&mut self) {
        let Archetype { stamps, extras, .. } = &mut self.sample;
        while stamps.chunk_len() < self.meta.chunk_len {
            push_chunk(stamps, extras, Version::NEVER);
        }
        self.sample.load_meta(&self.meta, Version::NEVER);
    }
}

impl ArchetypeImage {
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
        if let Some(entities) = patch.entities {
            self.entities = entities;
        }
        (self.meta, self.shared) = (patch.meta, patch.shared);
    }
}

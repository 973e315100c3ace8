//! Gives an archetype the rows of an image.
//!
//! ```text
//!  rows that the archetype has   overwritten, column by column, where a chunk was written since
//!  rows that it lacks            added, by one copy a column and chunk
//!  rows that are too many        removed
//! ```
//!
//! [`unchanged_chunks`](super::unchanged_chunks) has the rule by which a chunk is left alone. If a
//! row gets another entity than before, the entity gets its place in the directory, so the
//! directory needs no stamps of its own.

use crate::entity::{ArchetypeId, Directory, Entity, Location};
use crate::storage::{Attachments, ChunkList, ChunkRow, Pool, StampKind};
use crate::version::Version;

use super::archetype::Archetype;
use super::archetype_image::ArchetypeImage;
use super::unchanged_chunks::ChunkVersions;

/// The data that restoring an archetype needs.
#[derive(Debug)]
pub(crate) struct RestoreContext<'s> {
    pub(crate) pool: &'s mut Pool,
    pub(crate) entities: &'s mut Directory,
    /// Whether entities in unchanged rows have their places already.
    pub(crate) keeps_places: bool,
    /// The version that stands for version 0 of the image: [`Version::NEVER`], or one that differs
    /// from all versions of the archetype.
    pub(crate) first: Version,
}

impl Archetype {
    /// Gives the archetype, which has number `id`, the rows of an image and the data of their
    /// chunks, and gives the entities their places. Copies only differences. Before the call, the
    /// caller gives tags their shared values; it also restores the rest of the directory.
    ///
    /// # Panics
    ///
    /// If the image is of another set.
    pub(crate) fn restore(
        &mut self,
        id: ArchetypeId,
        image: &ArchetypeImage,
        context: &mut RestoreContext<'_>,
    ) {
        assert!(image.set == *self.set(), "the image is that of other components");
        if self.list.in_first_block() != image.meta.in_first_block() {
            self.clear(context.pool);
        }
        let Self { list, stamps, entities, .. } = self;
        let before = ChunkVersions::live(list, stamps);
        restore_entities(entities, (id, list), (image, before), context);
        list.truncate(list.len().min(image.len()), context.pool);
        overwrite_live(list, (image, before));
        self.drop_chunks(self.list.chunk_len() as usize);
        self.restore_missing(image, context.pool);
        // The caller has given the tags of shared values their values.
        self.grow_to_all(Version::NEVER);
        self.load_meta(&image.meta, context.first);
        if let Some(extras) = &mut self.extras
            && self.list.chunk_len() > 0
        {
            extras.shared.own_again();
        }
    }

    /// Releases the shared values, before [`Archetype::restore`].
    pub(crate) fn release_shared(&mut self) {
        self.extras.iter_mut().for_each(|extras| extras.shared.release());
    }

    /// All versions of the archetype's chunks, also those in attachments.
    pub(crate) fn versions(&self) -> impl Iterator<Item = Version> {
        let kinds = self.stamps.all_kinds();
        let attached = self.attachments().into_iter().flat_map(Attachments::versions);
        kinds.flat_map(|kind| self.stamps.versions(kind)).chain(attached)
    }

    /// Adds the missing rows.
    fn restore_missing(&mut self, image: &ArchetypeImage, pool: &mut Pool) {
        let (live, missing) = (self.len(), image.len() - self.len());
        if missing == 0 {
            return;
        }
        if !image.meta.in_first_block() {
            self.list.reserve(missing, pool);
        }
        let mut written = self.begin_rows();
        while written.len() < missing {
            let left = missing - written.len();
            let run = self.room(&written, left, pool).at_most(left);
            let first = live + written.len();
            written.write_columns(&mut self.list, &run, |column, size| {
                &image.columns[column][first * size..(first + run.rows.len()) * size]
            });
        }
        self.list.commit(&written);
    }
}

/// Gives rows the entities of an image, and sets the places of entities in changed rows.
fn restore_entities(
    own: &mut Vec<Entity>,
    (id, list): (ArchetypeId, &ChunkList),
    (image, before): (&ArchetypeImage, ChunkVersions<'_>),
    RestoreContext { entities, keeps_places, .. }: &mut RestoreContext<'_>,
) {
    own.reserve(image.len().saturating_sub(own.len()));
    let (now, capacity) = (image.meta.versions(), image.meta.capacity);
    for (chunk, new) in (0u32..).zip(image.entities.chunks(capacity)) {
        let start = chunk as usize * capacity;
        let known = (own.len() - start).min(new.len());
        let is_same = || now.is_unchanged(before, StampKind::ORDER, chunk as usize);
        if *keeps_places && known == new.len() && is_same() {
            continue;
        }
        let place = |row| Location::new(id, list.position(ChunkRow { chunk, row }));
        let (old, added) = new.split_at(known);
        for ((row, own), &entity) in (0u32..).zip(&mut own[start..start + known]).zip(old) {
            if !*keeps_places || *own != entity {
                *own = entity;
                entities.put(entity, place(row));
            }
        }
        own.extend_from_slice(added);
        if !added.is_empty() {
            let row = u32::try_from(known).expect("a chunk has 2^32 rows or more");
            entities.put_all(added, place(row));
        }
    }
    own.truncate(image.len());
}

/// Overwrites the existing rows.
fn overwrite_live(list: &mut ChunkList, (image, before): (&ArchetypeImage, ChunkVersions<'_>)) {
    let now = image.meta.versions();
    for (column, bytes) in (0u16..).zip(&image.columns) {
        let (number, kind) = (usize::from(column), StampKind::column(column));
        let size = list.columns()[number].size;
        for chunk in 0..list.chunk_len() {
            if size == 0 || now.is_unchanged(before, kind, chunk as usize) {
                continue;
            }
            let start = chunk as usize * image.meta.capacity;
            let rows = start..start + list.rows(chunk) as usize;
            list.overwrite_cells(number, chunk, &bytes[rows.start * size..rows.end * size]);
        }
    }
}

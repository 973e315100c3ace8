//! Reads a state whose components or chunks differ from the world that reads it.
//!
//! All rows are put together again: without a component two archetypes may become one, and other
//! columns result in other chunks. So data of rows is kept (entities, cells, bits of rows), and
//! data of chunks is not: all versions are the newest, and values of chunks are the default.

use rustc_hash::FxHashMap;

use crate::archetype::{ArchetypePatch, CellRun, OwnedSharedValue};
use crate::component::ComponentSet;
use crate::entity::Entity;
use crate::storage::{AttachmentKind, WordsPart};
use crate::store::{Store, StoreImage, StorePatch};

use super::input::Input;
use super::read::{FileComponent, Header, Rules, find_entities, read_entities_and_chunks};
use super::read_error::ReadError;

/// Converts the cells of a column, with its number of rows, to the cells of another type. `None` if
/// they are not valid values.
pub(super) type Convert<'f> = dyn Fn(&[u8], usize) -> Option<Vec<u8>> + 'f;

/// The rows of an archetype that is being made.
struct ConvertedRows {
    set: ComponentSet,
    entities: Vec<Entity>,
    /// By column.
    columns: Vec<ConvertedColumn>,
    /// One value of each shared type that the rows have.
    shared: Vec<OwnedSharedValue>,
}

#[derive(Clone, Default)]
struct ConvertedColumn {
    cells: Vec<u8>,
    /// By attachment, a bit for each row up to the last set one, without gaps between chunks.
    bits: Vec<(AttachmentKind, Vec<u64>)>,
}

impl ConvertedColumn {
    /// Sets the bits of some rows.
    fn set_bits(&mut self, kind: AttachmentKind, rows: impl Iterator<Item = usize>) {
        let at = self.bits.iter().position(|&(known, _)| known == kind).unwrap_or_else(|| {
            self.bits.push((kind, Vec::new()));
            self.bits.len() - 1
        });
        let words = &mut self.bits[at].1;
        for row in rows {
            if words.len() <= row / 64 {
                words.resize(row / 64 + 1, 0);
            }
            words[row / 64] |= 1 << (row % 64);
        }
    }
}

/// The places of the set bits, in order.
fn places_of_bits(words: &[u64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(at, &word)| {
        (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| at * 64 + bit)
    })
}

/// Reads the part of a state that follows a header, with its components in the types of this world:
/// unchanged, left out, or converted by the functions.
pub(super) fn convert(
    mut header: Header<'_>,
    store: &Store,
    functions: &[Box<Convert<'_>>],
    rules: &Rules<'_>,
) -> Result<StoreImage, ReadError> {
    let mut image = StoreImage::default();
    let ids = header.read_ids(&image)?;
    let (mut all, mut by_set): (Vec<ConvertedRows>, FxHashMap<ComponentSet, usize>) =
        Default::default();
    for _ in 0..header.archetypes {
        let (columns, set) = header.read_set(store)?;
        let at = *by_set.entry(set.clone()).or_insert(all.len());
        if at == all.len() {
            let columns = vec![ConvertedColumn::default(); columns.len()];
            all.push(ConvertedRows { set, entities: Vec::new(), columns, shared: Vec::new() });
        }
        let before = all[at].entities.len();
        read_rows(&mut header.input, &columns, &mut all[at], functions)?;
        let values = header.shared_values(&columns, all[at].entities.len() - before)?;
        if all[at].shared.is_empty() {
            all[at].shared = values;
        }
    }
    // Components are left out, so some entities are free.
    let ended: Vec<_> = all.extract_if(.., |rows| store.registry().is_over(&rows.set)).collect();
    let ended: Vec<_> = ended.into_iter().flat_map(|rows| rows.entities).collect();
    let patches = all.iter_mut().map(|rows| patch(rows, &header, store));
    let archetypes: Vec<_> = patches.collect::<Result<_, _>>()?;
    let entities = find_entities(&header.input, store, &image, ids, &archetypes, &ended)?;
    let (clock, origin) = (header.age, header.origin);
    let sets = header.end((&image, &archetypes), store, rules)?;
    image.apply(StorePatch { clock, origin, kept: 0, archetypes, entities, sets });
    Ok(image)
}

/// Adds the rows of an archetype in the state to an archetype of this world.
fn read_rows(
    input: &mut Input<'_>,
    columns: &[FileComponent],
    to: &mut ConvertedRows,
    functions: &[Box<Convert<'_>>],
) -> Result<(), ReadError> {
    if input.u32("the kind of an archetype")? != 0 {
        return Err(input.invalid("the kind of an archetype"));
    }
    let (entities, capacity, _) = read_entities_and_chunks(input, None)?;
    let entities = entities.unwrap_or_default();
    let (before, rows) = (to.entities.len(), entities.len());
    to.entities.extend(entities);
    input.skip_array(8, "versions")?;
    input.skip_array(8, "versions")?;
    for file in columns {
        let mut cells = &[][..];
        let known = if file.size == 0 { rows } else { 0 };
        for range in input.ranges((known, rows), "a column")? {
            let len = range.len().checked_mul(file.size);
            cells = input.bytes(len.ok_or_else(|| input.invalid("a column"))?, "a column")?;
        }
        if cells.len() != rows * file.size {
            return Err(input.invalid("a column"));
        }
        input.skip_array(8, "versions of a column")?;
        let column = file.id.map(|id| to.set.rank(id).expect("it is one of the set"));
        let mut column = column.map(|number| &mut to.columns[number]);
        for kind in AttachmentKind::of_columns() {
            let words = input.skip_array(8, kind.name())?;
            if kind.has_row_bits() {
                let rows = rows_of_bits(words, rows, capacity);
                let rows = rows.ok_or_else(|| input.invalid(kind.name()))?;
                if let Some(column) = &mut column {
                    column.set_bits(kind, rows.map(|row| before + row));
                }
            }
        }
        let Some(column) = column else { continue };
        match file.function {
            None => column.cells.extend_from_slice(cells),
            Some(function) => {
                let made = functions[function](cells, rows);
                let made = made.ok_or_else(|| input.invalid("a value that its type does not have"));
                column.cells.extend(made?);
            }
        }
    }
    Ok(())
}

/// Reads the rows with a set bit. Each chunk begins with a word of its own.
fn rows_of_bits(bits: &[u8], rows: usize, capacity: usize) -> Option<impl Iterator<Item = usize>> {
    let (words, _) = bits.as_chunks::<8>();
    let chunks = rows.div_ceil(capacity);
    let chunk_words = words.len().checked_div(chunks).unwrap_or(0);
    let fits = chunk_words * chunks == words.len() && chunk_words * 64 >= capacity;
    let rows = if words.is_empty() { 0 } else { rows };
    (rows == 0 || fits).then(|| {
        (0..rows).filter(move |row| {
            let (chunk, row) = (row / capacity, row % capacity);
            let word = u64::from_ne_bytes(words[chunk * chunk_words + row / 64]);
            word >> (row % 64) & 1 != 0
        })
    })
}

/// The patch that makes an archetype with these rows.
fn patch<'r>(
    rows: &'r mut ConvertedRows,
    header: &Header<'_>,
    store: &Store,
) -> Result<ArchetypePatch<'r>, ReadError> {
    let input = &header.input;
    let sample = store.archetypes().sample(&rows.set, store.registry());
    let sample = sample.map_err(|_| input.invalid("a row that does not fit a chunk"))?;
    let capacity = sample.list().layouts().chunk().capacity() as usize;
    let chunks = rows.entities.len().div_ceil(capacity);
    let patch = ArchetypePatch::new(sample, rows.entities.len(), (capacity, false));
    let mut patch = patch.ok_or_else(|| input.invalid("more rows than an archetype has"))?;
    patch.entities = Some(core::mem::take(&mut rows.entities));
    patch.shared = core::mem::take(&mut rows.shared);
    let newest = header.age.to_bits() << 1 | 1;
    // All attachments but these bits are those of new chunks: lines are as new as their chunk.
    patch.stamps_mut().fill(newest);
    for (number, column) in (0u16..).zip(&rows.columns) {
        if !column.cells.is_empty() {
            patch.cells[usize::from(number)] = vec![CellRun { start: 0, bytes: &column.cells }];
        }
        for (kind, bits) in &column.bits {
            let words = patch.words_mut(WordsPart::Attached(*kind, number));
            let chunk_words = words.len().checked_div(chunks).unwrap_or(0);
            for row in places_of_bits(bits) {
                let (chunk, row) = (row / capacity, row % capacity);
                if let Some(word) = words.get_mut(chunk * chunk_words + row / 64) {
                    *word |= 1 << (row % 64);
                }
            }
        }
    }
    match patch.find_defect(header.age, store.registry()) {
        Some(what) => Err(input.invalid(what)),
        None => Ok(patch),
    }
}

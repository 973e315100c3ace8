//! Reads a state, or the difference between two, from bytes that may be anything.
//!
//! Everything is checked before anything changes: first the checksum, which finds accidental
//! damage, and after it each number, because hostile bytes can have a correct checksum. Memory is
//! allocated only for the contents of the bytes and of the older state.

use xxhash_rust::xxh3::xxh3_64;

use crate::archetype::{ArchetypeImage, ArchetypePatch, CellRun, OwnedSharedValue, RowsView};
use crate::component::{ComponentId, ComponentInfo, ComponentSet, Registry};
use crate::entity::{ArchetypeId, DirectoryImage, Entity, IdDefect, IdNumbers, Location, RowIndex};
use crate::line::LINE_BYTES;
use crate::storage::WordsPart;
use crate::store::{SavedSet, Store, StoreImage, StorePatch};
use crate::version::Version;

use super::format::{AGE_MAX, BYTE_ORDER, DELTA, FORMAT, MAGIC, SNAPSHOT};
use super::input::Input;
use super::read_error::ReadError;
use super::read_sets::read_sets;
use super::read_shared::{FileShared, SharedPart};
use super::shared_table::SharedTables;
use super::write::aged;

/// The component that is migrated, and its new type.
pub(super) struct Migration {
    pub(super) from: ComponentInfo,
    pub(super) to: ComponentInfo,
}

impl Migration {
    /// Checks that the world has no other component of the new type's name: its column would have
    /// values of another size or meaning.
    pub(super) fn check(&self, registry: &Registry) -> Result<(), ReadError> {
        registry.check_column(&self.to).map_err(ReadError::NameTaken)
    }
}

/// Returns whether the component or shared type of a name is left out.
pub(super) type Skips<'r> = dyn Fn(&str) -> bool + 'r;

/// The permitted differences between the world that wrote and the one that reads. Decides whether
/// an unknown component or shared type of a name is left out; if not, it is an error. Runs the
/// user's code.
#[derive(Default)]
pub(super) struct Rules<'r> {
    /// Whether a component or a shared type that is not known, of this name, is left out: else it
    /// is an error. Runs the user's code.
    pub(super) skips: Option<&'r Skips<'r>>,
    pub(super) migrations: &'r [Migration],
    /// Whether rows may be put into other chunks.
    pub(super) converts: bool,
}

impl Rules<'_> {
    /// Whether an unknown component or shared type of this name is left out.
    pub(super) fn skip(&self, name: &str) -> bool {
        self.skips.is_some_and(|skips| skips(name))
    }
}

/// A component of the world that wrote.
#[derive(Clone, Copy)]
pub(super) struct FileComponent {
    /// Its id in the world that reads. `None` if it is left out.
    pub(super) id: Option<ComponentId>,
    /// Bytes of a value in the state.
    pub(super) size: usize,
    /// The number of the function that converts its values.
    pub(super) function: Option<usize>,
    /// Its part in a shared type.
    shared: Option<SharedPart>,
}

/// The header of a state.
pub(super) struct Header<'b> {
    pub(super) input: Input<'b>,
    pub(super) age: Version,
    /// The identity of the base of a delta.
    pub(super) base: u64,
    pub(super) origin: u64,
    pub(super) archetypes: usize,
    /// By their numbers in the state.
    components: Vec<FileComponent>,
    known: ComponentSet,
    has_same_chunks: bool,
    shared_types: usize,
    shared: FileShared,
}

/// The contents of a state, after the checks that all bytes of any state pass: how they begin, and
/// the checksum.
pub(super) fn checked(bytes: &[u8]) -> Result<Input<'_>, ReadError> {
    let mut input = Input::new(bytes);
    if !bytes.starts_with(&MAGIC) {
        return Err(ReadError::NotAState);
    }
    input.bytes(MAGIC.len(), "the first bytes")?;
    match input.u32("the byte order")? {
        BYTE_ORDER => {}
        order if order == BYTE_ORDER.swap_bytes() => return Err(ReadError::ByteOrder),
        _ => return Err(ReadError::NotAState),
    }
    let found = input.u32("the format")?;
    if found != FORMAT {
        return Err(ReadError::Format { found, known: FORMAT });
    }
    let Some((contents, checksum)) = bytes.split_last_chunk::<8>() else {
        return Err(ReadError::Truncated { what: "the checksum", at: bytes.len() });
    };
    if xxh3_64(contents) != u64::from_ne_bytes(*checksum) {
        return Err(ReadError::Checksum);
    }
    Ok(Input::after(contents, &input))
}

impl<'b> Header<'b> {
    /// Reads the header and the components of a state of a `kind`. Shared types follow:
    /// [`Header::read_shared`].
    pub(super) fn read(
        mut input: Input<'b>,
        store: &Store,
        kind: u32,
        rules: &Rules<'_>,
    ) -> Result<Self, ReadError> {
        match input.u32("the kind")? {
            found if found == kind => {}
            SNAPSHOT => return Err(ReadError::Kind { is_delta: false }),
            DELTA => return Err(ReadError::Kind { is_delta: true }),
            _ => return Err(input.invalid("the kind")),
        }
        let found = input.u32("the chunk size")?;
        let own = u32::try_from(store.archetypes().chunk_size().bytes()).expect("at most 256 KiB");
        if found != own && !rules.converts {
            return Err(ReadError::ChunkSize { found, own });
        }
        let age = input.u64("the version")?;
        if age > AGE_MAX {
            return Err(input.invalid("the version"));
        }
        let base = input.u64("the base")?;
        let origin = input.u64("the origin")?;
        let (components, archetypes) =
            (input.len("the number of components")?, input.len("the number of archetypes")?);
        let shared_types = input.len("the number of shared types")?;
        let mut header = Self {
            input,
            age: Version::from_bits(age),
            base,
            origin,
            archetypes,
            components: Vec::new(),
            known: ComponentSet::default(),
            has_same_chunks: found == own,
            shared_types,
            shared: FileShared::default(),
        };
        (0..components).try_for_each(|_| header.read_component(store, rules))?;
        Ok(header)
    }

    fn read_component(&mut self, store: &Store, rules: &Rules<'_>) -> Result<(), ReadError> {
        let what = "a component";
        let len = self.input.len(what)?;
        let (found, fingerprint) = (self.input.u32(what)?, self.input.u64(what)?);
        let name = core::str::from_utf8(self.input.bytes(len, what)?);
        let name = name.map_err(|_| self.input.invalid("the name of a component"))?;
        let mut file =
            FileComponent { id: None, size: found as usize, function: None, shared: None };
        let registry = store.registry();
        let own = registry.id_of_name(name).map(|id| (id, registry.info(id)));
        let is_same =
            |info: &ComponentInfo| info.fingerprint() == fingerprint && info.size() == file.size;
        let migration = rules.migrations.iter().position(|migration| {
            [migration.from.name(), migration.to.name()].contains(&name) && is_same(&migration.from)
        });
        match (own, migration) {
            (Some((id, info)), _) if is_same(info) => file.id = Some(id),
            (_, Some(function)) => {
                let to = rules.migrations[function].to.name();
                file.id = Some(registry.id_of_name(to).ok_or_else(|| no_column(registry, to))?);
                file.function = Some(function);
            }
            (Some((_, info)), None) => {
                let own = info.size();
                return Err(ReadError::OtherComponent { name: name.into(), found, own });
            }
            (None, None) if rules.skip(name) => {}
            (None, None) => return Err(no_column(registry, name)),
        }
        if file.id.is_some_and(|id| !self.known.insert(id)) {
            return Err(self.input.invalid("a component is named twice"));
        }
        self.components.push(file);
        Ok(())
    }

    /// Reads the shared types, which are stored as the difference from `base`, and gives the world
    /// the tags that it lacks. Values are decoded first, because decoding runs the user's code.
    pub(super) fn read_shared(
        &mut self,
        registry: &mut Registry,
        base: &SharedTables,
        rules: &Rules<'_>,
    ) -> Result<(), ReadError> {
        let (len, skip) = (self.shared_types, |name: &str| rules.skip(name));
        self.shared = FileShared::read(&mut self.input, len, registry, base, &skip)?;
        let parts = self.shared.add_tags(&self.input, registry)?;
        self.components.extend(parts.into_iter().map(|(id, part)| FileComponent {
            id,
            size: 0,
            function: None,
            shared: Some(part),
        }));
        Ok(())
    }

    /// The shared values of some rows, for the components of their archetype.
    pub(super) fn shared_values(
        &mut self,
        columns: &[FileComponent],
        rows: usize,
    ) -> Result<Vec<OwnedSharedValue>, ReadError> {
        self.shared.take(&self.input, columns.iter().filter_map(|file| file.shared), rows)
    }

    /// Whether all components and the chunks are the same as in the world that reads. Chunks of
    /// components that are aligned to more than a line may differ.
    pub(super) fn is_as_here(&self, registry: &Registry) -> bool {
        let has_lines = |id| registry.info(id).align() <= LINE_BYTES;
        let is_same =
            |file: &FileComponent| file.id.is_some_and(has_lines) && file.function.is_none();
        self.has_same_chunks && self.components.iter().all(is_same)
    }

    /// Reads the rest of the state, relative to `base`, with ages in place of versions.
    pub(super) fn patch(
        mut self,
        store: &Store,
        base: &StoreImage,
        rules: &Rules<'_>,
    ) -> Result<StorePatch<'b>, ReadError> {
        let ids = self.read_ids(base)?;
        let views = aged(base.archetypes().iter().map(RowsView::of_image), base.history());
        let mut archetypes: Vec<ArchetypePatch<'b>> = Vec::new();
        let mut sets = rustc_hash::FxHashSet::default();
        let (mut known, mut kept) = (views.iter(), 0);
        for _ in 0..self.archetypes {
            let (columns, set) = self.read_set(store)?;
            let own: Vec<_> = columns.iter().filter_map(|file| file.id).collect();
            let older = match self.input.u32("the kind of an archetype")? {
                0 => {
                    known = [].iter();
                    None
                }
                1 => known.next().filter(|view| *view.set() == set).map(Some).ok_or_else(|| {
                    self.input.invalid("an archetype that the older state does not have")
                })?,
                _ => return Err(self.input.invalid("the kind of an archetype")),
            };
            if !sets.insert(set.clone()) {
                return Err(self.input.invalid("two archetypes of the same components"));
            }
            kept += usize::from(older.is_some());
            let mut patch = self.read_rows(store, &set, &own, older)?;
            patch.shared = self.shared_values(&columns, patch.len())?;
            archetypes.push(patch);
        }
        let entities = find_entities(&self.input, store, base, ids, &archetypes, &[])?;
        let sets = self.end((base, &archetypes), store, rules)?;
        let (clock, origin) = (self.age, self.origin);
        Ok(StorePatch { clock, origin, kept, archetypes, entities, sets })
    }

    /// Reads the sparse sets. Checks that the bytes end there and that all shared values are used.
    pub(super) fn end(
        &mut self,
        of: (&StoreImage, &[ArchetypePatch<'_>]),
        store: &Store,
        rules: &Rules<'_>,
    ) -> Result<Vec<SavedSet>, ReadError> {
        let sets = read_sets(&mut self.input, store, of, &|name| rules.skip(name))?;
        if !self.input.is_over() {
            return Err(self.input.invalid("there is more behind the last sparse component"));
        }
        match self.shared.are_used() {
            true => Ok(sets),
            false => Err(self.input.invalid(
                "a shared value that no entity has, or the number of one without an archetype",
            )),
        }
    }

    /// Reads the ids. `None` if they are equal to the ids of the base.
    pub(super) fn read_ids(&mut self, base: &StoreImage) -> Result<Option<IdNumbers>, ReadError> {
        match self.input.u32("whether ids differ")? {
            0 => return Ok(None),
            1 => {}
            _ => return Err(self.input.invalid("whether ids differ")),
        }
        let reach = self.input.u32("the ids")?;
        let old = base.id_numbers();
        let mut array = |old: &[u32]| {
            let len = self.input.len("the ids")?;
            self.input.array(old, len, "the ids")
        };
        Ok(Some(IdNumbers {
            reach,
            generations: array(&old.generations)?,
            free: array(&old.free)?,
            far: array(&old.far)?,
            next_generations: array(&old.next_generations)?,
            demands: array(&old.demands)?,
        }))
    }

    /// Reads the components of an archetype, in the order of its columns in the state, and the set
    /// of the known ones.
    pub(super) fn read_set(
        &mut self,
        store: &Store,
    ) -> Result<(Vec<FileComponent>, ComponentSet), ReadError> {
        let what = "the components of an archetype";
        let len = self.input.count(size_of::<u32>(), what)?;
        let (mut columns, mut set) = (Vec::new(), ComponentSet::default());
        for _ in 0..len {
            let number = self.input.len(what)?;
            let file = self.components.get(number);
            let file = file.filter(|file| file.id.is_none_or(|id| set.insert(id)));
            columns.push(*file.ok_or_else(|| self.input.invalid(what))?);
        }
        if let Some(what) = find_unpaired(&columns) {
            return Err(self.input.invalid(what));
        }
        // An entity has all columns of a split component, or none.
        let registry = store.registry();
        let has = |&name: &&str| registry.id_of_name(name).is_some_and(|id| set.contains(id));
        if !set.iter().all(|id| registry.info(id).split_columns().iter().all(has)) {
            return Err(self.input.invalid("a part of a split component"));
        }
        Ok((columns, set))
    }

    /// Reads the rows of an archetype, with its columns in the order of the state.
    fn read_rows(
        &mut self,
        store: &Store,
        set: &ComponentSet,
        columns: &[ComponentId],
        older: Option<&RowsView<'_>>,
    ) -> Result<ArchetypePatch<'b>, ReadError> {
        let input = &mut self.input;
        let old_rows = older.map_or(0, RowsView::len);
        let same = older.map(RowsView::entities);
        let (entities, capacity, in_first_block) = read_entities_and_chunks(input, same)?;
        let rows = entities.as_ref().map_or(old_rows, Vec::len);
        let sample = store.archetypes().sample(set, store.registry());
        let sample = sample.map_err(|_| input.invalid("a row that does not fit a chunk"))?;
        let patch = ArchetypePatch::new(sample, rows, (capacity, in_first_block));
        let mut patch = patch.ok_or_else(|| input.invalid("the rows of a chunk"))?;
        patch.entities = entities;
        let read_words =
            |input: &mut Input<'_>, patch: &mut ArchetypePatch<'_>, part: WordsPart| {
                let old = older.map_or(&[][..], |older| older.words(part));
                input.array_into(old, patch.words_mut(part), part.name())
            };
        WordsPart::OF_ROWS.into_iter().try_for_each(|part| read_words(input, &mut patch, part))?;
        for &id in columns {
            // The state orders its columns by other ids.
            let column = patch.sample().column(id).expect("it is one of the set");
            let size = store.registry().info(id).size();
            // A tag has no bytes, so none are missing.
            let known = if size == 0 { rows } else { old_rows };
            for range in input.ranges((known, rows), "a column")? {
                let len = range.len().checked_mul(size).ok_or_else(|| input.invalid("a column"))?;
                let bytes = input.bytes(len, "a column")?;
                patch.cells[usize::from(column)].push(CellRun { start: range.start * size, bytes });
            }
            WordsPart::of_column(column)
                .try_for_each(|part| read_words(input, &mut patch, part))?;
        }
        match patch.find_defect(self.age, store.registry()) {
            Some(what) => Err(self.input.invalid(what)),
            None => Ok(patch),
        }
    }
}

/// The defect of an archetype's components, if they have one. The marker of a shared type must be
/// followed by exactly one tag of the type.
fn find_unpaired(columns: &[FileComponent]) -> Option<&'static str> {
    let parts = || columns.iter().map(|file| file.shared);
    let pairs = parts().zip(parts().skip(1).chain([None]));
    let mut last = None;
    let mut before = None;
    for (part, next) in pairs {
        match part {
            Some(SharedPart::Marker(number)) => {
                if !matches!(next, Some(SharedPart::Tag(of, _)) if of == number) {
                    return Some("a shared type without a value");
                }
                if last >= Some(number) {
                    return Some("the shared types of an archetype are out of order");
                }
                last = Some(number);
            }
            Some(SharedPart::Tag(number, _)) if before != Some(SharedPart::Marker(number)) => {
                return Some("a shared value without its type, or two of one type");
            }
            _ => {}
        }
        before = part;
    }
    None
}

/// Reads the entities of an archetype (`None` if they are the older ones), the rows of a chunk, and
/// whether it is a first block.
pub(super) fn read_entities_and_chunks(
    input: &mut Input<'_>,
    older: Option<&[Entity]>,
) -> Result<(Option<Vec<Entity>>, usize, bool), ReadError> {
    let rows = input.len("the number of rows")?;
    let capacity = input.len("the rows of a chunk")?;
    let in_first_block = match input.u32("the first block")? {
        0 => false,
        1 => true,
        _ => return Err(input.invalid("the first block")),
    };
    if capacity == 0 {
        return Err(input.invalid("the rows of a chunk"));
    }
    let entities = input.other_array(older.unwrap_or(&[]), rows, "the entities")?;
    // Without an older state, an empty list is a new one.
    let entities = entities.or_else(|| older.is_none().then(Vec::new));
    Ok((entities, capacity, in_first_block))
}

/// The error of a name that is not the name of a column.
#[cold]
fn no_column(registry: &Registry, name: &str) -> ReadError {
    let (is_sparse, name) = (registry.is_sparse(name), name.into());
    if is_sparse {
        ReadError::SparseComponent { name }
    } else {
        ReadError::UnknownComponent { name }
    }
}

/// The ids with the places of all entities. `None` if neither differs from the base. Entities in
/// `ended` have no rows, and their ids are free.
pub(super) fn find_entities(
    input: &Input<'_>,
    store: &Store,
    base: &StoreImage,
    ids: Option<IdNumbers>,
    archetypes: &[ArchetypePatch<'_>],
    ended: &[Entity],
) -> Result<Option<DirectoryImage>, ReadError> {
    let same_rows = archetypes.len() == base.archetypes().len()
        && archetypes.iter().all(|archetype| archetype.entities.is_none());
    if ids.is_none() && same_rows {
        return Ok(None);
    }
    let ids = ids.unwrap_or_else(|| base.id_numbers());
    let rows = archetypes.iter().enumerate().flat_map(|(number, archetype)| {
        let older = base.archetypes().get(number);
        let kept = || older.map_or(&[][..], ArchetypeImage::entities);
        let entities = archetype.entities.as_deref().unwrap_or_else(kept);
        let number = ArchetypeId(u32::try_from(number).expect("fewer than 2^32"));
        let list = archetype.sample().list();
        let place = move |row| Location::new(number, list.position_of(row));
        entities.iter().enumerate().map(move |(row, &entity)| (entity, place(row)))
    });
    let somewhere = Location::new(ArchetypeId(0), RowIndex(0));
    let rows = rows.chain(ended.iter().map(|&entity| (entity, somewhere)));
    let made = store.entities().of_numbers(&ids, rows).map(|mut made| {
        for &entity in ended {
            made.free(entity).expect("it has a place");
        }
        DirectoryImage::of_made(made)
    });
    made.map(Some).map_err(|defect| {
        input.invalid(match defect {
            IdDefect::Entity(_) => "an entity has two rows, or another generation than its id",
            IdDefect::Free(_) => "a free id is that of an entity, or free twice",
            IdDefect::Ids => "the ids contradict each other, or are more than this world has",
        })
    })
}

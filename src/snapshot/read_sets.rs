//! Reads the sparse sets of a state: see [`format`](super::format).

use std::borrow::Cow;
use std::cell::LazyCell;

use crate::archetype::ArchetypePatch;
use crate::component::ComponentId;
use crate::entity::{Entity, PagedIndex, RequestLimit, TooMuchMemory};
use crate::store::{SavedSet, SetArrays, SetKind, SetView, Store, StoreImage};

use super::format::{PAIRS, RELATION, VALUES};
use super::input::Input;
use super::read_error::ReadError;

/// The entities that may have sparse components in a state.
struct LivingEntities {
    /// First living ones, and after them entities that are gone with sparse cleanup components.
    entities: Vec<Entity>,
    alive_len: usize,
    /// Their numbers, by index.
    numbers: PagedIndex,
}

impl LivingEntities {
    /// The entities of some rows, without those that are gone and have no sparse cleanup
    /// components, of which `sparse_cleanup_tag` is the tag. O(rows).
    ///
    /// # Errors
    ///
    /// If one call may not allocate as much.
    fn new(
        requests: RequestLimit,
        base: &StoreImage,
        archetypes: &[ArchetypePatch<'_>],
        sparse_cleanup_tag: Option<ComponentId>,
    ) -> Result<Self, TooMuchMemory> {
        let (mut entities, mut numbers) = (Vec::new(), PagedIndex::default());
        let mut add = |is_gone: bool| {
            for (number, patch) in archetypes.iter().enumerate() {
                let sample = patch.sample();
                if sample.is_gone() == is_gone && sample.has_values(sparse_cleanup_tag) {
                    let older = base.archetypes().get(number);
                    let older = older.map_or(&[][..], |older| older.entities());
                    entities.extend_from_slice(patch.entities.as_deref().unwrap_or(older));
                }
            }
            entities.len()
        };
        let alive_len = add(false);
        add(true);
        let indices = || entities.iter().map(|entity| entity.index());
        requests.ensure(PagedIndex::bytes_for(indices()))?;
        for (number, index) in (0..).zip(indices()) {
            numbers.add(index, number);
        }
        Ok(Self { entities, alive_len, numbers })
    }

    /// Checks the entities of the set of a component, which may be a cleanup component.
    fn ensure(
        &self,
        input: &Input<'_>,
        arrays: &SetArrays<'_>,
        is_cleanup: bool,
    ) -> Result<(), ReadError> {
        let is_among = |entity: &Entity, len: usize| {
            let number = self.numbers.get(entity.index()).map(|number| number as usize);
            number.is_some_and(|number| number < len && self.entities[number] == *entity)
        };
        let is_alive = |entity: &Entity| is_among(entity, self.alive_len);
        let len = if is_cleanup { self.entities.len() } else { self.alive_len };
        if !arrays.entities.iter().all(|entity| is_among(entity, len)) {
            return Err(input.invalid("an entity with a sparse component is not alive"));
        }
        match arrays.heads.iter().all(is_alive) {
            true => Ok(()),
            false => Err(input.invalid("the target of a relation is not alive")),
        }
    }
}

/// Reads the sets of a state with these archetypes, as the difference from `base`. Sets of unknown
/// names are left out if `skip` returns `true` for their names.
pub(super) fn read_sets(
    input: &mut Input<'_>,
    store: &Store,
    (base, archetypes): (&StoreImage, &[ArchetypePatch<'_>]),
    skip: &dyn Fn(&str) -> bool,
) -> Result<Vec<SavedSet>, ReadError> {
    let len = input.len("the number of sparse components")?;
    let requests = store.entities().requests;
    let sparse_cleanup_tag = store.registry().sparse_cleanup_tag();
    let living =
        LazyCell::new(|| LivingEntities::new(requests, base, archetypes, sparse_cleanup_tag));
    let mut bytes = 0u64;
    let has_same_rows = archetypes.len() == base.archetypes().len()
        && archetypes.iter().all(|archetype| archetype.entities.is_none());
    let (mut sets, mut last) = (Vec::new(), None);
    for _ in 0..len {
        let head = SetHead::read(input)?;
        if last >= Some(head.name) {
            return Err(input.invalid("the sparse components are out of order, or one is twice"));
        }
        last = Some(head.name);
        let Some(own) = head.find_own(store, skip)? else {
            head.skip(input)?;
            continue;
        };
        let older = base.sets().named(head.name).filter(|older| older.shape() == own.shape());
        let mut read = |older: &SetArrays<'_>| {
            let arrays = head.read_arrays(input, older)?;
            if arrays.is_some() || !has_same_rows {
                let living = living.as_ref().map_err(|&error| ReadError::TooMuchMemory(error))?;
                living.ensure(input, arrays.as_ref().unwrap_or(older), own.is_cleanup())?;
            }
            Ok(arrays)
        };
        let arrays = match older {
            None => read(&SetArrays::default())?,
            Some(older) => older.with_arrays(|older| read(&older))?,
        };
        sets.push(match arrays {
            Some(arrays) => {
                for entities in [&arrays.entities, &arrays.heads] {
                    bytes += PagedIndex::bytes_for(entities.iter().map(|one| one.index()));
                }
                requests.ensure(bytes).map_err(ReadError::TooMuchMemory)?;
                own.read(arrays).map_err(|what| input.invalid(what))?
            }
            None => own.unchanged(),
        });
    }
    Ok(sets)
}

/// The beginning of a set.
#[derive(Clone, Copy)]
struct SetHead<'b> {
    name: &'b str,
    kind: SetKind,
    size: usize,
    fingerprint: u64,
    /// The number of values.
    len: usize,
}

impl<'b> SetHead<'b> {
    fn read(input: &mut Input<'b>) -> Result<Self, ReadError> {
        let what = "a sparse component";
        let name_len = input.len(what)?;
        let kind = match input.u32(what)? {
            VALUES => SetKind::Values,
            RELATION => SetKind::Relation,
            PAIRS => SetKind::Pairs,
            _ => return Err(input.invalid("the kind of a sparse component")),
        };
        let (size, fingerprint) = (input.len(what)?, input.u64(what)?);
        let name = core::str::from_utf8(input.bytes(name_len, what)?);
        let name = name.map_err(|_| input.invalid("the name of a sparse component"))?;
        let len = input.len("the number of values of a sparse component")?;
        if len == 0 {
            return Err(input.invalid("a sparse component without a value"));
        }
        Ok(Self { name, kind, size, fingerprint, len })
    }

    /// The set of the same name in this world. `None` if it is left out.
    fn find_own<'s>(
        &self,
        store: &'s Store,
        skip: &dyn Fn(&str) -> bool,
    ) -> Result<Option<SetView<'s>>, ReadError> {
        let name = || self.name.into();
        let Some(own) = store.sparse().named(self.name) else {
            return match () {
                () if store.registry().id_of_name(self.name).is_some() => {
                    Err(ReadError::ColumnComponent { name: name() })
                }
                () if skip(self.name) => Ok(None),
                () => Err(ReadError::UnknownComponent { name: name() }),
            };
        };
        let is_same = own.shape().is_some_and(|own| {
            (own.kind, own.size, own.fingerprint) == (self.kind, self.size, self.fingerprint)
        });
        match is_same {
            true => Ok(Some(own)),
            false => Err(ReadError::OtherSparse { name: name(), is_plain: own.shape().is_some() }),
        }
    }

    /// Reads the arrays, which are stored as the difference from older ones. `None` if they are
    /// equal.
    fn read_arrays(
        &self,
        input: &mut Input<'_>,
        older: &SetArrays<'_>,
    ) -> Result<Option<SetArrays<'static>>, ReadError> {
        let entities = input.other_array(&older.entities, self.len, "the entities of a set")?;
        let (mut counts, mut targets, mut pairs) = (None, None, self.len);
        if self.kind == SetKind::Pairs {
            pairs = input.len("the number of pairs")?;
            counts = input.other_array(&older.counts, self.len, "the numbers of targets")?;
            targets = input.other_array(&older.targets, pairs, "the targets of pairs")?;
        }
        let values = input.other_values(&older.values, (self.size, pairs), "values of a set")?;
        let (mut places, mut heads) = (None, None);
        if self.kind != SetKind::Values {
            places = input.other_array(&older.places, pairs, "the places of sources")?;
            let len = input.len("the number of targets")?;
            heads = input.other_array(&older.heads, len, "the targets of a relation")?;
        }
        let of_pairs = counts.is_some() || targets.is_some();
        let is_new = entities.is_some() || values.is_some() || places.is_some() || heads.is_some();
        let is_new = is_new || of_pairs;
        Ok(is_new.then(|| SetArrays {
            entities: or_older(entities, &older.entities),
            values: or_older(values, &older.values),
            places: or_older(places, &older.places),
            heads: or_older(heads, &older.heads),
            counts: or_older(counts, &older.counts),
            targets: or_older(targets, &older.targets),
        }))
    }

    /// Skips the arrays of a set that is left out.
    fn skip(&self, input: &mut Input<'_>) -> Result<(), ReadError> {
        let what = "a sparse component that is left out";
        let entities = input.skip_array(size_of::<Entity>(), what)?;
        let are = |array: &[u8], len: usize, size| Some(array.len()) == len.checked_mul(size);
        let mut is_whole = are(entities, self.len, size_of::<Entity>());
        let mut pairs = self.len;
        if self.kind == SetKind::Pairs {
            pairs = input.len(what)?;
            let counts = input.skip_array(size_of::<u32>(), what)?;
            let targets = input.skip_array(size_of::<Entity>(), what)?;
            is_whole &=
                are(counts, self.len, size_of::<u32>()) && are(targets, pairs, size_of::<Entity>());
        }
        let values = input.skip_array(self.size, what)?;
        is_whole &= are(values, pairs, self.size);
        if self.kind != SetKind::Values {
            let places = input.skip_array(size_of::<u32>(), what)?;
            let heads = input.len(what)?;
            let targets = input.skip_array(size_of::<Entity>(), what)?;
            is_whole &=
                are(places, pairs, size_of::<u32>()) && are(targets, heads, size_of::<Entity>());
        }
        if is_whole { Ok(()) } else { Err(input.invalid(what)) }
    }
}

/// A new array, or a copy of the older one.
fn or_older<T: Clone>(new: Option<Vec<T>>, older: &[T]) -> Cow<'static, [T]> {
    new.unwrap_or_else(|| older.to_vec()).into()
}

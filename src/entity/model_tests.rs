//! Random operations on a directory and on a naive model of it, compared after each.

use std::collections::HashMap;

use proptest::prelude::*;

use super::{AllocAtError, Directory, DirectoryImage, Entity, Location, OutOfIds, ReserveError};

const LIMIT: u32 = 24;
const IMAGES: usize = 3;

#[derive(Clone, Debug)]
enum Operation {
    Alloc,
    AllocBatch(u32),
    AllocAt(Entity),
    /// The n-th of all ids ever seen, alive or not.
    Free(usize),
    Move(usize),
    Reserve,
    ReserveMany(u32),
    Flush,
    GrowTo(u32),
    Clear,
    Shrink,
    Save(usize),
    Restore(usize),
}

fn generation() -> impl Strategy<Value = u32> {
    prop_oneof![0u32..6, Just(u32::MAX), Just(u32::MAX - 1), any::<u32>(),]
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => Just(Operation::Alloc),
        2 => (0..LIMIT).prop_map(Operation::AllocBatch),
        4 => (0..LIMIT + 2, generation())
            .prop_map(|(index, generation)| Operation::AllocAt(Entity::new(index, generation))),
        12 => any::<usize>().prop_map(Operation::Free),
        2 => any::<usize>().prop_map(Operation::Move),
        4 => Just(Operation::Reserve),
        2 => (0u32..8).prop_map(Operation::ReserveMany),
        2 => Just(Operation::Flush),
        1 => (0..LIMIT + 2).prop_map(Operation::GrowTo),
        1 => Just(Operation::Clear),
        1 => Just(Operation::Shrink),
        4 => (0..IMAGES).prop_map(Operation::Save),
        2 => (0..IMAGES).prop_map(Operation::Restore),
    ]
}

/// The naive model: maps, without slots or stacks.
#[derive(Clone, Default)]
struct Model {
    alive: HashMap<Entity, Location>,
    reserved: Vec<Entity>,
    /// The highest generation of each index, which also identifies retired ones.
    reached: HashMap<u32, u32>,
    seen: Vec<Entity>,
    locations: u32,
}

/// A saved state, and the model at that time.
type Saved = [Option<(DirectoryImage, Model)>; IMAGES];

impl Model {
    fn new_location(&mut self) -> Location {
        self.locations += 1;
        Location { archetype: self.locations % 3, position: self.locations }
    }

    fn of_index(&self, index: u32) -> Option<Entity> {
        self.alive.keys().copied().find(|id| id.index() == index)
    }

    fn is_retired(&self, index: u32) -> bool {
        let waits = self.reserved.iter().any(|id| id.index() == index);
        let used_up = self.reached.get(&index) == Some(&u32::MAX);
        used_up && !waits && self.of_index(index).is_none()
    }

    fn available(&self) -> usize {
        let free = (0..LIMIT).filter(|&i| self.of_index(i).is_none() && !self.is_retired(i));
        free.count() - self.reserved.len()
    }

    /// An id that the directory chose must not have been used before.
    fn expect_new(&mut self, id: Entity) {
        assert!(id.index() < LIMIT, "{id}");
        assert!(self.of_index(id.index()).is_none(), "{id} is in use");
        let reached = self.reached.get(&id.index()).copied().unwrap_or(0);
        assert!(id.generation() > reached, "{id} is not new");
        self.saw(id);
    }

    fn saw(&mut self, id: Entity) {
        let reached = self.reached.entry(id.index()).or_default();
        *reached = id.generation().max(*reached);
        self.seen.push(id);
    }

    fn pick(&self, n: usize) -> Option<Entity> {
        (!self.seen.is_empty()).then(|| self.seen[n % self.seen.len()])
    }

    fn alloc_at(&mut self, id: Entity) -> Result<Location, AllocAtError> {
        let entity = id;
        if id.is_null() {
            return Err(AllocAtError::Null { entity });
        }
        if id.index() >= LIMIT {
            let limit = LIMIT;
            return Err(AllocAtError::AboveLimit { entity, limit });
        }
        if let Some(occupant) = self.of_index(id.index()) {
            return Err(AllocAtError::Occupied { entity, occupant });
        }
        if self.is_retired(id.index()) {
            return Err(AllocAtError::Retired { entity });
        }
        let location = self.new_location();
        self.saw(id);
        self.alive.insert(id, location);
        Ok(location)
    }
}

const EXHAUSTED: OutOfIds = OutOfIds::InWorld { limit: LIMIT };

fn flush(directory: &mut Directory, model: &mut Model) {
    let reserved = std::mem::take(&mut model.reserved);
    let mut flushed = Vec::new();
    directory.flush(|id| {
        flushed.push(id);
        let location = model.new_location();
        model.alive.insert(id, location);
        location
    });
    assert_eq!(flushed, reserved);
}

fn alloc_batch(directory: &mut Directory, model: &mut Model, n: u32) {
    let enough = n as usize <= model.available();
    let locations: Vec<_> = (0..n).map(|_| model.new_location()).collect();
    let mut ids = Vec::new();
    let result = directory.alloc_batch(n as usize, |i| locations[i as usize], &mut ids);
    assert_eq!(result, if enough { Ok(()) } else { Err(EXHAUSTED) });
    assert_eq!(ids.len(), if enough { n as usize } else { 0 });
    for (id, location) in ids.into_iter().zip(locations) {
        model.expect_new(id);
        model.alive.insert(id, location);
    }
}

fn reserve(directory: &Directory, model: &mut Model, n: u32, together: bool) {
    let enough = n as usize <= model.available();
    let ids: Result<Vec<_>, ReserveError> = if together {
        directory.reserve_many(n).map(Iterator::collect)
    } else {
        directory.reserve().map(|id| vec![id]).map_err(Into::into)
    };
    assert_eq!(ids.is_ok(), enough);
    for id in ids.into_iter().flatten() {
        assert!(!model.reserved.iter().any(|r| r.index() == id.index()));
        model.expect_new(id);
        model.reserved.push(id);
    }
}

/// Finds the changes before it saves the state; after it they are in the image.
fn save(directory: &mut Directory, model: &Model, (image, then): &mut (DirectoryImage, Model)) {
    let entities = |model: &Model| model.alive.keys().copied().collect::<Vec<_>>();
    let [rows, old_rows] = [model, then].map(entities);
    let old = image.id_numbers(old_rows.iter().copied());
    directory.settle();
    let changes = directory.changes_since(image, [(&rows[..], &old_rows[..])].into_iter());
    directory.save(image);
    let new = directory.id_numbers();
    assert_eq!(image.id_numbers(rows.iter().copied()), new);
    let changes = changes.expect("few ids are looked at one by one");
    let changed = |new: &[u32], old: &[u32]| -> Vec<u32> {
        (0..)
            .zip(new)
            .filter(|&(i, new)| old.get(i as usize) != Some(new))
            .map(|(i, _)| i)
            .collect()
    };
    assert_eq!(changes.slots, changed(&new.generations, &old.generations));
    assert_eq!(changes.free, changed(&new.free, &old.free));
    then.clone_from(model);
}

/// Restores a state. Places only entities whose place differs.
fn restore(directory: &mut Directory, model: &mut Model, (image, then): &(DirectoryImage, Model)) {
    let keeps_places = directory.restore(image);
    for (&id, &location) in &then.alive {
        if !keeps_places || model.alive.get(&id) != Some(&location) {
            directory.put(id, location);
        }
    }
    let (seen, locations) = (std::mem::take(&mut model.seen), model.locations);
    *model = Model { seen, locations, ..then.clone() };
}

fn apply(
    (directory, model): (&mut Directory, &mut Model),
    saved: &mut Saved,
    operation: &Operation,
) {
    let shared = matches!(operation, Operation::Reserve | Operation::ReserveMany(_));
    if !shared && directory.needs_flush() {
        flush(directory, model);
    }
    match *operation {
        Operation::Alloc => {
            let enough = model.available() > 0;
            let location = model.new_location();
            let id = directory.alloc(location);
            assert_eq!(id.is_ok(), enough);
            if let Ok(id) = id {
                model.expect_new(id);
                model.alive.insert(id, location);
            }
        }
        Operation::AllocBatch(n) => alloc_batch(directory, model, n),
        Operation::AllocAt(id) => {
            let expected = model.alloc_at(id);
            let location = expected.unwrap_or(Location { archetype: 0, position: 0 });
            assert_eq!(directory.alloc_at(id, location), expected.map(|_| ()));
        }
        Operation::Free(n) => {
            if let Some(id) = model.pick(n) {
                assert_eq!(directory.free(id).ok(), model.alive.remove(&id));
            }
        }
        Operation::Move(n) => {
            let id = model.pick(n).filter(|id| model.alive.contains_key(id));
            if let Some(id) = id {
                let location = model.new_location();
                directory.set_location(id.index(), location);
                model.alive.insert(id, location);
            }
        }
        Operation::Reserve => reserve(directory, model, 1, false),
        Operation::ReserveMany(n) => reserve(directory, model, n, true),
        Operation::Flush => {}
        Operation::GrowTo(n) => assert_eq!(directory.grow_indices(n).is_ok(), n <= LIMIT),
        Operation::Clear => {
            directory.clear();
            model.alive.clear();
        }
        Operation::Shrink => {
            directory.shrink();
            directory.reserve_capacity(7);
        }
        Operation::Save(n) => save(directory, model, saved[n].get_or_insert_default()),
        Operation::Restore(n) => {
            if let Some(state) = &saved[n] {
                restore(directory, model, state);
            }
        }
    }
}

fn compare(directory: &Directory, model: &Model) {
    assert_eq!(directory.check(), Ok(()));
    assert_eq!(directory.len(), model.alive.len());
    assert_eq!(directory.needs_flush(), !model.reserved.is_empty());
    assert_eq!(directory.iter().count(), model.alive.len());
    for &id in &model.seen {
        assert_eq!(directory.locate(id).ok(), model.alive.get(&id).copied());
        let reserved = model.reserved.contains(&id);
        assert_eq!(directory.view().is_reserved(id), reserved);
        let known = reserved || model.alive.contains_key(&id);
        assert_eq!(directory.contains(id), known);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { crate::effort::effort(64) },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_directory_behaves_like_its_model(
        operations in prop::collection::vec(operation(), 0..if cfg!(miri) { 20 } else { 200 }),
    ) {
        let mut directory = Directory::new(LIMIT);
        let mut model = Model::default();
        let mut saved = Saved::default();
        for operation in &operations {
            apply((&mut directory, &mut model), &mut saved, operation);
            compare(&directory, &model);
        }
        flush(&mut directory, &mut model);
        compare(&directory, &model);
    }
}

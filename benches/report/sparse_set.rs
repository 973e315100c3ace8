//! A sparse set with the necessary work of a library, compared with archetypes.
//!
//! Ids have generations and are used again. A component has a dense list of values, a dense list of
//! their entities, and pages of slots: a slot has the place of an entity in the lists, and the
//! generation of the entity that has it, so a read by entity costs a page, a slot and a value. A
//! removal moves the last value into the gap.

/// No place.
const NONE: u32 = u32::MAX;
/// Slots of a page: 16 KiB.
const PAGE: usize = 2_048;

/// An entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id {
    index: u32,
    generation: u32,
}

/// The living entities.
#[derive(Default)]
pub(crate) struct Ids {
    generations: Vec<u32>,
    free: Vec<u32>,
}

impl Ids {
    pub(crate) fn spawn(&mut self) -> Id {
        let index = self.free.pop().unwrap_or_else(|| {
            self.generations.push(1);
            u32::try_from(self.generations.len() - 1).expect("fewer entities than numbers")
        });
        Id { index, generation: self.generations[index as usize] }
    }

    /// Despawns an entity; false if it is already despawned.
    pub(crate) fn despawn(&mut self, id: Id) -> bool {
        let generation = &mut self.generations[id.index as usize];
        let lives = *generation == id.generation;
        if lives {
            *generation += 1;
            self.free.push(id.index);
        }
        lives
    }
}

/// The place of an entity's value.
#[derive(Clone, Copy)]
struct Slot {
    place: u32,
    generation: u32,
}

/// The components of one type.
pub(crate) struct SparseSet<T> {
    pages: Vec<Option<Box<[Slot; PAGE]>>>,
    entities: Vec<Id>,
    values: Vec<T>,
}

impl<T> SparseSet<T> {
    pub(crate) const fn new() -> Self {
        Self { pages: Vec::new(), entities: Vec::new(), values: Vec::new() }
    }

    /// Adds a component to an entity, or replaces the one that it has.
    pub(crate) fn insert(&mut self, id: Id, value: T) {
        if let Some(place) = self.place(id) {
            self.values[place as usize] = value;
            return;
        }
        let place = u32::try_from(self.values.len()).expect("fewer values than ids");
        *self.slot_mut(id) = Slot { place, generation: id.generation };
        self.entities.push(id);
        self.values.push(value);
    }

    /// Removes the component of an entity; the last one fills its place.
    pub(crate) fn remove(&mut self, id: Id) -> Option<T> {
        let place = self.place(id)?;
        self.slot_mut(id).place = NONE;
        self.entities.swap_remove(place as usize);
        if let Some(&moved) = self.entities.get(place as usize) {
            self.slot_mut(moved).place = place;
        }
        Some(self.values.swap_remove(place as usize))
    }

    /// The place of the value of an entity in the list.
    #[inline]
    pub(crate) fn place(&self, id: Id) -> Option<u32> {
        let page = self.pages.get(id.index as usize / PAGE)?.as_deref()?;
        let slot = page[id.index as usize % PAGE];
        (slot.generation == id.generation && slot.place != NONE).then_some(slot.place)
    }

    #[inline]
    pub(crate) fn get(&self, id: Id) -> Option<&T> {
        self.values.get(self.place(id)? as usize)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: Id) -> Option<&mut T> {
        let place = self.place(id)?;
        self.values.get_mut(place as usize)
    }

    /// Entities and values, in the order of the list.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Id, &T)> {
        self.entities.iter().copied().zip(&self.values)
    }

    /// The values, by place.
    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }

    /// The values, by place.
    pub(crate) fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    fn slot_mut(&mut self, id: Id) -> &mut Slot {
        let page = id.index as usize / PAGE;
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || None);
        }
        let none = || Box::new([Slot { place: NONE, generation: 0 }; PAGE]);
        &mut self.pages[page].get_or_insert_with(none)[id.index as usize % PAGE]
    }
}

/// Proves that ids end, a slot belongs to one generation, and removal keeps all other values.
pub(crate) fn prove() {
    let (mut ids, mut set) = (Ids::default(), SparseSet::new());
    let all: Vec<_> = (0..3 * PAGE).map(|_| ids.spawn()).collect();
    all.iter().zip(0..).for_each(|(&id, value)| set.insert(id, value));
    for (i, &id) in all.iter().enumerate().filter(|(i, _)| i % 3 == 0) {
        assert_eq!(set.remove(id), Some(i), "what was inserted");
        assert!(ids.despawn(id) && !ids.despawn(id), "an entity ends once");
    }
    let again = ids.spawn();
    set.insert(again, usize::MAX);
    let old = all.iter().find(|id| id.index == again.index).expect("an index is used again");
    assert!(set.get(*old).is_none() && set.remove(*old).is_none(), "its entity has ended");
    assert_eq!(set.get_mut(again).copied(), Some(usize::MAX), "it has the new one's");
    for (i, &id) in all.iter().enumerate() {
        assert_eq!(set.get(id).copied(), (i % 3 != 0).then_some(i), "entity {i}");
    }
    for (place, (id, _)) in (0..).zip(set.iter()) {
        assert_eq!(set.place(id), Some(place), "places are those of the list");
    }
}

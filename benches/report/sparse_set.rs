//! The smallest sparse set that is honest: what archetypes are compared with.
//!
//! A component has a dense list of values, a dense list of their entities, and an array from entity
//! to place in the lists, which is not paged. Ids are never used again and have no generations, and
//! nothing is removed: this is less than a library must do.

/// No place.
const NONE: u32 = u32::MAX;

/// The components of one type.
pub(crate) struct SparseSet<T> {
    places: Vec<u32>,
    entities: Vec<u32>,
    values: Vec<T>,
}

impl<T> SparseSet<T> {
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), entities: Vec::new(), values: Vec::new() }
    }

    /// Adds a component to an entity that has none.
    pub(crate) fn insert(&mut self, entity: u32, value: T) {
        let at = entity as usize;
        if at >= self.places.len() {
            self.places.resize(at + 1, NONE);
        }
        assert_eq!(self.places[at], NONE, "an entity has one component of a type");
        self.places[at] = u32::try_from(self.values.len()).expect("fewer values than ids");
        self.entities.push(entity);
        self.values.push(value);
    }

    pub(crate) fn get(&self, entity: u32) -> Option<&T> {
        let place = *self.places.get(entity as usize)?;
        self.values.get(place as usize)
    }

    pub(crate) fn get_mut(&mut self, entity: u32) -> Option<&mut T> {
        let place = *self.places.get(entity as usize)?;
        self.values.get_mut(place as usize)
    }

    /// Entities and values, in the order of the list.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.entities.iter().copied().zip(&self.values)
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }
}

//! A number for the whole state of a world.

use bytemuck::cast_slice;
use xxhash_rust::xxh3::Xxh3;

use super::state::World;

impl World {
    /// A hash of all that is known of entities: the archetypes in their order, in each the
    /// entities and the values of all components in the order of chunks and rows, and which ids will be
    /// given out next. Padding, versions and where memory lies are left out, and so are resources, whose
    /// types it does not know: add those that your simulation depends on.
    ///
    /// Two worlds that were given the same calls have the same hash, whatever the number of threads
    /// and the instruction set; to find where two simulations part, compare it after each step. It is
    /// XXH3, so no proof against forgery, and depends on the byte order of the machine.
    /// O(bytes of all rows).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # component!(Health);
    /// let [mut a, mut b] = [World::new(), World::new()];
    /// for world in [&mut a, &mut b] {
    ///     world.spawn_batch((0..1000).map(|i| Health(i as f32)));
    /// }
    /// assert_eq!(a.hash(), b.hash());
    /// b.query_mut::<&mut Health>().flatten().next().unwrap().0 += 1.0;
    /// assert_ne!(a.hash(), b.hash());
    /// ```
    #[must_use]
    pub fn hash(&self) -> u64 {
        let mut hash = Xxh3::new();
        let number = |hash: &mut Xxh3, n: usize| hash.update(&(n as u64).to_le_bytes());
        let source = &self.store.source;
        for archetype in source.catalog.as_slice() {
            number(&mut hash, archetype.components().len());
            for &id in archetype.components() {
                let name = source.registry.info(id).name();
                number(&mut hash, name.len());
                hash.update(name.as_bytes());
            }
            number(&mut hash, archetype.len());
            hash.update(cast_slice(archetype.entities()));
            for chunk in 0..archetype.list().chunk_count() {
                for column in 0..archetype.components().len() {
                    hash.update(archetype.list().column_bytes(column, chunk));
                }
            }
        }
        self.store.entities.next_ids(|id| hash.update(&id.to_bits().to_le_bytes()));
        hash.digest()
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::{Pod, Zeroable};

    use super::*;
    use crate::component;

    #[derive(Clone, Copy, Debug, Pod, Zeroable)]
    #[repr(C)]
    struct A(u32);
    #[derive(Clone, Copy, Debug, Pod, Zeroable)]
    #[repr(C)]
    struct B(u32);
    component!(A as "A", B as "B");

    fn world() -> World {
        let mut world = World::new();
        world.spawn_batch((0..40).map(A));
        world.spawn_batch((0..40).map(|i| (A(i), B(i))));
        world
    }

    #[test]
    fn every_part_of_the_state_is_in_it() {
        let plain = world().hash();
        assert_eq!(world().hash(), plain, "the same calls, the same hash");
        let change = |change: fn(&mut World)| {
            let mut world = world();
            change(&mut world);
            world.hash()
        };
        let changes: [fn(&mut World); 6] = [
            |world| world.query_mut::<&mut A>().flatten().last().expect("a row").0 += 1,
            |world| {
                world.spawn(A(0));
            },
            // The same rows, but the next id has another generation.
            |world| {
                let entity = world.spawn(A(0));
                world.despawn(entity).expect("alive");
            },
            // The same set of rows in another order.
            |world| {
                let mut columns = world.query_mut::<&mut A>();
                columns.next().expect("a chunk").reverse();
            },
            // A new archetype without rows.
            |world| {
                let entity = world.spawn(B(0));
                world.despawn(entity).expect("alive");
            },
            World::clear,
        ];
        let mut hashes: Vec<u64> = changes.into_iter().map(change).chain([plain]).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 7, "each change changes it");
    }

    #[test]
    fn padding_and_looks_are_not_in_it() {
        let mut world = world();
        let plain = world.hash();
        for column in world.query_mut::<&mut A>().padded() {
            column[40..].fill(A(7));
        }
        assert_eq!(world.query::<&A>().flatten().count(), 80);
        assert_eq!(world.hash(), plain);
        let _ = world.reserve::<(A, B)>(10_000);
        assert_eq!(world.hash(), plain, "where memory lies is not state");
    }
}

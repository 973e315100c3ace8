//! Calls that may be refused after they have added archetypes.
//!
//! Queries visit archetypes in the order of their creation, and the hash of a world depends on it.
//! So a call that is refused, or in which a caller's iterator panics, removes the archetypes that
//! it has added.

use crate::store::Store;

use super::world::World;

/// A running call. Unless it succeeds, the archetypes that it has added are removed.
struct Attempt<'w> {
    store: &'w mut Store,
    /// The number of archetypes before, or `usize::MAX` after a success.
    known: usize,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if self.store.archetypes.len() > self.known {
            self.store.give_back_archetypes(self.known);
        }
    }
}

impl World {
    /// Spawns reserved ids and runs a call. If it fails or panics, the archetypes that it has added
    /// are removed.
    #[inline]
    pub(super) fn attempt<T, E>(
        &mut self,
        call: impl FnOnce(&mut Store) -> Result<T, E>,
    ) -> Result<T, E> {
        self.flush();
        let known = self.store.archetypes.len();
        let mut attempt = Attempt { store: &mut self.store, known };
        let result = call(attempt.store);
        if result.is_ok() {
            attempt.known = usize::MAX;
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use bytemuck::{Pod, Zeroable};

    use super::*;
    use crate::impl_component;

    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Known(u32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct New(u32);
    impl_component!(Known as "Known", New as "New");

    #[test]
    #[cfg_attr(miri, ignore = "65,535 values")]
    fn a_type_or_a_value_too_many_is_refused_and_leaves_version_and_hash() {
        // Each returns `true` if it succeeded.
        type Call = fn(&mut World) -> bool;
        let calls: [(&str, Call); 8] = [
            ("spawn", |world| world.try_spawn((Known(1), New(1))).is_ok()),
            ("spawn_batch", |world| world.try_spawn_batch([New(1)]).is_ok()),
            ("pass", |world| world.query_mut::<(&mut Known, &mut New)>().rows().count() > 0),
            ("filter", |world| world.query_mut::<&mut Known>().without::<New>().rows().count() > 0),
            ("change", |world| world.matching::<&Known>().insert(New(1)).is_ok()),
            ("flip", |world| world.flip::<Known>().is_ok()),
            ("shared", |world| world.matching::<&Known>().insert_shared(u64::MAX).is_ok()),
            ("type of shared", |world| world.matching::<&Known>().insert_shared("new").is_ok()),
        ];
        let mut world = World::new();
        world.spawn(Known(1));
        let registry = &mut world.store.registry;
        let share = |n: u64| catch_unwind(AssertUnwindSafe(|| registry.share(n))).ok();
        let owners: Vec<_> = (0..).map_while(share).collect();
        assert!(owners.len() > 65_000, "{} values", owners.len());
        let before = (world.version(), world.hash());
        for (name, call) in calls {
            let result = catch_unwind(AssertUnwindSafe(|| call(&mut world)));
            assert!(!result.unwrap_or(false), "{name} is not refused");
            assert_eq!((world.version(), world.hash()), before, "{name}");
        }
    }
}

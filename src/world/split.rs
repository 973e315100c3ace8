//! A world divided among systems that run at the same time.

use crate::component::{Component, Registry};
use crate::query::{AccessGuard, SplitStore};

use super::lookup::{Lookup, LookupMut};
use super::resources::Resources;
use super::world::World;

impl World {
    /// Divides the world for `runs` runs of systems. The resources go beside it.
    pub(crate) fn divide(&mut self, runs: usize) -> (SplitStore<'_>, &Resources) {
        // The line of a stage has flushed, and until its end no id comes back.
        if self.store.entities.queue().is_none() {
            self.flush();
        }
        (SplitStore::new(&mut self.store, runs), &self.resources)
    }

    /// The numbers of component types, by which systems claim what they ask for.
    pub(crate) const fn registry_mut(&mut self) -> &mut Registry {
        &mut self.store.source.registry
    }
}

impl<'s, C: Component> Lookup<'s, C> {
    /// The view that a share was lent for.
    pub(crate) fn of_share(share: &'s mut AccessGuard<'_>) -> Self {
        Self { columns: share.lookup() }
    }
}

impl<'s, C: Component> LookupMut<'s, C> {
    /// The view that a share was lent for.
    pub(crate) fn of_share(share: &'s mut AccessGuard<'_>) -> Self {
        Self { columns: share.lookup_mut() }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    use bytemuck::{Pod, Zeroable};

    use super::*;
    use crate::component;
    use crate::entity::Entity;
    use crate::query::{AccessRequest, Changed, Filter, Terms, With, Without};

    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    #[repr(C)]
    struct A(u64);
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    #[repr(C)]
    struct B(u64);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Mark;
    component!(A as "A", B as "B", Mark as "Mark");

    impl World {
        fn claim_query<Q: Terms, F: Filter>(&mut self) -> AccessRequest {
            AccessRequest::query::<Q, F>(self.registry_mut())
        }

        fn claim_lookup<C: Component>(&mut self) -> AccessRequest {
            AccessRequest::lookup::<C>(self.registry_mut())
        }
    }

    /// Two archetypes of several chunks, and one of a single row.
    fn world() -> World {
        let mut world = World::builder().chunk_size(crate::storage::ChunkSize::KIB_4).build();
        world.spawn_batch((0..600).map(|i| (A(i), B(i))));
        world.spawn_batch((0..600).map(|i| (A(i), B(i), Mark)));
        world.spawn(A(7));
        world
    }

    #[test]
    fn two_threads_write_columns_of_the_same_chunks() {
        let mut world = world();
        let claims = [world.claim_query::<&mut A, ()>(), world.claim_query::<&mut B, ()>()];
        let (division, _) = world.divide(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut share = division.lend(&claims[0], division.version(0));
                share.query::<&mut A, ()>(()).iter_mut().flatten().for_each(|a| a.0 += 1000);
            });
            let mut share = division.lend(&claims[1], division.version(1));
            share.query::<&mut B, ()>(()).iter_mut().flatten().for_each(|b| b.0 += 2000);
        });
        assert!(world.check().is_ok());
        let mut sum = 0;
        for (i, (a, b)) in world.query::<(&A, &B)>().rows().enumerate() {
            assert_eq!((a.0, b.0), (i as u64 % 600 + 1000, i as u64 % 600 + 2000));
            sum += 1;
        }
        assert_eq!(sum, 1200);
        let chunk = world.query::<(&A, &B)>().chunks().next().expect("a chunk");
        assert!(chunk.version::<A>() < chunk.version::<B>(), "each run has its own version");
    }

    #[test]
    fn what_clashes_is_not_lent() {
        let mut world = world();
        let [write, read] = [world.claim_query::<&mut A, ()>(), world.claim_lookup::<A>()];
        let (division, _) = world.divide(2);
        let share = division.lend(&write, division.version(0));
        let refused = |claim| {
            catch_unwind(AssertUnwindSafe(|| drop(division.lend(claim, division.version(1)))))
        };
        assert!(refused(&read).is_err() && refused(&write).is_err());
        drop(share);
        let shares = [&read, &read].map(|claim| division.lend(claim, division.version(1)));
        assert!(refused(&write).is_err(), "it is read");
        drop(shares);
        assert!(refused(&write).is_ok(), "all are back");
    }

    #[test]
    fn archetypes_that_do_not_exist_do_not_clash() {
        let mut world = World::new();
        world.spawn((A(1), Mark));
        world.spawn((A(2), B(0)));
        let marked = world.claim_query::<&mut A, (With<Mark>,)>();
        let with_b = world.claim_query::<(&mut A, &B), ()>();
        assert!(
            marked.requirements().clash(with_b.requirements()).is_some(),
            "some world has both"
        );
        let (division, _) = world.divide(2);
        let mut first = division.lend(&marked, division.version(0));
        let mut second = division.lend(&with_b, division.version(1));
        let [a, b] = [first
            .query::<&mut A, (With<Mark>,)>(Filter::newer_than(crate::version::Version::NEVER))]
        .map(|q| q.into_iter().flatten().next().expect("the marked one"))
        .into_iter()
        .chain(second.query::<(&mut A, &B), ()>(()).into_iter().map(|(a, _)| &mut a[0]))
        .collect::<Vec<_>>()
        .try_into()
        .expect("two");
        core::mem::swap(a, b);
        assert_eq!((a.0, b.0), (2, 1));
    }

    #[test]
    fn a_share_is_for_its_query_only() {
        let mut world = world();
        let claim = world.claim_query::<&A, ()>();
        let (division, _) = world.divide(1);
        let mut share = division.lend(&claim, division.version(0));
        let wrong =
            catch_unwind(AssertUnwindSafe(|| share.query::<&mut A, ()>(()).iter_mut().count()));
        assert!(wrong.is_err());
        assert_eq!(share.query::<&A, ()>(()).iter().flatten().count(), 1201);
    }

    #[test]
    fn a_share_is_used_several_times_and_in_parallel() {
        let mut world = world();
        let claim = world.claim_query::<&mut A, (Without<Mark>,)>();
        let (division, _) = world.divide(1);
        let mut share = division.lend(&claim, division.version(0));
        let mut query = share.query::<&mut A, (Without<Mark>,)>((Filter::newer_than(
            crate::version::Version::NEVER,
        ),));
        query.reborrow().into_iter().flatten().for_each(|a| a.0 += 1);
        query.reborrow().par_for_each_chunk(|a| a.iter_mut().for_each(|a| a.0 += 1));
        assert_eq!(
            query.into_iter().flatten().map(|a| a.0).sum::<u64>(),
            601 * 2 + 7 + 599 * 600 / 2
        );
    }

    #[test]
    fn lookups_and_change_filters_work_in_shares() {
        let mut world = world();
        let entity = world.query::<Entity>().with::<Mark>().iter().flatten().next().copied();
        let entity = entity.expect("a marked one");
        let since = world.version();
        world.get_mut::<A>(entity).expect("alive").0 = 5;
        let changed = world.claim_query::<&A, (Changed<A>,)>();
        let lookup = world.claim_lookup::<B>();
        let (division, _) = world.divide(2);
        let mut share = division.lend(&changed, division.version(0));
        let rows = share.query::<&A, (Changed<A>,)>((Changed::since(since),));
        assert_eq!(
            rows.into_iter().flatten().filter(|a| a.0 == 5).count(),
            2,
            "row 5 and the changed one"
        );
        let mut share = division.lend(&lookup, division.version(1));
        let view = Lookup::<B>::of_share(&mut share);
        assert_eq!(view.get(entity), Some(&B(0)));
        assert_eq!(view.get(Entity::NULL), None);
    }
}

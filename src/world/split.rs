//! A world split among systems that run at the same time.

use crate::component::{Component, Registry, SparseComponent};
use crate::query::lookup_type;
use crate::store::{AccessGuard, AccessRequest, QueryType, SplitStore};

use super::lookup::{Lookup, LookupMut};
use super::resources::Resources;
use super::world::World;

impl World {
    /// Splits the world for `runs` runs of systems. Returns the resources as well.
    pub(crate) fn split(&mut self, runs: usize) -> (SplitStore<'_>, &Resources) {
        // The id queue of a stage has flushed, and no id is freed before the stage ends.
        if self.store.entities().queue().is_none() {
            self.flush();
        }
        if self.store.take_guards() {
            self.release_guards();
        }
        (SplitStore::new(&mut self.store, runs), &self.resources)
    }

    /// Renews the locks that forgotten guards hold. O(types).
    #[cold]
    fn release_guards(&mut self) {
        self.store.sparse_sets_mut().release();
        self.store.logs_mut().events.release();
        self.resources.release();
    }

    /// Adds the set of the sparse component `T`, unless it exists, for systems that write it.
    pub(crate) fn add_sparse_set<T: SparseComponent>(&mut self) {
        self.store.add_sets::<T>();
    }

    /// Adds the queue of events of type `E`, unless it exists, for systems that send them.
    pub(crate) fn add_event_queue<E: Send + Sync + 'static>(&mut self) {
        self.store.logs_mut().events.get_or_add::<E>();
    }

    /// Makes visible the changes that the systems of a stage have made apart from commands: the
    /// events that they sent, and the sparse components that they inserted.
    pub(crate) fn join_systems(&mut self) {
        self.store.mark_members();
        self.store.logs_mut().events.join();
    }

    /// The request of a query for its columns.
    ///
    /// # Panics
    ///
    /// If the query names a component type with a name that another type has in the world.
    pub(crate) fn access_request(&mut self, query: &QueryType) -> AccessRequest {
        self.store.access_request(query)
    }

    /// The numbers of component types, for the access requests of systems.
    pub(crate) const fn registry_mut(&mut self) -> &mut Registry {
        self.store.registry_mut()
    }
}

impl<'s, C: Component> Lookup<'s, C> {
    /// The lookup that access was requested for.
    pub(crate) fn granted(guard: &'s mut AccessGuard<'_>) -> Self {
        let (columns, archetypes) = guard.views(lookup_type::<&C>());
        Self { columns, archetypes }
    }
}

impl<'s, C: Component> LookupMut<'s, C> {
    /// The lookup that access was requested for.
    pub(crate) fn granted(guard: &'s mut AccessGuard<'_>) -> Self {
        let (columns, log) = guard.views_mut(lookup_type::<&mut C>());
        Self { columns, log }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::thread;

    use bytemuck::{Pod, Zeroable};

    use super::*;
    use crate::entity::Entity;
    use crate::impl_component;
    use crate::query::{Changed, Filter, IncludeHidden, Query, Terms, With, Without, query_type};
    use crate::store::{AccessRequest, NamedPlan, RequestKey};
    use crate::world::{NamedChunkMut, NamedQuery};

    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    #[repr(C)]
    struct A(u64);
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    #[repr(C)]
    struct B(u64);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Mark;
    impl_component!(A as "A", B as "B", Mark as "Mark");

    impl World {
        fn request<Q: Terms, F: Filter>(&mut self) -> AccessRequest {
            AccessRequest::new(query_type::<Q, F>(), self.registry_mut())
        }

        fn request_lookup<C: Component>(&mut self) -> AccessRequest {
            AccessRequest::new(lookup_type::<&C>(), self.registry_mut())
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
    #[should_panic(expected = "access was requested for another component")]
    fn a_view_needs_access_to_all_entities_with_the_component() {
        type Marked = (With<Mark>, IncludeHidden);
        let mut world = world();
        let request = world.request::<Option<&mut A>, Marked>();
        let (split, _) = world.split(1);
        let mut guard = split.grant(&request, split.version(0));
        // It would hand out the `A` of entities without `Mark`, which another guard may write.
        drop(guard.views_mut::<A>(query_type::<Option<&mut A>, Marked>()));
    }

    #[test]
    fn two_threads_write_columns_of_the_same_chunks() {
        let mut world = world();
        let requests = [world.request::<&mut A, ()>(), world.request::<&mut B, ()>()];
        let (split, _) = world.split(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut guard = split.grant(&requests[0], split.version(0));
                Query::<&mut A, ()>::granted(&mut guard, &mut ((), ()), ())
                    .iter_mut()
                    .flatten()
                    .for_each(|a| a.0 += 1000);
            });
            let mut guard = split.grant(&requests[1], split.version(1));
            Query::<&mut B, ()>::granted(&mut guard, &mut ((), ()), ())
                .iter_mut()
                .flatten()
                .for_each(|b| b.0 += 2000);
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

    impl World {
        fn request_named(&self, query: &NamedQuery) -> AccessRequest {
            self.request_and_plan(query).0
        }

        fn request_and_plan(&self, query: &NamedQuery) -> (AccessRequest, Arc<NamedPlan>) {
            query.request_in(self, RequestKey::unique()).expect("the world knows the names")
        }
    }

    #[test]
    fn queries_of_names_share_chunks_with_others_on_other_threads() {
        let mut world = world();
        world.reflect_mut().register_layout("split.c", [("c", "bool")]).expect("free");
        let entities: Vec<Entity> = world.query::<Entity>().iter().flatten().copied().collect();
        let step = if cfg!(miri) { 60 } else { 3 };
        for &entity in entities.iter().step_by(step) {
            world.reflect_mut().insert(entity, [("split.c", &[0][..])]).expect("alive");
        }
        let (write, mut of_write) = world.request_and_plan(&NamedQuery::new().write("A").read("B"));
        let (flags, mut of_flags) =
            world.request_and_plan(&NamedQuery::new().read("B").write("split.c"));
        let read = world.request::<&B, ()>();
        let (split, _) = world.split(3);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut guard = split.grant(&write, split.version(0));
                let plan = Arc::make_mut(&mut of_write);
                NamedChunkMut::visit_granted(&mut guard, plan, |chunk| {
                    let [a, b] = chunk.columns_mut() else { unreachable!("two terms") };
                    assert!(b.bytes_mut().is_err() && b.values_mut::<B>().is_err());
                    let (a, b) = (a.values_mut::<A>().expect("of A"), b.values().expect("of B"));
                    a.iter_mut().zip(b).for_each(|(a, b): (_, &B)| a.0 = b.0 + 1000);
                });
            });
            scope.spawn(|| {
                let mut guard = split.grant(&flags, split.version(1));
                let plan = Arc::make_mut(&mut of_flags);
                NamedChunkMut::visit_granted(&mut guard, plan, |chunk| {
                    let [b, c] = chunk.columns_mut() else { unreachable!("two terms") };
                    assert!(c.bytes_mut().is_err(), "not all bytes are values");
                    for row in 0..b.values::<B>().expect("of B").len() {
                        c.set(row, &[1]).expect("a `bool`");
                    }
                });
            });
            let mut guard = split.grant(&read, split.version(2));
            let mut none = ((), ());
            let query = Query::<&B, ()>::granted(&mut guard, &mut none, ());
            assert!(query.rows().all(|b| b.0 < 600));
        });
        assert!(world.check().is_ok());
        assert!(world.query::<(&A, &B)>().rows().all(|(a, b)| a.0 == b.0 + 1000));
        let flags = NamedQuery::new().read("split.c").with("B");
        for chunk in world.reflect().chunks(&flags).expect("known") {
            assert!(chunk.columns()[0].bytes().iter().all(|&flag| flag == 1));
        }
    }

    #[test]
    #[should_panic(expected = "the plan is of another request")]
    fn a_guard_takes_only_the_plan_of_its_request() {
        let mut world = world();
        let (write, _) = world.request_and_plan(&NamedQuery::new().write("A"));
        let (_, mut other) = world.request_and_plan(&NamedQuery::new().write("A"));
        let (split, _) = world.split(1);
        let mut guard = split.grant(&write, split.version(0));
        NamedChunkMut::visit_granted(&mut guard, Arc::make_mut(&mut other), |_| ());
    }

    #[test]
    fn queries_of_names_that_clash_are_not_granted() {
        let mut world = world();
        let write = world.request_named(&NamedQuery::new().write("A"));
        let again = world.request_named(&NamedQuery::new().write("A"));
        let read = world.request::<&A, With<Mark>>();
        let other = world.request_named(&NamedQuery::new().write("B").without("A"));
        let (split, _) = world.split(2);
        let mut guard = split.grant(&write, split.version(0));
        let refused = |request| {
            catch_unwind(AssertUnwindSafe(|| drop(split.grant(request, split.version(1)))))
        };
        assert!(refused(&again).is_err() && refused(&read).is_err() && refused(&write).is_err());
        assert!(refused(&other).is_ok());
        let typed = || _ = guard.access(query_type::<&mut A, ()>());
        assert!(catch_unwind(AssertUnwindSafe(typed)).is_err(), "another query");
    }

    #[test]
    fn what_clashes_is_not_granted() {
        let mut world = world();
        let [write, read] = [world.request::<&mut A, ()>(), world.request_lookup::<A>()];
        let (split, _) = world.split(2);
        let guard = split.grant(&write, split.version(0));
        let refused = |request| {
            catch_unwind(AssertUnwindSafe(|| drop(split.grant(request, split.version(1)))))
        };
        assert!(refused(&read).is_err() && refused(&write).is_err());
        drop(guard);
        let guards = [&read, &read].map(|request| split.grant(request, split.version(1)));
        assert!(refused(&write).is_err(), "it is read");
        drop(guards);
        assert!(refused(&write).is_ok(), "all are back");
    }

    #[test]
    fn archetypes_that_do_not_exist_do_not_clash() {
        let mut world = World::new();
        world.spawn((A(1), Mark));
        world.spawn((A(2), B(0)));
        let marked = world.request::<&mut A, (With<Mark>,)>();
        let with_b = world.request::<(&mut A, &B), ()>();
        assert!(
            marked.requirements().clash(with_b.requirements()).is_some(),
            "some world has both"
        );
        let (split, _) = world.split(2);
        let mut first = split.grant(&marked, split.version(0));
        let mut second = split.grant(&with_b, split.version(1));
        let filter = Filter::newer_than(crate::version::Version::NEVER);
        let (mut none, mut two) = (((), ((),)), (((), ()), ()));
        let a =
            Query::<&mut A, (With<Mark>,)>::granted(&mut first, &mut none, filter).rows().next();
        let b = Query::<(&mut A, &B)>::granted(&mut second, &mut two, ()).rows().next();
        let (a, (b, _)) = (a.expect("the marked one"), b.expect("the other one"));
        core::mem::swap(a, b);
        assert_eq!((a.0, b.0), (2, 1));
    }

    #[test]
    fn access_is_for_its_query_only() {
        let mut world = world();
        let request = world.request::<&A, ()>();
        let (split, _) = world.split(1);
        let mut guard = split.grant(&request, split.version(0));
        let wrong = catch_unwind(AssertUnwindSafe(|| {
            Query::<&mut A, ()>::granted(&mut guard, &mut ((), ()), ()).iter_mut().count()
        }));
        assert!(wrong.is_err());
        assert_eq!(
            Query::<&A, ()>::granted(&mut guard, &mut ((), ()), ()).iter().flatten().count(),
            1201
        );
    }

    #[test]
    fn access_is_used_several_times_and_in_parallel() {
        let mut world = world();
        let request = world.request::<&mut A, (Without<Mark>,)>();
        let (split, _) = world.split(1);
        let mut guard = split.grant(&request, split.version(0));
        let mut none = ((), ((),));
        let mut query = Query::<&mut A, (Without<Mark>,)>::granted(
            &mut guard,
            &mut none,
            (Filter::newer_than(crate::version::Version::NEVER),),
        );
        query.iter_mut().flatten().for_each(|a| a.0 += 1);
        query.reborrow().par().for_each_chunk(|a| a.iter_mut().for_each(|a| a.0 += 1));
        assert_eq!(
            query.into_iter().flatten().map(|a| a.0).sum::<u64>(),
            601 * 2 + 7 + 599 * 600 / 2
        );
    }

    #[test]
    fn lookups_and_change_filters_work_with_access() {
        let mut world = world();
        let entity = world.query::<Entity>().with::<Mark>().iter().flatten().next().copied();
        let entity = entity.expect("a marked one");
        let since = world.version();
        world.get_mut::<A>(entity).expect("alive").0 = 5;
        let changed = world.request::<&A, (Changed<A>,)>();
        let lookup = world.request_lookup::<B>();
        let (split, _) = world.split(2);
        let mut guard = split.grant(&changed, split.version(0));
        let mut none = ((), ((),));
        let rows =
            Query::<&A, (Changed<A>,)>::granted(&mut guard, &mut none, (Changed::since(since),));
        assert_eq!(
            rows.into_iter().flatten().filter(|a| a.0 == 5).count(),
            2,
            "row 5 and the changed one"
        );
        let mut guard = split.grant(&lookup, split.version(1));
        let view = Lookup::<B>::granted(&mut guard);
        assert_eq!(view.get(entity).ok(), Some(&B(0)));
        assert_eq!(view.get(Entity::NULL).ok(), None);
    }
}

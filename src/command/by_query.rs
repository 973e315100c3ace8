//! Commands on all entities that a query matches at playback.

use core::panic::Location;

use crate::archetype::{Bundle, ColumnBundle, assert_distinct, assert_no_relations};
use crate::component::SparseBundle;
use crate::entity::Entity;
use crate::query::{Filter, ReadTerms, Terms, assert_unaliased};
use crate::store::PendingBundle;
use crate::world::{Matching, World};

use super::buffer::CommandBuffer;
use super::command_errors::{CommandErrorKind, CommandVerb};
use super::record::{BarrierKind, DeferredChange};

impl CommandBuffer {
    /// Records an insert of `bundle` into all entities that `Q` and `F` match at playback, by
    /// [`Matching::insert`](crate::Matching::insert): whole chunks at a time, and into no entity if
    /// a row of one of them would not fit a chunk. A barrier.
    ///
    /// Only components decide: [`Changed`](crate::Changed),
    /// [`ChangedLines`](crate::lines::ChangedLines), [`Arrived`](crate::Arrived) and
    /// [`Reordered`](crate::Reordered) compare with a version, which a command does not have, and
    /// do not compile:
    ///
    /// ```compile_fail,E0080
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Frozen;
    /// # let mut world = World::new();
    /// # let mut buffer = world.command_buffer(0).unwrap();
    /// buffer.insert_where::<&Health, Arrived, _>(Frozen);
    /// ```
    ///
    /// ```compile_fail,E0080
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Burning(String);
    /// # let mut world = World::new();
    /// # let mut buffer = world.command_buffer(0).unwrap();
    /// buffer.despawn_where::<Entity, Changed<Burning>>();
    /// ```
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Frozen;
    /// # let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// let mut buffer = world.command_buffer(0)?;
    /// buffer.insert_where::<&Health, Without<Frozen>, _>(Frozen);
    /// world.apply(&mut buffer).unwrap();
    /// assert!(world.has::<Frozen>(entity));
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    #[track_caller]
    pub fn insert_where<Q: Terms, F: Filter, B: Bundle + Clone>(&mut self, bundle: B) {
        const { assert_distinct(B::NAMES) };
        const { assert_no_relations::<B>() };
        const { assert_by_components::<Q, F>() };
        let (verb, call_site) = (CommandVerb::Insert, Location::caller());
        if B::Sparse::IS_EMPTY {
            let (columns, change) = (bundle.split().0, insert_matches::<Q, F, B::Columns>);
            return self.recorder.by_query::<(), B::Columns>(verb, &columns, change, call_site);
        }
        let bundle = PendingBundle::new(bundle);
        let insert = move |world: &mut World| {
            name::<B>(world)?;
            let inserted = matching::<Q, F>(world)?.insert_pending(bundle);
            inserted.map_err(CommandErrorKind::Layout)
        };
        let (entity, change) = (Entity::NULL, DeferredChange::new(insert));
        self.recorder.push(BarrierKind::Change { verb, entity, change }, call_site);
    }

    /// Records a removal of the components of `B`, as far as they are present, from all entities
    /// that `Q` and `F` match at playback, by [`Matching::remove`](crate::Matching::remove). A
    /// barrier.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Frozen;
    /// # let mut world = World::new();
    /// let entity = world.spawn((Health(1.0), Frozen));
    /// let mut buffer = world.command_buffer(0)?;
    /// buffer.remove_where::<&Health, (), Frozen>();
    /// world.apply(&mut buffer).unwrap();
    /// assert!(!world.has::<Frozen>(entity));
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    #[track_caller]
    pub fn remove_where<Q: Terms, F: Filter, B: Bundle>(&mut self) {
        const { assert_distinct(B::NAMES) };
        const { assert_by_components::<Q, F>() };
        let (verb, call_site) = (CommandVerb::Remove, Location::caller());
        if B::Sparse::IS_EMPTY {
            let change = remove_matches::<Q, F, B::Columns>;
            return self.recorder.by_query::<B::Columns, ()>(verb, &(), change, call_site);
        }
        let remove = |world: &mut World| {
            name::<B>(world)?;
            Ok(matching::<Q, F>(world)?.remove_distinct::<B>())
        };
        let (entity, change) = (Entity::NULL, DeferredChange::new(remove));
        self.recorder.push(BarrierKind::Change { verb, entity, change }, call_site);
    }

    /// Records a despawn of all entities that `Q` and `F` match at playback. A barrier.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Bullet;
    /// # let mut world = World::new();
    /// world.spawn_batch([Bullet; 100]);
    /// let mut buffer = world.command_buffer(0)?;
    /// buffer.despawn_where::<&Bullet, ()>();
    /// world.apply(&mut buffer).unwrap();
    /// assert!(world.is_empty());
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    #[track_caller]
    pub fn despawn_where<Q: Terms, F: Filter>(&mut self) {
        const { assert_by_components::<Q, F>() };
        let change = despawn_matches::<Q, F>;
        self.recorder.by_query::<(), ()>(CommandVerb::Despawn, &(), change, Location::caller());
    }

    /// Records a despawn of the entities that `Q` and `F` match at playback and for which `kernel`
    /// clears the mark, by [`Matching::retain`](crate::Matching::retain). A barrier. Allocates a
    /// box for the kernel.
    ///
    /// The kernel runs at playback, once for each chunk, after all commands before it.
    /// [`Applied::matched`](crate::command::Applied::matched) counts the despawned entities. If the
    /// kernel panics, no entity is despawned, the values that it has written stay, and the panic is
    /// resumed after the other commands. Filters by version do not compile, as for
    /// [`insert_where`](Self::insert_where).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..100).map(|i| Health(i as f32)));
    /// let mut buffer = world.command_buffer(0)?;
    /// buffer.retain_where::<&Health, ()>(|health, keep| {
    ///     health.iter().zip(keep).for_each(|(health, keep)| *keep = health.0 >= 90.0);
    /// });
    /// world.apply(&mut buffer).unwrap();
    /// assert_eq!(world.len(), 10);
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    #[track_caller]
    pub fn retain_where<Q: Terms, F: Filter>(
        &mut self,
        kernel: impl FnMut(Q::Slices<'_>, &mut [bool]) + Send + 'static,
    ) {
        const { assert_by_components::<Q, F>() };
        let retain = move |world: &mut World| {
            matching::<Q, F>(world)?.try_retain(kernel).map_err(CommandErrorKind::Relation)
        };
        let (verb, entity, change) =
            (CommandVerb::Despawn, Entity::NULL, DeferredChange::new(retain));
        self.recorder.push(BarrierKind::Change { verb, entity, change }, Location::caller());
    }
}

/// # Rows in another order
impl CommandBuffer {
    /// Records a sort of the rows that `Q` and `F` match at playback, by
    /// [`Matching::sort_by_key`](crate::Matching::sort_by_key). A barrier. Allocates a box for
    /// `key`. A sort by a [`SortKey`](crate::rows::SortKey) is recorded by
    /// [`run`](CommandBuffer::run).
    ///
    /// `key` is called at playback, once for each row, after all commands before it.
    /// [`Applied::matched`](crate::command::Applied::matched) counts the rows with new places. If
    /// `key` panics, no row has moved, and the panic is resumed after the other commands. Filters
    /// by version do not compile, as for [`insert_where`](Self::insert_where).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// use phalanx::rows::total_order;
    /// # #[component] struct Depth(f32);
    /// fn sort_sprites(mut commands: Commands) {
    ///     commands.sort_where::<&Depth, (), _>(|depth| total_order(depth.0));
    /// }
    /// # let mut world = World::new();
    /// world.spawn_batch([3.0, 1.0, 2.0].map(Depth));
    /// world.run(sort_sprites);
    /// assert!(world.query::<&Depth>().rows().is_sorted_by_key(|depth| total_order(depth.0)));
    /// ```
    #[track_caller]
    pub fn sort_where<Q: ReadTerms, F: Filter, K: Ord>(
        &mut self,
        key: impl FnMut(Q::Row<'_>) -> K + Send + 'static,
    ) {
        const { assert_by_components::<Q, F>() };
        let sort = move |world: &mut World| Ok(matching::<Q, F>(world)?.sort_by_key(key));
        let (verb, entity, change) = (CommandVerb::Sort, Entity::NULL, DeferredChange::new(sort));
        self.recorder.push(BarrierKind::Change { verb, entity, change }, Location::caller());
    }
}

/// Rejects a query that a command cannot run. Evaluated in each public function, so that the
/// compiler reports the caller's line.
pub(super) const fn assert_by_components<Q: Terms, F: Filter>() {
    assert_unaliased::<Q>();
    assert!(
        !F::BY_CHUNK && !F::BY_VERSION,
        "a command by query is decided by components: `Changed`, `ChangedLines`, `Arrived` and `Reordered` have no version to compare with, drop them"
    );
}

/// Gives the components of a bundle their names in the world.
fn name<B: Bundle>(world: &mut World) -> Result<(), CommandErrorKind> {
    let named = world.store.try_name_sparse::<B::Sparse>();
    let named = named.and_then(|()| world.store.try_bundle_id::<B::Columns>());
    named.map(|_| ()).map_err(CommandErrorKind::NameTaken)
}

fn insert_matches<Q: Terms, F: Filter, B: ColumnBundle>(
    world: &mut World,
    mut value: &[u8],
) -> Result<usize, CommandErrorKind> {
    let bundle = B::load(&mut value);
    matching::<Q, F>(world)?.insert_columns(bundle).map_err(CommandErrorKind::Layout)
}

fn remove_matches<Q: Terms, F: Filter, B: ColumnBundle>(
    world: &mut World,
    _: &[u8],
) -> Result<usize, CommandErrorKind> {
    Ok(matching::<Q, F>(world)?.remove_columns::<B>())
}

fn despawn_matches<Q: Terms, F: Filter>(
    world: &mut World,
    _: &[u8],
) -> Result<usize, CommandErrorKind> {
    matching::<Q, F>(world)?.try_despawn().map_err(CommandErrorKind::Relation)
}

pub(super) fn matching<Q: Terms, F: Filter>(
    world: &mut World,
) -> Result<Matching<'_, Q, F>, CommandErrorKind> {
    world.matching_where().map_err(CommandErrorKind::NameTaken)
}

//! Filters: they choose the archetypes that a query visits, and chunks of these.

use core::fmt;
use core::marker::PhantomData;

use crate::archetype::ChunkMeta;
use crate::component::{AnyComponent, ComponentId, Shape as _, SharedValue};
use crate::entity::Entity;
use crate::storage::{ColumnRef, NewerRows, StampKind, Stamps};
use crate::store::{RequirementsBuilder, WatchedSets};
use crate::tuples::for_tuples;
use crate::version::Version;

use super::named_components::{ComponentTuple, Named};
use super::store_borrow::ReadBorrow;

/// Narrows a query: a filter type, or a tuple of up to eight, all of which must pass.
///
/// [`Query::filter`](super::Query::filter) and other methods of a query add filters one by one. As
/// types they are parameters of a query, for example in the signature of a system, where a filter
/// that compares versions compares with the last run. [`With`], [`Without`] and [`AnyOf`] choose
/// archetypes and cost no time in the loop. [`Changed`](super::Changed), [`Arrived`] and
/// [`Reordered`](crate::Reordered) choose chunks: they cost one comparison per archetype plus a
/// scan of a dense array. [`ChangedLines`](crate::lines::ChangedLines) also chooses among the lines
/// of these chunks. [`WhereChunk`](crate::chunks::WhereChunk) chooses chunks by their values; only
/// its method makes it. [`IncludeHidden`], [`IgnoreEnabled`](crate::IgnoreEnabled) and filters that
/// name a hidden component add to the rows that a query visits; all others narrow it. The trait is
/// sealed.
pub trait Filter: Copy + sealed::Sealed + 'static {
    /// Whether chunks are tested one by one.
    #[doc(hidden)]
    const BY_CHUNK: bool;
    /// Whether rows are chosen by enable bits.
    #[doc(hidden)]
    const BY_ROW: bool = false;
    /// Whether rows are chosen by sparse components.
    #[doc(hidden)]
    const BY_MEMBERS: bool = false;
    /// The number of filters that choose rows by the versions of their lines, or of their values in
    /// a sparse set: at most one.
    #[doc(hidden)]
    const BY_LINES: usize = 0;
    /// Whether the query ignores enable bits, whatever its terms and other filters say.
    #[doc(hidden)]
    const ALL_ROWS: bool = false;
    /// Whether archetypes are chosen by the tags of shared values.
    #[doc(hidden)]
    const BY_TAG: bool = false;
    /// Whether a version is compared.
    #[doc(hidden)]
    const BY_VERSION: bool = false;
    /// The sparse sets of which versions are compared.
    #[doc(hidden)]
    type Sets: WatchedSets;
    #[doc(hidden)]
    fn describe(builder: &mut RequirementsBuilder<'_>);
    /// The filter of a system whose last run began at `since`.
    #[doc(hidden)]
    fn newer_than(since: Version) -> Self;
    /// # Panics
    ///
    /// In a system, if its query does not name the component that the filter watches.
    #[doc(hidden)]
    #[inline]
    fn assert_watchable(_view: ReadBorrow<'_>) {}
    /// Calls `visit` with each tag that an archetype must have.
    #[doc(hidden)]
    #[inline]
    fn tags(&self, _visit: &mut dyn FnMut(ComponentId)) {}
    /// Whether a watched column is newer than the filter's version. `watched` has the columns that
    /// `describe` requested for all filters of the query. Each filter removes its own from the
    /// front.
    #[doc(hidden)]
    fn passes(&self, beside: ChunkMeta<'_>, watched: &mut &[ColumnRef], at: StampAt) -> bool;
    /// The rows of a chunk that the filter shows by their lines or values. `chunk` is its number,
    /// with the entities of its rows. Each filter that watches columns removes its own, as in
    /// `passes`.
    #[doc(hidden)]
    #[inline]
    fn newer_rows<'w>(
        &self,
        _beside: ChunkMeta<'w>,
        _watched: &mut &[ColumnRef],
        _chunk: (u32, &'w [Entity]),
        _blocks: <Self::Sets as WatchedSets>::Blocks<'w>,
    ) -> NewerRows<'w> {
        NewerRows::ALL
    }
}

pub(super) mod sealed {
    pub trait Sealed {}
    pub trait Watching<C> {}
}

/// The stamps that a filter reads: the newest of an archetype, or the stamps of one chunk.
#[derive(Clone, Copy, Debug)]
pub enum StampAt {
    /// The archetype's summary.
    Newest,
    /// One chunk.
    Chunk(usize),
}

impl StampAt {
    #[inline]
    pub(super) fn of(self, stamps: &Stamps, kind: StampKind) -> Version {
        match self {
            Self::Newest => stamps.newest(kind),
            Self::Chunk(chunk) => stamps.get(kind, chunk),
        }
    }
}

macro_rules! archetype_filter {
    ($(#[$meta:meta])* $name:ident<$T:ident: $bound:ident>, $by:expr, $describe:expr) => {
        $(#[$meta])*
        pub struct $name<$T>(PhantomData<fn($T) -> $T>);

        impl<$T> $name<$T> {
            pub(crate) const NEW: Self = Self(PhantomData);
        }

        impl<$T> Clone for $name<$T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<$T> Copy for $name<$T> {}

        impl<$T> fmt::Debug for $name<$T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(core::any::type_name::<Self>())
            }
        }

        impl<$T: $bound + 'static> sealed::Sealed for $name<$T> {}

        impl<$T: $bound + 'static> Filter for $name<$T> {
            const BY_CHUNK: bool = false;
            const BY_ROW: bool = $by.0;
            const BY_MEMBERS: bool = $by.1;
            type Sets = ();

            fn describe(builder: &mut RequirementsBuilder<'_>) {
                let describe: fn(&mut RequirementsBuilder<'_>) = $describe;
                describe(builder);
            }

            fn newer_than(_: Version) -> Self {
                Self::NEW
            }

            #[inline]
            fn passes(&self, _: ChunkMeta<'_>, _: &mut &[ColumnRef], _: StampAt) -> bool {
                true
            }
        }
    };
}

archetype_filter! {
    /// Entities that have `C`. Its column is not sliced.
    ///
    /// For an [enableable](crate::component#enableable-components) component the filter reads the
    /// enable bits. In a schedule this is an access like `&C`, also by [`Without`] and [`AnyOf`]:
    /// it conflicts with a `&mut C`, unless the query is [`IgnoreEnabled`](crate::IgnoreEnabled).
    /// So does a filter of a [sparse](crate::component#sparse-components) component, by a bit a
    /// row: it conflicts with [`SparseMut<C>`](crate::sparse::SparseMut), also if the query is
    /// `IgnoreEnabled`. For other components a filter is no access.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// use phalanx::IgnoreEnabled;
    /// #[component]
    /// struct Height(f32);
    /// #[component]
    /// struct Mass(f32);
    /// #[component(enableable)]
    /// struct On { charge: f32 }
    /// # let mut schedule = Schedule::new();
    /// let beside = |_: Query<&mut Mass>, _: Query<&Height, With<Mass>>| ();
    /// assert!(schedule.try_add(beside).is_ok());
    /// let apart = |_: Query<&mut On>, _: Query<&Height, With<On>>| ();
    /// assert!(schedule.try_add(apart).is_err());
    /// let all_rows = |_: Query<&mut On>, _: Query<&Height, (With<On>, IgnoreEnabled)>| ();
    /// assert!(schedule.try_add(all_rows).is_ok());
    /// ```
    With<C: AnyComponent>, (C::Shape::ENABLEABLE, C::Shape::SPARSE), |builder| {
        C::Shape::visit_all(&mut Named::With(builder));
    }
}

archetype_filter! {
    /// Entities that lack `C`.
    Without<C: AnyComponent>, (C::Shape::ENABLEABLE, C::Shape::SPARSE), |builder| {
        C::Shape::visit_all(&mut Named::Without(builder));
    }
}

archetype_filter! {
    /// Entities that have at least one component of the tuple.
    AnyOf<T: ComponentTuple>, (T::ENABLEABLE, T::SPARSE), |builder| {
        builder.begin_any();
        T::name_all(builder);
        builder.end_any();
    }
}

archetype_filter! {
    /// Entities that have any [shared value](crate::shared::Shared) of type `T`. The term
    /// `Shared<T>` filters as well.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let [oak, other] = [world.spawn(()), world.spawn(())];
    /// world.insert_shared(oak, "oak")?;
    /// assert!(world.query::<Entity>().filter::<WithShared<&str>>().rows().eq([oak]));
    /// assert!(world.query::<Entity>().filter::<WithoutShared<&str>>().rows().eq([other]));
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    WithShared<T: SharedValue>, (false, false), |builder| builder.shared::<T>()
}

archetype_filter! {
    /// Entities that have no [shared value](crate::shared::Shared) of type `T`.
    WithoutShared<T: SharedValue>, (false, false), |builder| builder.without_shared::<T>()
}

/// Includes hidden entities: entities with [`Disabled`](crate::Disabled),
/// [`Prototype`](crate::Prototype), or another [hidden
/// component](crate::component#hidden-components). Other queries see them only if they name the
/// component.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// fn save(all: Query<(Entity, &Health), IncludeHidden>, mut saved: ResMut<usize>) {
///     *saved = all.count_rows();
/// }
/// # let mut world = World::new();
/// # world.insert_resource(0_usize);
/// world.spawn(Health(1.0));
/// world.spawn((Health(2.0), Disabled));
/// let mut schedule = Schedule::new();
/// schedule.add(save);
/// schedule.run(&mut world)?;
/// assert_eq!(*world.resource::<usize>().unwrap(), 2);
/// # Ok::<(), phalanx::schedule::ScheduleError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct IncludeHidden;

impl sealed::Sealed for IncludeHidden {}
impl Filter for IncludeHidden {
    const BY_CHUNK: bool = false;
    type Sets = ();

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        builder.name_all_hidden();
    }

    fn newer_than(_: Version) -> Self {
        Self
    }

    #[inline]
    fn passes(&self, _: ChunkMeta<'_>, _: &mut &[ColumnRef], _: StampAt) -> bool {
        true
    }
}

/// Chunks in which rows arrived after a version: spawned there, or moved there from another
/// archetype.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    since: Version,
}

impl Arrived {
    pub(crate) const fn since(since: Version) -> Self {
        Self { since }
    }
}

impl sealed::Sealed for Arrived {}
impl Filter for Arrived {
    const BY_CHUNK: bool = true;
    const BY_VERSION: bool = true;
    type Sets = ();

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        builder.watch_arrivals();
    }

    fn newer_than(since: Version) -> Self {
        Self::since(since)
    }

    #[inline]
    fn passes(&self, beside: ChunkMeta<'_>, _: &mut &[ColumnRef], at: StampAt) -> bool {
        at.of(beside.stamps, StampKind::ARRIVAL) > self.since
    }
}

macro_rules! filters {
    ($(($($T:ident $t:ident $i:tt),*))*) => {$(
        impl<$($T: Filter),*> sealed::Sealed for ($($T,)*) {}

        #[expect(clippy::allow_attributes, reason = "only the empty tuple needs it")]
        #[allow(unused_variables, clippy::unused_unit, reason = "the empty tuple uses no parameter")]
        impl<$($T: Filter),*> Filter for ($($T,)*) {
            const BY_CHUNK: bool = false $(|| $T::BY_CHUNK)*;
            const BY_ROW: bool = false $(|| $T::BY_ROW)*;
            const BY_LINES: usize = {
                let filters = 0 $(+ $T::BY_LINES)*;
                assert!(
                    filters < 2,
                    "a query has one filter of changed lines, or of changed values of a sparse \
                     component: collect the rows of one component, or make it two queries"
                );
                filters
            };
            const BY_MEMBERS: bool = false $(|| $T::BY_MEMBERS)*;
            const ALL_ROWS: bool = false $(|| $T::ALL_ROWS)*;
            const BY_TAG: bool = false $(|| $T::BY_TAG)*;
            const BY_VERSION: bool = false $(|| $T::BY_VERSION)*;
            type Sets = ($($T::Sets,)*);

            fn describe(builder: &mut RequirementsBuilder<'_>) {
                $($T::describe(builder);)*
            }

            fn newer_than(since: Version) -> Self {
                ($($T::newer_than(since),)*)
            }

            #[inline]
            fn assert_watchable(view: ReadBorrow<'_>) {
                $($T::assert_watchable(view);)*
            }

            #[inline]
            fn tags(&self, visit: &mut dyn FnMut(ComponentId)) {
                $(self.$i.tags(visit);)*
            }

            #[inline]
            fn passes(&self, beside: ChunkMeta<'_>, watched: &mut &[ColumnRef], at: StampAt) -> bool {
                // `&` and not `&&`: every filter must remove its columns.
                true $(& self.$i.passes(beside, watched, at))*
            }

            #[inline]
            fn newer_rows<'w>(
                &self,
                beside: ChunkMeta<'w>,
                watched: &mut &[ColumnRef],
                chunk: (u32, &'w [Entity]),
                blocks: <Self::Sets as WatchedSets>::Blocks<'w>,
            ) -> NewerRows<'w> {
                let newer = NewerRows::ALL;
                $(
                    let own = self.$i.newer_rows(beside, watched, chunk, blocks.$i);
                    let newer = if $T::BY_LINES > 0 { own } else { newer };
                )*
                newer
            }
        }
    )*};
}

filters! { () }
for_tuples!(filters, 1..=8);

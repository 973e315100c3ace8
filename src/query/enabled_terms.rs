//! Terms and filters of the enable bits of a component.

use core::fmt;
use core::marker::PhantomData;

use crate::archetype::ChunkMeta;
use crate::component::{Component, ConstText};
use crate::storage::{
    AccessKind, ColumnRef, Columns, EnabledRow, EnabledRows, EnabledRowsIter, EnabledRowsMut,
    EnabledRowsMutIter, StampRun,
};
use crate::store::RequirementsBuilder;
use crate::version::Version;

use super::access::{Access, AccessFlags};
use super::chunk_rows::ChunkRows;
use super::filter::{Filter, StampAt, sealed as filter_sealed};
use super::run_stamps::RunStamps;
use super::store_borrow::{Reads, Writes};
use super::term::{Term, sealed as term_sealed};

/// Refuses components that cannot be disabled.
pub(crate) const fn assert_enableable<C: Component>() {
    if !C::ENABLEABLE {
        let text = [
            "the component `",
            C::NAME,
            "` is always enabled: write `#[component(enableable)]` above \
             its definition",
        ];
        panic!("{}", ConstText::of(&text).as_str());
    }
}

macro_rules! markers {
    ($($(#[$meta:meta])* $name:ident;)*) => { $(
        $(#[$meta])*
        pub struct $name<C>(PhantomData<fn(C) -> C>);

        impl<C> Clone for $name<C> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<C> Copy for $name<C> {}

        impl<C> fmt::Debug for $name<C> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(core::any::type_name::<Self>())
            }
        }
    )* };
}

markers! {
    /// A term: whether `C` is enabled in each row, as [`EnabledRows`].
    ///
    /// The query matches archetypes that have `C`, and sees rows in which it is disabled too, as
    /// far as its other terms and filters do.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(enableable)] struct Awake;
    /// # let mut world = World::new();
    /// world.spawn_batch([Awake; 10]);
    /// let awake: usize = world.query::<Enabled<Awake>>().iter().map(|awake| awake.count()).sum();
    /// assert_eq!(awake, 10);
    /// ```
    Enabled;

    /// A term: switches `C` in each row, as [`EnabledRowsMut`].
    ///
    /// The query matches archetypes that have `C`, and sees rows in which it is disabled too. A
    /// pass stamps the column of `C` in each chunk, as for `&mut C`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Height(f32);
    /// # #[component(enableable)] struct Awake;
    /// # let mut world = World::new();
    /// world.spawn_batch((0..10).map(|i| (Height(i as f32), Awake)));
    /// for (heights, mut awake) in world.query_mut::<(&Height, EnabledMut<Awake>)>() {
    ///     awake.assign(|row| heights[row].0 > 4.0);
    /// }
    /// assert_eq!(world.query::<&Height>().with::<Awake>().count_rows(), 5);
    /// assert_eq!(world.query::<&Height>().without::<Awake>().count_rows(), 5);
    /// ```
    EnabledMut;

    /// Filter: only entities that have `C` and in which it is
    /// [disabled](crate::World::set_enabled).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(enableable)] struct Health(f32);
    /// # let mut world = World::new();
    /// let [wounded, _] = [1.0, 2.0].map(|health| world.spawn(Health(health)));
    /// world.set_enabled::<Health>(wounded, false)?;
    /// assert_eq!(world.query::<&Health>().rows().map(|health| health.0).sum::<f32>(), 2.0);
    /// let disabled = world.query::<Entity>().filter::<WithDisabled<Health>>();
    /// assert_eq!(disabled.rows().collect::<Vec<_>>(), [wounded]);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    ///
    /// In the signature of a system:
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Height(f32);
    /// # #[component(enableable)] struct Awake;
    /// fn settle(mut asleep: Query<&mut Height, WithDisabled<Awake>>) {
    ///     asleep.rows().for_each(|height| height.0 = 0.0);
    /// }
    /// ```
    WithDisabled;
}

impl<C> WithDisabled<C> {
    pub(crate) const NEW: Self = Self(PhantomData);
}

impl<C: Component> filter_sealed::Sealed for WithDisabled<C> {}
impl<C: Component> Filter for WithDisabled<C> {
    const BY_CHUNK: bool = false;
    const BY_ROW: bool = {
        assert_enableable::<C>();
        true
    };
    type Sets = ();

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        builder.disabled::<C>();
    }

    fn newer_than(_: Version) -> Self {
        Self::NEW
    }

    #[inline]
    fn passes(&self, _: ChunkMeta<'_>, _: &mut &[ColumnRef], _: StampAt) -> bool {
        true
    }
}

/// Filter: enable bits do not matter. The query also visits entities in which a component that it
/// names is [disabled](crate::World::set_enabled).
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component(enableable)] struct Health(f32);
/// # let mut world = World::new();
/// let [wounded, _] = [1.0, 2.0].map(|health| world.spawn(Health(health)));
/// world.set_enabled::<Health>(wounded, false)?;
/// assert_eq!(world.query::<&Health>().count_rows(), 1);
/// assert_eq!(world.query::<&Health>().filter::<IgnoreEnabled>().count_rows(), 2);
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
///
/// In the signature of a system:
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component(enableable)] struct Health(f32);
/// fn heal(all: Query<&mut Health, IgnoreEnabled>) {
///     all.rows().for_each(|health| health.0 += 1.0);
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct IgnoreEnabled;

impl filter_sealed::Sealed for IgnoreEnabled {}
impl Filter for IgnoreEnabled {
    const BY_CHUNK: bool = false;
    const ALL_ROWS: bool = true;
    type Sets = ();

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        builder.ignore_enabled();
    }

    fn newer_than(_: Version) -> Self {
        Self
    }

    #[inline]
    fn passes(&self, _: ChunkMeta<'_>, _: &mut &[ColumnRef], _: StampAt) -> bool {
        true
    }
}

impl<C: Component> term_sealed::Sealed for Enabled<C> {}
impl<C: Component> Term for Enabled<C> {
    type Slice<'w> = EnabledRows<'w>;
    type Row<'w> = bool;
    type Rows<'w> = EnabledRowsIter<'w>;
    type ByRow = Self;
    type Key = Self;
    type Mode = Reads;
    type Sets = ();
    const ACCESSES: &'static [Access] = {
        assert_enableable::<C>();
        &[Access::new::<C>(AccessFlags::BESIDE)]
    };

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        builder.beside::<C>(AccessKind::Read);
    }

    #[inline]
    fn cut<'w>(columns: &mut impl Columns<'w>, rows: ChunkRows<'w>, (): ()) -> Self::Slice<'w> {
        rows.enabled(columns.beside())
    }

    #[inline]
    fn rows<'w>(slice: Self::Slice<'w>, _: usize) -> Self::Rows<'w> {
        slice.into_iter()
    }

    #[inline(always)]
    fn empty<'w>() -> Self::Slice<'w> {
        EnabledRows::empty()
    }

    #[inline(always)]
    fn split_off<'w>(slice: &mut Self::Slice<'w>, rows: usize) -> Self::Slice<'w> {
        slice.split_off(rows)
    }

    type Stamps<'w> = ();

    #[inline]
    fn stamps<'w>(run: &mut RunStamps<'w, '_>) {
        run.skip_column();
    }

    #[inline(always)]
    fn touch_next((): &mut (), _: Version) {}
}

impl<C: Component> term_sealed::Sealed for EnabledMut<C> {}
impl<C: Component> Term for EnabledMut<C> {
    type Slice<'w> = EnabledRowsMut<'w>;
    type Row<'w> = EnabledRow<'w>;
    type Rows<'w> = EnabledRowsMutIter<'w>;
    type ByRow = Self;
    type Key = Self;
    type Mode = Writes;
    type Sets = ();
    const ACCESSES: &'static [Access] = {
        assert_enableable::<C>();
        &[Access::new::<C>(AccessFlags::WRITE.and(AccessFlags::BESIDE))]
    };

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        builder.beside::<C>(AccessKind::Write);
    }

    #[inline]
    fn cut<'w>(columns: &mut impl Columns<'w>, rows: ChunkRows<'w>, (): ()) -> Self::Slice<'w> {
        EnabledRowsMut::new(rows.enabled(columns.beside()))
    }

    #[inline]
    fn rows<'w>(slice: Self::Slice<'w>, _: usize) -> Self::Rows<'w> {
        slice.into_iter()
    }

    #[inline(always)]
    fn empty<'w>() -> Self::Slice<'w> {
        EnabledRowsMut::new(EnabledRows::empty())
    }

    #[inline(always)]
    fn split_off<'w>(slice: &mut Self::Slice<'w>, rows: usize) -> Self::Slice<'w> {
        slice.split_off(rows)
    }

    type Stamps<'w> = StampRun<'w>;

    #[inline]
    fn stamps<'w>(run: &mut RunStamps<'w, '_>) -> Self::Stamps<'w> {
        run.next_column::<C>()
    }

    #[inline(always)]
    fn touch_next(stamps: &mut Self::Stamps<'_>, now: Version) {
        stamps.touch_next(now);
    }
}

//! Filters that are made of filters: alternatives and negations of the presence of components.

use core::fmt;
use core::marker::PhantomData;

use crate::archetype::ChunkMeta;
use crate::component::{AnyComponent, Component, SharedValue};
use crate::storage::ColumnRef;
use crate::store::{FilterExpression, RequirementsBuilder};
use crate::tuples::for_tuples;
use crate::version::Version;

use super::enabled_terms::WithDisabled;
use super::filter::{Filter, StampAt, With, WithShared, Without, WithoutShared, sealed};

/// The number of conditions on enable bits that the rows of an archetype are tested for.
const CLAUSES_MAX: usize = 64;

/// A filter by the presence of components, which may stand inside [`Or`] and [`Not`]: [`With`],
/// [`Without`], [`WithDisabled`], [`WithShared`](crate::shared::WithShared),
/// [`WithoutShared`](crate::shared::WithoutShared), `Or` and `Not` themselves, and tuples of these,
/// all of which must pass. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "the filter `{Self}` cannot stand inside `Or` or `Not`",
    label = "not a filter by the presence of components alone",
    note = "`With`, `Without`, `WithDisabled`, `WithShared`, `WithoutShared`, `Or`, `Not` and tuples of these can",
    note = "a filter of changes chooses chunks and not entities: make it a filter beside `Or`, or make it two queries",
    note = "`AnyOf<(A, B)>` is `Or<(With<A>, With<B>)>`"
)]
pub trait Presence: Filter {
    /// The greatest number of conditions on enable bits that must all be met.
    #[doc(hidden)]
    const CLAUSES: usize;
    /// [`Presence::CLAUSES`] of the negation.
    #[doc(hidden)]
    const CLAUSES_OF_NOT: usize;
    #[doc(hidden)]
    fn expression(builder: &mut RequirementsBuilder<'_>) -> FilterExpression;
}

/// A tuple of one to eight filters, for [`Or`].
pub trait PresenceTuple: Presence {
    /// [`Presence::CLAUSES`], if one filter must pass.
    #[doc(hidden)]
    const CLAUSES_OF_ANY: usize;
    #[doc(hidden)]
    const CLAUSES_OF_NONE: usize;
    #[doc(hidden)]
    fn each(builder: &mut RequirementsBuilder<'_>) -> Vec<FilterExpression>;
}

macro_rules! operators {
    ($($(#[$meta:meta])* $name:ident;)*) => { $(
        $(#[$meta])*
        pub struct $name<F>(PhantomData<fn(F) -> F>);

        impl<F> Clone for $name<F> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<F> Copy for $name<F> {}

        impl<F> fmt::Debug for $name<F> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(core::any::type_name::<Self>())
            }
        }
    )* };
}

operators! {
    /// Filter: only entities that pass at least one filter of a tuple.
    ///
    /// The filters are [by presence](Presence). A tuple in the tuple is a conjunction: all of its
    /// filters must pass. Decided once per archetype: free in the loop. An
    /// [enableable](crate::component#enableable-components) component counts as it does in the
    /// filters alone: `With<C>` passes rows in which `C` is enabled, `Without<C>` all others. So
    /// the rows that enable bits decide are chosen row by row, and with
    /// [`IgnoreEnabled`](crate::IgnoreEnabled) bits do not matter. The bits of sparse components
    /// always do.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Shield;
    /// # #[component] struct Armour;
    /// # let mut world = World::new();
    /// let bare = world.spawn(Health(1.0));
    /// let shielded = world.spawn((Health(2.0), Shield));
    /// let knight = world.spawn((Health(3.0), Shield, Armour));
    /// // Whoever lacks a part of the equipment: one query, each entity once.
    /// let lacking = world.query::<Entity>().filter::<Or<(Without<Shield>, Without<Armour>)>>();
    /// assert!(lacking.rows().eq([bare, shielded]));
    /// type Neither = Not<Or<(With<Shield>, With<Armour>)>>;
    /// type BothOrNeither = Or<((With<Shield>, With<Armour>), Neither)>;
    /// assert!(world.query::<Entity>().filter::<BothOrNeither>().rows().eq([bare, knight]));
    /// ```
    ///
    /// In the signature of a system, queries that exclude each other are known as such if one
    /// filter requires a component that the other excludes. An `Or` of other filters than `With` is
    /// no such proof.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Shield;
    /// # #[component] struct Armour;
    /// let mut schedule = Schedule::new();
    /// type Shielded<'w> = Query<'w, &'static mut Health, With<Shield>>;
    /// let apart = |_: Shielded, _: Query<&mut Health, Not<With<Shield>>>| ();
    /// assert!(schedule.try_add(apart).is_ok());
    /// type Lacking = Or<(Without<Shield>, Without<Armour>)>;
    /// type Both = (With<Shield>, With<Armour>);
    /// let unproven = |_: Query<&mut Health, Both>, _: Query<&mut Health, Lacking>| ();
    /// assert!(schedule.try_add(unproven).is_err());
    /// ```
    ///
    /// Filters of changes choose chunks and not entities:
    ///
    /// ```compile_fail,E0277
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Shield;
    /// fn regenerate(_: Query<&mut Health, Or<(Changed<Health>, With<Shield>)>>) {}
    /// ```
    Or;

    /// Filter: only entities that do not pass a filter, or not all filters of a tuple.
    ///
    /// The filters are [by presence](Presence); see [`Or`]. `Not<With<C>>` is `Without<C>`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Hungry;
    /// # #[component] struct Awake;
    /// # let mut world = World::new();
    /// world.spawn((Hungry, Awake));
    /// let others = [world.spawn(Hungry), world.spawn(Awake), world.spawn(())];
    /// let mut left = world.query::<Entity>().filter::<Not<(With<Hungry>, With<Awake>)>>().rows();
    /// assert!(left.all(|entity| others.contains(&entity)));
    /// ```
    ///
    /// ```compile_fail,E0277
    /// # use phalanx::prelude::*;
    /// # let world = World::new();
    /// world.query::<Entity>().filter_since::<Not<Arrived>>(Version::NEVER);
    /// ```
    Not;
}

/// Refuses expressions with too many conditions on enable bits.
const fn assert_short(clauses: usize) {
    assert!(
        clauses <= CLAUSES_MAX,
        "the alternatives of enableable components are too many to test each row for: write \
         fewer tuples inside `Or`, or make it several queries"
    );
}

/// A factor of a product of numbers of conditions: without enable bits a condition is constant.
const fn factor(clauses: usize) -> usize {
    if clauses == 0 { 1 } else { clauses }
}

/// Implements [`Filter`] for a filter that is an expression.
macro_rules! expression_filter {
    ($name:ident<$F:ident: $bound:ident>, $clauses:expr, $of_not:expr, $expression:expr) => {
        impl<$F: $bound> sealed::Sealed for $name<$F> {}

        impl<$F: $bound> Filter for $name<$F> {
            const BY_CHUNK: bool = false;
            const BY_ROW: bool = {
                assert_short($clauses);
                $F::BY_ROW
            };
            const BY_MEMBERS: bool = $F::BY_MEMBERS;
            type Sets = ();

            fn describe(builder: &mut RequirementsBuilder<'_>) {
                let expression = Self::expression(builder);
                builder.expression(expression);
            }

            fn newer_than(_: Version) -> Self {
                Self(PhantomData)
            }

            #[inline]
            fn passes(&self, _: ChunkMeta<'_>, _: &mut &[ColumnRef], _: StampAt) -> bool {
                true
            }
        }

        impl<$F: $bound> Presence for $name<$F> {
            const CLAUSES: usize = $clauses;
            const CLAUSES_OF_NOT: usize = $of_not;

            fn expression(builder: &mut RequirementsBuilder<'_>) -> FilterExpression {
                let expression: fn(&mut RequirementsBuilder<'_>) -> FilterExpression = $expression;
                expression(builder)
            }
        }
    };
}

expression_filter! {
    Or<F: PresenceTuple>, F::CLAUSES_OF_ANY, F::CLAUSES_OF_NONE,
    |builder| FilterExpression::Any(F::each(builder))
}

expression_filter! {
    Not<F: Presence>, F::CLAUSES_OF_NOT, F::CLAUSES,
    |builder| F::expression(builder).not()
}

/// Implements [`Presence`] for the filters of one component.
macro_rules! leaves {
    ($($name:ident<$T:ident: $bound:ident>, $expression:expr;)*) => {$(
        impl<$T: $bound> Presence for $name<$T> {
            const CLAUSES: usize = (Self::BY_ROW || Self::BY_MEMBERS) as usize;
            const CLAUSES_OF_NOT: usize = Self::CLAUSES;

            fn expression(builder: &mut RequirementsBuilder<'_>) -> FilterExpression {
                let expression: fn(&mut RequirementsBuilder<'_>) -> FilterExpression = $expression;
                expression(builder)
            }
        }
    )*};
}

leaves! {
    With<C: AnyComponent>, |builder| builder.presence::<C::Shape>();
    Without<C: AnyComponent>, |builder| builder.presence::<C::Shape>().not();
    WithDisabled<C: Component>, |builder| builder.disablement::<C>();
    WithShared<T: SharedValue>, |builder| builder.shared_presence::<T>();
    WithoutShared<T: SharedValue>, |builder| builder.shared_presence::<T>().not();
}

/// Implements [`Presence`] and [`PresenceTuple`] for tuples.
macro_rules! tuples {
    ($(($($T:ident $t:ident $i:tt),*))*) => {$(
        impl<$($T: Presence),*> Presence for ($($T,)*) {
            const CLAUSES: usize = 0usize $(.saturating_add($T::CLAUSES))*;
            const CLAUSES_OF_NOT: usize = match false $(|| $T::BY_ROW || $T::BY_MEMBERS)* {
                true => 1usize $(.saturating_mul(factor($T::CLAUSES_OF_NOT)))*,
                false => 0,
            };

            fn expression(builder: &mut RequirementsBuilder<'_>) -> FilterExpression {
                FilterExpression::All(Self::each(builder))
            }
        }

        impl<$($T: Presence),*> PresenceTuple for ($($T,)*) {
            const CLAUSES_OF_ANY: usize = match false $(|| $T::BY_ROW || $T::BY_MEMBERS)* {
                true => 1usize $(.saturating_mul(factor($T::CLAUSES)))*,
                false => 0,
            };
            const CLAUSES_OF_NONE: usize = 0usize $(.saturating_add($T::CLAUSES_OF_NOT))*;

            fn each(builder: &mut RequirementsBuilder<'_>) -> Vec<FilterExpression> {
                vec![$($T::expression(builder)),*]
            }
        }
    )*};
}

for_tuples!(tuples, 1..=8);

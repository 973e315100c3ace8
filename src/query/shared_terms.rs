//! The term and the filter of values that entities share.

use core::any::type_name;
use core::fmt;
use core::iter::{RepeatN, repeat_n};
use core::marker::PhantomData;
use core::ops::Deref;

use crate::archetype::ChunkMeta;
use crate::component::{ComponentId, Shared, SharedValue};
use crate::entity::Entity;
use crate::storage::{ColumnRef, Columns};
use crate::store::RequirementsBuilder;
use crate::version::Version;

use super::access::Access;
use super::chunk_rows::ChunkRows;
use super::filter::{Filter, StampAt, sealed as filter_sealed};
use super::run_stamps::RunStamps;
use super::store_borrow::Reads;
use super::term::{Term, sealed as term_sealed};

/// Implements [`Term`] for a term of shared values with the slice `$slice`. `$found` makes the
/// slice from the value, if the archetype has one.
macro_rules! shared_term {
    ($term:ty, $slice:ty, $describe:expr, $found:expr, $empty:expr, $bare:expr) => {
        impl<T: SharedValue> term_sealed::Sealed for $term {}
        impl<T: SharedValue> Term for $term {
            type Slice<'w> = $slice;
            type Row<'w> = $slice;
            type Rows<'w> = RepeatN<$slice>;
            type ByRow = Self;
            type Key = Self;
            type Mode = Reads;
            type Sets = ();
            const ACCESSES: &'static [Access] = &[Access::SHARED];

            fn describe(builder: &mut RequirementsBuilder<'_>) {
                let describe: fn(&mut RequirementsBuilder<'_>) = $describe;
                describe(builder);
            }

            #[inline]
            fn cut<'w>(_: &mut impl Columns<'w>, rows: ChunkRows<'w>, (): ()) -> Self::Slice<'w> {
                $found(rows.shared::<T>())
            }

            #[inline]
            fn rows<'w>(value: Self::Slice<'w>, len: usize) -> Self::Rows<'w> {
                repeat_n(value, len)
            }

            fn bare_row<'w>(_: Entity) -> Option<Self::Row<'w>> {
                $bare
            }

            #[inline(always)]
            fn empty<'w>() -> Self::Slice<'w> {
                $empty
            }

            #[inline(always)]
            fn split_off<'w>(value: &mut Self::Slice<'w>, _: usize) -> Self::Slice<'w> {
                *value
            }

            type Stamps<'w> = ();

            #[inline]
            fn stamps<'w>(_: &mut RunStamps<'w, '_>) {}

            #[inline(always)]
            fn touch_next((): &mut (), _: Version) {}
        }
    };
}

shared_term! {
    Shared<T>, SharedRef<'w, T>,
    |builder| builder.shared::<T>(),
    |value| SharedRef { value },
    SharedRef { value: None },
    None
}

shared_term! { Option<Shared<T>>, Option<&'w T>, |_| {}, |value| value, None, Some(None) }

/// A value that entities share: the item of the term [`Shared`]. It dereferences to the value, and
/// [`get`](SharedRef::get) returns a reference that lives as long as the borrow of the world.
///
/// (It is not a plain reference, since a query that has not begun has no value yet.
/// `Option<Shared<T>>` yields an `Option<&T>`.)
///
/// ```
/// # use phalanx::prelude::*;
/// # let mut world = World::new();
/// let entity = world.spawn(());
/// world.insert_shared(entity, String::from("oak"))?;
/// for species in world.query::<Shared<String>>() {
///     assert_eq!(species.len(), 3);
///     assert_eq!(species.get(), "oak");
/// }
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
pub struct SharedRef<'w, T> {
    /// Absent only before a pass has entered an archetype.
    value: Option<&'w T>,
}

impl<'w, T> SharedRef<'w, T> {
    /// The value, for as long as the world is borrowed.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// let entity = world.spawn(());
    /// world.insert_shared(entity, String::from("oak"))?;
    /// fn species(world: &World) -> &str {
    ///     world.query::<Shared<String>>().single().map_or("none", |species| species.get())
    /// }
    /// assert_eq!(species(&world), "oak");
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline]
    #[must_use]
    pub const fn get(self) -> &'w T {
        self.value.expect("a chunk of shared values has none")
    }
}

impl<T> Clone for SharedRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SharedRef<'_, T> {}

impl<T> Deref for SharedRef<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.get()
    }
}

impl<T: fmt::Debug> fmt::Debug for SharedRef<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// Filter: only entities with a shared value of type `T` that equals a given one. Made by
/// [`Query::where_shared`](crate::Query::where_shared).
pub struct WhereShared<T> {
    /// The tag of the value. No archetype has an unknown one.
    tag: ComponentId,
    value: PhantomData<fn(T) -> T>,
}

impl<T: SharedValue> WhereShared<T> {
    pub(crate) const fn new(tag: Option<ComponentId>) -> Self {
        let tag = match tag {
            Some(tag) => tag,
            None => ComponentId::UNKNOWN,
        };
        Self { tag, value: PhantomData }
    }
}

impl<T> Clone for WhereShared<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for WhereShared<T> {}

impl<T> fmt::Debug for WhereShared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(type_name::<Self>())
    }
}

impl<T: SharedValue> filter_sealed::Sealed for WhereShared<T> {}
impl<T: SharedValue> Filter for WhereShared<T> {
    const BY_CHUNK: bool = true;
    const BY_TAG: bool = true;
    type Sets = ();

    fn describe(builder: &mut RequirementsBuilder<'_>) {
        builder.shared_value::<T>();
    }

    #[inline]
    fn tags(&self, visit: &mut dyn FnMut(ComponentId)) {
        visit(self.tag);
    }

    fn newer_than(_: Version) -> Self {
        const {
            // A constant of `T`, so that the compiler evaluates it only where it is used.
            assert!(
                size_of::<T>() > isize::MAX as usize,
                "the value of `WhereShared` is not in its type: call `where_shared(&value)`, in a \
                 system on its query"
            );
        }
        Self::new(None)
    }

    #[inline]
    fn passes(&self, beside: ChunkMeta<'_>, _: &mut &[ColumnRef], _: StampAt) -> bool {
        beside.shared.is_some_and(|shared| shared.has(self.tag))
    }
}

//! The key by which rows are put in order and found again.

use crate::component::Component;
use crate::tuples::for_tuples;

use super::key_columns::KeyColumns;

/// A key of rows: a pure function of the values of one component, or of several.
///
/// A component that is `Ord` and `Copy` is its own key, and so is a tuple of these, which is
/// compared from the first to the last. Any other key is a type of its own, which names the columns
/// and the function:
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::rows::{ChunkBounds, SortKey, total_order};
///
/// #[component]
/// struct Depth(f32);
///
/// struct NearToFar;
///
/// impl SortKey for NearToFar {
///     type Columns = Depth;
///     type Key = i32;
///
///     fn key(depth: &Depth) -> i32 {
///         total_order(depth.0)
///     }
/// }
///
/// # let mut world = World::new();
/// world.spawn_batch([3.0, 1.0, 2.0].map(Depth));
/// world.matching::<&Depth>().sort_by::<NearToFar>();
/// let depths = ChunkBounds::<NearToFar>::new();
/// assert_eq!(depths.between(world.query::<&Depth>(), ..=total_order(2.0_f32)).rows().count(), 2);
/// ```
///
/// A key of several columns is made of the values of one row. A chunk counts as changed if any of
/// them is written:
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::rows::{SortKey, total_order};
///
/// # #[component] struct Depth(f32);
/// #[component]
/// struct Layer(u8);
///
/// struct LayerThenDepth;
///
/// impl SortKey for LayerThenDepth {
///     type Columns = (Layer, Depth);
///     type Key = (u8, i32);
///
///     fn key((layer, depth): (&Layer, &Depth)) -> (u8, i32) {
///         (layer.0, total_order(depth.0))
///     }
/// }
///
/// # let mut world = World::new();
/// world.spawn_batch([(Layer(2), Depth(1.0)), (Layer(1), Depth(3.0)), (Layer(1), Depth(2.0))]);
/// world.matching::<(&Layer, &Depth)>().sort_by::<LayerThenDepth>();
/// assert!(world.query::<&Depth>().rows().map(|depth| depth.0).eq([2.0, 3.0, 1.0]));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a key",
    note = "a component is its own key with `#[derive(PartialEq, Eq, PartialOrd, Ord)]`, and so is a tuple of these, without references; for another key implement `SortKey` for a type of its own: for floats its `key` is `total_order`"
)]
pub trait SortKey: 'static {
    /// The component with the key, or a tuple of up to eight. A sparse component has no column:
    /// [`sort_by_key`](crate::Matching::sort_by_key) takes it as a term.
    type Columns: KeyColumns;
    /// The key. For floats [`total_order`](crate::rows::total_order), for several keys a tuple.
    type Key: Ord + Copy;

    /// The key of a row: of a reference to the component, or of a tuple of references. It depends
    /// on these values alone.
    fn key(row: <Self::Columns as KeyColumns>::Row<'_>) -> Self::Key;
}

impl<C: Component + Ord + Copy> SortKey for C {
    type Columns = C;
    type Key = C;

    #[inline]
    fn key(value: &C) -> C {
        *value
    }
}

macro_rules! own_keys {
    ($(($($C:ident $c:ident $i:tt),+))*) => { $(
        impl<$($C: Component + Ord + Copy),+> SortKey for ($($C,)+) {
            type Columns = Self;
            type Key = Self;

            #[inline]
            fn key(row: ($(&$C,)+)) -> Self {
                ($(*row.$i,)+)
            }
        }
    )* };
}

for_tuples!(own_keys, 1..=8);

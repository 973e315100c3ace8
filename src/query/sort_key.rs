//! The key by which rows are put in order and found again.

use crate::component::Component;

/// A key of a component: a pure function of its value.
///
/// A component that is `Ord` and `Copy` is its own key. Any other key is a type of its own, which
/// names the function:
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
///     type Component = Depth;
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
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a key",
    note = "a component that is `Ord` and `Copy` is its own key; for another key implement `SortKey` for a type of its own: for floats its `key` is `total_order`"
)]
pub trait SortKey: 'static {
    /// The component with the key.
    type Component: Component;
    /// The key. For floats [`total_order`](crate::rows::total_order), for several keys a tuple.
    type Key: Ord + Copy;

    /// The key of a value. It depends on the value alone.
    fn key(value: &Self::Component) -> Self::Key;
}

impl<C: Component + Ord + Copy> SortKey for C {
    type Component = C;
    type Key = C;

    #[inline]
    fn key(value: &C) -> C {
        *value
    }
}

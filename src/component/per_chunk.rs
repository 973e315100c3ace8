//! Values that a chunk has, and not its rows.

#![expect(
    unsafe_code,
    reason = "a generic type without bytes, for which the derive of `bytemuck` asks too much"
)]

use core::fmt;
use core::marker::PhantomData;

use bytemuck::{Pod, Zeroable};

use super::about::{About, ComponentShape};
use super::chunk_shape::ChunkShape;
use super::component::Component;
use super::text::ConstText;

/// A component that can be the value of a chunk: one that has a default.
///
/// What [`component!`](crate::component) defines has one, which is zeros. For another default
/// define the type by hand:
///
/// ```
/// # use phalanx::prelude::*;
/// #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
/// #[bytemuck(crate = "phalanx::bytemuck")]
/// #[repr(C)]
/// struct Bounds { low: f32, high: f32 }
///
/// component!(Bounds);
///
/// impl Default for Bounds {
///     /// Bounds that are not known yet: everything may lie within.
///     fn default() -> Self {
///         Self { low: f32::NEG_INFINITY, high: f32::INFINITY }
///     }
/// }
///
/// let mut world = World::new();
/// world.spawn(PerChunk::<Bounds>::TAG);
/// assert_eq!(world.query::<PerChunk<Bounds>>().iter().next(), Some(Bounds::default()));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of a chunk",
    label = "not a component with a default",
    note = "define it in `component!`, or implement `Default`: it is the value of a new chunk"
)]
pub trait ChunkValue: Component + Default {}

#[diagnostic::do_not_recommend]
impl<V: Component + Default> ChunkValue for V {}

/// A tag whose entities have one value of type `V` per chunk: bounds, a level of detail, a mark
/// that something has to be done. As a term of a query, that value.
///
/// Kernels decide with it about all rows of a chunk at once, before they touch a column. It lies
/// beside the chunks, like versions. The tag is given to entities as other tags are; it adds
/// nothing to a row.
///
/// | | |
/// | --- | --- |
/// | `world.spawn((sprite, PerChunk::<Bounds>::TAG))` | gives the chunks of these entities a `Bounds` |
/// | the term `PerChunk<Bounds>` | the value, by copy |
/// | the term [`PerChunkMut<Bounds>`](crate::PerChunkMut) | the value, to be written |
/// | [`query.where_chunk(…)`](crate::Query::where_chunk) | skips chunks by their value |
/// | `changed_since::<PerChunk<Bounds>>(…)` | chunks whose value was written since, or that got rows |
///
/// A new chunk has the default of `V`, which is asked for once, when a world first meets the tag.
/// Rows that come to a chunk or leave it do not change its value: what is computed of rows has to
/// be computed again where rows have [arrived](crate::Query::arrived_since) or changed. A chunk
/// that [`Matching`](crate::World::matching) moves as a whole takes its value along. A value has at
/// most 256 bytes, and is part of [`World::hash`](crate::World::hash).
///
/// ```
/// # use phalanx::prelude::*;
/// component! { struct Height(f32); struct Highest(f32); }
/// let mut world = World::new();
/// world.spawn_batch((0..10_000).map(|i| (Height(i as f32), PerChunk::<Highest>::TAG)));
/// for (heights, mut highest) in world.query_mut::<(&Height, PerChunkMut<Highest>)>() {
///     highest.0 = heights.iter().map(|height| height.0).fold(0.0, f32::max);
/// }
/// let mut high = 0;
/// for heights in world.query::<&Height>().where_chunk(|highest: &Highest| highest.0 > 9_000.0) {
///     high += heights.iter().filter(|height| height.0 > 9_000.0).count();
/// }
/// assert_eq!(high, 999);
/// ```
#[repr(transparent)]
pub struct PerChunk<V>(PhantomData<fn(V) -> V>);

// SAFETY: it has no bytes.
unsafe impl<V> Zeroable for PerChunk<V> {}
// SAFETY: it has no bytes, and is `Copy` and `'static`.
unsafe impl<V: 'static> Pod for PerChunk<V> {}

impl<V> Clone for PerChunk<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for PerChunk<V> {}

impl<V> PerChunk<V> {
    /// The tag.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # component! { struct Visible(bool); }
    /// let mut world = World::new();
    /// let entity = world.spawn(PerChunk::<Visible>::TAG);
    /// assert!(world.has::<PerChunk<Visible>>(entity));
    /// ```
    pub const TAG: Self = Self(PhantomData);
}

impl<V> Default for PerChunk<V> {
    fn default() -> Self {
        Self::TAG
    }
}

impl<V> PartialEq for PerChunk<V> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<V> Eq for PerChunk<V> {}

impl<V> fmt::Debug for PerChunk<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PerChunk")
    }
}

impl<V: ChunkValue> PerChunk<V> {
    const TEXT: ConstText = {
        const SUFFIX: &str = " (per chunk)";
        let has_room = V::NAME.len() + SUFFIX.len() <= ConstText::LEN_MAX;
        assert!(has_room, "the name of a chunk's value has more than 1,012 bytes");
        ConstText::of(&[V::NAME, SUFFIX])
    };
}

impl<V: ChunkValue> Component for PerChunk<V> {
    const NAME: &'static str = Self::TEXT.as_str();

    fn about() -> About {
        About::new(ComponentShape::Struct(&[]), None).with_chunk_value(ChunkShape::of::<V>())
    }
}

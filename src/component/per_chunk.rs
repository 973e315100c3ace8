//! Values of whole chunks instead of rows.

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
use super::const_text::ConstText;

/// A component with a default, so that it can be the value of a chunk.
///
/// Types that [`#[component]`](crate::component) defines have one: their `Default`,
/// which is zeros, or what `#[default(…)]` on a field says.
///
/// ```
/// # use phalanx::prelude::*;
/// /// Bounds that are not known yet: everything may lie within.
/// #[component]
/// #[derive(Debug, PartialEq)]
/// struct Bounds { #[default(f32::NEG_INFINITY)] low: f32, #[default(f32::INFINITY)] high: f32}
/// let mut world = World::new();
/// world.spawn(PerChunk::<Bounds>::TAG);
/// assert_eq!(world.query::<PerChunk<Bounds>>().iter().next(), Some(Bounds::default()));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of a chunk",
    label = "not a component with a default",
    note = "write `#[component]` above it, or implement `Default`: it is the value of a new chunk"
)]
pub trait ChunkValue: Component + Default {}

#[diagnostic::do_not_recommend]
impl<V: Component + Default> ChunkValue for V {}

/// A tag: its entities have one value of type `V` per chunk, for example bounds, a level of detail,
/// or a mark for later work. As a term of a query, that value.
///
/// Kernels decide with it about all rows of a chunk at once, before they touch a column. It lies
/// beside the chunks, like versions. The tag is given to entities as other tags are; it adds no
/// bytes to a row.
///
/// | | |
/// | --- | --- |
/// | `world.spawn((sprite, PerChunk::<Bounds>::TAG))` | gives the chunks of these entities a `Bounds` |
/// | the term `PerChunk<Bounds>` | the value, by copy |
/// | the term [`PerChunkMut<Bounds>`](crate::chunks::PerChunkMut) | the value, to be written |
/// | [`query.where_chunk(…)`](crate::Query::where_chunk) | skips chunks by their value |
/// | `changed_since::<PerChunk<Bounds>>(…)` | chunks that are new, have a value written since, or in which rows were spawned |
///
/// A new chunk has the default of `V`, which is computed once, when a world first uses the tag.
/// Where [`Matching`](crate::World::matching) inserts or removes tags only, chunks move as a whole
/// and take their values along; otherwise rows are copied to chunks with the default. A value has
/// at most 256 bytes, and is part of [`World::hash`](crate::World::hash).
///
/// # Values of rows
///
/// Rows that come to a chunk or leave it do not change its value. A value that is computed from
/// rows, for example bounds, must be computed again where rows were [written](crate::Changed) and
/// where other rows lie now ([`Reordered`](crate::Reordered)): spawned, moved to another archetype,
/// or moved into the place of a row that was despawned. These are two passes of one function. Give
/// such a value a default that excludes no row, for chunks that are newer than the last pass.
///
/// ```
/// # use phalanx::prelude::*;
/// #[component]
/// struct Height(f32);
/// #[component]
/// struct Highest(#[default(f32::INFINITY)] f32);
///
/// /// What every pass does, whatever chunks it visits.
/// fn measure<F: Filter>(chunks: Query<(&Height, PerChunkMut<Highest>), F>) {
///     for (heights, mut highest) in chunks {
///         highest.0 = heights.iter().map(|height| height.0).fold(0.0, f32::max);
///     }
/// }
///
/// fn count_high(heights: Query<(&Height, PerChunk<Highest>)>, mut high: ResMut<usize>) {
///     let near = heights.where_chunk(|highest: &Highest| highest.0 > 9_000.0);
///     *high = near.rows().filter(|(height, _)| height.0 > 9_000.0).count();
/// }
///
/// let mut world = World::new();
/// world.insert_resource(0_usize);
/// let mut schedule = Schedule::new();
/// schedule.add((measure::<Changed<Height>>, measure::<Reordered>, count_high)).chain();
/// let rows = (0..10_000).map(|i| (Height(i as f32), PerChunk::<Highest>::TAG));
/// let entities = world.spawn_batch(rows).to_vec();
/// for dead in entities {
///     schedule.run(&mut world)?;
///     world.despawn(dead)?; // the last row takes its place
///     # if world.len() < 9_990 { break }
/// }
/// schedule.run(&mut world)?;
/// assert_eq!(*world.resource::<usize>()?, 999);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// `V` itself stays a component like any other: `&V` is a column, and the slice of `&PerChunk<V>`
/// is a slice of tags.
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

impl<V: ChunkValue> PerChunk<V> {
    /// The tag.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Visible(bool);
    /// let mut world = World::new();
    /// let entity = world.spawn(PerChunk::<Visible>::TAG);
    /// assert!(world.has::<PerChunk<Visible>>(entity));
    /// ```
    pub const TAG: Self = Self(PhantomData);
}

impl<V: ChunkValue> Default for PerChunk<V> {
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
        About::new(ComponentShape::Struct(&[]), None)
            .with_chunk_value(ChunkShape::of::<V>(), V::about().shape)
            .with_references(V::about().references())
    }
}
